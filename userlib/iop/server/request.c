// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests: their memory, and the one reply that each of them gets. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/probe.h"
#include "iop/server/priv.h"

static struct server_request *request_alloc(struct server_reactor *sr)
{
	struct server_request *req;

	if (!sr->nspare)
		return calloc(1, sizeof(*req));
	req = ddio_list_first(&sr->spare, struct server_request, link);
	ddio_list_del(&req->link);
	sr->nspare--;
	memset(req, 0, sizeof(*req));
	return req;
}

static void request_free(struct server_reactor *sr, struct server_request *req)
{
	if (sr->nspare >= SERVER_SPARE_REQUESTS) {
		free(req);
		return;
	}
	ddio_list_push(&req->link, &sr->spare);
	sr->nspare++;
}

void server_requests_free(struct reactor *reactor)
{
	struct server_reactor *sr = server_reactor(reactor);

	while (sr->nspare)
		free(request_alloc(sr));
}

struct server_request *server_request_new(struct server_client *sc, const struct ddio_msg *msg)
{
	struct server_request *req = request_alloc(server_reactor(sc->c.reactor));

	if (!req)
		return NULL;
	req->client = &sc->c;
	req->reactor = sc->c.reactor;
	req->msg = *msg;
	req->commit.arg = req;
	req->flush.arg = req;
	req->io.arg = req;
	req->timer.arg = req;
	ddio_list_add(&req->link, &sc->requests);
	sc->c.requests++;
	server_reactor(req->reactor)->serving++;
	DDIO_PROBE(request_begin, req, msg->opcode, msg->length);
	return req;
}

const struct server_request *server_request_next(const struct server_request *req,
						 const struct server_request *prev)
{
	const struct ddio_list *all = &server_client_of(req->client)->requests;
	const struct ddio_list *next = prev ? prev->link.next : all->next;

	return next == all ? NULL : ddio_container_of(next, const struct server_request, link);
}

int server_request_buf(struct server_request *req, size_t len)
{
	req->buf = server_buf_get(req->reactor, len, &req->cap);
	if (!req->buf)
		return -ENOMEM;
	req->len = len;
	if (req->client)
		server_client_of(req->client)->bytes += req->cap;
	return 0;
}

void server_request_orphan(struct server_request *req)
{
	uint64_t session = server_client_of(req->client)->session;

	ddio_list_del(&req->link);
	req->client = NULL;
	if (!req->changes || !session)
		return;
	req->session = session;
	ddio_list_add(&req->link, &server_reactor(req->reactor)->orphans);
}

/* Has the reactor look for a connection that was held until this request was over. */
static void orphan_over(struct server_request *req)
{
	struct server_reactor *sr = server_reactor(req->reactor);

	ddio_list_del(&req->link);
	if (!req->session || sr->looking || !sr->look.fn)
		return;
	sr->looking = true;
	ddio_env_post(sr->reactor->env, &sr->look);
}

void server_request_end(struct server_request *req)
{
	struct server_reactor *sr = server_reactor(req->reactor);

	DDIO_PROBE(request_end, req, req->msg.opcode);
	if (req->client) {
		struct server_client *sc = server_client_of(req->client);

		ddio_list_del(&req->link);
		sc->c.requests--;
		sc->bytes -= req->cap;
		server_client_throttle(sc);
	} else {
		orphan_over(req);
	}
	if (req->buf)
		server_buf_put(req->reactor, req->buf, req->cap);
	if (req->object)
		object_put(req->object);
	free(req->text);
	free(req->data);
	request_free(sr, req);
	sr->serving--;
}

/* Ends the connection if the reply cannot be made, since the client would wait for it for ever. */
static void reply_sent(struct server_request *req, int err)
{
	if (err && err != -ENOTCONN && req->client)
		client_end(req->client, strerror(-err));
}

void server_reply_early(struct server_request *req)
{
	if (req->client)
		reply_sent(req, ddio_conn_reply(req->client->conn, &req->msg, DDIO_ST_OK, NULL, 0));
}

