// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes wrong while transfers are under way, at any moment: a node or a
 * member is cut off, or falls silent; a disk fails.  Every process must hear of
 * it in bounded time, nothing may touch a buffer afterwards, and what is
 * reported as done must be right.
 */
#include "cp/node/lane.h"
#include "iop/server/reactor.h"
#include "tests/unit/cp/cp_world.h"
#include "tests/unit/map/map_twin.h"

enum { ELEMS = 24000, PROCS = 6, BYTES = ELEMS * 8 };

enum what { NODE_CUT, NODE_STALL, MEMBER_CUT, MEMBER_STALL, DISK, WHATS };

/**
 * struct storm - one run
 * @at: virtual time at which it happens, after the group has formed
 * @victim: number of the node, member or disk
 * @k: of the distribution
 * @done: transfers that each process saw succeed
 */
struct storm {
	enum what what;
	uint64_t at;
	uint32_t victim, method, k;
	bool writing;
	uint64_t began;
	uint32_t failed, done[PROCS];
};

static struct ddio_array cyclic(uint32_t procs, uint64_t k)
{
	return (struct ddio_array){
		.elem_size = 8,
		.ndims = 1,
		.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = procs, .k = k } }
	};
}

static void strike(struct cp_proc *p)
{
	struct storm *s = p->w->arg;
	struct ddio_sim_link net;
	struct ddio_env *env = NULL;

	ddio_sim_sleep(p->env, s->at);
	ddio_sim_link_default(&net);
	net.stall_after = 1;
	if (s->what == NODE_CUT || s->what == NODE_STALL)
		env = p->w->node[s->victim].env[0];
	else
		env = p->w->proc[s->victim].env;
	switch (s->what) {
	case NODE_CUT:
		ddio_sim_cut(p->w->node[s->victim].env[1]);
		/* fall through */
	case MEMBER_CUT:
		ddio_sim_cut(env);
		break;
	case NODE_STALL:
		ddio_sim_set_link(p->w->node[s->victim].env[1], &net);
		/* fall through */
	case MEMBER_STALL:
		ddio_sim_set_link(env, &net);
		break;
	default:
		disk_inject(p->w->node[s->victim].iop->reactors[0].disks[0].disk, -1, 1000000,
			    -EIO);
	}
}

/* Every byte of the share names its place in the file. */
static void share_fill(uint8_t *buf, uint64_t n, uint32_t rank, uint32_t procs, uint64_t k)
{
	uint64_t i, at;

	for (i = 0; i < n; i++) {
		at = ((i / 8 / k * procs + rank) * k + i / 8 % k) * 8 + i % 8;
		buf[i] = cp_byte(3, at);
	}
}

static void one_transfer(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g)
{
	struct storm *s = p->w->arg;
	struct ddio_array array = cyclic(PROCS, s->k);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = { .struct_size = sizeof(t), .method = s->method, .part = &part };
	uint64_t n = 0;
	uint8_t *buf, *want;

	if (s->method == DDIO_METHOD_TC && s->at & 1)
		t.flags = DDIO_XFER_IN_TURN;
	CU_ASSERT_EQUAL(ddio_array_share(&array, PROCS, p->rank, &n, NULL), 0);
	buf = malloc(n);
	want = malloc(n);
	share_fill(want, n, p->rank, PROCS, s->k);
	if (s->writing)
		memcpy(buf, want, n);
	t.buf = buf;
	cp_note(p, s->writing ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	if (!p->ret && !s->writing)
		CU_ASSERT_EQUAL(memcmp(buf, want, n), 0);
	free(buf);
	free(want);
}

static void in_the_storm(struct cp_proc *p)
{
	struct storm *s = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint8_t *all;
	uint64_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank) {
		all = malloc(BYTES);
		for (i = 0; i < BYTES; i++)
			all[i] = cp_byte(3, i);
		CU_ASSERT_EQUAL(ddio_pwrite(f, all, BYTES, 0), BYTES);
		CP_OK(p, ddio_drop_cache(f));
		free(all);
	}
	/* It may strike members that are still in it. */
	cp_note(p, ddio_group_barrier(g));
	if (!p->rank) {
		s->began = ddio_sim_elapsed(p->w->dw);
		p->w->proc[PROCS].w = p->w;
		p->w->proc[PROCS].env = p->env;
		p->w->proc[PROCS].fn = strike;
		ddio_sim_spawn(p->env, cp_proc_main, &p->w->proc[PROCS]);
	}
	for (i = 0; i < 40 && !p->ret; i++) {
		one_transfer(p, f, g);
		s->done[p->rank] += !p->ret;
	}
	s->failed += p->ret != 0;
	ddio_close(f);
	/* A member that leaves at once would be blamed by those that have not heard yet. */
	ddio_sim_sleep(p->env, 5 * CP_SEC);
	ddio_group_free(g);
}

