// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was cut stays cut: the node dies after each event of a truncation, a hole or a zeroed range, alone or with its machine.  Bytes
 * whose cut was answered are zeros for ever; bytes around it are what they were; and a cut that was not answered can be made again.
 */
#include "tests/unit/cp/dd/cp_power.h"
#include "tests/unit/iop/server/server_world.h"

#define BS 4096u
#define SIZE (4 * BS)

enum { MOMENTS = 2048, LATER = 8 };

/**
 * struct cut - a request, and which bytes it makes zeros: [from, end)
 * @whole: a byte of a block that it frees as a whole; 0: there is none
 */
struct cut {
	const char *name;
	uint16_t opcode;
	uint32_t flags;
	uint64_t offset, len, from, end, whole;
};

static const struct cut cuts[] = {
	{ "truncate", DDIO_OP_OBJ_TRUNCATE, 0, 0, BS + 1, BS + 1, SIZE, 2 * BS },
	{ "truncate within the last block", DDIO_OP_OBJ_TRUNCATE, 0, 0, SIZE - 9, SIZE - 9, SIZE,
	  0 },
	{ "punch", DDIO_OP_OBJ_PUNCH, 0, 1000, 9000, 1000, 10000, BS },
	{ "punch within a block", DDIO_OP_OBJ_PUNCH, 0, 5000, 100, 5000, 5100, 0 },
	{ "zero", DDIO_OP_OBJ_ALLOCATE, DDIO_OBJ_ZERO, 1000, 9000, 1000, 10000, BS },
	{ "zero within a block", DDIO_OP_OBJ_ALLOCATE, DDIO_OBJ_ZERO, 5000, 100, 5000, 5100, 0 },
};

/**
 * struct cut_node - a world whose node can die
 * @shared: blocks of the object that is cut are another's, too
 */
struct cut_node {
	struct sw *sw;
	struct sc *c;
	bool shared;
	struct ddio_sim_medium *medium[3];
};

/* Disks and commits take a time of their own, so that few events come at one moment. */
static void node_on(struct cut_node *n)
{
	const struct ddio_sim_medium_faults slow = { .delay_ns = 30000 };
	uint32_t i;

	for (i = 0; i < 3; i++)
		ddio_sim_medium_set(n->medium[i], &slow);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(n->sw), 0);
	for (i = 0; i < SW_REACTORS; i++)
		ddio_sim_set_offload(n->sw->env[i], 40000);
	n->c = sc_new(n->sw, sw_reactor(n->sw, 0));
}

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(1 + at % 251);
}

/* Object 1, or with @shared 2 as well, has SIZE bytes that are synced. */
static void node_begin(struct cut_node *n, bool shared)
{
	uint8_t data[SIZE];
	char path[300];
	uint64_t i;

	*n = (struct cut_node){ .sw = sw_prepare(SW_ADDR, "sync_io = yes\n"), .shared = shared };
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/d%u.img", n->sw->top, (uint32_t)i);
		n->medium[i] = ddio_sim_medium_new(n->sw->world, path, n->sw->disk_size);
	}
	node_on(n);
	for (i = 0; i < SIZE; i++)
		data[i] = byte_at(i);
	CU_ASSERT_EQUAL(sc_write(n->c, 1, 0, 0, data, SIZE), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(n->c, 1), DDIO_ST_OK);
	if (shared) {
		CU_ASSERT_EQUAL(sc_copy(n->c, 1, 0, 2, 0, SIZE), DDIO_ST_OK);
		CU_ASSERT_EQUAL(sc_sync(n->c, 2), DDIO_ST_OK);
	}
}

static void node_end(struct cut_node *n)
{
	sc_free(n->c);
	sw_free(n->sw);
}

/* Ends the node without a word; @lose: see cp_power_off(). */
static void node_off(struct cut_node *n, uint32_t lose)
{
	char meta[300], gone[300], from[400], to[400];
	static const char *const parts[] = { "d0", "d1", "d2", "ns" };
	struct sw *sw = n->sw;
	uint32_t i;

	for (i = 0; i < 3; i++)
		CU_ASSERT(ddio_sim_medium_crash(n->medium[i], lose) >= 0);
	snprintf(meta, sizeof(meta), "%s/meta", sw->top);
	snprintf(gone, sizeof(gone), "%s/gone", sw->top);
	CU_ASSERT_EQUAL_FATAL(rename(meta, gone) || mkdir(meta, 0700), 0);
	for (i = 0; i < 4; i++) {
		snprintf(from, sizeof(from), "%s/%s", gone, parts[i]);
		snprintf(to, sizeof(to), "%s/%s", meta, parts[i]);
		cp_records_copy(from, to);
	}
	for (i = 0; i < SW_REACTORS; i++) {
		ddio_sim_orphan(sw->env[i]);
		sw->env[i] = ddio_sim_env(sw->world, i ? "io0.1" : "io0.0");
	}
	sc_free(n->c);
	sw_stop(sw);
}

