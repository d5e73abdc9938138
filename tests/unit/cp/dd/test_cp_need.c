// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members attach to the I/O processors that have something of theirs, and know from their bytes when these are done; who
 * asked one hears of it.  What a transfer did is reported by every member all the same, and nobody waits for ever for a member that
 * has died, however little of it an I/O processor knew.
 */
#include "base/rand.h"
#include "conn/conn_priv.h"
#include "cp/coll/dd/priv.h"
#include "iop/coll/core/group.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 16, NODES = 4, BLOCK = 1024, BYTES = PROCS * BLOCK };

/* Each process has the block of its number; or the bytes are dealt one by one. */
static struct ddio_array shares(bool dealt)
{
	struct ddio_array a = { .elem_size = 1, .ndims = 1 };

	a.dim[0].size = BYTES;
	a.dim[0].dist = dealt ? DDIO_CYCLIC : DDIO_BLOCK;
	a.dim[0].procs = PROCS;
	return a;
}

static uint64_t place(bool dealt, uint32_t rank, uint32_t i)
{
	return dealt ? (uint64_t)i * PROCS + rank : (uint64_t)rank * BLOCK + i;
}

static struct ddio_report report_of(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
				    bool dealt, bool writing)
{
	struct ddio_array array = shares(dealt);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t buf[BLOCK];
	struct ddio_transfer t = {
		.struct_size = sizeof(t),
		.method = DDIO_METHOD_DDS,
		.part = &part,
		.buf = buf,
		.report = &report,
	};
	uint32_t i, bad = 0;

	for (i = 0; i < BLOCK; i++)
		buf[i] = writing ? cp_byte(5, place(dealt, p->rank, i)) : 0;
	CP_OK(p, writing ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	for (i = 0; i < BLOCK; i++)
		bad += buf[i] != cp_byte(5, place(dealt, p->rank, i));
	CU_ASSERT_EQUAL(bad, 0);
	return report;
}

/* Members of the only group with members that a node knows. */
static uint32_t attached(const struct cp_world *w, uint32_t node)
{
	const struct reactor *reactor = &w->node[node].iop->reactors[0];
	const struct coll_group *group;
	uint32_t n = 0;

	ddio_list_for_each_entry(group, &reactor->groups, link)
		n += group->size == PROCS ? group->n : 0;
	return n;
}

static void check_report(const struct ddio_report *r, bool writing)
{
	CU_ASSERT_EQUAL(r->requests, NODES);
	CU_ASSERT_EQUAL(r->iops, NODES);
	CU_ASSERT_EQUAL(r->bytes_needed, BYTES);
	CU_ASSERT_EQUAL(r->disk_requests, PROCS);
	CU_ASSERT_EQUAL(writing ? r->disk_written : r->disk_read, BYTES);
	CU_ASSERT_EQUAL(r->buffers, 2);
}

/* Messages with I/O processors: what is not with neighbours in the tree, in two steps. */
static uint64_t with_iops(const struct ddio_report *r, uint32_t rank)
{
	uint64_t neighbours = rank ? 1 : 0, child;

	for (child = 1; !(rank & child) && rank + child < PROCS; child *= 2)
		neighbours++;
	return r->messages - 4 * neighbours;
}

/* Messages without data that a node has sent. */
static uint64_t sent(const struct cp_world *w, uint32_t node)
{
	return ddio_sim_charged(w->node[node].env[0], DDIO_WORK_MSG_SEND);
}

static void by_need(struct cp_proc *p)
{
	uint64_t before;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_report r;
	uint32_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	r = report_of(p, g, f, false, true);
	check_report(&r, true);
	/* Rank 0 asks them all and hears from all; the others are asked for their block. */
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 2 + (p->rank ? 0 : 2 * NODES));
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < NODES && !p->rank; i++)
		CU_ASSERT_EQUAL(attached(p->w, i), PROCS / NODES + (i != 0));
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_drop_cache(f));
	CP_OK(p, ddio_group_barrier(g));
	/* Everybody has something everywhere. */
	r = report_of(p, g, f, true, false);
	check_report(&r, false);
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < NODES && !p->rank; i++)
		CU_ASSERT_EQUAL(attached(p->w, i), PROCS);
	CP_OK(p, ddio_group_barrier(g));
	before = sent(p->w, 1);
	CP_OK(p, ddio_group_barrier(g));
	r = report_of(p, g, f, false, false);
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 1 + (p->rank ? 0 : 2 * NODES));
	CP_OK(p, ddio_group_barrier(g));
	/* Of the end, the one that asked is told, and nobody else. */
	if (!p->rank)
		CU_ASSERT_EQUAL(sent(p->w, 1) - before, 1);
	ddio_close(f);
	ddio_group_free(g);
}

