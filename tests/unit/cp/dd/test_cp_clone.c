// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clones and snapshots of files: what is in them while others write, what happens when somebody dies after any event of one,
 * holds that nobody ends, full disks, and what others may not do.
 */
#include "tests/unit/cp/cp_world.h"
#include "cp/file/file.h"
#include "cp/node/lane.h"

enum { BS = 1024, BYTES = 22 * BS + 300, CLONER = 0, WRITER = 1, LOOKER = 2, PROCS = 3, DISKS = 3 };

static const struct cp_params params = { .seed = 9,
					 .nodes = 2,
					 .disks = DISKS,
					 .procs = PROCS,
					 .block = BS,
					 .timeout_ms = 2000,
					 .disk_size = "256K",
					 .lasts = true };

/* Any request to a disk, waited for. */
struct disk_ask {
	struct session_call call;
	struct node_request request;
	uint16_t opcode;
	struct ddio_msg_obj obj;
	struct ddio_msg_obj_clone clone;
	struct iovec iov;
	uint32_t status;
};

static void ask_done(struct node_request *request, const struct reply *reply)
{
	struct disk_ask *a = request->arg;

	a->status = reply->status;
	call_end(&a->call, NULL);
}

static void ask_run(struct session_call *call)
{
	struct disk_ask *a = ddio_container_of(call, struct disk_ask, call);
	int err;

	request_init(&a->request, a->opcode, ask_done, a);
	if (a->opcode == DDIO_OP_OBJ_CLONE)
		err = request_put(&a->request, obj_clone, &a->clone);
	else
		err = request_put(&a->request, obj, &a->obj);
	CU_ASSERT_EQUAL_FATAL(err, 0);
	if (a->opcode == DDIO_OP_OBJ_WRITE) {
		a->request.iov = &a->iov;
		a->request.n = 1;
		a->request.bulk = a->iov.iov_len;
	}
	request_disk(call->session, a->opcode == DDIO_OP_OBJ_CLONE ? a->clone.disk : a->obj.disk,
		     &a->request);
}

static uint32_t ask(struct cp_proc *p, struct disk_ask *a)
{
	CU_ASSERT_EQUAL(call_run(p->session, &a->call, ask_run), 0);
	return a->status;
}

static struct ddio_file *open_file(struct cp_proc *p, const char *name, unsigned int flags)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, name, flags, NULL, &f));
	return f;
}

static void fill(struct cp_proc *p, struct ddio_file *f, uint64_t seed)
{
	uint8_t buf[BYTES];
	uint64_t i;

	for (i = 0; i < BYTES; i++)
		buf[i] = cp_byte(seed, i);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, BYTES, 0), BYTES);
	CP_OK(p, ddio_sync(f));
}

static bool is(struct cp_proc *p, const char *name, uint64_t seed)
{
	struct ddio_file *f = open_file(p, name, 0);
	uint8_t buf[BYTES + 1];
	bool same = f && ddio_pread(f, buf, sizeof(buf), 0) == BYTES;
	uint64_t i;

	for (i = 0; same && i < BYTES; i++)
		same = buf[i] == cp_byte(seed, i);
	ddio_close(f);
	return same;
}

/* Nothing is wrong, or left over; returns what is free. */
static uint64_t free_bytes(struct cp_proc *p)
{
	struct ddio_check_result r;

	CP_OK(p, ddio_check(p->session, 0, NULL, NULL, &r));
	CU_ASSERT_EQUAL(r.problems, 0);
	CU_ASSERT_EQUAL(r.orphans, 0);
	CU_ASSERT_EQUAL(r.nameless, 0);
	return r.free_bytes;
}

/*
 * One that nobody disturbs
 */
