/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of a disk that have more owners than one, and how many more.  Disjoint ranges, of which
 * neighbours differ in their number: what nobody shares takes no memory.
 */
#ifndef DDIO_SHARES_H
#define DDIO_SHARES_H

#include <stdint.h>
#include "iop/store/ranges/tree.h"

/* @more: owners but one */
struct share_node {
	struct range_node range;
	uint64_t more;
};

/* @total: bytes that have more owners than one; @saved: what the others would take besides. */
struct shares {
	struct range_node *root;
	uint64_t n, total, saved, rand;
};

void shares_init(struct shares *set);
void shares_fini(struct shares *set);
/* Returns how many more owners than one byte @at has, and for how many of @*len bytes from there on that is so. */
uint64_t shares_at(const struct shares *set, uint64_t at, uint64_t *len);
/* Gives [start, start + len) @more owners.  0, or -ENOMEM with nothing changed. */
int shares_add(struct shares *set, uint64_t start, uint64_t len, uint64_t more);
/* Takes one owner from each byte of [start, start + len), all of which have as many more.  0 or -ENOMEM, likewise. */
int shares_drop(struct shares *set, uint64_t start, uint64_t len);

#endif /* DDIO_SHARES_H */
