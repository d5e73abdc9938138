/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of records: a version, the fields, and a CRC-32C of key and value.  A coder walks the fields
 * in either direction (proto/coder.h), so that each record is described once.  Pure.
 */
#ifndef DDIO_LMDB_VALUE_H
#define DDIO_LMDB_VALUE_H

#include <lmdb.h>
#include "base/crc32c.h"
#include "proto/coder.h"

#define VALUE_CRC_LEN 4
/* What stands around the fields. */
#define VALUE_EXTRA (4 + VALUE_CRC_LEN)

/* Returns a writer positioned after the version; value_close() is to follow the fields. */
static inline struct ddio_coder value_writing(void *buf, size_t cap, uint32_t version)
{
	struct ddio_coder c = coder_writing(buf, cap);

	code_u32(&c, &version);
	return c;
}

/* Appends the CRC of the key and what has been written. */
static inline void value_close(struct ddio_coder *c, const void *key, size_t key_len)
{
	uint32_t crc = 0;

	if (c->w.buf && !c->w.over) {
		crc = ddio_crc32c(0, key, key_len);
		crc = ddio_crc32c(crc, c->w.buf, c->w.len);
	}
	code_u32(c, &crc);
}

/* Returns true if the last bytes of @value are the CRC of @key and the others. */
static inline bool value_intact(const void *key, size_t key_len, const void *value, size_t len)
{
	struct ddio_rd tail;

	if (len < VALUE_CRC_LEN)
		return false;
	len -= VALUE_CRC_LEN;
	tail = ddio_rd_begin((const uint8_t *)value + len, VALUE_CRC_LEN);
	return ddio_rd_u32(&tail) == ddio_crc32c(ddio_crc32c(0, key, key_len), value, len);
}

/* The same of a record of LMDB. */
static inline bool value_record_intact(const MDB_val *key, const MDB_val *value)
{
	return value_intact(key->mv_data, key->mv_size, value->mv_data, value->mv_size);
}

/* Returns a reader of the fields, which has failed if version or CRC are wrong. */
static inline struct ddio_coder value_reading(const void *key, size_t key_len, const void *value,
					      size_t len, uint32_t version)
{
	struct ddio_coder c = coder_reading(value, len);
	uint32_t got;

	code_check(&c, len >= VALUE_EXTRA && value_intact(key, key_len, value, len), -EUCLEAN);
	if (!coder_ok(&c))
		return c;
	c.r.left -= VALUE_CRC_LEN;
	code_u32(&c, &got);
	code_check(&c, got == version, -EUCLEAN);
	return c;
}

/* Returns 0 if exactly the fields were there, else -EUCLEAN, or -ENOMEM. */
static inline int value_end(struct ddio_coder *c)
{
	int err = ddio_rd_end(&c->r);

	return !err || err == -ENOMEM ? err : -EUCLEAN;
}

#endif /* DDIO_LMDB_VALUE_H */
