/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file view: where the bytes that a process sees lie in the file. */
#ifndef MPIIO_VIEW_H
#define MPIIO_VIEW_H

#include "mpiio/core/shape.h"

/**
 * struct mpiio_view - displacement, elementary type and file type
 * @disp: byte of the file at which the first tile's origin lies
 * @etype: bytes of the elementary type; positions count in these
 * @extent: bytes from one tile to the next
 * @shape: of a tile; the view's own
 */
struct mpiio_view {
	uint64_t disp, etype, extent;
	struct mpiio_shape shape;
};

/* The view of a file that has just been opened: its bytes. */
int view_of_bytes(struct mpiio_view *v);
void view_drop(struct mpiio_view *v);

/* All bytes follow each other, so that position p is byte disp + p * etype. */
int view_is_contiguous(const struct mpiio_view *v);

/* The byte of the file at which a byte of the view lies; -EINVAL: the view has no bytes; -EOVERFLOW. */
int64_t view_byte(const struct mpiio_view *v, uint64_t at);

/* How many whole etypes of the view begin below a size of the file. */
uint64_t view_positions(const struct mpiio_view *v, uint64_t size);

/* What an access of @len bytes from byte @at of the view names; @tree is filled and named by @out. */
void view_part(const struct mpiio_view *v, uint64_t at, uint64_t len, struct ddio_tree *tree,
	       struct ddio_view *out);

#endif