static void where_something_is(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
						.deep = true,
						.nodes = NODES,
						.disks = NODES,
						.reactors = 1,
						.block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, by_need, NULL), 0);
	cp_world_end(&w);
}

/* The nodes tell members that had something there that it is over. */
static void all_are_told(struct cp_proc *p)
{
	struct ddio_group *g;
	struct ddio_file *f = NULL;
	struct ddio_report r;

	p->session->transfers->tell = true;
	g = cp_group(p);
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	r = report_of(p, g, f, false, true);
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 2 + (p->rank ? 1 : 2 * NODES));
	r = report_of(p, g, f, true, false);
	check_report(&r, false);
	r = report_of(p, g, f, false, false);
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 1 + (p->rank ? 1 : 2 * NODES));
	ddio_close(f);
	ddio_group_free(g);
}

static void who_waits_is_told(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
						.deep = true,
						.nodes = NODES,
						.disks = NODES,
						.reactors = 1,
						.block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, all_are_told, NULL), 0);
	cp_world_end(&w);
}

/*
 * The I/O processors are dealt out to the members: of four every fourth rank of sixteen asks one
 */
static void asked_by_several(struct cp_proc *p)
{
	bool asks = p->rank % (PROCS / NODES) == 0;
	struct ddio_group *g;
	struct ddio_file *f = NULL;
	struct ddio_report r;
	uint32_t i;

	p->session->transfers->ask_alone = NODES - 1;
	g = cp_group(p);
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	r = report_of(p, g, f, false, true);
	check_report(&r, true);
	/* The question for the block, and the block; whoever asks a node hears of its end. */
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 2 + (asks ? 2 : 0));
	/* Of nodes that it has nothing to do with a process keeps nothing; node 0 has the names. */
	for (i = 1; i < NODES; i++)
		CU_ASSERT_EQUAL(p->session->nodes[i] != NULL,
				i == p->rank % NODES || (asks && i == p->rank * NODES / PROCS));
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < NODES && !p->rank; i++)
		CU_ASSERT_EQUAL(attached(p->w, i), PROCS / NODES + (i != 0));
	CP_OK(p, ddio_group_barrier(g));
	r = report_of(p, g, f, false, false);
	check_report(&r, false);
	CU_ASSERT_EQUAL(with_iops(&r, p->rank), 1 + (asks ? 2 : 0));
	r = report_of(p, g, f, true, false);
	check_report(&r, false);
	ddio_close(f);
	ddio_group_free(g);
}

static void by_several(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
						.deep = true,
						.nodes = NODES,
						.disks = NODES,
						.reactors = 1,
						.block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, asked_by_several, NULL), 0);
	cp_world_end(&w);
}

/*
 * The one that is to ask a node loses its connection with that node before it has: nobody else would hear of it from
 * there.  Writing, all others wait for a question; none comes.
 */
struct cut_off {
	uint32_t loser, node, left;
};

/* Of the run that is under way; there is one at a time. */
static struct cut_off cut_off;

static void lose_and_run(struct ddio_op *op)
{
	struct error error;

	error_status(&error, DDIO_ST_NODE_LOST, "cut");
	if (op->rank == cut_off.loser)
		lane_fail(op->session->nodes[cut_off.node]->lanes[0], &error);
	if (op->phase == PHASE_MOVING)
		method_dd.run(op);
}

