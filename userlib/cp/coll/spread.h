/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a member can tell I/O processors itself of its description: the pieces of its share. */
#ifndef DDIO_CP_SPREAD_H
#define DDIO_CP_SPREAD_H

#include "cp/coll/op.h"

/* Returns true if a member whose description has @len bytes can: its pieces have not many more. */
bool spread_can(const struct ddio_op *op, size_t len);
/* Returns the pieces of the share, *@n of them, neighbours as one; NULL without memory. */
struct ddio_extent *spread_pieces(const struct ddio_op *op, uint64_t *n);
/* Has rank 0 get the description itself, whatever its length.  Return: 0, or a negative errno. */
int spread_not(struct ddio_op *op);

#endif /* DDIO_CP_SPREAD_H */
