// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/store/record.h"
#include "proto/cursor.h"
#include "proto/proto.h"

#define LABEL_MAGIC "DDIODISK"
#define LABEL_MAGIC_LEN 8
#define CRC_LEN 4
/* In an extent's number of blocks: they have never been written. */
#define COUNT_UNWRITTEN (UINT64_C(1) << 63)

void rec_extent_key(uint8_t key[REC_EXTENT_KEY_LEN], uint64_t id, uint64_t block)
{
	rec_key(key, id);
	rec_key(key + REC_KEY_LEN, block);
}

/* Writes the last field of every value. */
static void put_crc(struct ddio_wr *w, const void *key, size_t key_len)
{
	ddio_wr_u32(w, ddio_crc32c(ddio_crc32c(0, key, key_len), w->buf, w->len));
}

/* Checks length, CRC and version; leaves @r after the version. */
static int value_open(struct ddio_rd *r, const void *key, size_t key_len, const void *value,
		      size_t len, size_t want)
{
	uint32_t crc;

	if (len != want)
		return -EUCLEAN;
	*r = ddio_rd_begin((const uint8_t *)value + want - CRC_LEN, CRC_LEN);
	crc = ddio_rd_u32(r);
	if (crc != ddio_crc32c(ddio_crc32c(0, key, key_len), value, want - CRC_LEN))
		return -EUCLEAN;
	*r = ddio_rd_begin(value, want - CRC_LEN);
	return ddio_rd_u32(r) == REC_VERSION ? 0 : -EUCLEAN;
}

static void put_text(struct ddio_wr *w, const char *text)
{
	char buf[LABEL_TEXT] = "";

	memcpy(buf, text, strnlen(text, sizeof(buf) - 1));
	ddio_wr_bytes(w, buf, sizeof(buf));
}

void rec_label_put(uint8_t buf[LABEL_LEN], const struct label *label)
{
	struct ddio_wr w = ddio_wr_begin(buf, LABEL_LEN);

	ddio_wr_bytes(&w, LABEL_MAGIC, LABEL_MAGIC_LEN);
	ddio_wr_u32(&w, REC_VERSION);
	ddio_wr_u32(&w, label->disk);
	ddio_wr_u64(&w, label->size);
	ddio_wr_bytes(&w, label->uuid, sizeof(label->uuid));
	ddio_wr_u32(&w, label->flags);
	put_text(&w, label->cluster);
	put_text(&w, label->name);
	put_crc(&w, NULL, 0);
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return !len || (!*p && !memcmp(p, p + 1, len - 1));
}

int rec_label_get(const void *buf, size_t len, struct label *label)
{
	struct ddio_rd r;
	uint32_t crc, version;

	memset(label, 0, sizeof(*label));
	if (all_zero(buf, len))
		return -ENOENT;
	if (len < LABEL_LEN || memcmp(buf, LABEL_MAGIC, LABEL_MAGIC_LEN))
		return -EMEDIUMTYPE;
	r = ddio_rd_begin((const uint8_t *)buf + LABEL_LEN - CRC_LEN, CRC_LEN);
	crc = ddio_rd_u32(&r);
	r = ddio_rd_begin((const uint8_t *)buf + LABEL_MAGIC_LEN, LABEL_LEN - LABEL_MAGIC_LEN);
	version = ddio_rd_u32(&r);
	if (crc != ddio_crc32c(0, buf, LABEL_LEN - CRC_LEN))
		return -EUCLEAN;
	if (version != REC_VERSION)
		return -EPROTONOSUPPORT;
	label->disk = ddio_rd_u32(&r);
	label->size = ddio_rd_u64(&r);
	ddio_rd_bytes(&r, label->uuid, sizeof(label->uuid));
	label->flags = ddio_rd_u32(&r);
	ddio_rd_bytes(&r, label->cluster, sizeof(label->cluster));
	ddio_rd_bytes(&r, label->name, sizeof(label->name));
	if (label->cluster[LABEL_TEXT - 1] || label->name[LABEL_TEXT - 1])
		return -EUCLEAN;
	return 0;
}

