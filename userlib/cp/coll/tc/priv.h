/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traditional caching, among its files: the chunks of a share, and how they are asked for. */
#ifndef DDIO_CP_TC_PRIV_H
#define DDIO_CP_TC_PRIV_H

#include "cp/coll/op.h"
#include "cp/node/objio.h"

/**
 * struct tc_chunk - bytes of the share that are contiguous in the file
 * @share: where its first byte lies in the packed share
 * @broken: it is not contiguous there
 */
struct tc_chunk {
	uint64_t at, len, share;
	bool broken;
};

/**
 * struct tc_cursor - a walk along chunks
 * @step: every so many blocks of the file; @cut: a chunk ends with its block
 * @block: the next block of the file, or the current one while @lo is within it
 * @lo: the next byte to be expanded
 * @chunk: @n of them; @next is the index of the next one to be requested
 */
struct tc_cursor {
	uint32_t step;
	bool cut;
	uint64_t block, lo;
	struct tc_chunk *chunk;
	size_t n, next, cap;
	bool sorted;
};

/**
 * struct tc - a transfer
 * @disk: a cursor for each disk; one for all if chunks are asked for in turn
 * @cursors: how many these are
 * @call: in turn: the rest of the chunk that is asked for; @block: of each disk, the next block of it
 */
struct tc {
	struct ddio_op *op;
	struct objio io;
	struct tc_cursor *disk;
	uint32_t cursors;
	struct tc_chunk call;
	uint64_t *block;
	bool running, stopping;
};

/* Expands runs until the next chunk is complete.  Return: 1, 0 at the end of the share, -errno. */
int tc_chunk_ready(struct tc *tc, struct tc_cursor *d);
/* Fills in where the bytes of a chunk lie in memory, or a bounce buffer.  Return: 0 or -errno. */
int tc_chunk_memory(struct tc *tc, struct objreq *req, const struct tc_chunk *c);

static inline bool tc_in_turn(const struct tc *tc)
{
	return tc->op->flags & DDIO_XFER_IN_TURN;
}

/* In turn: asks for the next chunk.  Return: 1, 0 at the end of the share, -errno. */
int tc_turn_next(struct tc *tc);
/* In turn: the next request of the chunk, for objio. */
int tc_turn_request(struct objio *io, struct objreq *req);

#endif /* DDIO_CP_TC_PRIV_H */
