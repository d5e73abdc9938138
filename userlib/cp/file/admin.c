// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of nodes and disks, for tools: asks every node at once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/lane.h"

struct state_node {
	struct state_call *sc;
	struct node_request request;
	struct ddio_msg_status status;
	char reason[512];
	int error;
};

struct state_call {
	struct session_call call;
	struct state_node *nodes;
	uint32_t left;
};

static void state_one(struct state_call *sc)
{
	if (!--sc->left)
		call_end(&sc->call, NULL);
}

static void state_got(struct node_request *request, const struct reply *reply)
{
	struct state_node *n = request->arg;

	if (reply->status) {
		n->error = ddio_status_to_errno(reply->status);
		snprintf(n->reason, sizeof(n->reason), "%s", reply->text ? reply->text : "");
	} else {
		n->error = ddio_get_status(reply->payload, reply->len, &n->status);
	}
	if (n->error)
		memset(&n->status, 0, sizeof(n->status));
	state_one(n->sc);
}

static void state_run(struct session_call *call)
{
	struct state_call *sc = ddio_container_of(call, struct state_call, call);
	struct ddio_session *s = call->session;
	uint32_t i;

	/* One more, so that a node that fails at once does not end the call before the rest is asked. */
	sc->left = s->conf->nnodes + 1;
	for (i = 0; i < s->conf->nnodes; i++) {
		sc->nodes[i].sc = sc;
		request_init(&sc->nodes[i].request, DDIO_OP_STATUS, state_got, &sc->nodes[i]);
		request_node(&s->nodes[i], &sc->nodes[i].request);
	}
	state_one(sc);
}

/* Return: 0 or -errno; @sc is to be freed by state_free(). */
static int state_ask(struct ddio_session *session, struct state_call *sc)
{
	memset(sc, 0, sizeof(*sc));
	sc->nodes = calloc(session->conf->nnodes, sizeof(*sc->nodes));
	if (!sc->nodes)
		return session_fail(session, -ENOMEM, "state of the nodes: out of memory");
	return call_run(session, &sc->call, state_run);
}

static void state_free(struct ddio_session *session, struct state_call *sc)
{
	uint32_t i;

	for (i = 0; sc->nodes && i < session->conf->nnodes; i++)
		ddio_status_free(&sc->nodes[i].status);
	free(sc->nodes);
}

static void node_fill(struct ddio_node_state *st, const struct ddio_conf_node *conf,
		      const struct state_node *n)
{
	memset(st, 0, sizeof(*st));
	snprintf(st->name, sizeof(st->name), "%s", conf->name);
	snprintf(st->address, sizeof(st->address), "%s", conf->address);
	snprintf(st->reason, sizeof(st->reason), "%s", n->reason);
	st->error = n->error;
	st->nreactors = n->status.nreactors;
	st->ndisks = n->status.ndisks;
	st->uptime_ns = n->status.uptime_ns;
	st->collectives = n->status.collectives;
	st->requests = n->status.requests;
	st->connections = n->status.connections;
	st->refused = n->status.refused;
	st->memory_bytes = n->status.memory_bytes;
}

int ddio_nodes(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_node_state *st),
	       void *arg)
{
	struct ddio_node_state st;
	struct state_call sc;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_nodes: fn is NULL");
	ret = state_ask(session, &sc);
	for (i = 0; i < session->conf->nnodes && !ret; i++) {
		node_fill(&st, &session->conf->nodes[i], &sc.nodes[i]);
		ret = fn(arg, &st);
	}
	state_free(session, &sc);
	return ret;
}

static const struct ddio_disk_status *disk_find(const struct state_node *n, uint32_t disk)
{
	uint32_t i;

	for (i = 0; i < n->status.ndisks; i++)
		if (n->status.disks[i].disk == disk)
			return &n->status.disks[i];
	return NULL;
}

static void disk_counts(struct ddio_disk_state *st, const struct ddio_disk_status *d)
{
	snprintf(st->engine, sizeof(st->engine), "%s", d->engine);
	st->reactor = d->reactor;
	st->size = d->size;
	st->free = d->free;
	st->objects = d->objects;
	st->reads = d->reads;
	st->writes = d->writes;
	st->read_bytes = d->read_bytes;
	st->write_bytes = d->write_bytes;
	st->errors = d->errors;
	st->cache_hits = d->cache_hits;
	st->cache_misses = d->cache_misses;
	st->prefetches = d->prefetches;
	st->prefetch_used = d->prefetch_used;
	st->prefetch_wasted = d->prefetch_wasted;
	st->cache_blocks = d->cache_blocks;
	st->cache_dirty = d->cache_dirty;
	st->cache_bytes = d->cache_bytes;
	st->queue = d->queue;
	st->max_queue = d->max_queue;
	st->seeks = d->seeks;
	st->seek_ns = d->seek_ns;
	st->rotation_ns = d->rotation_ns;
	st->buffer_hits = d->buffer_hits;
	st->bus_wait_ns = d->bus_wait_ns;
	st->busy_ns = d->busy_ns;
	st->buffers = d->buffers;
	st->max_buffers = d->max_buffers;
}

static void disk_fill(struct ddio_session *s, struct ddio_disk_state *st, uint32_t disk,
		      const struct state_node *n)
{
	const struct ddio_conf_disk *conf = &s->conf->disks[disk];
	const struct ddio_disk_status *d = n->error ? NULL : disk_find(n, disk);

	memset(st, 0, sizeof(*st));
	st->disk = disk;
	snprintf(st->name, sizeof(st->name), "%s", conf->name);
	snprintf(st->node, sizeof(st->node), "%s", s->conf->nodes[conf->node].name);
	st->error = n->error ? n->error : d ? 0 : -ENODEV;
	st->peak = s->disks[disk].peak;
	st->scale_ppm = s->disks[disk].scale_ppm;
	if (d)
		disk_counts(st, d);
}

int ddio_disks(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_disk_state *st),
	       void *arg)
{
	struct ddio_disk_state st;
	struct state_call sc;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_disks: fn is NULL");
	ret = state_ask(session, &sc);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		disk_fill(session, &st, i, &sc.nodes[session->conf->disks[i].node]);
		ret = fn(arg, &st);
	}
	state_free(session, &sc);
	return ret;
}
