// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that lie in many extents are mended, by requests of a client, in virtual time: beside others that read and write them, with
 * wrong blocks, on full disks, by several at once, by one who dies; and how fast a file is read then, and after all of it was written
 * together.  DDIO_FIGURES=1 prints the figures.
 */
#include <fcntl.h>
#include "tests/unit/cp/cp_world.h"
#include "cp/file/file.h"

enum { BLOCK = 8192, BLOCKS = 600, MENDER = 0, PROCS = 3, DISKS = 2 };

#define BYTES ((uint64_t)BLOCK * BLOCKS)

static const struct cp_params on_memory = { .seed = 4,
					    .nodes = 1,
					    .disks = DISKS,
					    .procs = PROCS,
					    .block = BLOCK,
					    .disk_size = "16M",
					    .lasts = true };

static struct ddio_file *open_file(struct cp_proc *p, const char *name, unsigned int flags)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, name, flags, NULL, &f));
	return f;
}

static void write_blocks(struct ddio_file *f, uint64_t first, uint64_t count, uint64_t seed)
{
	uint8_t *buf = malloc(count * BLOCK);
	uint64_t i;

	for (i = 0; i < count * BLOCK; i++)
		buf[i] = cp_byte(seed, first * BLOCK + i);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, count * BLOCK, first * BLOCK),
			(ssize_t)(count * BLOCK));
	free(buf);
}

static bool has_blocks(struct ddio_file *f, uint64_t first, uint64_t count, uint64_t seed)
{
	uint8_t *buf = malloc(count * BLOCK);
	bool same = ddio_pread(f, buf, count * BLOCK, first * BLOCK) == (ssize_t)(count * BLOCK);
	uint64_t i;

	for (i = 0; same && i < count * BLOCK; i++)
		same = buf[i] == cp_byte(seed, first * BLOCK + i);
	free(buf);
	return same;
}

static int count_extent(void *arg, const struct ddio_placement *p)
{
	(void)p;
	++*(uint64_t *)arg;
	return 0;
}

static uint64_t extents_of(struct cp_proc *p, struct ddio_file *f)
{
	uint64_t n = 0;

	CP_OK(p, ddio_layout(f, count_extent, &n));
	return n;
}

/* Has every third block written to another place, with the bytes that it has. */
static void scatter(struct cp_proc *p, struct ddio_file *f, uint64_t seed)
{
	char copy[16];
	uint64_t i;

	snprintf(copy, sizeof(copy), "copy%u", p->rank);
	CP_OK(p, ddio_clone(f, copy));
	for (i = 0; i < BLOCKS / 3; i++)
		write_blocks(f, i * 379 % BLOCKS, 1, seed);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_remove(p->session, copy));
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_drop_cache(f));
}

static struct ddio_file *scattered(struct cp_proc *p, const char *name)
{
	struct ddio_file *f = open_file(p, name, DDIO_CREATE);

	write_blocks(f, 0, BLOCKS, 1);
	CP_OK(p, ddio_sync(f));
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	scatter(p, f, 1);
	CU_ASSERT(extents_of(p, f) > BLOCKS / 8);
	return f;
}

/**
 * struct mend_said - what a mend says
 * @calls: so often; @most: it is ended by the call of that number
 */
struct mend_said {
	struct ddio_mend_state st;
	uint32_t calls, most;
};

static int tell(void *arg, const struct ddio_mend_state *st)
{
	struct mend_said *t = arg;

	t->st = *st;
	return ++t->calls == t->most ? 7 : 0;
}

static void mend(struct cp_proc *p, struct ddio_file *f, uint64_t rate, struct mend_said *t)
{
	*t = (struct mend_said){ .calls = 0 };
	CP_OK(p, ddio_mend(f, rate, 0, tell, t));
	CU_ASSERT_EQUAL(t->st.done, DISKS);
	CU_ASSERT_EQUAL(t->st.waiting, 0);
}

/* Nothing is wrong; returns what is free. */
static uint64_t free_bytes(struct cp_proc *p)
{
	struct ddio_check_result r;

	CP_OK(p, ddio_check(p->session, 0, NULL, NULL, &r));
	CU_ASSERT_EQUAL(r.problems + r.orphans + r.nameless, 0);
	return r.free_bytes;
}

static void run_world(const struct cp_params *params, void (*fn)(struct cp_proc *p))
{
	struct cp_world w;

	cp_world_begin(&w, params);
	CU_ASSERT_EQUAL(cp_run(&w, fn, NULL), 0);
	cp_world_end(&w);
}

