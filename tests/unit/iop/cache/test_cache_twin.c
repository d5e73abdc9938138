// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block cache against flat arrays: random requests, locks, flushes and
 * discards, many under way at once, on a disk that ends them in any order and
 * sometimes fails.  Requests under way never touch the same byte unless all of them read, so
 * that there is one right answer.
 */
#include "tests/unit/lib/ut.h"
#include "cache_world.h"

#define NOBJS 2
#define NBLOCKS 24
#define NOPS 12
#define STEPS 3000
#define LARGE 16384u
#define MAX_LEN (4u * LARGE)

enum twin_kind { TWIN_FREE, TWIN_READ, TWIN_WRITE, TWIN_LOCK_READ, TWIN_LOCK_WRITE, TWIN_FLUSH };

struct twin_op {
	enum twin_kind kind;
	struct cache_twin *t;
	uint32_t obj;
	uint64_t offset, len;
	struct cache_io io;
	struct cache_flush flush;
	struct block_lock lock;
	uint8_t buf[MAX_LEN];
};

/**
 * struct cache_twin - a world and what it should hold
 * @bytes: contents by object
 * @unknown: bytes that a failed write may have changed, or not
 * @largest: of the sizes of blocks
 * @viewer: sees what the cache shows; @seen: how often
 */
struct cache_twin {
	struct cache_world *w;
	struct object *obj[NOBJS];
	uint8_t *bytes[NOBJS], *unknown[NOBJS];
	uint64_t size[NOBJS];
	struct twin_op ops[NOPS];
	uint64_t limit;
	uint32_t largest, wrong, done, seen;
	struct ddio_viewer *viewer;
	bool failing;
};

static uint64_t twin_state;

static uint32_t rnd(uint32_t n)
{
	twin_state = twin_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(twin_state >> 33) % n;
}

static uint32_t pick_any(uint32_t n)
{
	return rnd(n);
}

static bool twin_equal(const struct cache_twin *t, uint32_t o, uint64_t offset, const uint8_t *got,
		       uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		if (!t->unknown[o][offset + i] && got[i] != t->bytes[o][offset + i])
			return false;
	return true;
}

static bool conflict(const struct cache_twin *t, const struct twin_op *op)
{
	bool reads = op->kind == TWIN_READ || op->kind == TWIN_LOCK_READ;
	int i;

	for (i = 0; i < NOPS; i++) {
		const struct twin_op *x = &t->ops[i];
		bool x_reads = x->kind == TWIN_READ || x->kind == TWIN_LOCK_READ;

		if (x == op || x->kind == TWIN_FREE || x->kind == TWIN_FLUSH || x->obj != op->obj)
			continue;
		if (x->offset < op->offset + op->len && op->offset < x->offset + x->len &&
		    !(reads && x_reads))
			return true;
	}
	return false;
}

static void io_done(struct cache_io *io, int status)
{
	struct twin_op *op = io->arg;
	struct cache_twin *t = op->t;

	t->wrong += status && !t->failing;
	if (op->kind == TWIN_WRITE && status)
		memset(t->unknown[op->obj] + op->offset, 1, op->len);
	if (op->kind == TWIN_READ && !status)
		t->wrong += !twin_equal(t, op->obj, op->offset, op->buf, op->len);
	op->kind = TWIN_FREE;
	t->done++;
}

static void flush_done(struct cache_flush *flush, int status)
{
	struct twin_op *op = flush->arg;

	op->t->wrong += status && !op->t->failing;
	op->kind = TWIN_FREE;
	op->t->done++;
}

static void lock_read(struct twin_op *op)
{
	const struct object *obj = op->t->obj[op->obj];
	static const uint8_t zeros[MAX_LEN];
	const uint8_t *got = op->lock.dirty;
	uint64_t block = op->lock.block;

	if (!got)
		got = world_obj(obj)->placed[block] && world_obj(obj)->written[block]
			      ? op->t->w->data + world_obj(obj)->start[block]
			      : zeros;
	op->t->wrong += !twin_equal(op->t, op->obj, op->offset, got, op->len);
}

/* Does what a collective does, past the cache. */
static void lock_write(struct twin_op *op)
{
	struct object *obj = op->t->obj[op->obj];
	uint64_t block = op->lock.block;

	if (!world_obj(obj)->placed[block] && object_alloc(obj, block, 1))
		abort();
	memcpy(op->t->w->data + world_obj(obj)->start[block], op->buf, op->len);
	object_written(obj, block, 1);
}

static void lock_have(struct twin_op *op)
{
	struct cache_twin *t = op->t;
	bool write = op->kind == TWIN_LOCK_WRITE;

	t->wrong += op->lock.status && !t->failing;
	if (write)
		lock_write(op);
	else if (!op->lock.status)
		lock_read(op);
	op->kind = TWIN_FREE;
	t->done++;
	cache_unlock(t->w->cache, &op->lock, write);
}

static void lock_granted(struct block_lock *lock)
{
	lock_have(lock->arg);
}

