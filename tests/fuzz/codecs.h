/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every codec of the protocol behind one shape, a maker of random valid
 * contents for each, and which message carries which: for the round-trip
 * tests, the fuzzers and their seed corpus.
 */
#ifndef DDIO_TEST_CODECS_H
#define DDIO_TEST_CODECS_H

#include <stdlib.h>
#include <string.h>
#include "proto/proto.h"

struct rnd {
	uint64_t x;
};

static inline uint64_t rnd_u64(struct rnd *r)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return r->x * 0x2545f4914f6cdd1dull;
}

static inline uint64_t rnd_below(struct rnd *r, uint64_t n)
{
	return rnd_u64(r) % n;
}

static inline void rnd_bytes(struct rnd *r, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)(rnd_u64(r) >> 56);
}

/* A string of @min to @size - 1 bytes, often one of these two lengths. */
static inline void rnd_str(struct rnd *r, char *s, size_t size, size_t min)
{
	size_t n = min + rnd_below(r, size - min), i;

	switch (rnd_below(r, 4)) {
	case 0:
		n = min;
		break;
	case 1:
		n = size - 1;
		break;
	}
	for (i = 0; i < n; i++)
		s[i] = (char)(1 + rnd_below(r, 255));
	s[n] = '\0';
}

static inline void *rnd_array(size_t n, size_t size)
{
	void *p = n ? calloc(n, size) : NULL;

	if (n && !p)
		abort();
	return p;
}

static inline void gen_file_ref(struct rnd *r, struct ddio_file_ref *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->seed = rnd_u64(r);
	x->block = DDIO_MIN_BLOCK << rnd_below(r, 16);
	x->layout = (uint32_t)rnd_below(r, DDIO_LAYOUT_MAX_W);
}

static inline void gen_record(struct rnd *r, struct ddio_file_record *x)
{
	uint32_t i;

	gen_file_ref(r, &x->ref);
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
	x->ctime_ns = rnd_u64(r);
	x->mtime_ns = rnd_u64(r);
	x->dying = (uint32_t)rnd_below(r, 2);
	x->ndisks = 1 + (uint32_t)rnd_below(r, 50);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++)
		x->disks[i] = i * 7919 + (uint32_t)rnd_below(r, 7919);
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_strided(struct rnd *r, struct ddio_strided *x)
{
	uint32_t i;

	x->offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->len = rnd_below(r, 1u << 20);
	x->nlevels = (uint32_t)rnd_below(r, DDIO_MAX_DIMS + 1);
	for (i = 0; i < x->nlevels; i++) {
		x->level[i].count = 1 + rnd_u64(r) / 2;
		x->level[i].stride = (int64_t)(rnd_u64(r) / 2);
	}
}

static inline void gen_array(struct rnd *r, struct ddio_array *x)
{
	uint32_t i;

	x->file_offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->elem_size = 1 + rnd_below(r, 4096);
	x->ndims = 1 + (uint32_t)rnd_below(r, DDIO_MAX_DIMS);
	for (i = 0; i < x->ndims; i++) {
		x->dim[i].size = rnd_u64(r);
		x->dim[i].start = rnd_u64(r);
		x->dim[i].count = rnd_u64(r);
		x->dim[i].stride = rnd_u64(r);
		x->dim[i].procs = rnd_u64(r);
		x->dim[i].k = rnd_u64(r);
		x->dim[i].dist = (uint32_t)rnd_below(r, DDIO_ALL + 1);
	}
}

/* @kind 0: any. */
static inline void gen_part(struct rnd *r, struct ddio_part *x, uint32_t kind)
{
	struct ddio_strided *s;
	struct ddio_extent *e;
	struct ddio_array *a;
	uint64_t i;

	x->kind = kind ? kind : 1 + (uint32_t)rnd_below(r, 3);
	if (x->kind == DDIO_PART_ARRAY) {
		x->array = a = rnd_array(1, sizeof(*a));
		gen_array(r, a);
		return;
	}
	x->n = rnd_below(r, 4);
	if (x->kind == DDIO_PART_STRIDED) {
		x->strided = s = rnd_array(x->n, sizeof(*s));
		for (i = 0; i < x->n; i++)
			gen_strided(r, &s[i]);
		return;
	}
	x->list = e = rnd_array(x->n, sizeof(*e));
	for (i = 0; i < x->n; i++) {
		e[i].offset = rnd_below(r, DDIO_MAX_FILE + 1);
		e[i].len = rnd_below(r, DDIO_MAX_FILE + 1 - e[i].offset);
	}
}