/*
 * Alone
 */
static int sum_space(void *arg, const struct ddio_space_state *st)
{
	struct ddio_space_state *sum = arg;

	CU_ASSERT_EQUAL(st->error, 0);
	sum->free += st->free;
	sum->ranges += st->ranges;
	sum->longest += st->longest;
	sum->shared += st->shared;
	return 0;
}

static struct ddio_space_state space_of(struct cp_proc *p)
{
	struct ddio_space_state sum = { .free = 0 };

	CP_OK(p, ddio_space(p->session, sum_space, &sum));
	return sum;
}

static void alone(struct cp_proc *p)
{
	struct ddio_space_state before, after;
	struct ddio_file *f, *empty;
	struct mend_said t;

	if (p->rank != MENDER)
		return;
	f = scattered(p, "f");
	before = space_of(p);
	CU_ASSERT_EQUAL(before.free, free_bytes(p));
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	CU_ASSERT(t.st.moved >= BYTES / 4 && t.st.moved <= BYTES);
	CU_ASSERT_EQUAL(t.st.bad + t.st.busy + t.st.crowded + t.st.shared + t.st.unwritten, 0);
	after = space_of(p);
	CU_ASSERT_EQUAL(after.free, before.free);
	CU_ASSERT(after.ranges < before.ranges);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	CP_OK(p, ddio_drop_cache(f));
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(t.st.moved, 0);
	/* What a clone has, too, stays, and takes no more space. */
	CP_OK(p, ddio_clone(f, "copy"));
	after = space_of(p);
	CU_ASSERT_EQUAL(after.shared, BYTES);
	write_blocks(f, 10, 1, 2);
	write_blocks(f, 40, 1, 2);
	CP_OK(p, ddio_sync(f));
	after = space_of(p);
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(t.st.moved, 0);
	CU_ASSERT(t.st.shared > 0);
	CU_ASSERT_EQUAL(space_of(p).free, after.free);
	CP_OK(p, ddio_remove(p->session, "copy"));
	empty = open_file(p, "empty", DDIO_CREATE);
	mend(p, empty, 0, &t);
	CU_ASSERT_EQUAL(t.st.moved, 0);
	CP_OK(p, ddio_set_size(empty, 5 * BLOCK));
	mend(p, empty, 1, &t);
	ddio_close(empty);
	ddio_close(f);
	free_bytes(p);
}

static void test_alone(void)
{
	run_world(&on_memory, alone);
}

/* It is ended by its caller, goes on, and keeps to a rate. */
static void ended(struct cp_proc *p)
{
	struct ddio_file *f;
	struct mend_said t = { .most = 1 };
	uint64_t before, at;

	if (p->rank != MENDER)
		return;
	f = scattered(p, "f");
	before = extents_of(p, f);
	CU_ASSERT_EQUAL(ddio_mend(f, 500000, 0, tell, &t), 7);
	CU_ASSERT(t.st.moved > 0 && t.st.moved < 2 * DISKS * 600000 && t.st.done < DISKS);
	CU_ASSERT(extents_of(p, f) < before && extents_of(p, f) > DISKS);
	at = ddio_env_now(p->env);
	mend(p, f, 1000000, &t);
	at = ddio_env_now(p->env) - at;
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	/* Reads and writes both count. */
	CU_ASSERT(at > t.st.moved / DISKS * 1900 && at < t.st.moved / DISKS * 2600 + 2 * CP_SEC);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	ddio_close(f);
}

static void test_ended(void)
{
	run_world(&on_memory, ended);
}

/* One who asked for a rate at which a run takes hours is gone: nobody else rests for it. */
static void slow(struct cp_proc *p)
{
	struct mend_said t = { .most = 1 };
	struct ddio_file *f;
	uint64_t at;

	if (p->rank != MENDER)
		return;
	f = scattered(p, "f");
	CU_ASSERT_EQUAL(ddio_mend(f, 10, 0, tell, &t), 7);
	CU_ASSERT(t.st.moved > 0);
	at = ddio_env_now(p->env);
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	CU_ASSERT(ddio_env_now(p->env) - at < 60 * CP_SEC);
	ddio_close(f);
}

static void test_slow(void)
{
	run_world(&on_memory, slow);
}

/*
 * Others
 */
static bool over;

