/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Families whose processes lie side by side in closed form: the bytes of all of them, of one entry, are a nest,
 * some dimensions of which are the family's rows and the others the entry's own.  So who has bytes of a range is
 * found by arithmetic, and what a map holds does not grow with the processes.
 */
#ifndef DDIO_MAP_CLAN_H
#define DDIO_MAP_CLAN_H

#include "map/kin.h"
#include "map/layout.h"
#include "map/parts.h"

/**
 * struct clan_nest - the bytes of all processes of one item
 * @all: a dimension of it is a row, or the item's own
 * @merged: the same bytes in as few dimensions as can be
 * @step: of a row: distance of two ranks, else 0
 * @weight: of others: distance in the share
 */
struct clan_nest {
	struct nest all, merged;
	uint32_t step[NEST_DIMS];
	uint64_t weight[NEST_DIMS];
};

/**
 * struct clan - a family
 * @first, @n: its processes
 * @rows: how far they are apart, without skips
 * @share: of the first
 * @nest: of each item of it; NULL: the family has one process
 */
struct clan {
	uint32_t first, n;
	struct ddio_family rows;
	struct map_share share;
	struct clan_nest *nest;
};

/*
 * Makes the nests, from @first, @n, @rows and @share.
 * Return: 0, -ENOTSUP: they are no nests in file order, -ENOMEM.
 */
int clan_init(struct clan *clan);
void clan_destroy(struct clan *clan);

/* Returns how far the share of process @proc is from that of the first. */
uint64_t clan_shift(const struct clan *clan, uint32_t proc);

/* Walks the runs of all processes of the family. */
int clan_runs(const struct clan *clan, const struct map_range *range, ddio_map_run_fn fn,
	      void *arg);

#endif /* DDIO_MAP_CLAN_H */
