/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store in memory with the interface of iop/store/store.h, as far as the executor and the cache use
 * it: the executor's tests place blocks with it, and make it fail.
 */
#ifndef DDIO_TEST_COLL_STORE_H
#define DDIO_TEST_COLL_STORE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/store/epoch.h"
#include "iop/store/store.h"

enum { STORE_UNIT = 512 };

struct mem_object {
	struct mem_store *store;
	struct ddio_list link;
	struct ddio_file_ref ref;
	uint32_t refs;
	uint64_t n; /* entries of @block */
	struct store_block {
		uint64_t start;
		bool there, written, asked, doubted, writing;
	} * block;
};

/**
 * struct mem_store - the store of one disk
 * @taken: by units of a sector
 * @limit: bytes that may be given out
 * @rnd: of the random layout
 * @commit_err: what the next commits end with; @stopped: why writes are refused, or 0
 * @doubts: a written block is to be recorded as one that may change before it is written again
 * @unnoted: there is no memory to note that a block was written
 * @bad: so many blocks that are read do not match their checksum
 * @sums: blocks have sums, of block n 1000 + n; @same, @differ: of so many that were compared elsewhere
 * @told: sums of blocks that were written, added up
 * @most_placed: blocks that were ever to be placed at once
 * @unread: in so many turns the next object has not been read from the records; @slow: nor then, but when @fetched is posted
 * @last: where the block lies that was written last; @back: how often it lay before the previous one
 * @renewed: so many blocks were to lie in one piece again
 */
struct mem_store {
	struct ddio_env *env;
	uint32_t unread;
	bool slow;
	struct ddio_disk *disk;
	struct ddio_list objects;
	bool *taken;
	uint64_t units, used, limit;
	uint64_t rnd;
	uint64_t commits;
	int commit_err, stopped;
	bool doubts, unnoted;
	uint32_t bad;
	bool sums;
	uint32_t same, differ;
	uint64_t told;
	uint64_t most_placed;
	uint64_t last, back;
	uint64_t renewed;
	struct ddio_list pending;
	struct ddio_post post;
	bool posted;
	struct store_wait *wait;
	struct ddio_post fetched;
};

static inline struct mem_store *mem_store(const struct store *store)
{
	return (struct mem_store *)store;
}

static inline struct mem_object *mem_object(const struct object *obj)
{
	return (struct mem_object *)obj;
}

static void store_doubt_asked(struct mem_store *s)
{
	struct mem_object *obj;
	uint64_t i;

	ddio_list_for_each_entry(obj, &s->objects, link)
		for (i = 0; i < obj->n; i++)
			obj->block[i].doubted |= obj->block[i].asked;
}

static void store_committed(void *arg)
{
	struct mem_store *s = arg;

	s->posted = false;
	while (!ddio_list_empty(&s->pending)) {
		struct commit *c = ddio_list_first(&s->pending, struct commit, link);

		ddio_list_del(&c->link);
		if (!s->commit_err)
			store_doubt_asked(s);
		c->done(c, s->commit_err);
	}
}

int store_stopped(const struct store *store)
{
	return mem_store(store)->stopped;
}

static inline struct store *store_make(struct ddio_env *env, struct ddio_disk *disk, uint64_t seed)
{
	struct mem_store *s = calloc(1, sizeof(*s));

	s->env = env;
	s->disk = disk;
	s->rnd = seed * 2654435761u + 1;
	s->limit = ddio_disk_info(disk)->size;
	s->units = s->limit / STORE_UNIT;
	s->taken = calloc(s->units, sizeof(*s->taken));
	s->post.fn = store_committed;
	s->post.arg = s;
	ddio_list_init(&s->objects);
	ddio_list_init(&s->pending);
	return (struct store *)s;
}

static inline void store_destroy(struct store *store)
{
	struct mem_store *s = mem_store(store);
	struct mem_object *obj, *tmp;

	ddio_list_for_each_entry_safe(obj, tmp, &s->objects, link) {
		ddio_list_del(&obj->link);
		free(obj->block);
		free(obj);
	}
	free(s->taken);
	free(s);
}