/* Others write blocks, and read back what they have written, until all is mended. */
static void beside(struct cp_proc *p)
{
	struct ddio_file *f;
	uint64_t n = 0, at;
	struct mend_said t;

	if (p->rank == MENDER) {
		f = scattered(p, "f");
		ddio_sim_sleep(p->env, CP_SEC);
		mend(p, f, 4000000, &t);
		CU_ASSERT(extents_of(p, f) < BLOCKS / 20);
		over = true;
	} else {
		ddio_sim_sleep(p->env, CP_SEC);
		f = open_file(p, "f", 0);
		for (n = 0; !over && n < 100000; n++) {
			at = (n * 2 * 379 + p->rank - 1) % BLOCKS;
			write_blocks(f, at, 1, 1);
			CU_ASSERT_TRUE_FATAL(has_blocks(f, at, 1, 1));
			ddio_sim_sleep(p->env, 200000);
		}
		CU_ASSERT(n > 100);
	}
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	ddio_close(f);
}

static void test_beside(void)
{
	over = false;
	run_world(&on_memory, beside);
}

/*
 * Others write new bytes to blocks, and have them written back, while these are read, or written to their new places, on slow disks:
 * nothing is lost, wherever a block lies in the end.
 */
enum { WEARS = 8 };

static uint8_t last[BLOCKS];
static bool mending;

/* As scatter() does it, with the bytes that were written last. */
static void wear(struct cp_proc *p, struct ddio_file *f)
{
	uint64_t i, at;

	CP_OK(p, ddio_clone(f, "copy"));
	for (i = 0; i < BLOCKS / 3; i++) {
		at = i * 379 % BLOCKS;
		write_blocks(f, at, 1, last[at]);
	}
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_remove(p->session, "copy"));
	CP_OK(p, ddio_sync(f));
}

/* Each of the two has every other block. */
static void change(struct cp_proc *p, struct ddio_file *f)
{
	uint64_t n = 0, at;

	while (!over) {
		if (!mending) {
			ddio_sim_sleep(p->env, CP_MS);
			continue;
		}
		at = (n * 2 + p->rank - 1) % BLOCKS;
		last[at] = (uint8_t)(2 + n++ % 200);
		write_blocks(f, at, 1, last[at]);
		CP_OK(p, ddio_sync(f));
	}
	CU_ASSERT(n > 20);
}

static void mend_often(struct cp_proc *p, struct ddio_file *f)
{
	struct mend_said t;
	uint32_t i;

	for (i = 0; i < WEARS; i++) {
		wear(p, f);
		mending = true;
		mend(p, f, 1000000000, &t);
		CU_ASSERT(t.st.moved > 0);
		mending = false;
		ddio_sim_sleep(p->env, CP_SEC);
	}
	over = true;
}

static void changed(struct cp_proc *p)
{
	struct ddio_file *f;
	uint64_t at;

	if (p->rank == MENDER) {
		f = open_file(p, "f", DDIO_CREATE);
		memset(last, 1, sizeof(last));
		write_blocks(f, 0, BLOCKS, 1);
		mend_often(p, f);
		CP_OK(p, ddio_drop_cache(f));
		for (at = 0; at < BLOCKS; at++)
			CU_ASSERT_TRUE_FATAL(has_blocks(f, at, 1, last[at]));
		free_bytes(p);
	} else {
		while (!mending)
			ddio_sim_sleep(p->env, CP_MS);
		f = open_file(p, "f", 0);
		change(p, f);
	}
	ddio_close(f);
}

static void test_changed(void)
{
	struct cp_params params = on_memory;

	over = mending = false;
	params.options = "delay_us=2000";
	run_world(&params, changed);
}

static void all_at_once(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, bool write,
			uint64_t seed)
{
	struct ddio_array array = {
		.elem_size = BLOCK,
		.ndims = 1,
		.dim = { { .size = BLOCKS, .dist = DDIO_BLOCK, .procs = PROCS } }
	};
	const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	const uint64_t len = BYTES / PROCS, first = p->rank * len;
	uint8_t *buf = malloc(len);
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	uint64_t i;

	for (i = 0; i < len; i++)
		buf[i] = write ? cp_byte(seed, first + i) : 0;
	if (write)
		CP_OK(p, ddio_write_all(f, g, &t));
	else
		CP_OK(p, ddio_read_all(f, g, &t));
	for (i = 0; i < len && buf[i] == cp_byte(seed, first + i); i++)
		;
	CU_ASSERT_EQUAL(i, len);
	free(buf);
}

