// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of the name space as bytes; see record.h. */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "iop/lmdb/key.h"
#include "iop/lmdb/value.h"
#include "iop/ns/record.h"
#include "proto/proto.h"

/* In a number of disks: they are 0, 1, ... */
#define IN_ORDER 0x80000000u
/* In a result's record, between its number and a reserved word. */
#define RESULT_MARK 0100000u

void ns_key(uint8_t key[NS_KEY_LEN], uint64_t id)
{
	rec_key(key, id);
}

bool ns_key_get(const void *key, size_t len, uint64_t *id)
{
	return rec_key_get(key, len, id);
}

size_t ns_name_key(uint8_t key[NS_NAME_KEY_MAX], uint64_t id, const char *name)
{
	size_t len = strnlen(name, DDIO_MAX_NAME);

	rec_key(key, id);
	memcpy(key + NS_KEY_LEN, name, len);
	return NS_KEY_LEN + len;
}

int ns_name_key_get(const void *key, size_t len, uint64_t *id, char name[DDIO_MAX_NAME + 1])
{
	const uint8_t *p = key;

	*id = 0;
	name[0] = '\0';
	if (len <= NS_KEY_LEN || len > NS_NAME_KEY_MAX)
		return -EUCLEAN;
	len -= NS_KEY_LEN;
	if (memchr(p + NS_KEY_LEN, 0, len))
		return -EUCLEAN;
	rec_key_get(p, NS_KEY_LEN, id);
	memcpy(name, p + NS_KEY_LEN, len);
	name[len] = '\0';
	return 0;
}

void ns_order_key(uint8_t key[NS_ORDER_KEY_LEN], uint64_t dir, uint64_t cookie)
{
	rec_key(key, dir);
	rec_key(key + NS_KEY_LEN, cookie);
}

bool ns_order_key_get(const void *key, size_t len, uint64_t *dir, uint64_t *cookie)
{
	const uint8_t *p = key;

	return len == NS_ORDER_KEY_LEN && rec_key_get(p, NS_KEY_LEN, dir) &&
	       rec_key_get(p + NS_KEY_LEN, NS_KEY_LEN, cookie);
}

void ns_done_key(uint8_t key[NS_DONE_KEY_LEN], const uint8_t *mount, uint64_t seq)
{
	memcpy(key, mount, DDIO_GROUP_ID_LEN);
	rec_key(key + DDIO_GROUP_ID_LEN, seq);
}

/*
 * What stands between version and CRC
 */
static void code_disks(struct ddio_coder *c, struct stripe *s)
{
	uint32_t i;

	if (c->reading)
		s->disks = code_alloc(c, s->ndisks, sizeof(*s->disks), sizeof(uint32_t));
	for (i = 0; s->disks && i < s->ndisks; i++)
		code_u32(c, &s->disks[i]);
}

static void code_stripe(struct ddio_coder *c, struct stripe *s)
{
	uint32_t n = s->ndisks | (s->disks ? 0 : IN_ORDER);

	code_u64(c, &s->seed);
	code_u32(c, &s->block);
	code_u32(c, &s->layout);
	code_u32(c, &n);
	if (c->reading)
		s->ndisks = n & ~IN_ORDER;
	code_check(c, s->ndisks <= DDIO_MAX_DISKS && s->layout < DDIO_LAYOUT_MAX_W, -EUCLEAN);
	code_check(c, !s->block || ddio_block_ok(s->block), -EUCLEAN);
	if (n & IN_ORDER)
		return;
	code_check(c, s->ndisks > 0, -EUCLEAN);
	code_disks(c, s);
}

static void code_target(struct ddio_coder *c, struct inode *in)
{
	if (c->reading)
		in->target = code_alloc(c, 1, DDIO_FS_TARGET_MAX + 1, sizeof(uint16_t));
	if (!in->target)
		return;
	code_str(c, in->target, DDIO_FS_TARGET_MAX + 1);
	code_check(c, in->target[0] != '\0', -EUCLEAN);
}

/* Who has changed a file's data last, by which leases, and in which epoch. */
static void code_writers(struct ddio_coder *c, struct inode *in)
{
	uint32_t n = 0, i;

	while (!c->reading && n < INODE_PAST && in->past[n].told)
		n++;
	code_u64(c, &in->epoch);
	code_u64(c, &in->writer);
	code_u64(c, &in->told);
	code_u32(c, &n);
	code_check(c, n <= INODE_PAST && (in->writer || !in->told), -EUCLEAN);
	for (i = 0; i < n && coder_ok(c); i++) {
		code_u64(c, &in->past[i].writer);
		code_u64(c, &in->past[i].told);
		code_check(c, in->past[i].writer && in->past[i].told, -EUCLEAN);
	}
}

static void code_inode(struct ddio_coder *c, struct inode *in)
{
	code_u32(c, &in->mode);
	code_u32(c, &in->nlink);
	code_u32(c, &in->uid);
	code_u32(c, &in->gid);
	code_u32(c, &in->flags);
	code_u64(c, &in->rdev);
	code_u64(c, &in->size);
	code_u64(c, &in->alloc);
	code_u64(c, &in->alloc_change);
	code_u64(c, &in->change);
	code_time(c, &in->atime);
	code_time(c, &in->mtime);
	code_time(c, &in->ctime);
	code_time(c, &in->btime);
	code_check(c, ddio_mode_ok(in->mode) && in->size <= DDIO_MAX_FILE, -EUCLEAN);
	if (!coder_ok(c))
		return;
	if (S_ISREG(in->mode) || S_ISDIR(in->mode))
		code_stripe(c, &in->stripe);
	code_check(c, S_ISREG(in->mode) || !(in->flags & INODE_FROZEN), -EUCLEAN);
	if (S_ISREG(in->mode)) {
		code_check(c, in->stripe.block && in->stripe.ndisks, -EUCLEAN);
		code_writers(c, in);
	}
	if (S_ISDIR(in->mode)) {
		code_u64(c, &in->parent);
		code_u64(c, &in->entries);
		code_u64(c, &in->cookie);
	}
	if (S_ISLNK(in->mode))
		code_target(c, in);
}

