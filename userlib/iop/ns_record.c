// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of the name space as bytes.  Pure; the readers take any bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/ns_priv.h"
#include "iop/store_record.h"
#include "proto/cursor.h"

void ddio_ns_key(uint8_t key[DDIO_NS_KEY_LEN], uint64_t id)
{
	ddio_rec_key(key, id);
}

size_t ddio_ns_name_key(uint8_t key[DDIO_NS_NAME_KEY_MAX], const char *name, uint64_t id)
{
	size_t len = strnlen(name, DDIO_MAX_NAME);

	memcpy(key, name, len);
	key[len] = 0;
	ddio_rec_key(key + len + 1, id);
	return len + 1 + DDIO_REC_KEY_LEN;
}

int ddio_ns_name_get(const void *key, size_t key_len, char name[DDIO_MAX_NAME + 1], uint64_t *id)
{
	size_t len;

	*id = 0;
	name[0] = '\0';
	if (key_len < 2 + DDIO_REC_KEY_LEN || key_len > DDIO_NS_NAME_KEY_MAX)
		return -EUCLEAN;
	len = key_len - 1 - DDIO_REC_KEY_LEN;
	if (memchr(key, 0, len) || ((const uint8_t *)key)[len])
		return -EUCLEAN;
	memcpy(name, key, len);
	name[len] = '\0';
	ddio_rec_key_get((const uint8_t *)key + len + 1, DDIO_REC_KEY_LEN, id);
	return 0;
}

static uint32_t file_crc(const void *key, const uint8_t *record, size_t len)
{
	return ddio_crc32c(ddio_crc32c(0, key, DDIO_NS_KEY_LEN), record, len);
}

int ddio_ns_file_put(const struct ddio_file_record *rec, uint8_t **value, size_t *len)
{
	ssize_t need = ddio_put_record(NULL, 0, rec);
	uint8_t key[DDIO_NS_KEY_LEN];
	struct ddio_wr w;

	if (need < 0)
		return -EINVAL;
	*len = DDIO_NS_FILE_PREFIX + (size_t)need;
	*value = malloc(*len);
	if (!*value)
		return -ENOMEM;
	ddio_put_record(*value + DDIO_NS_FILE_PREFIX, (size_t)need, rec);
	ddio_ns_key(key, rec->ref.id);
	w = ddio_wr_begin(*value, DDIO_NS_FILE_PREFIX);
	ddio_wr_u32(&w, DDIO_NS_VERSION);
	ddio_wr_u32(&w, file_crc(key, *value + DDIO_NS_FILE_PREFIX, (size_t)need));
	return 0;
}

int ddio_ns_file_get(const void *key, size_t key_len, const void *value, size_t len,
		     struct ddio_file_record *rec)
{
	const uint8_t *record = (const uint8_t *)value + DDIO_NS_FILE_PREFIX;
	struct ddio_rd r = ddio_rd_begin(value, len);
	uint32_t version = ddio_rd_u32(&r), crc = ddio_rd_u32(&r);
	size_t used;
	uint64_t id;
	int ret;

	memset(rec, 0, sizeof(*rec));
	if (r.err || version != DDIO_NS_VERSION || !ddio_rec_key_get(key, key_len, &id))
		return -EUCLEAN;
	len -= DDIO_NS_FILE_PREFIX;
	if (crc != file_crc(key, record, len))
		return -EUCLEAN;
	ret = ddio_get_record(record, len, rec, &used);
	if (ret)
		return ret == -ENOMEM ? ret : -EUCLEAN;
	if (rec->ref.id == id && used == len && rec->name[0])
		return 0;
	ddio_file_record_free(rec);
	memset(rec, 0, sizeof(*rec));
	return -EUCLEAN;
}

size_t ddio_ns_meta_put(uint8_t value[DDIO_NS_META_MAX], const struct ddio_ns_meta *meta)
{
	struct ddio_wr w = ddio_wr_begin(value, DDIO_NS_META_MAX);

	ddio_wr_u32(&w, DDIO_NS_VERSION);
	ddio_wr_u64(&w, meta->limit);
	ddio_wr_str(&w, meta->cluster, sizeof(meta->cluster));
	ddio_wr_u32(&w, ddio_crc32c(0, value, w.len));
	return w.len;
}

int ddio_ns_meta_get(const void *value, size_t len, struct ddio_ns_meta *meta)
{
	struct ddio_rd r = ddio_rd_begin(value, len);
	uint32_t version = ddio_rd_u32(&r), crc;

	meta->limit = ddio_rd_u64(&r);
	ddio_rd_str(&r, meta->cluster, sizeof(meta->cluster));
	crc = ddio_rd_u32(&r);
	if (ddio_rd_end(&r) || version != DDIO_NS_VERSION)
		return -EUCLEAN;
	return crc == ddio_crc32c(0, value, len - sizeof(crc)) ? 0 : -EUCLEAN;
}
