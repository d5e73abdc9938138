// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives of several groups on one disk at once: they share one sweep of its arm, none waits for another's members,
 * and a request of the traditional path gets its turn.
 */
#include "tests/unit/iop/coll/coll_tc.h"

enum { BLOCK = 8192, BLOCKS = 64, MEMBERS = 4 };

static const char *disk_options = "time_scale=1";

/**
 * struct several - two groups with a file each, and one with a file as long as both
 * @elapsed: of the last collective of each
 */
struct several {
	struct coll_world *w;
	struct w_group *g[3];
	struct w_file f[3];
	struct ddio_array a[3];
	uint64_t op[3], elapsed[3];
};

static void several_new(struct several *s, uint32_t layout, uint64_t timeout_ns)
{
	struct w_params p = { .seed = 5,
			      .ndisks = 1,
			      .engine = "hp97560",
			      .options = disk_options,
			      .timeout_ns = timeout_ns };
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->w = w_new(&p);
	for (i = 0; i < 3; i++) {
		uint64_t blocks = i == 2 ? 2 * BLOCKS : BLOCKS;

		s->g[i] = w_group_new(s->w, MEMBERS);
		w_file_init(s->w, &s->f[i], 1 + i, BLOCK, layout);
		w_file_fill(s->w, &s->f[i], blocks * BLOCK, 1 + i);
		s->a[i] = (struct ddio_array){ .elem_size = BLOCK, .ndims = 1 };
		s->a[i].dim[0].size = blocks;
		s->a[i].dim[0].dist = DDIO_CYCLIC;
		s->a[i].dim[0].procs = MEMBERS;
	}
}

static void several_free(struct several *s)
{
	uint32_t i;

	w_free(s->w);
	for (i = 0; i < 3; i++)
		w_file_free(&s->f[i]);
}

static void several_start(struct several *s, uint32_t i, uint32_t flags)
{
	struct w_job job = {
		.g = s->g[i], .f = &s->f[i], .array = &s->a[i], .flags = flags, .seed = 10 + i
	};

	s->op[i] = w_start(&job);
	if (flags & DDIO_COLL_WRITE)
		w_apply(&job, s->g[i]->map[s->op[i] % W_OPS]);
}

static void several_wait(struct several *s, uint32_t i)
{
	CU_ASSERT_EQUAL(w_wait(s->g[i], s->op[i], 60 * SEC), DDIO_ST_OK);
	s->elapsed[i] = m_op(&s->g[i]->m[0], s->op[i])->done[0].elapsed_ns;
}

/* Of what was written each block is read again, from the disk: nothing else that is measured may be under way. */
static void several_end(struct several *s, uint32_t i, uint32_t flags)
{
	several_wait(s, i);
	CU_ASSERT_EQUAL(flags & DDIO_COLL_WRITE ? w_file_wrong(s->w, &s->f[i], s->f[i].rec.size)
						: w_read_wrong(s->g[i], s->op[i], &s->f[i]),
			0);
}

/**
 * struct times - how long two collectives took together, in thousandths
 * @of_one: of what one of the same bytes took; @of_turns: of what they took one after the other
 */
struct times {
	uint64_t of_one, of_turns;
};

static uint64_t run_alone(struct several *s, uint32_t i, uint32_t flags)
{
	several_start(s, i, flags);
	several_end(s, i, flags);
	return s->elapsed[i];
}

static struct times together(uint32_t layout, uint32_t first, uint32_t second)
{
	struct several s;
	uint64_t one, turns, both;

	several_new(&s, layout, 0);
	one = run_alone(&s, 2, first);
	turns = run_alone(&s, 0, first) + run_alone(&s, 1, second);
	several_start(&s, 0, first);
	several_start(&s, 1, second);
	several_wait(&s, 0);
	several_wait(&s, 1);
	several_end(&s, 0, first);
	several_end(&s, 1, second);
	both = 1000 * (s.elapsed[0] > s.elapsed[1] ? s.elapsed[0] : s.elapsed[1]);
	CU_ASSERT_EQUAL(s.w->max_buffers, 4);
	several_free(&s);
	printf("\n  %s, %s and %s: %.3f of one, %.3f of one after the other",
	       layout == DDIO_LAYOUT_CONTIGUOUS_W ? "contiguous" : "random",
	       first & DDIO_COLL_WRITE ? "write" : "read",
	       second & DDIO_COLL_WRITE ? "write" : "read", (double)both / (double)one / 1000,
	       (double)both / (double)turns / 1000);
	return (struct times){ both / one, both / turns };
}

