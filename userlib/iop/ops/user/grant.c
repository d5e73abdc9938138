// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Grants: the name space signs what a user may do with a file, a client shows that to other nodes, and has it renewed
 * before it expires.  Who has a grant, even one that has just expired, has found the file by a way that was open.
 */
#include <errno.h>
#include <string.h>
#include "iop/ops/user/priv.h"

const struct ddio_who *user_of(const struct server_request *req)
{
	static const struct ddio_who nobody = { .uid = WHO_NOBODY, .gid = WHO_NOBODY };
	const struct iop_user *user = req->client ? req->client->user : NULL;

	if (!req->reactor->iop->users || (user && user->root))
		return NULL;
	return user && user->state == USER_KNOWN ? &user->who : &nobody;
}

bool user_has(const struct server_request *req, uint64_t file, uint32_t rights)
{
	if (!req->reactor->iop->users)
		return true;
	return req->client && req->client->user &&
	       user_may(req->client->user, file, rights, ddio_env_wall(req->reactor->env));
}

void user_tell(const struct server_request *req, uint64_t file, uint32_t rights)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_GRANT };
	const struct ddio_iop *iop = req->reactor->iop;
	const struct ddio_who *who = user_of(req);
	struct ddio_msg_grant grant = { .file = file, .rights = rights };
	uint8_t buf[DDIO_GRANT_LEN];

	if (!who || !req->client || !rights)
		return;
	grant.uid = who->uid;
	grant.until_ns = ddio_env_wall(req->reactor->env) + iop->conf->grant_ns;
	/* Without memory the client has no grant, and is refused. */
	if (!grant_sign(&iop->servers_key, &grant) ||
	    !user_grant(req->client->user, &iop->servers_key, &grant))
		return;
	ddio_put_grant(buf, sizeof(buf), &grant);
	ddio_conn_send(req->client->conn, &msg, buf, sizeof(buf), NULL, 0, NULL);
}

static uint32_t user_rights(const struct server_request *req, const struct inode *inode)
{
	struct ns *ns = req->reactor->iop->ns;
	const struct ddio_who *who = user_of(req);
	uint32_t rights = 0;

	if (!ns_may(ns, who, inode, NS_MAY_READ))
		rights |= DDIO_GRANT_READ;
	if (!ns_may(ns, who, inode, NS_MAY_WRITE))
		rights |= DDIO_GRANT_WRITE;
	return rights;
}

/*
 * A program that somebody else may write runs with nobody's rights.  A grant does not say whether it will be used for that, nor do
 * disks know who owns a file: so it ends when the right is given.
 */
static uint32_t disarm(const struct server_request *req, struct inode *inode, uint32_t rights)
{
	if (!(rights & DDIO_GRANT_WRITE) || user_of(req)->uid == inode->uid ||
	    !ns_disarm(req->reactor->iop->ns, inode))
		return rights;
	return rights & ~(uint32_t)DDIO_GRANT_WRITE;
}

void user_tell_inode(const struct server_request *req, struct inode *inode)
{
	if (user_of(req))
		user_tell(req, inode->ino, disarm(req, inode, user_rights(req, inode)));
}

void user_opened(const struct server_request *req, struct inode *inode)
{
	uint32_t more = DDIO_GRANT_READ | DDIO_GRANT_WRITE;

	if (!user_of(req) || !S_ISREG(inode->mode))
		return;
	more &= ~user_rights(req, inode);
	if (!more || !user_has(req, inode->ino, more))
		user_tell_inode(req, inode);
}

void user_owns(const struct server_request *req, struct ddio_msg_fs_make *make)
{
	const struct ddio_who *who = user_of(req);

	if (!who)
		return;
	make->uid = who->uid;
	if (!who_in_group(who, make->gid))
		make->gid = who->gid;
	/* A directory may hand down a group that the user is not in. */
	if (!S_ISDIR(make->mode))
		make->mode &= ~(uint32_t)S_ISGID;
}

/* Whoever makes a file may read and write it, whatever its mode says to others who open it. */
void user_made(const struct server_request *req, struct inode *inode, bool made)
{
	user_saw_inode(req, inode->ino, inode->mode);
	if (!S_ISREG(inode->mode))
		return;
	if (made)
		user_tell(req, inode->ino, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	else
		user_tell_inode(req, inode);
}

static int take_grant(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_grant x;
	int err = ddio_get_grant(payload, msg->length, &x);

	if (err)
		return err;
	/* What is not genuine helps nobody: whoever shows it will be refused. */
	if (client->user && !user_grant(client->user, &client->reactor->iop->servers_key, &x))
		client->reactor->refused++;
	return 0;
}

/* One that expired long ago says little about the way to the file. */
static bool renewable(const struct server_request *req, const struct ddio_msg_grant *x)
{
	const struct ddio_iop *iop = req->reactor->iop;
	const struct ddio_who *who = user_of(req);

	return who && who->uid == x->uid && grant_genuine(&iop->servers_key, x) &&
	       x->rights & (DDIO_GRANT_READ | DDIO_GRANT_WRITE) &&
	       ddio_env_wall(req->reactor->env) < x->until_ns + iop->conf->grant_ns;
}

static int serve_renew(struct server_request *req, const void *payload)
{
	struct ddio_msg_grant x;
	struct inode inode = { .ino = 0 };
	int err = ddio_get_grant(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "file or rights");
	err = renewable(req, &x) ? ns_inode(req->reactor->iop->ns, x.file, &inode) : -EACCES;
	if (!err)
		user_tell_inode(req, &inode);
	inode_free(&inode);
	if (err)
		server_fail_errno(req, err, "renewing what a user may do with a file");
	else
		server_reply(req, NULL, 0);
	return 0;
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_USER,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_ANY,
	  .message = take_user },
	{ .opcode = DDIO_OP_GRANT,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_USER,
	  .message = take_grant },
	{ .opcode = DDIO_OP_RENEW,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_USER,
	  .names = true,
	  .serve = serve_renew },
};

const struct server_service user_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.client_gone = user_client_gone,
};
