// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast scrubs of the papers' disks are, and what they cost those who use the disks, in virtual time.  DDIO_FIGURES=1 prints
 * the figures.
 */
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 8192, BLOCKS = 1000, PROCS = 4, DISKS = 2, LOOKS = 40 };

#define BYTES ((uint64_t)BLOCK * BLOCKS)

static struct ddio_scrub_state said[DISKS];
static double peak;

static int keep(void *arg, const struct ddio_scrub_state *st)
{
	said[st->disk] = *st;
	*(uint32_t *)arg += st->running != 0;
	return 0;
}

static uint32_t ask(struct cp_proc *p, int action, uint64_t rate)
{
	uint32_t running = 0;

	CP_OK(p, ddio_scrub(p->session, action, rate, keep, &running));
	return running;
}

static int keep_peak(void *arg, const struct ddio_disk_state *st)
{
	(void)arg;
	peak = (double)st->peak;
	return 0;
}

static void say(const char *what, double figure)
{
	if (getenv("DDIO_FIGURES"))
		printf("# %s: %.3f\n", what, figure);
}

static void make(struct cp_proc *p)
{
	static const char *const names[] = { "cold", "hot" };
	uint8_t *data = malloc(BYTES);
	struct ddio_file *f = NULL;
	uint64_t i, k;

	for (i = 0; i < BYTES; i++)
		data[i] = cp_byte(3, i);
	for (k = 0; k < 2; k++) {
		CP_OK(p, ddio_open(p->session, names[k], DDIO_CREATE, NULL, &f));
		CU_ASSERT_EQUAL(ddio_pwrite(f, data, BYTES, 0), (ssize_t)BYTES);
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_drop_cache(f));
		ddio_close(f);
	}
	free(data);
	CP_OK(p, ddio_disks(p->session, keep_peak, NULL));
}

static double rate_of(const struct ddio_scrub_state *st)
{
	return (double)st->done * 1e9 / (double)(st->ended - st->begun);
}

static void alone(struct cp_proc *p)
{
	uint32_t i;

	make(p);
	ask(p, DDIO_SCRUB_START, 0);
	while (ask(p, DDIO_SCRUB_LOOK, 0))
		ddio_sim_sleep(p->env, 100 * CP_MS);
	for (i = 0; i < DISKS; i++) {
		CU_ASSERT_EQUAL(said[i].done, 2 * BYTES / DISKS);
		CU_ASSERT(rate_of(&said[i]) > 0.8 * peak);
		say("scrub alone, part of the disk's rate", rate_of(&said[i]) / peak);
	}
	ask(p, DDIO_SCRUB_START, 100000);
	while (ask(p, DDIO_SCRUB_LOOK, 0))
		ddio_sim_sleep(p->env, 100 * CP_MS);
	CU_ASSERT(rate_of(&said[0]) < 101000 && rate_of(&said[0]) > 95000);
}

static void test_alone(void)
{
	const struct cp_params params = { .procs = 1,
					  .disks = DISKS,
					  .nodes = 1,
					  .block = BLOCK,
					  .engine = "hp97560",
					  .disk_size = "64M" };
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, alone, NULL), 0);
	cp_world_end(&w);
}

/**
 * struct scrub_beside - what the disks are used for
 * @method: DDIO_METHOD_*; @scattered: each process reads blocks in no order
 * @took: time of all reads, without a scrub and with one
 */
struct scrub_beside {
	uint32_t method;
	bool scattered, scrubbed;
	uint64_t took[2];
};

static void read_all(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint8_t *buf)
{
	const struct scrub_beside *use = p->w->arg;
	struct ddio_array array = {
		.elem_size = BLOCK,
		.ndims = 1,
		.dim = { { .size = BLOCKS, .dist = DDIO_CYCLIC, .procs = PROCS, .k = 1 } }
	};
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .method = use->method, .part = &part, .buf = buf
	};

	CP_OK(p, ddio_read_all(f, g, &t));
}

static void read_scattered(struct cp_proc *p, struct ddio_file *f, uint8_t *buf)
{
	uint64_t i;

	for (i = 0; i < BLOCKS / PROCS; i++)
		CU_ASSERT_EQUAL(ddio_pread(f, buf, BLOCK,
					   (i * 379 + p->rank * 101) % BLOCKS * BLOCK),
				BLOCK);
}

static void use_it(struct cp_proc *p)
{
	struct scrub_beside *use = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint8_t *buf = malloc(BYTES);
	uint64_t began;
	int i;

	CP_OK(p, ddio_open_all(g, "hot", 0, NULL, &f));
	if (use->scrubbed && !p->rank)
		CU_ASSERT_EQUAL(ask(p, DDIO_SCRUB_START, 0), DISKS);
	CP_OK(p, ddio_group_barrier(g));
	began = ddio_env_now(p->env);
	for (i = 0; i < 3; i++) {
		if (use->scattered)
			read_scattered(p, f, buf);
		else
			read_all(p, g, f, buf);
		if (!p->rank)
			CP_OK(p, ddio_drop_cache(f));
		CP_OK(p, ddio_group_barrier(g));
	}
	if (!p->rank)
		use->took[use->scrubbed] = ddio_env_now(p->env) - began;
	if (use->scrubbed && !p->rank) {
		CU_ASSERT_EQUAL(ask(p, DDIO_SCRUB_STOP, 0), 0);
		CU_ASSERT(said[0].done > 0);
	}
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

static void cost(struct scrub_beside *use, const char *what)
{
	const struct cp_params params = { .procs = PROCS,
					  .disks = DISKS,
					  .nodes = 1,
					  .block = BLOCK,
					  .engine = "hp97560",
					  .disk_size = "64M" };
	struct cp_world w;
	int i;

	for (i = 0; i < 2; i++) {
		cp_world_begin(&w, &params);
		w.p.procs = 1;
		CU_ASSERT_EQUAL(cp_run(&w, make, NULL), 0);
		w.p.procs = PROCS;
		use->scrubbed = i;
		CU_ASSERT_EQUAL(cp_run(&w, use_it, use), 0);
		cp_world_end(&w);
	}
	say(what, (double)use->took[1] / (double)use->took[0]);
	CU_ASSERT((double)use->took[1] <= 1.1 * (double)use->took[0]);
}

static void test_dds(void)
{
	struct scrub_beside use = { .method = DDIO_METHOD_DDS };

	cost(&use, "disk-directed reads beside a scrub, times as long");
}

static void test_tc(void)
{
	struct scrub_beside use = { .method = DDIO_METHOD_TC };

	cost(&use, "reads through the cache beside a scrub, times as long");
}

static void test_scattered(void)
{
	struct scrub_beside use = { .scattered = true };

	cost(&use, "scattered reads beside a scrub, times as long");
}

static const struct ut_case cases[] = {
	{ "alone, and at a rate", test_alone },
	{ "beside disk-directed reads", test_dds },
	{ "beside reads through the cache", test_tc },
	{ "beside scattered reads", test_scattered },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "pace", cases } };

	return ut_run("test_scrub_pace", suites, 1);
}
