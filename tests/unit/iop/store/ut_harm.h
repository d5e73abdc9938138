/* SPDX-License-Identifier: GPL-2.0-only */
/* Damage to the records of a store. */
#ifndef DDIO_UT_HARM_H
#define DDIO_UT_HARM_H

#include "iop/store/priv.h"
#include "tests/unit/iop/store/ut_store.h"

/**
 * struct store_hit - one damage
 * @db, @key, @key_len: which record; @value: what it becomes, @len 0: it goes
 */
struct store_hit {
	struct store *store;
	int db;
	uint8_t key[16];
	size_t key_len;
	uint8_t value[REC_SUMS_MAX];
	size_t len;
};

void apply(struct ut_store *t, struct store_hit *hit);
struct store_hit hit_extent(uint64_t id, uint64_t block, uint64_t start, uint64_t count);
struct store_hit hit_object(uint64_t id, uint32_t block);
struct store_hit hit_free(uint64_t start, uint64_t len);

#endif /* DDIO_UT_HARM_H */
