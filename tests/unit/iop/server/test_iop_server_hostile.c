// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that have the key and take whatever they can get, at all reactors at once: others are served, nobody holds more
 * than the bounds say, and what they held comes back.
 */
#include <malloc.h>
#include <unistd.h>
#include "tests/unit/iop/server/server_world.h"

enum { HOSTILE = 32, LOCKS = 5000, WAITS = 1100, GROUPS = 4200, ASKS = 4000, ANSWER_MS = 100 };

static uint8_t message[256];

static size_t held(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void answered(struct sc *c, uint16_t opcode)
{
	uint32_t i, want = c->replies + 1;

	sc_send(c, opcode, NULL, 0, NULL, 0);
	for (i = 0; i < ANSWER_MS && c->replies < want; i++)
		sw_run(c->sw, MS);
	CU_ASSERT(c->replies == want && !c->status && !c->closed);
}

/* One client that asks at both reactors and reads at neither. */
static void at_all_reactors(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *deaf[SW_REACTORS], *good[SW_REACTORS];
	uint32_t r, i;

	for (r = 0; r < SW_REACTORS; r++) {
		deaf[r] = sc_new(sw, r);
		good[r] = sc_new(sw, r);
		ddio_conn_pause(deaf[r]->conn, true);
	}
	for (i = 0; i < ASKS; i++)
		for (r = 0; r < SW_REACTORS; r++)
			sc_send(deaf[r], DDIO_OP_STATUS, NULL, 0, NULL, 0);
	for (r = 0; r < SW_REACTORS; r++) {
		const struct bound *b = &sw->iop->reactors[r].bounds.at[BOUND_UNREAD];

		answered(good[r], DDIO_OP_PING);
		sw_run(sw, 1000 * MS);
		answered(good[r], DDIO_OP_STATUS);
		server_clients_unread(&sw->iop->reactors[r]);
		CU_ASSERT(b->now > b->limit / 4 && b->most < b->limit + (256u << 10));
		CU_ASSERT_EQUAL(b->hits, 1);
	}
	for (r = 0; r < SW_REACTORS; r++) {
		sc_free(deaf[r]);
		sc_free(good[r]);
	}
	sw_free(sw);
}

static void hostile_mount(struct sc *c, uint8_t id)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = DDIO_FS_ATTACH_TOLD };

	CU_ASSERT_EQUAL(SC_CALL(c, FS_ATTACH, fs_attach, &x), DDIO_ST_OK);
}

static void take_locks(struct sc *c, uint64_t ino, uint32_t n, bool wait, uint32_t owner)
{
	struct ddio_msg_fs_lock x = { .ino = ino, .type = DDIO_FS_LOCK_READ, .owner = owner };
	uint32_t i;

	for (i = 0; i < n; i++) {
		x.id = i + 1;
		x.start = x.end = wait ? 0 : 2 * i + 2;
		x.flags = wait ? DDIO_FS_LOCK_WAIT : 0;
		sc_send(c, DDIO_OP_FS_LOCK_SET, message,
			(size_t)ddio_put_fs_lock(message, sizeof(message), &x), NULL, 0);
		if (!(i % 100))
			sw_run(c->sw, MS);
	}
	sw_run(c->sw, 20 * MS);
}

static void join_groups(struct sc *c, uint32_t salt, uint32_t size, uint32_t n)
{
	struct ddio_msg_attach x = { .size = size };
	uint32_t i;

	for (i = 0; i < n; i++) {
		memcpy(x.group, &i, sizeof(i));
		memcpy(x.group + 4, &salt, sizeof(salt));
		x.group[8] = 1;
		sc_send(c, DDIO_OP_ATTACH, message,
			(size_t)ddio_put_attach(message, sizeof(message), &x), NULL, 0);
		if (!(i % 100))
			sw_run(c->sw, MS);
	}
	sw_run(c->sw, 20 * MS);
}

