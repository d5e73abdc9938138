// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long irregular descriptions, which members tell I/O processors themselves: data, what is refused, old nodes, and what comes
 * to rank 0.
 */
#define CP_PROCS 4096
#include <stdlib.h>
#include "base/rand.h"
#include "conn/conn_priv.h"
#include "cp/coll/dd/priv.h"
#include "cp/coll/op.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 6, CELLS = 600, CELL = 48, BLOCK = 1024 };

/* What one process has of a file of cells, each of which belongs to one process, drawn at random, or to none. */
struct cells {
	struct ddio_extent list[CELLS];
	struct ddio_tree_child child[CELLS];
	struct ddio_tree_node node[2];
	struct ddio_tree tree;
	struct ddio_view view;
	struct ddio_part part;
	struct ddio_transfer t;
	uint64_t n;
	uint8_t buf[CELLS * CELL];
};

static uint32_t owner(uint64_t seed, uint64_t cell, uint32_t procs)
{
	return (uint32_t)(ddio_rand_mix(seed * 1000003 + cell) % (procs + 1));
}

/* As a list, from the back to the front if the rank is odd; or as a view. */
static void cells_deal(struct cells *c, uint64_t seed, uint32_t rank, uint32_t procs, bool view)
{
	uint64_t i, at;

	c->n = 0;
	for (i = 0; i < CELLS; i++) {
		at = rank % 2 && !view ? CELLS - 1 - i : i;
		if (rank >= procs || owner(seed, at, procs) != rank)
			continue;
		c->list[c->n] = (struct ddio_extent){ at * CELL, CELL };
		c->child[c->n++] = (struct ddio_tree_child){ (int64_t)(at * CELL), 0 };
	}
	c->node[0] = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = CELL };
	c->node[1] = (struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE, .n = c->n };
	c->tree = (struct ddio_tree){ 2, c->node, c->n, c->child };
	c->view = (struct ddio_view){ &c->tree, 0, 0, 0, c->n * CELL };
	c->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = c->n, .list = c->list };
	if (view)
		c->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &c->view };
	c->t = (struct ddio_transfer){ .struct_size = sizeof(c->t),
				       .part = &c->part,
				       .buf = c->buf };
}

static void cells_fill(struct cells *c, uint64_t seed)
{
	uint64_t i, b;

	for (i = 0; i < c->n; i++)
		for (b = 0; b < CELL; b++)
			c->buf[i * CELL + b] = cp_byte(seed, c->list[i].offset + b);
}

static uint64_t cells_wrong(const struct cells *c, uint64_t seed)
{
	uint64_t i, b, bad = 0;

	for (i = 0; i < c->n; i++)
		for (b = 0; b < CELL; b++)
			bad += c->buf[i * CELL + b] != cp_byte(seed, c->list[i].offset + b);
	return bad;
}

/* Bytes that this process told nodes of its description. */
static uint64_t told(const struct cp_proc *p)
{
	const struct dd_asked *asked;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < p->w->p.nodes; i++) {
		asked = p->session->nodes[i]
				? *lane_state(p->session->nodes[i]->lanes[0], &dd_spread_lane_user)
				: NULL;
		bytes += asked ? asked->sent : 0;
	}
	return bytes;
}

struct spread_world {
	struct ddio_group *g;
	struct ddio_file *f;
	struct cells *c;
};

static void begin(struct spread_world *x, struct cp_proc *p)
{
	p->session->transfers->spread_min = 1;
	x->g = cp_group(p);
	x->f = NULL;
	x->c = malloc(sizeof(*x->c));
	CP_OK(p, ddio_open_all(x->g, "f", DDIO_CREATE, NULL, &x->f));
}

static void end(struct spread_world *x)
{
	ddio_close(x->f);
	ddio_group_free(x->g);
	free(x->c);
}

/* Writes and reads by the method; reads once more by another way. */
static void cells_move(struct cp_proc *p, struct spread_world *x, uint64_t seed, uint32_t method)
{
	struct cells *c = x->c;

	c->t.method = method;
	cells_fill(c, seed);
	CP_OK(p, ddio_write_all(x->f, x->g, &c->t));
	memset(c->buf, 0, sizeof(c->buf));
	CP_OK(p, ddio_read_all(x->f, x->g, &c->t));
	CU_ASSERT_EQUAL(cells_wrong(c, seed), 0);
	memset(c->buf, 0, sizeof(c->buf));
	c->t.method = DDIO_METHOD_TC;
	CP_OK(p, ddio_read_all(x->f, x->g, &c->t));
	CU_ASSERT_EQUAL(cells_wrong(c, seed), 0);
}

