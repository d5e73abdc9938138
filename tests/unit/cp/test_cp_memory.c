// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library without memory: the n-th allocation that it makes fails, for
 * every n of a program that does a bit of everything.  The sources are compiled
 * in here, with the allocator replaced.
 */
#include <errno.h>
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/cp/coll/2p/exchange.c"
#include "userlib/cp/coll/2p/two_phase.c"
#include "userlib/cp/coll/agree.c"
#include "userlib/cp/coll/agreement.c"
#include "userlib/cp/coll/dd/attach.c"
#include "userlib/cp/coll/dd/blockset.c"
#include "userlib/cp/coll/dd/data.c"
#include "userlib/cp/coll/dd/dd.c"
#include "userlib/cp/coll/dd/end.c"
#include "userlib/cp/coll/dd/near.c"
#include "userlib/cp/coll/dd/start.c"
#include "userlib/cp/coll/independent.c"
#include "userlib/cp/coll/op.c"
#include "userlib/cp/coll/range.c"
#include "userlib/cp/coll/report.c"
#include "userlib/cp/coll/small/carry.c"
#include "userlib/cp/coll/small/small.c"
#include "userlib/cp/coll/tc/tc.c"
#include "userlib/cp/coll/transfer.c"
#include "userlib/cp/connect.c"
#include "userlib/cp/cp.c"
#include "userlib/cp/file/file.c"
#include "userlib/cp/file/list.c"
#include "userlib/cp/file/open.c"
#include "userlib/cp/file/open_all.c"
#include "userlib/cp/file/remove.c"
#include "userlib/cp/file/size.c"
#include "userlib/cp/group/fan/fan.c"
#include "userlib/cp/group/fan/gather.c"
#include "userlib/cp/group/fan/late.c"
#include "userlib/cp/group/fan/send.c"
#include "userlib/cp/group/fan/text.c"
#include "userlib/cp/group/form/form.c"
#include "userlib/cp/group/form/meeting.c"
#include "userlib/cp/group/form/port.c"
#include "userlib/cp/group/form/rendezvous.c"
#include "userlib/cp/group/form/split.c"
#include "userlib/cp/group/free.c"
#include "userlib/cp/group/group.c"
#include "userlib/cp/group/peer.c"
#include "userlib/cp/group/steps/barrier.c"
#include "userlib/cp/node/error.c"
#include "userlib/cp/node/lane.c"
#include "userlib/cp/node/node.c"
#include "userlib/cp/node/nodes.c"
#include "userlib/cp/node/objio.c"
#include "userlib/cp/node/request.c"
#include "userlib/cp/node/request_set.c"
#include "userlib/cp/node/route.c"
#include "userlib/cp/node/session.c"
#include "tests/unit/lib/ut_nomem_end.h"

#include "tests/unit/cp/cp_world.h"

enum { PROCS = 3, ELEMS = 1500, BYTES = ELEMS * 8, WORLD_DISKS = 4 };

/* What one run was like. */
struct memory_run {
	uint32_t failed, wrong;
};

static int name_count(void *arg, const char *name, const struct ddio_file_stat *st)
{
	(void)name;
	(void)st;
	++*(int *)arg;
	return 0;
}

static void check_bytes(struct cp_proc *p, const uint8_t *buf, uint64_t salt)
{
	struct memory_run *run = p->w->arg;
	uint64_t i, at;

	for (i = 0; i < BYTES / PROCS; i++) {
		at = (i / 8 * PROCS + p->rank) * 8 + i % 8;
		run->wrong += buf[i] != cp_byte(salt, at);
	}
}

static int write_and_read(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
			  uint32_t method, bool list)
{
	struct ddio_array a = { .elem_size = 8,
				.ndims = 1,
				.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = PROCS } } };
	struct ddio_strided s = { .offset = p->rank * 8,
				  .len = 8,
				  .nlevels = 1,
				  .level = { { ELEMS / PROCS, PROCS * 8 } } };
	struct ddio_part part = { .kind = list ? DDIO_PART_STRIDED : DDIO_PART_ARRAY,
				  .n = 1,
				  .array = &a,
				  .strided = &s };
	struct ddio_transfer t = { .struct_size = sizeof(t), .method = method, .part = &part };
	uint8_t *buf = malloc(BYTES / PROCS);
	uint64_t i;
	int ret;

	for (i = 0; i < BYTES / PROCS; i++)
		buf[i] = cp_byte(method, (i / 8 * PROCS + p->rank) * 8 + i % 8);
	t.buf = buf;
	ret = ddio_write_all(f, g, &t);
	if (!ret) {
		memset(buf, 0, BYTES / PROCS);
		ret = ddio_read_all(f, g, &t);
		if (!ret)
			check_bytes(p, buf, method);
	}
	free(buf);
	return ret;
}

