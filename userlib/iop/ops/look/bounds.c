// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handler of BOUNDS: what clients may take of a node, and have taken; the same for others within the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "env/lines.h"
#include "env/local/memory.h"
#include "iop/lmdb/room.h"
#include "iop/ns/ns.h"
#include "iop/ops/look/look.h"

/**
 * struct bounds_part - one reactor's part of the answer
 * @bounds: filled by that reactor
 */
struct bounds_part {
	struct gather_part part;
	struct bounds bounds;
};

struct bounds_ask {
	struct gather gather;
	bounds_fn done;
	uint32_t nreactors;
	struct bounds_part parts[];
};

static void bound_add(struct ddio_bound_status *sum, const struct bound *b)
{
	if (b->limit > sum->limit)
		sum->limit = b->limit;
	if (b->most > sum->most)
		sum->most = b->most;
	sum->now += b->now;
	sum->hits += b->hits;
}

static void records_add(struct bound *b, struct lmdb_left left)
{
	b->now += left.used;
	b->hits += left.refused;
	/* Most often it is the same file system. */
	if (left.free > b->limit)
		b->limit = left.free;
}

/* Counts a reactor's records; the limit is what is free. */
static void records_count(const struct reactor *reactor, struct bound *b)
{
	const struct ddio_iop *iop = reactor->iop;
	uint32_t i;

	*b = (struct bound){ .limit = 0 };
	for (i = 0; i < reactor->ndisks; i++)
		if (reactor->disks[i].store)
			records_add(b, store_left(reactor->disks[i].store));
	if (iop->ns && !reactor->index)
		records_add(b, ns_left(iop->ns));
	b->most = b->now;
}

/* Blocks that their own disk, or whoever else read them, has found wrong. */
static uint64_t wrong_blocks(const struct reactor *reactor)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		if (reactor->disks[i].store)
			n += store_mismatches(reactor->disks[i].store);
	return n;
}

static void bounds_done(struct gather *g)
{
	struct bounds_ask *ask = (struct bounds_ask *)g;
	struct ddio_bound_status all[NBOUNDS] = { 0 };
	struct ddio_msg_bounds x = { .n = NBOUNDS, .bound = all };
	uint32_t i, r;

	for (i = 0; i < NBOUNDS; i++) {
		snprintf(all[i].name, sizeof(all[i].name), "%s", bound_name(i));
		for (r = 0; r < ask->nreactors; r++)
			bound_add(&all[i], &ask->parts[r].bounds.at[i]);
	}
	all[BOUND_RECORDS].most = all[BOUND_RECORDS].now;
	all[BOUND_RECORDS].limit += all[BOUND_RECORDS].now;
	ask->done(g->arg, &x);
	free(ask);
}

/* The env counts them, and holds to the limit. */
static void channels_count(const struct reactor *reactor, struct bound *b)
{
	struct ddio_memory_use use;

	ddio_memory_use(reactor->env, &use);
	*b = (struct bound){
		.limit = ENV_MEMORIES, .now = use.now, .most = use.most, .hits = use.hits
	};
}

static void bounds_collect(struct gather_part *p)
{
	struct bounds_part *part = (struct bounds_part *)p;

	server_clients_unread(p->reactor);
	part->bounds = p->reactor->bounds;
	records_count(p->reactor, &part->bounds.at[BOUND_RECORDS]);
	channels_count(p->reactor, &part->bounds.at[BOUND_CHANNELS]);
	server_carry_count(p->reactor, part->bounds.at);
	part->bounds.at[BOUND_WRONG_DISK].hits = wrong_blocks(p->reactor);
	part->bounds.at[BOUND_LINES].hits = ddio_env_lines_left_out(p->reactor->env);
}

int bounds_ask(struct reactor *home, bounds_fn done, void *arg)
{
	const struct ddio_iop *iop = home->iop;
	struct bounds_ask *ask = calloc(1, sizeof(*ask) + iop->nreactors * sizeof(ask->parts[0]));

	if (!ask)
		return -ENOMEM;
	ask->gather = (struct gather){
		.home = home, .collect = bounds_collect, .done = bounds_done, .arg = arg
	};
	ask->done = done;
	ask->nreactors = iop->nreactors;
	gather_all(&ask->gather, ask->parts, sizeof(ask->parts[0]));
	return 0;
}

static void bounds_reply(void *arg, const struct ddio_msg_bounds *bounds)
{
	SERVER_REPLY((struct server_request *)arg, bounds, bounds);
}

int serve_bounds(struct server_request *req, const void *payload)
{
	(void)payload;
	if (bounds_ask(req->reactor, bounds_reply, req))
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the bounds");
	return 0;
}
