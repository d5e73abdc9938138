// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handlers of PING and STATUS.  Each reactor reads its own counters: the question goes to all of them by posts,
 * and the answers come back to the reactor that was asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ops/handlers.h"

/**
 * struct status_part - one reactor's part of the answer
 * @disks: filled by that reactor
 */
struct status_part {
	struct status_ask *ask;
	struct reactor *reactor;
	struct ddio_post post;
	struct ddio_disk_status *disks;
	uint64_t collectives, requests, connections, refused, memory;
};

struct status_ask {
	struct server_request *req;
	uint32_t pending;
	struct ddio_msg_status st;
	struct status_part parts[];
};

int serve_ping(struct server_request *req, const void *payload)
{
	(void)payload;
	server_reply(req, NULL, 0);
	return 0;
}

static void disk_status(const struct iop_disk *disk, struct ddio_disk_status *st)
{
	const struct ddio_disk_info *info = ddio_disk_info(disk->disk);
	struct cache_stats cache;
	struct ddio_disk_stats io;

	cache_stats(disk->cache, &cache);
	ddio_disk_stats(disk->disk, &io);
	*st = (struct ddio_disk_status){
		.disk = disk->number,
		.reactor = disk->reactor->index,
		.size = info->size,
		.free = store_free_bytes(disk->store),
		.reads = io.reads,
		.writes = io.writes,
		.read_bytes = io.read_bytes,
		.write_bytes = io.write_bytes,
		.errors = io.errors,
		.cache_hits = cache.hits,
		.cache_misses = cache.misses,
		.prefetches = cache.prefetches,
		.prefetch_used = cache.prefetch_used,
		.prefetch_wasted = cache.prefetch_wasted,
		.cache_blocks = cache.blocks,
		.cache_dirty = cache.dirty,
		.cache_bytes = cache.bytes,
		.queue = cache.queue,
		.max_queue = cache.max_queue,
		.seeks = io.seeks,
		.seek_ns = io.seek_ns,
		.rotation_ns = io.rotation_ns,
		.buffer_hits = io.buffer_hits,
		.bus_wait_ns = io.bus_wait_ns,
		.busy_ns = io.busy_ns,
		.buffers = disk->coll_buffers,
		.max_buffers = disk->coll_max_buffers,
		.objects = store_objects(disk->store),
	};
	snprintf(st->name, sizeof(st->name), "%s", disk->name);
	snprintf(st->engine, sizeof(st->engine), "%s", info->engine);
}

static void status_reply(struct status_ask *ask)
{
	struct server_request *req = ask->req;
	const struct ddio_iop *iop = req->reactor->iop;
	struct ddio_msg_status *st = &ask->st;
	uint32_t i;

	for (i = 0; i < iop->nreactors; i++) {
		const struct status_part *part = &ask->parts[i];

		st->collectives += part->collectives;
		st->requests += part->requests;
		st->connections += part->connections;
		st->refused += part->refused;
		st->memory_bytes += part->memory;
	}
	SERVER_REPLY(req, status, st);
	ddio_status_free(st);
	free(ask);
}

/* Runs on the reactor that was asked. */
static void status_back(void *arg)
{
	struct status_part *part = arg;

	if (!--part->ask->pending)
		status_reply(part->ask);
}

/* Runs on each reactor. */
static void status_collect(void *arg)
{
	struct status_part *part = arg;
	const struct reactor *reactor = part->reactor;
	uint32_t i;

	part->collectives = reactor->collectives;
	part->requests = reactor->requests;
	part->connections = reactor->nclients;
	part->refused = reactor->refused;
	part->memory = reactor->memory;
	for (i = 0; i < reactor->ndisks && reactor->disks[i].cache; i++) {
		disk_status(&reactor->disks[i], &part->disks[i]);
		part->memory += part->disks[i].cache_bytes;
	}
	part->post.fn = status_back;
	ddio_env_post(part->ask->req->reactor->env, &part->post);
}

static struct status_ask *status_new(struct server_request *req)
{
	const struct ddio_iop *iop = req->reactor->iop;
	struct status_ask *ask = calloc(1, sizeof(*ask) + iop->nreactors * sizeof(ask->parts[0]));
	uint32_t i, n = 0;

	if (!ask)
		return NULL;
	for (i = 0; i < iop->nreactors; i++)
		n += iop->reactors[i].ndisks;
	ask->st.disks = calloc(n + 1, sizeof(*ask->st.disks));
	if (!ask->st.disks) {
		free(ask);
		return NULL;
	}
	ask->req = req;
	ask->st.node = iop->node;
	ask->st.nreactors = iop->nreactors;
	ask->st.boot = iop->boot;
	ask->st.ndisks = n;
	snprintf(ask->st.name, sizeof(ask->st.name), "%s", iop_node_name(iop));
	return ask;
}

int serve_status(struct server_request *req, const void *payload)
{
	struct ddio_iop *iop = req->reactor->iop;
	struct status_ask *ask = status_new(req);
	uint32_t i, n = 0;

	(void)payload;
	if (!ask) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the status");
		return 0;
	}
	ask->st.uptime_ns = ddio_env_now(req->reactor->env) - iop->began_ns;
	ask->pending = iop->nreactors;
	for (i = 0; i < iop->nreactors; i++) {
		struct status_part *part = &ask->parts[i];

		part->ask = ask;
		part->reactor = &iop->reactors[i];
		part->disks = ask->st.disks + n;
		n += iop->reactors[i].ndisks;
		part->post.fn = status_collect;
		part->post.arg = part;
		ddio_env_post(part->reactor->env, &part->post);
	}
	return 0;
}
