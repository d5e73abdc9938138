// SPDX-License-Identifier: GPL-2.0-only
/* The collective executor's economy: the order of the blocks, buffers and memory, messages. */
#include "tests/unit/iop/coll/coll_pattern.h"

static uint64_t place_of(struct coll_world *w, const struct w_file *f, uint64_t b)
{
	struct object *obj;
	uint64_t start, run;
	bool written;

	store_get(w_file_store(w, f, b), &f->rec.ref, false, &obj);
	object_lookup(obj, b / f->rec.ndisks, &start, &run, &written);
	object_put(obj);
	return start;
}

/* Returns true if rank 0's blocks ascend on each disk, by @place or by number. */
static bool ascending(const struct w_job *job, const struct w_op *op, bool by_place)
{
	uint64_t last[W_DISKS] = { 0 }, key;
	uint32_t i;

	for (i = 0; i < op->norder; i++) {
		uint64_t b = op->order[i], d = b % job->f->rec.ndisks;

		key = (by_place ? place_of(job->g->w, job->f, b) : b) + 1;
		if (key < last[d])
			return false;
		last[d] = key;
	}
	return true;
}

static struct w_op *read_with(struct w_job *job, uint32_t flags)
{
	uint64_t op;

	job->flags = flags;
	op = w_start(job);
	CU_ASSERT_EQUAL(w_wait(job->g, op, 60 * SEC), DDIO_ST_OK);
	return m_op(&job->g->m[0], op);
}

/* With one buffer the order of the messages is that of the list. */
static void test_order(void)
{
	struct w_params p = { .seed = 3, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 4096, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .buffers = 1 };
	struct w_op *op;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	w_file_fill(w, &f, 8 * 4096, 1);
	op = read_with(&job, DDIO_COLL_SORT);
	CU_ASSERT_EQUAL(op->norder, 64);
	CU_ASSERT(ascending(&job, op, true));
	CU_ASSERT(!ascending(&job, op, false));
	op = read_with(&job, 0);
	CU_ASSERT(!ascending(&job, op, true));
	CU_ASSERT(ascending(&job, op, false));
	op = read_with(&job, DDIO_COLL_ROTATE);
	/* The second disk of two begins in the middle of its 32 blocks: with the 17th. */
	CU_ASSERT(!ascending(&job, op, false));
	CU_ASSERT(op->order[0] == 0 || op->order[1] == 0);
	CU_ASSERT(op->order[0] == 2 * 16 + 1 || op->order[1] == 2 * 16 + 1);
	CU_ASSERT_EQUAL(op->norder, 64);
	w_file_free(&f);
	w_free(w);
}

/* 7 blocks a disk: the fourth of four disks begins with its sixth. */
static void test_rotation(void)
{
	struct w_params p = { .seed = 34, .ndisks = 4 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 28 * 64, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .buffers = 1 };
	bool first[28] = { 0 };
	struct w_op *op;
	uint32_t i;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 28 * 512, 1);
	op = read_with(&job, DDIO_COLL_ROTATE);
	CU_ASSERT_EQUAL_FATAL(op->norder, 28);
	for (i = 0; i < 4; i++)
		first[op->order[i]] = true;
	CU_ASSERT(first[0]);
	CU_ASSERT(first[1 * 4 + 1]);
	CU_ASSERT(first[3 * 4 + 2]);
	CU_ASSERT(first[5 * 4 + 3]);
	w_file_free(&f);
	w_free(w);
}

/* However the pieces come, the blocks go to the disk in the order of the list. */
static void test_order_of_writes(void)
{
	struct w_params p = { .seed = 33, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 4096, 4);
	struct ddio_sim_link net;
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .buffers = 6 };
	uint32_t i;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	w_file_fill(w, &f, 8 * 4096, 1);
	/* Not every member has bytes of every block, so that some blocks wait for slow ones. */
	a = pattern("b", 1024, 1, 32, 4);
	ddio_sim_link_default(&net);
	for (i = 0; i < 4; i++) {
		net.latency_ns = 20000 + 400000 * i;
		ddio_sim_set_link(g->m[i].env, &net);
	}
	job.flags = DDIO_COLL_WRITE | DDIO_COLL_SORT;
	for (i = 0; i < 2; i++) {
		mem_store(w->disk[i].store)->back = 0;
		mem_store(w->disk[i].store)->last = 0;
	}
	write_and_check(&job);
	CU_ASSERT_EQUAL(mem_store(w->disk[0].store)->back, 0);
	CU_ASSERT_EQUAL(mem_store(w->disk[1].store)->back, 0);
	job.flags = DDIO_COLL_WRITE;
	write_and_check(&job);
	CU_ASSERT(mem_store(w->disk[0].store)->back > 4);
	w_file_free(&f);
	w_free(w);
}

