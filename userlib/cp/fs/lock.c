// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locks: testing, setting, cancelling, and unlocking all of an owner. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/data/file.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/locks.h"
#include "cp/fs/names/call.h"

#define LOST_MEANWHILE "the lock was lost before it was given back, and others may have had it"

struct lock_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct ddio_list waiting; /* in struct ddio_fs.lock_waits */
	struct fsc_ask ask;
	struct ddio_msg_fs_lock msg, answer;
	struct ddio_fs_lock result;
	uint8_t payload[80];
};

static struct lock_job *lock_of(struct fsc_ask *ask)
{
	return ddio_container_of(ask, struct lock_job, ask);
}

static void lock_end(struct lock_job *lj, struct ddio_fs_reply *reply)
{
	struct fsc_error error = lj->ask.error;

	ddio_list_del(&lj->waiting);
	fsc_job_end(&lj->job, &error, reply);
}

static void lock_fill(struct ddio_msg_fs_lock *msg, uint64_t ino, const struct ddio_fs_lock *lock)
{
	msg->ino = ino;
	msg->start = lock->flock ? 0 : lock->start;
	msg->end = lock->flock ? UINT64_MAX : lock->end;
	msg->owner = lock->owner;
	msg->pid = lock->pid;
	msg->type = lock->type == F_RDLCK   ? DDIO_FS_LOCK_READ
		    : lock->type == F_WRLCK ? DDIO_FS_LOCK_WRITE
					    : DDIO_FS_LOCK_NONE;
	msg->flags = lock->flock ? DDIO_FS_LOCK_FLOCK : 0;
}

static void lock_result(struct ddio_fs_lock *lock, const struct ddio_msg_fs_lock *msg)
{
	lock->type = msg->type == DDIO_FS_LOCK_READ    ? F_RDLCK
		     : msg->type == DDIO_FS_LOCK_WRITE ? F_WRLCK
						       : F_UNLCK;
	lock->flock = msg->flags & DDIO_FS_LOCK_FLOCK;
	lock->start = msg->start;
	lock->end = msg->end;
	lock->owner = msg->owner;
	lock->pid = msg->flags & DDIO_FS_LOCK_OTHER ? 0 : msg->pid;
}

static void lock_send(struct lock_job *lj, uint16_t opcode, void (*done)(struct fsc_ask *ask))
{
	void (*take)(struct fsc_ask * ask, const struct reply *reply) = lj->ask.take;
	ssize_t len = ddio_put_fs_lock(lj->payload, sizeof(lj->payload), &lj->msg);

	fsc_ask_init(&lj->ask, &lj->job.fs->reactor[0], opcode, lj->payload, (size_t)len, done);
	lj->ask.take = take;
	fsc_ask(&lj->ask);
}

static struct lock_job *lock_new(struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
				 ddio_fs_done done, void *arg)
{
	struct lock_job *lj = fsc_job_new(file->fs, sizeof(*lj), done, arg);

	if (!lj)
		return NULL;
	lj->inode = file->inode;
	ddio_list_init(&lj->waiting);
	if (lock)
		lock_fill(&lj->msg, file->inode->ino, lock);
	return lj;
}

static bool lock_bad(const struct lock_job *lj)
{
	return lj->msg.start > lj->msg.end;
}

static void test_take(struct fsc_ask *ask, const struct reply *reply)
{
	if (ddio_get_fs_lock(reply->payload, reply->len, &lock_of(ask)->answer))
		fsc_ask_malformed(ask);
}

static void test_done(struct fsc_ask *ask)
{
	struct lock_job *lj = lock_of(ask);
	struct ddio_fs_reply reply = { .data = &lj->result, .len = sizeof(lj->result) };

	lock_result(&lj->result, &lj->answer);
	lock_end(lj, &reply);
}

static void test_run(struct fsc_job *job)
{
	struct lock_job *lj = ddio_container_of(job, struct lock_job, job);

	lj->ask.take = test_take;
	if (lock_bad(lj))
		fsc_job_fail(job, -EINVAL, "the range of a lock ends before it begins");
	else
		lock_send(lj, DDIO_OP_FS_LOCK_TEST, test_done);
}

void ddio_fs_lock_test(struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
		       ddio_fs_done done, void *arg)
{
	struct lock_job *lj = lock_new(file, lock, done, arg);

	if (lj)
		fsc_job_post(&lj->job, &file->fs->reactor[0], test_run);
}

