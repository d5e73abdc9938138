// SPDX-License-Identifier: GPL-2.0-only
/* What others say of turns that a member has not come to, that are over, or that there are not: it keeps so much, and no more. */
#include "tests/unit/cp/group/cp_orders.h"

enum { TIMEOUT_MS = 3000, MANY = 4000 };

static void ahead_world(void (*fn)(struct cp_proc *p), uint64_t timeout_ms, void *arg)
{
	orders_run(fn, (struct cp_params){ .procs = 3, .timeout_ms = timeout_ms }, arg);
}

/* Rank 1 contributes to turns that there are not, or to more than rank 0 keeps of those: all hear of it. */
static void nonsense(struct cp_proc *p)
{
	static const struct {
		uint64_t key, place;
		unsigned int times, more;
		const char *why;
	} say[] = {
		{ 1, 1, 1, 0, NULL },
		{ 4, 1, 1, 0, "is lost" },
		{ ORDERS_MAX, 1, 1, 0, "is lost" },
		{ 2, 1, FANS_CLOSED_MAX, 0, NULL },
		{ 2, 1, FANS_CLOSED_MAX + 1, 0, "files that rank 0 has closed" },
		{ 1, FANS_AHEAD_MAX, 1, 0, NULL },
		{ 1, FANS_AHEAD_MAX + 1, 1, 0, "rank 0 is too far behind" },
		{ 1, 1, FANS_AHEAD_MAX / 2, FANS_AHEAD_MAX / 2, NULL },
		{ 1, 1, FANS_AHEAD_MAX / 2, FANS_AHEAD_MAX / 2 + 1, "rank 0 is too far behind" },
	};
	const uint64_t *which = p->w->arg;
	struct orders_say up = orders_up(say[*which].key, say[*which].place, say[*which].times);
	struct ddio_file *file[3] = { NULL };
	struct ddio_group *g = cp_group(p);

	orders_open(p, g, file, 3);
	ddio_close(file[1]);
	CP_OK(p, ddio_group_barrier(g));
	up.more = say[*which].more;
	orders_tell(p, g, up);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_check(g)) != 0, say[*which].why != NULL);
	if (say[*which].why)
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, say[*which].why));
	ddio_close(file[0]);
	ddio_close(file[2]);
	ddio_group_free(g);
}

static void nonsense_is_refused(void)
{
	uint64_t which;

	for (which = 0; which < 9; which++)
		ahead_world(nonsense, 60000, &which);
}

/* What rank 0 has heard of before it closes the file counts like what it hears of later, also if the bound is passed at once. */
static void closed_past_bound(struct cp_proc *p)
{
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = cp_group(p);

	orders_open(p, g, file, 2);
	ddio_close(file[1]);
	CP_OK(p, ddio_group_barrier(g));
	orders_tell(p, g, orders_up(2, 1, FANS_CLOSED_MAX - 1));
	orders_tell(p, g, orders_up(1, 1, 2));
	ddio_close(file[0]);
	CP_OK(p, ddio_group_check(g));
	orders_tell(p, g, orders_up(2, FANS_CLOSED_MAX, 1));
	CU_ASSERT_NOT_EQUAL(cp_note(p, ddio_group_check(g)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "files that rank 0 has closed"));
	ddio_group_free(g);
}

static void closed_bound(void)
{
	ahead_world(closed_past_bound, 60000, NULL);
}

/* Who closes a file looks at what others have begun in it, once, and at nothing else. */
static void closed_with_many(struct cp_proc *p)
{
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = cp_group(p);
	struct orders_say up = orders_up(1, 1, MANY);
	uint64_t before;

	orders_open(p, g, file, 2);
	CP_OK(p, ddio_group_barrier(g));
	up.more = MANY;
	orders_tell(p, g, up);
	orders_tell(p, g, orders_up(2, 1, MANY));
	before = g->looks;
	if (!p->rank)
		CU_ASSERT_EQUAL(g->nahead, 3 * MANY);
	ddio_close(file[0]);
	CU_ASSERT_EQUAL(g->looks - before, p->rank ? 0 : MANY);
	CU_ASSERT_EQUAL(g->nahead, p->rank ? 0 : 2 * MANY);
	ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_group_check(g));
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(file[1]);
	ddio_group_free(g);
}

