// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Free space in memory: loads it from the records, and takes space back.  What a commit has freed is given back some in
 * each turn of the reactor, so that an object in a million pieces does not keep others waiting when it is removed.  What
 * waits counts as free, and who finds no space has more of it given back first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/store/priv.h"

static void give_back(struct store *store, uint64_t start, uint64_t len, bool shared)
{
	int ret = shared ? shares_drop(&store->shares, start, len)
			 : ranges_add(&store->free, start, len);

	/* In the records it is free, and so it is free again after the next start. */
	if (ret &&
	    !bug_on(ret != -ENOMEM, "disk %s: %" PRIu64 " bytes at %" PRIu64 " are freed twice",
		    store->label.name, len, start))
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: %" PRIu64 " bytes at %" PRIu64 " cannot be given back: %s",
			     store->label.name, len, start, mdb_strerror(-ret));
}

void store_give_back(struct store *store, uint64_t start, uint64_t len)
{
	uint64_t piece;
	bool shared;

	for (; len; start += piece, len -= piece) {
		piece = len;
		shared = shares_at(&store->shares, start, &piece);
		give_back(store, start, piece, shared);
	}
}

/* Adds one record of free space; a damaged one is skipped, so that its space is never allocated. */
static int load_free(void *arg, const MDB_val *key, const MDB_val *val)
{
	struct store *store = arg;
	struct rec_free rec;
	int ret;

	ret = rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && (rec.start < LABEL_SPACE || rec.start > store->size ||
		     rec.len > store->size - rec.start))
		ret = -EUCLEAN;
	if (!ret)
		ret = ranges_add(&store->free, rec.start, rec.len);
	if (!ret || ret == -ENOMEM)
		return ret;
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: a record of free space is damaged; run 'ddio fsck'",
		     store->label.name);
	return 0;
}

int store_load_free(struct store *store)
{
	store_give_none(store);
	ranges_fini(&store->free);
	ranges_init(&store->free);
	return lmdb_each(&store->db, STORE_FREE, load_free, store);
}

/**
 * struct given - space that waits
 * @ext, or @freed: @n pieces, of which @at are free again; @bs: bytes of a block of @ext
 */
struct given {
	struct ddio_list link;
	struct extent *ext;
	struct freed *freed;
	size_t n, at;
	uint32_t bs;
};

static struct freed piece_of(const struct given *g, size_t i)
{
	if (g->freed)
		return g->freed[i];
	return (struct freed){ g->ext[i].start, g->ext[i].count * g->bs };
}

static void given_free(struct given *g)
{
	ddio_list_del(&g->link);
	free(g->ext);
	free(g->freed);
	free(g);
}

/* Gives back as many pieces as @steps say.  Returns how many more may be. */
static uint64_t give_some(struct store *store, struct given *g, uint64_t steps)
{
	struct freed piece;

	for (; steps && g->at < g->n; steps--) {
		piece = piece_of(g, g->at++);
		store->giving -= piece.len;
		store_give_back(store, piece.start, piece.len);
	}
	return steps;
}

bool store_give(struct store *store, uint64_t steps)
{
	struct given *g;

	if (ddio_list_empty(&store->given))
		return false;
	while (steps && !ddio_list_empty(&store->given)) {
		g = ddio_list_first(&store->given, struct given, link);
		steps = give_some(store, g, steps);
		if (g->at == g->n)
			given_free(g);
	}
	return true;
}

static void give_turn(void *arg)
{
	struct store *store = arg;
	struct bound *bound = &store->bounds->at[BOUND_FREED];

	store_give(store, bound->limit);
	if (ddio_list_empty(&store->given))
		return;
	bound->hits++;
	store->give_timer.fn = give_turn;
	store->give_timer.arg = store;
	/* Without memory for a timer others have to wait. */
	if (ddio_timer_arm(store->env, &store->give_timer, ddio_env_now(store->env)))
		store_give(store, UINT64_MAX);
}

/* Takes over the memory of @from. */
static void give(struct store *store, const struct given *from)
{
	struct given *g = malloc(sizeof(*g)), here;
	size_t i;

	if (!g)
		g = &here;
	*g = *from;
	ddio_list_init(&g->link);
	for (i = 0; i < g->n; i++)
		store->giving += piece_of(g, i).len;
	if (g == &here) {
		give_some(store, g, UINT64_MAX);
		free(g->ext);
		free(g->freed);
		return;
	}
	ddio_list_add(&g->link, &store->given);
	if (!ddio_timer_armed(&store->give_timer))
		give_turn(store);
}

void store_give_extents(struct store *store, struct extent_map *map, uint32_t bs)
{
	const struct given g = { .ext = map->v, .n = map->n, .bs = bs };

	*map = (struct extent_map){ .v = NULL };
	give(store, &g);
}

void store_give_batch(struct store *store, struct store_batch *batch)
{
	const struct given g = { .freed = batch->freed, .n = batch->nfreed };

	batch->freed = NULL;
	batch->nfreed = batch->cap_freed = 0;
	give(store, &g);
}

void store_give_none(struct store *store)
{
	ddio_timer_cancel(store->env, &store->give_timer);
	while (!ddio_list_empty(&store->given))
		given_free(ddio_list_first(&store->given, struct given, link));
	store->giving = 0;
}

int fresh_drop(struct object *obj, uint64_t first, uint64_t end)
{
	uint32_t bs = obj->ref.block;
	struct extent part;

	if (obj->fresh.n && extent_map_reserve(&obj->fresh, 1))
		return -ENOMEM;
	for (part = extent_map_part(&obj->fresh, first, end, bs); part.count;
	     part = extent_map_part(&obj->fresh, part.block + part.count, end, bs)) {
		store_give_back(obj->store, part.start, part.count * bs);
		extent_map_cut(&obj->fresh, part.block, part.block + part.count, bs);
	}
	return 0;
}
