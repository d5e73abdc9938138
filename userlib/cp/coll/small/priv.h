/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the method for small transfers: small.c has its course, carry.c what the tree carries. */
#ifndef DDIO_CP_SMALL_PRIV_H
#define DDIO_CP_SMALL_PRIV_H

#include "cp/coll/range.h"
#include "cp/coll/small/small.h"

/**
 * struct small_op - op->priv
 * @block: rank 0: the bytes of the file from the first to the last that anybody wants, in memory of @block_len bytes
 * @boot: rank 0: of each disk of the stripe: the incarnation of its node before anything was written; 0: not known
 * @moving: rank 0: @range is under way
 * @within: rank 0: it writes no further than the file was long when it was last heard of
 * @left: rank 0: requests that are not over
 * @iops: rank 0: I/O processors asked
 */
struct small_op {
	struct ddio_op *op;
	struct range_io range;
	uint8_t *block;
	size_t block_len;
	uint64_t *boot;
	bool moving, within;
	uint32_t left, iops;
	struct error error;
};

/* Returns this member's data, packed; NULL if there are none, or without memory, which makes op->failed. */
uint8_t *small_own_put(struct ddio_op *op, size_t *len);
/* Puts together what the members have sent.  Return: 0 or -errno, with sm->error. */
int small_gather(struct small_op *sm);
/* Returns the incarnations as they are now; NULL without memory. */
uint64_t *small_boots(const struct ddio_file *file);
/* Counts what rank 0's requests have done, for the report. */
void small_count(struct small_op *sm);
/* Returns the verdict's data; NULL without memory. */
uint8_t *small_verdict_put(const struct small_op *sm, size_t *len);
/* Takes this member's part.  Return: 0 or -EPROTO. */
int small_verdict_take(struct ddio_op *op, const uint8_t *data, size_t len);

#endif /* DDIO_CP_SMALL_PRIV_H */