static const char *what_name(enum what what)
{
	static const char *const names[] = { "node cut", "node stalls", "member cut",
					     "member stalls", "disk" };

	return names[what];
}

static bool is_victim(const struct storm *s, uint32_t rank)
{
	return (s->what == MEMBER_CUT || s->what == MEMBER_STALL) && s->victim == rank;
}

static void check_storm(struct cp_world *w, struct storm *s)
{
	static const int errs[WHATS][3] = { { -EHOSTDOWN, -ECONNABORTED, -ETIMEDOUT },
					    { -EHOSTDOWN, -ECONNABORTED, -ETIMEDOUT },
					    { -ECONNABORTED, -EHOSTDOWN, -ETIMEDOUT },
					    { -ECONNABORTED, -EHOSTDOWN, -ETIMEDOUT },
					    { -EIO, -EIO, -EIO } };
	bool member = s->what == MEMBER_CUT || s->what == MEMBER_STALL;
	uint32_t other = member && !s->victim, r, i, bad = 0;

	for (r = 0; r < PROCS; r++) {
		const struct cp_proc *p = &w->proc[r];

		for (i = 0; i < 3 && p->ret != errs[s->what][i]; i++)
			;
		if (p->ret && i == 3)
			bad++;
		/* While the group is whole its members agree, to the letter. */
		if (!member && strcmp(p->text, w->proc[0].text))
			bad++;
		/* A member that loses its informant may miss the last success. */
		if (is_victim(s, r) || is_victim(s, other))
			continue;
		if (s->done[r] + member < s->done[other] || s->done[r] > s->done[other] + member)
			bad++;
	}
	CU_ASSERT_EQUAL(bad, 0);
	for (r = 0; (bad || getenv("DDIO_SHOW")) && r < PROCS; r++)
		fprintf(stderr, "%s %u at %llu, method %u, %s, k %u: rank %u: %d %s\n",
			what_name(s->what), s->victim, (unsigned long long)s->at, s->method,
			s->writing ? "write" : "read", s->k, r, w->proc[r].ret, w->proc[r].text);
	/* Three seconds of silence, and what it takes to notice. */
	CU_ASSERT(ddio_sim_elapsed(w->dw) - s->began < 40 * CP_SEC);
}

static struct twin_rng rng;

static void storms(enum what what, int n)
{
	struct cp_params cp = { .procs = PROCS, .nodes = 3, .disks = 6, .timeout_ms = 3000 };
	struct cp_world w;
	uint32_t hit = 0;
	int i;

	for (i = 0; i < (int)ut_rounds(n); i++) {
		struct storm s = { .what = what,
				   .at = twin_pick(&rng, 0, 10 * CP_MS),
				   .method = twin_pick(&rng, DDIO_METHOD_TC, DDIO_METHOD_DDS),
				   .k = twin_chance(&rng, 50) ? 1 : twin_pick(&rng, 2, 900),
				   .writing = twin_chance(&rng, 50) };

		s.victim = twin_pick(&rng, 0, what < MEMBER_CUT || what == DISK ? 2 : PROCS - 1);
		cp.seed = twin_rand(&rng) >> 1;
		cp.options = twin_chance(&rng, 50) ? "delay_us=200" : NULL;
		cp_world_begin(&w, &cp);
		CU_ASSERT_EQUAL(cp_run(&w, in_the_storm, &s), 0);
		check_storm(&w, &s);
		hit += s.failed != 0;
		cp_world_end(&w);
	}
	/* Enough of them must have come in time to hurt, of so many that this is no matter of luck; a cache may hide a disk. */
	CU_ASSERT((int)hit * (what == DISK ? 5 : 2) > i || i < n);
}

static void nodes_are_cut_off(void)
{
	storms(NODE_CUT, 40);
}

static void nodes_fall_silent(void)
{
	storms(NODE_STALL, 40);
}

static void members_are_cut_off(void)
{
	storms(MEMBER_CUT, 40);
}

static void members_fall_silent(void)
{
	storms(MEMBER_STALL, 40);
}

static void disks_fail(void)
{
	storms(DISK, 30);
}

static const struct ut_case cases[] = {
	{ "nodes are cut off", nodes_are_cut_off },
	{ "nodes fall silent", nodes_fall_silent },
	{ "members are cut off", members_are_cut_off },
	{ "members fall silent", members_fall_silent },
	{ "disks fail", disks_fail },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "faults", cases } };

	rng.state = twin_seed("cp_faults");
	return cp_ut_run("cp_faults", suites, 1);
}
