/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as keys: big-endian, so that LMDB sorts them as numbers; and keys as text.  Pure. */
#ifndef DDIO_LMDB_KEY_H
#define DDIO_LMDB_KEY_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REC_KEY_LEN 8

static inline void rec_key(uint8_t key[REC_KEY_LEN], uint64_t number)
{
	uint64_t be = htobe64(number);

	memcpy(key, &be, sizeof(be));
}

/* Returns false if @len is not the length of a key. */
static inline bool rec_key_get(const void *key, size_t len, uint64_t *number)
{
	uint64_t be;

	if (len != sizeof(be))
		return false;
	memcpy(&be, key, sizeof(be));
	*number = be64toh(be);
	return true;
}

/* A key as people are told it: its first bytes. */
#define REC_KEY_HEX (2 * 32 + 1)

static inline void rec_key_hex(char hex[REC_KEY_HEX], const void *key, size_t len)
{
	size_t i;

	hex[0] = '\0';
	for (i = 0; i < len && i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key)[i]);
}

#endif /* DDIO_LMDB_KEY_H */
