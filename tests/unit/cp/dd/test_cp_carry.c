// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers of views and lists whose data go with the agreement: which do, what they cost, and who keeps them from it.  What
 * goes wrong in one is in test_cp_small; that they move the right bytes in test_cp_methods, too.
 */
#include "cp/coll/op.h"
#include "cp/group/peer.h"
#include "conn/conn_priv.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 7, MANY = 500 };

/**
 * struct tiling - @n pieces of @len bytes a member, each member's first at @len times its rank, the next @stride further
 * @extra: bytes that rank 0 has more
 */
struct tiling {
	uint64_t n, len, stride, extra;
	uint32_t flags;
};

static uint64_t messages[CP_PROCS];

/* Moves it, and compares what was read with what the last write left.  Returns the method, or an error. */
static int move(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		const struct tiling *d, bool write, uint64_t salt)
{
	uint64_t bytes = d->n * d->len + (p->rank ? 0 : d->extra), i, k, at, wrong = 0;
	struct ddio_strided part[2] = {
		{ .offset = p->rank * d->len,
		  .len = d->len,
		  .nlevels = 1,
		  .level = { { d->n, (int64_t)d->stride } } },
		{ .offset = d->n * d->stride, .len = d->extra },
	};
	struct ddio_part whole = { .kind = DDIO_PART_STRIDED,
				   .n = d->extra && !p->rank ? 2 : 1,
				   .strided = part };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t *buf = calloc(1, bytes + 1);
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &whole,
				   .buf = buf,
				   .flags = d->flags,
				   .report = &report };
	int ret;

	for (i = 0; write && i < bytes; i++) {
		k = i / d->len < d->n ? i / d->len : d->n;
		at = k < d->n ? part[0].offset + k * d->stride + i % d->len
			      : part[1].offset + i - d->n * d->len;
		buf[i] = cp_byte(salt, at);
	}
	ret = cp_note(p, write ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	for (i = 0; !ret && !write && i < report.bytes_moved; i++) {
		k = i / d->len < d->n ? i / d->len : d->n;
		at = k < d->n ? part[0].offset + k * d->stride + i % d->len
			      : part[1].offset + i - d->n * d->len;
		wrong += buf[i] != cp_byte(salt, at);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	messages[p->rank] = report.messages;
	free(buf);
	return ret ? ret : (int)report.method;
}

static bool deep;

static void world(void (*fn)(struct cp_proc *p), uint32_t procs)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = procs, .deep = deep });
	CU_ASSERT_EQUAL(cp_run(&w, fn, NULL), 0);
	cp_world_end(&w);
}

/* Without a hole, and with. */
#define DENSE(n, len)                          \
	{                                      \
		(n), (len), PROCS *(len), 0, 0 \
	}
#define HOLES(n, len)                                \
	{                                            \
		(n), (len), PROCS *(len) + 100, 0, 0 \
	}
#define FLAGS(flags)                        \
	{                                   \
		3, 8, PROCS * 8, 0, (flags) \
	}

static const struct {
	struct tiling deal;
	bool write, read;
} borders[] = {
	{ DENSE(1, 1), true, true },
	{ DENSE(1, 65536 / PROCS), true, true },
	{ DENSE(1, 65536 / PROCS + 1), false, false }, /* 64 KB and a bit together */
	{ HOLES(3, 8), false, true },
	{ HOLES(8, 65536 / PROCS / 8), false, false }, /* 64 KB and the holes */
	{ FLAGS(DDIO_XFER_SHORT), true, true },
	{ FLAGS(DDIO_XFER_NO_SCATTER), true, true },
	{ FLAGS(DDIO_XFER_OVERLAP), true, true },
	{ FLAGS(DDIO_XFER_SYNC), false, false },
	{ FLAGS(DDIO_XFER_ROTATE), false, false },
	{ FLAGS(DDIO_XFER_NO_BATCH), false, false },
};

