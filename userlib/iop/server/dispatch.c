// SPDX-License-Identifier: LGPL-2.1-or-later
/* What comes over a connection: finding its handler, and what is checked before that is called. */
#include <errno.h>
#include "iop/server/priv.h"

/* Returns true if the request may be served; otherwise it is over. */
static bool op_allowed(const struct server_op *op, struct server_request *req)
{
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
	if (op->names && (!reactor->iop->ns || reactor->index)) {
		server_fail_names(req);
		return false;
	}
	return true;
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
	if (!op_allowed(op, req))
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
	int ret = op->message(&sc->c, msg, payload);

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
	if (msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
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

int server_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink)
{
	struct server_client *sc = ctx;
	const struct server_op *op;

	if (sc->c.closing)
		return 0;
	if (msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
	op = server_op_find(server_of(sc->c.reactor->iop), msg->opcode);
	if (op && op->message_bulk)
		return op->message_bulk(&sc->c, msg, prefix, prefix_len, sink);
	if (!op || !op->serve_bulk)
		return -EPROTO;
	sc->incoming = server_request_new(sc, msg);
	if (!sc->incoming)
		return -ENOMEM;
	return op->serve_bulk(sc->incoming, prefix, prefix_len, sink);
}

int server_large(void *ctx, const struct ddio_msg *msg)
{
	struct server_client *sc = ctx;
	const struct server_op *op = server_op_find(server_of(sc->c.reactor->iop), msg->opcode);

	/* Nobody has to keep what nobody will handle. */
	return op && op->large ? op->large(&sc->c) : -EOPNOTSUPP;
}
