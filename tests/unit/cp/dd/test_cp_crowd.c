// SPDX-License-Identifier: GPL-2.0-only
/* Very many transfers at once: members agree on the next while they agree on the one before it. */
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 4, MOST = 200, SHARE_MAX = 1024 };

/* What all processes do, and how long that took. */
struct crowded {
	uint32_t share;
	bool cold;
	uint64_t one, all;
};

static struct ddio_transfer transfer(void *buf, const struct ddio_part *part)
{
	/* What may overlap nobody will have to spread. */
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = part,
				       .buf = buf,
				       .method = DDIO_METHOD_DDS,
				       .flags = DDIO_XFER_OVERLAP };
}

/* Starts @n reads or writes of all, each with memory of its own, and waits for them.  Returns how long that took. */
static uint64_t crowd_run(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint32_t n,
			  bool write, uint8_t *buf)
{
	const struct crowded *c = p->w->arg;
	struct ddio_extent mine = { .len = c->share };
	struct ddio_part place = { .kind = DDIO_PART_LIST, .n = 1, .list = &mine };
	struct ddio_op *op[MOST];
	uint64_t before;
	uint32_t i;

	CP_OK(p, ddio_group_barrier(g));
	before = ddio_sim_elapsed(p->w->dw);
	for (i = 0; i < n; i++) {
		struct ddio_transfer t = transfer(buf + (size_t)i * c->share, &place);

		mine.offset = ((uint64_t)i * PROCS + p->rank) * c->share;
		CP_OK(p, (write ? ddio_start_write_all : ddio_start_read_all)(f, g, &t, &op[i]));
	}
	for (i = 0; i < n; i++)
		CP_OK(p, ddio_wait(op[i]));
	CP_OK(p, ddio_group_barrier(g));
	return ddio_sim_elapsed(p->w->dw) - before;
}

static bool crowd_has(const struct crowded *c, const uint8_t *buf, uint32_t rank)
{
	uint32_t i, k;

	for (i = 0; i < MOST; i++)
		for (k = 0; k < c->share; k++)
			if (*buf++ != (uint8_t)(i + rank))
				return false;
	return true;
}

static void crowd(struct cp_proc *p)
{
	struct crowded *c = p->w->arg;
	struct ddio_group *g = cp_group(p);
	uint8_t *buf = malloc((size_t)MOST * c->share);
	struct ddio_file *f = NULL;
	uint64_t one, all;
	uint32_t i;

	CP_OK(p, ddio_open_all(g, "crowd", DDIO_CREATE, NULL, &f));
	for (i = 0; i < MOST; i++)
		memset(buf + (size_t)i * c->share, (int)(i + p->rank), c->share);
	crowd_run(p, f, g, MOST, true, buf);
	memset(buf, 0xff, (size_t)MOST * c->share);
	crowd_run(p, f, g, 1, false, buf);
	one = crowd_run(p, f, g, 1, false, buf);
	if (c->cold)
		CP_OK(p, ddio_drop_cache(f));
	all = crowd_run(p, f, g, MOST, false, buf);
	if (!p->rank) {
		c->one = one;
		c->all = all;
	}
	CU_ASSERT_TRUE(crowd_has(c, buf, p->rank));
	free(buf);
	ddio_close(f);
	ddio_group_free(g);
}

static void test_quick(void)
{
	struct crowded c = { .share = 128 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, crowd, &c), 0);
	cp_world_end(&w);
	printf("# %u reads take %.1f times as long as one\n", MOST, (double)c.all / (double)c.one);
	CU_ASSERT(c.all < MOST / 25 * c.one);
}

/* A node refuses the 65th of a group: members wait with it, however slow the disks are. */
static void test_slow(void)
{
	struct crowded c = { .share = SHARE_MAX, .cold = true };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .options = "delay_us=5000" });
	CU_ASSERT_EQUAL(cp_run(&w, crowd, &c), 0);
	cp_world_end(&w);
}

/*
 * All kinds by turns, and each that goes wrong for one goes wrong for all
 */
enum { MIX = 60, MIX_BYTES = MIX * PROCS * SHARE_MAX };
/* Rank 1's description is wrong; rank 3 writes where all others read; rank 2's is beyond the end; two write the same, which may be. */
enum { WRONG = 20, ELSE = 21, BEYOND = 26, BOTH = 27, CLASH = 29 };

struct mix {
	int ret[PROCS][MIX];
	uint8_t buf[PROCS][MIX][SHARE_MAX];
};

static uint8_t mix_byte(uint64_t off)
{
	return cp_byte(1, off);
}

static struct ddio_extent mix_place(uint32_t i, uint32_t rank)
{
	struct ddio_extent e = { ((uint64_t)i * PROCS + rank) * SHARE_MAX, SHARE_MAX };

