// SPDX-License-Identifier: GPL-2.0-only
/* The emulated disk's time: exact in virtual time, never early in real time. */
#include <errno.h>
#include "hp97560.h"
#include "sim/sim.h"
#include "tests/unit/env/env_rig.h"

/* Disks of a world in virtual time, and the model beside them. */
#define HP_REQS 200
#define HP_DISKS 3

struct hp_twin {
	struct ddio_env *env;
	struct ddio_disk_req reqs[HP_REQS];
	unsigned int n, disordered;
	uint64_t last;
};

static void hp_twin_done(struct ddio_disk_req *req)
{
	struct hp_twin *t = req->arg;

	t->disordered += req->done_ns < t->last;
	t->last = req->done_ns;
	t->n++;
}

/* Bursts with pauses; the engine must tell the very nanosecond that the model does. */
static void hp_twin_check(const char *bus, const char *options, double scale)
{
	struct ddio_sim *world = ddio_sim_new(3);
	struct hp_twin t[HP_DISKS] = { 0 };
	struct ddio_env *env = ddio_sim_env(world, "one");
	struct ddio_disk *disks[HP_DISKS];
	struct hp97560_disk models[HP_DISKS];
	struct ddio_disk_spec spec = { .engine = "hp97560", .bus = bus, .options = options };
	struct hp97560_params params;
	struct hp97560_bus model_bus;
	struct hp97560_result result;
	struct ddio_disk_req *req;
	uint64_t seed = 11, origin = ddio_env_now(env), expect, wrong = 0;
	static uint8_t buf[65536];
	char err[200], name[16];
	int i, d;

	hp97560_params_default(&params);
	hp97560_bus_init(&model_bus);
	for (d = 0; d < HP_DISKS; d++) {
		snprintf(name, sizeof(name), "d%d", d);
		spec.name = name;
		CU_ASSERT_EQUAL_FATAL(ddio_disk_open(env, &spec, &disks[d], err, sizeof(err)), 0);
		hp97560_init(&models[d], &params, bus ? &model_bus : NULL);
	}
	for (i = 0; i < HP_REQS * HP_DISKS; i++) {
		d = i % HP_DISKS;
		req = &t[d].reqs[i / HP_DISKS];
		req->op = rnd(&seed) % 2 ? DDIO_DISK_READ : DDIO_DISK_WRITE;
		req->op = rnd(&seed) % 16 ? req->op : DDIO_DISK_FLUSH;
		req->len = req->op == DDIO_DISK_FLUSH ? 0 : (1 + rnd(&seed) % 32) * 512;
		req->offset = rnd(&seed) % 100000 * 512;
		req->buf = buf;
		req->done = hp_twin_done;
		req->arg = &t[d];
		ddio_disk_submit(disks[d], req);
		hp97560_submit(&models[d], (enum hp97560_op)req->op, req->offset / 512,
			       req->len / 512, (uint64_t)((ddio_env_now(env) - origin) / scale),
			       &result);
		req->priv[2] = result.done_ns; /* the engine leaves this one alone */
		if (rnd(&seed) % 4 == 0)
			ddio_sim_run_for(world, rnd(&seed) % (100 * MS));
	}
	ddio_sim_run_for(world, 1000000 * MS);
	for (d = 0; d < HP_DISKS; d++) {
		CU_ASSERT_EQUAL(t[d].n, HP_REQS);
		CU_ASSERT_EQUAL(t[d].disordered, 0);
		for (i = 0; i < HP_REQS; i++) {
			expect = origin + (uint64_t)((long double)t[d].reqs[i].priv[2] * scale);
			wrong += t[d].reqs[i].done_ns != expect || t[d].reqs[i].status;
		}
		ddio_disk_close(disks[d]);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	ddio_sim_free(world);
}

static void test_hp97560_times(void)
{
	hp_twin_check(NULL, NULL, 1);
	hp_twin_check("bus0", NULL, 1);
	hp_twin_check("bus0", "time_scale=0.25", 0.25);
}

static void test_hp97560_bus(void)
{
	struct ddio_disk_spec spec = {
		.name = "first", .engine = "hp97560", .bus = "b", .options = "time_scale=0.5"
	};
	struct env_rig rig;

	rig_begin(&rig);
	rig_open(&rig, &spec);
	spec.name = "bad-one";
	spec.options = "time_scale=1";
	expect_refusal(&rig, &spec, -EINVAL,
		       "time_scale is 1, but 0.5 on the other disks of bus b");
	rig_end(&rig);
}

/* How long one request for 8 KB takes of a drive with the options. */
static uint64_t alone_ns(const char *options, enum ddio_disk_op op)
{
	struct ddio_disk_spec spec = { .name = "h", .engine = "hp97560", .options = options };
	struct ddio_sim *world = ddio_sim_new(3);
	struct ddio_env *env = ddio_sim_env(world, "one");
	struct ddio_disk *disk;
	struct hp_twin t = { 0 };
	static uint8_t buf[8192];
	char err[200];

	CU_ASSERT_EQUAL_FATAL(ddio_disk_open(env, &spec, &disk, err, sizeof(err)), 0);
	t.reqs[0] = (struct ddio_disk_req){ .op = op,
					    .offset = 512000,
					    .len = sizeof(buf),
					    .buf = buf,
					    .done = hp_twin_done,
					    .arg = &t };
	ddio_disk_submit(disk, &t.reqs[0]);
	ddio_sim_run_for(world, 1000 * MS);
	ddio_disk_close(disk);
	ddio_sim_free(world);
	return t.reqs[0].done_ns - t.reqs[0].submit_ns;
}

/* A slow drive's single command takes so many times as long. */
static void test_hp97560_slow(void)
{
	CU_ASSERT_EQUAL(alone_ns("slow=5", DDIO_DISK_READ), 5 * alone_ns(NULL, DDIO_DISK_READ));
}

/* What announces a read has the bus first: the data wait if it is long, and only then.  Writes are not announced. */
static void test_hp97560_announce(void)
{
	const uint64_t read = alone_ns(NULL, DDIO_DISK_READ);

	CU_ASSERT_EQUAL(alone_ns("announce_us=100", DDIO_DISK_READ), read);
	CU_ASSERT(alone_ns("announce_us=100000", DDIO_DISK_READ) > 100 * MS);
	CU_ASSERT(alone_ns("announce_us=100000", DDIO_DISK_READ) < 100 * MS + read);
	CU_ASSERT_EQUAL(alone_ns("announce_us=100000", DDIO_DISK_WRITE),
			alone_ns(NULL, DDIO_DISK_WRITE));
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * In real time a request never ends before the model says.  A busy machine makes many late, the engine would
 * make all late: so the least late of a hundred tells what the engine adds.
 */
static void test_hp97560_real_time(void)
{
	struct ddio_disk_spec spec = { .name = "h",
				       .engine = "hp97560",
				       .options = "time_scale=0.1" };
	struct ddio_disk_req reqs[100] = { 0 };
	uint64_t late[100], seed = 5;
	static uint8_t buf[8192];
	struct env_rig rig;
	int i;

	rig_begin(&rig);
	rig_open(&rig, &spec);
	CU_ASSERT_EQUAL(ddio_disk_info(rig.disk)->time_scale, 0.1);
	CU_ASSERT(ddio_disk_info(rig.disk)->peak > 2000000);
	CU_ASSERT(ddio_disk_info(rig.disk)->peak < 2300000);
	for (i = 0; i < 100; i++) {
		reqs[i].offset = rnd(&seed) % 100000 * 8192;
		reqs[i].len = 8192;
		reqs[i].buf = buf;
		rig_submit(&rig, &reqs[i]);
	}
	rig_wait(&rig, true);
	for (i = 0; i < 100; i++) {
		CU_ASSERT_PTR_EQUAL(rig.order[i], &reqs[i]);
		CU_ASSERT(reqs[i].done_ns >= reqs[i].priv[0]); /* the engine's note of its end */
		late[i] = reqs[i].done_ns - reqs[i].priv[0];
	}
	qsort(late, 100, sizeof(late[0]), compare_u64);
	printf("(late by %.0f us in the median, %.0f at worst) ", late[50] / 1e3, late[99] / 1e3);
	CU_ASSERT(late[0] < MS);
	rig_end(&rig);
}

static const struct ut_case cases[] = {
	{ "hp97560 ends requests when the model does", test_hp97560_times },
	{ "a bus has one time scale", test_hp97560_bus },
	{ "a slow drive", test_hp97560_slow },
	{ "a read is announced", test_hp97560_announce },
	{ "hp97560 in real time", test_hp97560_real_time },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_hp97560", cases } };

	return ut_run("env_hp97560", suites, 1);
}
