/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world for tests of the cache: a reactor whose disk does one request when the
 * test says so, and objects that are a table.  It stands for the object store too.
 */
#ifndef DDIO_CACHE_WORLD_H
#define DDIO_CACHE_WORLD_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "env/disk/engine.h"
#include "env/local/showcase.h"
#include "iop/cache/cache.h"

#define WORLD_DISK (8u << 20)
#define WORLD_LOG 4096
#define WORLD_BLOCKS 512

/* The requests to the disk, in order. */
struct world_log {
	enum ddio_disk_op op;
	uint64_t offset, len;
	bool durable;
};

/**
 * struct cache_world - one reactor, one disk, one cache
 * @fail_op, @fail_n: so many requests of that kind end with -EIO
 * @pick: which of the requests at the disk is done next: 0 the first
 * @space: bytes that the store still has
 * @doubts: a written block is to be recorded as one that may change before it is written again
 * @soon: that can be done when it becomes dirty
 * @unnoted: there is no memory to note that a block was written
 * @bad: so many blocks that are read do not match their checksum
 * @logged: lines of the log
 * @commit: asked for, ends with the next world_committed(); @commits: how many were asked for
 */
struct cache_world {
	struct ddio_env env;
	struct store *store; /* only its address counts */
	int stopped;
	struct ddio_disk *disk;
	struct cache *cache;
	struct ddio_post *posts, **posts_end;
	struct ddio_list at_disk;
	uint32_t n_at_disk;
	uint8_t *data;
	struct world_log log[WORLD_LOG];
	uint32_t nlog;
	int fail_op;
	uint32_t fail_n;
	uint32_t (*pick)(uint32_t n);
	uint64_t now, used, space;
	uint64_t charged[DDIO_WORK_CALL + 1];
	struct ddio_timer *timer;
	bool doubts, soon, unnoted;
	uint32_t bad, commits, logged;
	struct commit *commit;
};

static struct cache_world *world_now; /* the fake engine and store are asked without a context */

/* What stands behind a struct object here. */
struct world_object {
	struct ddio_file_ref ref;
	uint32_t refs;
	uint64_t start[WORLD_BLOCKS];
	bool placed[WORLD_BLOCKS], written[WORLD_BLOCKS];
	bool asked[WORLD_BLOCKS], doubted[WORLD_BLOCKS], writing[WORLD_BLOCKS];
	uint64_t end;
};

static inline struct world_object *world_obj(const struct object *obj)
{
	return (struct world_object *)(uintptr_t)obj;
}

/*
 * The store
 */
struct ddio_disk *store_disk(const struct store *store)
{
	(void)store;
	return world_now->disk;
}

int store_stopped(const struct store *store)
{
	(void)store;
	return world_now->stopped;
}

void object_ref(struct object *obj)
{
	world_obj(obj)->refs++;
}

void object_put(struct object *obj)
{
	world_obj(obj)->refs--;
}

const struct ddio_file_ref *object_file(const struct object *obj)
{
	return &world_obj(obj)->ref;
}

bool object_lookup(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	*run = 1;
	*written = block < WORLD_BLOCKS && world_obj(obj)->placed[block] &&
		   world_obj(obj)->written[block];
	if (block >= WORLD_BLOCKS || !world_obj(obj)->placed[block])
		return false;
	*start = world_obj(obj)->start[block];
	return true;
}

bool object_target(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	return object_lookup(obj, block, start, run, written);
}

int object_alloc(struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t i, size = world_obj(obj)->ref.block, missing = 0;

	for (i = first; i < first + count && i < WORLD_BLOCKS; i++)
		missing += !world_obj(obj)->placed[i];
	if (first + count > WORLD_BLOCKS || missing * size > world_now->space)
		return -ENOSPC;
	for (i = first; i < first + count; i++) {
		if (world_obj(obj)->placed[i])
			continue;
		/* As in a store, so that a large block can be written in part. */
		if (size >= 4096)
			world_now->used = (world_now->used + 4095) / 4096 * 4096;
		world_obj(obj)->start[i] = world_now->used;
		world_obj(obj)->placed[i] = true;
		world_obj(obj)->written[i] = false;
		world_now->used += size;
		world_now->space -= size;
	}
	if (world_obj(obj)->end < first + count)
		world_obj(obj)->end = first + count;
	return 0;
}