	if (i == BEYOND && rank == 2)
		e.offset = MIX_BYTES;
	if ((i == BOTH || i == CLASH) && rank == 3)
		e.offset -= SHARE_MAX;
	return e;
}

static bool mix_is_durable(uint32_t i)
{
	return i % 6 == 1;
}

/* Of six, one is an array, one may be spread, one is of another method; all others lend their turn. */
static int mix_start(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint32_t i,
		     struct ddio_op **op)
{
	static const struct ddio_array rows = {
		.elem_size = SHARE_MAX,
		.ndims = 1,
		.dim = { { .size = MIX * PROCS, .dist = DDIO_CYCLIC, .procs = PROCS } },
	};
	struct mix *mix = p->w->arg;
	struct ddio_extent e = mix_place(i, p->rank);
	struct ddio_part place = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = transfer(mix->buf[p->rank][i], &place);
	static uint8_t all[PROCS][MIX * SHARE_MAX];

	if (i == WRONG && p->rank == 1)
		place.list = NULL;
	if (i % 6 == 4) {
		place = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &rows };
		t.buf = all[p->rank];
		t.flags = 0;
	}
	if (i % 6 == 5)
		t.flags = 0;
	if (i % 6 == 0 && i % 4)
		t.method = DDIO_METHOD_TC;
	if (mix_is_durable(i))
		t.flags |= DDIO_XFER_SYNC;
	if ((i == ELSE && p->rank == 3) || i == BOTH || i == CLASH || mix_is_durable(i))
		return ddio_start_write_all(f, g, &t, op);
	return ddio_start_read_all(f, g, &t, op);
}

static void mixed(struct cp_proc *p)
{
	struct mix *mix = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_op *op[MIX];
	struct ddio_file *f = NULL;
	uint64_t off, len = p->rank ? 0 : MIX_BYTES;
	uint8_t *whole = malloc(MIX_BYTES);
	struct ddio_extent e = { 0, len };
	struct ddio_part place = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = transfer(whole, &place);
	uint32_t i;

	for (off = 0; off < MIX_BYTES; off++)
		whole[off] = mix_byte(off);
	CP_OK(p, ddio_open_all(g, "mix", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_write_all(f, g, &t));
	for (i = 0; i < MIX; i++)
		if (i == BOTH || mix_is_durable(i))
			memcpy(mix->buf[p->rank][i], whole + mix_place(i, p->rank).offset,
			       SHARE_MAX);
	for (i = 0; i < MIX; i++)
		CP_OK(p, mix_start(p, f, g, i, &op[i]));
	for (i = MIX; i-- > 0;)
		mix->ret[p->rank][i] = ddio_wait(op[i]);
	CP_OK(p, ddio_group_barrier(g));
	free(whole);
	ddio_close(f);
	ddio_group_free(g);
}

static bool mix_has(const struct mix *mix, uint32_t i, uint32_t rank)
{
	uint64_t off = mix_place(i, rank).offset;
	uint32_t k;

	for (k = 0; k < SHARE_MAX; k++)
		if (mix->buf[rank][i][k] != mix_byte(off + k))
			return false;
	return true;
}

static int mix_wants(uint32_t i)
{
	switch (i) {
	case WRONG:
		return -EINVAL;
	case ELSE:
		return -EBADE;
	case BEYOND:
		return -ENODATA;
	case CLASH:
		return -EBADSLT;
	default:
		return 0;
	}
}

static void mix_check(const struct mix *mix)
{
	uint32_t i, r;

	for (i = 0; i < MIX; i++)
		for (r = 0; r < PROCS; r++) {
			CU_ASSERT_EQUAL(mix->ret[r][i], mix_wants(i));
			CU_ASSERT(mix_wants(i) || i % 6 == 4 || mix_has(mix, i, r));
		}
}

static void test_mixed(void)
{
	static struct mix mix;
	struct cp_world w;
	uint32_t seed;

	for (seed = 0; seed < 8; seed++) {
		memset(&mix, 0, sizeof(mix));
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .seed = seed });
		CU_ASSERT_EQUAL(cp_run(&w, mixed, &mix), 0);
		cp_world_end(&w);
		mix_check(&mix);
	}
}

/*
 * A member begins fewer than the others, and is late or dies
 */
enum { FEW = 10, BUNCH = 30, LATE = PROCS - 1 };

struct bunch {
	struct ddio_group *group[PROCS];
	struct ddio_file *file[PROCS];
	int ret[PROCS][BUNCH];
	bool over[PROCS];
	uint8_t buf[PROCS][BUNCH];
};

