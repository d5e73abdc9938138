/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Irregular parts: every process names its own pieces of the file. */
#ifndef DDIO_MAP_PARTS_H
#define DDIO_MAP_PARTS_H

#include "map/kin.h"
#include "map/layout.h"
#include "map/pieces/settle.h"
#include "map/pieces/union.h"

/**
 * struct map_share - the bytes that one process wants
 * @items: sorted by file offset, disjoint; their nests belong to the share
 * @size: bytes
 * @bytes: of @items: fewer if the description names bytes twice, or a lower rank has some of them
 * @monotone: file order is share order
 * @again, @nagain: bytes that it names twice, with MAP_AGAIN
 */
struct map_share {
	struct items items;
	uint64_t size;
	uint64_t bytes;
	bool monotone;
	struct map_again *again;
	uint64_t nagain;
};

struct clan;

/**
 * struct parts - the shares of all processes
 * @share: of each process, or NULL if
 * @clan: @nclans families, have them
 * @small: has pieces that are shorter than a cache line
 * @twice: a process names a byte twice
 * @claims: what several processes named, and whose it is, with MAP_LOWEST
 */
struct parts {
	uint32_t nprocs;
	bool small;
	bool twice;
	struct map_share *share;
	struct clan *clan;
	uint32_t nclans;
	struct item_union all;
	struct scraps claims;
};

/**
 * struct parts_from - descriptions of processes
 * @part: one of each process, or NULL
 * @kin: @nkin families
 */
struct parts_from {
	const struct ddio_part *part;
	const struct ddio_kin *kin;
	uint32_t nkin;
};

/* @rules: MAP_* */
int parts_init(struct parts *parts, const struct parts_from *from, uint32_t nprocs, uint32_t rules,
	       const char **why);
/* Makes the union of the shares.  @flat: pieces flattened by the map so far. */
int parts_unite(struct parts *parts, uint64_t flat, const char **why);
/* Computes what follows from the share's items. */
void share_finish(struct map_share *share);
/* Frees them and their nests. */
void items_free(struct items *items);

/* parts_overlap.c: leaves every byte to the lowest of the processes that name it. */
int parts_settle(struct parts *parts, const char **why);
/* See ddio_map_yield(). */
int parts_yield(struct parts *parts, uint32_t proc, const struct scraps *claims);
void parts_destroy(struct parts *parts);

/* What nest_read() allows. */
#define STRIDED_BACK 0x1u  /* negative strides: in memory */
#define STRIDED_TWICE 0x2u /* strides of 0, which name a byte twice */

/*
 * Turns one strided description into a nest, which may not be monotone.
 * @allow: STRIDED_*.  @span: one past the last byte.  Returns -ENODATA if it is empty.
 */
int nest_read(struct nest *nest, const struct ddio_strided *strided, uint32_t allow, uint64_t *span,
	      const char **why);

/* Returns the share of a process, which lies @shift further in the file than its items say. */
const struct map_share *parts_share(const struct parts *parts, uint32_t proc, uint64_t *shift);

/* Returns how many bytes of the share of @proc lie below file offset @x. */
uint64_t parts_below(const struct parts *parts, uint32_t proc, uint64_t x);

/* Returns how many bytes of the share lie below file offset @x. */
uint64_t share_below(const struct map_share *share, uint64_t x);

int parts_runs(const struct parts *parts, const struct map_range *range, ddio_map_run_fn fn,
	       void *arg);
int parts_runs_of(const struct parts *parts, uint32_t proc, const struct map_range *range,
		  ddio_map_run_fn fn, void *arg);

#endif /* DDIO_MAP_PARTS_H */
