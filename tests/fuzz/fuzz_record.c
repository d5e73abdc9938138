// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a record of the object store or of the name space.  Byte 0 says
 * which; its high bit has the CRC put right first, so that what lies behind
 * that check is reached.  Byte 1 is the length of the key, which comes before
 * the value.  What is read must give the same record when it is written and
 * read again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/ns_priv.h"
#include "iop/store_record.h"

#define MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * struct input - one record; key and value are copies, so that reading beyond them shows
 */
struct input {
	uint8_t *key, *value;
	size_t key_len, len;
};

static void put_crc(uint8_t *at, uint32_t crc)
{
	at[0] = (uint8_t)crc;
	at[1] = (uint8_t)(crc >> 8);
	at[2] = (uint8_t)(crc >> 16);
	at[3] = (uint8_t)(crc >> 24);
}

/* The CRC at the end covers key and value; for a label and the name space's own record no key. */
static void fix_tail(struct input *in, bool with_key)
{
	uint32_t crc = with_key ? ddio_crc32c(0, in->key, in->key_len) : 0;

	if (in->len >= 4)
		put_crc(in->value + in->len - 4, ddio_crc32c(crc, in->value, in->len - 4));
}

static void label(struct input *in)
{
	uint8_t buf[DDIO_LABEL_LEN], again[DDIO_LABEL_LEN];
	struct ddio_label rec, twin;

	if (in->len == DDIO_LABEL_LEN && in->key_len)
		fix_tail(in, false);
	if (ddio_rec_label_get(in->value, in->len, &rec))
		return;
	ddio_rec_label_put(buf, &rec);
	if (ddio_rec_label_get(buf, sizeof(buf), &twin))
		abort();
	ddio_rec_label_put(again, &twin);
	if (memcmp(buf, again, sizeof(buf)))
		abort();
}

static void object(struct input *in)
{
	uint8_t buf[DDIO_REC_OBJECT_LEN];
	struct ddio_rec_object rec;

	if (ddio_rec_object_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	ddio_rec_object_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void extent(struct input *in)
{
	uint8_t buf[DDIO_REC_EXTENT_LEN];
	struct ddio_rec_extent rec;

	if (ddio_rec_extent_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	ddio_rec_extent_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
	if (ddio_rec_extent_within(&rec, 8192, 1ull << 40) &&
	    (rec.start + rec.count * 8192 > 1ull << 40 || rec.start < DDIO_LABEL_SPACE))
		abort();
}

static void space(struct input *in)
{
	uint8_t buf[DDIO_REC_FREE_LEN];
	struct ddio_rec_free rec;

	if (ddio_rec_free_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	ddio_rec_free_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void file(struct input *in, bool fix)
{
	struct ddio_file_record rec;
	uint8_t *value;
	size_t len;
	int ret;

	if (fix && in->len >= DDIO_NS_FILE_PREFIX)
		put_crc(in->value + 4, ddio_crc32c(ddio_crc32c(0, in->key, in->key_len),
						   in->value + DDIO_NS_FILE_PREFIX,
						   in->len - DDIO_NS_FILE_PREFIX));
	if (ddio_ns_file_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	ret = ddio_ns_file_put(&rec, &value, &len);
	if (ret || len != in->len || memcmp(value, in->value, len))
		abort();
	free(value);
	ddio_file_record_free(&rec);
}

static void name(struct input *in)
{
	uint8_t key[DDIO_NS_NAME_KEY_MAX];
	char text[DDIO_MAX_NAME + 1];
	uint64_t id;

	if (ddio_ns_name_get(in->key, in->key_len, text, &id))
		return;
	if (ddio_ns_name_key(key, text, id) != in->key_len || memcmp(key, in->key, in->key_len))
		abort();
}

static void meta(struct input *in)
{
	uint8_t buf[DDIO_NS_META_MAX];
	struct ddio_ns_meta rec;

	if (ddio_ns_meta_get(in->value, in->len, &rec))
		return;
	if (ddio_ns_meta_put(buf, &rec) != in->len || memcmp(buf, in->value, in->len))
		abort();
}

static void dispatch(struct input *in, uint8_t kind)
{
	bool fix = kind & 0x80;

	if (fix && kind % 8 >= 1 && kind % 8 <= 3)
		fix_tail(in, true);
	if (fix && kind % 8 == 6)
		fix_tail(in, false);
	switch (kind % 8) {
	case 0:
		label(in);
		break;
	case 1:
		object(in);
		break;
	case 2:
		extent(in);
		break;
	case 3:
		space(in);
		break;
	case 4:
		file(in, fix);
		break;
	case 5:
		name(in);
		break;
	case 6:
		meta(in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in;

	if (size < 2 || size > MAX || data[1] > size - 2)
		return 0;
	in.key_len = data[1];
	in.len = size - 2 - in.key_len;
	in.key = malloc(in.key_len ? in.key_len : 1);
	in.value = malloc(in.len ? in.len : 1);
	if (in.key && in.value) {
		memcpy(in.key, data + 2, in.key_len);
		memcpy(in.value, data + 2 + in.key_len, in.len);
		dispatch(&in, data[0]);
	}
	free(in.key);
	free(in.value);
	return 0;
}