static inline void gen_hello(struct rnd *r, struct ddio_msg_hello *x)
{
	x->min_version = 1 + (uint16_t)rnd_below(r, 100);
	x->max_version = x->min_version + (uint16_t)rnd_below(r, 100);
	x->role = 1 + (uint32_t)rnd_below(r, 3);
	x->features = rnd_u64(r);
	x->reactor = (uint32_t)rnd_u64(r);
	x->rank = (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	rnd_bytes(r, x->nonce, sizeof(x->nonce));
	rnd_bytes(r, x->group, sizeof(x->group));
	rnd_str(r, x->cluster, sizeof(x->cluster), 0);
}

static inline void gen_challenge(struct rnd *r, struct ddio_msg_challenge *x)
{
	x->version = 1 + (uint16_t)rnd_below(r, 100);
	x->keyed = (uint16_t)rnd_below(r, 2);
	x->features = rnd_u64(r);
	rnd_bytes(r, x->nonce, sizeof(x->nonce));
	rnd_bytes(r, x->proof, sizeof(x->proof));
}

static inline void gen_proof(struct rnd *r, struct ddio_msg_proof *x)
{
	rnd_bytes(r, x->proof, sizeof(x->proof));
}

static inline void gen_welcome(struct rnd *r, struct ddio_msg_welcome *x)
{
	struct ddio_welcome_disk *d;
	uint32_t i;

	x->node = (uint32_t)rnd_u64(r);
	x->nreactors = 1 + (uint32_t)rnd_below(r, 64);
	x->reactor = (uint32_t)rnd_below(r, x->nreactors);
	x->boot = rnd_u64(r);
	rnd_str(r, x->name, sizeof(x->name), 0);
	x->ndisks = (uint32_t)rnd_below(r, 6);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++) {
		d = &x->disks[i];
		d->disk = (uint32_t)rnd_u64(r);
		d->reactor = (uint32_t)rnd_below(r, x->nreactors);
		d->sector = 1u << rnd_below(r, 13);
		d->size = rnd_below(r, DDIO_MAX_FILE + 1);
		d->peak = rnd_u64(r);
		d->scale_ppm = rnd_u64(r);
	}
}

static inline void gen_refuse(struct rnd *r, struct ddio_msg_refuse *x)
{
	x->status = 1 + (uint32_t)rnd_below(r, 1000);
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_ns_create(struct rnd *r, struct ddio_msg_ns_create *x)
{
	x->flags = (uint32_t)rnd_below(r, 2) * DDIO_NS_EXCL;
	x->mode = (uint32_t)rnd_below(r, 01000);
	x->uid = (uint32_t)rnd_u64(r);
	x->gid = (uint32_t)rnd_u64(r);
	rnd_str(r, x->path, sizeof(x->path), 1);
	gen_record(r, &x->rec);
	x->rec.ref.id = x->rec.ctime_ns = x->rec.mtime_ns = x->rec.dying = 0;
	memset(x->rec.name, 0, sizeof(x->rec.name));
}

static inline void gen_ns_name(struct rnd *r, struct ddio_msg_ns_name *x)
{
	x->id = rnd_below(r, 2) * (1 + rnd_u64(r) / 2);
	rnd_str(r, x->path, sizeof(x->path), !x->id);
}

static inline void gen_ns_size(struct rnd *r, struct ddio_msg_ns_size *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
}

static inline void gen_ns_list(struct rnd *r, struct ddio_msg_ns_list *x)
{
	x->max = 1 + (uint32_t)rnd_below(r, DDIO_MAX_BATCH);
	x->flags = (uint32_t)rnd_below(r, 2);
	x->after_id = rnd_u64(r);
	rnd_str(r, x->dir, sizeof(x->dir), 0);
	rnd_str(r, x->after, sizeof(x->after), 0);
}

static inline void gen_ns_listing(struct rnd *r, struct ddio_msg_ns_listing *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 5);
	x->more = (uint32_t)rnd_below(r, 2);
	x->recs = rnd_array(x->n, sizeof(*x->recs));
	for (i = 0; i < x->n; i++)
		gen_record(r, &x->recs[i]);
}