void rec_object_put(uint8_t value[REC_OBJECT_LEN], const struct rec_object *rec)
{
	struct ddio_wr w = ddio_wr_begin(value, REC_OBJECT_LEN);
	uint8_t key[REC_KEY_LEN];

	rec_key(key, rec->id);
	ddio_wr_u32(&w, REC_VERSION);
	ddio_wr_u32(&w, rec->block);
	ddio_wr_u32(&w, rec->layout);
	ddio_wr_u64(&w, rec->seed);
	put_crc(&w, key, sizeof(key));
}

int rec_object_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_object *rec)
{
	struct ddio_rd r;

	memset(rec, 0, sizeof(*rec));
	if (!rec_key_get(key, key_len, &rec->id))
		return -EUCLEAN;
	if (value_open(&r, key, key_len, value, len, REC_OBJECT_LEN))
		return -EUCLEAN;
	rec->block = ddio_rd_u32(&r);
	rec->layout = ddio_rd_u32(&r);
	rec->seed = ddio_rd_u64(&r);
	if (rec->block < DDIO_MIN_BLOCK || rec->block > DDIO_MAX_BLOCK ||
	    (rec->block & (rec->block - 1)) || rec->layout >= DDIO_LAYOUT_MAX_W)
		return -EUCLEAN;
	return 0;
}

void rec_extent_put(uint8_t value[REC_EXTENT_LEN], const struct rec_extent *rec)
{
	struct ddio_wr w = ddio_wr_begin(value, REC_EXTENT_LEN);
	uint8_t key[REC_EXTENT_KEY_LEN];

	rec_extent_key(key, rec->id, rec->block);
	ddio_wr_u32(&w, REC_VERSION);
	ddio_wr_u64(&w, rec->start);
	ddio_wr_u64(&w, rec->count | (rec->unwritten ? COUNT_UNWRITTEN : 0));
	put_crc(&w, key, sizeof(key));
}

int rec_extent_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_extent *rec)
{
	struct ddio_rd r;

	memset(rec, 0, sizeof(*rec));
	if (key_len != REC_EXTENT_KEY_LEN)
		return -EUCLEAN;
	rec_key_get(key, REC_KEY_LEN, &rec->id);
	rec_key_get((const uint8_t *)key + REC_KEY_LEN, REC_KEY_LEN, &rec->block);
	if (value_open(&r, key, key_len, value, len, REC_EXTENT_LEN))
		return -EUCLEAN;
	rec->start = ddio_rd_u64(&r);
	rec->count = ddio_rd_u64(&r);
	rec->unwritten = rec->count & COUNT_UNWRITTEN;
	rec->count &= ~COUNT_UNWRITTEN;
	return rec->count && rec->block + rec->count > rec->block ? 0 : -EUCLEAN;
}

void rec_free_put(uint8_t value[REC_FREE_LEN], const struct rec_free *rec)
{
	struct ddio_wr w = ddio_wr_begin(value, REC_FREE_LEN);
	uint8_t key[REC_KEY_LEN];

	rec_key(key, rec->start);
	ddio_wr_u32(&w, REC_VERSION);
	ddio_wr_u64(&w, rec->len);
	put_crc(&w, key, sizeof(key));
}

int rec_free_get(const void *key, size_t key_len, const void *value, size_t len,
		 struct rec_free *rec)
{
	struct ddio_rd r;

	memset(rec, 0, sizeof(*rec));
	if (!rec_key_get(key, key_len, &rec->start))
		return -EUCLEAN;
	if (value_open(&r, key, key_len, value, len, REC_FREE_LEN))
		return -EUCLEAN;
	rec->len = ddio_rd_u64(&r);
	return rec->len && rec->start + rec->len > rec->start ? 0 : -EUCLEAN;
}

bool rec_extent_within(const struct rec_extent *rec, uint32_t block, uint64_t size)
{
	return rec->start >= LABEL_SPACE && rec->start <= size &&
	       rec->start % DDIO_MIN_BLOCK == 0 && rec->count <= (size - rec->start) / block;
}
