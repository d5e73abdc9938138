// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions that were sent before: what they cost the next time, and what happens in between. */
#define CP_PROCS 4096
#include "conn/conn_priv.h"
#include "cp/coll/dd/priv.h"
#include "cp/group/fan/fan.h"
#include "cp/group/peer.h"
#include "tests/unit/cp/cp_world.h"

enum { PIECES = 40, PIECE = 8, TILE = 4 };

/* Bounds on what comes to any member, and goes to any node, for a regular description; for one that was sent before. */
enum { FIRST = 512, REPEATED = 128 };

/* What a member reads. */
struct wanted_part {
	struct ddio_tree_node node[2];
	struct ddio_tree tree;
	struct ddio_view view;
	struct ddio_extent list[PIECES];
	struct ddio_array array;
	struct ddio_part part;
	uint32_t pieces;
	uint64_t at[PIECES]; /* where they are in the file */
};

/* What a call costs: bytes that come to the member from those below it, and that it asks a node for. */
struct wanted_cost {
	uint64_t gathered, asked;
};

/* Tile @step of the member: tiles of 4 rows and a column, @step by @step all that there are. */
static void want_tile(struct wanted_part *w, const struct cp_proc *p, uint32_t step)
{
	uint64_t row = p->w->p.procs / TILE * PIECE, all = TILE * TILE * row;
	uint64_t first = p->rank / (row / PIECE) * TILE * row + p->rank % (row / PIECE) * PIECE;
	uint32_t i;

	w->node[0] = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = PIECE };
	w->node[1] = (struct ddio_tree_node){ .kind = DDIO_TREE_REPEAT,
					      .n = TILE,
					      .stride = (int64_t)row };
	w->tree = (struct ddio_tree){ 2, w->node, 0, NULL };
	w->view = (struct ddio_view){ &w->tree, first, all, step * TILE * PIECE, TILE * PIECE };
	w->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &w->view };
	w->pieces = TILE;
	for (i = 0; i < TILE; i++)
		w->at[i] = step * all + first + i * row;
}

/* Pieces that follow no rule. */
static void want_pieces(struct wanted_part *w, const struct cp_proc *p, uint32_t step)
{
	uint32_t procs = p->w->p.procs, i;

	for (i = 0; i < PIECES; i++) {
		w->at[i] = ((uint64_t)i * procs + (p->rank + i * i * 7 + step) % procs) * PIECE;
		w->list[i] = (struct ddio_extent){ w->at[i], PIECE };
	}
	w->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = PIECES, .list = w->list };
	w->pieces = PIECES;
}

/* Columns of an array of 4 rows. */
static void want_array(struct wanted_part *w, const struct cp_proc *p, uint32_t step)
{
	uint32_t procs = p->w->p.procs, i;

	w->array = (struct ddio_array){ .elem_size = PIECE,
					.ndims = 2,
					.file_offset = (uint64_t)step * PIECE };
	w->array.dim[0] =
		(struct ddio_dim){ .size = TILE, .count = TILE, .procs = 1, .dist = DDIO_ALL };
	w->array.dim[1] = (struct ddio_dim){
		.size = procs, .count = procs, .procs = procs, .dist = DDIO_CYCLIC
	};
	w->part = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &w->array };
	w->pieces = TILE;
	for (i = 0; i < TILE; i++)
		w->at[i] = (step + (uint64_t)i * procs + p->rank) * PIECE;
}

/* Bytes that this process has asked the node for that was asked most. */
static uint64_t asked_most(const struct cp_proc *p)
{
	const struct dd_asked *asked;
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < p->w->p.nodes; i++) {
		if (!p->session->nodes[i])
			continue;
		asked = *lane_state(p->session->nodes[i]->lanes[0], &dd_start_lane_user);
		if (asked && asked->sent > most)
			most = asked->sent;
	}
	return most;
}

struct past_test {
	struct cp_proc *p;
	struct ddio_group *g;
	struct ddio_file *f;
	struct wanted_part w;
};

