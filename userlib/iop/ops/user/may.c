// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a user may ask of the name space by numbers of inodes: one function for each message.  What it says of a request that
 * is malformed does not matter, since the handler refuses that.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/user/priv.h"

#define ANY (DDIO_GRANT_READ | DDIO_GRANT_WRITE)

typedef int (*may_fn)(const struct server_request *req, const struct ddio_who *who,
		      const void *payload);

/* The inode of a request, by its number, and what may be needed of it. */
static int may_number(const struct server_request *req, uint64_t ino, uint32_t grants)
{
	struct inode in = { .ino = 0 };
	int err = user_reach(req, ino, &in);

	if (!err && grants)
		err = user_may_use(req, &in, grants);
	inode_free(&in);
	return err;
}

static int may_reach(const struct server_request *req, const struct ddio_who *who,
		     const void *payload)
{
	struct ddio_msg_fs_ino x;

	(void)who;
	if (ddio_get_fs_ino(payload, req->msg.length, &x))
		return 0;
	return may_number(req, x.ino, 0);
}

int user_may_dir(const struct server_request *req, uint64_t dir, uint32_t want)
{
	struct inode in = { .ino = 0 };
	int err = user_reach(req, dir, &in);

	if (!err)
		err = S_ISDIR(in.mode) ? ns_may(req->reactor->iop->ns, user_of(req), &in, want)
				       : -ENOTDIR;
	inode_free(&in);
	return err;
}

/*
 * Names
 */
static int may_lookup(const struct server_request *req, const struct ddio_who *who,
		      const void *payload)
{
	struct ddio_msg_fs_name x;

	(void)who;
	if (ddio_get_fs_name(payload, req->msg.length, &x))
		return 0;
	return user_may_dir(req, x.parent, NS_MAY_SEARCH);
}

static int may_readdir(const struct server_request *req, const struct ddio_who *who,
		       const void *payload)
{
	struct ddio_msg_fs_readdir x;

	(void)who;
	if (ddio_get_fs_readdir(payload, req->msg.length, &x))
		return 0;
	return user_may_dir(req, x.ino, NS_MAY_READ | NS_MAY_SEARCH);
}

/* An existing file that is opened in passing. */
static int may_take(const struct server_request *req, const struct ddio_msg_fs_make *x)
{
	struct inode in = { .ino = 0 };
	int err = ns_lookup(req->reactor->iop->ns, x->parent, x->name, &in);

	if (!err)
		err = user_may_use(req, &in, ANY);
	inode_free(&in);
	return err == -ENOENT ? 0 : err;
}

static int may_make(const struct server_request *req, const struct ddio_who *who,
		    const void *payload)
{
	struct ddio_msg_fs_make *x = malloc(sizeof(*x));
	int err = x ? 0 : -ENOMEM;

	(void)who;
	if (x && !ddio_get_fs_make(payload, req->msg.length, x)) {
		err = user_may_dir(req, x->parent, NS_MAY_WRITE | NS_MAY_SEARCH);
		if (!err && (S_ISCHR(x->mode) || S_ISBLK(x->mode)))
			err = -EPERM;
		if (!err && !(x->flags & DDIO_FS_MAKE_EXCL))
			err = may_take(req, x);
	}
	free(x);
	return err;
}

/* As fs.protected_hardlinks has it: what is not the user's own must be open to reading and writing. */
static int may_name(const struct server_request *req, const struct ddio_who *who,
		    const struct inode *in)
{
	if (who->uid == in->uid)
		return 0;
	if (!S_ISREG(in->mode) || in->mode & (S_ISUID | S_ISGID))
		return -EPERM;
	return ns_may(req->reactor->iop->ns, who, in, NS_MAY_READ | NS_MAY_WRITE) ? -EPERM : 0;
}

static int may_link(const struct server_request *req, const struct ddio_who *who,
		    const void *payload)
{
	struct inode in = { .ino = 0 };
	struct ddio_msg_fs_link x;
	int err;

	if (ddio_get_fs_link(payload, req->msg.length, &x))
		return 0;
	err = user_reach(req, x.ino, &in);
	if (!err)
		err = may_name(req, who, &in);
	if (!err)
		err = user_may_dir(req, x.parent, NS_MAY_WRITE | NS_MAY_SEARCH);
	inode_free(&in);
	return err;
}

/* Whether the name may be taken away; *in: what it names, number 0: nothing. */
static int may_unname(const struct server_request *req, const struct ddio_who *who, uint64_t dir,
		      const char *name, struct inode *in)
{
	struct ns *ns = req->reactor->iop->ns;
	int err = user_may_dir(req, dir, NS_MAY_WRITE | NS_MAY_SEARCH);

	memset(in, 0, sizeof(*in));
	if (!err)
		err = ns_lookup(ns, dir, name, in);
	if (!err)
		return ns_may_unname(ns, who, dir, in);
	/* It is missing, or was taken away by this request when it came before. */
	return err == -ENOENT ? 0 : err;
}

static int may_unlink(const struct server_request *req, const struct ddio_who *who,
		      const void *payload)
{
	struct ddio_msg_fs_name x;
	struct inode in;
	int err;

	if (ddio_get_fs_name(payload, req->msg.length, &x))
		return 0;
	err = may_unname(req, who, x.parent, x.name, &in);
	inode_free(&in);
	return err;
}

