/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kmod engine: requests (kmod.c), disk streams (kmod_stream.c) and scatter lists (kmod_scatter.c). */
#ifndef DDIO_DISK_KMOD_H
#define DDIO_DISK_KMOD_H

#include "env/disk/priv.h"
#include "env/kernel/kenv.h"

struct kmod_options {
	uint64_t depth;
};

/**
 * struct kmod_disk - one disk
 * @base: what the wrapper knows
 * @opts: as given
 * @fd: the device
 * @id: in the context
 * @kenv: the context; @leaving: for when the disk is closed
 * @waiting: requests that the kernel does not have yet
 * @ended: requests whose end the loop is to report
 * @start: submits @waiting after a round of events
 * @in_kernel: requests that it has
 * @fence: one of them is a flush, and nothing starts until it has ended
 */
struct kmod_disk {
	struct ddio_disk base;
	struct kmod_options opts;
	int fd;
	uint32_t id;
	struct kenv *kenv;
	struct kleaving *leaving;
	struct ddio_list waiting;
	struct ddio_list ended;
	struct klater start;
	uint32_t in_kernel;
	bool fence;
};

static inline struct kmod_disk *kmod_of(const struct ddio_disk *disk)
{
	return ddio_container_of(disk, struct kmod_disk, base);
}

extern const struct disk_stream_engine disk_stream_kmod;
extern const struct disk_scatter_engine disk_scatter_kmod;

#endif /* DDIO_DISK_KMOD_H */
