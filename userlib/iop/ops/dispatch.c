// SPDX-License-Identifier: LGPL-2.1-or-later
/* What comes over a connection, and who deals with it. */
#include <errno.h>
#include "iop/server/priv.h"

/**
 * struct server_op - one opcode
 * @role: who may ask: this role, or a higher one
 * @names: only where the name space is served
 * @stopping: answered even while the node is being stopped
 * @changes: what is stored may change after the message was handled
 * @serve: requests that get a reply
 * @coll: messages of the executor
 */
struct server_op {
	uint16_t opcode;
	enum ddio_role role;
	bool names;
	bool stopping;
	bool changes;
	server_handler serve;
	int (*coll)(struct client *client, const struct ddio_msg *msg, const void *payload);
};

#define OP(op, fn)                                                            \
	{                                                                     \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn \
	}
#define OP_CHANGES(op, fn)                                                                     \
	{                                                                                      \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn, .changes = true \
	}
#define OP_ALWAYS(op, fn)                                                                       \
	{                                                                                       \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn, .stopping = true \
	}
#define OP_NAMES(op, fn)                                                                     \
	{                                                                                    \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn, .names = true \
	}
#define OP_COLL(op, fn)                                                                        \
	{                                                                                      \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .coll = fn, .stopping = true \
	}

static const struct server_op server_ops[] = {
	OP_ALWAYS(PING, server_op_ping),
	OP_ALWAYS(STATUS, server_op_status),
	OP_NAMES(NS_CREATE, server_op_ns_create),
	OP_NAMES(NS_LOOKUP, server_op_ns_lookup),
	OP_NAMES(NS_REMOVE, server_op_ns_remove),
	OP_NAMES(NS_REMOVE_DONE, server_op_ns_remove_done),
	OP_NAMES(NS_EXTEND, server_op_ns_size),
	OP_NAMES(NS_SET_SIZE, server_op_ns_size),
	OP_NAMES(NS_LIST, server_op_ns_list),
	OP_NAMES(FS_ATTACH, server_op_fs_attach),
	OP_NAMES(FS_DETACH, server_op_fs_detach),
	OP_NAMES(FS_LOOKUP, server_op_fs_lookup),
	OP_NAMES(FS_GETATTR, server_op_fs_getattr),
	OP_NAMES(FS_SETATTR, server_op_fs_setattr),
	OP_NAMES(FS_MAKE, server_op_fs_make),
	OP_NAMES(FS_LINK, server_op_fs_link),
	OP_NAMES(FS_UNLINK, server_op_fs_unlink),
	OP_NAMES(FS_RENAME, server_op_fs_rename),
	OP_NAMES(FS_READLINK, server_op_fs_readlink),
	OP_NAMES(FS_READDIR, server_op_fs_readdir),
	OP_NAMES(FS_GETXATTR, server_op_fs_getxattr),
	OP_NAMES(FS_SETXATTR, server_op_fs_setxattr),
	OP_NAMES(FS_LISTXATTR, server_op_fs_listxattr),
	OP_NAMES(FS_REMOVEXATTR, server_op_fs_removexattr),
	OP_NAMES(FS_OPEN, server_op_fs_open),
	OP_NAMES(FS_RELEASE, server_op_fs_release),
	OP_NAMES(FS_WROTE, server_op_fs_wrote),
	OP_NAMES(FS_APPEND, server_op_fs_append),
	OP_NAMES(FS_ALLOC, server_op_fs_alloc),
	OP_NAMES(FS_SYNC, server_op_fs_sync),
	OP_NAMES(FS_SPACE, server_op_fs_space),
	OP_NAMES(FS_ORPHANS, server_op_fs_orphans),
	OP_NAMES(FS_GONE, server_op_fs_gone),
	OP_NAMES(FS_LOCK_TEST, server_op_fs_lock_test),
	OP_NAMES(FS_LOCK_SET, server_op_fs_lock_set),
	OP_NAMES(FS_LOCK_CANCEL, server_op_fs_lock_cancel),
	OP_NAMES(FS_UNLOCK_OWNER, server_op_fs_unlock_owner),
	OP(OBJ_READ, server_op_obj_read),
	OP_CHANGES(OBJ_WRITE, server_op_obj_write),
	OP(OBJ_SYNC, server_op_obj_sync),
	OP_CHANGES(OBJ_REMOVE, server_op_obj_remove),
	OP_CHANGES(OBJ_TRUNCATE, server_op_obj_truncate),
	OP(OBJ_EXTENTS, server_op_obj_extents),
	OP(OBJ_LIST, server_op_obj_list),
	OP_CHANGES(OBJ_RESERVE, server_op_obj_reserve),
	OP(OBJ_STAT, server_op_obj_stat),
	OP_CHANGES(OBJ_PUNCH, server_op_obj_punch),
	OP_CHANGES(OBJ_ALLOCATE, server_op_obj_allocate),
	OP_CHANGES(OBJ_COPY, server_op_obj_copy),
	OP(DROP_CACHE, server_op_drop_cache),
	OP(FSCK, server_op_fsck),
	OP_COLL(ATTACH, coll_attach),
	OP_COLL(DETACH, coll_detach),
	OP_COLL(COLL_START, ddio_coll_start),
	OP_COLL(COLL_PIECE, coll_piece),
	OP_COLL(COLL_ABORT, coll_abort),
	OP_COLL(JOINT, coll_joint),
	OP_COLL(COLL_JOIN, coll_join),
};

