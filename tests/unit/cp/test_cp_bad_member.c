// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member that sends what it must not: the others notice before a byte of it
 * reaches their memory.  And one that is merely slow: what it contributes to a
 * step that has failed meanwhile is dropped, and the group goes on.
 */
#include "cp/coll/2p/priv.h"
#include "cp/group/fan/priv.h"
#include "tests/unit/cp/cp_world.h"

enum {
	PROCS = 2,
	ELEM = 8,
	BLOCK = 1024,
	CHUNK_BYTES = 256 << 10,
	SEGMENT = 2 * CHUNK_BYTES,
	BYTES = PROCS * SEGMENT,
	SHARE = BYTES / PROCS,
	TIMEOUT_MS = 1000
};

/* What the member's message for the other's segment is like; @BEFORE: of rank 1's only. */
enum member_sin {
	NONE,
	BEFORE,
	BEYOND,
	WHOLE_FILE,
	HALF_A_CHUNK,
	INSIDE_A_CHUNK,
	BACKWARD,
	NOTHING,
	SHORT,
	LONG,
	OF_ANOTHER_RANK,
	OF_ANOTHER_GROUP,
	SINS
};

static const struct ddio_array cyclic = {
	.elem_size = ELEM,
	.ndims = 1,
	.dim = { { .size = BYTES / ELEM, .dist = DDIO_CYCLIC, .procs = PROCS } },
};
static const struct ddio_part cyclic_part = { .kind = DDIO_PART_ARRAY, .array = &cyclic };

/**
 * struct plot - who sins, and how
 * @bad: rank of the sinner
 */
struct plot {
	enum member_sin sin;
	uint32_t bad;
};

static void inject(struct ddio_op *op, const struct ddio_msg_exchange *ex, size_t len)
{
	static uint8_t rubbish[BYTES];
	struct ddio_msg msg = { .opcode = DDIO_OP_EXCHANGE, .tag = ex->op };
	struct iovec iov = { .iov_base = rubbish, .iov_len = len };
	struct link *link = peer_link(op->group, !op->rank);
	uint8_t fixed[64];
	ssize_t n = ddio_put_exchange(fixed, sizeof(fixed), ex);

	CU_ASSERT_FATAL(link != NULL && n > 0);
	memset(rubbish, 0xee, sizeof(rubbish));
	CU_ASSERT_EQUAL(ddio_conn_send(link->conn, &msg, fixed, (size_t)n, &iov, 1, NULL), 0);
}

/* Sends a message for the other's segment in place of the first honest one. */
static void sin_now(struct ddio_op *op, enum member_sin sin)
{
	uint64_t seg = (uint64_t)!op->rank * SEGMENT, len;
	struct ddio_msg_exchange ex = {
		.op = op->turn.number, .lo = seg, .hi = seg + CHUNK_BYTES, .rank = op->rank
	};

	memcpy(ex.group, op->group->id, sizeof(ex.group));
	if (sin == BEFORE) {
		ex.lo = seg - CHUNK_BYTES;
		ex.hi = seg;
	} else if (sin == BEYOND) {
		ex.lo = seg + SEGMENT;
		ex.hi = ex.lo + CHUNK_BYTES;
	} else if (sin == WHOLE_FILE) {
		ex.lo = 0;
		ex.hi = BYTES;
	} else if (sin == HALF_A_CHUNK) {
		ex.hi = seg + CHUNK_BYTES / 2;
	} else if (sin == INSIDE_A_CHUNK) {
		ex.lo = seg + BLOCK;
	} else if (sin == BACKWARD) {
		ex.lo += CHUNK_BYTES;
		ex.hi += CHUNK_BYTES;
	} else if (sin == NOTHING) {
		ex.hi = ex.lo;
	} else if (sin == OF_ANOTHER_RANK) {
		ex.rank = !op->rank;
	} else if (sin == OF_ANOTHER_GROUP) {
		ex.group[0] ^= 1;
	}
	tp_of(op)->peer[!op->rank].out = seg + CHUNK_BYTES;
	len = (ex.hi - ex.lo) / PROCS;
	inject(op, &ex, sin == SHORT ? len - ELEM : sin == LONG ? len + ELEM : len ? len : ELEM);
}

