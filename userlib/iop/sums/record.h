/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of a group of sums, as bytes.  Pure; the reader accepts any bytes. */
#ifndef DDIO_SUMS_RECORD_H
#define DDIO_SUMS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMS_GROUP 256u /* chunks of a group */
#define SUMS_WORDS (SUMS_GROUP / 64)
#define REC_SUMS_KEY_LEN 16
#define REC_SUMS_MAX (4 + 4 + 2 * 8 * SUMS_WORDS + 4 * SUMS_GROUP + 4)

/**
 * struct rec_sums - sums of 256 chunks that follow one another in an object
 * @id: the object; @number: of the group in it
 * @have: a bit for each chunk whose sum is known
 * @doubt: of these, those that may have been written since: the disk may hold something newer
 * @sum: CRC-32C of each; 0 where none is known
 */
struct rec_sums {
	uint64_t id, number;
	uint64_t have[SUMS_WORDS], doubt[SUMS_WORDS];
	uint32_t sum[SUMS_GROUP];
};

static inline bool sums_bit(const uint64_t map[SUMS_WORDS], uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

static inline void sums_bit_set(uint64_t map[SUMS_WORDS], uint32_t i, bool on)
{
	uint64_t bit = UINT64_C(1) << i % 64;

	map[i / 64] = on ? map[i / 64] | bit : map[i / 64] & ~bit;
}

void rec_sums_key(uint8_t key[REC_SUMS_KEY_LEN], uint64_t id, uint64_t number);
/* Returns the length of the value. */
size_t rec_sums_put(uint8_t value[REC_SUMS_MAX], const struct rec_sums *rec);
/* Returns 0, or -EUCLEAN for bytes that rec_sums_put() cannot have written; the key is read in any case if it is one. */
int rec_sums_get(const void *key, size_t key_len, const void *value, size_t len,
		 struct rec_sums *rec);

#endif /* DDIO_SUMS_RECORD_H */