static uint32_t method_of(bool small)
{
	return small ? DDIO_METHOD_SMALL : DDIO_METHOD_DDS;
}

/* Up and down each of the tree's edges, each counted at both ends; and a block to and from its node. */
static void check_messages(struct cp_proc *p, struct ddio_group *g)
{
	uint64_t n = 0;
	uint32_t r;

	CP_OK(p, ddio_group_barrier(g));
	for (r = 0; r < PROCS; r++)
		n += messages[r];
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(n, 4 * (PROCS - 1) + 2);
}

static void at_borders(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct tiling one = DENSE(2, 8);
	size_t i;

	for (i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
		const struct tiling *d = &borders[i].deal;

		/* A new one each time: nothing was given for nothing. */
		CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE | DDIO_TRUNCATE, NULL, &f));
		CU_ASSERT_EQUAL(move(p, g, f, d, true, i), (int)method_of(borders[i].write));
		CU_ASSERT_EQUAL(move(p, g, f, d, false, i), (int)method_of(borders[i].read));
		ddio_close(f);
	}
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE | DDIO_TRUNCATE, NULL, &f));
	CU_ASSERT_EQUAL(move(p, g, f, &one, true, 9), DDIO_METHOD_SMALL);
	check_messages(p, g);
	CU_ASSERT_EQUAL(move(p, g, f, &one, false, 9), DDIO_METHOD_SMALL);
	check_messages(p, g);
	ddio_close(f);
	ddio_group_free(g);
}

static void borders_and_messages(void)
{
	for (deep = false;; deep = true) {
		world(at_borders, PROCS);
		if (deep)
			break;
	}
	deep = false;
}

/* One member has more than its part: the others give theirs for nothing, less and less often, and find together again. */
static void for_nothing(struct cp_proc *p)
{
	const struct tiling skewed = { 1, 8, PROCS * 8, 65536, 0 }, even = DENSE(1, 8);
	struct ddio_group *g = cp_group(p);
	uint64_t gathered = 0, before;
	struct ddio_file *f = NULL;
	uint32_t i, small = 0;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < MANY; i++) {
		before = g->gathered;
		CU_ASSERT_EQUAL(move(p, g, f, &skewed, true, i), DDIO_METHOD_DDS);
		if (i >= MANY / 2)
			gathered += g->gathered - before > (PROCS - 1) * 16;
	}
	/* At rank 0, to which all come, data were among a few. */
	CU_ASSERT(gathered < MANY / 16);
	for (i = 0; i < MANY; i++)
		small += move(p, g, f, &even, true, i) == DDIO_METHOD_SMALL;
	CU_ASSERT(small > MANY / 2);
	CU_ASSERT_EQUAL(move(p, g, f, &even, false, MANY - 1), DDIO_METHOD_SMALL);
	ddio_close(f);
	ddio_group_free(g);
}

static void seldom_for_nothing(void)
{
	world(for_nothing, PROCS);
}

/*
 * A member whose data have another length than its description
 */
/* The last one: what it says leaves no hole, and names nobody's bytes. */
enum { LIAR = PROCS - 1, ITS_LEN = 8 };

/* Has the description that has not been sent yet say that each of its pieces has so many bytes. */
static void say_length(struct ddio_op *op, uint64_t len)
{
	struct ddio_crowd crowd;
	struct ddio_strided *s;
	ssize_t n;

	CU_ASSERT_EQUAL_FATAL(ddio_get_crowd(op->part, op->part_len, &crowd), 0);
	s = (struct ddio_strided *)crowd.kin[0].part->strided;
	s->len = len;
	n = ddio_put_crowd(NULL, 0, &crowd);
	CU_ASSERT_FATAL(n > 0);
	free(op->part);
	op->part_len = (size_t)n;
	op->part = malloc(op->part_len);
	ddio_put_crowd(op->part, op->part_len, &crowd);
	ddio_crowd_free(&crowd);
}

