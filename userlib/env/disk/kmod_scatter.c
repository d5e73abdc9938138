// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scatter lists of the ddio kernel module: a list goes to the kernel in one call. */
#include <errno.h>
#include <stdlib.h>
#include "env/disk/kmod.h"
#include "env/disk/scatter.h"
#include "env/kernel/joint.h"

/**
 * struct kmod_scatter - a list that the kernel has
 * @user: gets its events
 * @collective: in the kernel
 */
struct kmod_scatter {
	struct kuser user;
	struct ddio_disk_scatter *list;
	uint32_t collective;
};

/* Frees the list with its context: no event will come for it. */
static void scatter_free(struct kuser *user)
{
	struct kmod_scatter *k = ddio_container_of(user, struct kmod_scatter, user);

	ddio_list_del(&user->link);
	k->list->priv = NULL;
	free(k);
}

static void scatter_event(struct kuser *user, const struct ddio_event *event)
{
	struct kmod_scatter *k = ddio_container_of(user, struct kmod_scatter, user);
	struct ddio_disk_scatter *list = k->list;

	if (event->kind == DDIO_EVENT_BLOCK && event->index < list->nblocks) {
		if (list->spec.op == DDIO_DISK_WRITE)
			list->block[event->index].sum = event->slot;
		disk_scatter_landed(list, (uint32_t)event->index, event->status);
		return;
	}
	if (event->kind != DDIO_EVENT_DONE)
		return;
	scatter_free(user);
	disk_scatter_ended(list);
}

static int scatter_submit(struct kmod_scatter *k, struct kenv *kenv)
{
	const struct ddio_disk_scatter *list = k->list;
	struct ddio_submit submit = {
		.flags = DDIO_SUBMIT_ORDERED | DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET |
			 (list->sums ? DDIO_SUBMIT_SUMS : 0),
		.op = list->spec.op == DDIO_DISK_READ ? DDIO_READ : DDIO_WRITE,
		.delivery = DDIO_SCATTER,
		.blocks = (uintptr_t)list->block,
		.nr_blocks = list->nblocks,
		.runs = (uintptr_t)list->run,
		.nr_runs = list->nruns,
		.depth = list->spec.depth,
		.joint_fd = joint_fd(list->spec.joint),
		.user_data = (uintptr_t)&k->user,
	};
	int err = ddio_kdev_submit(&kenv->kdev, &submit);

	k->collective = submit.out_collective;
	return err;
}

static int scatter_start(struct ddio_disk_scatter *list)
{
	const struct kmod_disk *disk = kmod_of(list->disk);
	struct kmod_scatter *k = calloc(1, sizeof(*k));
	uint32_t i;
	int err;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < list->nblocks; i++)
		list->block[i].disk = disk->id;
	k->list = list;
	k->user.event = scatter_event;
	k->user.free = scatter_free;
	err = scatter_submit(k, disk->kenv);
	if (err) {
		free(k);
		return err;
	}
	list->priv = k;
	ddio_list_add(&k->user.link, &disk->kenv->users);
	return 0;
}

static void scatter_cancel(struct ddio_disk_scatter *list)
{
	struct kmod_scatter *k = list->priv;

	/* If it has ended, with events still to be read, there is nothing to cancel. */
	if (k)
		ddio_kdev_cancel(&kmod_of(list->disk)->kenv->kdev, k->collective);
}

const struct disk_scatter_engine disk_scatter_kmod = {
	.start = scatter_start,
	.cancel = scatter_cancel,
};