static void test_buffers(void)
{
	static const uint32_t n[] = { 0, 1, 2, 5, 64 };
	struct w_params p = { .seed = 4, .ndisks = 2, .options = "delay_us=500" };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 4096, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a };
	uint32_t i;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 8 * 4096, 1);
	for (i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		uint32_t most = n[i] == 64 ? 32 : n[i] ? n[i] : 2; /* no more than blocks */
		struct w_op *op;

		w->max_buffers = 0;
		w->max_memory = 0;
		job.buffers = n[i];
		op = read_with(&job, 0);
		CU_ASSERT_EQUAL(w->max_buffers, most);
		CU_ASSERT_EQUAL(op->done[0].buffers, most);
		/* A block and a message buffer each; with as many buffers as blocks it is over too soon. */
		if (most < 32)
			CU_ASSERT_EQUAL(w->max_memory, 2ull * 2 * most * 512);
		CU_ASSERT_EQUAL(op->datas, 64);
	}
	CU_ASSERT_EQUAL(w->disk[0].coll_max_buffers, 32);
	w_file_free(&f);
	w_free(w);
}

/* How many buffers a disk gets for a read of 4 MB if nobody says. */
static uint64_t buffers_by_itself(const char *engine, uint32_t ndisks, uint32_t block,
				  uint64_t held)
{
	struct w_params p = { .seed = 6,
			      .ndisks = ndisks,
			      .nreactors = 1,
			      .engine = engine,
			      .own_buffers = true,
			      .disk_size = 8 << 20 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 2);
	struct ddio_array a = pattern("b", 4096, 1, 1024, 2);
	struct w_file f;
	uint64_t n;

	w_file_init(w, &f, 1, block, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 4 << 20, 1);
	w->reactor[0].memory += held;
	n = read_with(&(struct w_job){ .g = g, .f = &f, .array = &a }, 0)->done[0].buffers;
	w->reactor[0].memory -= held;
	w_file_free(&f);
	w_free(w);
	return n;
}

/* Of a disk that gives blocks as they are asked for; one that is handed the list has two. */
static uint64_t at_once(uint64_t n)
{
	return w_streams ? 2 : n;
}

/* Two where an arm moves; elsewhere a megabyte, at most 128, 16 MB for all disks, and two where much is held. */
static void test_buffers_by_themselves(void)
{
	CU_ASSERT_EQUAL(buffers_by_itself("hp97560", 1, 32768, 0), 2);
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 32768, 0), at_once(32));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 2, 32768, 0), at_once(32));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 4096, 0), at_once(128));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 262144, 0), at_once(4));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 1 << 20, 0), at_once(2));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 32768, (256u << 20) - 1), at_once(32));
	CU_ASSERT_EQUAL(buffers_by_itself("mem", 1, 32768, 256u << 20), at_once(2));
}

static void test_memory_by_members(void)
{
	static const uint32_t n[] = { 4, 16, 64 };
	uint64_t memory[3] = { 0 };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		struct w_params p = { .seed = 5, .ndisks = 4, .options = "delay_us=500" };
		struct coll_world *w = w_new(&p);
		struct w_group *g = w_group_new(w, n[i]);
		struct ddio_array a = pattern("c", 8, 1, 8192, n[i]);
		struct w_file f;
		struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_SORT };

		w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
		w_file_fill(w, &f, 8 * 8192, 1);
		read_and_check(&job);
		job.flags |= DDIO_COLL_WRITE;
		write_and_check(&job);
		CU_ASSERT_EQUAL(w->max_buffers, 2);
		memory[i] = w->max_memory;
		w_file_free(&f);
		w_free(w);
	}
	CU_ASSERT_EQUAL(memory[0], 4 * 2 * 2 * 1024);
	CU_ASSERT_EQUAL(memory[1], memory[0]);
	CU_ASSERT_EQUAL(memory[2], memory[0]);
}

/* Buffers are kept for the next collective, not for one of another shape. */
static void test_kept(void)
{
	struct w_params p = { .seed = 9, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 4096, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a };
	struct reactor *r = &w->reactor[0];
	uint32_t i;

	w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 8 * 4096, 1);
	for (i = 0; i < 3; i++) {
		read_and_check(&job);
		w_run(w, MS);
		CU_ASSERT_EQUAL(r->memory, 2 * 2 * 2 * 1024);
		CU_ASSERT_EQUAL(r->spare_bytes, r->memory);
	}
	job.buffers = 1;
	read_and_check(&job);
	w_run(w, MS);
	CU_ASSERT_EQUAL(r->memory, 2 * 2 * 1024);
	for (i = 0; i < 4; i++)
		m_leave(&g->m[i]);
	w_run(w, MS);
	CU_ASSERT_EQUAL(r->memory, 0);
	CU_ASSERT_EQUAL(r->spare_bytes, 0);
	w_file_free(&f);
	w_free(w);
}

