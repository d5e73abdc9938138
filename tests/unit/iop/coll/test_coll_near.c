// SPDX-License-Identifier: GPL-2.0-only
/* Block lists by shortest access time: every block once, each the soonest of those left. */
#include <stdlib.h>
#include <string.h>
#include "iop/coll/priv.h"
#include "sim/sim.h"
#include "tests/unit/env/env_rig.h"

enum { SECTORS = 16, BLOCKS = 200, PLACES = 100000 };

struct near_rig {
	struct ddio_sim *sim;
	struct ddio_env *env;
	struct ddio_disk *disk;
	struct plan plan;
	uint64_t place[BLOCKS]; /* sector of each block, or a hole */
	bool seen[BLOCKS];
	uint8_t buf[SECTORS * 512];
	bool done;
};

static void near_open(struct near_rig *r, const char *engine)
{
	struct ddio_disk_spec spec = { .name = "d", .engine = engine, .size = 1000000000 };
	char err[200];

	memset(r, 0, sizeof(*r));
	r->sim = ddio_sim_new(1);
	r->env = ddio_sim_env(r->sim, "one");
	CU_ASSERT_EQUAL_FATAL(ddio_disk_open(r->env, &spec, &r->disk, err, sizeof(err)), 0);
	r->plan.sectors = SECTORS;
}

static void near_close(struct near_rig *r)
{
	plan_free(&r->plan);
	ddio_disk_close(r->disk);
	ddio_sim_free(r->sim);
}

/* Pieces of 1 to 4 neighbours at random places, and some holes. */
static void near_list(struct near_rig *r, uint64_t *seed)
{
	uint64_t i = 0, n, k, at;

	while (i < BLOCKS) {
		n = 1 + rnd(seed) % 4;
		n = n < BLOCKS - i ? n : BLOCKS - i;
		at = rnd(seed) % 20 ? (i + rnd(seed) % PLACES * 8) * SECTORS : SPAN_HOLE;
		CU_ASSERT_EQUAL(
			plan_add(&r->plan, &(struct plan_blocks){ .block = i, n, at, false }), 0);
		for (k = 0; k < n; k++)
			r->place[i + k] = at == SPAN_HOLE ? at : at + k * SECTORS;
		i += n;
	}
	plan_sort(&r->plan);
	plan_rotate(&r->plan, 0);
}

static void read_done(struct ddio_disk_req *req)
{
	*(bool *)req->arg = true;
}

static void near_read(struct near_rig *r, uint64_t sector)
{
	struct ddio_disk_req req = { .op = DDIO_DISK_READ,
				     .offset = sector * 512,
				     .len = sizeof(r->buf),
				     .buf = r->buf,
				     .done = read_done,
				     .arg = &r->done };

	r->done = false;
	ddio_disk_submit(r->disk, &req);
	ddio_disk_commit(r->disk);
	while (!r->done)
		ddio_sim_run_for(r->sim, MS / 10);
}

/* Only the first of each run of neighbours may come, so the choice is compared with those. */
static uint64_t soonest(const struct near_rig *r)
{
	uint64_t i, ns, best = UINT64_MAX;

	for (i = 0; i < BLOCKS; i++) {
		if (r->seen[i] || r->place[i] == SPAN_HOLE)
			continue;
		if (i && !r->seen[i - 1] && r->place[i - 1] + SECTORS == r->place[i])
			continue;
		ns = ddio_disk_access_ns(r->disk, r->place[i] * 512);
		best = ns < best ? ns : best;
	}
	return best;
}

static void test_soonest(void)
{
	uint64_t seed = 5, asked, n = 0, wrong = 0, expect;
	struct plan_blocks placed;
	struct near_rig r;

	near_open(&r, "hp97560");
	CU_ASSERT(ddio_disk_info(r.disk)->positions);
	near_list(&r, &seed);
	CU_ASSERT_EQUAL_FATAL(plan_near_begin(&r.plan), 0);
	for (;; n++) {
		expect = soonest(&r);
		if (!plan_next_near(&r.plan, r.disk, &placed, &asked))
			break;
		wrong += placed.block >= BLOCKS || r.seen[placed.block] || placed.count != 1 ||
			 placed.sector != r.place[placed.block] || !asked;
		r.seen[placed.block] = true;
		if (placed.sector == SPAN_HOLE) {
			wrong += expect != UINT64_MAX;
			continue;
		}
		wrong += ddio_disk_access_ns(r.disk, placed.sector * 512) != expect;
		near_read(&r, placed.sector);
	}
	CU_ASSERT_EQUAL(n, BLOCKS);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(r.plan.left, 0);
	near_close(&r);
}

/* The disk does what it has said, give or take the time that the block itself takes. */
static void test_access_time(void)
{
	uint64_t seed = 9, i, begin, said, took, spread, least = UINT64_MAX, most = 0;
	struct near_rig r;

	near_open(&r, "hp97560");
	for (i = 0; i < 100; i++) {
		uint64_t sector = rnd(&seed) % PLACES * SECTORS;

		ddio_sim_run_for(r.sim, rnd(&seed) % (30 * MS));
		said = ddio_disk_access_ns(r.disk, sector * 512);
		begin = ddio_env_now(r.env);
		near_read(&r, sector);
		took = ddio_env_now(r.env) - begin;
		CU_ASSERT(took > said);
		spread = took - said;
		least = spread < least ? spread : least;
		most = spread > most ? spread : most;
	}
	/* A block is on one track or on two, whose skew it waits for; the loop looks each 0.1 ms. */
	CU_ASSERT(most - least < 3 * MS);
	near_close(&r);
}

static void test_no_answer(void)
{
	struct near_rig r;

	near_open(&r, "mem");
	CU_ASSERT(!ddio_disk_info(r.disk)->positions);
	CU_ASSERT_EQUAL(ddio_disk_access_ns(r.disk, 0), UINT64_MAX);
	near_close(&r);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "each block once, the soonest first", test_soonest },
		{ "the time that a disk tells", test_access_time },
		{ "a disk that cannot tell", test_no_answer },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "shortest access time first", cases } };

	return ut_run("test_coll_near", suites, 1);
}
