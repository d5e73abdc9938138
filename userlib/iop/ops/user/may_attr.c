// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which attributes a user may set, and which extended ones see; as Linux has it. */
#include <errno.h>
#include "iop/ops/user/priv.h"

#define NOW (DDIO_FS_SET_ATIME_NOW | DDIO_FS_SET_MTIME_NOW)
/* What a write brings about; times of it are the mount's, which had it wait. */
#define WRITTEN (NOW | DDIO_FS_SET_SIZE | DDIO_FS_KILL_SUID)
#define WRITTEN_LATE (DDIO_FS_SET_MTIME | DDIO_FS_SET_CTIME)

static int owner_may(const struct ddio_who *who, const struct ddio_msg_fs_setattr *x,
		     const struct inode *in)
{
	uint32_t gid = x->mask & DDIO_FS_SET_GID ? x->gid : in->gid;

	if (who->uid != in->uid || (x->mask & DDIO_FS_SET_UID && x->uid != in->uid) ||
	    (gid != in->gid && !who_in_group(who, gid)))
		return -EPERM;
	/* A program of a group that the owner is not in. */
	if (x->mask & DDIO_FS_SET_MODE && x->mode & S_ISGID && !S_ISDIR(in->mode) &&
	    !who_in_group(who, gid))
		return -EPERM;
	return 0;
}

static int set_may(const struct server_request *req, const struct ddio_who *who,
		   const struct ddio_msg_fs_setattr *x, const struct inode *in)
{
	uint32_t mask = x->mask & ~DDIO_FS_SET_NAMED;
	int err = 0;

	if (mask & DDIO_FS_SET_SIZE)
		err = user_may_use(req, in, DDIO_GRANT_WRITE);
	if (err || !mask || !(mask &= ~DDIO_FS_SET_SIZE))
		return err;
	if (mask == DDIO_FS_SET_ATIME_READ)
		return user_may_use(req, in, DDIO_GRANT_READ);
	if (!owner_may(who, x, in))
		return 0;
	if (mask & ~WRITTEN && mask & ~WRITTEN_LATE)
		return -EPERM;
	return user_may_use(req, in, DDIO_GRANT_WRITE);
}

int may_setattr(const struct server_request *req, const struct ddio_who *who, const void *payload)
{
	struct ddio_msg_fs_setattr x;
	struct inode in = { .ino = 0 };
	int err;

	if (ddio_get_fs_setattr(payload, req->msg.length, &x))
		return 0;
	err = user_reach(req, x.ino, &in);
	if (!err)
		err = set_may(req, who, &x, &in);
	inode_free(&in);
	return err;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

int may_getxattr(const struct server_request *req, const struct ddio_who *who, const void *payload)
{
	struct ddio_msg_fs_xattr x;
	struct inode in = { .ino = 0 };
	int err;

	(void)who;
	if (ddio_get_fs_xattr(payload, req->msg.length, &x))
		return 0;
	err = user_reach(req, x.ino, &in);
	if (!err && begins(x.name, "trusted."))
		err = -ENODATA;
	else if (!err && begins(x.name, "user."))
		err = user_may_use(req, &in, DDIO_GRANT_READ);
	inode_free(&in);
	return err;
}

static int xattr_may(const struct server_request *req, const struct ddio_who *who, const char *name,
		     const struct inode *in)
{
	if (begins(name, "trusted.") || begins(name, "security."))
		return -EPERM;
	if (begins(name, "system.") || begins(name, "ddio."))
		return who->uid == in->uid ? 0 : -EPERM;
	/* Of what is no file, and of a directory in which everybody may write, they would be a place for anybody's data. */
	if (begins(name, "user.") && who->uid != in->uid &&
	    (!(S_ISREG(in->mode) || S_ISDIR(in->mode)) || in->mode & S_ISVTX))
		return -EPERM;
	return user_may_use(req, in, DDIO_GRANT_WRITE);
}

int may_setxattr(const struct server_request *req, const struct ddio_who *who, const void *payload)
{
	struct ddio_msg_fs_xattr x;
	struct inode in = { .ino = 0 };
	int err;

	if (ddio_get_fs_xattr(payload, req->msg.length, &x))
		return 0;
	err = user_reach(req, x.ino, &in);
	if (!err)
		err = xattr_may(req, who, x.name, &in);
	inode_free(&in);
	return err;
}