/* Collective writes of the whole file, one after the other, beside a mend by the first member's process. */
static void together(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = p->rank == MENDER ? scattered(p, "f") : NULL;
	struct mend_said t;
	uint64_t n;

	ddio_group_barrier(g);
	if (!f)
		f = open_file(p, "f", 0);
	if (p->rank == MENDER) {
		t = (struct mend_said){ .most = 1 };
		CU_ASSERT_EQUAL(ddio_mend(f, 1000000, 0, tell, &t), 7);
	}
	for (n = 2; n < 6; n++)
		all_at_once(p, f, g, true, n);
	if (p->rank == MENDER) {
		mend(p, f, 0, &t);
		CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	}
	for (n = 6; n < 9; n++)
		all_at_once(p, f, g, p->rank < PROCS, n);
	all_at_once(p, f, g, false, 8);
	ddio_group_free(g);
	ddio_close(f);
}

static void test_together(void)
{
	run_world(&on_memory, together);
}

/* While the first one is being mended, the second waits, and says so. */
static bool first_over, has_waited;

static int tell_turn(void *arg, const struct ddio_mend_state *st)
{
	struct cp_proc *p = arg;

	if (p->rank == MENDER)
		return 0;
	has_waited |= st->waiting > 0;
	CU_ASSERT(first_over || !st->moved);
	return 0;
}

static void in_turns(struct cp_proc *p)
{
	static const char *const names[] = { "a", "b" };
	struct ddio_sim_link link;
	struct ddio_file *f;

	if (p->rank > 1)
		return;
	ddio_sim_sleep(p->env, p->rank * 50 * CP_SEC);
	f = scattered(p, names[p->rank]);
	/* The first one's client takes its time between two requests. */
	ddio_sim_link_default(&link);
	link.latency_ns = p->rank == MENDER ? 100 * CP_MS : link.latency_ns;
	ddio_sim_set_link(p->env, &link);
	ddio_sim_sleep(p->env, (200 + p->rank) * CP_SEC - ddio_env_now(p->env) % (200 * CP_SEC));
	CP_OK(p, ddio_mend(f, 500000, 0, tell_turn, p));
	if (p->rank == MENDER)
		first_over = true;
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	ddio_close(f);
}

static void test_turns(void)
{
	struct cp_params params = on_memory;

	first_over = has_waited = false;
	params.disk_size = "32M";
	run_world(&params, in_turns);
	CU_ASSERT_TRUE(has_waited);
}

/* Files of one disk are mended one after the other, each to its end. */
static void two(struct cp_proc *p)
{
	static const char *const names[] = { "a", "b", "a" };
	struct ddio_file *f;
	struct mend_said t;

	ddio_sim_sleep(p->env, p->rank * 5 * CP_SEC);
	if (p->rank < 2)
		ddio_close(scattered(p, names[p->rank]));
	ddio_sim_sleep(p->env, (20 - p->rank * 5) * CP_SEC);
	f = open_file(p, names[p->rank], 0);
	mend(p, f, 2000000, &t);
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	ddio_close(f);
	if (p->rank == MENDER)
		free_bytes(p);
}

static void test_two(void)
{
	struct cp_params params = on_memory;

	params.disk_size = "32M";
	run_world(&params, two);
}

/* The one whose turn it is dies; another goes on after a while. */
static void begin_slowly(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", 0);
	struct mend_said t = { .calls = 0 };

	(void)ddio_mend(f, 100000, 0, tell, &t);
}

static void make_two(struct cp_proc *p)
{
	if (p->rank != MENDER)
		return;
	ddio_close(scattered(p, "f"));
	ddio_close(scattered(p, "g"));
}

static void mend_two(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "g", 0);
	struct mend_said t;

	mend(p, f, 0, &t);
	ddio_close(f);
	f = open_file(p, "f", 0);
	CU_ASSERT(extents_of(p, f) > DISKS);
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	ddio_close(f);
	free_bytes(p);
}

static void test_dies(void)
{
	struct cp_params params = on_memory;
	struct cp_world w;

	params.disk_size = "32M";
	params.procs = 2;
	cp_leaks_allowed(true);
	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, make_two, NULL), 0);
	w.proc[1].fn = begin_slowly;
	ddio_sim_spawn(w.proc[1].env, cp_proc_main, &w.proc[1]);
	ddio_sim_run_for(w.dw, 3 * CP_SEC);
	w.proc[1].killed = true;
	sim_kill(w.proc[1].env);
	CU_ASSERT_EQUAL(cp_run(&w, mend_two, NULL), 0);
	cp_world_end(&w);
	cp_leaks_allowed(false);
}

