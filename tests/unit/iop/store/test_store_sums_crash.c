// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums and a crash at any moment.  Random operations write blocks, many of them again and again, as the cache and
 * collectives do.  At random moments records and disk are copied, as a loss of power would leave them: of what was
 * written since the last flush, each block is there, or is not, or half of it is.  No block of the copy may be said to
 * be wrong, and afterwards no wrong bit may be overlooked.
 */
#include <errno.h>
#include <fcntl.h>
#include "base/rand.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define OBJECTS 3
#define BLOCKS 16
#define APART 40 /* so that an object has several groups */
#define WRITES 64
#define SIZE (4 * MIB)

static const uint32_t sizes[OBJECTS] = { 512, 4096, 131072 };

/* A write that has not been flushed: what was there before. */
struct unsafe {
	uint64_t at;
	uint32_t len;
	uint8_t *old;
};

/**
 * struct sums_life - a store that lives through operations
 * @begun: object_write_begin() has allowed a write that has not ended
 * @unsafe: writes since the last commit began, oldest first
 * @found, @not_found: wrong bits
 */
struct sums_life {
	struct ut_store t;
	struct object *obj[OBJECTS];
	bool begun[OBJECTS][BLOCKS];
	struct unsafe unsafe[WRITES];
	uint32_t nunsafe;
	struct ut_commit commit;
	bool busy;
	uint64_t rand, stamp;
	unsigned int crashes, waits, found, not_found;
};

static void io(const char *file, bool write, uint64_t at, void *data, size_t len)
{
	int fd = open(file, write ? O_WRONLY : O_RDONLY);
	ssize_t n = write ? pwrite(fd, data, len, (off_t)at) : pread(fd, data, len, (off_t)at);

	if (n != (ssize_t)len)
		abort();
	close(fd);
}

static void *bytes_of(uint32_t len, uint64_t stamp)
{
	uint8_t *data = malloc(len);
	uint32_t i;

	if (!data)
		abort();
	for (i = 0; i < len; i += sizeof(stamp)) {
		ddio_rand_next(&stamp);
		memcpy(data + i, &stamp, sizeof(stamp));
	}
	return data;
}

static bool place(struct object *obj, uint64_t b, uint64_t *at, bool *written)
{
	uint64_t run;

	return object_lookup(obj, b * APART, at, &run, written);
}

static void flushed(struct sums_life *life)
{
	while (life->nunsafe)
		free(life->unsafe[--life->nunsafe].old);
}

static void commit_end(struct sums_life *life)
{
	if (life->busy)
		CU_ASSERT_EQUAL(ut_commit_wait(&life->commit), 0);
	life->busy = false;
}

static void commit_begin(struct sums_life *life)
{
	commit_end(life);
	life->busy = true;
	ut_commit_init(&life->commit, life->t.env);
	store_commit(life->t.store, &life->commit.commit);
	/* Only what comes now may be lost for sure: nothing is known of the rest until the commit ends. */
	flushed(life);
}

static struct object *hold(struct sums_life *life, uint64_t i)
{
	if (!life->obj[i])
		life->obj[i] = ut_object(&life->t, i + 1, sizes[i], (uint32_t)i, true);
	return life->obj[i];
}

/* The bytes of a write that was allowed reach the disk, and it ends. */
static void write_end(struct sums_life *life, uint64_t i, uint64_t b)
{
	struct unsafe *u = &life->unsafe[life->nunsafe];
	uint8_t *data = bytes_of(sizes[i], ++life->stamp);
	bool written, fails = !ddio_rand_below(&life->rand, 12);
	uint64_t at;

	if (!place(life->obj[i], b, &at, &written))
		abort();
	u->at = at;
	u->len = sizes[i];
	u->old = malloc(u->len);
	io(life->t.file, false, at, u->old, u->len);
	life->nunsafe++;
	io(life->t.file, true, at, data, fails ? sizes[i] / 2 : sizes[i]);
	object_write_end(life->obj[i], b * APART, !fails, data);
	life->begun[i][b] = false;
	free(data);
}

static void op_write(struct sums_life *life, uint64_t i)
{
	struct object *obj = hold(life, i);
	uint64_t b = ddio_rand_below(&life->rand, BLOCKS);
	int ret;

	if (life->nunsafe == WRITES)
		commit_begin(life);
	if (life->begun[i][b]) {
		write_end(life, i, b);
		return;
	}
	ret = object_alloc(obj, b * APART, 1);
	if (ret) {
		/* What was freed is not free yet. */
		CU_ASSERT_EQUAL(ret, -ENOSPC);
		commit_begin(life);
		return;
	}
	ret = object_write_begin(obj, b * APART);
	if (ret == 1) {
		life->waits++;
		commit_begin(life);
		commit_end(life);
		ret = object_write_begin(obj, b * APART);
	}
	CU_ASSERT_EQUAL_FATAL(ret, 0);
	life->begun[i][b] = true;
	if (ddio_rand_below(&life->rand, 3))
		write_end(life, i, b);
}

