/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Memory as a row of pieces of one size, the first of which begins before the memory does.  Pure,
 * and in 64 bits throughout: a huge page may have 16 GB.
 */
#ifndef DDIO_PIECES_H
#define DDIO_PIECES_H

#include "shim.h"

/**
 * struct ddio_pieces - the geometry of some memory
 * @first: offset of the memory's first byte in the first piece
 * @shift: pieces have 1 << @shift bytes
 */
struct ddio_pieces {
	u64 first;
	u32 shift;
};

/**
 * ddio_pieces_count - count the pieces that @length bytes of memory lie in
 */
static inline u64 ddio_pieces_count(const struct ddio_pieces *p, u64 length)
{
	return (p->first + length + (1ULL << p->shift) - 1) >> p->shift;
}

/**
 * ddio_pieces_at - find the piece of byte @offset of the memory
 * @p: the geometry
 * @offset: of the byte
 * @in: set to the byte's offset in the piece
 *
 * Return: the piece's index
 */
static inline u64 ddio_pieces_at(const struct ddio_pieces *p, u64 offset, u64 *in)
{
	u64 at = p->first + offset;

	*in = at & ((1ULL << p->shift) - 1);
	return at >> p->shift;
}

/**
 * ddio_pieces_step - find how much from @offset on can be released at a time
 * @p: the geometry
 * @offset: of the first byte
 * @length: of all the memory, above @offset
 * @most: a multiple of @page
 * @page: bytes of a page
 *
 * Return: bytes, at most @most, that end with the memory, with a piece, or with a page: no page
 * belongs to two steps.
 */
static inline u64 ddio_pieces_step(const struct ddio_pieces *p, u64 offset, u64 length, u64 most,
				   u64 page)
{
	u64 in, n = length - offset;

	ddio_pieces_at(p, offset, &in);
	if (n > (1ULL << p->shift) - in)
		n = (1ULL << p->shift) - in;
	if (n > most - (in & (page - 1)))
		n = most - (in & (page - 1));
	return n;
}

#endif /* DDIO_PIECES_H */
