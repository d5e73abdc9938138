// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounts that fall silent: when others get their locks, and that nobody gets a lock back that others may have had, whatever
 * name server it meets.
 */
#include "tests/unit/iop/server/server_world.h"

enum { SI_FILE = 100, SI_TIMEOUT = 2000 }; /* milliseconds, as server_world.h has it */

static uint32_t si_attach(struct sc *c, uint8_t id, uint32_t flags, bool *known)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = flags };
	struct ddio_msg_fs_attached out = { .known = false };
	uint32_t status = SC_CALL(c, FS_ATTACH, fs_attach, &x);

	if (!status)
		CU_ASSERT_EQUAL(ddio_get_fs_attached(c->data, c->len, &out), 0);
	*known = out.known;
	return status;
}

static struct sc *si_mount(struct sw *sw, uint8_t id)
{
	struct sc *c = sc_new(sw, 0);
	bool known;

	CU_ASSERT_EQUAL_FATAL(si_attach(c, id, DDIO_FS_ATTACH_TOLD, &known), DDIO_ST_OK);
	return c;
}

static uint32_t si_lock(struct sc *c, uint32_t type, uint32_t flags)
{
	struct ddio_msg_fs_lock x = {
		.ino = SI_FILE, .end = UINT64_MAX, .owner = 1, .pid = 5, .type = type, .flags = flags
	};

	return SC_CALL(c, FS_LOCK_SET, fs_lock, &x);
}

/* Waits until the mount has a lock that another one holds.  Returns how many milliseconds that took. */
static uint64_t si_wait(struct sc *c)
{
	struct ddio_msg_fs_lock x = { .ino = SI_FILE,
				      .id = 7,
				      .end = UINT64_MAX,
				      .owner = 1,
				      .type = DDIO_FS_LOCK_WRITE,
				      .flags = DDIO_FS_LOCK_WAIT };
	uint32_t asked = c->replies;
	uint64_t ms = 0;
	uint8_t buf[128];

	sc_send(c, DDIO_OP_FS_LOCK_SET, buf, (size_t)ddio_put_fs_lock(buf, sizeof(buf), &x), NULL,
		0);
	for (; c->replies == asked && ms < 100 * SI_TIMEOUT; ms += 10)
		sw_run(c->sw, 10 * MS);
	CU_ASSERT_EQUAL(c->replies, asked + 1);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	return ms;
}

/* One that says nothing while its connection stands loses its lock after the timeout, and is asked before. */
static void test_silent(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1), *b = si_mount(sw, 2);
	uint64_t ms;

	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	a->deaf = true;
	ms = si_wait(b);
	CU_ASSERT(ms >= SI_TIMEOUT && ms <= SI_TIMEOUT + SI_TIMEOUT / 2);
	CU_ASSERT(a->pings && a->closed);
	sc_free(a);
	sc_free(b);
	sw_free(sw);
}

/* One that answers keeps it, and one that has nothing is not asked. */
static void test_quiet(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1), *b = si_mount(sw, 2);

	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	sw_run(sw, 20ull * SI_TIMEOUT * MS);
	CU_ASSERT(a->pings >= 20 && !a->closed);
	CU_ASSERT(!b->pings && !b->closed);
	CU_ASSERT_EQUAL(si_lock(b, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_AGAIN);
	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_NONE, 0), DDIO_ST_OK);
	sw_run(sw, 2ull * SI_TIMEOUT * MS);
	a->deaf = true;
	a->pings = 0;
	sw_run(sw, 20ull * SI_TIMEOUT * MS);
	CU_ASSERT(!a->pings && !a->closed);
	sc_free(a);
	sc_free(b);
	sw_free(sw);
}

/* Connects a mount anew, which tells its lock again.  Returns the answer. */
static uint32_t si_again(struct sw *sw, uint8_t id)
{
	struct sc *c = sc_new(sw, 0);
	uint32_t status;
	bool known;

	CU_ASSERT_EQUAL_FATAL(si_attach(c, id, 0, &known), DDIO_ST_OK);
	CU_ASSERT_FALSE(known);
	status = si_lock(c, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_AGAIN);
	sc_free(c);
	return status;
}

