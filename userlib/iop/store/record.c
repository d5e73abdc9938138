// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include "iop/lmdb/value.h"
#include "iop/store/record.h"
#include "proto/proto.h"

#define LABEL_MAGIC "DDIODISK"
#define LABEL_MAGIC_LEN 8
/* In an extent's number of blocks: they have never been written. */
#define COUNT_UNWRITTEN (UINT64_C(1) << 63)
/* In an object's layout: it is frozen. */
#define LAYOUT_FROZEN 0x80000000u
/* Where a lost extent is said to be: outside the disk. */
#define START_LOST UINT64_MAX

void rec_extent_key(uint8_t key[REC_EXTENT_KEY_LEN], uint64_t id, uint64_t block)
{
	rec_key(key, id);
	rec_key(key + REC_KEY_LEN, block);
}

/* A text of LABEL_TEXT bytes, the last of which is 0. */
static void code_text(struct ddio_coder *c, char *text)
{
	char buf[LABEL_TEXT] = "";

	if (!c->reading)
		memcpy(buf, text, strnlen(text, sizeof(buf) - 1));
	code_bytes(c, buf, sizeof(buf));
	code_check(c, !buf[sizeof(buf) - 1], -EUCLEAN);
	if (c->reading)
		memcpy(text, buf, sizeof(buf));
}

/* What stands between version and CRC. */
static void code_label(struct ddio_coder *c, struct label *x)
{
	code_u32(c, &x->disk);
	code_u64(c, &x->size);
	code_bytes(c, x->uuid, sizeof(x->uuid));
	code_flags(c, &x->flags, LABEL_FLAGS);
	code_text(c, x->cluster);
	code_text(c, x->name);
	code_u64(c, &x->life);
}

void rec_label_put(uint8_t buf[LABEL_LEN], const struct label *label)
{
	struct ddio_coder c = coder_writing(buf, LABEL_LEN);
	uint32_t version = LABEL_VERSION;

	code_bytes(&c, LABEL_MAGIC, LABEL_MAGIC_LEN);
	code_u32(&c, &version);
	code_label(&c, (struct label *)label);
	value_close(&c, NULL, 0);
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return !len || (!*p && !memcmp(p, p + 1, len - 1));
}

int rec_label_get(const void *buf, size_t len, struct label *label)
{
	struct ddio_coder c;
	uint32_t version;

	memset(label, 0, sizeof(*label));
	if (all_zero(buf, len))
		return -ENOENT;
	if (len < LABEL_LEN || memcmp(buf, LABEL_MAGIC, LABEL_MAGIC_LEN))
		return -EMEDIUMTYPE;
	c = coder_reading((const uint8_t *)buf + LABEL_MAGIC_LEN, len - LABEL_MAGIC_LEN);
	code_u32(&c, &version);
	if (!value_intact(NULL, 0, buf, LABEL_LEN))
		return -EUCLEAN;
	if (version != LABEL_VERSION)
		return -EPROTONOSUPPORT;
	c.r.left = LABEL_LEN - LABEL_MAGIC_LEN - sizeof(version) - VALUE_CRC_LEN;
	code_label(&c, label);
	return value_end(&c);
}

#define LIFE_KNOWN 1u
#define LIFE_ENDED 2u

static void code_life(struct ddio_coder *c, struct rec_life *x)
{
	struct lives *of = &x->of;
	uint32_t flags = (of->known ? LIFE_KNOWN : 0) | (of->ended ? LIFE_ENDED : 0), i;

	code_flags(c, &flags, LIFE_KNOWN | LIFE_ENDED);
	if (c->reading) {
		of->known = flags & LIFE_KNOWN;
		of->ended = flags & LIFE_ENDED;
	}
	code_u64(c, &of->life);
	code_u64(c, &of->from);
	code_u32(c, &of->n);
	for (i = 0; i < DDIO_LIVES; i++)
		code_u64(c, &of->before[i]);
	code_u64(c, &x->names);
	code_u64(c, &x->change);
	code_u64(c, &x->lost);
	code_check(c, of->life && of->n <= DDIO_LIVES, -EUCLEAN);
}

void rec_life_put(uint8_t value[REC_LIFE_LEN], const struct rec_life *rec)
{
	struct ddio_coder c = value_writing(value, REC_LIFE_LEN, REC_VERSION);

	code_life(&c, (struct rec_life *)rec);
	value_close(&c, STORE_LIFE_KEY, strlen(STORE_LIFE_KEY));
}