static void clones(struct cp_proc *p)
{
	struct ddio_file *f, *g;
	uint64_t before;

	if (p->rank != CLONER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	fill(p, f, 1);
	before = free_bytes(p);
	CP_OK(p, ddio_clone(f, "g"));
	CU_ASSERT_EQUAL(free_bytes(p), before);
	CU_ASSERT_TRUE(is(p, "g", 1));
	CU_ASSERT_EQUAL(ddio_clone(f, "g"), -EEXIST);
	CU_ASSERT_EQUAL(ddio_clone(f, "no/g"), -ENOENT);
	CU_ASSERT_EQUAL(free_bytes(p), before);
	fill(p, f, 2);
	CU_ASSERT_TRUE(is(p, "g", 1));
	CU_ASSERT_EQUAL(free_bytes(p), before - 23 * BS);
	g = open_file(p, "g", 0);
	CP_OK(p, ddio_clone(g, "h"));
	fill(p, g, 3);
	CU_ASSERT_TRUE(is(p, "f", 2) && is(p, "g", 3) && is(p, "h", 1));
	ddio_close(g);
	CP_OK(p, ddio_remove(p->session, "g"));
	CP_OK(p, ddio_remove(p->session, "h"));
	CP_OK(p, ddio_sync(f));
	CU_ASSERT_EQUAL(free_bytes(p), before);
	CP_OK(p, ddio_remove(p->session, "f"));
	CU_ASSERT_EQUAL(ddio_clone(f, "g"), -ESTALE);
	ddio_close(f);
}

static uint32_t listed;

static int snap_listed(void *arg, const char *name, const struct ddio_file_stat *st)
{
	listed += !strcmp(name, arg) && st->size == BYTES;
	return 0;
}

static void snaps(struct cp_proc *p)
{
	struct ddio_file *f, *s;
	struct ddio_file_stat st;
	char dir[64], path[80];

	if (p->rank != CLONER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	fill(p, f, 1);
	CP_OK(p, ddio_snap(f, "monday"));
	CU_ASSERT_EQUAL(ddio_snap(f, "monday"), -EEXIST);
	CU_ASSERT_EQUAL(ddio_snap(f, ".."), -EEXIST);
	CU_ASSERT_EQUAL(ddio_snap(f, "a/b"), -EINVAL);
	fill(p, f, 2);
	CP_OK(p, ddio_snap(f, "tuesday"));
	CP_OK(p, ddio_fstat(f, &st));
	ddio_close(f);
	CP_OK(p, ddio_remove(p->session, "f"));
	snprintf(dir, sizeof(dir), DDIO_SNAP_DIRECTORY "/%llu", (unsigned long long)st.id);
	listed = 0;
	CP_OK(p, ddio_list(p->session, dir, snap_listed, (void *)"monday"));
	CP_OK(p, ddio_list(p->session, dir, snap_listed, (void *)"tuesday"));
	CU_ASSERT_EQUAL(listed, 2);
	snprintf(path, sizeof(path), "%s/monday", dir);
	CU_ASSERT_TRUE(is(p, path, 1));
	s = open_file(p, path, 0);
	CP_OK(p, ddio_clone(s, "f"));
	ddio_close(s);
	CU_ASSERT_TRUE(is(p, "f", 1));
	CP_OK(p, ddio_remove(p->session, path));
	snprintf(path, sizeof(path), "%s/tuesday", dir);
	CU_ASSERT_TRUE(is(p, path, 2));
	CP_OK(p, ddio_remove(p->session, path));
	CP_OK(p, ddio_remove(p->session, "f"));
	free_bytes(p);
}

/* Nobody changes a snapshot: by any method, together or alone, at once or atomically. */
static int write_by(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint32_t method,
		    uint32_t flags)
{
	struct ddio_array halves = { .elem_size = BS,
				     .ndims = 1,
				     .dim = { { .size = 22, .dist = DDIO_BLOCK, .procs = 2 } } };
	const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &halves };
	static uint8_t buf[PROCS][11 * BS];
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf[p->rank],
				   .method = method,
				   .flags = flags };

	return ddio_write_all(f, g, &t);
}

