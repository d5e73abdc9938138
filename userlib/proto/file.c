// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files: references and records, and the messages of the name space. */
#include <stdlib.h>
#include "proto/codec.h"

/* Below this many disks a stripe is searched for duplicates without sorting it. */
enum { FEW_DISKS = 32 };

void *ddio_rd_alloc(struct ddio_rd *r, uint64_t n, size_t size)
{
	void *p;

	if (r->err || !n)
		return NULL;
	p = calloc(n, size);
	if (!p)
		ddio_rd_fail(r, -ENOMEM);
	return p;
}

void ddio_wr_file_ref(struct ddio_wr *w, const struct ddio_file_ref *ref)
{
	ddio_wr_u64(w, ref->id);
	ddio_wr_u64(w, ref->seed);
	ddio_wr_u32(w, ref->block);
	ddio_wr_u32(w, ref->layout);
}

void ddio_rd_file_ref(struct ddio_rd *r, struct ddio_file_ref *ref)
{
	ref->id = ddio_rd_u64(r);
	ref->seed = ddio_rd_u64(r);
	ref->block = ddio_rd_u32(r);
	ref->layout = ddio_rd_u32(r);
}

bool ddio_block_ok(uint32_t block)
{
	return block >= DDIO_MIN_BLOCK && block <= DDIO_MAX_BLOCK && !(block & (block - 1));
}

bool ddio_file_ref_ok(const struct ddio_file_ref *ref)
{
	return ref->id && ddio_block_ok(ref->block) && ref->layout < DDIO_LAYOUT_MAX_W;
}

void ddio_wr_record(struct ddio_wr *w, const struct ddio_file_record *rec)
{
	uint32_t i;

	ddio_wr_file_ref(w, &rec->ref);
	ddio_wr_u64(w, rec->size);
	ddio_wr_u64(w, rec->ctime_ns);
	ddio_wr_u64(w, rec->mtime_ns);
	ddio_wr_u32(w, rec->dying);
	ddio_wr_u32(w, rec->ndisks);
	ddio_wr_str(w, rec->name, sizeof(rec->name));
	for (i = 0; i < rec->ndisks; i++)
		ddio_wr_u32(w, rec->disks[i]);
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int few_distinct(const uint32_t *disks, uint32_t n)
{
	uint32_t i, j;

	for (i = 1; i < n; i++)
		for (j = 0; j < i; j++)
			if (disks[i] == disks[j])
				return -EINVAL;
	return 0;
}

/* No disk may stand twice in a stripe. */
static int disks_distinct(const uint32_t *disks, uint32_t n)
{
	uint32_t *sorted, i;
	int err = 0;

	if (n <= FEW_DISKS)
		return few_distinct(disks, n);
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, disks, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_u32);
	for (i = 1; i < n && !err; i++)
		if (sorted[i] == sorted[i - 1])
			err = -EINVAL;
	free(sorted);
	return err;
}

static void rd_disks(struct ddio_rd *r, struct ddio_file_record *rec)
{
	uint32_t i;
	int err;

	ddio_rd_check(r, rec->ndisks > 0, -EINVAL);
	ddio_rd_check(r, rec->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (!ddio_rd_fits(r, rec->ndisks, sizeof(uint32_t)))
		return;
	rec->disks = ddio_rd_alloc(r, rec->ndisks, sizeof(*rec->disks));
	if (!rec->disks)
		return;
	for (i = 0; i < rec->ndisks; i++)
		rec->disks[i] = ddio_rd_u32(r);
	err = disks_distinct(rec->disks, rec->ndisks);
	ddio_rd_check(r, !err, err);
}

/* The identity is judged by the caller: a file to be created has none yet. */
static void rd_record_any(struct ddio_rd *r, struct ddio_file_record *rec)
{
	memset(rec, 0, sizeof(*rec));
	ddio_rd_file_ref(r, &rec->ref);
	rec->size = ddio_rd_u64(r);
	rec->ctime_ns = ddio_rd_u64(r);
	rec->mtime_ns = ddio_rd_u64(r);
	rec->dying = ddio_rd_u32(r);
	rec->ndisks = ddio_rd_u32(r);
	ddio_rd_str(r, rec->name, sizeof(rec->name));
	ddio_rd_check(r, ddio_block_ok(rec->ref.block), -EINVAL);
	ddio_rd_check(r, rec->ref.layout < DDIO_LAYOUT_MAX_W && rec->dying <= 1, -EINVAL);
	ddio_rd_check(r, rec->size <= DDIO_MAX_FILE, -EMSGSIZE);
	rd_disks(r, rec);
	if (r->err)
		ddio_file_record_free(rec);
}

void ddio_rd_record(struct ddio_rd *r, struct ddio_file_record *rec)
{
	rd_record_any(r, rec);
	ddio_rd_check(r, rec->ref.id != 0, -EINVAL);
	if (r->err)
		ddio_file_record_free(rec);
}

void ddio_file_record_free(struct ddio_file_record *rec)
{
	free(rec->disks);
	rec->disks = NULL;
	rec->ndisks = 0;
}

ssize_t ddio_put_record(void *buf, size_t cap, const struct ddio_file_record *rec)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_record(&w, rec);
	return ddio_wr_end(&w);
}

