// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all files of the module stand on: its workqueue, the counts of what there is, long memory,
 * time.
 */
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/vmalloc.h>

#include "ddio_priv.h"

struct workqueue_struct *ddio_wq;
struct ddio_live ddio_live;

/*
 * Where there is no such piece at hand, the memory is taken page by page, before the kernel
 * reclaims any for the sake of the piece; and rather not at all than at the cost of a process's
 * life.
 */
void *ddio_alloc_long(u64 n, size_t size, bool zero)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | (zero ? __GFP_ZERO : 0);
	size_t bytes = array_size(n, size);
	void *p;

	if (bytes <= PAGE_SIZE)
		return kmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
	p = bytes <= KMALLOC_MAX_SIZE ? kmalloc(bytes, gfp | __GFP_NORETRY) : NULL;
	return p ? p : __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
}

u64 ddio_deadline(u64 deadline)
{
#ifdef CONFIG_TIME_NS
	s64 offset = timespec64_to_ns(&current->nsproxy->time_ns->offsets.monotonic);

	if (!deadline || deadline == DDIO_FOREVER || !offset)
		return deadline;
	if (offset > 0)
		return deadline > offset ? deadline - offset : 0;
	return min_t(u64, deadline, KTIME_MAX) - offset;
#else
	return deadline;
#endif
}