static void write_every_way(struct cp_proc *p, struct ddio_file *s)
{
	struct ddio_group *g = NULL;
	uint8_t byte = 0;
	uint32_t method;

	CP_OK(p, ddio_group_create(p->session, p->rank, 2, "127.0.0.1:9000", &g));
	for (method = DDIO_METHOD_DEFAULT; method <= DDIO_METHOD_DDS; method++)
		CU_ASSERT_EQUAL(write_by(p, s, g, method, 0), -EROFS);
	CU_ASSERT_EQUAL(write_by(p, s, g, DDIO_METHOD_DD, DDIO_XFER_ATOMIC), -EROFS);
	CU_ASSERT_EQUAL(write_by(p, s, g, DDIO_METHOD_DDS, DDIO_XFER_ATOMIC), -EROFS);
	ddio_group_free(g);
	CU_ASSERT_EQUAL(ddio_pwrite(s, &byte, 1, 0), -EROFS);
	CU_ASSERT_EQUAL(ddio_pwrite(s, &byte, 1, BYTES), -EROFS);
	CU_ASSERT_EQUAL(ddio_set_size(s, 1), -EROFS);
	CU_ASSERT_EQUAL(ddio_set_size(s, 2 * BYTES), -EROFS);
}

static int mended(void *arg, const struct ddio_mend_state *st)
{
	(void)arg;
	(void)st;
	return 0;
}

static void frozen(struct cp_proc *p)
{
	struct ddio_file *f, *s;
	struct ddio_file_stat st;
	char path[80];

	if (p->rank == LOOKER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	if (p->rank == CLONER) {
		fill(p, f, 1);
		CP_OK(p, ddio_snap(f, "s"));
	}
	ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_fstat(f, &st));
	snprintf(path, sizeof(path), DDIO_SNAP_DIRECTORY "/%llu/s", (unsigned long long)st.id);
	s = open_file(p, path, 0);
	write_every_way(p, s);
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_TRUE(is(p, path, 1));
	/* Where no other file has its blocks either: a write in place would need no space. */
	if (p->rank == CLONER)
		fill(p, f, 2);
	ddio_sim_sleep(p->env, CP_SEC);
	write_every_way(p, s);
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_TRUE(is(p, path, 1));
	if (p->rank == CLONER) {
		/* Its blocks may move. */
		CP_OK(p, ddio_mend(s, 0, 0, mended, NULL));
		CP_OK(p, ddio_drop_cache(s));
		CU_ASSERT_TRUE(is(p, path, 1));
		free_bytes(p);
		CP_OK(p, ddio_remove(p->session, path));
		CP_OK(p, ddio_remove(p->session, "f"));
		free_bytes(p);
	}
	ddio_close(s);
	ddio_close(f);
}

static void one_world(void (*fn)(struct cp_proc *p))
{
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, fn, NULL), 0);
	cp_world_end(&w);
}

static void test_clones(void)
{
	one_world(clones);
}

static void test_snaps(void)
{
	one_world(snaps);
}

static void test_frozen(void)
{
	one_world(frozen);
}

/*
 * Others write: number n to the first block, then to the second one, on another node, then behind the end; and so on
 */
enum { CLONES = 12 };
static uint64_t returned;
static bool done;

static void write_on(struct cp_proc *p, struct ddio_file *f)
{
	uint64_t n;

	for (n = 1; !done && n < 100000; n++) {
		CU_ASSERT_EQUAL(ddio_pwrite(f, &n, 8, 0), 8);
		CU_ASSERT_EQUAL(ddio_pwrite(f, &n, 8, BS), 8);
		CU_ASSERT_EQUAL(ddio_pwrite(f, &n, 8, 2 * BS + (n - 1) * 8), 8);
		returned = n;
	}
	(void)p;
}

