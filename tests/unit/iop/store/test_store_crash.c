// SPDX-License-Identifier: GPL-2.0-only
/*
 * A crash at any moment.  Random operations run on a store and on a plain model
 * of it; at random moments records and disk are copied, as a crash would leave
 * them, and the copy is opened: it must hold what the last commit that had
 * ended (or the one under way) covered, byte for byte, and pass the check.  And a
 * process of the real world is killed at random moments.
 *
 * Every block is written once, with a stamp of its own, so that a place that was
 * given out too early shows.  A block that is to read as zeros again is written anew, at
 * the same place, only when that is committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "base/rand.h"
#include "env/real/real.h"
#include "ut_store.h"

#define OBJECTS 6
#define BLOCKS 48
#define BS 4096u
#define SIZE (4096 + 130 * BS)

#define ZEROS UINT64_MAX

/* What a store holds: the stamp of every block, 0 for a hole, ZEROS for one that is reserved. */
struct crash_model {
	uint64_t stamp[OBJECTS][BLOCKS];
};

/**
 * struct life - a store that lives through operations
 * @now: what it holds; @pending: what the commit under way covers; @done: the last that ended
 * @busy: a commit is under way
 * @obj: held references, at times
 * @zeroed: blocks that were written, read as zeros again, and this is not committed: until then
 *	writing them anew shows where the records still speak of the old stamp
 */
struct life {
	struct ut_store t;
	struct crash_model now, pending, done;
	struct object *obj[OBJECTS];
	uint8_t zeroed[OBJECTS][BLOCKS];
	struct ut_commit commit;
	bool busy;
	uint64_t rand, stamp;
	unsigned int crashes, full;
};

static uint32_t layout_of(uint64_t i)
{
	return (uint32_t)(i % DDIO_LAYOUT_MAX_W);
}

/* Past the disk's queue, into the file behind it: a flush may be under way. */
static void stamp_write(const struct ut_store *t, uint64_t start, uint64_t stamp)
{
	int fd = open(t->file, O_WRONLY);

	if (fd < 0 || pwrite(fd, &stamp, sizeof(stamp), (off_t)start) != sizeof(stamp))
		abort();
	close(fd);
}

static uint64_t stamp_read(const struct ut_store *t, uint64_t start)
{
	uint64_t stamp;
	int fd = open(t->file, O_RDONLY);

	if (fd < 0 || pread(fd, &stamp, sizeof(stamp), (off_t)start) != sizeof(stamp))
		abort();
	close(fd);
	return stamp;
}

static struct object *hold(struct life *life, uint64_t i)
{
	if (!life->obj[i])
		life->obj[i] = ut_object(&life->t, i + 1, BS, layout_of(i), true);
	return life->obj[i];
}

static void drop(struct life *life, uint64_t i)
{
	object_put(life->obj[i]);
	life->obj[i] = NULL;
}

static bool is_stamp(uint64_t stamp)
{
	return stamp && stamp != ZEROS;
}

/* Gives blocks a place; writes those that were holes, perhaps not all of them. */
static void op_write(struct life *life, uint64_t i)
{
	struct object *obj = hold(life, i);
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS);
	uint64_t count = 1 + ddio_rand_below(&life->rand, BLOCKS - first), b, start, run;
	bool written;
	int ret;

	if (count > 8)
		count = 8 + count % 3;
	if (first + count > BLOCKS)
		count = BLOCKS - first;
	ret = object_alloc(obj, first, count);
	if (ret) {
		CU_ASSERT_EQUAL(ret, -ENOSPC);
		life->full++;
		return;
	}
	for (b = first; b < first + count; b++) {
		CU_ASSERT_TRUE(object_lookup(obj, b, &start, &run, &written));
		CU_ASSERT_EQUAL(written, is_stamp(life->now.stamp[i][b]));
		if (written || life->zeroed[i][b] || !ddio_rand_below(&life->rand, 8))
			continue;
		stamp_write(&life->t, start, ++life->stamp);
		object_written(obj, b, 1);
		life->now.stamp[i][b] = life->stamp;
	}
}

static void forget(struct life *life, uint64_t i, uint64_t first, uint64_t end)
{
	uint64_t b;

	for (b = first; b < end; b++) {
		life->now.stamp[i][b] = 0;
		life->zeroed[i][b] = 0;
	}
}

static void op_truncate(struct life *life, uint64_t i)
{
	uint64_t n = ddio_rand_below(&life->rand, BLOCKS + 1);

	CU_ASSERT_EQUAL(object_punch(hold(life, i), n, UINT64_MAX), 0);
	forget(life, i, n, BLOCKS);
}

static void op_punch(struct life *life, uint64_t i)
{
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS);
	uint64_t count = 1 + ddio_rand_below(&life->rand, BLOCKS - first);

	CU_ASSERT_EQUAL(object_punch(hold(life, i), first, count), 0);
	forget(life, i, first, first + count);
}

