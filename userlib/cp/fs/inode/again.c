// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tells a name server that knows nothing of this mount what is open and what is locked. */
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/inode/again.h"
#include "cp/fs/inode/locks.h"
#include "cp/fs/names/names.h"

/**
 * struct again - one opening, or one lock, that is told again
 * @lock: if @locking
 */
struct again {
	struct node_request request;
	struct ddio_fs *fs;
	struct fsc_inode *inode;
	struct ddio_msg_fs_lock lock;
	bool locking;
};

/* Notes that one more answer has come; the last one ends it. */
static void again_put(struct ddio_fs *fs)
{
	if (!--fs->names->untold)
		fsc_names_told(fs, fs->names->untold_lost);
}

static void again_failed(struct again *a, const struct reply *reply)
{
	if (fsc_status_unanswered(reply->status) || reply->status == DDIO_ST_CANCELLED) {
		a->fs->names->untold_lost = true;
	} else if (a->locking) {
		fsc_locks_lost(a->inode, &a->lock);
	} else {
		fsc_log(a->fs, DDIO_LOG_WARN, "inode %llu is gone while it is open: %s",
			(unsigned long long)a->inode->ino, reply->text ? reply->text : "");
		fsc_inode_set_gone(a->inode, true);
	}
}

static void again_done(struct node_request *request, const struct reply *reply)
{
	struct again *a = ddio_container_of(request, struct again, request);
	struct ddio_fs *fs = a->fs;

	if (reply->status)
		again_failed(a, reply);
	fsc_inode_put(a->inode);
	free(a);
	again_put(fs);
}

static struct again *again_new(struct fsc_inode *inode, uint16_t opcode)
{
	struct again *a = calloc(1, sizeof(*a));
	struct ddio_fs *fs = inode->fs;

	if (!a) {
		fs->names->untold_lost = true;
		return NULL;
	}
	a->fs = fs;
	a->inode = fsc_inode_get(fs, inode->ino);
	request_init(&a->request, opcode, again_done, NULL);
	return a;
}

static void again_send(struct again *a, ssize_t len)
{
	a->request.fixed = a->request.inl;
	a->request.fixed_len = (size_t)len;
	a->fs->names->untold++;
	request_names(a->fs->reactor[0].session, &a->request);
}

static void again_open(struct fsc_inode *inode)
{
	struct ddio_msg_fs_open msg = { .ino = inode->ino, .flags = DDIO_FS_OPEN_AGAIN };
	struct again *a = again_new(inode, DDIO_OP_FS_OPEN);

	if (a)
		again_send(a, ddio_put_fs_open(a->request.inl, sizeof(a->request.inl), &msg));
}

static void again_lock(struct fsc_lock *lock)
{
	struct ddio_msg_fs_lock msg = lock->msg;
	struct again *a = again_new(lock->inode, DDIO_OP_FS_LOCK_SET);

	if (!a)
		return;
	msg.flags |= DDIO_FS_LOCK_AGAIN;
	a->lock = msg;
	a->locking = true;
	again_send(a, ddio_put_fs_lock(a->request.inl, sizeof(a->request.inl), &msg));
}

void fsc_tell_again(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;
	struct fsc_inode *inode, *next_inode;
	struct fsc_lock *lock, *next_lock;

	names->untold = 1;
	names->untold_lost = false;
	ddio_list_for_each_entry_safe(inode, next_inode, &names->opens, open_link)
		again_open(inode);
	ddio_list_for_each_entry_safe(lock, next_lock, &names->locks, all)
		again_lock(lock);
	again_put(fs);
}