static void compare(struct cp_proc *p, const char *name, uint64_t before)
{
	struct ddio_file *g = open_file(p, name, 0);
	uint64_t a = 0, b = 0, c = 0, last;
	struct ddio_file_stat st;

	CP_OK(p, ddio_fstat(g, &st));
	CU_ASSERT_EQUAL(ddio_pread(g, &a, 8, 0), 8);
	CU_ASSERT_EQUAL(ddio_pread(g, &b, 8, BS), 8);
	last = (st.size - 2 * BS) / 8;
	CU_ASSERT_EQUAL(ddio_pread(g, &c, 8, st.size - 8), 8);
	CU_ASSERT_TRUE(b == a || b + 1 == a);
	CU_ASSERT_TRUE(last == b || last + 1 == b);
	CU_ASSERT_EQUAL(c, last);
	CU_ASSERT_TRUE(last >= before && a <= returned + 1);
	ddio_close(g);
}

static void writes(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE);
	uint64_t before;
	char name[16];
	uint32_t i;

	if (p->rank == WRITER)
		write_on(p, f);
	for (i = 0; i < CLONES && p->rank == CLONER; i++) {
		ddio_sim_sleep(p->env, 3 * CP_MS + i * 170000);
		before = returned;
		CU_ASSERT_TRUE(before > 1);
		snprintf(name, sizeof(name), "g%u", i);
		CP_OK(p, ddio_clone(f, name));
		compare(p, name, before);
	}
	done |= p->rank == CLONER;
	ddio_close(f);
}

static void test_writes(void)
{
	returned = 0;
	done = false;
	one_world(writes);
}

/*
 * Others write all of it together, on slow disks: what a clone has stays what it is, though they have found its blocks' places before
 */
static int collective(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint64_t seed)
{
	struct ddio_array halves = { .elem_size = BS,
				     .ndims = 1,
				     .dim = { { .size = 22, .dist = DDIO_BLOCK, .procs = 2 } } };
	const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &halves };
	static uint8_t buf[PROCS][11 * BS];
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf[p->rank] };

	memset(buf[p->rank], (int)seed, sizeof(buf[0]));
	return cp_note(p, ddio_write_all(f, g, &t));
}

static void write_together(struct cp_proc *p, struct ddio_file *f)
{
	struct ddio_group *g = NULL;
	uint64_t n;

	CP_OK(p, ddio_group_create(p->session, p->rank - 1, 2, "127.0.0.1:9000", &g));
	for (n = 1; n < 30; n++)
		CP_OK(p, collective(p, f, g, n));
	ddio_group_free(g);
}

static void together(struct cp_proc *p)
{
	static uint8_t was[CLONES][22 * BS], now[22 * BS];
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE), *g[CLONES];
	uint32_t i;
	char name[16];

	if (p->rank != CLONER)
		write_together(p, f);
	for (i = 0; i < CLONES && p->rank == CLONER; i++) {
		ddio_sim_sleep(p->env, 50 * CP_MS + i * 7700000);
		snprintf(name, sizeof(name), "g%u", i);
		CP_OK(p, ddio_clone(f, name));
		g[i] = open_file(p, name, 0);
		CU_ASSERT_TRUE(ddio_pread(g[i], was[i], sizeof(was[i]), 0) >= 0);
		CP_OK(p, ddio_drop_cache(g[i]));
	}
	for (i = 0; i < CLONES && p->rank == CLONER; i++) {
		ddio_sim_sleep(p->env, 3 * CP_SEC);
		memset(now, 0, sizeof(now));
		CU_ASSERT_TRUE(ddio_pread(g[i], now, sizeof(now), 0) >= 0);
		CU_ASSERT_EQUAL(memcmp(now, was[i], sizeof(now)), 0);
		ddio_close(g[i]);
	}
	ddio_close(f);
}

static void test_together(void)
{
	struct cp_params slow = params;
	struct cp_world w;

	slow.engine = "hp97560";
	slow.lasts = false;
	slow.disk_size = NULL;
	cp_world_begin(&w, &slow);
	CU_ASSERT_EQUAL(cp_run(&w, together, NULL), 0);
	cp_world_end(&w);
}

