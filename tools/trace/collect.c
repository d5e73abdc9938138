// SPDX-License-Identifier: GPL-2.0-only
/* Asks I/O processors to record collectives, and for what they have recorded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/trace.h"
#include "tools/common/cmd.h"
#include "trace.h"

static int say(const char *command, const struct ddio_session *s, uint32_t node,
	       const struct ddio_node_trace *a)
{
	cmd_fail(command, a->reason[0] ? 0 : a->error, "node %s: %s", ddio_trace_node_name(s, node),
		 a->reason[0] ? a->reason : "no trace");
	return a->error;
}

/* Returns true if the node has no part in it, since it is not there. */
static bool is_down(int err)
{
	return err == -ENOTCONN || err == -ECONNREFUSED || err == -EHOSTDOWN || err == -ETIMEDOUT;
}

static int ask(const char *command, struct ddio_session *s, uint32_t node,
	       const struct ddio_msg_trace_ask *what, struct ddio_node_trace *a)
{
	int err = ddio_trace_ask(s, node, what, a);

	if (err)
		cmd_fail_session(command, s, err, "cannot ask for a trace");
	return err;
}

int trace_begin(const char *command, struct ddio_session *s, const struct trace_want *want)
{
	struct ddio_msg_trace_ask what = { .action = DDIO_TRACE_BEGIN,
					   .most = want->most + TRACE_AHEAD,
					   .op = want->first };
	uint32_t n, up = 0;
	struct ddio_node_trace a = { .error = -ENOTCONN };
	int err;

	snprintf(what.job, sizeof(what.job), "%s", want->job);
	snprintf(what.file, sizeof(what.file), "%s", want->file);
	for (n = 0; n < ddio_trace_nodes(s); n++) {
		err = ask(command, s, n, &what, &a);
		ddio_trace_free(&a.said);
		if (err)
			return err;
		if (a.error && !is_down(a.error))
			return say(command, s, n, &a);
		up += !a.error;
	}
	return up ? 0 : say(command, s, n - 1, &a);
}

void trace_end(struct ddio_session *s)
{
	struct ddio_msg_trace_ask what = { .action = DDIO_TRACE_END };
	struct ddio_node_trace a;
	uint32_t n;

	for (n = 0; n < ddio_trace_nodes(s); n++) {
		if (ddio_trace_ask(s, n, &what, &a))
			return;
		ddio_trace_free(&a.said);
	}
}

/* The answer that was there and back soonest tells the clocks' difference best. */
static void clocks_compare(struct trace_part *p, const struct ddio_node_trace *a)
{
	uint64_t trip = a->came - a->sent;
	int64_t skew = (int64_t)(a->sent + trip / 2 - a->said.now);

	if (p->coll && trip >= p->trip)
		return;
	p->trip = trip;
	p->skew = skew <= (int64_t)(trip / 2) + 1 && -skew <= (int64_t)(trip / 2) + 1 ? 0 : skew;
}

/* Adds a page of events: 0 or -ENOMEM. */
static int page_add(struct trace_part *p, struct ddio_node_trace *a)
{
	struct ddio_msg_trace *said = &a->said;
	struct ddio_trace_event *more = realloc(p->event, (p->n + said->n + 1) * sizeof(*p->event));

	if (!more)
		return -ENOMEM;
	p->event = more;
	if (said->n)
		memcpy(p->event + p->n, said->event, said->n * sizeof(*said->event));
	p->n += said->n;
	p->lost = said->lost;
	clocks_compare(p, a);
	free(p->coll);
	p->coll = said->coll;
	p->ncolls = said->ncolls;
	said->coll = NULL;
	return 0;
}

static struct trace_part *part_new(struct trace_all *t, uint32_t node, uint32_t reactor)
{
	struct trace_part *more = realloc(t->part, (t->nparts + 1) * sizeof(*t->part));

	if (!more)
		return NULL;
	t->part = more;
	t->part[t->nparts] = (struct trace_part){ .node = node, .reactor = reactor };
	return &t->part[t->nparts++];
}

/* The reactors of a node have one clock. */
static void clocks_join(struct trace_all *t, uint32_t from)
{
	uint32_t best = from, i;

	for (i = from; i < t->nparts; i++)
		if (t->part[i].trip < t->part[best].trip)
			best = i;
	for (i = from; i < t->nparts; i++)
		t->part[i].skew = t->part[best].skew;
}

/* Returns true if the reactor has more to tell; the collectives come with each page, so an event's is always known. */
static bool more(const struct trace_part *p, const struct ddio_msg_trace *said, bool heads)
{
	return !heads && said->n && p->n < said->total;
}

/* Fetches what one reactor has: 0, -ENOENT if the node does not trace, or another negative errno. */
static int part_fetch(const char *command, struct trace_all *t, uint32_t node, uint32_t reactor,
		      bool heads, uint32_t *nreactors)
{
	struct ddio_msg_trace_ask what = { .action = DDIO_TRACE_READ,
					   .reactor = reactor,
					   .from = heads ? UINT32_MAX : 0 };
	struct trace_part *p = NULL;
	struct ddio_node_trace a;
	bool again;
	int err;

	do {
		err = ask(command, t->session, node, &what, &a);
		if (err)
			return err;
		if (a.error)
			return reactor ? say(command, t->session, node, &a) : -ENOENT;
		*nreactors = a.said.nreactors;
		if (!p)
			p = part_new(t, node, reactor);
		err = p ? page_add(p, &a) : -ENOMEM;
		again = !err && more(p, &a.said, heads);
		ddio_trace_free(&a.said);
		if (!heads && p)
			what.from = p->n;
	} while (again);
	return err ? cmd_fail(command, err, "cannot keep the trace"), err : 0;
}

int trace_fetch(const char *command, struct ddio_session *s, bool heads, struct trace_all *t)
{
	uint32_t n, r, nreactors, from;
	int err;

	memset(t, 0, sizeof(*t));
	t->session = s;
	for (n = 0; n < ddio_trace_nodes(s); n++) {
		nreactors = 1;
		from = t->nparts;
		for (r = 0; r < nreactors; r++) {
			err = part_fetch(command, t, n, r, heads, &nreactors);
			if (err == -ENOENT)
				break;
			if (err) {
				trace_all_free(t);
				return err;
			}
		}
		clocks_join(t, from);
	}
	return 0;
}

void trace_all_free(struct trace_all *t)
{
	uint32_t i;

	for (i = 0; i < t->nparts; i++) {
		free(t->part[i].coll);
		free(t->part[i].event);
	}
	free(t->part);
	free(t->line);
	memset(t, 0, sizeof(*t));
}
