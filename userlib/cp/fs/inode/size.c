// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known of an inode's size, and asking for it. */
#include <string.h>
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/size.h"

void fsc_inode_learn(struct fsc_inode *inode, const struct ddio_fs_attr *attr, uint64_t meta)
{
	if (attr->change < inode->change)
		return;
	fsc_size_doubt(inode);
	inode->change = attr->change;
	inode->attr = *attr;
	inode->attr_meta = meta;
	if (!meta)
		fsc_lease_unsure(inode);
	/* What was written under the lease counts, whether the name server knows of it or not. */
	inode->size = attr->size > inode->lease.pend ? attr->size : inode->lease.pend;
	inode->asked = ddio_env_now(inode->r->env);
}

void fsc_inode_opened(struct fsc_inode *inode, uint32_t flags, const struct ddio_fs_attr *attr)
{
	fsc_inode_learn(inode, attr, 0);
	if (!(flags & DDIO_FS_OPENED_BARE))
		inode->has_data = true;
	fsc_inode_set_gone(inode, false);
}

static void size_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct fsc_sizer *sizer = ddio_container_of(ask, struct fsc_sizer, ask);
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x))
		fsc_ask_malformed(ask);
	else
		sizer->attr = x.attr;
}

static void size_begin(struct fsc_sizer *sizer);

static void size_tell(struct fsc_sizer *sizer, const struct ddio_fs_attr *attr,
		      const struct fsc_error *error)
{
	sizer->attr = *attr;
	memset(&sizer->error, 0, sizeof(sizer->error));
	fsc_error_set(&sizer->error, error->err, error->text);
	sizer->done(sizer);
}

/* Sizers that came meanwhile may need a later answer: one more request serves them all. */
static void size_next(struct fsc_inode *inode)
{
	struct fsc_sizer *next;

	inode->sizing = !ddio_list_empty(&inode->sizers);
	if (!inode->sizing)
		return;
	next = ddio_list_first(&inode->sizers, struct fsc_sizer, link);
	ddio_list_del(&next->link);
	ddio_list_splice(&inode->sizers, &next->with);
	size_begin(next);
}

static void size_done(struct fsc_ask *ask)
{
	struct fsc_sizer *sizer = ddio_container_of(ask, struct fsc_sizer, ask), *other;
	struct ddio_fs_attr attr = sizer->attr;
	struct fsc_error error = ask->error;
	struct ddio_list with;

	memset(&ask->error, 0, sizeof(ask->error));
	if (!error.err)
		fsc_inode_learn(sizer->inode, &attr, ask->meta);
	ddio_list_init(&with);
	ddio_list_splice(&sizer->with, &with);
	size_next(sizer->inode);
	/* What calls back may free its sizer, and the last one the inode. */
	size_tell(sizer, &attr, &error);
	while (!ddio_list_empty(&with)) {
		other = ddio_list_first(&with, struct fsc_sizer, link);
		ddio_list_del(&other->link);
		size_tell(other, &attr, &error);
	}
	fsc_error_free(&error);
}

static void size_begin(struct fsc_sizer *sizer)
{
	struct ddio_msg_fs_ino msg = { .ino = sizer->inode->ino };
	ssize_t len = ddio_put_fs_ino(sizer->payload, sizeof(sizer->payload), &msg);

	fsc_ask_init(&sizer->ask, sizer->inode->r, DDIO_OP_FS_GETATTR, sizer->payload, (size_t)len,
		     size_done);
	sizer->ask.take = size_take;
	fsc_ask(&sizer->ask);
}

void fsc_size_ask(struct fsc_sizer *sizer, struct fsc_inode *inode,
		  void (*done)(struct fsc_sizer *sizer))
{
	sizer->inode = inode;
	sizer->done = done;
	ddio_list_init(&sizer->with);
	if (inode->sizing) {
		ddio_list_add(&sizer->link, &inode->sizers);
		return;
	}
	inode->sizing = true;
	size_begin(sizer);
}