int object_written(struct object *obj, uint64_t first, uint64_t count)
{
	for (; count; count--)
		world_obj(obj)->written[first++] = true;
	return 0;
}

uint64_t object_end(const struct object *obj)
{
	return world_obj(obj)->end;
}

int object_write_begin(struct object *obj, uint64_t block)
{
	struct world_object *o = world_obj(obj);

	if (world_now->doubts && o->written[block] && !o->doubted[block]) {
		o->asked[block] = true;
		return 1;
	}
	if (o->writing[block])
		abort();
	o->writing[block] = true;
	return 0;
}

bool object_write_soon(struct object *obj, uint64_t block)
{
	struct world_object *o = world_obj(obj);

	if (!world_now->doubts || !world_now->soon || !o->written[block] || o->doubted[block])
		return false;
	o->asked[block] = true;
	return true;
}

int object_write_end(struct object *obj, uint64_t block, bool written, const void *data)
{
	(void)data;
	if (!world_obj(obj)->writing[block])
		abort();
	world_obj(obj)->writing[block] = false;
	if (written && world_now->unnoted)
		return -ENOMEM;
	return written ? object_written(obj, block, 1) : 0;
}

int object_check(struct object *obj, uint64_t block, const void *data)
{
	(void)data;
	if (!world_obj(obj)->written[block] || world_obj(obj)->writing[block])
		abort();
	if (!world_now->bad)
		return 0;
	world_now->bad--;
	return -EBADMSG;
}

bool object_sum_range(struct object *obj, uint64_t block, uint32_t from, uint32_t to, uint32_t *sum)
{
	(void)obj;
	(void)block;
	(void)from;
	(void)to;
	(void)sum;
	return false;
}

bool object_prove(struct object *obj, uint64_t block, uint32_t expected)
{
	(void)obj;
	(void)block;
	(void)expected;
	return true;
}

/* One commit at a time is enough here. */
void store_commit(struct store *store, struct commit *commit)
{
	(void)store;
	if (world_now->commit)
		abort();
	world_now->commit = commit;
	world_now->commits++;
}

/* The commit that was asked for ends; it is of what was asked of @obj. */
static inline void world_committed(struct world_object *obj, int err)
{
	struct commit *commit = world_now->commit;
	uint32_t i;

	world_now->commit = NULL;
	for (i = 0; i < WORLD_BLOCKS && !err; i++)
		obj->doubted[i] |= obj->asked[i];
	commit->done(commit, err);
}

/*
 * The reactor
 */
static struct cache_world *world_of(struct ddio_env *env)
{
	return ddio_container_of(env, struct cache_world, env);
}

static uint64_t world_clock(struct ddio_env *env)
{
	return world_of(env)->now += 1;
}

static void world_post(struct ddio_env *env, struct ddio_post *post)
{
	struct cache_world *w = world_of(env);

	post->next = NULL;
	*w->posts_end = post;
	w->posts_end = &post->next;
}

/* Remembers the timer; the cache has only one. */
static int world_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when)
{
	timer->node.when = when;
	timer->node.slot = 1;
	world_of(env)->timer = timer;
	return 0;
}

static void world_timer_cancel(struct ddio_env *env, struct ddio_timer *timer)
{
	timer->node.slot = 0;
	world_of(env)->timer = NULL;
}

static void world_env_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt,
			  va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	world_of(env)->logged++;
}

static void world_charge(struct ddio_env *env, enum ddio_work work, uint64_t n)
{
	world_of(env)->charged[work] += n;
}

static void world_random(struct ddio_env *env, void *buf, size_t len)
{
	(void)env;
	if (getrandom(buf, len, 0) < 0)
		abort();
}

/*
 * The disk
 */
static int world_disk_open(struct ddio_env *env, const struct ddio_disk_spec *spec,
			   struct ddio_disk **disk, char *err, size_t err_len)
{
	(void)spec;
	(void)err;
	(void)err_len;
	*disk = calloc(1, sizeof(**disk));
	(*disk)->info.size = WORLD_DISK;
	(*disk)->info.sector = 512;
	(*disk)->info.align = 512;
	(*disk)->info.max_len = 1u << 20;
	ddio_list_init(&world_of(env)->at_disk);
	return *disk ? 0 : -ENOMEM;
}