/*
 * Wrong blocks
 */
struct mend_where {
	uint64_t block, byte;
	uint32_t disk;
};

static int find_block(void *arg, const struct ddio_placement *p)
{
	struct mend_where *w = arg;
	uint64_t first = p->block / DISKS, at = w->block / DISKS;

	if (p->block % DISKS != w->block % DISKS || at < first || at >= first + p->count)
		return 0;
	w->disk = p->disk;
	w->byte = p->start + (at - first) * BLOCK;
	return 1;
}

static void flip(struct cp_proc *p, struct ddio_file *f, uint64_t block)
{
	struct mend_where w = { .block = block };
	char path[300];
	uint8_t byte;
	int fd;

	CU_ASSERT_EQUAL_FATAL(ddio_layout(f, find_block, &w), 1);
	snprintf(path, sizeof(path), "%s/d%u.img", p->w->top, w.disk);
	fd = open(path, O_RDWR);
	CU_ASSERT_EQUAL_FATAL(pread(fd, &byte, 1, (off_t)w.byte + 77), 1);
	byte ^= 4;
	CU_ASSERT_EQUAL_FATAL(pwrite(fd, &byte, 1, (off_t)w.byte + 77), 1);
	close(fd);
}

static void wrong(struct cp_proc *p)
{
	struct ddio_file *f;
	struct mend_said t;
	uint8_t byte;

	if (p->rank != MENDER)
		return;
	f = scattered(p, "f");
	flip(p, f, 0);
	flip(p, f, 101);
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(t.st.bad, 2);
	CU_ASSERT(extents_of(p, f) < 10);
	/* They did not get good checksums. */
	CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 0), -EIO);
	CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 101 * BLOCK), -EIO);
	CU_ASSERT_TRUE(has_blocks(f, 1, 100, 1) && has_blocks(f, 102, BLOCKS - 102, 1));
	ddio_close(f);
	free_bytes(p);
}

static void test_wrong(void)
{
	run_world(&on_memory, wrong);
}

/*
 * On a disk with hardly any space
 */
static void full(struct cp_proc *p)
{
	struct ddio_file *f, *other;
	uint64_t size = 0, before;
	static uint8_t buf[BLOCK];
	struct mend_said t;

	if (p->rank != MENDER)
		return;
	f = scattered(p, "f");
	before = extents_of(p, f);
	other = open_file(p, "other", DDIO_CREATE);
	while (ddio_pwrite(other, buf, BLOCK, size) == BLOCK)
		size += BLOCK;
	CP_OK(p, ddio_sync(other));
	CU_ASSERT_EQUAL(space_of(p).free / BLOCK / DISKS, 0);
	mend(p, f, 0, &t);
	CU_ASSERT_EQUAL(t.st.moved, 0);
	CU_ASSERT(t.st.crowded > BLOCKS / 8);
	CU_ASSERT_EQUAL(extents_of(p, f), before);
	/* With room for some it is done bit by bit. */
	CP_OK(p, ddio_set_size(other, size - 200 * BLOCK));
	CP_OK(p, ddio_sync(other));
	mend(p, f, 0, &t);
	CU_ASSERT(t.st.moved > 0);
	CU_ASSERT(extents_of(p, f) < before / 2);
	CU_ASSERT_TRUE(has_blocks(f, 0, BLOCKS, 1));
	ddio_close(other);
	ddio_close(f);
	free_bytes(p);
}

static void test_full(void)
{
	run_world(&on_memory, full);
}

/*
 * What it is good for: collective reads from the papers' disks
 */
static void say(const char *what, uint64_t ns, uint64_t fresh, uint64_t extents)
{
	if (getenv("DDIO_FIGURES"))
		printf("# %s: %.3f s, %.2f of the fresh file's, %llu extents\n", what,
		       (double)ns / 1e9, (double)ns / (double)fresh, (unsigned long long)extents);
}

static uint64_t read_time(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g,
			  uint64_t seed)
{
	uint64_t at;

	if (p->rank == MENDER)
		CP_OK(p, ddio_drop_cache(f));
	ddio_group_barrier(g);
	at = ddio_env_now(p->env);
	all_at_once(p, f, g, false, seed);
	ddio_group_barrier(g);
	return ddio_env_now(p->env) - at;
}