static void moves(struct cp_proc *p)
{
	struct spread_world x;
	uint64_t seed, before;

	begin(&x, p);
	for (seed = 1; seed <= ut_rounds(16); seed++) {
		cells_deal(x.c, seed, p->rank, PROCS, seed % 2);
		before = told(p);
		cells_move(p, &x, seed, seed & 2 ? DDIO_METHOD_DD : DDIO_METHOD_DDS);
		CU_ASSERT(told(p) > before);
	}
	end(&x);
}

static void run(void (*body)(struct cp_proc *p), const struct cp_params *params)
{
	static struct cp_world w;

	cp_world_begin(&w, params);
	CU_ASSERT_EQUAL(cp_run(&w, body, NULL), 0);
	cp_world_end(&w);
}

static const struct cp_params params = {
	.procs = PROCS, .deep = true, .nodes = 3, .disks = 6, .block = BLOCK
};

static void test_moves(void)
{
	run(moves, &params);
}

/* Ranks 2 and 3 spread theirs, which are long; the others have little, or nothing, and rank 0 hears of it. */
static void mixed(struct cp_proc *p)
{
	const struct ddio_extent range = { (CELLS + p->rank) * CELL, CELL };
	struct spread_world x;

	begin(&x, p);
	p->session->transfers->spread_min = 200;
	cells_deal(x.c, 5, p->rank - 2, 2, false);
	if (p->rank == 0 || p->rank == 4)
		x.c->list[x.c->n++] = range;
	x.c->part.n = x.c->n;
	cells_move(p, &x, 5, DDIO_METHOD_DDS);
	CU_ASSERT((told(p) > 0) == (p->rank == 2 || p->rank == 3));
	end(&x);
}

static void test_mixed(void)
{
	run(mixed, &params);
}

/* What all nodes send comes later than what members send one another. */
static void nodes_slow(struct cp_world *w)
{
	struct ddio_sim_link link;
	uint32_t i, k;

	ddio_sim_link_default(&link);
	link.latency_ns = 10 * CP_MS;
	for (i = 0; i < w->p.nodes; i++)
		for (k = 0; k < w->p.reactors; k++)
			ddio_sim_set_link(w->node[i].env[k], &link);
}

/* Rank 3, which nodes know from before, wants nothing, so nothing is left for it to do when it has the verdict. */
static void nothing(struct cp_proc *p)
{
	struct spread_world x;
	uint64_t before;

	begin(&x, p);
	cells_deal(x.c, 4, p->rank, PROCS, false);
	cells_move(p, &x, 4, DDIO_METHOD_DDS);
	before = told(p);
	if (!p->rank)
		nodes_slow(p->w);
	CP_OK(p, ddio_group_barrier(x.g));
	cells_deal(x.c, 5, p->rank, 3, false);
	cells_move(p, &x, 5, DDIO_METHOD_DDS);
	CU_ASSERT(p->rank > 3 || told(p) > before);
	end(&x);
}

static void test_nothing(void)
{
	run(nothing, &params);
}

static uint64_t file_wrong(struct spread_world *x, uint64_t size, uint64_t seed)
{
	uint8_t *all = calloc(1, size);
	uint64_t i, bad = 0;

	CU_ASSERT_EQUAL(ddio_pread(x->f, all, size, 0), (ssize_t)size);
	for (i = 0; i < size; i++)
		bad += all[i] != cp_byte(seed, i);
	free(all);
	return bad;
}

static void file_fill(struct cp_proc *p, struct spread_world *x, uint64_t size, uint64_t seed)
{
	uint8_t *all = malloc(size);
	uint64_t i;

	for (i = 0; i < size; i++)
		all[i] = cp_byte(seed, i);
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(x->f, all, size, 0), (ssize_t)size);
	free(all);
	CP_OK(p, ddio_group_barrier(x->g));
}

/* Returns the rank's first cell. */
static uint64_t cell_of(uint64_t seed, uint32_t rank)
{
	uint64_t i = 0;

	while (owner(seed, i, PROCS) != rank)
		i++;
	return i;
}

/* Takes another cell in place of one of its own. */
static void cell_steal(struct cells *c, uint64_t cell)
{
	c->list[3].offset = cell * CELL;
	c->child[3].offset = (int64_t)(cell * CELL);
}