/* The other member waits for the exchange, or will by when the message comes. */
static void wait_for_middle(struct cp_proc *p, struct ddio_op *op)
{
	uint32_t i;

	for (i = 0; i < 1000000 && (!op->priv || tp_of(op)->stage != TP_MIDDLE); i++)
		ddio_sim_sleep(p->env, 100);
	CU_ASSERT_EQUAL_FATAL(tp_of(op)->stage, TP_MIDDLE);
}

static void write_with_a_sinner(struct cp_proc *p)
{
	const struct plot *plot = p->w->arg;
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &cyclic_part, .buf = buf, .method = DDIO_METHOD_2P
	};
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_op *op = NULL;
	int ret;

	memset(buf, 0x11, SHARE);
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_start_write_all(f, g, &t, &op));
	if (plot->sin != NONE && p->rank == plot->bad) {
		wait_for_middle(p, op);
		sin_now(op, plot->sin);
	}
	ret = cp_note(p, ddio_wait(op));
	if (plot->sin == NONE)
		CU_ASSERT_EQUAL(ret, 0)
	else
		CU_ASSERT_NOT_EQUAL(ret, 0);
	if (plot->sin != NONE && p->rank != plot->bad)
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, plot->bad ? "rank 1" : "rank 0"));
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

/* Nothing was written: a segment goes to the disks only when all of it has come. */
static void nothing_of_it(struct cp_proc *p)
{
	const struct plot *plot = p->w->arg;
	uint8_t *buf = malloc(BYTES);
	struct ddio_file *f = NULL;
	ssize_t n;
	size_t i, bad = 0;

	if (!p->rank) {
		CP_OK(p, ddio_open(p->session, "f", 0, NULL, &f));
		n = ddio_pread(f, buf, BYTES, 0);
		CU_ASSERT_EQUAL(n, plot->sin == NONE ? BYTES : 0);
		for (i = 0; i < (size_t)(n > 0 ? n : 0); i++)
			bad += buf[i] != 0x11;
		CU_ASSERT_EQUAL(bad, 0);
		ddio_close(f);
	}
	free(buf);
}

static void every_sin(void)
{
	struct cp_world w;
	struct plot plot;

	for (plot.sin = NONE; plot.sin < SINS; plot.sin++)
		for (plot.bad = plot.sin == BEFORE; plot.bad < PROCS; plot.bad++) {
			if (plot.sin == BEFORE)
				plot.bad = 0;
			cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
								.block = BLOCK,
								.timeout_ms = TIMEOUT_MS,
								.seed = plot.sin });
			CU_ASSERT_EQUAL(cp_run(&w, write_with_a_sinner, &plot), 0);
			CU_ASSERT_EQUAL(cp_run(&w, nothing_of_it, &plot), 0);
			cp_world_end(&w);
			if (plot.sin == BEFORE)
				break;
		}
}

/*
 * One that is slow
 */

/* One way; there and back is more than the time that rank 0 gives a child to answer. */
#define SLOW_NS (100 * CP_MS)

static void late_answers(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.latency_ns = SLOW_NS;
	ddio_sim_set_link(p->env, &net);
	if (p->rank)
		ddio_sim_sleep(p->env, 3 * TIMEOUT_MS * CP_MS);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_barrier(g)), -ETIMEDOUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "rank 1 of 2 did not come to a barrier"));
	if (!p->rank)
		ddio_sim_sleep(p->env, 2 * TIMEOUT_MS * CP_MS);
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT(ddio_list_empty(&g->fans));
	ddio_group_free(g);
}

static void late_to_an_ended_step(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS });
	CU_ASSERT_EQUAL(cp_run(&w, late_answers, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "every sin", every_sin },
	{ "late to an ended step", late_to_an_ended_step },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "bad member", cases } };

	return ut_run("cp_bad_member", suites, 1);
}
