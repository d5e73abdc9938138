// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Inodes by their numbers, as mounts ask for them.  A user may know every number, but may ask about an inode only after
 * coming to it by a way that is open: a directory has its parent recorded, and so on up to the root; other inodes were shown to
 * the user on this connection a short while ago, or are open in the user's mount.
 */
#include <errno.h>
#include "iop/ops/user/priv.h"

static struct iop_user *iop_user_of(const struct server_request *req)
{
	return req->client ? req->client->user : NULL;
}

static bool is_open(const struct server_request *req, uint64_t ino)
{
	return req->client && req->client->mount &&
	       ns_openers(req->reactor->iop->ns, req->client->mount, ino);
}

void user_saw_inode(const struct server_request *req, uint64_t ino, uint32_t mode)
{
	struct iop_user *user = iop_user_of(req);

	if (user_of(req) && user && !S_ISDIR(mode))
		user_see(user, ino,
			 ddio_env_wall(req->reactor->env) + req->reactor->iop->conf->grant_ns);
}

int user_reach(const struct server_request *req, uint64_t ino, struct inode *inode)
{
	struct iop_user *user = iop_user_of(req);
	struct ns *ns = req->reactor->iop->ns;
	int err = ns_getattr(ns, ino, inode);

	if (err)
		return err;
	if (S_ISDIR(inode->mode))
		return ns_may_come(ns, user_of(req), inode);
	if (is_open(req, ino))
		return 0;
	/* The kernel answers this by looking the name up once more. */
	if (!user || !user_saw(user, ino, ddio_env_wall(req->reactor->env)))
		return -ESTALE;
	user_saw_inode(req, ino, inode->mode);
	return 0;
}

int user_may_use(const struct server_request *req, const struct inode *inode, uint32_t grants)
{
	struct ns *ns = req->reactor->iop->ns;
	int err = -EACCES;

	if (user_has(req, inode->ino, grants))
		return 0;
	if (grants & DDIO_GRANT_READ)
		err = ns_may(ns, user_of(req), inode, NS_MAY_READ);
	if (err == -EACCES && grants & DDIO_GRANT_WRITE)
		err = ns_may(ns, user_of(req), inode, NS_MAY_WRITE);
	return err;
}
