// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of collectives. */
#include <stdlib.h>
#include "proto/codec.h"

enum { WANT_LEN = 16 };

#define COLL_FLAGS                                                              \
	(DDIO_COLL_WRITE | DDIO_COLL_SORT | DDIO_COLL_ROTATE | DDIO_COLL_SYNC | \
	 DDIO_COLL_NO_BATCH | DDIO_COLL_SATF)

/* A number of a file block that the largest file can have. */
static bool block_number_ok(uint64_t block)
{
	return block <= DDIO_MAX_FILE / DDIO_MIN_BLOCK;
}

void ddio_rd_member(struct ddio_rd *r, uint32_t rank, uint32_t size)
{
	ddio_rd_check(r, size <= DDIO_MAX_MEMBERS, -EMSGSIZE);
	ddio_rd_check(r, rank < size, -EINVAL);
}

ssize_t ddio_put_attach(void *buf, size_t cap, const struct ddio_msg_attach *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u32(&w, x->rank);
	ddio_wr_u32(&w, x->size);
	ddio_wr_u32(&w, x->handle);
	ddio_wr_u32(&w, x->reserved);
	return ddio_wr_end(&w);
}

int ddio_get_attach(const void *buf, size_t len, struct ddio_msg_attach *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->rank = ddio_rd_u32(&r);
	x->size = ddio_rd_u32(&r);
	x->handle = ddio_rd_u32(&r);
	x->reserved = 0;
	ddio_rd_reserved(&r);
	ddio_rd_member(&r, x->rank, x->size);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_coll_start(void *buf, size_t cap, const struct ddio_msg_coll_start *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u64(&w, x->op);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u32(&w, x->nprocs);
	ddio_wr_u32(&w, x->buffers);
	ddio_wr_u32(&w, x->reserved);
	ddio_wr_u64(&w, x->timeout_ns);
	ddio_wr_u64(&w, x->file_size);
	ddio_wr_record(&w, &x->file);
	ddio_wr_u32(&w, x->nparts);
	for (i = 0; i < x->nparts; i++)
		ddio_wr_part(&w, &x->parts[i]);
	return ddio_wr_end(&w);
}

/* One array for all, or for every process a description of its own, of one kind. */
static bool parts_agree(const struct ddio_msg_coll_start *x)
{
	uint32_t kind = 0, i;

	if (x->nparts == 1 && x->parts[0].kind == DDIO_PART_ARRAY)
		return true;
	if (x->nparts != x->nprocs)
		return false;
	for (i = 0; i < x->nparts; i++) {
		if (x->parts[i].kind == DDIO_PART_ARRAY)
			return false;
		if (!x->parts[i].n)
			continue;
		if (kind && x->parts[i].kind != kind)
			return false;
		kind = x->parts[i].kind;
	}
	return true;
}

static void rd_parts(struct ddio_rd *r, struct ddio_msg_coll_start *x)
{
	uint32_t n = ddio_rd_u32(r), i;

	ddio_rd_check(r, n == 1 || n == x->nprocs, -EINVAL);
	if (!ddio_rd_fits(r, n, DDIO_PART_MIN))
		return;
	x->parts = ddio_rd_alloc(r, n, sizeof(*x->parts));
	for (i = 0; i < n && !r->err; i++) {
		x->nparts = i + 1;
		/* Only one array can be right, and it has its place in @x. */
		ddio_rd_part(r, &x->parts[i], &x->array);
	}
	if (!r->err)
		ddio_rd_check(r, parts_agree(x), -EINVAL);
}

static void rd_coll_fixed(struct ddio_rd *r, struct ddio_msg_coll_start *x)
{
	ddio_rd_bytes(r, x->group, sizeof(x->group));
	x->op = ddio_rd_u64(r);
	x->flags = ddio_rd_u32(r);
	x->nprocs = ddio_rd_u32(r);
	x->buffers = ddio_rd_u32(r);
	ddio_rd_reserved(r);
	x->timeout_ns = ddio_rd_u64(r);
	x->file_size = ddio_rd_u64(r);
	ddio_rd_check(r, !(x->flags & ~COLL_FLAGS), -EPROTO);
	ddio_rd_check(r, x->op && x->nprocs, -EINVAL);
	ddio_rd_check(r, x->nprocs <= DDIO_MAX_MEMBERS && x->file_size <= DDIO_MAX_FILE, -EMSGSIZE);
}

int ddio_get_coll_start(const void *buf, size_t len, struct ddio_msg_coll_start *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	int err;

	memset(x, 0, sizeof(*x));
	rd_coll_fixed(&r, x);
	ddio_rd_record(&r, &x->file);
	rd_parts(&r, x);
	err = ddio_rd_end(&r);
	if (err)
		ddio_coll_start_free(x);
	return err;
}

void ddio_coll_start_free(struct ddio_msg_coll_start *start)
{
	uint32_t i;

	for (i = 0; i < start->nparts; i++) {
		start->parts[i].array = NULL; /* lies in @start */
		ddio_part_free(&start->parts[i]);
	}
	free(start->parts);
	start->parts = NULL;
	start->nparts = 0;
	ddio_file_record_free(&start->file);
}

ssize_t ddio_put_coll_data(void *buf, size_t cap, const struct ddio_msg_coll_data *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->op);
	ddio_wr_u64(&w, x->block);
	ddio_wr_u32(&w, x->handle);
	ddio_wr_u32(&w, x->disk);
	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	return ddio_wr_end(&w);
}