int rec_life_get(const void *value, size_t len, struct rec_life *rec)
{
	struct ddio_coder c =
		value_reading(STORE_LIFE_KEY, strlen(STORE_LIFE_KEY), value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_life(&c, rec);
	return value_end(&c);
}

static void code_scrub(struct ddio_coder *c, struct rec_scrub *x)
{
	code_flags(c, &x->flags, REC_SCRUB_FLAGS);
	code_u64(c, &x->begun);
	code_u64(c, &x->ended);
	code_u64(c, &x->at);
	code_u64(c, &x->until);
	code_u64(c, &x->done);
	code_u64(c, &x->bad);
	code_u64(c, &x->unread);
	code_u64(c, &x->given);
}

void rec_scrub_put(uint8_t value[REC_SCRUB_LEN], const struct rec_scrub *rec)
{
	struct ddio_coder c = value_writing(value, REC_SCRUB_LEN, REC_VERSION);

	code_scrub(&c, (struct rec_scrub *)rec);
	value_close(&c, STORE_SCRUB_KEY, strlen(STORE_SCRUB_KEY));
}

int rec_scrub_get(const void *value, size_t len, struct rec_scrub *rec)
{
	struct ddio_coder c =
		value_reading(STORE_SCRUB_KEY, strlen(STORE_SCRUB_KEY), value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_scrub(&c, rec);
	return value_end(&c);
}

/* Behind the last one there are zeros. */
static void code_ends(struct ddio_coder *c, struct ddio_ends *x)
{
	uint64_t boot;
	uint32_t i;

	for (i = 0; i < DDIO_ENDS; i++) {
		boot = i < x->n ? x->boot[i] : 0;
		code_u64(c, &boot);
		if (!c->reading || !boot)
			continue;
		code_check(c, x->n == i, -EUCLEAN);
		x->boot[i] = boot;
		x->n = i + 1;
	}
}

void rec_ends_put(uint8_t value[REC_ENDS_LEN], const struct ddio_ends *rec)
{
	struct ddio_coder c = value_writing(value, REC_ENDS_LEN, REC_VERSION);

	code_ends(&c, (struct ddio_ends *)rec);
	value_close(&c, STORE_ENDS_KEY, strlen(STORE_ENDS_KEY));
}

int rec_ends_get(const void *value, size_t len, struct ddio_ends *rec)
{
	struct ddio_coder c =
		value_reading(STORE_ENDS_KEY, strlen(STORE_ENDS_KEY), value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_ends(&c, rec);
	return value_end(&c);
}

static void code_object(struct ddio_coder *c, struct rec_object *x)
{
	uint32_t layout = x->layout | (x->frozen ? LAYOUT_FROZEN : 0);

	code_u32(c, &x->block);
	code_u32(c, &layout);
	code_u64(c, &x->seed);
	if (c->reading) {
		x->frozen = layout & LAYOUT_FROZEN;
		x->layout = layout & ~LAYOUT_FROZEN;
	}
	code_check(c, ddio_block_ok(x->block) && x->layout < DDIO_LAYOUT_MAX_W, -EUCLEAN);
}

CODER_FLAT void rec_object_put(uint8_t value[REC_OBJECT_LEN], const struct rec_object *rec)
{
	struct ddio_coder c = value_writing(value, REC_OBJECT_LEN, REC_VERSION);
	uint8_t key[REC_KEY_LEN];

	rec_key(key, rec->id);
	code_object(&c, (struct rec_object *)rec);
	value_close(&c, key, sizeof(key));
}

CODER_FLAT int rec_object_get(const void *key, size_t key_len, const void *value, size_t len,
			      struct rec_object *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_check(&c, rec_key_get(key, key_len, &rec->id), -EUCLEAN);
	code_object(&c, rec);
	return value_end(&c);
}

static void code_extent(struct ddio_coder *c, struct rec_extent *x)
{
	uint64_t count = x->count | (x->unwritten ? COUNT_UNWRITTEN : 0);
	uint64_t start = x->lost ? START_LOST : x->start;

	code_u64(c, &start);
	code_u64(c, &count);
	if (!c->reading)
		return;
	x->start = start;
	x->lost = start == START_LOST;
	x->unwritten = count & COUNT_UNWRITTEN;
	x->count = count & ~COUNT_UNWRITTEN;
	code_check(c, x->count && x->block + x->count > x->block, -EUCLEAN);
}

CODER_FLAT void rec_extent_put(uint8_t value[REC_EXTENT_LEN], const struct rec_extent *rec)
{
	struct ddio_coder c = value_writing(value, REC_EXTENT_LEN, REC_VERSION);
	uint8_t key[REC_EXTENT_KEY_LEN];

	rec_extent_key(key, rec->id, rec->block);
	code_extent(&c, (struct rec_extent *)rec);
	value_close(&c, key, sizeof(key));
}

CODER_FLAT int rec_extent_get(const void *key, size_t key_len, const void *value, size_t len,
			      struct rec_extent *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	if (key_len != REC_EXTENT_KEY_LEN)
		return -EUCLEAN;
	rec_key_get(key, REC_KEY_LEN, &rec->id);
	rec_key_get((const uint8_t *)key + REC_KEY_LEN, REC_KEY_LEN, &rec->block);
	code_extent(&c, rec);
	return value_end(&c);
}

static void code_free(struct ddio_coder *c, struct rec_free *x)
{
	code_u64(c, &x->len);
	code_check(c, x->len && x->start + x->len > x->start, -EUCLEAN);
}

CODER_FLAT void rec_free_put(uint8_t value[REC_FREE_LEN], const struct rec_free *rec)
{
	struct ddio_coder c = value_writing(value, REC_FREE_LEN, REC_VERSION);
	uint8_t key[REC_KEY_LEN];

	rec_key(key, rec->start);
	code_free(&c, (struct rec_free *)rec);
	value_close(&c, key, sizeof(key));
}

CODER_FLAT int rec_free_get(const void *key, size_t key_len, const void *value, size_t len,
			    struct rec_free *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_check(&c, rec_key_get(key, key_len, &rec->start), -EUCLEAN);
	code_free(&c, rec);
	return value_end(&c);
}

void rec_pending_key(uint8_t key[REC_PENDING_KEY_LEN], uint64_t epoch, uint64_t id)
{
	rec_key(key, epoch);
	rec_key(key + REC_KEY_LEN, id);
}

static void code_pending(struct ddio_coder *c, struct rec_pending *x)
{
	code_u64(c, &x->shadow);
	code_u64(c, &x->seed);
	code_u32(c, &x->block);
	code_u32(c, &x->layout);
	code_check(c,
		   x->shadow & REC_SHADOW && x->id && !(x->id & REC_SHADOW) &&
			   ddio_block_ok(x->block) && x->layout < DDIO_LAYOUT_MAX_W,
		   -EUCLEAN);
}

void rec_pending_put(uint8_t value[REC_PENDING_LEN], const struct rec_pending *rec)
{
	struct ddio_coder c = value_writing(value, REC_PENDING_LEN, REC_VERSION);
	uint8_t key[REC_PENDING_KEY_LEN];

	rec_pending_key(key, rec->epoch, rec->id);
	code_pending(&c, (struct rec_pending *)rec);
	value_close(&c, key, sizeof(key));
}

int rec_pending_get(const void *key, size_t key_len, const void *value, size_t len,
		    struct rec_pending *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	if (key_len != REC_PENDING_KEY_LEN)
		return -EUCLEAN;
	rec_key_get(key, REC_KEY_LEN, &rec->epoch);
	rec_key_get((const uint8_t *)key + REC_KEY_LEN, REC_KEY_LEN, &rec->id);
	code_pending(&c, rec);
	return value_end(&c);
}

static void code_shared(struct ddio_coder *c, struct rec_shared *x)
{
	code_u64(c, &x->len);
	code_u64(c, &x->more);
	code_check(c, x->len && x->more && x->start + x->len > x->start, -EUCLEAN);
}

void rec_shared_put(uint8_t value[REC_SHARED_LEN], const struct rec_shared *rec)
{
	struct ddio_coder c = value_writing(value, REC_SHARED_LEN, REC_VERSION);
	uint8_t key[REC_KEY_LEN];

	rec_key(key, rec->start);
	code_shared(&c, (struct rec_shared *)rec);
	value_close(&c, key, sizeof(key));
}

int rec_shared_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_shared *rec)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, REC_VERSION);

	memset(rec, 0, sizeof(*rec));
	code_check(&c, rec_key_get(key, key_len, &rec->start), -EUCLEAN);
	code_shared(&c, rec);
	return value_end(&c);
}

bool rec_extent_within(const struct rec_extent *rec, uint32_t block, uint64_t size)
{
	return rec->start >= LABEL_SPACE && rec->start <= size &&
	       rec->start % DDIO_MIN_BLOCK == 0 && rec->count <= (size - rec->start) / block;
}