struct ddio_disk *store_disk(const struct store *store)
{
	const struct mem_store *s = mem_store(store);

	return s->disk;
}

uint64_t store_free_bytes(const struct store *store)
{
	const struct mem_store *s = mem_store(store);

	return s->limit - s->used;
}

int store_missing(const struct store *store, uint64_t id)
{
	(void)store;
	(void)id;
	return 0;
}

static void store_fetched(void *arg)
{
	struct mem_store *s = arg;

	s->wait->done(s->wait);
}

/* There are no epochs here: tests/unit/cp/dd/test_cp_atomic.c has them, with the real store. */
int store_epoch_begin(struct store *store, uint64_t epoch, const struct ddio_file_ref *file,
		      struct store_epoch **e)
{
	(void)store;
	(void)epoch;
	(void)file;
	*e = NULL;
	return -EOPNOTSUPP;
}

struct object *store_epoch_file(const struct store_epoch *e)
{
	(void)e;
	return NULL;
}

struct object *store_epoch_shadow(const struct store_epoch *e)
{
	return store_epoch_file(e);
}

bool store_epoch_alone(const struct store_epoch *e)
{
	return !e;
}

void store_epoch_end(struct store_epoch *e, bool commit, struct store_wait *wait)
{
	(void)e;
	(void)commit;
	(void)wait;
}

void store_epoch_prepared(struct store_epoch *e)
{
	(void)e;
}

struct store_epoch *store_epoch_find(const struct store *store, uint64_t epoch, uint64_t file)
{
	(void)store;
	(void)epoch;
	(void)file;
	return NULL;
}

struct store_epoch *store_epoch_next(const struct store *store, const struct store_epoch *e)
{
	(void)e;
	return store_epoch_find(store, 0, 0);
}

struct store_epoch_look store_epoch_look(const struct store_epoch *e)
{
	(void)e;
	return (struct store_epoch_look){ 0 };
}

bool object_frozen(const struct object *obj)
{
	(void)obj;
	return false;
}

void store_fetch_forget(struct store_wait *wait)
{
	(void)wait;
}

bool store_fetch(struct store *store, const struct ddio_file_ref *ref, struct store_wait *wait)
{
	struct mem_store *s = mem_store(store);

	(void)ref;
	if (!s->unread)
		return true;
	s->unread--;
	s->wait = wait;
	s->fetched = (struct ddio_post){ .fn = store_fetched, .arg = s };
	if (!s->slow)
		ddio_env_post(s->env, &s->fetched);
	return false;
}

int store_get(struct store *store, const struct ddio_file_ref *ref, bool create,
	      struct object **out)
{
	struct mem_store *s = mem_store(store);
	struct mem_object *obj;

	ddio_list_for_each_entry(obj, &s->objects, link) {
		if (obj->ref.id != ref->id)
			continue;
		if (obj->ref.block != ref->block || obj->ref.layout != ref->layout)
			return -ESTALE;
		obj->refs++;
		*out = (struct object *)obj;
		return 0;
	}
	if (!create)
		return -ENOENT;
	obj = calloc(1, sizeof(*obj));
	if (!obj)
		return -ENOMEM;
	obj->store = s;
	obj->ref = *ref;
	obj->refs = 1;
	ddio_list_add(&obj->link, &s->objects);
	*out = (struct object *)obj;
	return 0;
}

void object_ref(struct object *object)
{
	struct mem_object *obj = mem_object(object);

	obj->refs++;
}

void object_put(struct object *object)
{
	struct mem_object *obj = mem_object(object);

	obj->refs--;
}

const struct ddio_file_ref *object_file(const struct object *object)
{
	const struct mem_object *obj = mem_object(object);

	return &obj->ref;
}

uint64_t object_blocks(const struct object *object)
{
	return mem_object(object)->n;
}

