// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a record of the object store or of the name space.  Byte 0 says
 * which; its high bit has the CRC corrected first, so that what lies behind
 * that check is reached.  Byte 1 is the length of the key, which comes before
 * the value.  What is read must give the same record when it is written and
 * read again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/ns/acl.h"
#include "iop/kv/journal.h"
#include "iop/ns/priv.h"
#include "iop/store/record.h"
#include "iop/sums/record.h"

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

/* The CRC at the end covers key and value; for a label no key. */
static void fix_tail(struct input *in, bool with_key)
{
	uint32_t crc = with_key ? ddio_crc32c(0, in->key, in->key_len) : 0;

	if (in->len >= 4)
		put_crc(in->value + in->len - 4, ddio_crc32c(crc, in->value, in->len - 4));
}

static void label(struct input *in)
{
	uint8_t buf[LABEL_LEN], again[LABEL_LEN];
	struct label rec, twin;

	if (in->len == LABEL_LEN && in->key_len)
		fix_tail(in, false);
	if (rec_label_get(in->value, in->len, &rec))
		return;
	rec_label_put(buf, &rec);
	if (rec_label_get(buf, sizeof(buf), &twin))
		abort();
	rec_label_put(again, &twin);
	if (memcmp(buf, again, sizeof(buf)))
		abort();
}

static void object(struct input *in)
{
	uint8_t buf[REC_OBJECT_LEN];
	struct rec_object rec;

	if (rec_object_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	rec_object_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void extent(struct input *in)
{
	uint8_t buf[REC_EXTENT_LEN];
	struct rec_extent rec;

	if (rec_extent_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	rec_extent_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
	if (rec_extent_within(&rec, 8192, 1ull << 40) &&
	    (rec.start + rec.count * 8192 > 1ull << 40 || rec.start < LABEL_SPACE))
		abort();
}

static void space(struct input *in)
{
	uint8_t buf[REC_FREE_LEN];
	struct rec_free rec;

	if (rec_free_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	rec_free_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void pending(struct input *in)
{
	uint8_t buf[REC_PENDING_LEN];
	struct rec_pending rec;

	if (rec_pending_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	rec_pending_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void shared(struct input *in)
{
	uint8_t buf[REC_SHARED_LEN];
	struct rec_shared rec;

	if (rec_shared_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	rec_shared_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void sums(struct input *in)
{
	uint8_t buf[REC_SUMS_MAX];
	struct rec_sums rec;

	if (rec_sums_get(in->key, in->key_len, in->value, in->len, &rec))
		return;
	if (rec_sums_put(buf, &rec) != in->len || memcmp(buf, in->value, in->len))
		abort();
}

static void scrub(struct input *in)
{
	uint8_t buf[REC_SCRUB_LEN];
	struct rec_scrub rec;

	if (rec_scrub_get(in->value, in->len, &rec))
		return;
	rec_scrub_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void ends(struct input *in)
{
	uint8_t buf[REC_ENDS_LEN];
	struct ddio_ends rec;

	if (rec_ends_get(in->value, in->len, &rec))
		return;
	if (rec.n > DDIO_ENDS)
		abort();
	rec_ends_put(buf, &rec);
	if (in->len != sizeof(buf) || memcmp(buf, in->value, sizeof(buf)))
		abort();
}

static void inode(struct input *in)
{
	struct inode rec;
	uint8_t *value;
	uint64_t ino;

	if (!ns_key_get(in->key, in->key_len, &ino) || ns_inode_get(ino, in->value, in->len, &rec))
		return;
	value = malloc(in->len);
	if (!value || ns_inode_put(value, in->len, &rec) != (ssize_t)in->len ||
	    memcmp(value, in->value, in->len))
		abort();
	free(value);
	inode_free(&rec);
}

/* An entry by its name, one of the order, the value of an attribute. */
static void entry(struct input *in)
{
	uint8_t key[NS_NAME_KEY_MAX], buf[NS_ENTRY_MAX];
	char text[DDIO_MAX_NAME + 1];
	struct ns_entry e;
	const uint8_t *data;
	uint64_t id;
	size_t len;
	int named;

	if (!ns_name_key_get(in->key, in->key_len, &id, text) &&
	    (ns_name_key(key, id, text) != in->key_len || memcmp(key, in->key, in->key_len)))
		abort();
	for (named = 0; named < 2; named++) {
		memset(&e, 0, sizeof(e));
		if (ns_entry_get(in->key, in->key_len, in->value, in->len, named, &e))
			continue;
		if (ns_entry_put(buf, in->key, in->key_len, &e, named) != in->len ||
		    memcmp(buf, in->value, in->len))
			abort();
	}
	if (!ns_bytes_get(in->key, in->key_len, in->value, in->len, &data, &len) &&
	    (len > in->len || data < in->value || data + len > in->value + in->len))
		abort();
}

/* A record of the journal: whatever it says lies within it. */
static void journal(struct input *in, bool fix)
{
	size_t total, at = KV_JOURNAL_HEAD;
	struct kv_op op;
	uint64_t seq;

	if (fix && in->len >= KV_JOURNAL_HEAD) {
		put_crc(in->value, (uint32_t)in->len - KV_JOURNAL_HEAD);
		put_crc(in->value + 4, ddio_crc32c(0, in->value + 8, in->len - 8));
	}
	if (kv_record_head(in->value, in->len, &seq, &total))
		return;
	if (total > in->len)
		abort();
	while (!kv_record_next(in->value, total, &at, &op))
		if (op.key + op.key_len > in->value + total ||
		    op.value + op.len > in->value + total)
			abort();
}

/* An access control list: the value alone. */
static void acl(struct input *in)
{
	struct acl *list, *again;
	uint32_t mode = 0;
	uint8_t *value;

	if (acl_get(in->value, in->len, &list) || !list)
		return;
	acl_to_mode(list, &mode);
	value = malloc(acl_len(list));
	if (!value)
		abort();
	acl_put(list, value);
	if (acl_get(value, acl_len(list), &again) || !again || again->n != list->n ||
	    memcmp(again->e, list->e, list->n * sizeof(list->e[0])))
		abort();
	acl_chmod(list, 0751);
	acl_inherit(list, &mode);
	free(value);
	free(again);
	free(list);
}

static void meta(struct input *in)
{
	uint8_t buf[NS_META_MAX];
	struct ns_meta rec;

	if (ns_meta_get(in->value, in->len, &rec))
		return;
	if (ns_meta_put(buf, &rec) != in->len || memcmp(buf, in->value, in->len))
		abort();
}

static void fix_meta(struct input *in, const char *key)
{
	free(in->key);
	in->key_len = strlen(key);
	in->key = malloc(in->key_len);
	if (!in->key)
		abort();
	memcpy(in->key, key, in->key_len);
	fix_tail(in, true);
}

static void dispatch(struct input *in, uint8_t kind)
{
	bool fix = kind & 0x80;

	kind &= 15;
	if (fix && ((kind >= 1 && kind <= 5) || kind == 9))
		fix_tail(in, true);
	if (fix && (kind == 6 || kind == 10 || kind == 11))
		fix_meta(in, kind == 6	  ? NS_META_KEY
			     : kind == 10 ? STORE_SCRUB_KEY
					  : STORE_ENDS_KEY);
	switch (kind) {
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
		inode(in);
		break;
	case 5:
		entry(in);
		break;
	case 6:
		meta(in);
		break;
	case 7:
		journal(in, fix);
		break;
	case 8:
		acl(in);
		break;
	case 9:
		sums(in);
		pending(in);
		shared(in);
		break;
	case 10:
		scrub(in);
		break;
	case 11:
		ends(in);
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