/* A directory that gets another parent has ".." written. */
static int may_move(const struct server_request *req, const struct ddio_who *who,
		    const struct ddio_msg_fs_rename *x, const struct inode *in)
{
	if (x->parent == x->new_parent || !S_ISDIR(in->mode))
		return 0;
	return ns_may(req->reactor->iop->ns, who, in, NS_MAY_WRITE);
}

int user_check_rename(const struct server_request *req, const struct ddio_msg_fs_rename *x)
{
	const struct ddio_who *who = user_of(req);
	struct inode in, gone = { .ino = 0 };
	int err;

	if (!who)
		return 0;
	err = may_unname(req, who, x->parent, x->name, &in);
	if (!err)
		err = may_move(req, who, x, &in);
	if (!err)
		err = may_unname(req, who, x->new_parent, x->new_name, &gone);
	if (!err && x->flags & DDIO_FS_RENAME_EXCHANGE)
		err = may_move(req, who, x, &gone);
	inode_free(&in);
	inode_free(&gone);
	return err;
}

static int may_rename(const struct server_request *req, const struct ddio_who *who,
		      const void *payload)
{
	struct ddio_msg_fs_rename x;

	(void)who;
	if (ddio_get_fs_rename(payload, req->msg.length, &x))
		return 0;
	return user_check_rename(req, &x);
}

/*
 * Files
 */
static int may_open(const struct server_request *req, const struct ddio_who *who,
		    const void *payload)
{
	struct ddio_msg_fs_open x;

	(void)who;
	if (ddio_get_fs_open(payload, req->msg.length, &x))
		return 0;
	/* It was open before the name space was started anew, which has nobody's word for it but a grant. */
	if (x.flags & DDIO_FS_OPEN_AGAIN && user_knows(req->client->user, x.ino))
		return 0;
	return may_number(req, x.ino, ANY);
}

/* Of an inode that is not open here it would say what has been left. */
static int may_release(const struct server_request *req, const struct ddio_who *who,
		       const void *payload)
{
	struct ddio_msg_fs_ino x;

	(void)who;
	if (ddio_get_fs_ino(payload, req->msg.length, &x))
		return 0;
	return req->client->mount && ns_openers(req->reactor->iop->ns, req->client->mount, x.ino)
		       ? 0
		       : -EACCES;
}

static int may_wrote(const struct server_request *req, const struct ddio_who *who,
		     const void *payload)
{
	struct ddio_msg_fs_wrote x;

	(void)who;
	if (ddio_get_fs_wrote(payload, req->msg.length, &x))
		return 0;
	/* A lease that is given back, of an inode in which nothing was written. */
	if (!x.end && x.flags == (DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN))
		return may_number(req, x.ino, ANY);
	return may_number(req, x.ino, DDIO_GRANT_WRITE);
}

static int may_append(const struct server_request *req, const struct ddio_who *who,
		      const void *payload)
{
	struct ddio_msg_fs_append x;

	(void)who;
	if (ddio_get_fs_append(payload, req->msg.length, &x))
		return 0;
	return may_number(req, x.ino, DDIO_GRANT_WRITE);
}

static int may_alloc(const struct server_request *req, const struct ddio_who *who,
		     const void *payload)
{
	struct ddio_msg_fs_alloc x;

	(void)who;
	if (ddio_get_fs_alloc(payload, req->msg.length, &x))
		return 0;
	return may_number(req, x.ino, DDIO_GRANT_WRITE);
}

static int may_lease(const struct server_request *req, const struct ddio_who *who,
		     const void *payload)
{
	struct ddio_msg_fs_lease x;

	(void)who;
	if (ddio_get_fs_lease(payload, req->msg.length, &x))
		return 0;
	return may_number(req, x.ino, ANY);
}

static const struct {
	uint16_t opcode;
	may_fn may;
} checks[] = {
	{ DDIO_OP_FS_LOOKUP, may_lookup },
	{ DDIO_OP_FS_GETATTR, may_reach },
	{ DDIO_OP_FS_SETATTR, may_setattr },
	{ DDIO_OP_FS_MAKE, may_make },
	{ DDIO_OP_FS_LINK, may_link },
	{ DDIO_OP_FS_UNLINK, may_unlink },
	{ DDIO_OP_FS_RENAME, may_rename },
	{ DDIO_OP_FS_READLINK, may_reach },
	{ DDIO_OP_FS_READDIR, may_readdir },
	{ DDIO_OP_FS_GETXATTR, may_getxattr },
	{ DDIO_OP_FS_SETXATTR, may_setxattr },
	{ DDIO_OP_FS_LISTXATTR, may_reach },
	{ DDIO_OP_FS_REMOVEXATTR, may_setxattr },
	{ DDIO_OP_FS_OPEN, may_open },
	{ DDIO_OP_FS_RELEASE, may_release },
	{ DDIO_OP_FS_WROTE, may_wrote },
	{ DDIO_OP_FS_APPEND, may_append },
	{ DDIO_OP_FS_ALLOC, may_alloc },
	{ DDIO_OP_FS_LEASE, may_lease },
};

bool user_denied(struct server_request *req, const void *payload)
{
	const struct ddio_who *who = req->client ? user_of(req) : NULL;
	int err = 0;
	size_t i;

	for (i = 0; who && i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].opcode == req->msg.opcode)
			err = checks[i].may(req, who, payload);
	if (err)
		server_fail_errno(req, err, ddio_opcode_name(req->msg.opcode));
	return err;
}
