// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handler of BOUNDS: what clients may take of a node, and have taken.  Each reactor reads its own counts, as for
 * STATUS.
 */
#include <stdio.h>
#include <stdlib.h>
#include "env/lines.h"
#include "iop/ops/handlers.h"

/**
 * struct bounds_part - one reactor's part of the answer
 * @bounds: filled by that reactor
 */
struct bounds_part {
	struct bounds_ask *ask;
	struct reactor *reactor;
	struct ddio_post post;
	struct bounds bounds;
};

struct bounds_ask {
	struct server_request *req;
	uint32_t pending;
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

static void bounds_reply(struct bounds_ask *ask)
{
	struct ddio_bound_status all[NBOUNDS] = { 0 };
	struct ddio_msg_bounds x = { .n = NBOUNDS, .bound = all };
	uint32_t i, r;

	for (i = 0; i < NBOUNDS; i++) {
		snprintf(all[i].name, sizeof(all[i].name), "%s", bound_name(i));
		for (r = 0; r < ask->req->reactor->iop->nreactors; r++)
			bound_add(&all[i], &ask->parts[r].bounds.at[i]);
	}
	SERVER_REPLY(ask->req, bounds, &x);
	free(ask);
}

/* Runs on the reactor that was asked. */
static void bounds_back(void *arg)
{
	struct bounds_part *part = arg;

	if (!--part->ask->pending)
		bounds_reply(part->ask);
}

/* Runs on each reactor. */
static void bounds_collect(void *arg)
{
	struct bounds_part *part = arg;

	server_clients_unread(part->reactor);
	part->bounds = part->reactor->bounds;
	part->bounds.at[BOUND_LINES].hits = ddio_env_lines_left_out(part->reactor->env);
	part->post.fn = bounds_back;
	ddio_env_post(part->ask->req->reactor->env, &part->post);
}

int serve_bounds(struct server_request *req, const void *payload)
{
	struct ddio_iop *iop = req->reactor->iop;
	struct bounds_ask *ask = calloc(1, sizeof(*ask) + iop->nreactors * sizeof(ask->parts[0]));
	uint32_t i;

	(void)payload;
	if (!ask) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the bounds");
		return 0;
	}
	ask->req = req;
	ask->pending = iop->nreactors;
	for (i = 0; i < iop->nreactors; i++) {
		struct bounds_part *part = &ask->parts[i];

		part->ask = ask;
		part->reactor = &iop->reactors[i];
		part->post.fn = bounds_collect;
		part->post.arg = part;
		ddio_env_post(part->reactor->env, &part->post);
	}
	return 0;
}