static void si_restart(struct sw *sw)
{
	int i;

	ddio_iop_stop(sw->iop);
	for (i = 0; i < 100 && !sw->stopped; i++)
		sw_run(sw, 100 * MS);
	CU_ASSERT_EQUAL_FATAL(sw->stopped, 1);
	sw->stopped = 0;
	ddio_iop_free(sw->iop);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
}

/*
 * A mount was silent, another one has had its lock, and unlocked.  The first gets nothing back when it tells the lock again: by
 * the same name server, and by one that was @restarts times restarted meanwhile.
 */
static void lost(int restarts)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1), *b = si_mount(sw, 2);

	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	a->deaf = true;
	si_wait(b);
	CU_ASSERT_EQUAL(si_lock(b, DDIO_FS_LOCK_NONE, 0), DDIO_ST_OK);
	sc_free(a);
	sc_free(b);
	while (restarts--)
		si_restart(sw);
	CU_ASSERT_EQUAL(si_again(sw, 1), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(si_again(sw, 3), DDIO_ST_STALE);
	sw_free(sw);
}

static void test_lost(void)
{
	lost(0);
	lost(1);
	lost(2);
}

/* One that was there when the name server ended gets its lock back, and only within the grace. */
static void test_kept(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1);

	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	sc_free(a);
	si_restart(sw);
	CU_ASSERT_EQUAL(si_again(sw, 1), DDIO_ST_OK);
	si_restart(sw);
	sw_run(sw, 3ull * SI_TIMEOUT * MS);
	CU_ASSERT_EQUAL(si_again(sw, 1), DDIO_ST_STALE);
	sw_free(sw);
}

/* Nobody is taken for silent by a name server that is ending, however long its disks take. */
static void test_slow_end(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1);
	uint64_t began = ddio_sim_elapsed(sw->world);

	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	ddio_sim_set_offload(sw->env[1], 4ull * SI_TIMEOUT * MS);
	si_restart(sw);
	CU_ASSERT(ddio_sim_elapsed(sw->world) - began > 2ull * SI_TIMEOUT * MS);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "silent for too long"), 0);
	sc_free(a);
	CU_ASSERT_EQUAL(si_again(sw, 1), DDIO_ST_OK);
	sw_free(sw);
}

/* One that has come back after it had lost its locks keeps those that it gets then. */
static void test_back(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = si_mount(sw, 1), *b = si_mount(sw, 2);
	struct ddio_msg_fs_make x = { .seq = { 1, 0 }, .parent = DDIO_FS_ROOT, .name = "f" };
	bool known;

	/* What it was answered to this is kept, and with that its record. */
	x.mode = S_IFREG | 0666;
	CU_ASSERT_EQUAL(SC_CALL(a, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	a->deaf = true;
	si_wait(b);
	CU_ASSERT_EQUAL(si_lock(b, DDIO_FS_LOCK_NONE, 0), DDIO_ST_OK);
	sc_free(a);
	a = sc_new(sw, 0);
	CU_ASSERT_EQUAL(si_attach(a, 1, 0, &known), DDIO_ST_OK);
	CU_ASSERT_FALSE(known);
	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_AGAIN), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(si_attach(a, 1, DDIO_FS_ATTACH_TOLD, &known), DDIO_ST_OK);
	CU_ASSERT_EQUAL(si_lock(a, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	sc_free(a);
	sc_free(b);
	si_restart(sw);
	CU_ASSERT_EQUAL(si_again(sw, 1), DDIO_ST_OK);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "others get the locks after the timeout", test_silent },
	{ "who answers, or has nothing, stays", test_quiet },
	{ "a lock that others have had is not given back", test_lost },
	{ "a lock of before a restart is given back", test_kept },
	{ "a name server that ends slowly takes nobody's locks", test_slow_end },
	{ "a mount that has come back keeps its new locks", test_back },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "silent mounts", cases } };

	return ut_run("iop_server_silent", suites, 1);
}