/* Large contiguous parts need no second buffer. */
static void test_straight(void)
{
	struct w_params p = { .seed = 6, .ndisks = 2, .options = "delay_us=500" };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("b", 8, 1, 96 << 10, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a };

	w_file_init(w, &f, 1, 128 << 10, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 768 << 10, 1);
	read_and_check(&job);
	job.flags |= DDIO_COLL_WRITE;
	write_and_check(&job);
	CU_ASSERT_EQUAL(w->max_memory, 2 * 2 * (128 << 10));
	w_file_free(&f);
	w_free(w);
}

static void test_batches(void)
{
	struct w_params p = { .seed = 7, .ndisks = 4 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 8192, 4);
	uint64_t bytes = 8 * 8192, op, got, put;
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_WRITE };
	struct w_op *one;

	w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, bytes, 1);
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
	one = m_op(&g->m[1], op);
	/* The first question is for two blocks of each of four disks. */
	CU_ASSERT_EQUAL(one->max_want, 8);
	CU_ASSERT_EQUAL(one->wants, 64);
	CU_ASSERT(one->want_msgs < 64);
	got = ddio_sim_charged(w->reactor[0].env, DDIO_WORK_MEMGET);
	CU_ASSERT_EQUAL(got, bytes);
	CU_ASSERT_EQUAL(one->done[0].messages,
			64 * 4 + m_op(&g->m[0], op)->want_msgs + one->want_msgs +
				m_op(&g->m[2], op)->want_msgs + m_op(&g->m[3], op)->want_msgs);
	job.flags |= DDIO_COLL_NO_BATCH;
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
	one = m_op(&g->m[1], op);
	CU_ASSERT_EQUAL(one->max_want, 1);
	CU_ASSERT_EQUAL(one->want_msgs, 64);
	job.flags = DDIO_COLL_SORT;
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
	put = ddio_sim_charged(w->reactor[0].env, DDIO_WORK_MEMPUT);
	CU_ASSERT_EQUAL(put, bytes);
	CU_ASSERT_EQUAL(m_op(&g->m[0], op)->done[0].messages, 64 * 4);
	CU_ASSERT(ddio_sim_charged(w->reactor[0].env, DDIO_WORK_SORT) > 0);
	CU_ASSERT_EQUAL(ddio_sim_charged(w->reactor[0].env, DDIO_WORK_DISK), 3 * 64);
	w_file_free(&f);
	w_free(w);
}

/*
 * While the disk writes, small pieces of the next blocks are asked for, of both slots at once;
 * large ones, which go straight into the block buffer, are asked for one by one.
 */
static void test_questions_wait(void)
{
	static const struct {
		const char *dist;
		uint32_t block, blocks;
	} way[] = { { "c", 512, 64 }, { "b", 64 << 10, 16 } };
	struct w_params p = { .seed = 10, .ndisks = 1, .options = "delay_us=3000" };
	struct ddio_sim_link net;
	uint64_t op, t, ns[2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		uint64_t size = (uint64_t)way[i].block * way[i].blocks;
		struct coll_world *w = w_new(&p);
		struct w_group *g = w_group_new(w, 2);
		struct ddio_array a = pattern(way[i].dist, 8, 1, size / 8, 2);
		struct w_file f;
		struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_WRITE };

		ddio_sim_link_default(&net);
		net.latency_ns = MS;
		ddio_sim_set_link(g->m[0].env, &net);
		ddio_sim_set_link(g->m[1].env, &net);
		w_file_init(w, &f, 1, way[i].block, DDIO_LAYOUT_CONTIGUOUS_W);
		w_file_fill(w, &f, size, 1);
		t = ddio_sim_elapsed(w->dw);
		op = w_start(&job);
		CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
		ns[i] = ddio_sim_elapsed(w->dw) - t;
		/* All but the first come in pairs. */
		if (!i)
			CU_ASSERT(m_op(&g->m[0], op)->want_msgs <= 34);
		w_file_free(&f);
		w_free(w);
	}
	/* Pairs of blocks take 3 ms; the answers' millisecond and more is hidden behind that, or not. */
	CU_ASSERT(ns[0] < 32 * 3 * MS + 8 * MS);
	CU_ASSERT(ns[1] > 8 * 4 * MS);
}

