// SPDX-License-Identifier: GPL-2.0-only
/* The collective executor when disks fail. */
#include "env/disk/engine.h"
#include "iop/coll/service.h"
#include "tests/unit/iop/coll/coll_fault.h"

/*
 * Disks
 */
enum { NEVER = 1 << 30 };

/* Makes requests fail after @k more that succeed. */
static void fail_after(struct coll_world *w, uint32_t disk, uint64_t k)
{
	struct ddio_disk *d = w->disk[disk].disk;

	d->common.fail_after = d->accepted + k;
}

static bool disk_fails_at(uint64_t k, uint32_t flags, uint32_t nreactors)
{
	struct w_params p = {
		.seed = k, .ndisks = 2, .nreactors = nreactors, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status, disk = k % 2;

	fault_new(&x, &p, flags);
	if (flags & DDIO_COLL_WRITE) {
		/* Every other element, so that old bytes are read. */
		x.a.dim[0].stride = 2;
		x.a.dim[0].count = BLOCKS * BLOCK / 16;
	}
	fail_after(x.w, disk, k);
	x.op = w_start(&x.job);
	status = w_wait(x.g, x.op, 60 * SEC);
	fail_after(x.w, disk, NEVER);
	if (status != DDIO_ST_OK) {
		CU_ASSERT_EQUAL(status, DDIO_ST_IO);
		CU_ASSERT(says(&x, disk ? "disk d1" : "disk d0"));
		CU_ASSERT(says(&x, flags & DDIO_COLL_WRITE ? "ing " : "reading block "));
		CU_ASSERT(says(&x, "file \"file1\" (byte "));
	}
	w_run(x.w, 5 * MS);
	/* So does the other reactor, without waiting for anybody. */
	CU_ASSERT(coll_idle(&x.w->reactor[0]));
	CU_ASSERT(nreactors < 2 || coll_idle(&x.w->reactor[1]));
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_OK);
	if (flags & DDIO_COLL_WRITE) {
		w_apply(&x.job, x.g->map[x.op % W_OPS]);
		CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BLOCKS * BLOCK), 0);
	} else {
		CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	}
	x.a.dim[0].stride = 0;
	x.a.dim[0].count = 0;
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void test_disk_errors(void)
{
	uint32_t n = 0;
	uint64_t k;

	for (k = 0; k < 14; k++)
		n += disk_fails_at(k, DDIO_COLL_SORT, 1 + k / 2 % 2);
	/* 12 blocks a disk. */
	CU_ASSERT_EQUAL(n, 12);
	for (n = 0, k = 0; k < 26; k++)
		n += disk_fails_at(k, DDIO_COLL_WRITE, 1 + k / 2 % 2);
	CU_ASSERT_EQUAL(n, 24);
}

/* A file on one disk of reactor 1: reactor 0 has no part in it but tells the members. */
static void test_told_by_reactor_0(void)
{
	struct w_params p = { .seed = 21, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	x.f.rec.ndisks = 1;
	x.f.rec.ref.id = 2;
	CU_ASSERT_EQUAL(x.f.disks[0], 1);
	w_file_fill(x.w, &x.f, BLOCKS * BLOCK, 1);
	fail_after(x.w, 1, 5);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
	w_run(x.w, 5 * MS);
	for (i = 0; i < 4; i++) {
		const struct ddio_msg_coll_done *done = m_op(&x.g->m[i], x.op)->done;

		CU_ASSERT_EQUAL(done[0].status, DDIO_ST_IO);
		CU_ASSERT_EQUAL(done[1].status, DDIO_ST_IO);
		CU_ASSERT_STRING_EQUAL(done[0].text, done[1].text);
	}
	fail_after(x.w, 1, NEVER);
	/* When all is well reactor 0 says nothing, so no member ends because of it. */
	x.op = w_start(&x.job);
	w_run(x.w, 20 * MS);
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->oks, 1);
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->done[0].op, 0);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	x.f.rec.ndisks = 2;
	x.f.rec.ref.id = 1;
	fault_free(&x);
}

/* A disk never answers: the members are told, the buffers stay. */
static void test_disk_hangs(void)
{
	struct w_params p = { .seed = 7,
			      .ndisks = 2,
			      .nreactors = 2,
			      .options = "delay_us=20000000",
			      .timeout_ns = 2 * SEC };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_IO);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= 2 * SEC);
	CU_ASSERT(t < 3 * SEC);
	CU_ASSERT(says(&x, "no answer for"));
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 2);
	w_run(x.w, 30 * SEC);
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 0);
	w_file_free(&x.f);
	w_free(x.w);
}

