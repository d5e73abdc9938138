// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include "iop/lmdb/key.h"
#include "iop/lmdb/value.h"
#include "iop/sums/record.h"

#define SUMS_VERSION 1

void rec_sums_key(uint8_t key[REC_SUMS_KEY_LEN], uint64_t id, uint64_t number)
{
	rec_key(key, id);
	rec_key(key + REC_KEY_LEN, number);
}

/* Returns how many sums the record holds: up to the last one that is known. */
static uint32_t sums_held(const struct rec_sums *rec)
{
	uint32_t n = SUMS_GROUP;

	while (n && !sums_bit(rec->have, n - 1))
		n--;
	return n;
}

static void code_sums(struct ddio_coder *c, struct rec_sums *x)
{
	uint32_t n = sums_held(x), i;

	code_u32(c, &n);
	code_check(c, n && n <= SUMS_GROUP, -EUCLEAN);
	for (i = 0; i < SUMS_WORDS; i++)
		code_u64(c, &x->have[i]);
	for (i = 0; i < SUMS_WORDS; i++) {
		code_u64(c, &x->doubt[i]);
		code_check(c, !(x->doubt[i] & ~x->have[i]), -EUCLEAN);
	}
	for (i = 0; i < n && coder_ok(c); i++)
		code_u32(c, &x->sum[i]);
	code_check(c, n == sums_held(x), -EUCLEAN);
}

size_t rec_sums_put(uint8_t value[REC_SUMS_MAX], const struct rec_sums *rec)
{
	struct ddio_coder c = value_writing(value, REC_SUMS_MAX, SUMS_VERSION);
	uint8_t key[REC_SUMS_KEY_LEN];

	rec_sums_key(key, rec->id, rec->number);
	code_sums(&c, (struct rec_sums *)rec);
	value_close(&c, key, sizeof(key));
	return c.w.len;
}

int rec_sums_get(const void *key, size_t key_len, const void *value, size_t len,
		 struct rec_sums *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, SUMS_VERSION);

	memset(rec, 0, sizeof(*rec));
	if (key_len != REC_SUMS_KEY_LEN)
		return -EUCLEAN;
	rec_key_get(key, REC_KEY_LEN, &rec->id);
	rec_key_get((const uint8_t *)key + REC_KEY_LEN, REC_KEY_LEN, &rec->number);
	code_sums(&c, rec);
	return value_end(&c);
}