/* Starts reads [@first, @end) of a byte each, and waits for them. */
static void bunch_run(struct cp_proc *p, uint32_t first, uint32_t end)
{
	struct bunch *b = p->w->arg;
	struct ddio_group *g = b->group[p->rank];
	struct ddio_file *f = b->file[p->rank];
	struct ddio_extent e = { .offset = p->rank, .len = 1 };
	struct ddio_part place = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_op *op[BUNCH];
	uint32_t i;

	for (i = first; i < end; i++) {
		struct ddio_transfer t = transfer(&b->buf[p->rank][i], &place);

		b->ret[p->rank][i] = ddio_start_read_all(f, g, &t, &op[i]);
	}
	for (i = first; i < end; i++)
		if (!b->ret[p->rank][i])
			b->ret[p->rank][i] = ddio_wait(op[i]);
}

static void bunch_make(struct cp_proc *p)
{
	struct bunch *b = p->w->arg;
	struct ddio_group *g = cp_group(p);
	uint8_t mine = (uint8_t)(p->rank + 1);
	struct ddio_extent e = { .offset = p->rank, .len = 1 };
	struct ddio_part place = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = transfer(&mine, &place);
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "bunch", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_write_all(f, g, &t));
	b->group[p->rank] = g;
	b->file[p->rank] = f;
}

static void bunch_end(struct cp_proc *p)
{
	struct bunch *b = p->w->arg;

	ddio_close(b->file[p->rank]);
	ddio_group_free(b->group[p->rank]);
}

static void fewer(struct cp_proc *p)
{
	struct bunch *b = p->w->arg;

	bunch_make(p);
	if (p->rank == LATE) {
		bunch_run(p, 0, FEW);
		ddio_sim_sleep(p->env, 5 * CP_SEC);
		bunch_run(p, FEW, BUNCH);
	} else {
		bunch_run(p, 0, BUNCH);
	}
	CP_OK(p, ddio_group_barrier(b->group[p->rank]));
	bunch_end(p);
}

/* All that began are one in what became of it, and the group is as good as before. */
static void test_fewer(void)
{
	static struct bunch b;
	struct cp_world w;
	uint32_t i, r;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = 2000 });
	CU_ASSERT_EQUAL(cp_run(&w, fewer, &b), 0);
	cp_world_end(&w);
	for (i = 0; i < BUNCH; i++)
		for (r = 0; r < PROCS; r++) {
			CU_ASSERT_EQUAL(b.ret[r][i], i < FEW ? 0 : -ETIMEDOUT);
			CU_ASSERT(i >= FEW || b.buf[r][i] == r + 1);
		}
}

static void leave_behind(struct cp_proc *p)
{
	struct bunch *b = p->w->arg;

	bunch_run(p, 0, p->rank == LATE ? FEW : BUNCH);
	if (p->rank == LATE)
		ddio_sim_sleep(p->env, 1000 * CP_SEC);
	b->over[p->rank] = true;
	bunch_end(p);
}

static void death(uint64_t at, struct bunch *b)
{
	struct cp_world w;
	uint32_t r;

	memset(b, 0, sizeof(*b));
	cp_leaks_allowed(true);
	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = 2000 });
	CU_ASSERT_EQUAL(cp_run(&w, bunch_make, b), 0);
	for (r = 0; r < PROCS; r++) {
		w.proc[r].fn = leave_behind;
		ddio_sim_spawn(w.proc[r].env, cp_proc_main, &w.proc[r]);
	}
	ddio_sim_run_for(w.dw, at);
	w.proc[LATE].killed = true;
	sim_kill(w.proc[LATE].env);
	ddio_sim_run_for(w.dw, 20 * CP_SEC);
	for (r = 0; r < LATE; r++)
		CU_ASSERT_TRUE(b->over[r]);
	cp_world_end(&w);
	cp_leaks_allowed(false);
}

/* Whenever that is, what it had not begun fails for all others, and what it had all of them have or have not. */
static void test_death(void)
{
	uint32_t i, r, went = 0, failed = 0;
	static struct bunch b;
	uint64_t at;

	for (at = 2000; at < 3 * CP_MS; at += at / 4) {
		death(at, &b);
		for (i = 0; i < BUNCH; i++)
			for (r = 0; r < LATE; r++) {
				went += !b.ret[r][i];
				failed += i < FEW && b.ret[r][i];
				CU_ASSERT(i < FEW ? b.ret[r][i] || b.buf[r][i] == r + 1
						  : b.ret[r][i] == -ECONNABORTED);
			}
	}
	/* It was in the midst of it. */
	CU_ASSERT(went && failed);
}

static const struct ut_case cases[] = {
	{ "very many at once", test_quick },  { "more than a node takes", test_slow },
	{ "all kinds by turns", test_mixed }, { "one begins fewer", test_fewer },
	{ "one dies", test_death },	      { .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "crowd", cases } };

	return cp_ut_run("cp_crowd", suites, 1);
}