static void as_one(void)
{
	uint32_t reads = DDIO_COLL_SORT, writes = DDIO_COLL_SORT | DDIO_COLL_WRITE;

	CU_ASSERT(together(DDIO_LAYOUT_CONTIGUOUS_W, reads, reads).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_CONTIGUOUS_W, reads, writes).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_CONTIGUOUS_W, writes, writes).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, reads, reads).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, writes, writes).of_one <= 1100);
	/* Reads of scattered blocks are slower than writes, of which one is here. */
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, reads, writes).of_turns <= 1100);
}

/* A drive that reports writes when they are done loses a turn each, whoever writes. */
static void writes_that_are_done(void)
{
	uint32_t writes = DDIO_COLL_SORT | DDIO_COLL_WRITE;

	disk_options = "time_scale=1,immediate_report=no";
	CU_ASSERT(together(DDIO_LAYOUT_CONTIGUOUS_W, writes, writes).of_one <= 1100);
	disk_options = "time_scale=1";
}

/* What a drive does by itself ends with each change from reads to writes; one that does nothing takes both in one sweep. */
static void reads_with_writes(void)
{
	uint32_t reads = DDIO_COLL_SORT, writes = DDIO_COLL_SORT | DDIO_COLL_WRITE;

	disk_options = "time_scale=1,immediate_report=no,read_ahead=no";
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, reads, reads).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, writes, writes).of_one <= 1100);
	CU_ASSERT(together(DDIO_LAYOUT_RANDOM_BLOCKS_W, reads, writes).of_one <= 1100);
	disk_options = "time_scale=1";
}

/* A group whose member has stopped has nothing at the disk in the end: the other is as fast as alone, or nearly. */
static void a_stopped_member(void)
{
	uint32_t writes = DDIO_COLL_SORT | DDIO_COLL_WRITE, flags;
	struct several s;
	uint64_t alone;

	for (flags = 0; flags < 2; flags++) {
		uint32_t other = flags ? writes : DDIO_COLL_SORT;

		several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 20 * SEC);
		several_start(&s, 1, other);
		several_end(&s, 1, other);
		alone = s.elapsed[1];
		s.g[0]->m[2].mute = true;
		several_start(&s, 0, writes);
		several_start(&s, 1, other);
		several_end(&s, 1, other);
		CU_ASSERT(s.elapsed[1] * 10 <= alone * 12);
		CU_ASSERT_EQUAL(w_wait(s.g[0], s.op[0], 60 * SEC), DDIO_ST_TIMEOUT);
		several_free(&s);
	}
}

/* A member of one group dies at any time: the other group is not hurt, and its collective goes on. */
static bool dies_at(uint64_t ms, uint32_t flags)
{
	struct several s;
	uint32_t status;

	several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 0);
	several_start(&s, 0, flags);
	several_start(&s, 1, DDIO_COLL_SORT);
	w_run(s.w, ms * MS);
	m_leave(&s.g[0]->m[1]);
	several_end(&s, 1, DDIO_COLL_SORT);
	status = w_wait(s.g[0], s.op[0], 60 * SEC);
	CU_ASSERT(status == DDIO_ST_OK || status == DDIO_ST_MEMBER_LOST);
	several_free(&s);
	return status != DDIO_ST_OK;
}

static void deaths(void)
{
	uint32_t n[2] = { 0 };
	uint64_t ms;

	for (ms = 0; ms < 500; ms += 7 * ut_stride(5)) {
		n[0] += dies_at(ms, DDIO_COLL_SORT);
		n[1] += dies_at(ms, DDIO_COLL_SORT | DDIO_COLL_WRITE);
	}
	CU_ASSERT(n[0] > 3);
	CU_ASSERT(n[1] > 3);
}

/* The disk fails under one that the other waits for. */
static void a_disk_error(void)
{
	struct several s;
	uint32_t k;

	for (k = 0; k < 60; k += ut_stride(6)) {
		uint32_t status[2], i;

		several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 0);
		for (i = 0; i < 2; i++)
			several_start(&s, i, DDIO_COLL_SORT);
		w_run(s.w, k * 7 * MS);
		disk_inject(s.w->disk[0].disk, DDIO_DISK_READ, 1, -EIO);
		for (i = 0; i < 2; i++)
			status[i] = w_wait(s.g[i], s.op[i], 60 * SEC);
		CU_ASSERT_EQUAL((status[0] == DDIO_ST_IO) + (status[1] == DDIO_ST_IO), 1);
		CU_ASSERT_EQUAL((status[0] == DDIO_ST_OK) + (status[1] == DDIO_ST_OK), 1);
		several_free(&s);
	}
}