static void closing_is_cheap(void)
{
	ahead_world(closed_with_many, 60000, NULL);
}

/*
 * A member whose answers take their time is given up; what it still says of steps that have failed without it is dropped, also if their file
 * was closed before that.  Each is looked up once.
 */
static void failed_then_closed(struct cp_proc *p)
{
	const struct ddio_sim_link far = { .latency_ns = 700 * CP_MS, .window = 1 << 20 };
	struct orders_say up = orders_up(1, 1, MANY);
	struct ddio_file *file = NULL;
	struct ddio_group *g = cp_group(p);
	uint64_t before;

	orders_open(p, g, &file, 1);
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank == 2)
		ddio_sim_set_link(p->env, &far);
	orders_tell(p, g, up);
	ddio_sim_sleep(p->env, (TIMEOUT_MS - 500) * CP_MS);
	before = g->looks;
	if (!p->rank)
		ddio_close(file);
	CU_ASSERT(g->looks - before <= 2 * MANY);
	before = g->looks;
	ddio_sim_sleep(p->env, CP_SEC + CP_SEC / 2);
	CU_ASSERT_EQUAL(g->looks - before, p->rank ? 0 : MANY);
	if (!p->rank)
		CU_ASSERT_TRUE(ddio_list_empty(&g->fans));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank)
		ddio_close(file);
	ddio_group_free(g);
}

static void failed_and_late(void)
{
	ahead_world(failed_then_closed, TIMEOUT_MS, NULL);
}

/* A member that says again and again that steps of a closed file have failed has others keep no more of them than so many. */
static void failed_for_ever(struct cp_proc *p)
{
	struct orders_say down = { .rank = 0,
				   .to = 2,
				   .opcode = DDIO_OP_FAN_OUT,
				   .status = DDIO_ST_TIMEOUT,
				   .number = (1ull << ORDER_PLACE_BITS) + 1,
				   .times = ENDED_MAX + MANY };
	struct ddio_file *file = NULL;
	struct ddio_group *g = cp_group(p);

	orders_open(p, g, &file, 1);
	CP_OK(p, ddio_group_barrier(g));
	ddio_close(file);
	orders_tell(p, g, down);
	if (p->rank == 2) {
		CU_ASSERT_EQUAL(g->nended, ENDED_MAX);
		CU_ASSERT_FALSE(ended_has(g, down.number * STEP_NUMBERS));
		CU_ASSERT_TRUE(ended_has(g, (down.number + MANY) * STEP_NUMBERS));
	}
	CP_OK(p, ddio_group_check(g));
	ddio_group_free(g);
}

static void failed_is_bounded(void)
{
	orders_run(failed_for_ever, (struct cp_params){ .procs = 4, .deep = true }, NULL);
}

/*
 * Bytes
 */
/* Why a step fails. */
enum { LITTLE = 100 };

/* Returns how many this member keeps of what was said of steps. */
static uint64_t kept(const struct ddio_group *g)
{
	const struct fan *fan;
	uint64_t bytes = 0;

	ddio_list_for_each_entry(fan, &g->fans, link)
		bytes += fan->compare_len + fan->gather_cap +
			 (fan->why ? strlen(fan->why->text) : 0);
	return bytes;
}

struct ahead_weight {
	uint64_t key;
	unsigned int times;
	size_t len;
	uint64_t bytes;
	bool broken;
	uint32_t status;
};

/* What a step may have in these tests: less than a message can bear, which would be very much. */
enum { MB = 1 << 20, STEP_MOST = MB };

/* Rank 1 says @times what rank 0 keeps: of steps that it may come to, and of none of a file that it has closed. */
static void heavy(struct cp_proc *p)
{
	const struct ahead_weight *w = p->w->arg;
	struct orders_say up = orders_up(w->key, 1, w->times);
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = cp_group(p);

	p->session->groups->step_most = STEP_MOST;
	orders_open(p, g, file, 2);
	ddio_close(file[1]);
	CP_OK(p, ddio_group_barrier(g));
	up.len = w->len;
	up.status = w->status;
	orders_tell(p, g, up);
	if (!p->rank && !w->broken)
		CU_ASSERT(kept(g) >= w->bytes && kept(g) <= 2 * w->bytes + LITTLE * g->nclosed);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_check(g)) != 0, w->broken);
	if (w->broken)
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "MB of"));
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(file[0]);
	CU_ASSERT(kept(g) <= LITTLE * g->nclosed);
	CU_ASSERT_EQUAL(g->ahead_bytes, 0);
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_group_free(g);
}