static void start_io(struct cache_twin *t, struct twin_op *op)
{
	op->io = (struct cache_io){ .obj = t->obj[op->obj],
				    .offset = op->offset,
				    .len = op->len,
				    .buf = op->buf,
				    .prefetch = rnd(2),
				    .done = io_done,
				    .arg = op };
	if (op->kind == TWIN_READ)
		cache_read(t->w->cache, &op->io);
	else
		cache_write(t->w->cache, &op->io);
}

static void start_lock(struct cache_twin *t, struct twin_op *op)
{
	op->lock = (struct block_lock){ .obj = t->obj[op->obj],
					.block = op->offset / op->len,
					.granted = lock_granted,
					.arg = op };
	if (cache_lock(t->w->cache, &op->lock))
		lock_have(op);
}

static void start_flush(struct cache_twin *t, struct twin_op *op)
{
	op->kind = TWIN_FLUSH;
	op->flush = (struct cache_flush){ .obj = rnd(3) ? t->obj[op->obj] : NULL,
					  .drop = !t->failing && !rnd(3),
					  .done = flush_done,
					  .arg = op };
	cache_flush(t->w->cache, &op->flush);
}

static void start_range(struct cache_twin *t, struct twin_op *op, enum twin_kind kind)
{
	uint32_t bs = world_obj(t->obj[op->obj])->ref.block;
	bool lock = kind == TWIN_LOCK_READ || kind == TWIN_LOCK_WRITE;
	uint64_t i;

	if (lock) {
		op->len = bs;
		op->offset = (uint64_t)rnd(NBLOCKS) * bs;
	} else {
		op->len = 1 + rnd(rnd(2) ? bs / 4 : 3 * bs);
		op->offset = rnd((uint32_t)(t->size[op->obj] - op->len));
	}
	op->kind = kind;
	if (conflict(t, op)) {
		op->kind = TWIN_FREE;
		return;
	}
	if (kind == TWIN_WRITE || kind == TWIN_LOCK_WRITE) {
		for (i = 0; i < op->len; i++)
			op->buf[i] = (uint8_t)rnd(256);
		memcpy(t->bytes[op->obj] + op->offset, op->buf, op->len);
		memset(t->unknown[op->obj] + op->offset, 0, op->len);
	}
	if (lock)
		start_lock(t, op);
	else
		start_io(t, op);
}

/* Takes bytes of a block that nobody writes to, if they are shown; of those that are cached, many should be. */
static void look(struct cache_twin *t)
{
	static struct twin_op op;
	const struct ddio_file_ref *ref;
	struct ddio_show_key key;

	op.kind = TWIN_READ;
	op.obj = rnd(NOBJS);
	ref = &world_obj(t->obj[op.obj])->ref;
	key = (struct ddio_show_key){ ref->id, ref->seed, rnd(NBLOCKS), ref->block, ref->layout };
	op.len = 1 + rnd(ref->block);
	op.offset = rnd(ref->block - (uint32_t)op.len + 1);
	if (!viewer_read(t->viewer, &key, (uint32_t)op.offset, op.buf, (uint32_t)op.len))
		return;
	op.offset += key.block * ref->block;
	if (conflict(t, &op))
		return;
	t->seen++;
	t->wrong += !twin_equal(t, op.obj, op.offset, op.buf, op.len);
}

static void start_any(struct cache_twin *t)
{
	static const enum twin_kind kinds[] = { TWIN_READ,  TWIN_READ,	    TWIN_READ,
						TWIN_WRITE, TWIN_WRITE,	    TWIN_WRITE,
						TWIN_WRITE, TWIN_LOCK_READ, TWIN_LOCK_WRITE };
	struct twin_op *op = &t->ops[rnd(NOPS)];

	if (op->kind != TWIN_FREE)
		return;
	op->t = t;
	op->obj = rnd(NOBJS);
	if (!rnd(12))
		start_flush(t, op);
	else
		start_range(t, op, kinds[rnd(sizeof(kinds) / sizeof(kinds[0]))]);
}

/* Does what a removal does: discards, waits for what is under way, frees. */
static void discard(struct cache_twin *t, uint32_t o)
{
	uint32_t first = rnd(NBLOCKS), i;
	uint64_t from = (uint64_t)first * world_obj(t->obj[o])->ref.block;

	world_run(t->w);
	cache_discard(t->w->cache, t->obj[o], first, UINT64_MAX);
	world_run(t->w);
	t->wrong += cache_busy(t->w->cache, t->obj[o], first, UINT64_MAX);
	for (i = first; i < NBLOCKS; i++)
		world_obj(t->obj[o])->placed[i] = false;
	world_obj(t->obj[o])->end = world_obj(t->obj[o])->end < first ? world_obj(t->obj[o])->end
								      : first;
	memset(t->bytes[o] + from, 0, t->size[o] - from);
	memset(t->unknown[o] + from, 0, t->size[o] - from);
	t->w->space = WORLD_DISK - t->w->used;
}

static void check_bound(struct cache_twin *t)
{
	struct cache_stats s;

	cache_stats(t->w->cache, &s);
	/* One block more while one is being filled up. */
	t->wrong += s.bytes > t->limit + t->largest;
}

