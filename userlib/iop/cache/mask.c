// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which bytes of a block are valid: a mask with a bit for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/cache/priv.h"

/* Returns bits [from, to) of word @w of the mask. */
static uint64_t word_bits(uint32_t w, uint32_t from, uint32_t to)
{
	uint32_t lo = from > w * 64 ? from - w * 64 : 0;
	uint32_t hi = to - w * 64 < 64 ? to - w * 64 : 64;
	uint64_t bits = hi == 64 ? ~0ull : (1ull << hi) - 1;

	return bits & ~((1ull << lo) - 1);
}

int cache_mask_start(struct cache_entry *e)
{
	e->mask = calloc(e->size / 64, sizeof(*e->mask));
	e->valid = 0;
	return e->mask ? 0 : -ENOMEM;
}

bool cache_mask_covers(const struct cache_entry *e, uint32_t offset, uint32_t len)
{
	uint32_t to = offset + len, w;

	if (!e->mask)
		return e->valid == e->size;
	for (w = offset / 64; w * 64 < to; w++) {
		uint64_t bits = word_bits(w, offset, to);

		if ((e->mask[w] & bits) != bits)
			return false;
	}
	return true;
}

void cache_mask_add(struct cache_entry *e, uint32_t offset, uint32_t len)
{
	uint32_t to = offset + len, w;

	if (!e->mask)
		return;
	for (w = offset / 64; w * 64 < to; w++) {
		uint64_t bits = word_bits(w, offset, to);

		e->valid += __builtin_popcountll(bits & ~e->mask[w]);
		e->mask[w] |= bits;
	}
	if (e->valid < e->size)
		return;
	free(e->mask);
	e->mask = NULL;
}

static void word_merge(uint8_t *to, const uint8_t *from, uint64_t have)
{
	int i;

	if (!have) {
		memcpy(to, from, 64);
		return;
	}
	for (i = 0; i < 64; i++)
		if (!(have >> i & 1))
			to[i] = from[i];
}

void cache_mask_merge(struct cache_entry *e, const uint8_t *from)
{
	uint32_t w;

	for (w = 0; e->mask && w < e->size / 64; w++)
		if (~e->mask[w])
			word_merge(e->buf + w * 64, from + w * 64, e->mask[w]);
	free(e->mask);
	e->mask = NULL;
	e->valid = e->size;
}