/* A disk that writes one block after the other: the pair's second is asked for with the first. */
static void test_questions_in_pairs(void)
{
	struct w_params p = { .seed = 10,
			      .ndisks = 1,
			      .engine = "hp97560",
			      .options = "time_scale=1,immediate_report=no" };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 8, 1, 64 * 1024, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_WRITE };
	uint64_t op;

	w_file_init(w, &f, 1, 8192, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 64 * 8192, 1);
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(m_op(&g->m[3], op)->wants, 64);
	CU_ASSERT(m_op(&g->m[3], op)->want_msgs <= 36);
	w_file_free(&f);
	w_free(w);
}

static void test_nothing_wanted(void)
{
	struct w_params p = { .seed = 8 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 3);
	struct ddio_part none[3] = { { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST } };
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .parts = none };

	w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	read_and_check(&job);
	job.flags = DDIO_COLL_WRITE | DDIO_COLL_SYNC;
	write_and_check(&job);
	CU_ASSERT_EQUAL(w->max_memory, 0);
	w_file_free(&f);
	w_free(w);
}

/* A list of an object in many pieces is made in many turns: counting what has no place, placing it, and listing it. */
static void test_turns(void)
{
	enum { BLOCKS = 1024, STEPS = 32 };
	struct w_params p = { .seed = 41, .ndisks = 1 };
	struct coll_world *w = w_new(&p);
	struct bound *bound = &w->reactor[0].bounds.at[BOUND_PLANNED];
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("c", 512, 1, BLOCKS, 4);
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_WRITE };

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	f.rec.size = BLOCKS * 512;
	bound->limit = STEPS;
	write_and_check(&job);
	CU_ASSERT(bound->hits >= BLOCKS / STEPS);
	CU_ASSERT_EQUAL(bound->most, STEPS);
	CU_ASSERT(mem_store(w->disk[0].store)->most_placed <= STEPS);
	bound->hits = 0;
	write_and_check(&job);
	CU_ASSERT(bound->hits >= 2 * BLOCKS / STEPS);
	CU_ASSERT(bound->hits <= 2 * BLOCKS / STEPS + 2);
	bound->hits = 0;
	job.flags = DDIO_COLL_SORT;
	read_and_check(&job);
	CU_ASSERT(bound->hits >= BLOCKS / STEPS);
	CU_ASSERT(bound->hits <= BLOCKS / STEPS + 2);
	/* The object's records are read first, in turns, too. */
	bound->hits = 0;
	mem_store(w->disk[0].store)->unread = STEPS;
	read_and_check(&job);
	CU_ASSERT_EQUAL(mem_store(w->disk[0].store)->unread, 0);
	CU_ASSERT(bound->hits >= BLOCKS / STEPS);
	w_file_free(&f);
	w_free(w);
}

/* Where a disk has no block of what is wanted, it looks for one in turns. */
static void test_turns_for_nothing(void)
{
	enum { PARTS = 256, STEPS = 16 };
	struct w_params p = { .seed = 42, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct bound *bound = &w->reactor[0].bounds.at[BOUND_PLANNED];
	struct w_group *g = w_group_new(w, 2);
	struct ddio_array a = { .elem_size = 512, .ndims = 2 };
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .array = &a, .flags = DDIO_COLL_SORT };

	/* The first column of two: every second block. */
	dim_set(&a.dim[0], 'b', PARTS, 2);
	dim_set(&a.dim[1], 'n', 2, 1);
	a.dim[1].count = 1;
	w_file_init(w, &f, 2, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 2 * PARTS * 512, 1);
	bound->limit = STEPS;
	read_and_check(&job);
	CU_ASSERT(bound->hits >= 3 * PARTS / STEPS);
	w_file_free(&f);
	w_free(w);
}

static const struct ut_case economy_cases[] = {
	{ "blocks move in the order of the list", test_order },
	{ "the lists of the disks begin at different places", test_rotation },
	{ "blocks are written in the order of the list", test_order_of_writes },
	{ "as many buffers as asked for, two if not", test_buffers },
	{ "a disk that nobody gives buffers gets what suits it", test_buffers_by_themselves },
	{ "memory does not grow with the members", test_memory_by_members },
	{ "buffers are kept for the next of the same shape", test_kept },
	{ "contiguous parts go straight", test_straight },
	{ "questions are batched, work is accounted for", test_batches },
	{ "questions wait for one another while the disk is busy", test_questions_wait },
	{ "questions go in pairs", test_questions_in_pairs },
	{ "nothing is wanted of anybody", test_nothing_wanted },
	{ "long lists are made in turns", test_turns },
	{ "blocks are looked for in turns", test_turns_for_nothing },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "economy", economy_cases },
	};

	return w_ut_run("test_coll_economy", suites, sizeof(suites) / sizeof(suites[0]));
}