int ddio_get_record(const void *buf, size_t len, struct ddio_file_record *rec, size_t *used)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_record(&r, rec);
	if (!r.err && used)
		*used = len - r.left;
	return r.err;
}

ssize_t ddio_put_ns_create(void *buf, size_t cap, const struct ddio_msg_ns_create *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->flags);
	ddio_wr_u32(&w, x->mode);
	ddio_wr_u32(&w, x->uid);
	ddio_wr_u32(&w, x->gid);
	ddio_wr_str(&w, x->path, sizeof(x->path));
	ddio_wr_record(&w, &x->rec);
	return ddio_wr_end(&w);
}

int ddio_get_ns_create(const void *buf, size_t len, struct ddio_msg_ns_create *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	const struct ddio_file_record *rec = &x->rec;
	int err;

	x->flags = ddio_rd_u32(&r);
	x->mode = ddio_rd_u32(&r);
	x->uid = ddio_rd_u32(&r);
	x->gid = ddio_rd_u32(&r);
	ddio_rd_str(&r, x->path, sizeof(x->path));
	ddio_rd_check(&r, !(x->flags & ~(DDIO_NS_EXCL | DDIO_NS_DIR)), -EPROTO);
	ddio_rd_check(&r, x->path[0] && !(x->mode & ~0777u), -EINVAL);
	rd_record_any(&r, &x->rec);
	ddio_rd_check(&r, !rec->name[0] && !rec->ref.id && !rec->dying, -EINVAL);
	ddio_rd_check(&r, !rec->ctime_ns && !rec->mtime_ns, -EINVAL);
	err = ddio_rd_end(&r);
	if (err)
		ddio_file_record_free(&x->rec);
	return err;
}

ssize_t ddio_put_ns_name(void *buf, size_t cap, const struct ddio_msg_ns_name *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->id);
	ddio_wr_str(&w, x->path, sizeof(x->path));
	return ddio_wr_end(&w);
}

int ddio_get_ns_name(const void *buf, size_t len, struct ddio_msg_ns_name *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->id = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->path, sizeof(x->path));
	ddio_rd_check(&r, x->id || x->path[0], -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_ns_size(void *buf, size_t cap, const struct ddio_msg_ns_size *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->id);
	ddio_wr_u64(&w, x->size);
	return ddio_wr_end(&w);
}

int ddio_get_ns_size(const void *buf, size_t len, struct ddio_msg_ns_size *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->id = ddio_rd_u64(&r);
	x->size = ddio_rd_u64(&r);
	ddio_rd_check(&r, x->id != 0, -EINVAL);
	ddio_rd_check(&r, x->size <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_ns_list(void *buf, size_t cap, const struct ddio_msg_ns_list *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->max);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u64(&w, x->after_id);
	ddio_wr_str(&w, x->dir, sizeof(x->dir));
	ddio_wr_str(&w, x->after, sizeof(x->after));
	return ddio_wr_end(&w);
}

int ddio_get_ns_list(const void *buf, size_t len, struct ddio_msg_ns_list *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->max = ddio_rd_u32(&r);
	x->flags = ddio_rd_u32(&r);
	x->after_id = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->dir, sizeof(x->dir));
	ddio_rd_str(&r, x->after, sizeof(x->after));
	ddio_rd_check(&r, !(x->flags & ~DDIO_NS_ALL), -EPROTO);
	ddio_rd_check(&r, x->max > 0, -EINVAL);
	ddio_rd_check(&r, x->max <= DDIO_MAX_BATCH, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_ns_listing(void *buf, size_t cap, const struct ddio_msg_ns_listing *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->n);
	ddio_wr_u32(&w, x->more);
	for (i = 0; i < x->n; i++)
		ddio_wr_record(&w, &x->recs[i]);
	return ddio_wr_end(&w);
}

int ddio_get_ns_listing(const void *buf, size_t len, struct ddio_msg_ns_listing *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t n, i;
	int err;

	memset(x, 0, sizeof(*x));
	n = ddio_rd_u32(&r);
	x->more = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->more <= 1, -EINVAL);
	ddio_rd_check(&r, n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (ddio_rd_fits(&r, n, DDIO_RECORD_MIN))
		x->recs = ddio_rd_alloc(&r, n, sizeof(*x->recs));
	for (i = 0; i < n && !r.err; i++) {
		ddio_rd_record(&r, &x->recs[i]);
		x->n = i + 1;
	}
	err = ddio_rd_end(&r);
	if (err)
		ddio_ns_listing_free(x);
	return err;
}

void ddio_ns_listing_free(struct ddio_msg_ns_listing *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		ddio_file_record_free(&l->recs[i]);
	free(l->recs);
	l->recs = NULL;
	l->n = 0;
}