/* Reads what @want says, and compares each byte. */
static struct wanted_cost
reads(struct past_test *t,
      void (*want)(struct wanted_part *w, const struct cp_proc *p, uint32_t step), uint32_t step)
{
	uint64_t gathered = t->g->gathered, asked = asked_most(t->p), bad = 0;
	uint8_t buf[PIECES * PIECE] = { 0 };
	struct ddio_transfer tr = {
		.struct_size = sizeof(tr), .method = DDIO_METHOD_DDS, .part = &t->w.part, .buf = buf
	};
	uint32_t i, b;

	want(&t->w, t->p, step);
	CP_OK(t->p, ddio_read_all(t->f, t->g, &tr));
	for (i = 0; i < t->w.pieces; i++)
		for (b = 0; b < PIECE; b++)
			bad += buf[i * PIECE + b] != cp_byte(1, t->w.at[i] + b);
	CU_ASSERT_EQUAL(bad, 0);
	return (struct wanted_cost){ t->g->gathered - gathered, asked_most(t->p) - asked };
}

static bool cheap(struct wanted_cost c)
{
	return c.gathered <= REPEATED && c.asked <= REPEATED;
}

/*
 * What is used by default.  A small write is told anew each time, with its data and two bytes a member of where they belong; these are
 * not of the description, and rank 0, to which all come, knows how many there are.  In a read none go up.
 */
static struct wanted_cost by_default(struct past_test *t, bool write)
{
	uint64_t gathered = t->g->gathered, asked = asked_most(t->p), bad = 0;
	uint8_t buf[PIECES * PIECE] = { 0 };
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer tr = {
		.struct_size = sizeof(tr), .part = &t->w.part, .buf = buf, .report = &report
	};
	uint32_t i, procs = t->p->w->p.procs;

	want_tile(&t->w, t->p, 0);
	for (i = 0; write && i < TILE * PIECE; i++)
		buf[i] = cp_byte(1, t->w.at[i / PIECE] + i % PIECE);
	CP_OK(t->p, write ? ddio_write_all(t->f, t->g, &tr) : ddio_read_all(t->f, t->g, &tr));
	for (i = 0; i < TILE * PIECE; i++)
		bad += buf[i] != cp_byte(1, t->w.at[i / PIECE] + i % PIECE);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(report.method, procs > 1024 ? DDIO_METHOD_DDS : DDIO_METHOD_SMALL);
	gathered = t->g->gathered - gathered;
	if (write && !t->p->rank && report.method == DDIO_METHOD_SMALL)
		gathered -= (procs - 1) * (uint64_t)(TILE * PIECE + 2);
	return (struct wanted_cost){ gathered, asked_most(t->p) - asked };
}

/* Forms the group, and makes the file. */
static void past_begin(struct past_test *t, struct cp_proc *p)
{
	uint64_t len = (uint64_t)PIECES * PIECE * p->w->p.procs, i;
	uint8_t *all = p->rank ? NULL : malloc(len);

	*t = (struct past_test){ .p = p, .g = cp_group(p) };
	CP_OK(p, ddio_open_all(t->g, "f", DDIO_CREATE, NULL, &t->f));
	for (i = 0; all && i < len; i++)
		all[i] = cp_byte(1, i);
	if (all)
		CU_ASSERT_EQUAL(ddio_pwrite(t->f, all, len, 0), (ssize_t)len);
	free(all);
	CP_OK(p, ddio_group_barrier(t->g));
}

static void past_end(struct past_test *t)
{
	ddio_close(t->f);
	ddio_group_free(t->g);
}

/* A regular decomposition: bounds at first, and when it is read again, whatever the number of members. */
static void read_twice(struct past_test *t)
{
	struct wanted_cost first = reads(t, want_tile, 0), then = reads(t, want_tile, 0);

	CU_ASSERT(first.gathered <= FIRST && first.asked <= FIRST);
	CU_ASSERT(cheap(then));
	if (!t->p->rank)
		printf("# %u members: first %llu and %llu bytes, again %llu and %llu\n",
		       t->p->w->p.procs, (unsigned long long)first.gathered,
		       (unsigned long long)first.asked, (unsigned long long)then.gathered,
		       (unsigned long long)then.asked);
}

