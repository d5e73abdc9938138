// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of the name space as bytes; see record.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/lmdb/key.h"
#include "iop/ns/record.h"
#include "proto/cursor.h"
#include "proto/proto.h"

enum { CRC_LEN = 4 };
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

/* Appends the CRC of the key and what has been written. */
static void wr_crc(struct ddio_wr *w, const void *key, size_t key_len)
{
	uint32_t crc = 0;

	if (w->buf && !w->over) {
		crc = ddio_crc32c(0, key, key_len);
		crc = ddio_crc32c(crc, w->buf, w->len);
	}
	ddio_wr_u32(w, crc);
}

/* Returns a reader of the bytes between version and CRC, with its error set if these are wrong. */
static struct ddio_rd rd_value(const void *key, size_t key_len, const void *value, size_t len)
{
	struct ddio_rd r = ddio_rd_begin(value, len), tail;
	uint32_t crc = 0;

	if (len < 2 * CRC_LEN) {
		ddio_rd_fail(&r, -EUCLEAN);
		return r;
	}
	tail = ddio_rd_begin((const uint8_t *)value + len - CRC_LEN, CRC_LEN);
	crc = ddio_crc32c(ddio_crc32c(0, key, key_len), value, len - CRC_LEN);
	r.left -= CRC_LEN;
	ddio_rd_check(&r, ddio_rd_u32(&tail) == crc && ddio_rd_u32(&r) == NS_VERSION, -EUCLEAN);
	return r;
}

static void wr_stripe(struct ddio_wr *w, const struct stripe *s)
{
	uint32_t i;

	ddio_wr_u64(w, s->seed);
	ddio_wr_u32(w, s->block);
	ddio_wr_u32(w, s->layout);
	ddio_wr_u32(w, s->ndisks | (s->disks ? 0 : IN_ORDER));
	for (i = 0; s->disks && i < s->ndisks; i++)
		ddio_wr_u32(w, s->disks[i]);
}

static void rd_stripe(struct ddio_rd *r, struct stripe *s)
{
	uint32_t n, i;

	s->seed = ddio_rd_u64(r);
	s->block = ddio_rd_u32(r);
	s->layout = ddio_rd_u32(r);
	n = ddio_rd_u32(r);
	s->ndisks = n & ~IN_ORDER;
	ddio_rd_check(r, s->ndisks <= DDIO_MAX_DISKS && s->layout < DDIO_LAYOUT_MAX_W, -EUCLEAN);
	ddio_rd_check(r, !s->block || ddio_block_ok(s->block), -EUCLEAN);
	if (n & IN_ORDER || !ddio_rd_fits(r, s->ndisks, sizeof(uint32_t)))
		return;
	ddio_rd_check(r, s->ndisks > 0, -EUCLEAN);
	s->disks = ddio_rd_alloc(r, s->ndisks, sizeof(*s->disks));
	for (i = 0; s->disks && i < s->ndisks; i++)
		s->disks[i] = ddio_rd_u32(r);
}

ssize_t ns_inode_put(void *buf, size_t cap, const struct inode *in)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint8_t key[NS_KEY_LEN];

	ns_key(key, in->ino);
	ddio_wr_u32(&w, NS_VERSION);
	ddio_wr_u32(&w, in->mode);
	ddio_wr_u32(&w, in->nlink);
	ddio_wr_u32(&w, in->uid);
	ddio_wr_u32(&w, in->gid);
	ddio_wr_u32(&w, in->flags);
	ddio_wr_u64(&w, in->rdev);
	ddio_wr_u64(&w, in->size);
	ddio_wr_u64(&w, in->alloc);
	ddio_wr_u64(&w, in->alloc_change);
	ddio_wr_u64(&w, in->change);
	ddio_wr_time(&w, &in->atime);
	ddio_wr_time(&w, &in->mtime);
	ddio_wr_time(&w, &in->ctime);
	ddio_wr_time(&w, &in->btime);
	if (S_ISREG(in->mode) || S_ISDIR(in->mode))
		wr_stripe(&w, &in->stripe);
	if (S_ISDIR(in->mode)) {
		ddio_wr_u64(&w, in->parent);
		ddio_wr_u64(&w, in->entries);
		ddio_wr_u64(&w, in->cookie);
	}
	if (S_ISLNK(in->mode))
		ddio_wr_str(&w, in->target, DDIO_FS_TARGET_MAX + 1);
	wr_crc(&w, key, sizeof(key));
	return ddio_wr_end(&w);
}

static void rd_target(struct ddio_rd *r, struct inode *in)
{
	in->target = ddio_rd_alloc(r, 1, DDIO_FS_TARGET_MAX + 1);
	if (!in->target)
		return;
	ddio_rd_str(r, in->target, DDIO_FS_TARGET_MAX + 1);
	ddio_rd_check(r, in->target[0] != '\0', -EUCLEAN);
}