/* Several clone one file at once: one after the other. */
static void at_once(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE);
	char name[16];

	if (p->rank == CLONER)
		fill(p, f, 1);
	ddio_sim_sleep(p->env, CP_SEC);
	snprintf(name, sizeof(name), "g%u", p->rank);
	CP_OK(p, ddio_clone(f, name));
	CU_ASSERT_TRUE(is(p, name, 1));
	ddio_close(f);
}

static void test_at_once(void)
{
	one_world(at_once);
}

/*
 * A write that was under way has put bytes beyond the end: a clone that grows shows zeros there
 */
static void behind(struct cp_proc *p)
{
	static uint8_t junk[2 * BS], got[4 * DISKS * BS];
	struct disk_ask a = { .opcode = DDIO_OP_OBJ_WRITE };
	struct ddio_file *f, *g;
	uint64_t i;

	if (p->rank != CLONER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	memset(junk, 0x77, sizeof(junk));
	CU_ASSERT_EQUAL(ddio_pwrite(f, junk, 100, 0), 100);
	a.obj = (struct ddio_msg_obj){ .file = f->rec.ref,
				       .disk = f->rec.disks[0],
				       .len = sizeof(junk) };
	a.iov = (struct iovec){ junk, sizeof(junk) };
	CU_ASSERT_EQUAL(ask(p, &a), DDIO_ST_OK);
	CP_OK(p, ddio_clone(f, "g"));
	g = open_file(p, "g", 0);
	CP_OK(p, ddio_set_size(g, sizeof(got)));
	CU_ASSERT_EQUAL(ddio_pread(g, got, sizeof(got), 0), sizeof(got));
	for (i = 0; i < sizeof(got); i++)
		if (got[i] != (i < 100 ? 0x77 : 0))
			break;
	CU_ASSERT_EQUAL(i, sizeof(got));
	ddio_close(g);
	ddio_close(f);
	free_bytes(p);
}

static void test_behind(void)
{
	one_world(behind);
}

/*
 * Full disks
 */
static void full(struct cp_proc *p)
{
	static uint8_t buf[256 << 10];
	struct ddio_file *f, *g;
	uint64_t size = 0;
	ssize_t n;

	if (p->rank != CLONER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	while ((n = ddio_pwrite(f, buf, BS, size)) == BS)
		size += BS;
	CU_ASSERT_EQUAL(n, -ENOSPC);
	CU_ASSERT_TRUE(size > 700 * BS);
	CP_OK(p, ddio_clone(f, "g"));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, BS, 0), -ENOSPC);
	g = open_file(p, "g", 0);
	CU_ASSERT_EQUAL(ddio_pwrite(g, buf, BS, 0), -ENOSPC);
	ddio_close(g);
	/* The last block has bytes beyond the end, and no room for another. */
	CP_OK(p, ddio_remove(p->session, "g"));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, BS, 0), BS);
	CP_OK(p, ddio_sync(f));
	free_bytes(p);
	ddio_close(f);
}

static void test_full(void)
{
	one_world(full);
}

/*
 * Holds that nobody ends, and numbers that are nobody's
 */
static struct disk_ask hold_of(const struct ddio_file *f, uint64_t number, uint64_t ms)
{
	return (struct disk_ask){
		.opcode = DDIO_OP_OBJ_HOLD,
		.obj = { .file = f->rec.ref, .disk = f->rec.disks[0], .offset = number, .len = ms }
	};
}

