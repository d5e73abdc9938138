// SPDX-License-Identifier: GPL-2.0-only
/*
 * What counts against RLIMIT_MEMLOCK: pinned memory, and the module's own where its length is the
 * process's choice.
 *
 * It counts for the user, not for the process: a limit of processes would grow by every fork.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/user_namespace.h>

#include "ddio_priv.h"

/* Returns false if the user would have more than the caller's limit. */
static bool charge_take(struct user_struct *user, u64 pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long old = atomic_long_read(&user->locked_vm), new;

	do {
		if (check_add_overflow(old, (unsigned long)pages, &new) || new > limit)
			return false;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, (long *)&old, new));
	return true;
}

int ddio_charge_add(struct ddio_charge *charge, u64 bytes)
{
	u64 pages = (bytes >> PAGE_SHIFT) + !!offset_in_page(bytes);

	/* A process that lacks the capability is not to be logged for it with each submission. */
	if (!pages || ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK))
		return 0;
	/* A charge is one user's: that of the first caller. */
	if (!charge->user)
		charge->user = get_uid(current_user());
	if (!charge_take(charge->user, pages))
		return -ENOMEM;
	charge->pages += pages;
	return 0;
}

void ddio_charge_drop(struct ddio_charge *charge)
{
	if (!charge->user)
		return;
	atomic_long_sub(charge->pages, &charge->user->locked_vm);
	free_uid(charge->user);
	*charge = (struct ddio_charge){};
}