/* Others change blocks only when no write of theirs is under way. */
static void quiet(struct sums_life *life, uint64_t i)
{
	uint64_t b;

	for (b = 0; b < BLOCKS; b++) {
		if (life->nunsafe == WRITES)
			commit_begin(life);
		if (life->begun[i][b])
			write_end(life, i, b);
	}
}

static void op_range(struct sums_life *life, uint64_t i, bool cut)
{
	uint64_t b = ddio_rand_below(&life->rand, BLOCKS);
	uint64_t n = 1 + ddio_rand_below(&life->rand, BLOCKS - b);
	struct object *obj = hold(life, i);

	quiet(life, i);
	CU_ASSERT_EQUAL(cut ? object_punch(obj, b * APART, n * APART)
			    : object_unwrite(obj, b * APART, n * APART),
			0);
}

static void op_drop(struct sums_life *life, uint64_t i, bool removed)
{
	quiet(life, i);
	if (removed)
		CU_ASSERT_EQUAL(object_remove(hold(life, i)), 0);
	object_put(life->obj[i]);
	life->obj[i] = NULL;
}

/* Some writes that were not flushed are undone, some half, the last first. */
static void lose(struct sums_life *life, const struct ut_store *copy)
{
	uint32_t i, from, len;

	for (i = life->nunsafe; i--;) {
		const struct unsafe *u = &life->unsafe[i];

		from = ddio_rand_below(&life->rand, 3) ? 0 : u->len / 2;
		len = ddio_rand_below(&life->rand, 2) ? u->len - from : from;
		io(copy->file, true, u->at + from, u->old + from, len);
	}
}

/* Checks a block as it is, and then with a wrong bit: that is found if the block has a sum. */
static void check_block(struct sums_life *life, struct ut_store *t, struct object *obj,
			uint64_t block, uint64_t at)
{
	struct sums_block b = { .id = object_file(obj)->id,
				.block = block,
				.bs = object_file(obj)->block };
	uint64_t bit = ddio_rand_below(&life->rand, b.bs * UINT64_C(8));
	uint8_t *data = malloc(b.bs);
	int found;

	io(t->file, false, at, data, b.bs);
	CU_ASSERT_EQUAL(object_check(obj, block, data), 0);
	data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	found = sums_known(&t->store->sums, &b) ? -EBADMSG : 0;
	CU_ASSERT_EQUAL(object_check(obj, block, data), found);
	life->found += found != 0;
	life->not_found += !found;
	free(data);
}

static void check_all(struct sums_life *life, struct ut_store *t)
{
	uint64_t i, b, at;
	struct object *obj;
	bool written;

	for (i = 0; i < OBJECTS; i++) {
		obj = ut_object(t, i + 1, sizes[i], (uint32_t)i, false);
		for (b = 0; obj && b < BLOCKS; b++)
			if (place(obj, b, &at, &written) && written)
				check_block(life, t, obj, b * APART, at);
		object_put(obj);
	}
}

static void crash(struct sums_life *life)
{
	struct ut_store copy;

	ut_store_copy(&copy, &life->t, SIZE);
	lose(life, &copy);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	check_all(life, &copy);
	ut_store_clean(&copy);
	CU_ASSERT_EQUAL(ut_store_reopen(&copy), 0);
	check_all(life, &copy);
	ut_store_end(&copy);
	life->crashes++;
}

static void step(struct sums_life *life)
{
	uint64_t i = ddio_rand_below(&life->rand, OBJECTS);

	switch (ddio_rand_below(&life->rand, 24)) {
	case 0:
		op_drop(life, i, true);
		break;
	case 1:
	case 2:
		op_drop(life, i, false);
		break;
	case 3:
		op_range(life, i, true);
		break;
	case 4:
		op_range(life, i, false);
		break;
	case 5:
	case 6:
		commit_begin(life);
		break;
	case 7:
		commit_end(life);
		break;
	case 8:
		ddio_sim_run_for(life->t.world, 1 + ddio_rand_below(&life->rand, 1000));
		break;
	case 9:
		store_settle(life->t.store, ddio_rand_below(&life->rand, 2));
		break;
	default:
		op_write(life, i);
	}
	if (!ddio_rand_below(&life->rand, 20))
		crash(life);
}

static void random_crashes(void)
{
	static struct sums_life life;
	uint64_t seed, i;

	for (seed = 1; seed <= ut_rounds(40); seed++) {
		memset(&life, 0, sizeof(life));
		life.rand = seed;
		ut_store_begin(&life.t, SIZE);
		for (i = 0; i < 400; i++)
			step(&life);
		CU_ASSERT(life.crashes > 5);
		CU_ASSERT(life.waits > 5);
		CU_ASSERT(life.found > 5 * life.not_found);
		for (i = 0; i < OBJECTS; i++)
			op_drop(&life, i, false);
		commit_end(&life);
		flushed(&life);
		ut_store_end(&life.t);
	}
}

static const struct ut_case cases[] = {
	{ "random crashes", random_crashes },
	{ .name = NULL },
};

static const struct ut_suite suites[] = { { "sums and crashes", cases } };

int main(void)
{
	return ut_run("store_sums_crash", suites, 1);
}