/* Has the process move data disk-directed, but lose its lane first. */
static void lose_later(struct cp_proc *p)
{
	static struct mover loses;
	static const struct mover *table[DDIO_METHOD_SMALL + 1];

	loses = method_dd;
	loses.run = lose_and_run;
	memcpy(table, p->session->transfers->methods, sizeof(table));
	table[DDIO_METHOD_DDS] = &loses;
	p->session->transfers->methods = table;
}

static void asker_is_cut_off(struct cp_proc *p)
{
	struct ddio_array array = shares(false);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	uint8_t buf[BLOCK] = { 0 };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .method = DDIO_METHOD_DDS, .part = &part, .buf = buf
	};
	const struct mover *const *methods = p->session->transfers->methods;
	struct ddio_group *g = NULL;
	struct ddio_file *f = NULL;

	p->session->transfers->ask_alone = NODES - 1;
	CP_OK(p, ddio_group_create(p->session, p->rank, PROCS, "127.0.0.1:9000", &g));
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	lose_later(p);
	CU_ASSERT_EQUAL(cp_note(p, ddio_write_all(f, g, &t)), -EHOSTDOWN);
	cut_off.left--;
	p->session->transfers->methods = methods;
	/* The group is as good as before. */
	CP_OK(p, ddio_write_all(f, g, &t));
	ddio_close(f);
	ddio_group_free(g);
}

/* Who waits for ever is waited for so long. */
static void await_cut_off(struct cp_proc *p)
{
	if (p->rank < PROCS) {
		asker_is_cut_off(p);
		return;
	}
	ddio_sim_sleep(p->env, 100 * CP_SEC);
	if (cut_off.left) {
		fprintf(stderr, "node %u was not asked, and %u processes wait\n", cut_off.node,
			cut_off.left);
		abort();
	}
}

static void cut_off_before_it_asks(void)
{
	struct cp_world w;
	uint32_t node;

	for (node = 1; node < NODES; node++) {
		cut_off = (struct cut_off){ .loser = PROCS / NODES * node,
					    .node = node,
					    .left = PROCS };
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS + 1,
							.nodes = NODES,
							.disks = NODES,
							.reactors = 1,
							.block = BLOCK });
		CU_ASSERT_EQUAL(cp_run(&w, await_cut_off, NULL), 0);
		cp_world_end(&w);
	}
}

/*
 * Places in the stripe, by the bytes
 */
static void dist_any(uint64_t *rand, struct ddio_dim *dim)
{
	dim->size = 1 + ddio_rand_below(rand, 60);
	dim->procs = 1 + ddio_rand_below(rand, 3);
	dim->dist = dim->procs == 1	       ? DDIO_NONE
		    : ddio_rand_below(rand, 2) ? DDIO_BLOCK
					       : DDIO_CYCLIC;
	dim->k = dim->dist == DDIO_CYCLIC ? 1 + ddio_rand_below(rand, 9) : 0;
}

static struct ddio_map *map_any(uint64_t *rand, uint32_t *nprocs)
{
	struct ddio_array a = { .elem_size = 1 + ddio_rand_below(rand, 40) };
	struct ddio_map *map = NULL;
	uint32_t i;

	a.ndims = 1 + (uint32_t)ddio_rand_below(rand, 3);
	for (i = 0, *nprocs = 1; i < a.ndims; i++) {
		dist_any(rand, &a.dim[i]);
		*nprocs *= a.dim[i].procs;
	}
	CU_ASSERT_EQUAL(ddio_map_new_array(&a, *nprocs, &map, NULL), 0);
	return map;
}

static void check_places(struct ddio_op *op)
{
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t lo, hi, block, size = rec->ref.block;
	struct dd dd = { .op = op };
	uint32_t i, bad = 0;
	bool *has = calloc(rec->ndisks, sizeof(*has));

	dd.ask = calloc(1, rec->ndisks / 8 + 1);
	ddio_map_bounds(op->map, &lo, &hi);
	for (block = 0; block * size < hi; block++)
		has[block % rec->ndisks] |=
			(op->writing ? ddio_map_put_size : ddio_map_msg_size)(
				op->map, op->rank, block * size, (block + 1) * size) != 0;
	CU_ASSERT_EQUAL(dd_need(&dd), 0);
	for (i = 0; i < rec->ndisks; i++)
		bad += dd_place(dd.need, i) != has[i];
	CU_ASSERT_EQUAL(bad, 0);
	free(dd.ask);
	free(dd.need);
	free(has);
}