static void holds(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE), *g;
	uint8_t byte = 1;
	uint64_t at;
	struct disk_ask h = hold_of(f, 77, 3600000), c = { .opcode = DDIO_OP_OBJ_CLONE };

	if (p->rank == LOOKER) {
		/* Waits as long as a hold may last, and no longer. */
		ddio_sim_sleep(p->env, CP_SEC);
		at = ddio_env_now(p->env);
		CU_ASSERT_EQUAL(ddio_pwrite(f, &byte, 1, 0), 1);
		at = ddio_env_now(p->env) - at;
		CU_ASSERT_TRUE(at > 700 * CP_MS && at < 1100 * CP_MS);
	}
	if (p->rank == CLONER) {
		ddio_sim_sleep(p->env, 800 * CP_MS);
		g = open_file(p, "g", DDIO_CREATE);
		CU_ASSERT_EQUAL(ask(p, &h), DDIO_ST_OK);
		c.clone = (struct ddio_msg_obj_clone){
			.to = g->rec.ref, .from = f->rec.ref, .disk = f->rec.disks[0], .hold = 78
		};
		CU_ASSERT_EQUAL(ask(p, &c), DDIO_ST_CANCELLED);
		/* It is over by itself, and the file rests. */
		ddio_sim_sleep(p->env, 6 * CP_SEC);
		c.clone.hold = 77;
		CU_ASSERT_EQUAL(ask(p, &c), DDIO_ST_CANCELLED);
		/* A file that has something is not cloned into. */
		CU_ASSERT_EQUAL(ddio_pwrite(g, &byte, 1, 0), 1);
		CU_ASSERT_EQUAL(ask(p, &h), DDIO_ST_OK);
		CU_ASSERT_EQUAL(ask(p, &c), DDIO_ST_INVALID);
		h = hold_of(f, 77, 0);
		CU_ASSERT_EQUAL(ask(p, &h), DDIO_ST_OK);
		CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 0), 1);
		ddio_close(g);
	}
	ddio_close(f);
}

/* A request that describes other blocks than the held file has, smaller or larger ones, shares nothing. */
static void misdescribed(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE);
	struct disk_ask h = hold_of(f, 77, 3600000), c = { .opcode = DDIO_OP_OBJ_CLONE };
	uint32_t size;

	if (p->rank == CLONER) {
		fill(p, f, 1);
		for (size = BS / 2; size <= 4096 * BS; size *= size < BS ? 4 : 64) {
			CU_ASSERT_EQUAL(ask(p, &h), DDIO_ST_OK);
			c.clone = (struct ddio_msg_obj_clone){ .to = f->rec.ref,
							       .from = f->rec.ref,
							       .disk = f->rec.disks[0],
							       .hold = 77,
							       .len = BYTES };
			c.clone.to.id += 500;
			c.clone.to.block = size;
			c.clone.from.block = size;
			CU_ASSERT_EQUAL(ask(p, &c), DDIO_ST_STALE);
			ddio_sim_sleep(p->env, 6 * CP_SEC);
		}
		CU_ASSERT_TRUE(is(p, "f", 1));
	}
	ddio_close(f);
}

static void test_misdescribed(void)
{
	one_world(misdescribed);
}

static void test_holds(void)
{
	one_world(holds);
}

/* Whoever holds file after file has so many, until their time is over. */
static void many_holds(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "f", DDIO_CREATE);
	uint64_t limit = 256, i;

	for (i = 0; i <= limit && p->rank == CLONER; i++) {
		struct disk_ask h = hold_of(f, 77, 3600000);

		h.obj.file.id += 1000 + i;
		CU_ASSERT_EQUAL(ask(p, &h), i < limit ? DDIO_ST_OK : DDIO_ST_BUSY);
		if (i == limit) {
			ddio_sim_sleep(p->env, 2 * CP_SEC);
			CU_ASSERT_EQUAL(ask(p, &h), DDIO_ST_OK);
		}
	}
	ddio_close(f);
}

static void test_many_holds(void)
{
	one_world(many_holds);
}

/*
 * Somebody dies
 */
static struct {
	int ret;
	bool over, named, repair;
	uint64_t free;
} run;

static void prepare(struct cp_proc *p)
{
	struct ddio_file *f;

	if (p->rank != CLONER)
		return;
	f = open_file(p, "f", DDIO_CREATE);
	fill(p, f, 1);
	ddio_close(f);
	run.free = free_bytes(p);
}

