// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scrubs of whole clusters in virtual time: every wrong bit is found and named, nothing is said of what is right, whatever
 * else is under way, and each pass comes to its end, or is cut off where it should.
 */
#include <fcntl.h>
#include <unistd.h>
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 1024, BLOCKS = 600, BYTES = BLOCKS * BLOCK, LABEL = 4096 };

/**
 * struct scrub_sum - what all disks say together
 */
struct scrub_sum {
	uint32_t disks, errors, running;
	uint64_t used, done, bad, unread, given, begun, ended;
};

static struct scrub_sum got;
static struct ddio_scrub_state said[CP_DISKS];

static int add(void *arg, const struct ddio_scrub_state *st)
{
	(void)arg;
	said[st->disk] = *st;
	got.disks++;
	got.errors += st->error != 0;
	got.running += st->running != 0;
	got.used += st->used;
	got.done += st->done;
	got.bad += st->mismatches;
	got.unread += st->unread;
	got.given += st->given;
	return 0;
}

static void ask(struct cp_proc *p, int action, uint64_t rate)
{
	memset(&got, 0, sizeof(got));
	CP_OK(p, ddio_scrub(p->session, action, rate, add, NULL));
}

static void wait_end(struct cp_proc *p)
{
	int i;

	for (i = 0; i < 6000; i++) {
		ask(p, DDIO_SCRUB_LOOK, 0);
		if (!got.running)
			return;
		ddio_sim_sleep(p->env, 100 * CP_MS);
	}
	CU_FAIL("a scrub does not end");
}

/* Begins one and waits for its end. */
static void scrub(struct cp_proc *p)
{
	ask(p, DDIO_SCRUB_START, 0);
	CU_ASSERT_EQUAL(got.errors, 0);
	wait_end(p);
}

static void fill(uint8_t *data, uint64_t seed, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		data[i] = cp_byte(seed, i) | 1;
}

static struct ddio_file *open_file(struct cp_proc *p, const char *name)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f));
	return f;
}

static void make(struct cp_proc *p, const char *name, uint64_t len)
{
	struct ddio_file *f = open_file(p, name);
	uint8_t *data = malloc(len);

	fill(data, (uint64_t)name[0], len);
	CP_OK(p, ddio_pwrite(f, data, len, 0) == (ssize_t)len ? 0 : -EIO);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
	free(data);
}

static void image(const struct cp_world *w, uint32_t disk, char name[300])
{
	snprintf(name, 300, "%s/d%u.img", w->top, disk);
}

/* Turns a bit of every @nth block of a disk that holds anything; returns how many. */
static uint32_t flip(const struct cp_world *w, uint32_t disk, uint32_t nth)
{
	uint8_t buf[BLOCK], zero[BLOCK] = { 0 };
	uint32_t n = 0, seen = 0;
	char name[300];
	off_t at;
	int fd;

	image(w, disk, name);
	fd = open(name, O_RDWR);
	for (at = LABEL; pread(fd, buf, BLOCK, at) == BLOCK; at += BLOCK) {
		if (!memcmp(buf, zero, BLOCK) || seen++ % nth)
			continue;
		buf[(at * 31 / BLOCK) % BLOCK] ^= 1 << seen % 8;
		n += pwrite(fd, buf, BLOCK, at) == BLOCK;
	}
	close(fd);
	return n;
}

static int count_errors(void *arg, const struct ddio_disk_state *st)
{
	*(uint64_t *)arg += st->errors;
	return 0;
}

static void make_one(struct cp_proc *p)
{
	make(p, "one", BYTES);
}

static const struct cp_params plain = { .procs = 1, .lasts = true };

/*
 * Wrong bits
 */