uint64_t object_end(const struct object *object)
{
	const struct mem_object *obj = mem_object(object);

	return obj->n;
}

bool object_lookup(const struct object *object, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	const struct mem_object *obj = mem_object(object);
	const struct store_block *b = obj->block, *x;
	uint64_t i;

	*start = 0;
	*written = false;
	*run = 1;
	if (block >= obj->n || !b[block].there) {
		for (i = block; i < obj->n && !b[i].there; i++)
			continue;
		*run = i < obj->n ? i - block : UINT64_MAX / 2 - block;
		return false;
	}
	*start = b[block].start;
	*written = b[block].written;
	for (i = block + 1; i < obj->n; i++) {
		x = &b[i];
		if (!x->there || x->written != *written ||
		    x->start != *start + (i - block) * obj->ref.block)
			break;
	}
	*run = i - block;
	return true;
}

bool object_target(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	return object_lookup(obj, block, start, run, written);
}

static bool store_fits(const struct mem_store *s, uint64_t unit, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		if (unit + i >= s->units || s->taken[unit + i])
			return false;
	return true;
}

static uint64_t store_random(struct mem_store *s)
{
	s->rnd = s->rnd * 6364136223846793005ull + 1442695040888963407ull;
	return s->rnd >> 33;
}

static uint64_t store_find(struct mem_store *s, uint64_t n, bool random)
{
	uint64_t slots = s->units / n, at = random ? store_random(s) % slots : 0, i;

	for (i = 0; i < slots; i++) {
		uint64_t unit = (at + i) % slots * n;

		if (store_fits(s, unit, n))
			return unit;
	}
	return UINT64_MAX;
}

static void object_grow(struct mem_object *obj, uint64_t n)
{
	if (n <= obj->n)
		return;
	obj->block = realloc(obj->block, n * sizeof(*obj->block));
	memset(obj->block + obj->n, 0, (n - obj->n) * sizeof(*obj->block));
	obj->n = n;
}

/* Blocks lie where the tests want them. */
bool object_renew(struct object *obj, uint64_t first, uint64_t count)
{
	(void)first;
	mem_object(obj)->store->renewed += count;
	return false;
}

int object_alloc(struct object *object, uint64_t first, uint64_t count)
{
	struct mem_object *obj = mem_object(object);
	struct mem_store *s = obj->store;
	uint64_t units = obj->ref.block / STORE_UNIT, i, need = 0, unit;

	for (i = first; i < first + count; i++)
		need += i >= obj->n || !obj->block[i].there;
	if (need > (s->limit - s->used) / obj->ref.block)
		return -ENOSPC;
	if (count > s->most_placed)
		s->most_placed = count;
	object_grow(obj, first + count);
	for (i = first; i < first + count; i++) {
		if (obj->block[i].there)
			continue;
		unit = store_find(s, units, obj->ref.layout != DDIO_LAYOUT_CONTIGUOUS_W);
		obj->block[i].there = true;
		obj->block[i].start = unit * STORE_UNIT;
		memset(s->taken + unit, true, units);
		s->used += obj->ref.block;
	}
	return 0;
}

int object_written(struct object *object, uint64_t first, uint64_t count)
{
	struct mem_object *obj = mem_object(object);
	struct mem_store *s = obj->store;
	uint64_t i;

	for (i = first; i < first + count && i < obj->n; i++) {
		obj->block[i].written = obj->block[i].there;
		s->back += obj->block[i].start < s->last;
		s->last = obj->block[i].start;
	}
	return 0;
}

int object_write_begin(struct object *object, uint64_t block)
{
	struct mem_object *obj = mem_object(object);
	struct store_block *b = &obj->block[block];

	if (obj->store->doubts && b->written && !b->doubted) {
		b->asked = true;
		return 1;
	}
	if (b->writing)
		abort();
	b->writing = true;
	return 0;
}