static inline void gen_obj(struct rnd *r, struct ddio_msg_obj *x)
{
	if (rnd_below(r, 4))
		gen_file_ref(r, &x->file);
	x->disk = (uint32_t)rnd_u64(r);
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_OBJ_ZERO);
	x->offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->len = rnd_below(r, DDIO_MAX_FILE + 1 - x->offset);
}

static inline void gen_obj_data(struct rnd *r, struct ddio_msg_obj_data *x)
{
	x->len = rnd_below(r, DDIO_MAX_BULK + 1);
	x->hit = (uint32_t)rnd_below(r, 2);
	x->disk_reqs = (uint32_t)rnd_u64(r);
}

static inline void gen_extents(struct rnd *r, struct ddio_msg_extents *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 20);
	x->more = (uint32_t)rnd_below(r, 2);
	x->ext = rnd_array(x->n, sizeof(*x->ext));
	for (i = 0; i < x->n; i++) {
		x->ext[i].block = rnd_below(r, 1ull << 53);
		x->ext[i].start = rnd_below(r, DDIO_MAX_FILE + 1);
		x->ext[i].count = 1 + rnd_below(r, 1ull << 53);
		x->ext[i].flags = (uint32_t)rnd_below(r, 2);
	}
}

static inline void gen_obj_list(struct rnd *r, struct ddio_msg_obj_list *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 40);
	x->more = (uint32_t)rnd_below(r, 2);
	x->ids = rnd_array(x->n, sizeof(*x->ids));
	for (i = 0; i < x->n; i++)
		x->ids[i] = 1 + rnd_u64(r) / 2;
}

static inline void gen_fsck(struct rnd *r, struct ddio_msg_fsck *x)
{
	rnd_bytes(r, x, offsetof(struct ddio_msg_fsck, text));
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_attach(struct rnd *r, struct ddio_msg_attach *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->size = 1 + (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	x->rank = (uint32_t)rnd_below(r, x->size);
	x->handle = (uint32_t)rnd_u64(r);
}

static inline void gen_coll_start(struct rnd *r, struct ddio_msg_coll_start *x)
{
	uint32_t kind = 1 + (uint32_t)rnd_below(r, 3), i;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = 1 + rnd_u64(r) / 2;
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_COLL_SATF);
	x->buffers = (uint32_t)rnd_u64(r);
	x->timeout_ns = rnd_u64(r);
	x->file_size = rnd_below(r, DDIO_MAX_FILE + 1);
	gen_record(r, &x->file);
	x->nprocs = 1 + (uint32_t)rnd_below(r, kind == DDIO_PART_ARRAY ? DDIO_MAX_MEMBERS : 10);
	x->nparts = kind == DDIO_PART_ARRAY ? 1 : x->nprocs;
	x->parts = rnd_array(x->nparts, sizeof(*x->parts));
	if (kind == DDIO_PART_ARRAY) {
		gen_array(r, &x->array);
		x->parts[0].kind = kind;
		x->parts[0].array = &x->array;
		return;
	}
	for (i = 0; i < x->nparts; i++)
		gen_part(r, &x->parts[i], kind);
}

static inline void gen_coll_data(struct rnd *r, struct ddio_msg_coll_data *x)
{
	x->op = 1 + rnd_u64(r) / 2;
	x->block = rnd_below(r, 1ull << 53);
	x->handle = (uint32_t)rnd_u64(r);
	x->disk = (uint32_t)rnd_u64(r);
	rnd_bytes(r, x->group, sizeof(x->group));
}

static inline void gen_coll_want(struct rnd *r, struct ddio_msg_coll_want *x)
{
	uint32_t i;

	x->op = 1 + rnd_u64(r) / 2;
	x->handle = (uint32_t)rnd_u64(r);
	x->n = 1 + (uint32_t)rnd_below(r, 30);
	x->want = rnd_array(x->n, sizeof(*x->want));
	for (i = 0; i < x->n; i++) {
		x->want[i].block = rnd_below(r, 1ull << 53);
		x->want[i].disk = (uint32_t)rnd_u64(r);
	}
}

static inline void gen_coll_done(struct rnd *r, struct ddio_msg_coll_done *x)
{
	rnd_bytes(r, x, offsetof(struct ddio_msg_coll_done, text));
	x->op |= 1;
	x->status %= DDIO_ST_MAX;
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_coll_abort(struct rnd *r, struct ddio_msg_coll_abort *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r);
	x->status = 1 + (uint32_t)rnd_below(r, DDIO_ST_MAX - 1);
	x->rank = (uint32_t)rnd_u64(r);
}

static inline void gen_joint(struct rnd *r, struct ddio_msg_joint *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	rnd_bytes(r, x->token, sizeof(x->token));
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_coll_join(struct rnd *r, struct ddio_msg_coll_join *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r) | 1;
}

static inline void gen_status(struct rnd *r, struct ddio_msg_status *x)
{
	struct ddio_disk_status *d;
	uint32_t i;

	x->node = (uint32_t)rnd_u64(r);
	x->nreactors = (uint32_t)rnd_u64(r);
	x->boot = rnd_u64(r);
	x->uptime_ns = rnd_u64(r);
	x->collectives = rnd_u64(r);
	x->requests = rnd_u64(r);
	x->connections = rnd_u64(r);
	x->refused = rnd_u64(r);
	x->memory_bytes = rnd_u64(r);
	rnd_str(r, x->name, sizeof(x->name), 0);
	x->ndisks = (uint32_t)rnd_below(r, 4);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++) {
		d = &x->disks[i];
		rnd_bytes(r, d, sizeof(*d));
		rnd_str(r, d->name, sizeof(d->name), 0);
		rnd_str(r, d->engine, sizeof(d->engine), 0);
	}
}