static void test_no_space(void)
{
	struct w_params p = { .seed = 8, .ndisks = 2 };
	struct fault x;
	uint64_t used[2];

	fault_new(&x, &p, DDIO_COLL_WRITE);
	mem_store(x.w->disk[1].store)->limit = mem_store(x.w->disk[1].store)->used + 3 * BLOCK;
	used[0] = mem_store(x.w->disk[0].store)->used;
	used[1] = mem_store(x.w->disk[1].store)->used;
	x.a.dim[0].size *= 2; /* 24 blocks more */
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_NO_SPACE);
	CU_ASSERT(says(&x, "disk d1"));
	CU_ASSERT(says(&x, "12 more blocks"));
	CU_ASSERT_EQUAL(mem_store(x.w->disk[1].store)->used, used[1]);
	x.a.dim[0].size = (BLOCKS + 6) * BLOCK / 8;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[1].store)->used, used[1] + 3 * BLOCK);
	CU_ASSERT_EQUAL(w_totals(x.w).reads, 0);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, (BLOCKS + 6) * BLOCK), 0);
	fault_free(&x);
}

/* Blocks here and there, so that places are given out one by one. */
static void test_no_space_at_all(void)
{
	struct w_params p = { .seed = 22, .ndisks = 2 };
	struct fault x;
	uint64_t used[2];
	uint32_t i;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.f.rec.ref.id = 2;
	x.a.elem_size = BLOCK;
	x.a.dim[0] = (struct ddio_dim){
		.size = 48, .stride = 4, .count = 12, .procs = 4, .dist = DDIO_CYCLIC
	};
	for (i = 0; i < 2; i++) {
		used[i] = mem_store(x.w->disk[i].store)->used;
		mem_store(x.w->disk[i].store)->limit = used[i] + 9 * BLOCK;
	}
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_NO_SPACE);
	CU_ASSERT(says(&x, "12 more blocks"));
	CU_ASSERT_EQUAL(mem_store(x.w->disk[0].store)->used, used[0]);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[1].store)->used, used[1]);
	x.f.rec.ref.id = 1;
	x.a.elem_size = 8;
	x.a.dim[0] =
		(struct ddio_dim){ .size = BLOCKS * BLOCK / 8, .procs = 4, .dist = DDIO_CYCLIC };
	fault_free(&x);
}

static void test_commits(void)
{
	struct w_params p = { .seed = 9, .ndisks = 2, .nreactors = 2 };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[0].store)->commits, 0);
	x.job.flags |= DDIO_COLL_SYNC;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[0].store)->commits, 1);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[1].store)->commits, 1);
	mem_store(x.w->disk[1].store)->commit_err = -EIO;
	x.op = w_start(&x.job);
	/* The other reactor may have been fine, and have said so. */
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
	CU_ASSERT(says(&x, "disk d1: commit"));
	/* After a failed flush nothing is taken that might not be kept, even without a commit. */
	x.job.flags &= ~DDIO_COLL_SYNC;
	mem_store(x.w->disk[0].store)->stopped = -EIO;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
	CU_ASSERT(says(&x, "disk d0: writing after a failed flush"));
	x.job.flags &= ~DDIO_COLL_WRITE;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	fault_free(&x);
}

/* Every other block is recorded before the first is written, the others when it is their turn. */
static void test_recorded_first(void)
{
	struct w_params p = { .seed = 9, .ndisks = 2, .nreactors = 2, .doubts = true };
	struct fault x;
	uint64_t commits;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	commits = mem_store(x.w->disk[0].store)->commits;
	CU_ASSERT(commits > 1);
	x.job.seed++;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[0].store)->commits, commits);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BLOCKS * BLOCK), 0);
	fault_free(&x);
}

