// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looks for the extents that come next, some records in each turn of the reactor. */
#include <stdlib.h>
#include "iop/scrub/priv.h"

#define AGAIN_NS 1000000000ull

void scrub_list_drop(struct scrub *s)
{
	if (s->places)
		store_places_end(s->places, NULL, NULL);
	s->places = NULL;
	free(s->place);
	s->place = NULL;
	s->nplaces = 0;
	s->next = 0;
	s->off = 0;
	s->last = false;
}

/* The first extent may begin before the place where the scrub is. */
static void found(struct scrub *s)
{
	const struct store_place *p = s->place;

	s->last = s->nplaces < SCRUB_PLACES;
	if (s->nplaces && p->start < s->kept.at)
		s->off = (s->kept.at - p->start) / p->bs;
}

static void list_more(void *arg)
{
	struct scrub *s = arg;
	struct bound *bound = &s->disk->reactor->bounds.at[BOUND_CHECKED];

	s->state = SCRUB_TURNING;
	if (s->ending || !(s->kept.flags & REC_SCRUB_RUNS)) {
		scrub_go(s);
		return;
	}
	if (store_places_step(s->places, (uint32_t)bound->limit)) {
		s->state = SCRUB_LISTING;
		ddio_env_post(scrub_env(s), &s->post);
		return;
	}
	if (store_places_end(s->places, &s->place, &s->nplaces)) {
		s->places = NULL;
		scrub_rest(s, AGAIN_NS);
		return;
	}
	s->places = NULL;
	found(s);
	scrub_go(s);
}

void scrub_list(struct scrub *s)
{
	scrub_list_drop(s);
	if (store_places_begin(s->disk->store, s->kept.at, SCRUB_PLACES, &s->places)) {
		scrub_rest(s, AGAIN_NS);
		return;
	}
	s->state = SCRUB_LISTING;
	s->post.fn = list_more;
	s->post.arg = s;
	ddio_env_post(scrub_env(s), &s->post);
}
