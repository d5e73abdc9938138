// SPDX-License-Identifier: GPL-2.0-only
/* Groups: how they form, agree, disagree, and find out which members are missing. */
#include "tests/unit/cp/cp_world.h"

/*
 * Coming together
 */
static void meet(struct cp_proc *p)
{
	struct ddio_group *g;
	int i;

	ddio_sim_sleep(p->env, (p->rank * 7919 % 100) * CP_MS);
	g = cp_group(p);
	if (!g)
		return;
	CU_ASSERT_EQUAL(ddio_group_rank(g), p->rank);
	CU_ASSERT_EQUAL(ddio_group_size(g), p->w->p.procs);
	for (i = 0; i < 3; i++)
		CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static void at_an_address(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 13, 16, 26 };
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cp_world_begin(&w,
			       &(struct cp_params){ .procs = sizes[i], .keyed = i % 2, .seed = i });
		CU_ASSERT_EQUAL(cp_run(&w, meet, NULL), 0);
		/* The same address again. */
		CU_ASSERT_EQUAL(cp_run(&w, meet, NULL), 0);
		cp_world_end(&w);
	}
}

struct lateness {
	uint64_t by;
	uint64_t begun, formed;
};

/* One rank comes later than the others. */
static void meet_late(struct cp_proc *p)
{
	struct lateness *late = p->w->arg;
	struct ddio_group *g;

	ddio_sim_sleep(p->env, p->rank ? 1 : late->by);
	if (!p->rank)
		late->begun = ddio_env_now(p->env);
	g = cp_group(p);
	if (!g)
		return;
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		late->formed = ddio_env_now(p->env);
	ddio_group_free(g);
}

/* The others are there soon after rank 0: 2 ms where all start together, the longest pause at most if it is late. */
static void rank_zero_last(void)
{
	static const uint64_t by[] = { 1,	  CP_MS / 10,  CP_MS,	  3 * CP_MS,
				       8 * CP_MS, 100 * CP_MS, 5 * CP_SEC };
	struct lateness late;
	struct cp_world w;
	uint64_t took, bound;
	size_t i;

	cp_world_begin(&w, &(struct cp_params){ .procs = 7 });
	for (i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		late = (struct lateness){ .by = by[i] };
		CU_ASSERT_EQUAL(cp_run(&w, meet_late, &late), 0);
		took = late.formed - late.begun;
		bound = by[i] <= 8 * CP_MS ? 2 * CP_MS : 21 * CP_MS;
		CU_ASSERT(late.formed && took <= bound);
		if (took > bound)
			fprintf(stderr, "%llu ns late: formed after %llu ns\n",
				(unsigned long long)by[i], (unsigned long long)took);
	}
	cp_world_end(&w);
}

/* What a caller's communicator would be. */
struct blackboard {
	uint8_t bytes[2048];
	size_t len;
	int calls, fail;
};

struct bcast_box {
	struct cp_proc *p;
	struct blackboard *b;
};

static int bcast(void *arg, void *buf, size_t len, uint32_t root)
{
	struct bcast_box *ba = arg;

	CU_ASSERT_EQUAL(root, 0);
	ba->b->calls++;
	if (ba->b->fail)
		return ba->b->fail;
	if (ba->p->rank == root) {
		memcpy(ba->b->bytes, buf, len);
		ba->b->len = len;
		return 0;
	}
	while (!ba->b->len)
		ddio_sim_sleep(ba->p->env, CP_MS);
	memcpy(buf, ba->b->bytes, len);
	return 0;
}

static void meet_bcast(struct cp_proc *p)
{
	struct bcast_box ba = { .p = p, .b = p->w->arg };
	struct ddio_group *g = NULL;
	int fail = ba.b->fail;

	cp_note(p,
		ddio_group_create_bcast(p->session, p->rank, p->w->p.procs, bcast, &ba, NULL, &g));
	CU_ASSERT_EQUAL(p->ret, fail);
	if (p->ret != fail)
		fprintf(stderr, "%s\n", p->text);
	if (!g)
		return;
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static void by_broadcast(void)
{
	struct blackboard b = { .fail = 0 }, bad = { .fail = -EPIPE };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 7 });
	CU_ASSERT_EQUAL(cp_run(&w, meet_bcast, &b), 0);
	CU_ASSERT_EQUAL(b.calls, 7);
	CU_ASSERT_EQUAL(cp_run(&w, meet_bcast, &bad), 0);
	memset(&b, 0, sizeof(b));
	CU_ASSERT_EQUAL(cp_run(&w, meet_bcast, &b), 0);
	cp_world_end(&w);
}