static void world_disk_close(struct ddio_disk *disk)
{
	free(disk);
}

static void world_disk_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	struct cache_world *w = world_of(disk->env);

	ddio_list_add(&req->link, &w->at_disk);
	w->n_at_disk++;
	/* What is written is what was there at the beginning. */
	if (req->op == DDIO_DISK_WRITE) {
		void *copy = malloc(req->len);

		memcpy(copy, req->buf, req->len);
		req->priv[0] = (uintptr_t)copy;
	}
	if (w->nlog < WORLD_LOG)
		w->log[w->nlog++] =
			(struct world_log){ req->op, req->offset, req->len, req->durable };
}

static const struct ddio_disk_engine world_engine = {
	.name = "world",
	.open = world_disk_open,
	.close = world_disk_close,
	.submit = world_disk_submit,
};

static const struct ddio_disk_engine *const world_engines[] = { &world_engine, NULL };

static const struct ddio_env_ops world_ops = {
	.name = "world",
	.now = world_clock,
	.timer_arm = world_timer_arm,
	.timer_cancel = world_timer_cancel,
	.post = world_post,
	.log = world_env_log,
	.charge = world_charge,
	.random = world_random,
	.mail = &mail_sockets,
};

/* Runs the functions that were posted. */
static inline void world_posts(struct cache_world *w)
{
	while (w->posts) {
		struct ddio_post *post = w->posts;

		w->posts = post->next;
		if (!w->posts)
			w->posts_end = &w->posts;
		post->fn(post->arg);
	}
}

/* Carries out one of the requests that are at the disk. */
static inline bool world_disk_step(struct cache_world *w)
{
	struct ddio_list *link = w->at_disk.next;
	struct ddio_disk_req *req;
	uint32_t i;
	int status = 0;

	if (ddio_list_empty(&w->at_disk))
		return false;
	for (i = w->pick ? w->pick(w->n_at_disk) : 0; i; i--)
		link = link->next;
	req = ddio_list_entry(link, struct ddio_disk_req, link);
	ddio_list_del(&req->link);
	w->n_at_disk--;
	if (w->fail_n && (w->fail_op < 0 || w->fail_op == (int)req->op)) {
		w->fail_n--;
		status = -EIO;
	} else if (req->op == DDIO_DISK_READ) {
		memcpy(req->buf, w->data + req->offset, req->len);
	} else if (req->op == DDIO_DISK_WRITE) {
		memcpy(w->data + req->offset, (void *)(uintptr_t)req->priv[0], req->len);
	}
	if (req->op == DDIO_DISK_WRITE)
		free((void *)(uintptr_t)req->priv[0]);
	disk_complete(w->disk, req, status);
	return true;
}

/* Runs until nothing more happens by itself. */
static inline void world_run(struct cache_world *w)
{
	do
		world_posts(w);
	while (world_disk_step(w));
}

static inline struct cache_world *world_new(const struct cache_opts *opts)
{
	struct cache_world *w = calloc(1, sizeof(*w));
	struct ddio_disk_spec spec = { .name = "d0", .engine = "world" };
	char err[128];

	w->env.ops = &world_ops;
	ddio_list_init(&w->env.asides);
	w->env.engines = world_engines;
	ddio_list_init(&w->env.buses);
	w->posts_end = &w->posts;
	w->space = WORLD_DISK;
	w->data = malloc(WORLD_DISK);
	memset(w->data, 0xee, WORLD_DISK);
	world_now = w;
	if (ddio_disk_open(&w->env, &spec, &w->disk, err, sizeof(err)) ||
	    cache_new(&w->env, w->store, opts, &w->cache))
		abort();
	return w;
}

static inline void world_free(struct cache_world *w)
{
	world_run(w);
	cache_free(w->cache);
	ddio_disk_close(w->disk);
	world_posts(w);
	ddio_env_fini(&w->env);
	free(w->data);
	free(w);
	world_now = NULL;
}

static inline struct object *world_object(uint64_t id, uint32_t block)
{
	struct world_object *obj = calloc(1, sizeof(*obj));

	obj->ref.id = id;
	obj->ref.block = block;
	obj->refs = 1;
	return (struct object *)obj;
}