/* Two members write the same byte, on one node: nothing is written on any, and all get the error. */
static void overlaps(struct cp_proc *p)
{
	struct spread_world x;
	uint64_t seed;

	begin(&x, p);
	file_fill(p, &x, CELLS * CELL, 1);
	for (seed = 1; seed <= 6; seed++) {
		cells_deal(x.c, seed, p->rank, PROCS, seed % 2);
		/* One more, which is its neighbour's. */
		if (p->rank == seed % PROCS)
			cell_steal(x.c, cell_of(seed, (p->rank + 1) % PROCS));
		cells_fill(x.c, 2);
		CU_ASSERT_EQUAL(cp_note(p, ddio_write_all(x.f, x.g, &x.c->t)), -EBADSLT);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "both write byte"));
		CP_OK(p, ddio_group_barrier(x.g));
		CU_ASSERT_EQUAL(file_wrong(&x, CELLS * CELL, 1), 0);
	}
	/* The group goes on. */
	cells_deal(x.c, 9, p->rank, PROCS, false);
	cells_move(p, &x, 9, DDIO_METHOD_DDS);
	end(&x);
}

static void test_overlaps(void)
{
	run(overlaps, &params);
}

/* Beyond the end: an error on all, or what is there. */
static void beyond(struct cp_proc *p)
{
	uint64_t size = CELLS * CELL / 2 + 7, i, want = 0, b;
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct spread_world x;

	begin(&x, p);
	file_fill(p, &x, size, 1);
	cells_deal(x.c, 3, p->rank, PROCS, false);
	CU_ASSERT_EQUAL(cp_note(p, ddio_read_all(x.f, x.g, &x.c->t)), -ENODATA);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "the file ends at 14407"));
	x.c->t.flags = DDIO_XFER_SHORT;
	x.c->t.report = &report;
	memset(x.c->buf, 0, sizeof(x.c->buf));
	CP_OK(p, ddio_read_all(x.f, x.g, &x.c->t));
	for (i = 0; i < x.c->n; i++)
		for (b = 0; b < CELL && x.c->list[i].offset + b < size; b++) {
			CU_ASSERT_EQUAL(x.c->buf[i * CELL + b],
					cp_byte(1, x.c->list[i].offset + b));
			want++;
		}
	CU_ASSERT_EQUAL(report.bytes_moved, want);
	end(&x);
}

static void test_beyond(void)
{
	run(beyond, &params);
}

/*
 * What comes to rank 0, goes from there to a node, and is told to it by members, of descriptions that follow no rule; and how
 * long the call takes.  MEMBERS=4096 in the environment has as many.
 */
enum { PIECE = 8, NODES = 4 };

struct spread_counts {
	uint32_t procs, pieces;
	bool spread;
	uint64_t gathered, asked, told, most, repeated, us;
};

/* Bytes that this process asked node 0 for, or told it. */
static uint64_t sent_to(const struct cp_proc *p, const struct lane_user *user)
{
	const struct dd_asked *x = *lane_state(p->session->nodes[0]->lanes[0], user);

	return x ? x->sent : 0;
}

/* Of each row of pieces each member has one, by numbers drawn for the row; they are a power of two. */
static void pieces_deal(struct ddio_extent *list, const struct cp_proc *p, uint32_t pieces)
{
	uint64_t procs = p->w->p.procs, i;

	for (i = 0; i < pieces; i++) {
		uint64_t drawn = ddio_rand_mix(i + 1);
		uint64_t mine = ((p->rank ^ drawn >> 32) * (drawn | 1)) % procs;

		list[i] = (struct ddio_extent){ (i * procs + mine) * PIECE, PIECE };
	}
}

static void counts_write(struct cp_proc *p, struct spread_counts *c, struct ddio_file *f,
			 struct ddio_group *g, const struct ddio_transfer *t)
{
	uint64_t gathered = g->gathered, asked = sent_to(p, &dd_start_lane_user);
	uint64_t before = sent_to(p, &dd_spread_lane_user), begin = ddio_env_now(p->env), sent;

	CP_OK(p, ddio_write_all(f, g, t));
	sent = sent_to(p, &dd_spread_lane_user) - before;
	c->told += sent;
	c->most = sent > c->most ? sent : c->most;
	if (p->rank)
		return;
	c->us = (ddio_env_now(p->env) - begin) / 1000;
	c->gathered = g->gathered - gathered;
	c->asked = sent_to(p, &dd_start_lane_user) - asked;
}