static void as_the_bytes_say(void)
{
	uint64_t rand = 99;
	uint32_t round, nprocs;

	for (round = 0; round < 3000; round++) {
		struct ddio_file file = { .rec.ndisks = 1 + (uint32_t)ddio_rand_below(&rand, 70) };
		struct ddio_op op = { .file = &file, .writing = round & 1 };

		file.rec.ref.block = 1 + (uint32_t)ddio_rand_below(&rand, 300);
		op.map = map_any(&rand, &nprocs);
		op.rank = (uint32_t)ddio_rand_below(&rand, nprocs);
		if (round % 5 == 0)
			ddio_map_clip(op.map, ddio_rand_below(&rand, 2000));
		check_places(&op);
		ddio_map_free(op.map);
	}
}

/*
 * Deaths: a member's byte of each number is its last
 */
struct death {
	uint64_t after;
	uint32_t victim, failed, ask_alone;
};

static void dies(struct cp_proc *p)
{
	struct death *d = p->w->arg;
	struct ddio_array array = shares(false);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	uint8_t buf[BLOCK];
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .method = DDIO_METHOD_DDS, .part = &part, .buf = buf
	};
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_sim_link link;
	uint32_t i, bad = 0;

	p->session->transfers->ask_alone = d->ask_alone;
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_link_default(&link);
	link.stall_after = d->after;
	if (p->rank == d->victim)
		ddio_sim_set_link(p->env, &link);
	for (i = 0; i < BLOCK; i++)
		buf[i] = cp_byte(5, place(false, p->rank, i));
	cp_note(p, ddio_write_all(f, g, &t));
	memset(buf, 0, sizeof(buf));
	if (!p->ret) {
		cp_note(p, ddio_read_all(f, g, &t));
		for (i = 0; i < BLOCK && !p->ret; i++)
			bad += buf[i] != cp_byte(5, place(false, p->rank, i));
	}
	CU_ASSERT_EQUAL(bad, 0);
	d->failed += p->ret != 0;
	ddio_close(f);
	ddio_sim_sleep(p->env, 20 * CP_SEC);
	ddio_group_free(g);
}

static void deaths_of(uint32_t victim, uint32_t ask_alone)
{
	uint64_t step = 16 * ut_stride(4);
	struct death d = { .after = 1, .victim = victim, .failed = 1, .ask_alone = ask_alone };
	uint32_t runs = 0;
	struct cp_world w;

	for (; d.failed; d.after += step, runs++) {
		d.failed = 0;
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
							.deep = true,
							.nodes = NODES,
							.disks = NODES,
							.reactors = 1,
							.timeout_ms = 2000,
							.block = BLOCK });
		CU_ASSERT_EQUAL(cp_run(&w, dies, &d), 0);
		/* All of them, but for those that had the last verdict when it died. */
		CU_ASSERT(!d.failed || d.failed == PROCS || d.after > 600);
		CU_ASSERT(ddio_sim_elapsed(w.dw) < 60 * CP_SEC);
		cp_world_end(&w);
	}
	CU_ASSERT(runs > 1000 / step);
}

static void a_member_dies_at_every_message(void)
{
	deaths_of(5, NODES);
}

static void rank_0_dies_at_every_message(void)
{
	deaths_of(0, NODES);
}

static void an_asker_dies_at_every_message(void)
{
	deaths_of(4, 1);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "members attach where they have something", where_something_is },
		{ "asked by several", by_several },
		{ "who waits is told", who_waits_is_told },
		{ "cut off before it asks", cut_off_before_it_asks },
		{ "places are as the bytes say", as_the_bytes_say },
		{ "a member dies at every message", a_member_dies_at_every_message },
		{ "rank 0 dies at every message", rank_0_dies_at_every_message },
		{ "one of those who ask dies at every message", an_asker_dies_at_every_message },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "attaching by need", cases } };

	return ut_run("test_cp_need", suites, 1);
}