/* Blocks [0, n) as if written before: every byte of block b is b + 1. */
static inline void world_fill(struct cache_world *w, struct object *obj, uint32_t n)
{
	uint32_t i;

	if (object_alloc(obj, 0, n))
		abort();
	for (i = 0; i < n; i++)
		memset(w->data + world_obj(obj)->start[i], (int)i + 1, world_obj(obj)->ref.block);
	object_written(obj, 0, n);
}

/* Returns the number of disk requests of a kind so far. */
static inline uint32_t world_count(const struct cache_world *w, enum ddio_disk_op op)
{
	uint32_t i, n = 0;

	for (i = 0; i < w->nlog; i++)
		n += w->log[i].op == op;
	return n;
}

/*
 * Requests that remember how they ended
 */
struct world_io {
	struct cache_io io;
	int status; /* 1 until the end */
};

static void world_io_done(struct cache_io *io, int status)
{
	struct world_io *x = ddio_container_of(io, struct world_io, io);

	x->status = x->status == 1 ? status : 2;
}

static inline void world_io_set(struct world_io *x, struct object *obj, uint64_t offset, void *buf,
				uint64_t len)
{
	memset(x, 0, sizeof(*x));
	x->io.obj = obj;
	x->io.offset = offset;
	x->io.len = len;
	x->io.buf = buf;
	x->io.done = world_io_done;
	x->status = 1;
}

static inline void world_read_start(struct cache_world *w, struct world_io *x, struct object *obj,
				    uint64_t offset, void *buf, uint64_t len)
{
	world_io_set(x, obj, offset, buf, len);
	cache_read(w->cache, &x->io);
}

static inline void world_write_start(struct cache_world *w, struct world_io *x, struct object *obj,
				     uint64_t offset, const void *buf, uint64_t len)
{
	world_io_set(x, obj, offset, (void *)buf, len);
	cache_write(w->cache, &x->io);
}

/* Reads to the end, with all that follows. */
static inline int world_read(struct cache_world *w, struct object *obj, uint64_t offset, void *buf,
			     uint64_t len)
{
	struct world_io x;

	world_read_start(w, &x, obj, offset, buf, len);
	world_run(w);
	return x.status;
}

static inline int world_write(struct cache_world *w, struct object *obj, uint64_t offset,
			      const void *buf, uint64_t len)
{
	struct world_io x;

	world_write_start(w, &x, obj, offset, buf, len);
	world_run(w);
	return x.status;
}

struct world_flush {
	struct cache_flush flush;
	int status; /* 1 until the end */
};

static void world_flush_done(struct cache_flush *flush, int status)
{
	struct world_flush *x = ddio_container_of(flush, struct world_flush, flush);

	x->status = x->status == 1 ? status : 2;
}

static inline void world_flush_start(struct cache_world *w, struct world_flush *x,
				     struct object *obj, bool drop)
{
	memset(x, 0, sizeof(*x));
	x->flush.obj = obj;
	x->flush.drop = drop;
	x->flush.done = world_flush_done;
	x->status = 1;
	cache_flush(w->cache, &x->flush);
}

static inline void world_flush_quietly(struct cache_world *w, struct world_flush *x,
				       struct object *obj)
{
	*x = (struct world_flush){ .flush = { .obj = obj, .quiet = true, .done = world_flush_done },
				   .status = 1 };
	cache_flush(w->cache, &x->flush);
}

static inline int world_flush(struct cache_world *w, struct object *obj, bool drop)
{
	struct world_flush x;

	world_flush_start(w, &x, obj, drop);
	world_run(w);
	return x.status;
}

struct world_lock {
	struct block_lock lock;
	uint32_t granted;
};

static void world_lock_granted(struct block_lock *lock)
{
	ddio_container_of(lock, struct world_lock, lock)->granted++;
}

static inline bool world_lock(struct cache_world *w, struct world_lock *x, struct object *obj,
			      uint64_t block)
{
	memset(x, 0, sizeof(*x));
	x->lock.obj = obj;
	x->lock.block = block;
	x->lock.granted = world_lock_granted;
	return cache_lock(w->cache, &x->lock);
}

#endif /* DDIO_CACHE_WORLD_H */
