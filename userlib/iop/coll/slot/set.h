/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of a disk's slots, by their place among them: what is to be done for those in some state costs nothing for all
 * the others, of which a disk has up to COLL_MAX_BUFFERS.
 */
#ifndef DDIO_COLL_SET_H
#define DDIO_COLL_SET_H

#include <stdbool.h>
#include <stdint.h>

#define COLL_MAX_BUFFERS 128u /* of a disk */
#define SLOT_SET_WORDS (COLL_MAX_BUFFERS / 64)

struct slot_set {
	uint64_t bits[SLOT_SET_WORDS];
};

static inline bool slot_set_has(const struct slot_set *set, uint32_t i)
{
	return set->bits[i / 64] >> i % 64 & 1;
}

/* @in: it is in the set from now on; else it is not */
static inline void slot_set_put(struct slot_set *set, uint32_t i, bool in)
{
	uint64_t bit = UINT64_C(1) << i % 64;

	if (in)
		set->bits[i / 64] |= bit;
	else
		set->bits[i / 64] &= ~bit;
}

static inline bool slot_set_empty(const struct slot_set *set)
{
	uint64_t any = 0;
	uint32_t w;

	for (w = 0; w < SLOT_SET_WORDS; w++)
		any |= set->bits[w];
	return !any;
}

static inline uint32_t slot_set_count(const struct slot_set *set)
{
	uint32_t n = 0, w;

	for (w = 0; w < SLOT_SET_WORDS; w++)
		n += (uint32_t)__builtin_popcountll(set->bits[w]);
	return n;
}

static inline struct slot_set slot_set_or(const struct slot_set *a, const struct slot_set *b)
{
	struct slot_set set;
	uint32_t w;

	for (w = 0; w < SLOT_SET_WORDS; w++)
		set.bits[w] = a->bits[w] | b->bits[w];
	return set;
}

/* Returns those of @set that are not both in @a and in @b. */
static inline struct slot_set slot_set_but(const struct slot_set *set, const struct slot_set *a,
					   const struct slot_set *b)
{
	struct slot_set rest;
	uint32_t w;

	for (w = 0; w < SLOT_SET_WORDS; w++)
		rest.bits[w] = set->bits[w] & ~(a->bits[w] & b->bits[w]);
	return rest;
}

/* Takes the lowest out of the set: its place, or COLL_MAX_BUFFERS if the set is empty. */
static inline uint32_t slot_set_take(struct slot_set *set)
{
	uint32_t w, i;

	for (w = 0; w < SLOT_SET_WORDS; w++) {
		if (!set->bits[w])
			continue;
		i = (uint32_t)__builtin_ctzll(set->bits[w]);
		set->bits[w] &= set->bits[w] - 1;
		return w * 64 + i;
	}
	return COLL_MAX_BUFFERS;
}

#endif /* DDIO_COLL_SET_H */