static void find_bits(struct cp_proc *p)
{
	uint32_t n = 0, i;
	uint64_t errors = 0;

	make(p, "one", BYTES);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad + got.unread + got.given, 0);
	CU_ASSERT_EQUAL(got.done, BYTES);
	for (i = 0; i < p->w->p.disks; i++)
		n += flip(p->w, i, 2);
	CU_ASSERT_EQUAL(n, BLOCKS / 2);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, n);
	CU_ASSERT_EQUAL(got.done, BYTES);
	CU_ASSERT_EQUAL(ddio_sim_logged(p->w->dw, "does not match its checksum"), n);
	CP_OK(p, ddio_disks(p->session, count_errors, &errors));
	CU_ASSERT_EQUAL(errors, n);
	/* Turned back, all is right again. */
	for (i = 0; i < p->w->p.disks; i++)
		flip(p->w, i, 2);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, 0);
}

static void test_bits(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, find_bits, NULL), 0);
	cp_world_end(&w);
}

/* A disk of which nothing is right fills no log. */
static void find_all(struct cp_proc *p)
{
	uint32_t n;

	make(p, "one", BYTES);
	n = flip(p->w, 0, 1);
	CU_ASSERT_EQUAL(n, BLOCKS);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, n);
	CU_ASSERT_EQUAL(ddio_sim_logged(p->w->dw, "does not match its checksum"), 100);
	CU_ASSERT_EQUAL(ddio_sim_logged(p->w->dw, "only counts them from here on"), 1);
}

static void test_log(void)
{
	const struct cp_params params = { .procs = 1, .lasts = true, .disks = 1, .nodes = 1 };
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, find_all, NULL), 0);
	cp_world_end(&w);
}

/*
 * Others at work
 */
enum { ROUNDS = 60, WRITERS = 4 };

/* Writes pieces of all sizes, in whole blocks and in part, and cuts the file now and then. */
static void write_on(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "one");
	uint8_t *data = malloc(BYTES);
	uint64_t at, len;
	int i;

	fill(data, p->rank, BYTES);
	for (i = 0; i < ROUNDS; i++) {
		at = cp_byte(p->rank, i) * (uint64_t)BLOCKS / 256 * BLOCK + (i % 3) * 100;
		len = i % 2 ? 300 : 20 * BLOCK;
		CP_OK(p, ddio_pwrite(f, data, len, at) < 0 ? -EIO : 0);
		if (i % 7 == 0)
			CP_OK(p, ddio_sync(f));
		if (i % 20 == 19)
			CP_OK(p, ddio_set_size(f, at));
		ddio_sim_sleep(p->env, cp_byte(i, p->rank) * CP_MS);
	}
	ddio_close(f);
	free(data);
}

static void among_writers(struct cp_proc *p)
{
	int i;

	if (p->rank) {
		write_on(p);
		return;
	}
	for (i = 0; i < 25; i++) {
		scrub(p);
		CU_ASSERT_EQUAL(got.bad + got.unread, 0);
	}
	CU_ASSERT(ddio_sim_logged(p->w->dw, "a scrub has ended") >= 25 * p->w->p.disks);
	CU_ASSERT_EQUAL(ddio_sim_logged(p->w->dw, "does not match"), 0);
}

static void test_writers(void)
{
	const struct cp_params params = { .procs = WRITERS + 1, .options = "delay_us=700" };
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, make_one, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, among_writers, NULL), 0);
	cp_world_end(&w);
}

/* The file is removed, and its space is there again, while it is looked through. */
static void remove_it(struct cp_proc *p)
{
	make(p, "one", BYTES);
	ask(p, DDIO_SCRUB_START, 100 * BLOCK);
	ddio_sim_sleep(p->env, 300 * CP_MS);
	CP_OK(p, ddio_remove(p->session, "one"));
	make(p, "two", BYTES);
	wait_end(p);
	CU_ASSERT_EQUAL(got.bad + got.unread, 0);
	CU_ASSERT(got.done < 2 * BYTES);
}

static void test_remove(void)
{
	/* Room for one of the two. */
	const struct cp_params params = { .procs = 1, .disk_size = "192K", .lasts = true };
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, remove_it, NULL), 0);
	cp_world_end(&w);
}

