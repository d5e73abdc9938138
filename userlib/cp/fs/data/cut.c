// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Setting attributes, the size among them.  What lies behind a new end is cut off the objects first, so
 * that it does not come back if the file grows again; an interruption in between leaves zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/data/cut.h"
#include "cp/fs/disks/set.h"

struct cut_set {
	struct fsc_set set;
	struct fsc_cut *cut;
};

static void cut_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct fsc_cut *cut = ddio_container_of(ask, struct fsc_cut, ask);
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x))
		fsc_ask_malformed(ask);
	else
		cut->attr = x.attr;
}

static void cut_done(struct fsc_ask *ask)
{
	struct fsc_cut *cut = ddio_container_of(ask, struct fsc_cut, ask);

	fsc_error_first(&cut->error, &ask->error);
	fsc_error_free(&ask->error);
	if (!cut->error.err && cut->inode)
		fsc_inode_learn(cut->inode, &cut->attr, 0);
	cut->done(cut);
}

static void cut_send(struct fsc_cut *cut)
{
	ssize_t len;

	if (cut->error.err) {
		cut->done(cut);
		return;
	}
	len = ddio_put_fs_setattr(cut->payload, sizeof(cut->payload), &cut->msg);
	fsc_ask_init(&cut->ask, cut->home, DDIO_OP_FS_SETATTR, cut->payload,
		     len < 0 ? 0 : (size_t)len, cut_done);
	cut->ask.about = cut->msg.ino;
	cut->ask.take = cut_take;
	fsc_ask(&cut->ask);
}

static void cut_objects_done(struct fsc_set *set)
{
	struct cut_set *cs = ddio_container_of(set, struct cut_set, set);
	struct fsc_cut *cut = cs->cut;

	fsc_error_first(&cut->error, &set->error);
	fsc_set_free(set);
	free(cs);
	if (!cut->error.err)
		cut->inode->tail = false;
	cut_send(cut);
}

static void cut_objects(struct fsc_cut *cut, uint64_t end)
{
	struct cut_set *cs = calloc(1, sizeof(*cs));

	if (!cs) {
		fsc_error_set(&cut->error, -ENOMEM, "out of memory");
		cut_send(cut);
		return;
	}
	cs->cut = cut;
	fsc_set_init(&cs->set, cut->home, &cut->inode->rec, cut_objects_done);
	cs->set.missing_ok = true;
	/* The cut becomes durable with the next sync. */
	cs->set.holder = cut->inode->holder;
	fsc_set_range(&cs->set, DDIO_OP_OBJ_TRUNCATE, 0, 0, end, true);
}

/* Setting the size that the file already has frees what was allocated beyond its end. */
static void cut_sized(struct fsc_sizer *sizer)
{
	struct fsc_cut *cut = ddio_container_of(sizer, struct fsc_cut, sizer);
	uint64_t size = sizer->attr.size;

	fsc_error_first(&cut->error, &sizer->error);
	fsc_error_free(&sizer->error);
	if (!cut->error.err && cut->msg.mask & DDIO_FS_SET_NAMED && !sizer->attr.nlink)
		fsc_error_set(&cut->error, -ESTALE, "the file was removed");
	/* What has a name now is cut, whatever becomes of the name meanwhile. */
	cut->msg.mask &= ~DDIO_FS_SET_NAMED;
	if (cut->error.err)
		cut->done(cut);
	else if (cut->msg.size < size || (cut->msg.size == size && sizer->attr.alloc))
		cut_objects(cut, cut->msg.size);
	else if (cut->inode->tail)
		cut_objects(cut, size);
	else
		cut_send(cut);
}

static void cut_flushed(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct fsc_cut *cut = ddio_container_of(waiter, struct fsc_cut, waiter);

	fsc_error_set(&cut->error, error->err, error->text);
	if (cut->error.err)
		cut->done(cut);
	else if (!(cut->msg.mask & DDIO_FS_SET_SIZE))
		cut_send(cut);
	else
		fsc_size_ask(&cut->sizer, cut->inode, cut_sized);
}

void fsc_cut(struct fsc_cut *cut)
{
	if ((cut->msg.mask & DDIO_FS_SET_SIZE) && cut->msg.size > DDIO_MAX_FILE) {
		fsc_error_set(&cut->error, -EFBIG, "the file would be too large");
		cut->done(cut);
	} else if (cut->inode) {
		/* Earlier writes are told first: their times must not replace those that are set. */
		cut->waiter.fn = cut_flushed;
		fsc_inode_flush(cut->inode, &cut->waiter);
	} else {
		cut_send(cut);
	}
}

void fsc_cut_to(struct fsc_cut *cut, struct fsc_inode *inode, uint64_t size,
		void (*done)(struct fsc_cut *cut))
{
	cut->inode = inode;
	cut->home = inode->r;
	cut->msg.ino = inode->ino;
	cut->msg.mask = DDIO_FS_SET_SIZE;
	cut->msg.size = size;
	cut->done = done;
	fsc_cut(cut);
}