static inline void gen_group_join(struct rnd *r, struct ddio_msg_group_join *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->size = 1 + (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	x->rank = (uint32_t)rnd_below(r, x->size);
	rnd_str(r, x->addr, sizeof(x->addr), 0);
}

static inline void gen_group_table(struct rnd *r, struct ddio_msg_group_table *x)
{
	uint32_t i;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->n = 1 + (uint32_t)rnd_below(r, 20);
	x->entry = rnd_array(x->n, sizeof(*x->entry));
	for (i = 0; i < x->n; i++) {
		x->entry[i].rank = i * 101 + (uint32_t)rnd_below(r, 101);
		rnd_str(r, x->entry[i].addr, sizeof(x->entry[i].addr), 0);
	}
	x->size = x->entry[x->n - 1].rank + 1 + (uint32_t)rnd_below(r, 1000);
}

static inline void gen_fan(struct rnd *r, struct ddio_msg_fan *x)
{
	static uint8_t data[300];

	rnd_bytes(r, x, offsetof(struct ddio_msg_fan, text));
	x->rank %= DDIO_MAX_MEMBERS;
	x->status %= DDIO_ST_MAX;
	rnd_bytes(r, data, sizeof(data));
	x->len = rnd_below(r, sizeof(data) + 1);
	x->data = data;
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_exchange(struct rnd *r, struct ddio_msg_exchange *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r);
	x->lo = rnd_below(r, DDIO_MAX_FILE + 1);
	x->hi = x->lo + rnd_below(r, DDIO_MAX_FILE + 1 - x->lo);
	x->rank = (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
}

#include "tests/fuzz/codecs_fs.h"

/* A record and a part alone may be followed by other bytes; here they are not. */
static inline int get_alone(int err, size_t len, size_t used)
{
	return err ? err : used == len ? 0 : -1;
}

static inline ssize_t put_record_(void *buf, size_t cap, const void *x)
{
	return ddio_put_record(buf, cap, x);
}

static inline int get_record_(const void *buf, size_t len, void *x)
{
	size_t used = 0;
	int err = ddio_get_record(buf, len, x, &used), ret = get_alone(err, len, used);

	if (ret && !err)
		ddio_file_record_free(x);
	return ret;
}

static inline ssize_t put_part_(void *buf, size_t cap, const void *x)
{
	return ddio_put_part(buf, cap, x);
}

static inline int get_part_(const void *buf, size_t len, void *x)
{
	size_t used = 0;
	int err = ddio_get_part(buf, len, x, &used), ret = get_alone(err, len, used);

	if (ret && !err)
		ddio_part_free(x);
	return ret;
}

static inline void gen_record_(struct rnd *r, void *x)
{
	gen_record(r, x);
}

static inline void gen_part_(struct rnd *r, void *x)
{
	gen_part(r, x, 0);
}

/* name, type, what frees it: F(function), P(a pointer member), N */
#define CODECS(X)                                                       \
	X(hello, ddio_msg_hello, N)                                     \
	X(challenge, ddio_msg_challenge, N)                             \
	X(proof, ddio_msg_proof, N)                                     \
	X(welcome, ddio_msg_welcome, F(ddio_welcome_free))              \
	X(refuse, ddio_msg_refuse, N)                                   \
	X(ns_create, ddio_msg_ns_create, M(ddio_file_record_free, rec)) \
	X(ns_name, ddio_msg_ns_name, N)                                 \
	X(ns_size, ddio_msg_ns_size, N)                                 \
	X(ns_list, ddio_msg_ns_list, N)                                 \
	X(ns_listing, ddio_msg_ns_listing, F(ddio_ns_listing_free))     \
	X(obj, ddio_msg_obj, N)                                         \
	X(obj_data, ddio_msg_obj_data, N)                               \
	X(extents, ddio_msg_extents, P(ext))                            \
	X(obj_list, ddio_msg_obj_list, P(ids))                          \
	X(fsck, ddio_msg_fsck, N)                                       \
	X(attach, ddio_msg_attach, N)                                   \
	X(coll_start, ddio_msg_coll_start, F(ddio_coll_start_free))     \
	X(coll_data, ddio_msg_coll_data, N)                             \
	X(coll_want, ddio_msg_coll_want, P(want))                       \
	X(coll_done, ddio_msg_coll_done, N)                             \
	X(coll_abort, ddio_msg_coll_abort, N)                           \
	X(joint, ddio_msg_joint, N)                                     \
	X(coll_join, ddio_msg_coll_join, N)                             \
	X(status, ddio_msg_status, F(ddio_status_free))                 \
	X(group_join, ddio_msg_group_join, N)                           \
	X(group_table, ddio_msg_group_table, P(entry))                  \
	X(fan, ddio_msg_fan, N)                                         \
	X(exchange, ddio_msg_exchange, N)                               \
	CODECS_FS(X)

#define N (void)m
#define F(fn) fn(m)
#define M(fn, member) fn(&m->member)
#define P(member) free(m->member)
#define X(name, type, how)                                                        \
	static inline ssize_t put_##name##_(void *buf, size_t cap, const void *x) \
	{                                                                         \
		return ddio_put_##name(buf, cap, x);                              \
	}                                                                         \
	static inline int get_##name##_(const void *buf, size_t len, void *x)     \
	{                                                                         \
		return ddio_get_##name(buf, len, x);                              \
	}                                                                         \
	static inline void gen_##name##_(struct rnd *r, void *x)                  \
	{                                                                         \
		gen_##name(r, x);                                                 \
	}                                                                         \
	static inline void free_##name##_(void *x)                                \
	{                                                                         \
		struct type *m = x;                                               \
		how;                                                              \
	}
CODECS(X)
#undef X
#undef N
#undef F
#undef M
#undef P

static inline void free_record_(void *x)
{
	ddio_file_record_free(x);
}

static inline void free_part_(void *x)
{
	ddio_part_free(x);
}

struct codec {
	const char *name;
	size_t size;
	ssize_t (*put)(void *buf, size_t cap, const void *x);
	int (*get)(const void *buf, size_t len, void *x);
	/* @x is zero */
	void (*gen)(struct rnd *r, void *x);
	void (*free)(void *x);
};

#define ENTRY(name, type, how) \
	{ #name, sizeof(struct type), put_##name##_, get_##name##_, gen_##name##_, free_##name##_ },
static const struct codec codecs[] = { CODECS(ENTRY) ENTRY(record, ddio_file_record, )
					       ENTRY(part, ddio_part, ) };
#undef ENTRY
#define NCODECS (sizeof(codecs) / sizeof(codecs[0]))

union any_message {
#define MEMBER(name, type, how) struct type name;
	CODECS(MEMBER)
#undef MEMBER
	struct ddio_file_record record;
	struct ddio_part part;
};

static inline const struct codec *codec_find(const char *name)
{
	size_t i;

	for (i = 0; name && i < NCODECS; i++)
		if (!strcmp(codecs[i].name, name))
			return &codecs[i];
	return NULL;
}

/* What a message carries: requests and replies that succeed; NULL: nothing. */
struct carried {
	uint16_t opcode;
	const char *request, *reply;
};

static const struct carried carried[] = { { DDIO_OP_HELLO, "hello", NULL },
					  { DDIO_OP_CHALLENGE, "challenge", NULL },
					  { DDIO_OP_PROOF, "proof", NULL },
					  { DDIO_OP_WELCOME, "welcome", NULL },
					  { DDIO_OP_REFUSE, "refuse", NULL },
					  { DDIO_OP_PING, NULL, NULL },
					  { DDIO_OP_STATUS, NULL, "status" },
					  { DDIO_OP_NS_CREATE, "ns_create", "record" },
					  { DDIO_OP_NS_LOOKUP, "ns_name", "record" },
					  { DDIO_OP_NS_REMOVE, "ns_name", "record" },
					  { DDIO_OP_NS_REMOVE_DONE, "ns_size", NULL },
					  { DDIO_OP_NS_EXTEND, "ns_size", NULL },
					  { DDIO_OP_NS_SET_SIZE, "ns_size", NULL },
					  { DDIO_OP_NS_LIST, "ns_list", "ns_listing" },
					  { DDIO_OP_OBJ_READ, "obj", "obj_data" },
					  { DDIO_OP_OBJ_WRITE, "obj", NULL },
					  { DDIO_OP_OBJ_SYNC, "obj", NULL },
					  { DDIO_OP_OBJ_REMOVE, "obj", NULL },
					  { DDIO_OP_OBJ_TRUNCATE, "obj", NULL },
					  { DDIO_OP_OBJ_EXTENTS, "obj", "extents" },
					  { DDIO_OP_OBJ_LIST, "obj", "obj_list" },
					  { DDIO_OP_OBJ_RESERVE, "obj", NULL },
					  { DDIO_OP_DROP_CACHE, "obj", NULL },
					  { DDIO_OP_FSCK, "obj", "fsck" },
					  { DDIO_OP_ATTACH, "attach", NULL },
					  { DDIO_OP_DETACH, "attach", NULL },
					  { DDIO_OP_COLL_START, "coll_start", NULL },
					  { DDIO_OP_COLL_DATA, "coll_data", NULL },
					  { DDIO_OP_COLL_WANT, "coll_want", NULL },
					  { DDIO_OP_COLL_PIECE, "coll_data", NULL },
					  { DDIO_OP_COLL_DONE, "coll_done", NULL },
					  { DDIO_OP_COLL_ABORT, "coll_abort", NULL },
					  { DDIO_OP_JOINT, "joint", NULL },
					  { DDIO_OP_COLL_JOIN, "coll_join", NULL },
					  { DDIO_OP_GROUP_JOIN, "group_join", NULL },
					  { DDIO_OP_GROUP_TABLE, "group_table", NULL },
					  { DDIO_OP_FAN_IN, "fan", NULL },
					  { DDIO_OP_FAN_OUT, "fan", NULL },
					  { DDIO_OP_GROUP_ABORT, "fan", NULL },
					  { DDIO_OP_EXCHANGE, "exchange", NULL },
					  CARRIED_FS };

#define NCARRIED (sizeof(carried) / sizeof(carried[0]))

#endif /* DDIO_TEST_CODECS_H */