/* The file is cut and written again elsewhere, and others have its places. */
static void move_it(struct cp_proc *p)
{
	struct ddio_file *f;

	make(p, "one", BYTES);
	ask(p, DDIO_SCRUB_START, 100 * BLOCK);
	ddio_sim_sleep(p->env, 300 * CP_MS);
	f = open_file(p, "one");
	CP_OK(p, ddio_set_size(f, 0));
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
	make(p, "two", BYTES);
	make(p, "one", BYTES);
	wait_end(p);
	CU_ASSERT_EQUAL(got.bad + got.unread, 0);
}

static void test_move(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, move_it, NULL), 0);
	cp_world_end(&w);
}

/* A repair of the records is not kept from its end, and goes first. */
static void repair(struct cp_proc *p)
{
	struct ddio_check_result r;

	make(p, "one", BYTES);
	ask(p, DDIO_SCRUB_START, 20 * BLOCK);
	ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_check(p->session, 1, NULL, NULL, &r));
	CU_ASSERT_EQUAL(r.problems, 0);
	ask(p, DDIO_SCRUB_LOOK, 0);
	CU_ASSERT_EQUAL(got.running, p->w->p.disks);
	wait_end(p);
	CU_ASSERT_EQUAL(got.bad + got.unread, 0);
	CU_ASSERT_EQUAL(got.done, BYTES);
}

/* While records are checked it rests. */
static void rest(struct cp_proc *p)
{
	struct reactor *reactor = &p->w->node[0].iop->reactors[0];
	struct ddio_list check;

	make(p, "one", BYTES);
	ddio_list_init(&check);
	ddio_list_add(&check, &reactor->checks);
	ask(p, DDIO_SCRUB_START, 0);
	ddio_sim_sleep(p->env, CP_SEC);
	ask(p, DDIO_SCRUB_LOOK, 0);
	CU_ASSERT_EQUAL(got.running, reactor->ndisks);
	CU_ASSERT_EQUAL(said[reactor->disks[0].number].done, 0);
	ddio_list_del(&check);
	wait_end(p);
	CU_ASSERT_EQUAL(got.done, BYTES);
}

static void test_rest(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, rest, NULL), 0);
	cp_world_end(&w);
}

static void test_repair(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, repair, NULL), 0);
	cp_world_end(&w);
}

/*
 * Disks
 */
static void bad_disk(struct cp_proc *p)
{
	struct iop_disk *disk = &p->w->node[0].iop->reactors[0].disks[0];
	uint64_t others;

	make(p, "one", BYTES);
	disk_inject(disk->disk, DDIO_DISK_READ, 1000000, -EIO);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, 0);
	CU_ASSERT_EQUAL(got.unread, BLOCKS / p->w->p.disks);
	CU_ASSERT_EQUAL(said[disk->number].unread, got.unread);
	others = got.done;
	CU_ASSERT_EQUAL(others, BYTES / 4 * 3);
	/* One request fails, and with it one block of many: read again, it can be read. */
	disk_inject(disk->disk, DDIO_DISK_READ, 0, 0);
	disk_inject(disk->disk, DDIO_DISK_READ, 1, -EIO);
	scrub(p);
	CU_ASSERT_EQUAL(got.unread, 0);
	CU_ASSERT_EQUAL(got.done, BYTES);
}

static void test_bad_disk(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, bad_disk, NULL), 0);
	cp_world_end(&w);
}

static void look_empty(struct cp_proc *p)
{
	scrub(p);
	CU_ASSERT_EQUAL(got.disks, p->w->p.disks);
	CU_ASSERT_EQUAL(got.done + got.bad, 0);
	/* To the last byte. */
	make(p, "full", 4 * (64 * 1024 - LABEL));
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, 0);
	CU_ASSERT_EQUAL(got.done, 4 * (64 * 1024 - LABEL));
}

static void test_empty(void)
{
	const struct cp_params params = { .procs = 1, .disk_size = "64K" };
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, look_empty, NULL), 0);
	cp_world_end(&w);
}

/*
 * Begins and ends
 */
static void begin_slow(struct cp_proc *p)
{
	ask(p, DDIO_SCRUB_START, 4 * BLOCK);
	CU_ASSERT_EQUAL(got.running, p->w->p.disks);
	ddio_sim_sleep(p->env, 5 * CP_SEC);
}

