// SPDX-License-Identifier: LGPL-2.1-or-later
#include "iop/server/gather.h"

/* Runs on the reactor that asked. */
static void back(void *arg)
{
	struct gather *g = ((struct gather_part *)arg)->gather;

	if (!--g->pending)
		g->done(g);
}

/* Runs on each reactor. */
static void collect(void *arg)
{
	struct gather_part *part = arg;

	part->gather->collect(part);
	part->post.fn = back;
	ddio_env_post(part->gather->home->env, &part->post);
}

static void ask_one(struct gather *g, struct gather_part *part, struct reactor *reactor)
{
	part->gather = g;
	part->reactor = reactor;
	part->post.fn = collect;
	part->post.arg = part;
	ddio_env_post(reactor->env, &part->post);
}

void gather_all(struct gather *g, void *parts, size_t size)
{
	struct ddio_iop *iop = g->home->iop;
	uint32_t i;

	g->pending = iop->nreactors;
	for (i = 0; i < iop->nreactors; i++)
		ask_one(g, (struct gather_part *)(void *)((char *)parts + i * size),
			&iop->reactors[i]);
}