static void op_reserve(struct life *life, uint64_t i)
{
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;
	uint64_t count = 1 + ddio_rand_below(&life->rand, BLOCKS - first) / 3;
	int ret = object_reserve(hold(life, i), first, count);

	if (ret) {
		CU_ASSERT_EQUAL(ret, -ENOSPC);
		life->full++;
		return;
	}
	for (b = first; b < first + count; b++)
		if (!life->now.stamp[i][b])
			life->now.stamp[i][b] = ZEROS;
}

static void op_unwrite(struct life *life, uint64_t i)
{
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;
	uint64_t count = 1 + ddio_rand_below(&life->rand, BLOCKS - first);

	CU_ASSERT_EQUAL(object_unwrite(hold(life, i), first, count), 0);
	for (b = first; b < first + count; b++) {
		if (!is_stamp(life->now.stamp[i][b]))
			continue;
		life->now.stamp[i][b] = ZEROS;
		life->zeroed[i][b] = 1;
	}
}

static void op_remove(struct life *life, uint64_t i)
{
	CU_ASSERT_EQUAL(object_remove(hold(life, i)), 0);
	forget(life, i, 0, BLOCKS);
	drop(life, i);
}

static void commit_end(struct life *life)
{
	uint64_t i, b;

	if (!life->busy)
		return;
	CU_ASSERT_EQUAL(ut_commit_wait(&life->commit), 0);
	life->busy = false;
	life->done = life->pending;
	for (i = 0; i < OBJECTS; i++)
		for (b = 0; b < BLOCKS; b++)
			if (life->zeroed[i][b] == 2)
				life->zeroed[i][b] = 0;
}

static void commit_begin(struct life *life)
{
	uint64_t i, b;

	commit_end(life);
	life->pending = life->now;
	for (i = 0; i < OBJECTS; i++)
		for (b = 0; b < BLOCKS; b++)
			if (life->zeroed[i][b])
				life->zeroed[i][b] = 2;
	life->busy = true;
	ut_commit_init(&life->commit, life->t.env);
	store_commit(life->t.store, &life->commit.commit);
}

/* Checks that the store holds exactly what the model says. */
static bool holds(struct ut_store *t, const struct crash_model *model, uint64_t *blocks)
{
	uint64_t i, b, start, run, n = 0;
	struct object *obj;
	bool written, there, same = true;

	for (i = 0; i < OBJECTS; i++) {
		obj = ut_object(t, i + 1, BS, layout_of(i), false);
		for (b = 0; b < BLOCKS; b++) {
			there = obj && object_lookup(obj, b, &start, &run, &written);
			if (there != (model->stamp[i][b] != 0) ||
			    (there && written != is_stamp(model->stamp[i][b])) ||
			    (there && written && stamp_read(t, start) != model->stamp[i][b]))
				same = false;
			n += there;
		}
		object_put(obj);
	}
	*blocks = n;
	return same;
}

static void verify(struct ut_store *t, const struct crash_model *one,
		   const struct crash_model *other)
{
	uint64_t blocks = 0;
	bool same;

	same = holds(t, one, &blocks) || holds(t, other, &blocks);
	CU_ASSERT_TRUE(same);
	CU_ASSERT_EQUAL(ut_store_clean(t), SIZE - 4096 - blocks * BS);
	CU_ASSERT_EQUAL(store_free_bytes(t->store), SIZE - 4096 - blocks * BS);
}

static void crash(struct life *life)
{
	struct ut_store copy;

	ut_store_copy(&copy, &life->t, SIZE);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	verify(&copy, &life->done, life->busy ? &life->pending : &life->done);
	ut_store_end(&copy);
	life->crashes++;
}

static void step(struct life *life)
{
	uint64_t i = ddio_rand_below(&life->rand, OBJECTS);

	switch (ddio_rand_below(&life->rand, 16)) {
	case 0:
		op_remove(life, i);
		break;
	case 1:
	case 2:
		op_truncate(life, i);
		break;
	case 3:
	case 4:
		commit_begin(life);
		break;
	case 5:
		commit_end(life);
		break;
	case 6:
	case 7:
		drop(life, i);
		break;
	case 9:
		op_reserve(life, i);
		break;
	case 10:
		op_punch(life, i);
		break;
	case 11:
		op_unwrite(life, i);
		break;
	case 8:
		ddio_sim_run_for(life->t.world, 1 + ddio_rand_below(&life->rand, 1000));
		break;
	default:
		op_write(life, i);
	}
	if (!ddio_rand_below(&life->rand, 25))
		crash(life);
}