/* Two threads of each process, each with a communicator: what both form around rank 0 has the same members. */
struct two_boards {
	struct blackboard first, second;
	uint32_t formed;
};

static void form_second(void *arg)
{
	struct cp_proc *p = arg;
	struct two_boards *two = p->w->arg;
	struct bcast_box ba = { .p = p, .b = &two->second };
	struct ddio_group *g = NULL;

	CP_OK(p, ddio_group_create_bcast(p->session, p->rank, p->w->p.procs, bcast, &ba, NULL, &g));
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
	two->formed++;
}

static void form_two(struct cp_proc *p)
{
	struct two_boards *two = p->w->arg;
	struct bcast_box ba = { .p = p, .b = &two->first };
	struct ddio_group *g = NULL;

	ddio_sim_spawn(p->env, form_second, p);
	/* The second is whole before the first, which has begun. */
	if (p->rank == p->w->p.procs - 1)
		while (two->formed < p->rank)
			ddio_sim_sleep(p->env, CP_MS);
	CP_OK(p, ddio_group_create_bcast(p->session, p->rank, p->w->p.procs, bcast, &ba, NULL, &g));
	CP_OK(p, ddio_group_barrier(g));
	while (two->formed < p->w->p.procs)
		ddio_sim_sleep(p->env, CP_MS);
	ddio_group_free(g);
}

static void two_at_a_time(void)
{
	struct two_boards two = { .formed = 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 5 });
	CU_ASSERT_EQUAL(cp_run(&w, form_two, &two), 0);
	CU_ASSERT_EQUAL(two.formed, 5);
	cp_world_end(&w);
	memset(&two, 0, sizeof(two));
	cp_world_begin(&w, &(struct cp_params){ .procs = 5, .deep = true });
	CU_ASSERT_EQUAL(cp_run(&w, form_two, &two), 0);
	cp_world_end(&w);
}

/* Even and odd ranks, odd ones backwards; rank 4 in none. */
static void splitting(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *sub = NULL, *again = NULL;
	int color = p->rank == 4 ? -1 : (int)(p->rank & 1);
	uint32_t want;

	CP_OK(p, ddio_group_split(g, color, color == 1 ? -(int)p->rank : 0, &sub));
	if (p->rank == 4) {
		CU_ASSERT_PTR_NULL(sub);
	} else if (color) {
		CU_ASSERT_EQUAL(ddio_group_size(sub), 4);
		CU_ASSERT_EQUAL(ddio_group_rank(sub), 3 - p->rank / 2);
	} else {
		want = p->rank / 2 - (p->rank > 4);
		CU_ASSERT_EQUAL(ddio_group_size(sub), 4);
		CU_ASSERT_EQUAL(ddio_group_rank(sub), want);
	}
	if (sub) {
		CP_OK(p, ddio_group_barrier(sub));
		CP_OK(p, ddio_group_split(sub, (int)ddio_group_rank(sub), 0, &again));
		CU_ASSERT_EQUAL(ddio_group_size(again), 1);
		CP_OK(p, ddio_group_barrier(again));
	}
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(again);
	ddio_group_free(sub);
	ddio_group_free(g);
}

static void split_in_parts(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 9 });
	CU_ASSERT_EQUAL(cp_run(&w, splitting, NULL), 0);
	cp_world_end(&w);
}

/* A barrier holds every member until the last one has come. */
static void barrier_times(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint64_t *came = p->w->arg, k;
	uint32_t r;

	for (k = 0; k < 5; k++) {
		ddio_sim_sleep(p->env, ((p->rank + k) * 37 % 11) * 100 * CP_MS);
		came[p->rank] = k + 1;
		CP_OK(p, ddio_group_barrier(g));
		for (r = 0; r < p->w->p.procs; r++)
			CU_ASSERT(came[r] >= k + 1);
	}
	ddio_group_free(g);
}

static void barriers_hold(void)
{
	uint64_t came[CP_PROCS] = { 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 11 });
	CU_ASSERT_EQUAL(cp_run(&w, barrier_times, came), 0);
	cp_world_end(&w);
}

/*
 * Not coming together
 */