static void worth(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint64_t fresh, worn, mended, again;
	struct ddio_file *f;
	struct mend_said t;

	if (p->rank == MENDER)
		ddio_close(open_file(p, "f", DDIO_CREATE));
	ddio_group_barrier(g);
	f = open_file(p, "f", 0);
	all_at_once(p, f, g, true, 1);
	fresh = read_time(p, f, g, 1);
	if (p->rank == MENDER) {
		CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
		scatter(p, f, 1);
	}
	worn = read_time(p, f, g, 1);
	if (p->rank == MENDER) {
		say("fresh", fresh, fresh, DISKS);
		say("random blocks written to other places", worn, fresh, extents_of(p, f));
		mend(p, f, 0, &t);
		CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
	}
	mended = read_time(p, f, g, 1);
	if (p->rank == MENDER) {
		say("mended", mended, fresh, extents_of(p, f));
		scatter(p, f, 1);
		CU_ASSERT(extents_of(p, f) > BLOCKS / 8);
	}
	ddio_group_barrier(g);
	all_at_once(p, f, g, true, 2);
	again = read_time(p, f, g, 2);
	if (p->rank == MENDER) {
		say("all of it written again together", again, fresh, extents_of(p, f));
		CU_ASSERT_EQUAL(extents_of(p, f), DISKS);
		CU_ASSERT(worn > fresh + fresh / 4);
		CU_ASSERT(mended < fresh + fresh / 20);
		CU_ASSERT(again < fresh + fresh / 20);
	}
	ddio_group_free(g);
	ddio_close(f);
}

static void test_worth(void)
{
	struct cp_params params = on_memory;

	params.engine = "hp97560";
	params.disk_size = "64M";
	params.lasts = false;
	run_world(&params, worth);
}

/*
 * What it costs others: blocks of another file that a process reads at random, one after the other, alone and beside a mend
 */
enum { READER = 1, READS = 3000 };

static uint64_t reads_time(struct cp_proc *p, struct ddio_file *f)
{
	const uint64_t begin = ddio_env_now(p->env);
	uint8_t buf[BLOCK];
	uint64_t n = 0, x = 7;

	while (n < READS) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		CU_ASSERT_EQUAL_FATAL(ddio_pread(f, buf, BLOCK, (x >> 33) % (20 * BLOCKS) * BLOCK),
				      BLOCK);
		n++;
	}
	return ddio_env_now(p->env) - begin;
}

static void cost(struct cp_proc *p)
{
	struct ddio_file *f;
	struct mend_said t;
	uint64_t alone, beside, i;

	if (p->rank > READER)
		return;
	if (p->rank == MENDER) {
		f = scattered(p, "f");
		while (!mending)
			ddio_sim_sleep(p->env, CP_MS);
		mend(p, f, 0, &t);
		CU_ASSERT(t.st.moved > 0);
		over = true;
		ddio_close(f);
		return;
	}
	f = open_file(p, "g", DDIO_CREATE);
	for (i = 0; i < 20; i++)
		write_blocks(f, i * BLOCKS, BLOCKS, 1);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_drop_cache(f));
	ddio_sim_sleep(p->env, 100 * CP_SEC);
	alone = reads_time(p, f);
	/* The same blocks again. */
	CP_OK(p, ddio_drop_cache(f));
	mending = true;
	beside = reads_time(p, f);
	CU_ASSERT_FALSE(over);
	if (getenv("DDIO_FIGURES"))
		printf("# %d blocks read at random: %.2f s alone, %.2f s beside a mend\n", READS,
		       (double)alone / 1e9, (double)beside / 1e9);
	CU_ASSERT(beside < alone + alone / 10);
	ddio_close(f);
}

static void test_cost(void)
{
	struct cp_params params = on_memory;

	over = mending = false;
	params.engine = "hp97560";
	params.disk_size = "256M";
	params.lasts = false;
	run_world(&params, cost);
}

static const struct ut_case cases[] = {
	{ "what it costs others", test_cost },
	{ "alone", test_alone },
	{ "ended, and a rate", test_ended },
	{ "after a slow one", test_slow },
	{ "beside others", test_beside },
	{ "beside others that change it", test_changed },
	{ "beside collectives", test_together },
	{ "in turns", test_turns },
	{ "two files", test_two },
	{ "one who dies", test_dies },
	{ "wrong blocks", test_wrong },
	{ "full disks", test_full },
	{ "what it is worth", test_worth },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mend", cases } };

	return ut_run("test_cp_mend", suites, 1);
}