static void regular(struct cp_proc *p)
{
	struct past_test t;

	past_begin(&t, p);
	read_twice(&t);
	past_end(&t);
}

/* The same again, another step of the same, and others by turns. */
static void again(struct cp_proc *p)
{
	struct past_test t;
	struct wanted_cost c;
	uint32_t i;

	past_begin(&t, p);
	read_twice(&t);
	reads(&t, want_tile, 1); /* skips something, which the first did not */
	for (i = 2; i < 6; i++)
		CU_ASSERT(cheap(reads(&t, want_tile, i)));
	c = reads(&t, want_pieces, 0);
	CU_ASSERT(p->rank || (c.gathered > REPEATED && c.asked > REPEATED));
	reads(&t, want_array, 0);
	for (i = 0; i < 3; i++) {
		CU_ASSERT(cheap(reads(&t, want_pieces, 0)));
		CU_ASSERT(cheap(reads(&t, want_tile, 5)));
		CU_ASSERT(cheap(reads(&t, want_array, 0)));
		CU_ASSERT(cheap(reads(&t, want_array, 1)));
	}
	past_end(&t);
}

/* Calls that fail at one member, at rank 0, or everywhere: nothing is remembered wrongly. */
static void between_failures(struct cp_proc *p)
{
	struct ddio_extent beyond = { UINT64_C(1) << 40, 8 };
	struct ddio_part list = { .kind = DDIO_PART_LIST, .n = 1, .list = &beyond };
	struct ddio_transfer tr = { .struct_size = sizeof(tr),
				    .method = DDIO_METHOD_DDS,
				    .part = &list };
	uint32_t i, last = p->w->p.procs - 1;
	struct past_test t;
	uint8_t buf[64];

	past_begin(&t, p);
	tr.buf = buf;
	for (i = 0; i < 3; i++) {
		reads(&t, want_tile, i);
		reads(&t, want_pieces, i);
		/* One member means something else than the others; one reads beyond the end. */
		want_tile(&t.w, p, 1);
		tr.part = p->rank == last ? &list : &t.w.part;
		CU_ASSERT_EQUAL(cp_note(p, ddio_read_all(t.f, t.g, &tr)), -EBADE);
		reads(&t, want_pieces, i);
		CU_ASSERT(cheap(reads(&t, want_pieces, i)));
		list.n = p->rank == last;
		tr.part = &list;
		CU_ASSERT_EQUAL(cp_note(p, ddio_read_all(t.f, t.g, &tr)), -ENODATA);
		list.n = 1;
	}
	past_end(&t);
}

/* A parent that has lost its memory fails the step; whoever is below begins anew, with the parent and with nobody else. */
static void parent_forgets(struct cp_proc *p)
{
	struct ddio_extent beyond = { UINT64_C(1) << 40, 8 };
	struct ddio_part list = { .kind = DDIO_PART_LIST, .n = 1, .list = &beyond };
	struct ddio_transfer tr = { .struct_size = sizeof(tr),
				    .method = DDIO_METHOD_DDS,
				    .part = &list };
	uint32_t round, rank, forgotten = 0;
	struct past_test t;
	struct link *link;
	uint8_t buf[64];

	past_begin(&t, p);
	tr.buf = buf;
	for (round = 0; round < 3; round++) {
		reads(&t, want_tile, 0);
		reads(&t, want_pieces, 0);
		CU_ASSERT_EQUAL(cp_note(p, ddio_read_all(t.f, t.g, &tr)), -ENODATA);
		for (rank = 1; !p->rank && rank < p->w->p.procs; rank++) {
			link = peer_neighbour(t.g, rank);
			if (!link || !*link_state(link, &fan_group_user))
				continue;
			forgotten += ((struct ddio_past *)*link_state(link, &fan_group_user))->n >
				     0;
			ddio_past_clear(*link_state(link, &fan_group_user));
		}
		CU_ASSERT(p->rank || forgotten > round);
		reads(&t, want_pieces, 0);
		CU_ASSERT(cheap(reads(&t, want_pieces, 0)));
	}
	past_end(&t);
}

