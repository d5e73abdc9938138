// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TRACE: has the reactors record collectives, tells what they have recorded, and ends it.
 *
 *   (nothing) -- BEGIN --> at work --> resting -- READ --> at work --> resting ... -- END --> ending --> (nothing)
 *
 * At most one trace of a node exists.  It is reactor 0's, and belongs to the connection that has begun it: it ends with
 * that, and when the node stops.  What is recorded is its reactor's, and is made, copied and freed there.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include "iop/ops/look/look.h"

/**
 * struct tracing_part - a reactor's part of what is done
 * @given: BEGIN: the trace that it is to take
 */
struct tracing_part {
	struct gather_part part;
	struct tracing *tracing;
	struct iop_trace *given;
};

/**
 * struct tracing - the node's trace
 * @owner: the connection; NULL: it has gone
 * @req: waits for the reactors, or NULL; @ask: its question
 * @working: reactors are asked, @last: to end it; neither changes while they are
 * @ends: it is to end
 * @page: READ: what the reactor has said; @err: why not
 */
struct tracing {
	struct gather gather;
	struct ddio_iop *iop;
	struct client *owner;
	struct server_request *req;
	struct ddio_msg_trace_ask ask;
	bool working, last, ends;
	struct ddio_msg_trace page;
	int err;
	struct tracing_part parts[];
};

static void drop(struct reactor *reactor)
{
	if (reactor->trace)
		reactor->memory -= trace_bytes(reactor->trace);
	trace_free(reactor->trace);
	reactor->trace = NULL;
}

static void take(struct reactor *reactor, struct iop_trace *given)
{
	drop(reactor);
	reactor->trace = given;
	reactor->memory += trace_bytes(given);
}

/* On each reactor. */
static void part_work(struct gather_part *p)
{
	struct tracing_part *part = (struct tracing_part *)p;
	struct tracing *t = part->tracing;
	struct reactor *reactor = p->reactor;

	if (t->last) {
		drop(reactor);
	} else if (part->given) {
		take(reactor, part->given);
		part->given = NULL;
	} else if (t->ask.reactor == reactor->index && reactor->trace) {
		t->err = trace_page(reactor->trace, t->ask.from, &t->page);
	}
}

static void reply(struct tracing *t)
{
	struct server_request *req = t->req;

	t->req = NULL;
	if (!req)
		return;
	if (t->err) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the trace");
		return;
	}
	t->page.now = ddio_env_now(t->gather.home->env);
	t->page.nreactors = t->iop->nreactors;
	SERVER_REPLY(req, trace, &t->page);
}

static void work(struct tracing *t)
{
	t->working = true;
	t->last = t->ends;
	t->err = 0;
	gather_all(&t->gather, t->parts, sizeof(t->parts[0]));
}

static void end(struct tracing *t)
{
	t->ends = true;
	if (!t->working)
		work(t);
}

static void worked(struct gather *g)
{
	struct tracing *t = (struct tracing *)g;

	t->working = false;
	reply(t);
	ddio_trace_free(&t->page);
	if (t->last) {
		t->iop->tracing = NULL;
		free(t);
	} else if (t->ends) {
		end(t);
	}
}

static void tracing_free(struct tracing *t)
{
	uint32_t i;

	for (i = 0; i < t->iop->nreactors; i++)
		trace_free(t->parts[i].given);
	free(t);
}

static struct tracing *tracing_new(struct reactor *home, const struct ddio_msg_trace_ask *ask)
{
	static atomic_uint_fast64_t traces;
	struct ddio_iop *iop = home->iop;
	struct tracing *t = calloc(1, sizeof(*t) + iop->nreactors * sizeof(t->parts[0]));
	uint64_t number;
	uint32_t i;

	if (!t)
		return NULL;
	t->gather = (struct gather){ .home = home, .collect = part_work, .done = worked };
	t->iop = iop;
	number = atomic_fetch_add(&traces, 1) + 1;
	for (i = 0; i < iop->nreactors; i++) {
		t->parts[i].tracing = t;
		t->parts[i].given = trace_new(ask, number, home->bounds.at[BOUND_TRACED].limit);
		if (!t->parts[i].given) {
			tracing_free(t);
			return NULL;
		}
	}
	return t;
}

static void begin(struct server_request *req, const struct ddio_msg_trace_ask *ask)
{
	struct ddio_iop *iop = req->reactor->iop;
	struct tracing *t;

	if (iop->tracing) {
		server_fail(req, DDIO_ST_BUSY, "collectives are being traced already");
		return;
	}
	t = tracing_new(req->reactor, ask);
	if (!t) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a trace");
		return;
	}
	iop->tracing = t;
	t->owner = req->client;
	t->req = req;
	t->ask = *ask;
	work(t);
}

static void go_on(struct server_request *req, const struct ddio_msg_trace_ask *ask)
{
	struct tracing *t = req->reactor->iop->tracing;

	if (!t || t->owner != req->client || t->ends) {
		server_fail(req, DDIO_ST_NOT_FOUND, "this connection traces nothing");
		return;
	}
	if (t->working) {
		server_fail(req, DDIO_ST_BUSY, "the trace is at work");
		return;
	}
	t->req = req;
	t->ask = *ask;
	if (ask->action == DDIO_TRACE_END)
		end(t);
	else
		work(t);
}

static int serve_trace(struct server_request *req, const void *payload)
{
	struct ddio_msg_trace_ask ask;
	int err = ddio_get_trace_ask(payload, req->msg.length, &ask);

	if (err)
		return server_fail_decode(req, err, "trace");
	if (req->reactor->index)
		server_fail(req, DDIO_ST_INVALID, "traces are reactor 0's");
	else if (ask.action == DDIO_TRACE_BEGIN)
		begin(req, &ask);
	else
		go_on(req, &ask);
	return 0;
}

static void client_gone(struct client *client)
{
	struct tracing *t = client->reactor->index ? NULL : client->reactor->iop->tracing;

	if (!t || t->owner != client)
		return;
	t->owner = NULL;
	end(t);
}

static void reactor_stop(struct reactor *reactor)
{
	if (!reactor->index && reactor->iop->tracing)
		end(reactor->iop->tracing);
}

/* The trace ends before any reactor does. */
static bool reactor_idle(const struct reactor *reactor)
{
	return !reactor->trace && (reactor->index || !reactor->iop->tracing);
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_TRACE, .role = DDIO_ROLE_CLIENT, .serve = serve_trace },
};

const struct server_service trace_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.reactor_stop = reactor_stop,
	.reactor_idle = reactor_idle,
	.client_gone = client_gone,
};