static void bad_meet(struct cp_proc *p)
{
	const uint32_t *how = p->w->arg;
	struct ddio_group *g = NULL;
	uint32_t rank = p->rank, size = p->w->p.procs;

	if (*how == 1 && rank == 3)
		rank = 2;
	if (*how == 2 && rank == 3)
		size = 5;
	if ((*how == 3 && rank == 2) || (*how == 4 && !rank))
		return;
	cp_note(p, ddio_group_create(p->session, rank, size, "127.0.0.1:9000", &g));
	CU_ASSERT_PTR_NULL(g);
}

static void wrong_ranks_and_sizes(void)
{
	static const char *const texts[] = { "", "two members claim rank 2",
					     "rank 3 says the group has 5 members, rank 0 4",
					     "did not come: 2", "127.0.0.1:9000" };
	struct cp_world w;
	uint32_t how, r;

	for (how = 1; how <= 4; how++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 4, .timeout_ms = 2000 });
		CU_ASSERT_EQUAL(cp_run(&w, bad_meet, &how), 0);
		for (r = how == 4 ? 1 : 0; r < 4; r++) {
			if (how == 3 && r == 2)
				continue;
			CU_ASSERT_NOT_EQUAL(w.proc[r].ret, 0);
			CU_ASSERT_PTR_NOT_NULL(strstr(w.proc[r].text, texts[how]));
			if (!strstr(w.proc[r].text, texts[how]))
				fprintf(stderr, "how %u rank %u: %s\n", how, r, w.proc[r].text);
		}
		CU_ASSERT(ddio_sim_elapsed(w.dw) < 10 * CP_SEC);
		cp_world_end(&w);
	}
}

/* Another thread of the program wants a group of its own meanwhile. */
static void second_meeting(void *arg)
{
	struct cp_proc *p = arg;
	struct ddio_group *g = NULL;

	ddio_sim_sleep(p->env, 10 * CP_MS);
	CU_ASSERT_EQUAL(ddio_group_create(p->session, 0, 2, "127.0.0.1:9001", &g), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "another group"));
	CU_ASSERT_PTR_NULL(g);
}

static void first_meeting(struct cp_proc *p)
{
	struct ddio_group *g = NULL;

	if (!p->rank)
		ddio_sim_spawn(p->env, second_meeting, p);
	else
		ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_group_create(p->session, p->rank, 2, "127.0.0.1:9000", &g));
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
	/* The next one may meet now. */
	CP_OK(p, ddio_group_create(p->session, p->rank, 2, "127.0.0.1:9001", &g));
	ddio_group_free(g);
}

static void one_meeting_at_a_time(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2 });
	CU_ASSERT_EQUAL(cp_run(&w, first_meeting, NULL), 0);
	cp_world_end(&w);
}

static void not_without_key(struct cp_proc *p)
{
	struct ddio_group *g = NULL;

	CU_ASSERT_EQUAL(ddio_group_create(p->session, 0, 2, "10.0.0.1:9000", &g), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "without a key"));
	CU_ASSERT_EQUAL(ddio_group_create(p->session, 2, 2, "127.0.0.1:9000", &g), -EINVAL);
	CU_ASSERT_EQUAL(ddio_group_create(p->session, 0, 0, "127.0.0.1:9000", &g), -EINVAL);
	CU_ASSERT_EQUAL(ddio_group_create(p->session, 0, 2, NULL, &g), -EINVAL);
}

static void no_key_no_network(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, not_without_key, NULL), 0);
	cp_world_end(&w);
}

/*
 * Agreement
 */
struct odd_one {
	uint32_t rank;
	int what;
};

static struct ddio_array plain = { .elem_size = 8,
				   .ndims = 1,
				   .dim = { { .size = 1024, .dist = DDIO_CYCLIC } } };