/* It cannot be recorded: nothing is written, and nothing of the collective is left. */
static void test_not_recorded(void)
{
	struct w_params p = { .seed = 9, .ndisks = 1, .doubts = true };
	uint64_t writes;
	struct fault x;
	int late;

	for (late = 0; late < 2; late++) {
		fault_new(&x, &p, DDIO_COLL_WRITE);
		if (late) {
			/* What is known before the first block is recorded already. */
			uint32_t steps = BLOCKS;
			struct object *obj;

			store_get(x.w->disk[0].store, &x.f.rec.ref, false, &obj);
			object_write_ahead(obj, 0, BLOCKS, &steps);
			store_doubt_asked(mem_store(x.w->disk[0].store));
			object_put(obj);
		}
		writes = w_totals(x.w).writes;
		mem_store(x.w->disk[0].store)->commit_err = -ENOSPC;
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
		CU_ASSERT(says(&x, late ? "disk d0: writing block" : "disk d0: commit"));
		CU_ASSERT(w_totals(x.w).writes <= writes + late);
		w_run(x.w, 5 * MS);
		CU_ASSERT(coll_idle(&x.w->reactor[0]));
		mem_store(x.w->disk[0].store)->commit_err = 0;
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
		w_apply(&x.job, x.g->map[x.op % W_OPS]);
		CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BLOCKS * BLOCK), 0);
		fault_free(&x);
	}
}

/* The disk has the blocks, and there is no memory to note that: the collective fails, and the next one succeeds. */
static void test_not_noted(void)
{
	struct w_params p = { .seed = 9, .ndisks = 1 };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	mem_store(x.w->disk[0].store)->unnoted = true;
	x.op = w_start(&x.job);
	CU_ASSERT_NOT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT(says(&x, "disk d0: writing block"));
	w_run(x.w, 5 * MS);
	CU_ASSERT(coll_idle(&x.w->reactor[0]));
	mem_store(x.w->disk[0].store)->unnoted = false;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BLOCKS * BLOCK), 0);
	fault_free(&x);
}

/* A block that does not match its checksum fails the collective, with its place; so do the old bytes of one. */
static void test_checksum(void)
{
	static const uint32_t flags[] = { 0, DDIO_COLL_WRITE };
	struct w_params p = { .seed = 9, .ndisks = 2 };
	struct fault x;
	int i;

	for (i = 0; i < 2; i++) {
		fault_new(&x, &p, flags[i]);
		if (flags[i]) {
			x.a.dim[0].stride = 2;
			x.a.dim[0].count = BLOCKS * BLOCK / 16;
		}
		mem_store(x.w->disk[1].store)->bad = 1;
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
		CU_ASSERT(says(&x, "disk d1: block "));
		CU_ASSERT(says(&x, "of file \"file1\" (byte "));
		CU_ASSERT(says(&x, "does not match its checksum"));
		mem_store(x.w->disk[1].store)->bad = 0;
		w_run(x.w, 5 * MS);
		CU_ASSERT(coll_idle(&x.w->reactor[0]));
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
		x.a.dim[0].stride = 0;
		x.a.dim[0].count = 0;
		fault_free(&x);
	}
}

/* The file is cut under a running collective. */
static void test_cut(void)
{
	uint32_t flags[] = { 0, DDIO_COLL_WRITE }, i;

	for (i = 0; i < 2; i++) {
		struct w_params p = { .seed = 10, .ndisks = 2, .options = "delay_us=300" };
		struct object *obj;
		struct fault x;

		fault_new(&x, &p, flags[i]);
		CU_ASSERT(!coll_uses(&x.w->reactor[0], x.f.rec.ref.id));
		x.op = w_start(&x.job);
		w_run(x.w, MS);
		CU_ASSERT(coll_uses(&x.w->reactor[0], x.f.rec.ref.id));
		CU_ASSERT(!coll_uses(&x.w->reactor[0], x.f.rec.ref.id + 1));
		store_get(x.w->disk[0].store, &x.f.rec.ref, false, &obj);
		object_punch(obj, 8, UINT64_MAX);
		object_put(obj);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_STALE);
		CU_ASSERT(says(&x, "was freed meanwhile"));
		fault_free(&x);
	}
}

static const struct ut_case disk_cases[] = {
	{ "a disk fails at any request", test_disk_errors },
	{ "reactor 0 tells what another one found", test_told_by_reactor_0 },
	{ "a disk does not answer", test_disk_hangs },
	{ "a disk is full", test_no_space },
	{ "a disk is too full for scattered blocks", test_no_space_at_all },
	{ "commits, and their errors", test_commits },
	{ "what may change is recorded first", test_recorded_first },
	{ "what cannot be recorded", test_not_recorded },
	{ "no memory to note what was written", test_not_noted },
	{ "a block does not match its checksum", test_checksum },
	{ "blocks are freed under a collective", test_cut },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "disks", disk_cases },
	};

	return w_ut_run_shared("test_coll_faults", suites, sizeof(suites) / sizeof(suites[0]));
}