static void weight_is_bounded(void)
{
	/* Of three members, of the group's order and that of the open file, and once more. */
	enum { MOST = (3 * FANS_AHEAD_BYTES + 3 * STEP_MOST) / MB };
	static const struct ahead_weight how[] = {
		{ 1, 1, 8 * MB - 64, 8 * MB - 64, false, 0 },
		{ 1, 1, 16 * MB - 64, 0, true, 0 },
		{ 1, MOST, MB - 64, MOST * (MB - 64), false, 0 },
		{ 1, MOST + 1, MB - 64, 0, true, 0 },
		{ 1, 20 * MOST, MB - 64, 0, true, 0 },
		{ 2, 20 * MOST, MB - 64, 0, false, 0 },
		{ 1, FANS_AHEAD_MAX / 2, 0, FANS_AHEAD_MAX / 2 * (DDIO_MAX_TEXT - 1), false,
		  DDIO_ST_INVALID },
		{ 1, FANS_AHEAD_MAX, 0, 0, true, DDIO_ST_INVALID },
	};
	struct ahead_weight w;
	uint32_t k;

	CU_ASSERT(sizeof(struct fan) * FANS_AHEAD_MAX <= 12 * MB);
	for (k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
		w = how[k];
		ahead_world(heavy, 60000, &w);
	}
}

/* Of a step that has failed for all others nothing is kept but why. */
static void failed_and_heavy(struct cp_proc *p)
{
	struct orders_say up = orders_up(1, 1, 5);
	struct ddio_file *file = NULL;
	struct ddio_group *g = cp_group(p);
	uint32_t k;

	orders_open(p, g, &file, 1);
	CP_OK(p, ddio_group_barrier(g));
	up.len = (2 << 20) - 64;
	for (k = 0; k < 10; k++, up.number += up.times) {
		orders_tell(p, g, up);
		ddio_sim_sleep(p->env, 2 * TIMEOUT_MS * CP_MS);
		CU_ASSERT_EQUAL(g->nahead, (k + 1) * up.times);
		CU_ASSERT(kept(g) <= LITTLE * g->nahead);
	}
	CP_OK(p, ddio_group_check(g));
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(file);
	ddio_group_free(g);
}

static void failed_is_light(void)
{
	ahead_world(failed_and_heavy, TIMEOUT_MS, NULL);
}

/* Bytes of a file, other ones for each member's neighbours, whose description is long; the caller frees it. */
enum { PIECES = 24000 };

static struct ddio_extent *scattered(const struct cp_proc *p)
{
	struct ddio_extent *e = calloc(PIECES, sizeof(*e));
	uint64_t k;

	for (k = 0; k < PIECES; k++)
		e[k] = (struct ddio_extent){ k * 100000 + k * k % 49999 + 50000 * (p->rank & 1),
					     1 };
	return e;
}

/* Begins to read these; the description comes up whole, since they may overlap. */
static void scattered_begin(struct cp_proc *p, struct ddio_group *g, struct ddio_file *file,
			    const struct ddio_extent *e, struct orders_job *j)
{
	static uint8_t byte[PIECES];

	orders_list(p, j, byte, 0, 1);
	j->part.n = PIECES;
	j->part.list = e;
	j->t.flags |= DDIO_XFER_OVERLAP;
	CP_OK(p, ddio_start_read_all(file, g, &j->t, &j->op));
}

/* Members whose transfers are described at length are ahead of one that is late by less, so that it has room for all of it. */
static void long_lists(struct cp_proc *p)
{
	enum { LISTS = 16 };
	struct ddio_extent *e = scattered(p);
	struct orders_job j[LISTS];
	struct ddio_file *file = NULL;
	struct ddio_group *g = cp_group(p);
	uint64_t k;

	orders_open(p, g, &file, 1);
	if (!p->rank)
		ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < LISTS; k++)
		scattered_begin(p, g, file, e, &j[k]);
	if (p->rank) {
		ddio_sim_sleep(p->env, CP_SEC / 2);
		CU_ASSERT(g->lent_bytes >= TURNS_LENT_BYTES);
		CU_ASSERT(g->nlent > 1 && g->nlent < LISTS - 1);
	}
	for (k = 0; k < LISTS; k++)
		CU_ASSERT_EQUAL(ddio_wait(j[k].op), -ENODATA);
	CU_ASSERT_EQUAL(g->lent_bytes, 0);
	CU_ASSERT_EQUAL(g->ahead_bytes, 0);
	ddio_close(file);
	ddio_group_free(g);
	free(e);
}