/* Does what the odd member does instead. */
static int odd_call(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		    struct ddio_file *other, int what)
{
	struct ddio_array array = plain;
	struct ddio_extent one = { 0, 8 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	uint8_t buf[16384];
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };

	array.dim[0].procs = p->w->p.procs;
	switch (what) {
	case 0:
		return ddio_group_barrier(g);
	case 1:
		return ddio_write_all(f, g, &t);
	case 2:
		return ddio_read_all(other, g, &t);
	case 3:
		t.method = DDIO_METHOD_TC;
		return ddio_read_all(f, g, &t);
	case 4:
		t.flags = DDIO_XFER_ROTATE;
		return ddio_read_all(f, g, &t);
	case 5:
		part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &one };
		return ddio_read_all(f, g, &t);
	case 6:
		array.dim[0].k = 2;
		return ddio_read_all(f, g, &t);
	case 7:
		array.elem_size = 4;
		return ddio_read_all(f, g, &t);
	case 8:
		part.kind = 77;
		return ddio_read_all(f, g, &t);
	case 9:
		t.buf = NULL;
		return ddio_read_all(f, g, &t);
	case 10:
		t.struct_size--;
		return ddio_read_all(f, g, &t);
	case 11:
		return ddio_open_all(g, "other", 0, NULL, &other);
	case 12:
		return ddio_group_split(g, 1, 1, &g);
	default:
		return ddio_read_all(f, g, &t);
	}
}

enum { ODD_CALLS = 13 };

static const struct {
	int err;
	const char *text;
} odd_results[ODD_CALLS] = {
	{ -EBADE, "a barrier" },
	{ -EBADE, "writes" },
	{ -EBADE, "means file" },
	{ -EBADE, "asks for method" },
	{ -EBADE, "flags" },
	{ -EBADE, "a list" },
	{ -EBADE, "dimension 0 of the array" },
	{ -EBADE, "elements have" },
	{ -EINVAL, "unknown kind 77" },
	{ -EINVAL, "buf is NULL" },
	{ -EINVAL, "struct_size" },
	{ -EBADE, "a collective open" },
	{ -EBADE, "a split" },
};

static void disagree(struct cp_proc *p)
{
	struct odd_one *odd = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *other = NULL;
	struct ddio_file_stat st;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_open_all(g, "other", DDIO_CREATE, NULL, &other));
	CP_OK(p, ddio_set_size(f, 8192));
	CP_OK(p, ddio_group_barrier(g));
	cp_note(p, odd_call(p, g, f, other, p->rank == odd->rank ? odd->what : -1));
	CU_ASSERT_EQUAL(p->ret, odd_results[odd->what].err);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, odd_results[odd->what].text));
	if (!strstr(p->text, odd_results[odd->what].text))
		fprintf(stderr, "what %d, odd %u, rank %u: %d %s\n", odd->what, odd->rank, p->rank,
			p->ret, p->text);
	/* The group has learnt from it. */
	CU_ASSERT_EQUAL(odd_call(p, g, f, other, -1), 0);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_fstat(f, &st));
	ddio_close(f);
	ddio_close(other);
	ddio_group_free(g);
}

static void everybody_hears_of_a_mismatch(void)
{
	static const uint32_t ranks[] = { 0, 1, 3, 4, 6 };
	struct odd_one odd;
	struct cp_world w;
	size_t i;
	uint32_t r;

	for (odd.what = 0; odd.what < ODD_CALLS; odd.what++)
		for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
			odd.rank = ranks[i];
			cp_world_begin(&w, &(struct cp_params){ .procs = 7 });
			CU_ASSERT_EQUAL(cp_run(&w, disagree, &odd), 0);
			for (r = 1; r < 7; r++)
				CU_ASSERT_STRING_EQUAL(w.proc[r].text, w.proc[0].text);
			CU_ASSERT(ddio_sim_elapsed(w.dw) < CP_SEC);
			cp_world_end(&w);
		}
}

/*
 * Somebody does not come
 */
struct absent {
	uint64_t mask; /* of ranks */
	bool late;     /* they come in the end */
};

static void miss(struct cp_proc *p)
{
	const struct absent *a = p->w->arg;
	struct ddio_group *g = cp_group(p);
	bool away = a->mask >> p->rank & 1;

	CP_OK(p, ddio_group_barrier(g));
	if (away)
		ddio_sim_sleep(p->env, 20 * CP_SEC);
	else
		ddio_sim_sleep(p->env, p->rank % 3 * 50 * CP_MS);
	if (!away || a->late) {
		cp_note(p, ddio_group_barrier(g));
		CU_ASSERT_EQUAL(p->ret, -ETIMEDOUT);
	}
	/* Afterwards all is well again. */
	if (a->late) {
		if (!away)
			ddio_sim_sleep(p->env, 19 * CP_SEC);
		CP_OK(p, ddio_group_barrier(g));
		p->ret = -ETIMEDOUT;
	}
	ddio_group_free(g);
}

