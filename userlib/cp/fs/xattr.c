// SPDX-License-Identifier: LGPL-2.1-or-later
/* Extended attributes. */
#include <errno.h>
#include <string.h>
#include "cp/fs/inode/inode.h"
#include "cp/fs/names/call.h"

/* Of setxattr(2). */
enum { FLAG_CREATE = 1, FLAG_REPLACE = 2 };

static int name_set(struct ddio_msg_fs_xattr *x, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || len > DDIO_MAX_NAME)
		return -ERANGE;
	memcpy(x->name, name, len + 1);
	return 0;
}

/* Sets the name, too.  @known: flags that are good, besides DDIO_FS_NAMED. */
static int flags_set(struct ddio_msg_fs_xattr *x, const char *name, uint32_t flags, uint32_t known)
{
	int err = name_set(x, name);

	if (flags & DDIO_FS_NAMED)
		x->flags |= DDIO_FS_XATTR_NAMED;
	return err || !(flags & ~(known | DDIO_FS_NAMED)) ? err : -EINVAL;
}

static void value_take(struct fsc_ask *ask, const struct reply *reply)
{
	if (ddio_get_fs_value(reply->payload, reply->len, &fsc_call_of(ask)->value))
		fsc_ask_malformed(ask);
}

/* The bytes still lie in the message. */
static bool value_answer(struct fsc_call *call, struct ddio_fs_reply *reply)
{
	reply->data = call->value.data;
	reply->len = call->value.len;
	return true;
}

void ddio_fs_getxattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
		      ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_xattr x = { .ino = ino };
	int err = flags_set(&x, name, flags, 0);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_GETXATTR, fs_xattr, &x, done, arg);

	if (!call)
		return;
	call->ask.take = value_take;
	call->answer = value_answer;
	fsc_call_post(call, err);
}

void ddio_fs_listxattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_ino x = { .ino = ino };
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_LISTXATTR, fs_ino, &x, done, arg);

	if (!call)
		return;
	call->ask.take = value_take;
	call->answer = value_answer;
	fsc_call_post(call, 0);
}

/* Setting "ddio.*" may have changed how the file is spread. */
static void stripe_take(struct fsc_ask *ask, const struct reply *reply)
{
	(void)reply;
	fsc_inode_forget(ask->home->fs, fsc_call_of(ask)->attr.ino);
}

static void change_post(struct fsc_call *call, const struct ddio_msg_fs_xattr *x, int err)
{
	call->ask.numbered = true;
	call->ask.about = x->ino;
	call->attr.ino = x->ino;
	if (!strncmp(x->name, "ddio.", 5))
		call->ask.take = stripe_take;
	fsc_call_post(call, err);
}

void ddio_fs_setxattr(struct ddio_fs *fs, uint64_t ino, const char *name, const void *value,
		      size_t len, uint32_t flags, bool kill_sgid, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_xattr x = { .ino = ino, .value = value };
	int err = flags_set(&x, name, flags, FLAG_CREATE | FLAG_REPLACE);
	struct fsc_call *call;

	if (!err && len > DDIO_FS_XATTR_MAX)
		err = -E2BIG;
	if (!err)
		x.len = (uint32_t)len;
	if (flags & FLAG_CREATE)
		x.flags |= DDIO_FS_XATTR_CREATE;
	if (flags & FLAG_REPLACE)
		x.flags |= DDIO_FS_XATTR_REPLACE;
	if (kill_sgid)
		x.flags |= DDIO_FS_XATTR_KILL_SGID;
	call = FSC_CALL_NEW(fs, DDIO_OP_FS_SETXATTR, fs_xattr, &x, done, arg);
	if (call)
		change_post(call, &x, err);
}

void ddio_fs_removexattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
			 ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_xattr x = { .ino = ino };
	int err = flags_set(&x, name, flags, 0);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_REMOVEXATTR, fs_xattr, &x, done, arg);

	if (call)
		change_post(call, &x, err);
}
