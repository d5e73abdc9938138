// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known of an inode's size, and asking for it. */
#include <string.h>
#include "cp/fs/inode/size.h"

void fsc_inode_learn(struct fsc_inode *inode, const struct ddio_fs_attr *attr)
{
	if (attr->change < inode->change)
		return;
	inode->change = attr->change;
	inode->size = attr->size;
	inode->asked = ddio_env_now(inode->r->env);
}

void fsc_inode_opened(struct fsc_inode *inode, uint32_t flags, const struct ddio_fs_attr *attr)
{
	fsc_inode_learn(inode, attr);
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

static void size_done(struct fsc_ask *ask)
{
	struct fsc_sizer *sizer = ddio_container_of(ask, struct fsc_sizer, ask);

	sizer->error = ask->error;
	memset(&ask->error, 0, sizeof(ask->error));
	if (!sizer->error.err)
		fsc_inode_learn(sizer->inode, &sizer->attr);
	sizer->done(sizer);
}

void fsc_size_ask(struct fsc_sizer *sizer, struct fsc_inode *inode,
		  void (*done)(struct fsc_sizer *sizer))
{
	struct ddio_msg_fs_ino msg = { .ino = inode->ino };
	ssize_t len = ddio_put_fs_ino(sizer->payload, sizeof(sizer->payload), &msg);

	sizer->inode = inode;
	sizer->done = done;
	fsc_ask_init(&sizer->ask, inode->r, DDIO_OP_FS_GETATTR, sizer->payload, (size_t)len,
		     size_done);
	sizer->ask.take = size_take;
	fsc_ask(&sizer->ask);
}
