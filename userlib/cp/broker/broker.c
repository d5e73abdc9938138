// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a session is to the broker of its machine, and how its lanes connect. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/broker/priv.h"
#include "cp/group/group.h"

/* A broker that has just bound its name and does not yet listen there is tried again so soon. */
#define JOIN_AGAIN_NS 10000000ull

/* Whoever has waited must still have time to connect by itself: twice this may pass, to find it and to be let in. */
uint64_t broker_patience(const struct ddio_session *s)
{
	return s->timeout_ns / 4;
}

/* A group that may have one, and whose broker has not been lost. */
static const struct ddio_group *group_to_use(const struct broker *b)
{
	const struct ddio_session *s = b->session;
	const struct ddio_group *g;
	uint32_t i;

	for (i = 0; i < s->groups->n; i++) {
		g = s->groups->group[i];
		if (g && g->size >= b->least && !g->closed && !g->broken.status &&
		    memcmp(g->id, b->group, sizeof(g->id)))
			return g;
	}
	return NULL;
}

static void name_make(struct broker *b)
{
	size_t i, n = (size_t)snprintf(b->name, sizeof(b->name), "local:ddio-broker-");

	for (i = 0; i < sizeof(b->group); i++)
		n += (size_t)snprintf(b->name + n, sizeof(b->name) - n, "%02x", b->group[i]);
}

static void find_out(void *arg)
{
	struct broker *b = arg;
	int err = serve_begin(b);

	if (!err)
		b->state = BROKER_SERVES;
	else if (err != -EADDRINUSE)
		b->state = BROKER_NONE;
	if (err == -EADDRINUSE)
		member_join(b);
	else
		broker_wake(b);
}

/* Returns true once it is known who the broker is, or that there is none. */
static bool known(struct broker *b)
{
	const struct ddio_group *g = b->state == BROKER_NONE ? group_to_use(b) : NULL;

	if (g) {
		memcpy(b->group, g->id, sizeof(b->group));
		b->rank = g->rank;
		name_make(b);
		b->state = BROKER_JOINING;
		b->begun = ddio_env_now(b->session->env);
		find_out(b);
	}
	return b->state != BROKER_JOINING;
}

static int broker_dial(struct lane *lane, struct ddio_stream **stream)
{
	struct ddio_session *s = lane->node->session;
	const char *addr = s->conf->nodes[lane->node->index].address;
	struct broker *b = s->broker;

	*stream = NULL;
	/* What is on this machine shares buffers. */
	if (s->conf->broker != DDIO_CONF_BROKER_ALWAYS && ddio_addr_is_loopback(addr))
		return 0;
	if (!known(b)) {
		ddio_list_add(&lane->waits, &b->waiting);
		return -EINPROGRESS;
	}
	if (b->state == BROKER_SERVES)
		return carrier_dial(b, lane, stream);
	/* With too many streams already it connects by itself. */
	if (b->state == BROKER_JOINED &&
	    ddio_mux_open(b->mux, lane->node->index, lane->reactor, addr, stream))
		*stream = NULL;
	return 0;
}

void broker_wake(struct broker *b)
{
	struct ddio_list waiting;
	struct lane *lane;

	ddio_list_init(&waiting);
	ddio_list_splice(&b->waiting, &waiting);
	while (!ddio_list_empty(&waiting)) {
		lane = ddio_list_first(&waiting, struct lane, waits);
		ddio_list_del(&lane->waits);
		lane_dialed(lane);
	}
}

static void broker_again(void *arg)
{
	struct broker *b = arg;

	if (b->state == BROKER_LEAVING)
		(void)member_check(b);
	else if (b->state == BROKER_JOINING)
		find_out(b);
}

/* The name is bound and nobody listens: it was just bound, or just freed.  It may take as long to listen as to answer. */
static bool try_again(struct broker *b)
{
	struct ddio_env *env = b->session->env;
	uint64_t now = ddio_env_now(env);

	return now - b->begun < broker_patience(b->session) &&
	       !ddio_timer_arm(env, &b->again, now + JOIN_AGAIN_NS);
}

void broker_not_there(struct broker *b, int err)
{
	if (b->state == BROKER_JOINING && err == -ECONNREFUSED && try_again(b))
		return;
	b->state = BROKER_NONE;
	broker_wake(b);
}

int broker_pinged(struct ddio_conn *conn, const struct ddio_msg *msg)
{
	return msg->flags & DDIO_WIRE_REPLY ? 0 : ddio_conn_reply(conn, msg, DDIO_ST_OK, NULL, 0);
}

int broker_init(struct ddio_session *s)
{
	struct broker *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->session = s;
	b->least = s->conf->broker == DDIO_CONF_BROKER_ALWAYS ? 2 : BROKER_AUTO;
	b->again.fn = broker_again;
	b->again.arg = b;
	ddio_list_init(&b->waiting);
	ddio_list_init(&b->guests);
	ddio_list_init(&b->carriers);
	s->broker = b;
	s->dial = broker_dial;
	return 0;
}

bool broker_check(struct ddio_session *s)
{
	struct broker *b = s->broker;

	if (!b)
		return false;
	return b->state == BROKER_SERVES ? carriers_check(b) : member_check(b);
}

bool broker_leave(struct ddio_session *s)
{
	struct broker *b = s->broker;

	if (!b)
		return false;
	if (b->state == BROKER_SERVES)
		return serve_leave(b) || carriers_queued(b);
	return b->mux && ddio_mux_queued(b->mux);
}

void broker_close(struct ddio_session *s)
{
	struct broker *b = s->broker;

	if (!b)
		return;
	ddio_timer_cancel(s->env, &b->again);
	member_fail(b, -ECANCELED, NULL);
	serve_end(b);
	carriers_close(b);
	b->state = BROKER_NONE;
}

void broker_free(struct ddio_session *s)
{
	free(s->broker);
	s->broker = NULL;
}
