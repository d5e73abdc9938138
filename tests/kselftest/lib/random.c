// SPDX-License-Identifier: GPL-2.0-only
/* Seeded numbers: splitmix64, by Sebastiano Vigna, from its published description. */
#include <string.h>

#include "lib/kt.h"

uint64_t kt_random(struct kt_rng *rng)
{
	uint64_t z = (rng->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t kt_below(struct kt_rng *rng, uint64_t n)
{
	return n ? kt_random(rng) % n : 0;
}

void kt_fill(struct kt_rng *rng, void *memory, size_t length)
{
	unsigned char *p = memory;
	uint64_t v;

	for (; length >= sizeof(v); p += sizeof(v), length -= sizeof(v)) {
		v = kt_random(rng);
		memcpy(p, &v, sizeof(v));
	}
	v = kt_random(rng);
	memcpy(p, &v, length);
}

void kt_shuffle(struct kt_rng *rng, void *items, size_t n, size_t size)
{
	unsigned char *p = items;
	unsigned char t[64];
	size_t i, j;

	for (i = n; i > 1; i--) {
		j = kt_below(rng, i);
		memcpy(t, p + (i - 1) * size, size);
		memcpy(p + (i - 1) * size, p + j * size, size);
		memcpy(p + j * size, t, size);
	}
}