int ddio_get_coll_data(const void *buf, size_t len, struct ddio_msg_coll_data *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->op = ddio_rd_u64(&r);
	x->block = ddio_rd_u64(&r);
	x->handle = ddio_rd_u32(&r);
	x->disk = ddio_rd_u32(&r);
	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	ddio_rd_check(&r, x->op != 0, -EINVAL);
	ddio_rd_check(&r, block_number_ok(x->block), -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_coll_want(void *buf, size_t cap, const struct ddio_msg_coll_want *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u64(&w, x->op);
	ddio_wr_u32(&w, x->handle);
	ddio_wr_u32(&w, x->n);
	for (i = 0; i < x->n; i++) {
		ddio_wr_u64(&w, x->want[i].block);
		ddio_wr_u32(&w, x->want[i].disk);
		ddio_wr_u32(&w, x->want[i].reserved);
	}
	return ddio_wr_end(&w);
}

static void rd_want(struct ddio_rd *r, struct ddio_want *want)
{
	want->block = ddio_rd_u64(r);
	want->disk = ddio_rd_u32(r);
	want->reserved = 0;
	ddio_rd_reserved(r);
	ddio_rd_check(r, block_number_ok(want->block), -EMSGSIZE);
}

int ddio_get_coll_want(const void *buf, size_t len, struct ddio_msg_coll_want *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t i;
	int err;

	memset(x, 0, sizeof(*x));
	x->op = ddio_rd_u64(&r);
	x->handle = ddio_rd_u32(&r);
	x->n = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->op && x->n, -EINVAL);
	ddio_rd_check(&r, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (ddio_rd_fits(&r, x->n, WANT_LEN))
		x->want = ddio_rd_alloc(&r, x->n, sizeof(*x->want));
	for (i = 0; i < x->n && !r.err; i++)
		rd_want(&r, &x->want[i]);
	err = ddio_rd_end(&r);
	if (err) {
		free(x->want);
		x->want = NULL;
		x->n = 0;
	}
	return err;
}

ssize_t ddio_put_coll_done(void *buf, size_t cap, const struct ddio_msg_coll_done *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->op);
	ddio_wr_u32(&w, x->handle);
	ddio_wr_u32(&w, x->status);
	ddio_wr_u32(&w, x->reactor);
	ddio_wr_u32(&w, x->lost_rank);
	ddio_wr_u64(&w, x->bytes_needed);
	ddio_wr_u64(&w, x->disk_read);
	ddio_wr_u64(&w, x->disk_written);
	ddio_wr_u64(&w, x->disk_requests);
	ddio_wr_u64(&w, x->messages);
	ddio_wr_u64(&w, x->cache_blocks);
	ddio_wr_u64(&w, x->wait_disk_ns);
	ddio_wr_u64(&w, x->wait_members_ns);
	ddio_wr_u64(&w, x->elapsed_ns);
	ddio_wr_u64(&w, x->buffers);
	ddio_wr_u64(&w, x->scattered);
	ddio_wr_str(&w, x->text, sizeof(x->text));
	return ddio_wr_end(&w);
}

int ddio_get_coll_done(const void *buf, size_t len, struct ddio_msg_coll_done *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->op = ddio_rd_u64(&r);
	x->handle = ddio_rd_u32(&r);
	x->status = ddio_rd_u32(&r);
	x->reactor = ddio_rd_u32(&r);
	x->lost_rank = ddio_rd_u32(&r);
	x->bytes_needed = ddio_rd_u64(&r);
	x->disk_read = ddio_rd_u64(&r);
	x->disk_written = ddio_rd_u64(&r);
	x->disk_requests = ddio_rd_u64(&r);
	x->messages = ddio_rd_u64(&r);
	x->cache_blocks = ddio_rd_u64(&r);
	x->wait_disk_ns = ddio_rd_u64(&r);
	x->wait_members_ns = ddio_rd_u64(&r);
	x->elapsed_ns = ddio_rd_u64(&r);
	x->buffers = ddio_rd_u64(&r);
	x->scattered = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->text, sizeof(x->text));
	ddio_rd_check(&r, x->op && x->status < DDIO_ST_MAX, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_coll_abort(void *buf, size_t cap, const struct ddio_msg_coll_abort *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u64(&w, x->op);
	ddio_wr_u32(&w, x->status);
	ddio_wr_u32(&w, x->rank);
	return ddio_wr_end(&w);
}

int ddio_get_coll_abort(const void *buf, size_t len, struct ddio_msg_coll_abort *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->op = ddio_rd_u64(&r);
	x->status = ddio_rd_u32(&r);
	x->rank = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->status && x->status < DDIO_ST_MAX, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_joint(void *buf, size_t cap, const struct ddio_msg_joint *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_bytes(&w, x->token, sizeof(x->token));
	ddio_wr_str(&w, x->name, sizeof(x->name));
	return ddio_wr_end(&w);
}

int ddio_get_joint(const void *buf, size_t len, struct ddio_msg_joint *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	ddio_rd_bytes(&r, x->token, sizeof(x->token));
	ddio_rd_str(&r, x->name, sizeof(x->name));
	ddio_rd_check(&r, x->name[0] != '\0', -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_coll_join(void *buf, size_t cap, const struct ddio_msg_coll_join *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u64(&w, x->op);
	return ddio_wr_end(&w);
}

int ddio_get_coll_join(const void *buf, size_t len, struct ddio_msg_coll_join *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->op = ddio_rd_u64(&r);
	ddio_rd_check(&r, x->op != 0, -EINVAL);
	return ddio_rd_end(&r);
}