/* A connection to a node is lost, then the node is restarted: the request is sent whole, and again little. */
static void lost(struct cp_proc *p)
{
	struct error error;
	struct past_test t;
	struct wanted_cost c;
	uint32_t round;

	past_begin(&t, p);
	for (round = 0; round < 3; round++) {
		reads(&t, want_pieces, 0);
		CU_ASSERT(cheap(reads(&t, want_pieces, 0)));
		CP_OK(p, ddio_group_barrier(t.g));
		if (!p->rank && round) {
			struct cp_node *node = &p->w->node[1];

			node->stop.fn = cp_stop_post;
			node->stop.arg = node;
			ddio_env_post(node->env[0], &node->stop);
			ddio_sim_sleep(p->env, 10 * CP_SEC);
			ddio_iop_free(node->iop);
			cp_node_begin(p->w, 1);
		} else if (!p->rank) {
			error_set(&error, -EIO, "cut");
			lane_fail(p->session->nodes[1]->lanes[0], &error);
		}
		CP_OK(p, ddio_group_barrier(t.g));
		c = reads(&t, want_pieces, 0);
		CU_ASSERT(c.gathered <= REPEATED);
		CU_ASSERT(p->rank || c.asked > REPEATED);
		CU_ASSERT(cheap(reads(&t, want_pieces, 0)));
	}
	past_end(&t);
}

static void default_one(struct cp_proc *p)
{
	bool few = p->w->p.procs == 4, many = p->w->p.procs > 1024;
	struct wanted_cost write, read;
	struct past_test t;
	uint32_t i;

	past_begin(&t, p);
	for (i = 0; i < 3; i++) {
		read = by_default(&t, false);
		CU_ASSERT(i ? cheap(read) : read.gathered <= FIRST && read.asked <= FIRST);
		write = by_default(&t, true);
		CU_ASSERT((p->rank && !many) || (write.gathered <= FIRST && write.asked <= FIRST));
		CU_ASSERT(!i || !(few || many) || (p->rank && few) || cheap(write));
		if (!p->rank && i == 2)
			printf("# %u members, by default, again: read %llu, write %llu\n",
			       p->w->p.procs, (unsigned long long)read.gathered,
			       (unsigned long long)write.gathered);
	}
	past_end(&t);
}

static void run(void (*body)(struct cp_proc *p), uint32_t procs)
{
	static struct cp_world w;

	cp_world_begin(
		&w, &(struct cp_params){ .procs = procs, .nodes = 2, .disks = 2, .lasts = true });
	CU_ASSERT_EQUAL(cp_run(&w, body, NULL), 0);
	cp_world_end(&w);
}

static void test_again(void)
{
	run(again, 4);
	run(again, 64);
}

static void test_many(void)
{
	run(regular, ut_rounds(4096) < 4096 ? 512 : 4096);
}

static void test_default(void)
{
	run(default_one, 4);
	run(default_one, 64);
	run(default_one, 1024);
	run(default_one, ut_rounds(4096) < 4096 ? 2048 : 4096);
}

static void test_between_failures(void)
{
	run(between_failures, 8);
}

static void test_parent_forgets(void)
{
	run(parent_forgets, 8);
}

static void test_lost(void)
{
	run(lost, 4);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "again", test_again },
		{ "many", test_many },
		{ "what is used by default", test_default },
		{ "between failures", test_between_failures },
		{ "a parent forgets", test_parent_forgets },
		{ "lost", test_lost },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "past", cases } };

	return ut_run("test_cp_past", suites, 1);
}