static const struct server_op *op_find(uint16_t opcode)
{
	size_t i;

	for (i = 0; i < sizeof(server_ops) / sizeof(server_ops[0]); i++)
		if (server_ops[i].opcode == opcode)
			return &server_ops[i];
	return NULL;
}

/* False: the request is over. */
static bool op_allowed(const struct server_op *op, struct server_request *req)
{
	const struct reactor *reactor = req->reactor;
	const struct ddio_conf *conf = reactor->iop->conf;

	if (reactor->stopping && !op->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, "the I/O processor is being stopped");
		return false;
	}
	if (req->client->role < op->role) {
		server_fail(req, DDIO_ST_PERMISSION, "%s is not for connections of this role",
			    ddio_opcode_name(op->opcode));
		return false;
	}
	if (op->names && (!reactor->iop->ns || reactor->index)) {
		server_fail(req, DDIO_ST_INVALID,
			    "the name space is served by reactor 0 of node %s",
			    conf->nodes[conf->ns_node].name);
		return false;
	}
	return true;
}

static int request_serve(struct server_client *sc, const struct server_op *op,
			 struct server_request *req, const void *payload)
{
	int ret;

	req->reactor->requests++;
	if (req->text) {
		server_fail(req, req->status, "%s", req->text);
		return 0;
	}
	if (!op_allowed(op, req))
		return 0;
	/* Also one about names, which may wait for numbers of inodes first. */
	req->changes = op->changes || op->names;
	ret = op->serve(req, payload);
	server_client_throttle(sc);
	return ret;
}

int server_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct server_client *sc = ctx;
	const struct server_op *op = op_find(msg->opcode);
	struct server_request *req = sc->incoming;

	sc->incoming = NULL;
	if (sc->c.closing)
		return 0;
	if (msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
	server_write_back_later(sc->c.reactor);
	if (op && op->coll)
		return op->coll(&sc->c, msg, payload);
	/* Not for an I/O processor, and there is no such thing as a reply to it. */
	if (!op && !ddio_opcode_limit(msg->opcode, true))
		return -EOPNOTSUPP;
	if (!req)
		req = server_request_new(sc, msg);
	if (!req)
		return -ENOMEM;
	if (op)
		return request_serve(sc, op, req, payload);
	server_fail(req, DDIO_ST_UNSUPPORTED, "an I/O processor does not answer %s",
		    ddio_opcode_name(msg->opcode));
	return 0;
}

int server_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink)
{
	struct server_client *sc = ctx;

	if (sc->c.closing)
		return 0;
	if (msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
	if (msg->opcode == DDIO_OP_COLL_PIECE)
		return coll_piece_bulk(&sc->c, msg, prefix, prefix_len, sink);
	if (msg->opcode != DDIO_OP_OBJ_WRITE)
		return -EPROTO;
	sc->incoming = server_request_new(sc, msg);
	if (!sc->incoming)
		return -ENOMEM;
	return server_obj_write_bulk(sc->incoming, prefix, prefix_len, sink);
}
