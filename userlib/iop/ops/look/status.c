// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of PING and STATUS; a node's status for others within the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ops/look/look.h"

/**
 * struct status_part - one reactor's part of the answer
 * @disks: filled by that reactor
 */
struct status_part {
	struct gather_part part;
	struct ddio_disk_status *disks;
	uint64_t collectives, requests, connections, refused, memory;
};

struct status_ask {
	struct gather gather;
	status_fn done;
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
		.errors = io.errors + store_mismatches(disk->store),
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
		.scrub_mismatches = store_scrub(disk->store)->bad,
		.scrub_unread = store_scrub(disk->store)->unread,
	};
	snprintf(st->name, sizeof(st->name), "%s", disk->name);
	snprintf(st->engine, sizeof(st->engine), "%s", info->engine);
}

static void status_done(struct gather *g)
{
	struct status_ask *ask = (struct status_ask *)g;
	struct ddio_msg_status *st = &ask->st;
	uint32_t i;

	for (i = 0; i < st->nreactors; i++) {
		const struct status_part *part = &ask->parts[i];

		st->collectives += part->collectives;
		st->requests += part->requests;
		st->connections += part->connections;
		st->refused += part->refused;
		st->memory_bytes += part->memory;
	}
	ask->done(g->arg, st);
	ddio_status_free(st);
	free(ask);
}

static void status_collect(struct gather_part *p)
{
	struct status_part *part = (struct status_part *)p;
	const struct reactor *reactor = p->reactor;
	uint32_t i;

	part->collectives = reactor->collectives;
	part->requests = reactor->requests;
	part->connections = reactor->nclients;
	part->refused = reactor->refused;
	part->memory = reactor->memory;
	for (i = 0; i < reactor->ndisks && reactor->disks[i].cache; i++) {
		disk_status(&reactor->disks[i], &part->disks[i]);
		part->memory += part->disks[i].cache_bytes;
		part->memory += store_sums_bytes(reactor->disks[i].store);
	}
}

static struct status_ask *status_new(const struct ddio_iop *iop)
{
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
	ask->st.node = iop->node;
	ask->st.nreactors = iop->nreactors;
	ask->st.boot = iop->boot;
	ask->st.ndisks = n;
	snprintf(ask->st.name, sizeof(ask->st.name), "%s", iop_node_name(iop));
	return ask;
}

int status_ask(struct reactor *home, status_fn done, void *arg)
{
	const struct ddio_iop *iop = home->iop;
	struct status_ask *ask = status_new(iop);
	uint32_t i, n = 0;

	if (!ask)
		return -ENOMEM;
	ask->st.uptime_ns = ddio_env_now(home->env) - iop->began_ns;
	ask->gather = (struct gather){
		.home = home, .collect = status_collect, .done = status_done, .arg = arg
	};
	ask->done = done;
	for (i = 0; i < iop->nreactors; i++) {
		ask->parts[i].disks = ask->st.disks + n;
		n += iop->reactors[i].ndisks;
	}
	gather_all(&ask->gather, ask->parts, sizeof(ask->parts[0]));
	return 0;
}

static void status_reply(void *arg, const struct ddio_msg_status *st)
{
	SERVER_REPLY((struct server_request *)arg, status, st);
}

int serve_status(struct server_request *req, const void *payload)
{
	(void)payload;
	if (status_ask(req->reactor, status_reply, req))
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the status");
	return 0;
}