static void clone_once(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	run.ret = ddio_open(p->session, "f", 0, NULL, &f);
	if (!run.ret)
		run.ret = ddio_clone(f, "g");
	ddio_close(f);
	run.over = true;
}

/*
 * What a cloner that has died leaves is removed by the name server alone; what is left when a node dies, by a check with repair, as after
 * any crash.  Then all is as before, but for the clone's name.
 */
static void look(struct cp_proc *p)
{
	struct ddio_check_result r;
	struct ddio_file_stat st;
	struct ddio_file *f;

	if (p->rank != LOOKER)
		return;
	CU_ASSERT_TRUE(is(p, "f", 1));
	run.named = !ddio_stat(p->session, "g", &st);
	if (run.named)
		CU_ASSERT_TRUE(is(p, "g", 1));
	f = open_file(p, "f", 0);
	fill(p, f, 2);
	ddio_close(f);
	if (run.named) {
		CU_ASSERT_TRUE(is(p, "g", 1));
		CP_OK(p, ddio_remove(p->session, "g"));
	}
	if (run.repair)
		CP_OK(p,
		      ddio_check(p->session, DDIO_CHECK_REPAIR | DDIO_CHECK_DROP, NULL, NULL, &r));
	CU_ASSERT_EQUAL(free_bytes(p), run.free);
}

static void begin(struct cp_world *w)
{
	memset(&run, 0, sizeof(run));
	cp_world_begin(w, &params);
	CU_ASSERT_EQUAL(cp_run(w, prepare, NULL), 0);
	cp_spread_out(w, PROCS);
	w->proc[CLONER].fn = clone_once;
	ddio_sim_spawn(w->proc[CLONER].env, cp_proc_main, &w->proc[CLONER]);
}

/* Notes after how long each event of a clone comes. */
static uint32_t moments(uint64_t *at, uint32_t most)
{
	uint64_t events, ns = 0;
	struct cp_world w;
	uint32_t n = 0;

	begin(&w);
	events = ddio_sim_events(w.dw);
	while (!run.over && n < most && ns < 10 * CP_SEC) {
		ddio_sim_run_for(w.dw, 100);
		ns += 100;
		if (ddio_sim_events(w.dw) != events)
			at[n++] = ns;
		events = ddio_sim_events(w.dw);
	}
	CU_ASSERT_TRUE(run.over);
	CU_ASSERT_EQUAL(run.ret, 0);
	cp_world_end(&w);
	return n;
}