/* @name: it is part of the record. */
static void code_entry(struct ddio_coder *c, struct ns_entry *e, bool name)
{
	code_u64(c, &e->ino);
	code_u32(c, &e->type);
	code_u64(c, &e->cookie);
	code_check(c, e->ino && ddio_mode_ok(e->type) && !(e->type & 07777u), -EUCLEAN);
	if (!name)
		return;
	code_str(c, e->name, sizeof(e->name));
	code_check(c, e->name[0] && !strchr(e->name, '/'), -EUCLEAN);
}

static void code_result(struct ddio_coder *c, uint64_t *result)
{
	uint64_t above = *result + 1, unused = 0;
	uint32_t mark = RESULT_MARK;

	code_u64(c, &above);
	code_u32(c, &mark);
	code_u64(c, &unused);
	code_check(c, above && mark == RESULT_MARK, -EUCLEAN);
	*result = above - 1;
}

static void code_meta(struct ddio_coder *c, struct ns_meta *x)
{
	code_u64(c, &x->limit);
	code_str(c, x->cluster, sizeof(x->cluster));
}

/*
 * Records
 */
CODER_FLAT ssize_t ns_inode_put(void *buf, size_t cap, const struct inode *in)
{
	struct ddio_coder c = value_writing(buf, cap, NS_VERSION);
	uint8_t key[NS_KEY_LEN];

	ns_key(key, in->ino);
	code_inode(&c, (struct inode *)in);
	value_close(&c, key, sizeof(key));
	return ddio_wr_end(&c.w);
}

CODER_FLAT int ns_inode_get(uint64_t ino, const void *value, size_t len, struct inode *in)
{
	uint8_t key[NS_KEY_LEN];
	struct ddio_coder c;
	int ret;

	memset(in, 0, sizeof(*in));
	ns_key(key, ino);
	c = value_reading(key, sizeof(key), value, len, NS_VERSION);
	code_check(&c, ino, -EUCLEAN);
	in->ino = ino;
	code_inode(&c, in);
	ret = value_end(&c);
	if (ret)
		inode_free(in);
	return ret;
}

CODER_FLAT size_t ns_entry_put(uint8_t buf[NS_ENTRY_MAX], const void *key, size_t key_len,
			       const struct ns_entry *e, bool name)
{
	struct ddio_coder c = value_writing(buf, NS_ENTRY_MAX, NS_VERSION);

	code_entry(&c, (struct ns_entry *)e, name);
	value_close(&c, key, key_len);
	return c.w.len;
}

CODER_FLAT int ns_entry_get(const void *key, size_t key_len, const void *value, size_t len,
			    bool name, struct ns_entry *e)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, NS_VERSION);

	code_entry(&c, e, name);
	return value_end(&c);
}

void ns_bytes_put(uint8_t *buf, const void *key, size_t key_len, const void *data, size_t len)
{
	struct ddio_coder c = value_writing(buf, len + NS_BYTES_EXTRA, NS_VERSION);

	code_outside(&c, &data, len);
	value_close(&c, key, key_len);
}

int ns_bytes_get(const void *key, size_t key_len, const void *value, size_t len,
		 const uint8_t **data, size_t *data_len)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, NS_VERSION);

	*data = c.r.p;
	*data_len = c.r.left;
	return coder_ok(&c) ? 0 : -EUCLEAN;
}

void ns_result_put(uint8_t buf[NS_RESULT_LEN], const void *key, size_t key_len, uint64_t result)
{
	struct ddio_coder c = value_writing(buf, NS_RESULT_LEN, NS_VERSION);

	code_result(&c, &result);
	value_close(&c, key, key_len);
}

int ns_result_get(const void *key, size_t key_len, const void *value, size_t len, uint64_t *result)
{
	struct ddio_coder c = value_reading(key, key_len, value, len, NS_VERSION);

	*result = 0;
	code_result(&c, result);
	return value_end(&c);
}

size_t ns_meta_put(uint8_t value[NS_META_MAX], const struct ns_meta *meta)
{
	struct ddio_coder c = value_writing(value, NS_META_MAX, NS_VERSION);

	code_meta(&c, (struct ns_meta *)meta);
	value_close(&c, NS_META_KEY, strlen(NS_META_KEY));
	return c.w.len;
}

int ns_meta_get(const void *value, size_t len, struct ns_meta *meta)
{
	struct ddio_coder c =
		value_reading(NS_META_KEY, strlen(NS_META_KEY), value, len, NS_VERSION);

	if (!coder_ok(&c) && len >= VALUE_EXTRA && bytes_get32(value) != NS_VERSION &&
	    value_intact(NS_META_KEY, strlen(NS_META_KEY), value, len))
		return -EPROTONOSUPPORT;
	code_meta(&c, meta);
	return value_end(&c);
}