static void still_going(struct cp_proc *p)
{
	ask(p, DDIO_SCRUB_LOOK, 0);
	CU_ASSERT_EQUAL(got.running, p->w->p.disks);
	CU_ASSERT(got.done > 0);
	wait_end(p);
	CU_ASSERT(got.done <= BYTES + 4 * 2 * 64 * BLOCK);
	CU_ASSERT_EQUAL(got.bad, 0);
}

/* A node that was stopped goes on where it was. */
static void test_restart(void)
{
	struct cp_world w;
	uint32_t i;
	uint64_t before;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, make_one, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, begin_slow, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_begin(&w, i);
	before = store_scrub(w.node[0].iop->reactors[0].disks[0].store)->at;
	CU_ASSERT(before > LABEL);
	CU_ASSERT_EQUAL(cp_run(&w, still_going, NULL), 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub begins"), w.p.disks);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub has ended"), w.p.disks);
	cp_world_end(&w);
}

static void make_two(struct cp_proc *p)
{
	make(p, "one", BYTES);
	make(p, "two", BYTES);
}

static void scrub_two(struct cp_proc *p)
{
	scrub(p);
	CU_ASSERT_EQUAL(got.done, 2 * BYTES);
	CU_ASSERT_EQUAL(got.bad + got.unread, 0);
}

/* What the records say of an object is read in turns, however many of them there are. */
static void test_turns(void)
{
	struct cp_world w;
	struct bound *b[CP_NODES];
	uint32_t i;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, make_two, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	for (i = 0; i < w.p.nodes; i++) {
		cp_node_begin(&w, i);
		b[i] = &w.node[i].iop->reactors[0].bounds.at[BOUND_FETCHED];
		b[i]->limit = 1;
	}
	CU_ASSERT_EQUAL(cp_run(&w, scrub_two, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		CU_ASSERT(b[i]->hits > 0 && b[i]->most == 1);
	cp_world_end(&w);
}

static void begin_slowest(struct cp_proc *p)
{
	ask(p, DDIO_SCRUB_START, 1);
}

/* Nobody waits for its rate when a node stops. */
static void test_stop(void)
{
	const struct cp_params params = { .procs = 1, .lasts = true, .options = "delay_us=5000" };
	struct cp_world w;
	uint32_t i;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, make_one, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, begin_slowest, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_begin(&w, i);
	cp_world_end(&w);
}

/* Who asks while one is under way gets a whole round; who stops it is heard at once. */
static void twice(struct cp_proc *p)
{
	uint32_t n = 0, i;

	ask(p, DDIO_SCRUB_START, 64 * BLOCK);
	ddio_sim_sleep(p->env, 1500 * CP_MS);
	/* These lie where it has been already. */
	for (i = 0; i < p->w->p.disks; i++)
		n += flip(p->w, i, 150);
	CU_ASSERT_EQUAL(n, 4);
	ask(p, DDIO_SCRUB_START, 0);
	wait_end(p);
	CU_ASSERT_EQUAL(got.bad, n);
	CU_ASSERT_EQUAL(got.done, BYTES);
	CU_ASSERT_EQUAL(ddio_sim_logged(p->w->dw, "a scrub begins"), p->w->p.disks);
	ask(p, DDIO_SCRUB_START, 64 * BLOCK);
	ddio_sim_sleep(p->env, 1500 * CP_MS);
	ask(p, DDIO_SCRUB_STOP, 0);
	CU_ASSERT_EQUAL(got.running, 0);
	CU_ASSERT(got.done < BYTES);
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT(store_scrub(p->w->node[0].iop->reactors[0].disks[0].store)->at > LABEL);
	ask(p, DDIO_SCRUB_STOP, 0);
	/* From the middle to the end and from the front to the middle. */
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, n);
	CU_ASSERT_EQUAL(got.done, BYTES);
}

static void test_twice(void)
{
	struct cp_world w;

	cp_world_begin(&w, &plain);
	CU_ASSERT_EQUAL(cp_run(&w, make_one, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, twice, NULL), 0);
	cp_world_end(&w);
}

static void wait_hours(struct cp_proc *p)
{
	ddio_sim_limit(p->w->dw, 1000 * 3600 * CP_SEC);
	ddio_sim_sleep(p->env, 25 * 3600 * CP_SEC);
	ask(p, DDIO_SCRUB_LOOK, 0);
	CU_ASSERT_EQUAL(got.running, 0);
	CU_ASSERT_EQUAL(got.done, BYTES);
}

/* By itself, once in twelve hours, and not more often because the node is started again. */
static void test_itself(void)
{
	const struct cp_params params = { .procs = 1,
					  .lasts = true,
					  .cluster = "scrub = 12h\nscrub_rate = 4K\n" };
	struct cp_world w;
	uint32_t i;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, make_one, NULL), 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub begins"), 0);
	CU_ASSERT_EQUAL(cp_run(&w, wait_hours, NULL), 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub begins"), 2 * w.p.disks);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub has ended"), 2 * w.p.disks);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_begin(&w, i);
	ddio_sim_run_for(w.dw, 6 * 3600 * CP_SEC);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub begins"), 2 * w.p.disks);
	ddio_sim_run_for(w.dw, 6 * 3600 * CP_SEC);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "a scrub begins"), 3 * w.p.disks);
	cp_world_end(&w);
}