static void die(struct cp_world *w, uint32_t victim)
{
	struct cp_node *node;
	uint32_t k;

	if (!victim) {
		w->proc[CLONER].killed = true;
		sim_kill(w->proc[CLONER].env);
		return;
	}
	node = &w->node[victim - 1];
	for (k = 0; k < w->p.reactors; k++)
		ddio_sim_cut(node->env[k]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
}

static bool death(uint32_t victim, uint64_t at)
{
	struct cp_world w;

	if (!victim)
		cp_leaks_allowed(true);
	begin(&w);
	ddio_sim_run_for(w.dw, at);
	die(&w, victim);
	ddio_sim_run_for(w.dw, 20 * CP_SEC);
	run.repair = victim;
	if (victim) {
		CU_ASSERT_TRUE(run.over);
		ddio_iop_free(w.node[victim - 1].iop);
		cp_node_begin(&w, victim - 1);
	}
	CU_ASSERT_EQUAL(cp_run(&w, look, NULL), 0);
	/* Who was told that it has been made finds it. */
	if (run.over && !run.ret)
		CU_ASSERT_TRUE(run.named);
	cp_world_end(&w);
	if (!victim)
		cp_leaks_allowed(false);
	return run.named;
}

static void test_deaths(void)
{
	static uint64_t at[2048];
	uint32_t n = moments(at, 2048), victim, i, there = 0, not = 0;

	CU_ASSERT_TRUE(n > 20 && n < 2048);
	for (victim = 0; victim < 3; victim++)
		for (i = 0; i < n; i++) {
			if (death(victim, at[i]))
				there++;
			else
				not ++;
		}
	CU_ASSERT_TRUE(there > 2);
	CU_ASSERT_TRUE(not > 20);
}

/* A node is down when its part is to be removed: that is done when it is back. */
static void death_and_node(uint64_t at)
{
	struct cp_world w;

	cp_leaks_allowed(true);
	begin(&w);
	ddio_sim_run_for(w.dw, at);
	die(&w, 0);
	die(&w, 2);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	ddio_iop_free(w.node[1].iop);
	cp_node_begin(&w, 1);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	CU_ASSERT_EQUAL(cp_run(&w, look, NULL), 0);
	cp_world_end(&w);
	cp_leaks_allowed(false);
}

static void test_node_down(void)
{
	static uint64_t at[2048];
	uint32_t n = moments(at, 2048), i;

	for (i = 0; i < n; i += 4)
		death_and_node(at[i]);
}

/*
 * From some byte on nothing arrives that a node says, for a while, but its connections stay, as when a network or a machine fails without a
 * word: whoever waits for its answer asks again.
 */
static void death_and_silence(uint64_t at, uint64_t byte)
{
	struct ddio_sim_link link;
	struct cp_world w;
	uint32_t k;

	cp_leaks_allowed(true);
	begin(&w);
	ddio_sim_run_for(w.dw, at);
	die(&w, 0);
	ddio_sim_link_default(&link);
	link.stall_after = byte;
	for (k = 0; k < w.p.reactors; k++)
		ddio_sim_set_link(w.node[1].env[k], &link);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	ddio_sim_link_default(&link);
	for (k = 0; k < w.p.reactors; k++)
		ddio_sim_set_link(w.node[1].env[k], &link);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	CU_ASSERT_EQUAL(cp_run(&w, look, NULL), 0);
	cp_world_end(&w);
	cp_leaks_allowed(false);
}

static void test_node_silent(void)
{
	static uint64_t at[2048];
	uint32_t n = moments(at, 2048), byte;

	for (byte = 1; byte < 600; byte += 7)
		death_and_silence(at[n * 3 / 4], byte);
}

/* The name server dies with the cloner: it does not know, when it is back, that a clone was being made. */
static bool death_and_names(uint64_t at)
{
	struct cp_world w;

	cp_leaks_allowed(true);
	begin(&w);
	ddio_sim_run_for(w.dw, at);
	die(&w, 0);
	die(&w, 1);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	ddio_iop_free(w.node[0].iop);
	cp_node_begin(&w, 0);
	ddio_sim_run_for(w.dw, 10 * CP_SEC);
	CU_ASSERT_EQUAL(cp_run(&w, look, NULL), 0);
	cp_world_end(&w);
	cp_leaks_allowed(false);
	return run.named;
}

static void test_names_down(void)
{
	static uint64_t at[2048];
	uint32_t n = moments(at, 2048), i, there = 0;

	for (i = 0; i < n; i++)
		there += death_and_names(at[i]);
	CU_ASSERT_TRUE(there && there < n);
}

static const struct ut_case cases[] = {
	{ "the bytes, and the space", test_clones },
	{ "snapshots", test_snaps },
	{ "nobody changes a snapshot", test_frozen },
	{ "one state, though others write", test_writes },
	{ "others write together", test_together },
	{ "several of one file", test_at_once },
	{ "bytes beyond the end", test_behind },
	{ "full disks", test_full },
	{ "holds that nobody ends", test_holds },
	{ "too many holds", test_many_holds },
	{ "a file that is described as it is not", test_misdescribed },
	{ "somebody dies after any event of it", test_deaths },
	{ "its maker dies, and a node is down meanwhile", test_node_down },
	{ "its maker dies, and a node falls silent", test_node_silent },
	{ "its maker dies, and the name server starts again", test_names_down },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "clones", cases } };

	return cp_ut_run("cp_clone", suites, 1);
}