/* With the number of the last change, which includes that of the request. */
static int reply_numbered(struct server_request *req, const void *fixed, size_t len)
{
	uint8_t *buf = malloc(len + DDIO_CHANGE_LEN);
	int err;

	if (!buf)
		return -ENOMEM;
	if (len)
		memcpy(buf, fixed, len);
	ddio_put_change(buf + len, ns_changes(req->reactor->iop->ns));
	err = ddio_conn_reply(req->client->conn, &req->msg, DDIO_ST_OK, buf, len + DDIO_CHANGE_LEN);
	free(buf);
	return err;
}

void server_reply(struct server_request *req, const void *fixed, size_t len)
{
	int err = 0;

	if (req->client && ddio_opcode_numbered(req->msg.opcode))
		err = reply_numbered(req, fixed, len);
	else if (req->client)
		err = ddio_conn_reply(req->client->conn, &req->msg, DDIO_ST_OK, fixed, len);
	reply_sent(req, err);
	server_request_end(req);
}

static void data_sent(struct ddio_send *send, int err)
{
	(void)err; /* if the reply is lost, so is the connection */
	server_request_end(send->arg);
}

static void reply_data(struct server_request *req, const void *fixed, size_t len,
		       const uint32_t *sum)
{
	struct ddio_msg msg = { .opcode = req->msg.opcode,
				.flags = DDIO_WIRE_REPLY,
				.tag = req->msg.tag };
	int err = -ENOTCONN;

	req->iov.iov_base = req->buf;
	req->iov.iov_len = req->len;
	req->send.done = data_sent;
	req->send.arg = req;
	if (req->client && sum)
		err = ddio_conn_send_summed(req->client->conn, &msg, fixed, len, &req->iov, 1,
					    &req->send, *sum);
	else if (req->client)
		err = ddio_conn_send(req->client->conn, &msg, fixed, len, &req->iov, 1, &req->send);
	if (!err)
		return;
	reply_sent(req, err);
	server_request_end(req);
}

void server_reply_data(struct server_request *req, const void *fixed, size_t len)
{
	reply_data(req, fixed, len, NULL);
}

void server_reply_summed(struct server_request *req, const void *fixed, size_t len, uint32_t sum)
{
	reply_data(req, fixed, len, &sum);
}

static void server_fail_text(struct server_request *req, uint32_t status, const char *text)
{
	if (req->client)
		reply_sent(req, ddio_conn_reply(req->client->conn, &req->msg, status, text,
						strlen(text)));
	server_request_end(req);
}

void server_fail(struct server_request *req, uint32_t status, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	server_fail_text(req, status, text);
}

void server_fail_errno(struct server_request *req, int err, const char *what)
{
	uint32_t status = ddio_status_from_errno(err);

	server_fail(req, status, "%s: %s", what, ddio_status_text(status));
}

int server_fail_decode(struct server_request *req, int err, const char *what)
{
	if (err == -EPROTO) {
		server_request_end(req);
		return err;
	}
	server_fail(req, ddio_status_from_errno(err), "%s: %s %s",
		    ddio_opcode_name(req->msg.opcode),
		    err == -ENOMEM     ? "not enough memory for its"
		    : err == -EMSGSIZE ? "too large:"
				       : "malformed",
		    what);
	return 0;
}

bool server_names_refused(struct server_request *req)
{
	const struct ddio_conf *conf = req->reactor->iop->conf;
	uint64_t at;

	switch (ns_refusal(req->reactor->iop->ns, &at)) {
	case NAMES_DAMAGED:
		server_fail(req, DDIO_ST_IO, SERVER_NAMES_DAMAGED, (unsigned long long)at);
		return true;
	case NAMES_OLD:
		server_fail(req, DDIO_ST_IO, SERVER_NAMES_OLD, conf->disks[at].name,
			    conf->nodes[conf->disks[at].node].name);
		return true;
	default:
		return false;
	}
}

void server_fail_names(struct server_request *req)
{
	const struct ddio_conf *conf = req->reactor->iop->conf;

	server_fail(req, DDIO_ST_INVALID, "the name space is served by reactor 0 of node %s",
		    conf->nodes[conf->ns_node].name);
}