static void lock_set_done(struct fsc_ask *ask)
{
	struct lock_job *lj = lock_of(ask);
	struct ddio_fs_reply reply = { 0 };

	if (!ask->error.err && fsc_locks_apply(lj->inode, &lj->msg))
		fsc_error_set(&ask->error, -EIO, LOST_MEANWHILE);
	/* Cancelled while the name server did not answer: it may have granted the lock. */
	if (ask->cancelled)
		lj->inode->doubt = true;
	lock_end(lj, &reply);
}

static void lock_run(struct fsc_job *job)
{
	struct lock_job *lj = ddio_container_of(job, struct lock_job, job);

	if (lock_bad(lj)) {
		fsc_job_fail(job, -EINVAL, "the range of a lock ends before it begins");
		return;
	}
	if (lj->msg.type != DDIO_FS_LOCK_NONE && fsc_locks_missed(lj->inode, &lj->msg)) {
		fsc_job_fail(job, -EIO, FSC_LOCK_LOST);
		return;
	}
	if (lj->msg.flags & DDIO_FS_LOCK_WAIT)
		ddio_list_add(&lj->waiting, &job->fs->lock_waits);
	lock_send(lj, DDIO_OP_FS_LOCK_SET, lock_set_done);
}

void ddio_fs_lock_set(struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
		      uint64_t *id, ddio_fs_done done, void *arg)
{
	struct lock_job *lj = lock_new(file, lock, done, arg);
	uint64_t number;

	if (!lj)
		return;
	number = atomic_fetch_add_explicit(&file->fs->lock_id, 1, memory_order_relaxed) + 1;
	if (id)
		*id = number;
	lj->msg.id = number;
	if (wait && lj->msg.type != DDIO_FS_LOCK_NONE)
		lj->msg.flags |= DDIO_FS_LOCK_WAIT;
	fsc_job_post(&lj->job, &file->fs->reactor[0], lock_run);
}

static void cancel_untold(void *arg, const struct ddio_fs_reply *reply)
{
	(void)arg;
	(void)reply;
}

static void cancel_run(struct fsc_job *job)
{
	struct fsc_call *call = ddio_container_of(job, struct fsc_call, job);
	struct fsc_error none = { 0 };
	struct ddio_fs_reply reply = { 0 };
	struct lock_job *lj;

	ddio_list_for_each_entry(lj, &job->fs->lock_waits, waiting) {
		if (lj->msg.id != call->attr.ino)
			continue;
		if (!fsc_ask_cancel(&lj->ask))
			fsc_ask(&call->ask);
		else
			fsc_job_end(job, &none, &reply);
		return;
	}
	fsc_job_end(job, &none, &reply);
}

void ddio_fs_lock_cancel(struct ddio_fs *fs, uint64_t id)
{
	struct ddio_msg_fs_ino x = { .ino = id };
	struct fsc_call *call =
		FSC_CALL_NEW(fs, DDIO_OP_FS_LOCK_CANCEL, fs_ino, &x, cancel_untold, NULL);

	if (!call)
		return;
	call->attr.ino = id;
	fsc_job_post(&call->job, &fs->reactor[0], cancel_run);
}

static void owner_done(struct fsc_ask *ask)
{
	struct lock_job *lj = lock_of(ask);
	struct ddio_fs_reply reply = { 0 };

	if (!ask->error.err && fsc_locks_clear(lj->inode, &lj->msg))
		fsc_error_set(&ask->error, -EIO, LOST_MEANWHILE);
	lock_end(lj, &reply);
}

static void owner_run(struct fsc_job *job)
{
	struct lock_job *lj = ddio_container_of(job, struct lock_job, job);
	struct ddio_msg_fs_owner x = { .ino = lj->inode->ino, .owner = lj->msg.owner };
	struct ddio_fs_reply reply = { 0 };
	ssize_t len;

	if (!lj->inode->doubt && !fsc_locks_held(lj->inode, &lj->msg)) {
		lock_end(lj, &reply);
		return;
	}
	len = ddio_put_fs_owner(lj->payload, sizeof(lj->payload), &x);
	fsc_ask_init(&lj->ask, &job->fs->reactor[0], DDIO_OP_FS_UNLOCK_OWNER, lj->payload,
		     (size_t)len, owner_done);
	fsc_ask(&lj->ask);
}

void ddio_fs_unlock_owner(struct ddio_fs_file *file, uint64_t owner, ddio_fs_done done, void *arg)
{
	struct lock_job *lj = lock_new(file, NULL, done, arg);

	if (!lj)
		return;
	lj->msg.ino = lj->inode->ino;
	lj->msg.owner = owner;
	lj->msg.end = UINT64_MAX;
	fsc_job_post(&lj->job, &file->fs->reactor[0], owner_run);
}