/* Members write a piece each; @said, not 0: what the liar says of its own.  Returns the result. */
static int write_piece(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint64_t said,
		       uint8_t with)
{
	struct ddio_strided own = { .offset = p->rank * ITS_LEN, .len = ITS_LEN };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &own };
	uint8_t buf[ITS_LEN];
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf,
				   .flags = DDIO_XFER_OVERLAP,
				   .report = &report };
	struct ddio_op *op = NULL;
	int ret;

	memset(buf, with, sizeof(buf));
	CP_OK(p, ddio_start_write_all(f, g, &t, &op));
	if (said && p->rank == LIAR)
		say_length(op, said);
	ret = cp_note(p, ddio_wait(op));
	CU_ASSERT(ret || report.method == DDIO_METHOD_SMALL);
	return ret;
}

/* It is refused on every rank, nothing of it is written, and the group goes on. */
static void lies(struct cp_proc *p)
{
	static const uint64_t said[] = { ITS_LEN - 1, ITS_LEN + 1, 64, 32768 };
	struct ddio_group *g = cp_group(p);
	uint8_t buf[PROCS * ITS_LEN + 1];
	struct ddio_file *f = NULL;
	ssize_t n;
	size_t i, k, bad = 0;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(write_piece(p, g, f, 0, 0x11), 0);
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		CU_ASSERT_NOT_EQUAL(write_piece(p, g, f, said[i], 0x22), 0);
	CP_OK(p, ddio_group_barrier(g));
	n = ddio_pread(f, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(n, PROCS * ITS_LEN);
	for (k = 0; k < PROCS * ITS_LEN; k++)
		bad += buf[k] != 0x11;
	CU_ASSERT_EQUAL(bad, 0);
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(write_piece(p, g, f, 0, 0x33), 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void wrong_lengths(void)
{
	for (deep = false;; deep = true) {
		world(lies, PROCS);
		if (deep)
			break;
	}
	deep = false;
}

/* The most of the group's turns that are lent at a time, from now on for a while. */
static uint32_t lent_most(struct cp_proc *p, const struct ddio_group *g)
{
	uint32_t most = 0, k;

	for (k = 0; k < 500; k++) {
		most = g->own.nlent > most ? g->own.nlent : most;
		ddio_sim_sleep(p->env, 1000);
	}
	return most;
}

/* Many at once, small ones between others: each has its bytes. */
static void under_way(struct cp_proc *p)
{
	enum { AT_ONCE = 40 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_op *op[AT_ONCE];
	static uint8_t buf[CP_PROCS][AT_ONCE][2000];
	uint64_t i, k, len, bad = 0;
	uint32_t most;
	int round;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (round = 0; round < 2; round++) {
		for (i = 0; i < AT_ONCE; i++) {
			len = i % 3 ? 8 : 2000;
			struct ddio_extent e = { (i * PROCS + p->rank) * 2000, len };
			struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
			struct ddio_transfer t = { .struct_size = sizeof(t),
						   .part = &part,
						   .buf = buf[p->rank][i],
						   .flags = DDIO_XFER_OVERLAP };

			memset(buf[p->rank][i], round ? 0 : (int)(i + p->rank), 2000);
			if (round)
				CP_OK(p, ddio_start_read_all(f, g, &t, &op[i]));
			else
				CP_OK(p, ddio_start_write_all(f, g, &t, &op[i]));
		}
		most = lent_most(p, g);
		CU_ASSERT(most > 1 && most <= TURNS_LENT);
		for (i = AT_ONCE; i-- > 0;)
			CP_OK(p, ddio_wait(op[i]));
		for (i = 0; round && i < AT_ONCE; i++)
			for (k = 0; k < (i % 3 ? 8 : 2000); k++)
				bad += buf[p->rank][i][k] != (uint8_t)(i + p->rank);
	}
	CU_ASSERT_EQUAL(bad, 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void many_under_way(void)
{
	world(under_way, PROCS);
}

/* All read the same: it is small if what all get together is. */
static void the_same(struct cp_proc *p)
{
	static const struct {
		uint64_t len;
		uint32_t method;
	} reads[] = { { 65536 / PROCS, DDIO_METHOD_SMALL },
		      { 65536 / PROCS + 1, DDIO_METHOD_DDS } };
	static uint8_t buf[CP_PROCS][65536];
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_extent e = { 0, 0 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf[p->rank],
				   .flags = DDIO_XFER_OVERLAP,
				   .report = &report };
	uint64_t bad = 0;
	size_t i, k;

	memset(buf[p->rank], 0x5a, sizeof(buf[0]));
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, buf[0], sizeof(buf[0]), 0), sizeof(buf[0]));
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		e.len = reads[i].len;
		memset(buf[p->rank], 0, sizeof(buf[0]));
		CP_OK(p, ddio_read_all(f, g, &t));
		CU_ASSERT_EQUAL(report.method, reads[i].method);
		for (k = 0; k < sizeof(buf[0]); k++)
			bad += buf[p->rank][k] != (k < e.len ? 0x5a : 0);
	}
	CU_ASSERT_EQUAL(bad, 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void read_by_all(void)
{
	world(the_same, PROCS);
}

/*
 * Descriptions: up to 1 KB carry data, longer ones are told as what differs from the last
 */
enum { DESCRIBED = 1024, PIECES = 900, CELL = 8 };

/* Reads @n pieces of a byte, at places that no rule describes.  Returns the length of the longest description. */
static size_t read_pieces(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t n,
			  uint32_t *method)
{
	static size_t described[CP_PROCS];
	struct ddio_extent *list = calloc(n, sizeof(*list));
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = n, .list = list };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t buf[PIECES] = { 0 };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .buf = buf, .report = &report
	};
	struct ddio_op *op = NULL;
	size_t longest = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		list[i].offset = (i * PROCS + p->rank) * CELL + (i * 2654435761u >> 29);
		list[i].len = 1;
	}
	CP_OK(p, ddio_start_read_all(f, g, &t, &op));
	described[p->rank] = op->part_len;
	CP_OK(p, ddio_wait(op));
	for (i = 0; i < n; i++)
		CU_ASSERT_EQUAL(buf[i], cp_byte(1, list[i].offset));
	*method = report.method;
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < PROCS; i++)
		longest = described[i] > longest ? described[i] : longest;
	CP_OK(p, ddio_group_barrier(g));
	free(list);
	return longest;
}

/* Finds the number of pieces from which on a description is too long. */
static void described(struct cp_proc *p)
{
	static uint8_t bytes[PIECES * PROCS * CELL];
	struct ddio_group *g = cp_group(p);
	uint32_t few = 16, many = PIECES, n, method;
	struct ddio_file *f = NULL;
	size_t len;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (n = 0; !p->rank && n < sizeof(bytes); n++)
		bytes[n] = cp_byte(1, n);
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, bytes, sizeof(bytes), 0), sizeof(bytes));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT(read_pieces(p, g, f, few, &method) <= DESCRIBED);
	CU_ASSERT(read_pieces(p, g, f, many, &method) > DESCRIBED);
	while (many - few > 1) {
		n = few + (many - few) / 2;
		len = read_pieces(p, g, f, n, &method);
		CU_ASSERT_EQUAL(method, method_of(len <= DESCRIBED));
		*(len <= DESCRIBED ? &few : &many) = n;
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void long_descriptions(void)
{
	world(described, PROCS);
}

static const struct ut_case cases[] = {
	{ "borders, and messages", borders_and_messages },
	{ "seldom for nothing", seldom_for_nothing },
	{ "data of another length than the description's", wrong_lengths },
	{ "the same bytes for all", read_by_all },
	{ "descriptions of up to 1 KB", long_descriptions },
	{ "many under way", many_under_way },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "carried", cases } };

	return ut_run("cp_carry", suites, 1);
}