/* Each takes locks, waits for locks, joins groups, and asks without reading. */
static void a_crowd_that_takes(void)
{
	struct ddio_msg_fs_lock all = { .ino = 77, .type = DDIO_FS_LOCK_WRITE };
	struct sw *sw = sw_new(NULL);
	struct bound *at = sw->iop->reactors[0].bounds.at;
	struct sc *c[HOSTILE], *good = sc_new(sw, 0);
	uint32_t i, n;
	size_t before, most = 0;

	hostile_mount(good, 200);
	CU_ASSERT_EQUAL(SC_CALL(good, FS_LOCK_SET, fs_lock, &all), DDIO_ST_OK);
	for (i = 0; i < HOSTILE; i++) {
		c[i] = sc_new(sw, 0);
		hostile_mount(c[i], (uint8_t)(i + 1));
	}
	before = held();
	for (i = 0; i < HOSTILE; i++) {
		take_locks(c[i], 77, LOCKS, false, 1);
		take_locks(c[i], 77, WAITS, true, 2);
		join_groups(c[i], i, 2, GROUPS);
		ddio_conn_pause(c[i]->conn, true);
		for (n = 0; n < ASKS; n++)
			sc_send(c[i], DDIO_OP_STATUS, NULL, 0, NULL, 0);
		answered(good, DDIO_OP_FS_SPACE);
		sw_run(sw, 100 * MS);
		most = held() - before > most ? held() - before : most;
	}
	server_clients_unread(&sw->iop->reactors[0]);
	CU_ASSERT_EQUAL(at[BOUND_LOCKS].now, HOSTILE * at[BOUND_FILE_LOCKS].limit + 1);
	CU_ASSERT_EQUAL(at[BOUND_WAITS].now, HOSTILE * at[BOUND_WAITS].limit);
	CU_ASSERT_EQUAL(at[BOUND_GROUPS].now, HOSTILE * at[BOUND_GROUPS].limit);
	CU_ASSERT(at[BOUND_UNREAD].most < at[BOUND_UNREAD].limit + (256u << 10));
	/* Groups of two; what the simulated network holds of unread replies is counted, too. */
	printf("(%zu MB held by %d) ", most >> 20, HOSTILE);
	CU_ASSERT(most < HOSTILE * (12ull << 20));
	/* What was waited for is given back: the mounts go on in turns, others meanwhile. */
	all.type = DDIO_FS_LOCK_NONE;
	n = (uint32_t)at[BOUND_TRIED].hits;
	CU_ASSERT_EQUAL(SC_CALL(good, FS_LOCK_SET, fs_lock, &all), DDIO_ST_OK);
	answered(good, DDIO_OP_FS_SPACE);
	sw_run(sw, 100 * MS);
	CU_ASSERT_EQUAL(at[BOUND_WAITS].now, 0);
	CU_ASSERT(at[BOUND_TRIED].hits - n >= HOSTILE * WAITS / 2 / at[BOUND_TRIED].limit);
	for (i = 0; i < HOSTILE; i++)
		sc_free(c[i]);
	sw_run(sw, 60000 * MS);
	answered(good, DDIO_OP_FS_SPACE);
	server_clients_unread(&sw->iop->reactors[0]);
	CU_ASSERT_EQUAL(at[BOUND_GROUPS].now, 0);
	CU_ASSERT_EQUAL(at[BOUND_UNREAD].now, 0);
	sc_free(good);
	sw_free(sw);
}

/* Bytes of the process's own memory. */
static size_t resident(void)
{
	unsigned long all = 0, shared = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fscanf(f, "%*u %lu %lu", &all, &shared), 2);
	fclose(f);
	return (all - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

/* A group costs the same whatever its size; when many have gone their memory does not stay the process's. */
static void groups_of_a_million(void)
{
	enum { JOINERS = 8 };
	struct sw *sw = sw_new(NULL);
	const struct bound *at = sw->iop->reactors[0].bounds.at;
	struct sc *c[JOINERS], *good = sc_new(sw, 0);
	size_t first, taken, most, left;
	uint32_t i;

	for (i = 0; i < JOINERS; i++)
		c[i] = sc_new(sw, 0);
	join_groups(good, JOINERS, 2, 1);
	malloc_trim(0);
	first = resident();
	taken = held();
	for (i = 0; i < JOINERS; i++)
		join_groups(c[i], i, DDIO_MAX_MEMBERS, GROUPS);
	taken = held() - taken;
	most = resident();
	CU_ASSERT_EQUAL(at[BOUND_GROUPS_ALL].now, JOINERS * at[BOUND_GROUPS].limit + 1);
	CU_ASSERT(taken < JOINERS * at[BOUND_GROUPS].limit * 1024);
	for (i = 0; i < JOINERS; i++)
		sc_free(c[i]);
	sw_run(sw, 10 * MS);
	CU_ASSERT_EQUAL(at[BOUND_GROUPS_ALL].now, 1);
	left = resident();
	printf("(%zu KB held, of %zu KB %zd stay) ", taken >> 10, (most - first) >> 10,
	       ((ssize_t)left - (ssize_t)first) >> 10);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
	CU_ASSERT(left < first + (4u << 20));
#endif
	answered(good, DDIO_OP_PING);
	sc_free(good);
	sw_free(sw);
}

/* One that says, again and again, and of anything, that what it gets is wrong. */
static void one_that_complains(void)
{
	struct ddio_msg_wrong x = { .flags = DDIO_WRONG_PLACE,
				    .disk = UINT32_MAX,
				    .file = UINT64_MAX,
				    .block = UINT64_MAX,
				    .count = UINT64_MAX };
	struct sw *sw = sw_new(NULL);
	struct sc *good = sc_new(sw, 0), *bad = sc_new(sw, 0);
	const struct bound *at = sw->iop->reactors[0].bounds.at;
	uint32_t i;

	for (i = 0; i < 1000; i++)
		sc_send(bad, DDIO_OP_WRONG, message,
			(size_t)ddio_put_wrong(message, sizeof(message), &x), NULL, 0);
	sw_run(sw, 10 * MS);
	CU_ASSERT_TRUE(bad->closed);
	CU_ASSERT_EQUAL(at[BOUND_WRONG_TOLD].hits, 1);
	CU_ASSERT_EQUAL(sw->iop->reactors[0].jobs.none.st.told, 1);
	CU_ASSERT_EQUAL(at[BOUND_WRONG_WIRE].hits, 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "did not match their checksums"), 1);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "with block"), 0);
	answered(good, DDIO_OP_PING);
	sc_free(bad);
	sc_free(good);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "one that complains", one_that_complains },
	{ "at all reactors", at_all_reactors },
	{ "a crowd that takes", a_crowd_that_takes },
	{ "groups of a million", groups_of_a_million },
	{ 0 },
};

int main(void)
{
	const struct ut_suite suites[] = { { "hostile", cases } };

	return ut_run("iop_server_hostile", suites, 1);
}
