// SPDX-License-Identifier: LGPL-2.1-or-later
/* The right to take back a file's end. */
#include <errno.h>
#include "cp/fs/inode/locks.h"
#include "cp/fs/inode/right.h"

static struct fsc_right *right_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct fsc_right, job);
}

static struct fsc_right *right_of_ask(struct fsc_ask *ask)
{
	return ddio_container_of(ask, struct fsc_right, ask);
}

static void right_sized(struct fsc_sizer *sizer)
{
	struct fsc_right *right = ddio_container_of(sizer, struct fsc_right, sizer);

	fsc_error_first(&right->error, &sizer->error);
	fsc_error_free(&sizer->error);
	right->done(right);
}

static void right_here(struct fsc_job *job)
{
	struct fsc_right *right = right_of(job);

	if (right->error.err)
		right->done(right);
	else
		fsc_size_ask(&right->sizer, right->inode, right_sized);
}

static void right_granted(struct fsc_ask *ask)
{
	struct fsc_right *right = right_of_ask(ask);

	fsc_error_first(&right->error, &ask->error);
	fsc_error_free(&ask->error);
	right->held = !right->error.err;
	if (right->held)
		fsc_locks_apply(right->inode, &right->msg);
	fsc_job_go(&right->job, &right->job.fs->reactor[0], right->inode->r, right_here);
}

static void right_set(struct fsc_right *right, void (*done)(struct fsc_ask *ask))
{
	ssize_t len = ddio_put_fs_lock(right->payload, sizeof(right->payload), &right->msg);

	fsc_ask_init(&right->ask, &right->job.fs->reactor[0], DDIO_OP_FS_LOCK_SET, right->payload,
		     (size_t)len, done);
	fsc_ask(&right->ask);
}

static void right_begin(struct fsc_job *job)
{
	struct fsc_right *right = right_of(job);

	right->inode->refs++;
	right_set(right, right_granted);
}

static void right_start(struct fsc_right *right)
{
	fsc_job_go(&right->job, right->inode->r, &right->job.fs->reactor[0], right_begin);
}

int fsc_right_take(struct fsc_inode *inode, void (*done)(struct fsc_right *right), void *arg)
{
	struct fsc_right *right = fsc_job_new_quiet(inode->fs, sizeof(*right));
	uint64_t id;

	if (!right)
		return -ENOMEM;
	id = atomic_fetch_add_explicit(&inode->fs->lock_id, 1, memory_order_relaxed) + 1;
	right->inode = inode;
	right->msg = (struct ddio_msg_fs_lock){
		.ino = inode->ino | DDIO_FS_LOCK_END,
		.id = id,
		.end = UINT64_MAX,
		.owner = id,
		.type = DDIO_FS_LOCK_WRITE,
		.flags = DDIO_FS_LOCK_FLOCK | DDIO_FS_LOCK_WAIT,
	};
	right->done = done;
	right->arg = arg;
	ddio_list_init(&right->link);
	if (inode->right_out) {
		ddio_list_add(&right->link, &inode->rights);
		return 0;
	}
	inode->right_out = true;
	right_start(right);
	return 0;
}

static void right_gone(struct fsc_ask *ask)
{
	struct fsc_right *right = right_of_ask(ask);

	fsc_error_free(&ask->error);
	fsc_inode_put(right->inode);
	fsc_job_drop(&right->job);
}

static void right_end(struct fsc_job *job)
{
	struct fsc_right *right = right_of(job);

	if (!right->held) {
		right_gone(&right->ask);
		return;
	}
	right->msg.type = DDIO_FS_LOCK_NONE;
	right->msg.flags = DDIO_FS_LOCK_FLOCK;
	fsc_locks_apply(right->inode, &right->msg);
	right_set(right, right_gone);
}

/* What waits here asks behind what is given back. */
void fsc_right_drop(struct fsc_right *right)
{
	struct fsc_inode *inode = right->inode;
	struct fsc_right *next = NULL;

	fsc_error_free(&right->error);
	inode->right_out = !ddio_list_empty(&inode->rights);
	if (inode->right_out) {
		next = ddio_list_first(&inode->rights, struct fsc_right, link);
		ddio_list_del(&next->link);
	}
	fsc_job_go(&right->job, inode->r, &right->job.fs->reactor[0], right_end);
	if (next)
		right_start(next);
}