static void test_random_crashes(void)
{
	static struct life life;
	uint64_t seed, i, blocks, full = 0;

	for (seed = 1; seed <= 12; seed++) {
		memset(&life, 0, sizeof(life));
		life.rand = seed;
		ut_store_begin(&life.t, SIZE);
		for (i = 0; i < 400; i++)
			step(&life);
		commit_begin(&life);
		commit_end(&life);
		crash(&life);
		for (i = 0; i < OBJECTS; i++)
			drop(&life, i);
		CU_ASSERT_EQUAL(ut_store_reopen(&life.t), 0);
		CU_ASSERT_TRUE(holds(&life.t, &life.now, &blocks));
		CU_ASSERT(life.crashes > 5);
		full += life.full;
		ut_store_end(&life.t);
	}
	CU_ASSERT(full > 0);
}

/**
 * struct report - what the killed process tells, in shared memory
 * @version: commits that have ended; @started: that have begun
 * @models: of the last two commits, by number modulo 2
 */
struct report {
	uint64_t started, version;
	struct crash_model models[2];
};

/* In a process that will be killed: commit after commit, each told before and after. */
static void live(struct life *life)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_INFO,
						    .engines = ddio_disk_engines };

	if (ddio_real_new(&opts, &life->t.env) || ut_store_open(&life->t) ||
	    ddio_real_start_thread(life->t.env))
		_exit(1);
}

struct crash_worker {
	struct life *life;
	struct report *report;
	struct ddio_post post;
	struct commit commit;
};

static void worker_step(void *arg);

static void worker_done(struct commit *commit, int err)
{
	struct crash_worker *w = commit->arg;

	if (err)
		_exit(3);
	__atomic_store_n(&w->report->version, w->report->started, __ATOMIC_SEQ_CST);
	worker_step(w);
}

/* On the reactor: some operations, then a commit; its end goes on. */
static void worker_step(void *arg)
{
	struct crash_worker *w = arg;
	struct life *life = w->life;
	uint64_t i, n = w->report->started + 1;

	for (i = 0; i < 6; i++) {
		uint64_t which = ddio_rand_below(&life->rand, OBJECTS);

		if (!ddio_rand_below(&life->rand, 6))
			op_truncate(life, which);
		else if (!ddio_rand_below(&life->rand, 8))
			op_punch(life, which);
		else if (!ddio_rand_below(&life->rand, 8))
			op_reserve(life, which);
		else if (!ddio_rand_below(&life->rand, 10))
			op_remove(life, which);
		else
			op_write(life, which);
		drop(life, which);
	}
	w->report->models[n % 2] = life->now;
	__atomic_store_n(&w->report->started, n, __ATOMIC_SEQ_CST);
	store_commit(life->t.store, &w->commit);
}

static void child_run(struct life *life, struct report *report)
{
	static struct crash_worker w;

	live(life);
	w.life = life;
	w.report = report;
	w.post = (struct ddio_post){ .fn = worker_step, .arg = &w };
	w.commit = (struct commit){ .done = worker_done, .arg = &w };
	ddio_env_post(life->t.env, &w.post);
	for (;;)
		pause();
}

static void kill_one(struct life *life, struct report *report)
{
	struct ut_store after = life->t;
	uint64_t began = report->version, version, delay;
	int status, spins;
	pid_t pid = fork();

	if (!pid)
		child_run(life, report);
	/* At least one commit of this life, or there is nothing to test; a bound, should it fail. */
	for (spins = 0; spins < 10000; spins++) {
		if (__atomic_load_n(&report->version, __ATOMIC_SEQ_CST) > began + 1)
			break;
		usleep(1000);
	}
	CU_ASSERT(spins < 10000);
	delay = ddio_rand_below(&life->rand, 3000);
	usleep((useconds_t)delay);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	version = report->version;
	CU_ASSERT(report->started == version || report->started == version + 1);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&after), 0);
	verify(&after, &report->models[version % 2], &report->models[report->started % 2]);
	if (holds(&after, &report->models[report->started % 2], &delay))
		version = report->started;
	life->now = report->models[version % 2];
	report->models[0] = life->now;
	report->models[1] = life->now;
	report->started = version;
	report->version = version;
	ut_store_close(&after);
}

static void test_kill(void)
{
	static struct life life;
	struct report *report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	CU_ASSERT_PTR_NOT_EQUAL_FATAL(report, MAP_FAILED);
	memset(&life, 0, sizeof(life));
	ut_store_prepare(&life.t, SIZE);
	life.t.opts.sync = true;
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&life.t), 0);
	ut_store_close(&life.t);
	for (i = 0; i < 25; i++) {
		life.rand = (uint64_t)i + 1;
		life.stamp = (uint64_t)(i + 1) << 32;
		kill_one(&life, report);
	}
	ut_store_end(&life.t);
	munmap(report, sizeof(*report));
}

static const struct ut_case cases[] = {
	{ "copies at random moments", test_random_crashes },
	{ "killed at random moments", test_kill },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "crash", cases } };

	return ut_run("store_crash", suites, 1);
}