static void missing_names(uint64_t mask, char *text, size_t len)
{
	uint32_t r, n = 0;
	int at = 0;

	for (r = 0; r < 64; r++)
		n += mask >> r & 1;
	at = snprintf(text, len, n == 1 ? "rank" : "ranks");
	for (r = 0, n = 0; r < 64; r++)
		if (mask >> r & 1)
			at += snprintf(text + at, len - at, "%s%u", n++ ? ", " : " ", r);
	snprintf(text + at, len - at, " of 8 did not come to a barrier within 3 s");
}

static void missing_are_named(void)
{
	static const uint64_t masks[] = { 1, 2, 4, 8, 0x10, 0x80, 0x81, 0x6, 0xfe, 0x7f, 0x55 };
	struct absent a = { .late = false };
	char want[200];
	struct cp_world w;
	size_t i;
	uint32_t r;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		a.mask = masks[i];
		cp_world_begin(&w, &(struct cp_params){ .procs = 8, .timeout_ms = 3000 });
		CU_ASSERT_EQUAL(cp_run(&w, miss, &a), 0);
		missing_names(masks[i], want, sizeof(want));
		for (r = 0; r < 8; r++) {
			if (masks[i] >> r & 1)
				continue;
			CU_ASSERT_EQUAL(w.proc[r].ret, -ETIMEDOUT);
			CU_ASSERT_STRING_EQUAL(w.proc[r].text, want);
		}
		cp_world_end(&w);
	}
}

static void late_ones_hear_too(void)
{
	static const uint64_t masks[] = { 1, 2, 0x10, 0x80, 0x81, 0x6, 0xfe, 0x7f };
	struct absent a = { .late = true };
	struct cp_world w;
	size_t i;
	uint32_t r;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		a.mask = masks[i];
		cp_world_begin(&w, &(struct cp_params){ .procs = 8, .timeout_ms = 3000 });
		CU_ASSERT_EQUAL(cp_run(&w, miss, &a), 0);
		cp_world_end(&w);
		for (r = 0; r < 8; r++)
			CU_ASSERT_EQUAL(w.proc[r].ret, -ETIMEDOUT);
	}
}

/* Rank 0 falls silent somewhere on the way to the group; no member may wait for it for ever. */
struct silent {
	uint32_t rank;
	uint64_t at;
};

static void form_silent(struct cp_proc *p)
{
	const struct silent *s = p->w->arg;
	struct ddio_sim_link link;
	struct ddio_group *g = NULL;

	if (p->rank == s->rank) {
		ddio_sim_link_default(&link);
		link.stall_after = s->at;
		ddio_sim_set_link(p->env, &link);
	}
	cp_note(p, ddio_group_create(p->session, p->rank, p->w->p.procs, "127.0.0.1:9000", &g));
	ddio_group_free(g);
}

static void one_is_silent(void)
{
	struct cp_params cp = { .procs = 3, .timeout_ms = 1000 };
	struct silent s = { 0 };
	struct cp_world w;

	for (; s.rank < 2; s.rank++)
		for (s.at = 1; s.at < 4000; s.at += s.at < 1200 ? 30 : 200) {
			cp_world_begin(&w, &cp);
			CU_ASSERT_EQUAL(cp_run(&w, form_silent, &s), 0);
			CU_ASSERT(ddio_sim_elapsed(w.dw) < 10 * CP_SEC);
			/* Who did come hears the same: that all are there, or that somebody is not. */
			CU_ASSERT(!s.rank || !w.proc[2].ret == !w.proc[0].ret);
			cp_world_end(&w);
		}
}

static const struct ut_case forming[] = {
	{ "one is silent", one_is_silent },
	{ "at an address", at_an_address },
	{ "rank zero last", rank_zero_last },
	{ "by broadcast", by_broadcast },
	{ "split in parts", split_in_parts },
	{ "barriers hold", barriers_hold },
	{ "wrong ranks and sizes", wrong_ranks_and_sizes },
	{ "one meeting by address at a time", one_meeting_at_a_time },
	{ "two at a time by broadcast", two_at_a_time },
	{ "no key, no network", no_key_no_network },
	{ 0 },
};

static const struct ut_case agreeing[] = {
	{ "everybody hears of a mismatch", everybody_hears_of_a_mismatch },
	{ "the missing are named", missing_are_named },
	{ "late ones hear of it too", late_ones_hear_too },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "forming", forming },
						  { "agreeing", agreeing } };

	return ut_run("cp_group", suites, 2);
}
