// SPDX-License-Identifier: LGPL-2.1-or-later
/* What comes over a connection: finding its handler, and what is checked before that is called. */
#include <errno.h>
#include <string.h>
#include "iop/server/priv.h"

/* Returns how many bytes of the payload are there: with bulk those before it. */
static size_t server_head(const struct ddio_msg *msg)
{
	return ddio_msg_is_bulk(msg) ? ddio_opcode_bulk_prefix(msg->opcode, false) : msg->length;
}

/* Returns 0 if the client's user may ask for this, else -EACCES and *@why. */
static int user_check(const struct client *client, const struct server_op *op, const void *payload,
		      size_t len, const char **why)
{
	const struct reactor *reactor = client->reactor;

	if (!reactor->iop->users)
		return 0;
	return user_access(client->user, op->access, payload, len, ddio_env_wall(reactor->env),
			   why);
}

/* Returns true if the request may be served; otherwise it is over. */
static bool op_allowed(const struct server_op *op, struct server_request *req, const void *payload)
{
	const char *why;

	const struct reactor *reactor = req->reactor;

	if (reactor->stopping && !op->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return false;
	}
	if (server_client_of(req->client)->role < op->role) {
		server_fail(req, DDIO_ST_PERMISSION,
			    "%s is not permitted on a connection of this role",
			    ddio_opcode_name(op->opcode));
		return false;
	}
	if (user_check(req->client, op, payload, server_head(&req->msg), &why)) {
		server_fail(req, DDIO_ST_PERMISSION, "%s: %s", ddio_opcode_name(op->opcode), why);
		return false;
	}
	if (op->names && (!reactor->iop->ns || reactor->index)) {
		server_fail_names(req);
		return false;
	}
	/* Only a meeting may accept it as it is. */
	return !op->names || op->opcode == DDIO_OP_FS_DISKS || !server_names_refused(req);
}

static int request_serve(struct server_client *sc, const struct server_op *op,
			 struct server_request *req, const void *payload)
{
	int ret;

	req->reactor->requests++;
	sc->c.job->st.requests++;
	if (req->text) {
		server_fail(req, req->status, "%s", req->text);
		return 0;
	}
	if (!op_allowed(op, req, payload))
		return 0;
	/* So may one about names that waits for inode numbers before it begins. */
	req->changes = op->changes || op->names;
	ret = op->serve(req, payload);
	server_client_throttle(sc);
	return ret;
}

/* Whatever is no request may be replied to all the same. */
static int message_take(struct server_client *sc, const struct server_op *op,
			const struct ddio_msg *msg, const void *payload)
{
	const char *why;
	int ret = user_check(&sc->c, op, payload, server_head(msg), &why);

	if (!ret)
		ret = op->message(&sc->c, msg, payload);
	else if (ddio_opcode_limit(msg->opcode, true))
		ret = ddio_conn_reply(sc->c.conn, msg, DDIO_ST_PERMISSION, why, strlen(why));
	server_client_throttle(sc);
	return ret;
}

int server_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct server_client *sc = ctx;
	const struct server_op *op = server_op_find(server_of(sc->c.reactor->iop), msg->opcode);
	struct server_request *req = sc->incoming;

	sc->incoming = NULL;
	if (sc->c.closing)
		return 0;
	/* Of a mount that was asked whether it is there: that it was heard is all. */
	if (msg->flags & DDIO_WIRE_REPLY)
		return msg->opcode == DDIO_OP_PING && sc->c.asked ? 0 : -EPROTO;
	server_write_back_later(sc->c.reactor);
	if (op && op->message)
		return message_take(sc, op, msg, payload);
	/* It is not for an I/O processor, and there is no reply to it. */
	if (!op && !ddio_opcode_limit(msg->opcode, true))
		return -EOPNOTSUPP;
	if (!req)
		req = server_request_new(sc, msg);
	if (!req)
		return -ENOMEM;
	if (op)
		return request_serve(sc, op, req, payload);
	server_fail(req, DDIO_ST_UNSUPPORTED, "an I/O processor does not handle %s",
		    ddio_opcode_name(msg->opcode));
	return 0;
}

/* The bulk is discarded, and the request is refused when all of it has come. */
static int bulk_refuse(struct server_request *req, const char *why)
{
	req->status = DDIO_ST_PERMISSION;
	req->text = strdup(why);
	return req->text ? 0 : -ENOMEM;
}

int server_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink)
{
	struct server_client *sc = ctx;
	const struct server_op *op;
	const char *why;

	if (sc->c.closing)
		return 0;
	if (msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
	op = server_op_find(server_of(sc->c.reactor->iop), msg->opcode);
	if (op && op->message_bulk && user_check(&sc->c, op, prefix, prefix_len, &why))
		return -EACCES;
	if (op && op->message_bulk)
		return op->message_bulk(&sc->c, msg, prefix, prefix_len, sink);
	if (!op || !op->serve_bulk)
		return -EPROTO;
	sc->incoming = server_request_new(sc, msg);
	if (!sc->incoming)
		return -ENOMEM;
	if (user_check(&sc->c, op, prefix, prefix_len, &why))
		return bulk_refuse(sc->incoming, why);
	return op->serve_bulk(sc->incoming, prefix, prefix_len, sink);
}

int server_large(void *ctx, const struct ddio_msg *msg)
{
	struct server_client *sc = ctx;
	const struct server_op *op = server_op_find(server_of(sc->c.reactor->iop), msg->opcode);

	/* Nobody has to keep what nobody will handle. */
	return op && op->large ? op->large(&sc->c) : -EOPNOTSUPP;
}