static void rd_inode(struct ddio_rd *r, struct inode *in)
{
	in->mode = ddio_rd_u32(r);
	in->nlink = ddio_rd_u32(r);
	in->uid = ddio_rd_u32(r);
	in->gid = ddio_rd_u32(r);
	in->flags = ddio_rd_u32(r);
	in->rdev = ddio_rd_u64(r);
	in->size = ddio_rd_u64(r);
	in->alloc = ddio_rd_u64(r);
	in->alloc_change = ddio_rd_u64(r);
	in->change = ddio_rd_u64(r);
	ddio_rd_time(r, &in->atime);
	ddio_rd_time(r, &in->mtime);
	ddio_rd_time(r, &in->ctime);
	ddio_rd_time(r, &in->btime);
	ddio_rd_check(r, ddio_mode_ok(in->mode) && in->size <= DDIO_MAX_FILE, -EUCLEAN);
	if (r->err)
		return;
	if (S_ISREG(in->mode) || S_ISDIR(in->mode))
		rd_stripe(r, &in->stripe);
	if (S_ISREG(in->mode))
		ddio_rd_check(r, in->stripe.block && in->stripe.ndisks, -EUCLEAN);
	if (S_ISDIR(in->mode)) {
		in->parent = ddio_rd_u64(r);
		in->entries = ddio_rd_u64(r);
		in->cookie = ddio_rd_u64(r);
	}
	if (S_ISLNK(in->mode))
		rd_target(r, in);
}

int ns_inode_get(uint64_t ino, const void *value, size_t len, struct inode *in)
{
	uint8_t key[NS_KEY_LEN];
	struct ddio_rd r;
	int ret;

	memset(in, 0, sizeof(*in));
	ns_key(key, ino);
	r = rd_value(key, sizeof(key), value, len);
	in->ino = ino;
	if (!r.err)
		rd_inode(&r, in);
	ret = ddio_rd_end(&r);
	if (!ret && ino)
		return 0;
	inode_free(in);
	return ret == -ENOMEM ? ret : -EUCLEAN;
}

size_t ns_entry_put(uint8_t buf[NS_ENTRY_MAX], const void *key, size_t key_len,
		    const struct ns_entry *e, bool name)
{
	struct ddio_wr w = ddio_wr_begin(buf, NS_ENTRY_MAX);

	ddio_wr_u32(&w, NS_VERSION);
	ddio_wr_u64(&w, e->ino);
	ddio_wr_u32(&w, e->type);
	ddio_wr_u64(&w, e->cookie);
	if (name)
		ddio_wr_str(&w, e->name, sizeof(e->name));
	wr_crc(&w, key, key_len);
	return w.len;
}

int ns_entry_get(const void *key, size_t key_len, const void *value, size_t len, bool name,
		 struct ns_entry *e)
{
	struct ddio_rd r = rd_value(key, key_len, value, len);

	e->ino = ddio_rd_u64(&r);
	e->type = ddio_rd_u32(&r);
	e->cookie = ddio_rd_u64(&r);
	if (name)
		ddio_rd_str(&r, e->name, sizeof(e->name));
	ddio_rd_check(&r, e->ino && ddio_mode_ok(e->type) && !(e->type & 07777u), -EUCLEAN);
	ddio_rd_check(&r, !name || (e->name[0] && !strchr(e->name, '/')), -EUCLEAN);
	return ddio_rd_end(&r) ? -EUCLEAN : 0;
}

void ns_bytes_put(uint8_t *buf, const void *key, size_t key_len, const void *data, size_t len)
{
	struct ddio_wr w = ddio_wr_begin(buf, len + NS_BYTES_EXTRA);

	ddio_wr_u32(&w, NS_VERSION);
	ddio_wr_bytes(&w, data, len);
	wr_crc(&w, key, key_len);
}

int ns_bytes_get(const void *key, size_t key_len, const void *value, size_t len,
		 const uint8_t **data, size_t *data_len)
{
	struct ddio_rd r = rd_value(key, key_len, value, len);

	*data = r.p;
	*data_len = r.left;
	return r.err ? -EUCLEAN : 0;
}

void ns_result_put(uint8_t buf[NS_RESULT_LEN], const void *key, size_t key_len, uint64_t result)
{
	struct ddio_wr w = ddio_wr_begin(buf, NS_RESULT_LEN);

	ddio_wr_u32(&w, NS_VERSION);
	ddio_wr_u64(&w, result + 1);
	ddio_wr_u32(&w, RESULT_MARK);
	ddio_wr_u64(&w, 0);
	wr_crc(&w, key, key_len);
}

int ns_result_get(const void *key, size_t key_len, const void *value, size_t len, uint64_t *result)
{
	struct ddio_rd r = rd_value(key, key_len, value, len);

	*result = ddio_rd_u64(&r) - 1;
	ddio_rd_check(&r, *result != UINT64_MAX && ddio_rd_u32(&r) == RESULT_MARK, -EUCLEAN);
	ddio_rd_u64(&r);
	return ddio_rd_end(&r) ? -EUCLEAN : 0;
}

size_t ns_meta_put(uint8_t value[NS_META_MAX], const struct ns_meta *meta)
{
	struct ddio_wr w = ddio_wr_begin(value, NS_META_MAX);

	ddio_wr_u32(&w, NS_VERSION);
	ddio_wr_u64(&w, meta->limit);
	ddio_wr_str(&w, meta->cluster, sizeof(meta->cluster));
	wr_crc(&w, NS_META_KEY, strlen(NS_META_KEY));
	return w.len;
}

int ns_meta_get(const void *value, size_t len, struct ns_meta *meta)
{
	struct ddio_rd r = rd_value(NS_META_KEY, strlen(NS_META_KEY), value, len);

	meta->limit = ddio_rd_u64(&r);
	ddio_rd_str(&r, meta->cluster, sizeof(meta->cluster));
	return ddio_rd_end(&r) ? -EUCLEAN : 0;
}