static void long_is_lent_less(void)
{
	ahead_world(long_lists, 60000, NULL);
}

/*
 * What members begin in many files is said of each of them, however much it is altogether, and a member that comes late has room for that:
 * it is what each of them has said of one transfer.
 */
static void long_in_many(struct cp_proc *p)
{
	enum { FILES = 100 };
	struct ddio_extent *e = scattered(p);
	struct ddio_file *file[FILES] = { NULL };
	struct orders_job j[FILES];
	struct ddio_group *g = cp_group(p);
	uint64_t k;

	orders_open(p, g, file, FILES);
	if (!p->rank)
		ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < FILES; k++)
		scattered_begin(p, g, file[k], e, &j[k]);
	for (k = 0; k < FILES; k++)
		CU_ASSERT_EQUAL(cp_note(p, ddio_wait(j[k].op)), -ENODATA);
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(g->ahead_bytes, 0);
	orders_close(file, FILES);
	ddio_group_free(g);
	free(e);
}

static void long_is_kept(void)
{
	ahead_world(long_in_many, 60000, NULL);
}

/*
 * What has come before
 */
struct ahead_twice {
	bool down, strange;
	uint32_t status;
	bool broken;
};

/* What is said a second time of a step that is over, or of another group's, ends no other step and goes to no other; all can tell. */
static void said_twice(struct cp_proc *p)
{
	const struct ahead_twice *how = p->w->arg;
	struct orders_say say = orders_up(1, 2, 1);
	struct ddio_file *file = NULL;
	struct ddio_group *g = cp_group(p);
	static uint8_t buf[4096];
	struct orders_job j;
	uint32_t k;
	int ret;

	say.strange = how->strange;
	say.status = how->status;
	if (how->down) {
		say.opcode = DDIO_OP_FAN_OUT;
		say.rank = 0;
		say.to = 1;
	}
	orders_open(p, g, &file, 1);
	orders_list(p, &j, buf, 0, sizeof(buf));
	for (k = 0; k < 4; k++)
		CP_OK(p, ddio_write_all(file, g, &j.t));
	CP_OK(p, ddio_group_barrier(g));
	orders_tell(p, g, say);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_check(g)) != 0, how->broken);
	ret = cp_note(p, ddio_write_all(file, g, &j.t));
	CU_ASSERT_EQUAL(ret != 0, how->broken);
	ddio_sim_sleep(p->env, 3 * TIMEOUT_MS * CP_MS);
	ret = cp_note(p, ddio_write_all(file, g, &j.t));
	CU_ASSERT_EQUAL(ret != 0, how->broken);
	ddio_close(file);
	ddio_group_free(g);
}

static void twice(void)
{
	static const struct ahead_twice how[] = {
		{ false, false, 0, false }, { false, false, DDIO_ST_INVALID, false },
		{ true, false, 0, true },   { true, false, DDIO_ST_INVALID, false },
		{ false, true, 0, true },   { true, true, 0, true },
	};
	struct ahead_twice one;
	uint32_t k;

	for (k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
		one = how[k];
		ahead_world(said_twice, TIMEOUT_MS, &one);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "a member says nonsense", nonsense_is_refused },
		{ "a bound that is passed at once", closed_bound },
		{ "a file is closed, and much was begun in it", closing_is_cheap },
		{ "failed, closed, and then contributed to", failed_and_late },
		{ "failed without end", failed_is_bounded },
		{ "much is said of a step", weight_is_bounded },
		{ "failed steps of which much was said", failed_is_light },
		{ "long descriptions", long_is_lent_less },
		{ "long descriptions in many files", long_is_kept },
		{ "said twice, or of another group", twice },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "ahead in an order", cases } };

	return cp_ut_run("cp_order_ahead", suites, 1);
}