static void check_end(struct cache_twin *t)
{
	struct cache_stats s;
	uint32_t o, b, bs;

	world_run(t->w);
	t->w->fail_n = 0;
	world_flush(t->w, NULL, false);
	t->wrong += world_flush(t->w, NULL, false) != 0;
	cache_stats(t->w->cache, &s);
	t->wrong += s.dirty != 0;
	for (o = 0; o < NOBJS; o++) {
		bs = world_obj(t->obj[o])->ref.block;
		for (b = 0; b < NBLOCKS; b++)
			if (world_obj(t->obj[o])->placed[b] && world_obj(t->obj[o])->written[b])
				t->wrong += !twin_equal(t, o, b * bs,
							t->w->data + world_obj(t->obj[o])->start[b],
							bs);
	}
	world_flush(t->w, NULL, true);
	for (o = 0; o < NOBJS; o++)
		t->wrong += world_obj(t->obj[o])->refs != 1;
	cache_stats(t->w->cache, &s);
	t->wrong += s.blocks != 0 || !cache_idle(t->w->cache);
}

static void step(struct cache_twin *t)
{
	uint32_t what = rnd(100);

	if (what < 45)
		start_any(t);
	else if (what < 85)
		world_disk_step(t->w);
	else if (what < 99)
		world_posts(t->w);
	else if (!rnd(4))
		discard(t, rnd(NOBJS));
	if (t->failing && !rnd(40)) {
		t->w->fail_op = (int)rnd(3) - 1;
		t->w->fail_n = 1 + rnd(3);
	}
	check_bound(t);
	if (t->viewer)
		look(t);
}

static void viewer_add(struct cache_twin *t)
{
	struct ddio_mailbox box;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(&t->w->env, &box), 0);
	CU_ASSERT_EQUAL_FATAL(cache_show_to(t->w->cache, box.name, box.token), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_viewer_new(&box, &t->viewer), 0);
	ddio_mailbox_close(&box);
}

static struct cache_twin *twin_new(uint64_t seed, bool failing)
{
	struct cache_twin *t = calloc(1, sizeof(*t));
	struct cache_opts opts = { 0 };
	uint32_t o;

	twin_state = seed * 7919 + 1;
	t->failing = failing;
	/* In every other run blocks of one object are written back in part. */
	t->largest = rnd(2) ? LARGE : 4096;
	t->limit = (uint64_t)t->largest * (2 + rnd(10));
	opts.bytes = t->limit;
	opts.depth = 1 + rnd(4);
	t->w = world_new(&opts);
	t->w->pick = pick_any;
	for (o = 0; o < NOBJS; o++) {
		t->obj[o] = world_object(o + 1, o ? 512 : t->largest == LARGE ? LARGE : 2048);
		t->size[o] = (uint64_t)NBLOCKS * world_obj(t->obj[o])->ref.block;
		t->bytes[o] = calloc(1, t->size[o]);
		t->unknown[o] = calloc(1, t->size[o]);
	}
	return t;
}

static void twin_free(struct cache_twin *t)
{
	uint32_t o;

	world_free(t->w);
	viewer_free(t->viewer);
	for (o = 0; o < NOBJS; o++) {
		free(t->obj[o]);
		free(t->bytes[o]);
		free(t->unknown[o]);
	}
	free(t);
}

static void run_seeds(uint64_t from, uint64_t n, bool failing, bool shown)
{
	uint64_t seed, seen = 0;
	int i;

	for (seed = from; seed < from + n; seed++) {
		struct cache_twin *t = twin_new(seed, failing);

		for (i = 0; i < STEPS; i++) {
			/* Some blocks are cached by then, which move. */
			if (shown && i == 100)
				viewer_add(t);
			step(t);
		}
		check_end(t);
		CU_ASSERT_EQUAL(t->wrong, 0);
		CU_ASSERT(t->done > STEPS / 20);
		for (i = 0; i < NOPS; i++)
			CU_ASSERT_EQUAL(t->ops[i].kind, TWIN_FREE);
		if (t->wrong)
			printf("seed %llu: %u wrong\n", (unsigned long long)seed, t->wrong);
		seen += t->seen;
		twin_free(t);
	}
	CU_ASSERT(!shown || seen > n * STEPS / 100);
	printf("# seen %llu times\n", (unsigned long long)seen);
}

static void same_bytes(void)
{
	run_seeds(1, ut_rounds(150), false, false);
}

static void same_bytes_with_failures(void)
{
	run_seeds(1000, ut_rounds(150), true, false);
}

static void same_bytes_shown(void)
{
	run_seeds(2000, ut_rounds(150), false, true);
	run_seeds(3000, ut_rounds(150), true, true);
}

static const struct ut_case cases[] = {
	{ "same bytes", same_bytes },
	{ "same bytes on a disk that fails", same_bytes_with_failures },
	{ "and what is shown", same_bytes_shown },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "twin", cases } };

	return ut_run("cache_twin", suites, 1);
}
