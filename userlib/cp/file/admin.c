// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of nodes and disks, for tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/ask.h"

static int state_get(struct node_answer *a, const struct reply *reply)
{
	return ddio_get_status(reply->payload, reply->len, &a->said.status);
}

static void state_free(struct node_answer *a)
{
	ddio_status_free(&a->said.status);
}

static const struct question ask_state = {
	.op = DDIO_OP_STATUS,
	.get = state_get,
	.free = state_free,
};

static void node_fill(struct ddio_node_state *st, const struct ddio_conf_node *conf,
		      const struct node_answer *a)
{
	memset(st, 0, sizeof(*st));
	snprintf(st->name, sizeof(st->name), "%s", conf->name);
	snprintf(st->address, sizeof(st->address), "%s", conf->address);
	snprintf(st->reason, sizeof(st->reason), "%s", a->reason);
	st->error = a->error;
	st->nreactors = a->said.status.nreactors;
	st->ndisks = a->said.status.ndisks;
	st->uptime_ns = a->said.status.uptime_ns;
	st->collectives = a->said.status.collectives;
	st->requests = a->said.status.requests;
	st->connections = a->said.status.connections;
	st->refused = a->said.status.refused;
	st->memory_bytes = a->said.status.memory_bytes;
}

int ddio_nodes(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_node_state *st),
	       void *arg)
{
	struct ddio_node_state st;
	struct question ask = ask_state;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_nodes: fn is NULL");
	ret = ask_all(session, &ask);
	for (i = 0; i < session->conf->nnodes && !ret; i++) {
		node_fill(&st, &session->conf->nodes[i], &ask.answer[i]);
		ret = fn(arg, &st);
	}
	ask_free(session, &ask);
	return ret;
}

static const struct ddio_disk_status *disk_find(const struct node_answer *a, uint32_t disk)
{
	uint32_t i;

	for (i = 0; i < a->said.status.ndisks; i++)
		if (a->said.status.disks[i].disk == disk)
			return &a->said.status.disks[i];
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
	st->scrub_mismatches = d->scrub_mismatches;
	st->scrub_unread = d->scrub_unread;
}

/* @known: what the nodes' WELCOMEs said of each disk, when all had answered. */
struct disks_question {
	struct question ask;
	struct cluster_disk *known;
};

static void disks_known(struct question *ask)
{
	struct disks_question *q = ddio_container_of(ask, struct disks_question, ask);
	struct ddio_session *s = ask->call.session;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++)
		q->known[i] = *disk_look(s, i);
}

static void disk_fill(struct ddio_session *s, struct ddio_disk_state *st, uint32_t disk,
		      const struct disks_question *q)
{
	const struct node_answer *a = &q->ask.answer[s->conf->disks[disk].node];
	const struct ddio_conf_disk *conf = &s->conf->disks[disk];
	const struct ddio_disk_status *d = a->error ? NULL : disk_find(a, disk);

	memset(st, 0, sizeof(*st));
	st->disk = disk;
	snprintf(st->name, sizeof(st->name), "%s", conf->name);
	snprintf(st->node, sizeof(st->node), "%s", s->conf->nodes[conf->node].name);
	st->error = a->error ? a->error : d ? 0 : -ENODEV;
	st->peak = q->known[disk].peak;
	st->scale_ppm = q->known[disk].scale_ppm;
	if (d)
		disk_counts(st, d);
}

int ddio_disks(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_disk_state *st),
	       void *arg)
{
	struct disks_question q = { .ask = ask_state };
	struct ddio_disk_state st;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_disks: fn is NULL");
	q.known = calloc(session->conf->ndisks, sizeof(*q.known));
	if (!q.known)
		return session_fail(session, -ENOMEM, "ddio_disks: out of memory");
	q.ask.ended = disks_known;
	ret = ask_all(session, &q.ask);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		disk_fill(session, &st, i, &q);
		ret = fn(arg, &st);
	}
	ask_free(session, &q.ask);
	free(q.known);
	return ret;
}