/* Returns the time that a request of the traditional path takes in the middle of @n collectives. */
static uint64_t beside(uint32_t n)
{
	struct several s;
	struct c_io c;
	uint8_t *buf = malloc(BLOCK);
	uint64_t began;
	uint32_t i;

	several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 0);
	for (i = 0; i < n; i++)
		several_start(&s, i, DDIO_COLL_SORT);
	w_run(s.w, 60 * MS);
	began = ddio_sim_elapsed(s.w->dw);
	tc_begin(s.w, &s.f[2], &c, 5 * BLOCK, buf, BLOCK, false);
	CU_ASSERT(w_until(s.w, c_over, &c, 10 * SEC));
	began = ddio_sim_elapsed(s.w->dw) - began;
	CU_ASSERT_EQUAL(c.status, 0);
	for (i = 0; i < n; i++)
		several_end(&s, i, DDIO_COLL_SORT);
	several_free(&s);
	free(buf);
	return began;
}

/* Two are no worse for it than one. */
static void the_traditional_path(void)
{
	uint64_t one = beside(1), two = beside(2);

	printf(" %llu and %llu us", (unsigned long long)one / 1000, (unsigned long long)two / 1000);
	CU_ASSERT(two <= one + 10 * MS);
	CU_ASSERT(two < 100 * MS);
}

/* One after the other from each of two groups: both get on. */
static void in_turns(void)
{
	struct several s;
	uint32_t ended[2] = { 0 }, i, more;

	several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 0);
	several_start(&s, 0, DDIO_COLL_SORT);
	several_start(&s, 1, DDIO_COLL_SORT);
	while (ended[0] + ended[1] < 12) {
		ddio_sim_run_for(s.w->dw, MS);
		for (i = 0; i < 2; i++) {
			struct w_ended e = { s.g[i], s.op[i] };

			if (!w_all_ended(&e))
				continue;
			several_end(&s, i, DDIO_COLL_SORT);
			ended[i]++;
			several_start(&s, i, DDIO_COLL_SORT);
		}
	}
	more = ended[0] > ended[1] ? ended[0] - ended[1] : ended[1] - ended[0];
	CU_ASSERT(more <= 1);
	for (i = 0; i < 2; i++)
		several_end(&s, i, DDIO_COLL_SORT);
	several_free(&s);
}

/* One that comes later begins where the arm is, and ends with what that had passed. */
static void in_the_middle(void)
{
	struct several s;
	const struct w_op *op;

	several_new(&s, DDIO_LAYOUT_CONTIGUOUS_W, 0);
	s.f[1].rec = s.f[0].rec;
	memcpy(s.f[1].image, s.f[0].image, s.f[1].cap);
	several_start(&s, 0, DDIO_COLL_SORT);
	w_run(s.w, 120 * MS);
	several_start(&s, 1, DDIO_COLL_SORT);
	several_end(&s, 0, DDIO_COLL_SORT);
	several_end(&s, 1, DDIO_COLL_SORT);
	op = m_op(&s.g[1]->m[0], s.op[1]);
	CU_ASSERT(op->order[0] > BLOCKS / 4);
	CU_ASSERT(op->order[op->norder - 1] < op->order[0]);
	printf(" begins with block %llu", (unsigned long long)op->order[0]);
	several_free(&s);
}

static const struct ut_case cases[] = {
	{ "two take as long as one of the same bytes", as_one },
	{ "writes that are reported when they are done", writes_that_are_done },
	{ "reads with writes, on a drive that does nothing by itself", reads_with_writes },
	{ "a stopped member of one holds nobody else", a_stopped_member },
	{ "a member of one dies at any time", deaths },
	{ "the disk fails under one", a_disk_error },
	{ "requests of the traditional path", the_traditional_path },
	{ "groups take turns", in_turns },
	{ "in the middle of a sweep", in_the_middle },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "several collectives", cases } };

	return ut_run("test_coll_several", suites, 1);
}
