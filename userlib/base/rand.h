/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seeded pseudo-random numbers that are the same everywhere (splitmix64). */
#ifndef DDIO_RAND_H
#define DDIO_RAND_H

#include <stdint.h>

/* Returns a value in which every bit depends on every bit of @x. */
static inline uint64_t ddio_rand_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline uint64_t ddio_rand_next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return ddio_rand_mix(*state);
}

/* Returns a number that is uniform over 0 to @n - 1; @n must not be 0. */
static inline uint64_t ddio_rand_below(uint64_t *state, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

	do
		x = ddio_rand_next(state);
	while (x >= limit);
	return x % n;
}

#endif /* DDIO_RAND_H */
