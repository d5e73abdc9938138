// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: connecting and listening, and the end of a process's streams. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim/stream.h"

static struct sim_listener *listener_find(struct ddio_sim *sim, const char *addr)
{
	struct sim_listener *l;

	ddio_list_for_each_entry(l, &sim->listeners, link)
		if (!strcmp(l->addr, addr) && !l->proc->dead && !l->proc->cut)
			return l;
	return NULL;
}

/* A name of this machine holds there alone: "local:N.NAME". */
static void machine_name(const struct sim_proc *proc, const char *addr, char name[SIM_ADDR_MAX])
{
	size_t local = sizeof(ENV_LOCAL) - 1;

	if (!strncmp(addr, ENV_LOCAL, local))
		snprintf(name, SIM_ADDR_MAX, ENV_LOCAL "%u.%.*s", proc->node, ENV_LOCAL_NAME,
			 addr + local);
	else
		snprintf(name, SIM_ADDR_MAX, "%s", addr);
}

/* Names a connecting end: a port of 127.0.0.1, or of the next loopback address when those are used up. */
static void sim_name(struct ddio_sim *sim, char *name)
{
	unsigned int n = sim->port++;

	snprintf(name, SIM_ADDR_MAX, "127.%u.%u.%u:%u", n / 65535 / 65025, n / 65535 / 255 % 255,
		 1 + n / 65535 % 255, 1 + n % 65535);
}

static void stream_connect_event(void *arg)
{
	struct sim_stream *s = arg, *other;
	struct sim_listener *l = s->proc->cut ? NULL : listener_find(s->sim, s->name);
	char name[SIM_ADDR_MAX];

	s->event.fn = sim_stream_event;
	s->connecting = false;
	if (!l) {
		sim_stream_break(s, -ECONNREFUSED);
		return;
	}
	sim_name(s->sim, name);
	other = sim_stream_new(l->proc, name);
	if (!other) {
		sim_stream_break(s, -ENOMEM);
		return;
	}
	s->peer = other;
	other->peer = s;
	s->counted = s->node != other->node;
	s->sim->nstreams += s->counted;
	if (s->sim->nstreams > s->sim->net.stats.streams)
		s->sim->net.stats.streams = s->sim->nstreams;
	ddio_list_del(&other->link);
	ddio_list_add(&other->link, &l->pending);
	sim_event(l->proc, &l->event, sim_time(s->sim));
	sim_stream_plan(s, s->proc->how.latency_ns);
}

int sim_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
		       void *ctx, struct ddio_stream **stream)
{
	char name[SIM_ADDR_MAX];
	struct sim_stream *s;

	if (strlen(addr) >= SIM_ADDR_MAX || !strchr(addr, ':'))
		return -EINVAL;
	machine_name(sim_proc_of(env), addr, name);
	s = sim_stream_new(sim_proc_of(env), name);
	if (!s)
		return -ENOMEM;
	s->ops = ops;
	s->ctx = ctx;
	s->connecting = true;
	s->event.fn = stream_connect_event;
	sim_event(s->proc, &s->event, sim_time(s->sim) + s->proc->how.latency_ns);
	*stream = &s->base;
	return 0;
}

/* Reports one stream at a time, since the user may close the listener. */
static void listener_event(void *arg)
{
	struct sim_listener *l = arg;
	struct sim_stream *s = ddio_list_first(&l->pending, struct sim_stream, link);

	ddio_list_del(&s->link);
	ddio_list_add(&s->link, &s->sim->streams);
	if (!ddio_list_empty(&l->pending))
		sim_event(l->proc, &l->event, sim_time(s->sim));
	l->accept(l->ctx, &s->base);
}

static const char *sim_listener_addr(const struct ddio_listener *listener)
{
	return ddio_container_of(listener, struct sim_listener, base)->addr;
}

static void sim_listener_close(struct ddio_listener *listener)
{
	struct sim_listener *l = ddio_container_of(listener, struct sim_listener, base);

	while (!ddio_list_empty(&l->pending))
		ddio_stream_close(&ddio_list_first(&l->pending, struct sim_stream, link)->base);
	sim_event_cancel(l->proc, &l->event);
	ddio_list_del(&l->link);
	free(l);
}

static const struct ddio_listener_vtable sim_listener_vt = {
	.addr = sim_listener_addr,
	.close = sim_listener_close,
};

int sim_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
	       struct ddio_listener **listener)
{
	struct ddio_sim *sim = sim_proc_of(env)->sim;
	char name[SIM_ADDR_MAX];
	const char *colon;
	struct sim_listener *l;

	if (!strchr(addr, ':') || strlen(addr) >= SIM_ADDR_MAX - 8)
		return -EINVAL;
	machine_name(sim_proc_of(env), addr, name);
	addr = name;
	colon = strrchr(addr, ':');
	if (listener_find(sim, addr))
		return -EADDRINUSE;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->base.vt = &sim_listener_vt;
	l->base.env = env;
	l->proc = sim_proc_of(env);
	l->accept = accept;
	l->ctx = ctx;
	l->event.fn = listener_event;
	l->event.arg = l;
	ddio_list_init(&l->pending);
	if (strcmp(colon, ":0"))
		strcpy(l->addr, addr);
	else
		snprintf(l->addr, sizeof(l->addr), "%.*s:%u", (int)(colon - addr), addr,
			 ++sim->port);
	ddio_list_add(&l->link, &sim->listeners);
	*listener = &l->base;
	return 0;
}

void sim_streams_end(struct sim_proc *proc, enum sim_end how)
{
	struct sim_listener *l;

	sim_streams_end_list(&proc->sim->streams, proc, how);
	ddio_list_for_each_entry(l, &proc->sim->listeners, link)
		sim_streams_end_list(&l->pending, proc, how);
}

void sim_streams_free(struct ddio_sim *sim)
{
	while (!ddio_list_empty(&sim->listeners))
		sim_listener_close(
			&ddio_list_first(&sim->listeners, struct sim_listener, link)->base);
	while (!ddio_list_empty(&sim->streams))
		ddio_stream_close(&ddio_list_first(&sim->streams, struct sim_stream, link)->base);
}