static int alone(struct cp_proc *p)
{
	struct ddio_extent list[2] = { { 100, 50 }, { 3000, 2000 } };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 2, .list = list };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part };
	struct ddio_file *f = NULL;
	uint8_t buf[9000] = { 1 };
	char name[16];
	int ret, n = 0;

	snprintf(name, sizeof(name), "own%u", p->rank);
	ret = ddio_open(p->session, name, DDIO_CREATE, NULL, &f);
	if (ret)
		return ret;
	t.buf = buf;
	if (ddio_pwrite(f, buf, sizeof(buf), 0) != sizeof(buf) ||
	    ddio_pread(f, buf, sizeof(buf), 0) != sizeof(buf))
		ret = -EIO;
	ret = ret ? ret : ddio_write(f, &t);
	ret = ret ? ret : ddio_read(f, &t);
	ret = ret ? ret : ddio_sync(f);
	ret = ret ? ret : ddio_set_size(f, 10);
	ddio_close(f);
	ret = ret ? ret : ddio_list(p->session, NULL, name_count, &n);
	return ret ? ret : ddio_remove(p->session, name);
}

static int together(struct cp_proc *p, struct ddio_group *g)
{
	struct ddio_group *sub = NULL;
	struct ddio_file *f = NULL;
	uint32_t m;
	int ret;

	ret = ddio_open_all(g, "f", DDIO_CREATE, NULL, &f);
	for (m = 0; m <= 4 && !ret; m++)
		ret = write_and_read(p, g, f, m, m & 1);
	if (!ret)
		ret = ddio_group_split(g, p->rank == 1, 0, &sub);
	if (!ret)
		ret = ddio_group_barrier(sub);
	ddio_group_free(sub);
	ddio_close(f);
	return ret;
}

static void everything(struct cp_proc *p)
{
	struct memory_run *run = p->w->arg;
	struct ddio_group *g = NULL;
	int ret;

	ret = ddio_group_create(p->session, p->rank, PROCS, "127.0.0.1:9000", &g);
	if (!ret)
		ret = together(p, g);
	if (!ret)
		ret = alone(p);
	cp_note(p, ret);
	run->failed += ret != 0;
	ddio_group_free(g);
	/* The others are not to take this for the failure. */
	ddio_sim_sleep(p->env, 10 * CP_SEC);
}

/* So that there are sessions. */
static void nothing(struct cp_proc *p)
{
	(void)p;
}

/* @fail_at: the allocation that fails, 0: none.  Return: allocations. */
static uint64_t one_run(uint64_t fail_at, struct memory_run *run)
{
	struct cp_world w;
	uint64_t n;

	memset(run, 0, sizeof(*run));
	cp_world_begin(&w, &(struct cp_params){
				   .procs = PROCS, .timeout_ms = 2000, .disks = WORLD_DISKS });
	CU_ASSERT_EQUAL(cp_run(&w, nothing, run), 0);
	nomem_allocs = 0;
	nomem_countdown = fail_at;
	CU_ASSERT_EQUAL(cp_run(&w, everything, run), 0);
	n = nomem_allocs;
	nomem_countdown = 0;
	cp_world_end(&w);
	CU_ASSERT_EQUAL(run->wrong, 0);
	return n;
}

static void every_allocation_fails_once(void)
{
	uint64_t n, i, runs = 0, hurt = 0;
	struct memory_run run;

	n = one_run(0, &run);
	CU_ASSERT_EQUAL(run.failed, 0);
	CU_ASSERT(n > 100);
	for (i = 1; i <= n; i += ut_stride(17)) {
		one_run(i, &run);
		hurt += run.failed != 0;
		runs++;
	}
	/* Only where something can be done without may a failure go unnoticed. */
	CU_ASSERT(hurt * 10 > runs * 8);
	if (hurt * 10 <= runs * 8)
		fprintf(stderr, "%llu of %llu\n", (unsigned long long)hurt,
			(unsigned long long)runs);
}

static const struct ut_case cases[] = {
	{ "every allocation fails once", every_allocation_fails_once },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "memory", cases } };

	return ut_run("cp_memory", suites, 1);
}