/* Sees only every other block, so that some are left to those who write them. */
bool object_write_ahead(struct object *object, uint64_t first, uint64_t count, uint32_t *steps)
{
	struct mem_object *obj = mem_object(object);
	bool wait = false;
	uint64_t i;

	for (i = first; obj->store->doubts && i - first < count && i < obj->n && *steps;
	     i++, --*steps) {
		if (i % 2 || !obj->block[i].written || obj->block[i].doubted)
			continue;
		obj->block[i].asked = true;
		wait = true;
	}
	return wait;
}

bool object_write_soon(struct object *object, uint64_t block)
{
	uint32_t steps = 1;

	return object_write_ahead(object, block, 1, &steps);
}

int object_write_end(struct object *object, uint64_t block, bool written, const void *data)
{
	struct store_block *b = &mem_object(object)->block[block];

	(void)data;
	if (!b->writing)
		abort();
	b->writing = false;
	if (!written)
		return 0;
	if (mem_object(object)->store->unnoted)
		return -ENOMEM;
	return object_written(object, block, 1);
}

/* What an engine says of a block has to be true of it. */
static void made_true(const struct object *object, const uint8_t *data,
		      const struct ddio_disk_sums *made)
{
	uint32_t len = mem_object(object)->ref.block, i;

	if (made->n && made->n != (len + DDIO_DISK_SUM_LEN - 1) / DDIO_DISK_SUM_LEN)
		abort();
	if (len > DDIO_DISK_SUM_LEN)
		len = DDIO_DISK_SUM_LEN;
	for (i = 0; i < made->n; i++)
		if (made->sum[i] != ddio_crc32c(0, data + (size_t)i * DDIO_DISK_SUM_LEN, len))
			abort();
}

int object_write_made(struct object *object, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made)
{
	made_true(object, data, made);
	return object_write_end(object, block, true, data);
}

bool object_sums(const struct object *object)
{
	(void)object;
	return true;
}

bool object_takes_sum(const struct object *object)
{
	return mem_object(object)->store->sums;
}

int object_write_told(struct object *object, uint64_t block, uint32_t sum)
{
	mem_object(object)->store->told += sum;
	return object_write_end(object, block, true, NULL);
}

int object_sum(struct object *object, uint64_t block, uint32_t *sum)
{
	*sum = 1000 + (uint32_t)block;
	return mem_object(object)->store->sums;
}

bool object_sum_range(struct object *object, uint64_t block, uint32_t from, uint32_t to,
		      uint32_t *sum)
{
	(void)object;
	(void)block;
	(void)from;
	(void)to;
	(void)sum;
	return false;
}

bool object_prove(struct object *object, uint64_t block, uint32_t expected)
{
	(void)object;
	(void)block;
	(void)expected;
	return true;
}

void object_compared(struct object *object, uint64_t block, bool same)
{
	struct mem_store *s = mem_object(object)->store;

	(void)block;
	s->same += same;
	s->differ += !same;
}

int object_check(struct object *object, uint64_t block, const void *data)
{
	struct mem_object *obj = mem_object(object);

	(void)data;
	if (!obj->block[block].written || obj->block[block].writing)
		abort();
	if (!obj->store->bad)
		return 0;
	obj->store->bad--;
	return -EBADMSG;
}

int object_check_made(struct object *object, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made)
{
	made_true(object, data, made);
	return object_check(object, block, data);
}

int object_punch(struct object *object, uint64_t first, uint64_t count)
{
	struct mem_object *obj = mem_object(object);
	uint64_t i;

	for (i = first; i < obj->n && i - first < count; i++) {
		obj->block[i].there = false;
		obj->block[i].written = false;
	}
	return 0;
}

void store_commit(struct store *store, struct commit *commit)
{
	struct mem_store *s = mem_store(store);
	s->commits++;
	ddio_list_add(&commit->link, &s->pending);
	if (s->posted)
		return;
	s->posted = true;
	ddio_env_post(s->env, &s->post);
}

bool store_dirty(const struct store *store)
{
	(void)store;
	return false;
}

#endif /* DDIO_TEST_COLL_STORE_H */