static uint32_t object(const struct cut_node *n)
{
	return n->shared ? 2 : 1;
}

static struct ddio_msg_obj cut_msg(const struct cut_node *n, const struct cut *cut)
{
	struct ddio_msg_obj obj = sc_obj(object(n), 0, cut->offset, cut->len);

	obj.flags = cut->flags;
	return obj;
}

static void cut_send(struct cut_node *n, const struct cut *cut)
{
	const struct ddio_msg_obj obj = cut_msg(n, cut);
	uint8_t buf[64];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);

	sc_send(n->c, cut->opcode, buf, (size_t)len, NULL, 0);
}

/* Returns how many of the bytes that are to be zeros are not; others must be as they were. */
static uint64_t left(struct cut_node *n, uint32_t id, uint64_t from, uint64_t end)
{
	uint64_t i, old = 0;
	bool same = true;

	CU_ASSERT_EQUAL_FATAL(sc_read(n->c, id, 0, 0, SIZE), DDIO_ST_OK);
	for (i = 0; i < SIZE; i++) {
		if (i >= from && i < end)
			old += n->c->bulk[i] != 0;
		else
			same &= n->c->bulk[i] == byte_at(i);
	}
	CU_ASSERT_TRUE(same);
	return old;
}

/* Notes after how long each event of it comes, and some moments behind. */
static uint32_t moments(const struct cut *cut, bool shared, uint64_t *at)
{
	uint64_t events, ns = 0;
	struct cut_node n;
	uint32_t i = 0, before;

	node_begin(&n, shared);
	before = n.c->replies;
	cut_send(&n, cut);
	events = ddio_sim_events(n.sw->world);
	for (; n.c->replies == before && i < MOMENTS - LATER && ns < 1000 * MS; ns += 100) {
		sw_run(n.sw, 100);
		if (ddio_sim_events(n.sw->world) != events)
			at[i++] = ns;
		events = ddio_sim_events(n.sw->world);
	}
	CU_ASSERT_EQUAL(n.c->replies, before + 1);
	CU_ASSERT_EQUAL(n.c->status, DDIO_ST_OK);
	for (before = 0; before < LATER; before++)
		at[i++] = ns + (MS << before) / 4;
	node_end(&n);
	return i;
}

/* Returns true if it was answered before. */
static bool death(const struct cut *cut, bool shared, uint64_t at, uint32_t lose)
{
	struct cut_node n;
	uint32_t before;
	uint64_t old;
	bool told;

	node_begin(&n, shared);
	before = n.c->replies;
	cut_send(&n, cut);
	sw_run(n.sw, at);
	told = n.c->replies > before;
	node_off(&n, lose);
	node_on(&n);
	old = left(&n, object(&n), cut->from, cut->end);
	if (told && old)
		printf("\n  %s%s, answered, dead after %llu ns: %llu old bytes", cut->name,
		       shared ? " of shared blocks" : "", (unsigned long long)at,
		       (unsigned long long)old);
	CU_ASSERT(!told || !old);
	/* The edges are zeros before the blocks between them are. */
	CU_ASSERT(!old || !cut->whole || n.c->bulk[cut->whole]);
	if (!told) {
		cut_send(&n, cut);
		CU_ASSERT_TRUE(sc_wait(n.c, 2));
		CU_ASSERT_EQUAL(n.c->status, DDIO_ST_OK);
		CU_ASSERT_EQUAL(left(&n, object(&n), cut->from, cut->end), 0);
	}
	if (shared)
		left(&n, 1, SIZE, SIZE);
	node_end(&n);
	return told;
}

static void deaths(uint32_t lose)
{
	static uint64_t at[MOMENTS];
	uint32_t n, i, k, step = ut_stride(5), told = 0, untold = 0;

	for (k = 0; k < 2 * sizeof(cuts) / sizeof(cuts[0]); k++) {
		n = moments(&cuts[k / 2], k % 2, at);
		/* The last moments come after the answer. */
		for (i = k % step; i < n; i += i < n - LATER ? step : 1)
			if (death(&cuts[k / 2], k % 2, at[i], lose))
				told++;
			else
				untold++;
	}
	printf("\n  %u deaths before the answer, %u after it ", untold, told);
	CU_ASSERT(told > 20 && untold > 20);
}

static void dies_alone(void)
{
	deaths(0);
}

static void dies_with_its_machine(void)
{
	deaths(1000);
}

static const struct ut_case cases[] = {
	{ "the node dies after any event", dies_alone },
	{ "its machine does", dies_with_its_machine },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "cuts", cases } };

	return ut_run("iop_server_cut", suites, 1);
}