static void counts(struct cp_proc *p)
{
	struct spread_counts *c = p->w->arg;
	struct ddio_extent *list = calloc(c->pieces, sizeof(*list));
	const struct ddio_part part = { .kind = DDIO_PART_LIST, .n = c->pieces, .list = list };
	size_t len = (size_t)c->pieces * PIECE, i;
	uint8_t *buf = malloc(len);
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint64_t before;

	if (!c->spread)
		p->session->transfers->spread_min = UINT32_MAX;
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	pieces_deal(list, p, c->pieces);
	memset(buf, (int)p->rank, len);
	CP_OK(p, ddio_group_barrier(g));
	counts_write(p, c, f, g, &t);
	before = sent_to(p, &dd_spread_lane_user);
	memset(buf, 0, len);
	CP_OK(p, ddio_read_all(f, g, &t));
	for (i = 0; i < len && buf[i] == (uint8_t)p->rank; i++)
		;
	CU_ASSERT_EQUAL(i, len);
	before = sent_to(p, &dd_spread_lane_user) - before;
	c->repeated = before > c->repeated ? before : c->repeated;
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
	free(list);
}

static struct spread_counts count(uint32_t procs, uint32_t pieces, bool spread)
{
	struct spread_counts c = { .procs = procs, .pieces = pieces, .spread = spread };
	static struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = procs,
						.deep = true,
						.nodes = NODES,
						.disks = NODES,
						.block = 8192 });
	CU_ASSERT_EQUAL(cp_run(&w, counts, &c), 0);
	cp_world_end(&w);
	printf("# %u members, %u pieces each, %s: to rank 0 %llu bytes, from it to a node %llu, told to it %llu, by "
	       "one member at most %llu, again %llu; %llu us\n",
	       procs, pieces, spread ? "spread" : "through rank 0", (unsigned long long)c.gathered,
	       (unsigned long long)c.asked, (unsigned long long)c.told, (unsigned long long)c.most,
	       (unsigned long long)c.repeated, (unsigned long long)c.us);
	return c;
}

static void count_both(uint32_t procs, uint32_t pieces)
{
	struct spread_counts before = count(procs, pieces, false), now = count(procs, pieces, true);
	uint64_t all = (uint64_t)procs * pieces;

	CU_ASSERT(!before.told && before.gathered > all && before.asked > all);
	/* One child of rank 0 has nobody below it, and the others send little. */
	CU_ASSERT(now.gathered < before.gathered / 2 && now.asked < before.asked / 100);
	CU_ASSERT(NODES * now.told > all && now.most < 8 * pieces);
	CU_ASSERT(now.repeated < 64 || now.most > DDIO_PAST_BYTES);
}

/* Long descriptions that differ by a shift, but for the last rank's: they are told once, but for those around it. */
static void alike(struct cp_proc *p)
{
	enum { LONG = 20 };
	struct spread_world x;
	uint64_t i;

	begin(&x, p);
	p->session->transfers->spread_min = 16;
	for (i = 0; i < LONG; i++)
		x.c->list[i] =
			(struct ddio_extent){ (i * i * p->w->p.procs + p->rank) * CELL, CELL };
	x.c->n = LONG - (p->rank == p->w->p.procs - 1);
	x.c->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = x.c->n, .list = x.c->list };
	x.c->t = (struct ddio_transfer){ .struct_size = sizeof(x.c->t),
					 .part = &x.c->part,
					 .buf = x.c->buf };
	cells_move(p, &x, 3, DDIO_METHOD_DDS);
	CU_ASSERT_EQUAL(told(p) > 0, p->rank >= p->w->p.procs - 4);
	end(&x);
}

static void test_alike(void)
{
	run(alike, &(struct cp_params){
			   .procs = 16, .deep = true, .nodes = 3, .disks = 6, .block = BLOCK });
}

static void test_counts(void)
{
	const char *members = getenv("MEMBERS");
	uint32_t many = members ? (uint32_t)atoi(members) : ut_rounds(30) < 30 ? 128 : 512;
	struct spread_counts few = count(4, 100, true);

	/* What is short goes through rank 0. */
	CU_ASSERT(few.gathered && !few.told);
	count_both(4, 20000);
	count_both(many, 51200 / many + 100);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "moves", test_moves },	   { "mixed", test_mixed },
		{ "nothing", test_nothing },	   { "overlaps", test_overlaps },
		{ "beyond the end", test_beyond }, { "alike", test_alike },
		{ "counts", test_counts },	   { NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "spread", cases } };

	return ut_run("test_cp_spread", suites, 1);
}