/*
 * Blocks without a checksum
 */
static void give(struct cp_proc *p)
{
	scrub(p);
	CU_ASSERT_EQUAL(got.given, BLOCKS);
	CU_ASSERT_EQUAL(got.done, BYTES);
	ask(p, DDIO_SCRUB_CONVERT, 0);
	wait_end(p);
	CU_ASSERT_EQUAL(got.given + got.done, 0);
}

static void find_given(struct cp_proc *p)
{
	uint32_t n = flip(p->w, 1, 3);

	CU_ASSERT_EQUAL(n, BLOCKS / 4 / 3);
	scrub(p);
	CU_ASSERT_EQUAL(got.bad, n);
	CU_ASSERT_EQUAL(got.given, 0);
}

static void no_checksums(struct cp_proc *p)
{
	make(p, "one", BYTES);
	ask(p, DDIO_SCRUB_START, 0);
	CU_ASSERT_EQUAL(got.errors, p->w->p.disks);
	CU_ASSERT_EQUAL(said[0].error, -EOPNOTSUPP);
	ask(p, DDIO_SCRUB_LOOK, 0);
	CU_ASSERT_EQUAL(got.errors + got.running, 0);
}

/* Written without, they get them, and keep them. */
static void test_given(void)
{
	const struct cp_params params = { .procs = 1,
					  .lasts = true,
					  .cluster = "checksums = no\n" };
	struct cp_world w;
	uint32_t i;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, no_checksums, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	w.conf->checksums = true;
	for (i = 0; i < w.p.nodes; i++)
		cp_node_begin(&w, i);
	CU_ASSERT_EQUAL(cp_run(&w, give, NULL), 0);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_end(&w, i);
	for (i = 0; i < w.p.nodes; i++)
		cp_node_begin(&w, i);
	CU_ASSERT_EQUAL(cp_run(&w, find_given, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "every wrong bit is found and named", test_bits },
	{ "the log is bounded", test_log },
	{ "no false alarm beside writers", test_writers },
	{ "a file is removed meanwhile", test_remove },
	{ "a file is moved meanwhile", test_move },
	{ "a repair meanwhile", test_repair },
	{ "it rests for checks", test_rest },
	{ "a disk that fails", test_bad_disk },
	{ "an empty disk, and a full one", test_empty },
	{ "a node starts again", test_restart },
	{ "records are read in turns", test_turns },
	{ "a node stops while a run is read", test_stop },
	{ "two at once, and stopped", test_twice },
	{ "by itself", test_itself },
	{ "blocks without checksums get them", test_given },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "scrub", cases } };

	return ut_run("test_scrub", suites, 1);
}
