/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small transfers of views, strided and listed parts, whose data go with the agreement on the start. */
#ifndef DDIO_CP_CARRY_H
#define DDIO_CP_CARRY_H

#include "cp/coll/op.h"

/* Bytes of all shares, and members, of which a transfer is small at most. */
#define SMALL_BYTES (64u << 10)
#define SMALL_MEMBERS 1024u

/*
 * A verdict: what is always there, of which the last four bytes are the number of disks that were written to; each of these with its
 * node's incarnation; and each member's rank, length and data.
 */
enum { CARRY_HEAD = 20, CARRY_BOOT = 12, CARRY_ENTRY = 8 };

/* Application's thread: sets @op->may_carry. */
void carry_look(struct ddio_op *op);
/*
 * Returns what this member says of the transfer with its data, to be freed, and sets @op->carried; NULL: it gives none, since it may
 * not, or without memory.
 */
uint8_t *carry_put(struct ddio_op *op, size_t *len);
/* Takes from a crowd on its way to rank 0 data of which rank 0 would make no use. */
void carry_pass(struct ddio_crowd *crowd);
/* Rank 0, with @op->whole and what the members gave: returns true if the transfer is small. */
bool carry_fits(const struct ddio_op *op);
/* Returns the data of the first rank from @rank on, which is set; NULL at the end, or if they are malformed. */
const uint8_t *carry_find(const uint8_t *p, const uint8_t *end, uint32_t *rank, size_t *len);
/* Puts, or finds, the mark of a verdict that brings data; returns its length, or 0. */
size_t carry_mark_put(const struct ddio_op *op, uint8_t *verdict);
size_t carry_mark(const void *verdict, size_t len);
/* Returns how long the verdict is without the mark and the members' data; 0: it is malformed. */
size_t carry_head(const uint8_t *data, size_t len);
/* See struct step_kind: the data of ranks [@first, @end), of a small transfer, or of the start of one that may be. */
void *carry_slice(const void *verdict, size_t len, uint32_t first, uint64_t end, size_t *n);
void *carry_slice_start(const void *verdict, size_t len, uint32_t first, uint64_t end, size_t *n);
/* The verdict, as all hear it. */
void carry_learn(struct ddio_op *op, const struct error *error, const void *data, size_t len);

#endif /* DDIO_CP_CARRY_H */
