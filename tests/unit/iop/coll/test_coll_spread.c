// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions that members spread, at an I/O processor: told as they should be, and by members that do not. */
#include <stdint.h>
#include <stdlib.h>

/* Of the allocations of the file that is tested, which are counted, one may fail. */
static uint64_t allocs, failing = UINT64_MAX;

static void *test_calloc(size_t n, size_t size)
{
	return allocs++ == failing ? NULL : calloc(n, size);
}

#define calloc test_calloc
#include "userlib/iop/coll/spread.c"
#undef calloc

#include "tests/unit/iop/coll/coll_fault.h"

enum { PIECES = 40, CELL = 100, NCELLS = BLOCKS * BLOCK / CELL };

/* What a member does wrong. */
enum tale {
	HONEST,
	SILENT,	    /* tells nothing */
	TWICE,	    /* tells twice */
	AS_ANOTHER, /* in another's name */
	OF_LATER,   /* of a collective that was not asked for */
	OVERLAP,    /* what its neighbour has, too */
	BEYOND,	    /* what no file has */
	PAST_END,   /* what this one has not */
	GARBAGE,    /* bytes that say nothing */
	MANY,	    /* more than all may tell */
	DIES,	    /* goes away when it is asked */
	TELLS_DIES, /* goes away when it has told */
	GIVES_UP,   /* when it is asked */
	TALES
};

/* Of the member that asks, when the node is ready. */
enum go { GOES, NEVER, TWO_GO, GOES_DIES, READY_DIES, READY_GIVES_UP };

/**
 * struct spread_job - a collective whose members tell
 * @list, @part: by rank
 * @liar: the rank that tells @tale
 * @ready: the node has said that it is
 */
static struct spread_job {
	struct fault x;
	struct ddio_extent list[4][PIECES];
	struct ddio_part part[4];
	uint32_t liar, ready, asked;
	enum tale tale;
	enum go go;
} t;

static void cells_deal(uint32_t seed)
{
	uint32_t i, r;

	for (r = 0; r < 4; r++)
		t.part[r] = (struct ddio_part){ .kind = DDIO_PART_LIST, .list = t.list[r] };
	for (i = 0; i < NCELLS; i++) {
		r = (uint32_t)(w_byte(seed, i) % 5);
		if (r < 4 && t.part[r].n < PIECES)
			t.list[r][t.part[r].n++] = (struct ddio_extent){ i * CELL, CELL };
	}
}

static void raw_send(struct w_lane *lane, uint16_t opcode, uint64_t op, const void *buf, size_t len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = op };

	if (lane->conn && !lane->closed)
		ddio_conn_send(lane->conn, &msg, buf, len, NULL, 0, NULL);
}

static void told_send(struct w_lane *lane, uint64_t op, uint32_t rank, const struct ddio_part *part)
{
	static struct ddio_past nothing;
	struct ddio_msg_coll_told told = { .op = op };
	struct ddio_past_code code;
	uint8_t *buf;
	ssize_t len;

	memcpy(told.group, lane->m->g->id, sizeof(told.group));
	CU_ASSERT_EQUAL(ddio_crowd_one(&told.crowd, rank, part), 0);
	len = ddio_put_coll_told(NULL, 0, &told);
	buf = malloc(sizeof(code.bytes) + (size_t)len);
	ddio_put_coll_told(buf, (size_t)len, &told);
	/* As the first message of a connection: whole. */
	ddio_past_put(&nothing, buf, (size_t)len, &code);
	ddio_past_clear(&nothing);
	memmove(buf + code.len, buf, (size_t)len);
	memcpy(buf, code.bytes, code.len);
	raw_send(lane, DDIO_OP_COLL_TOLD, op, buf, code.len + (size_t)len);
	ddio_coll_told_free(&told);
	free(buf);
}

static void go_send(struct w_lane *lane, uint64_t op)
{
	struct ddio_msg_coll_join go = { .op = op };
	uint8_t buf[64];

	memcpy(go.group, lane->m->g->id, sizeof(go.group));
	raw_send(lane, DDIO_OP_COLL_GO, op, buf, (size_t)ddio_put_coll_join(buf, sizeof(buf), &go));
}

/* Tells the member's part, changed. */
static void part_send(struct w_lane *lane, uint64_t op, uint64_t offset, uint64_t len)
{
	struct ddio_extent list[PIECES];
	struct ddio_part part = t.part[lane->m->rank];

	memcpy(list, part.list, part.n * sizeof(*list));
	list[part.n - 1] = (struct ddio_extent){ offset, len };
	part.list = list;
	told_send(lane, op, lane->m->rank, &part);
}

static void many_send(struct w_lane *lane, uint64_t op)
{
	t.x.w->reactor[0].told_max = t.part[0].n + t.part[1].n;
	told_send(lane, op, lane->m->rank, &t.part[lane->m->rank]);
}

static int tale_tell(struct w_lane *lane, uint64_t op)
{
	struct w_member *m = lane->m;
	const struct ddio_part *part = &t.part[m->rank], *other = &t.part[(m->rank + 1) % 4];

	switch (t.tale) {
	case SILENT:
		break;
	case AS_ANOTHER:
		told_send(lane, op, m->rank + 1, part);
		break;
	case OF_LATER:
		told_send(lane, op + 1, m->rank, part);
		break;
	case OVERLAP:
		part_send(lane, op, other->list[3].offset + CELL - 1, 1);
		break;
	case BEYOND:
		part_send(lane, op, DDIO_MAX_FILE + 1, 1);
		break;
	case PAST_END:
		part_send(lane, op, BLOCKS * BLOCK, 1);
		break;
	case GARBAGE:
		raw_send(lane, DDIO_OP_COLL_TOLD, op, "nothing of use here", 19);
		break;
	case MANY:
		many_send(lane, op);
		break;
	case GIVES_UP:
		m_abort(m, op, DDIO_ST_NO_MEMORY);
		break;
	case DIES:
		return -ECONNRESET;
	case TWICE:
		told_send(lane, op, m->rank, part);
		/* fall through */
	default:
		told_send(lane, op, m->rank, part);
	}
	return 0;
}

static int ready_take(struct w_lane *lane, uint64_t op)
{
	t.ready++;
	if (t.go == READY_DIES)
		return -ECONNRESET;
	if (t.go == READY_GIVES_UP)
		m_abort(lane->m, op, DDIO_ST_NO_MEMORY);
	else if (t.go != NEVER)
		go_send(lane, op);
	if (t.go == TWO_GO)
		go_send(lane, op);
	return 0;
}

static int heard(struct w_lane *lane, const struct ddio_msg *msg)
{
	CU_ASSERT_EQUAL(lane->reactor, 0);
	if (msg->opcode == DDIO_OP_COLL_READY) {
		CU_ASSERT_EQUAL(lane->m->rank, 0);
		return ready_take(lane, msg->tag);
	}
	t.asked++;
	if (t.tale != HONEST && lane->m->rank == t.liar)
		return tale_tell(lane, msg->tag);
	told_send(lane, msg->tag, lane->m->rank, &t.part[lane->m->rank]);
	return 0;
}

/* As w_start_raw(), with nothing but that all spread theirs. */
static void start_send(uint64_t number, uint32_t kind)
{
	const struct w_job *job = &t.x.job;
	struct ddio_part nothing = { .kind = kind };
	struct ddio_msg_coll_start st = { .op = number,
					  .flags = job->flags | DDIO_COLL_FAMILIES,
					  .nprocs = 4,
					  .timeout_ns = job->timeout_ns,
					  .file_size = job->f->rec.size,
					  .file = job->f->rec };
	uint8_t buf[512];
	ssize_t len;

	memcpy(st.group, job->g->id, sizeof(st.group));
	CU_ASSERT_EQUAL(ddio_crowd_one(&st.crowd, 0, &nothing), 0);
	st.crowd.nmembers = 4;
	st.crowd.hi = NCELLS * CELL;
	ddio_crowd_spread(&st.crowd);
	len = ddio_put_coll_start(buf, sizeof(buf), &st);
	raw_send(&job->g->m[0].lane[0], DDIO_OP_COLL_START, number, buf, (size_t)len);
	ddio_crowd_free(&st.crowd);
}

static void told_start(uint32_t kind)
{
	struct w_group *g = t.x.g;
	uint64_t number = ++g->ops;
	struct ddio_map **map = &g->map[number % W_OPS];
	uint32_t i;

	for (i = 0; i < 4; i++)
		m_op_free(&g->m[i].op[number % W_OPS]);
	ddio_map_free(*map);
	*map = NULL;
	CU_ASSERT_EQUAL_FATAL(w_map(&t.x.job, map), 0);
	for (i = 0; i < 4; i++) {
		m_op_begin(&g->m[i], &t.x.job, number, *map);
		g->m[i].heard = heard;
	}
	t.x.op = number;
	t.ready = t.asked = 0;
	start_send(number, kind);
}

static void told_new(uint32_t flags, enum tale tale, uint32_t liar)
{
	struct w_params p = {
		.seed = 3, .ndisks = 2, .nreactors = 2, .timeout_ns = TIMEOUT_MS * MS
	};

	memset(&t, 0, sizeof(t));
	fault_new(&t.x, &p, flags);
	cells_deal(7);
	t.x.job.array = NULL;
	t.x.job.parts = t.part;
	t.tale = tale;
	t.liar = liar;
}

static void told_free(void)
{
	struct reactor *r = &t.x.w->reactor[0];
	struct coll_group *group;

	ddio_list_for_each_entry(group, &r->groups, link)
		CU_ASSERT(ddio_list_empty(&group->spreads) && !group->nspreads);
	fault_free(&t.x);
}

static bool untouched(void)
{
	return !w_file_wrong(t.x.w, &t.x.f, BLOCKS * BLOCK);
}

static void test_moves(void)
{
	uint32_t i;

	for (i = 0; i < 8; i++) {
		told_new(i & 1 ? DDIO_COLL_WRITE | DDIO_COLL_SORT : 0, HONEST, 0);
		cells_deal(i);
		told_start(i & 2 ? DDIO_PART_VIEW : DDIO_PART_LIST);
		CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_OK);
		CU_ASSERT_EQUAL(t.asked, 4);
		CU_ASSERT_EQUAL(t.ready, 1);
		if (i & 1)
			w_apply(&t.x.job, t.x.g->map[t.x.op % W_OPS]);
		else
			CU_ASSERT_EQUAL(w_read_wrong(t.x.g, t.x.op, &t.x.f), 0);
		w_run(t.x.w, SEC);
		CU_ASSERT(untouched());
		told_free();
	}
}

/* Returns the status with which all that are left end, before anything has moved. */
static uint32_t lies(uint32_t flags, enum tale tale, uint32_t liar)
{
	uint32_t status, i;

	told_new(flags, tale, liar);
	t.go = NEVER;
	told_start(DDIO_PART_LIST);
	status = w_wait(t.x.g, t.x.op, 2 * TIMEOUT_MS * MS);
	CU_ASSERT_EQUAL(t.ready, 0);
	CU_ASSERT(untouched());
	for (i = 0; i < t.x.w->p.nreactors; i++)
		CU_ASSERT_EQUAL(t.x.w->reactor[i].collectives, 0);
	return status;
}

static void test_lies(void)
{
	static const uint32_t status[TALES] = {
		[SILENT] = DDIO_ST_TIMEOUT,	  [AS_ANOTHER] = DDIO_ST_MEMBER_LOST,
		[OF_LATER] = DDIO_ST_MEMBER_LOST, [OVERLAP] = DDIO_ST_OVERLAP,
		[BEYOND] = DDIO_ST_MEMBER_LOST,	  [PAST_END] = DDIO_ST_RANGE,
		[GARBAGE] = DDIO_ST_MEMBER_LOST,  [MANY] = DDIO_ST_TOO_BIG,
		[DIES] = DDIO_ST_MEMBER_LOST,	  [GIVES_UP] = DDIO_ST_CANCELLED,
	};
	enum tale tale;
	uint32_t liar;

	for (tale = SILENT; tale < TALES; tale++)
		for (liar = 0; status[tale] && liar < 4; liar++) {
			uint32_t flags = tale == OVERLAP ? DDIO_COLL_WRITE : 0;

			CU_ASSERT_EQUAL(lies(flags, tale, liar), status[tale]);
			CU_ASSERT(t.x.g->m[liar].gone ==
				  (status[tale] == DDIO_ST_MEMBER_LOST || tale == SILENT));
			told_free();
		}
}

/* Once it has told, the member that tells again is cut off, whatever the collective has come to. */
static void test_twice(void)
{
	told_new(DDIO_COLL_WRITE, TWICE, 1);
	t.go = NEVER;
	told_start(DDIO_PART_LIST);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT(t.x.g->m[1].gone && untouched());
	told_free();
}

/* What comes for a collective that is over is no error; what was not asked for is. */
static void test_unasked(void)
{
	struct w_lane *lane;

	told_new(0, HONEST, 0);
	told_start(DDIO_PART_LIST);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_OK);
	lane = &t.x.g->m[2].lane[0];
	told_send(lane, t.x.op, 2, &t.part[2]);
	go_send(lane, t.x.op);
	w_run(t.x.w, SEC);
	CU_ASSERT(!t.x.g->m[2].gone);
	told_send(lane, t.x.op + 1, 2, &t.part[2]);
	w_run(t.x.w, SEC);
	CU_ASSERT(t.x.g->m[2].gone);
	go_send(&t.x.g->m[3].lane[0], t.x.op + 1);
	w_run(t.x.w, SEC);
	CU_ASSERT(t.x.g->m[3].gone);
	told_free();
}

/* Without memory: for the collective, for what a member's connection remembers, for the map. */
static void test_memory(void)
{
	uint64_t n;

	for (n = 0; n < 8; n++) {
		uint32_t status, want = DDIO_ST_OK;

		told_new(DDIO_COLL_WRITE, HONEST, 0);
		allocs = 0;
		failing = n;
		told_start(DDIO_PART_LIST);
		status = w_wait(t.x.g, t.x.op, SEC);
		if (allocs > n)
			want = n && n < 5 ? DDIO_ST_MEMBER_LOST : DDIO_ST_NO_MEMORY;
		failing = UINT64_MAX;
		CU_ASSERT_EQUAL(status, want);
		CU_ASSERT((status != DDIO_ST_OK) == (n < 6));
		CU_ASSERT(status == DDIO_ST_OK || untouched());
		told_free();
	}
}

/* Only the member that asked may say go, and only when the node is ready. */
static void test_go(void)
{
	told_new(DDIO_COLL_WRITE, SILENT, 3);
	told_start(DDIO_PART_LIST);
	w_run(t.x.w, SEC);
	go_send(&t.x.g->m[0].lane[0], t.x.op);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT(t.x.g->m[0].gone && untouched());
	told_free();
	told_new(DDIO_COLL_WRITE, HONEST, 0);
	t.go = NEVER;
	told_start(DDIO_PART_LIST);
	w_run(t.x.w, SEC);
	CU_ASSERT_EQUAL(t.ready, 1);
	go_send(&t.x.g->m[1].lane[0], t.x.op);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT(t.x.g->m[1].gone && untouched());
	told_free();
	told_new(0, HONEST, 0);
	t.go = TWO_GO;
	told_start(DDIO_PART_LIST);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_read_wrong(t.x.g, t.x.op, &t.x.f), 0);
	told_free();
}

/* It never says go, or cannot any more. */
static void test_no_go(void)
{
	static const struct {
		enum go go;
		uint32_t status;
	} ends[] = { { NEVER, DDIO_ST_TIMEOUT },
		     { READY_DIES, DDIO_ST_MEMBER_LOST },
		     { READY_GIVES_UP, DDIO_ST_CANCELLED } };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		told_new(DDIO_COLL_WRITE, HONEST, 0);
		t.go = ends[i].go;
		told_start(DDIO_PART_LIST);
		CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, 33 * TIMEOUT_MS * MS), ends[i].status);
		CU_ASSERT(t.ready == 1 && untouched());
		told_free();
	}
}

/* A told collective that is ready, and is not to begin yet. */
static void held_new(uint32_t flags)
{
	told_new(flags, HONEST, 0);
	t.go = NEVER;
	told_start(DDIO_PART_LIST);
	w_run(t.x.w, MS);
	CU_ASSERT_EQUAL(t.ready, 1);
}

/* A later one begins before it: what members send for either is taken. */
static void test_out_of_order(void)
{
	struct w_file f;
	struct w_job later;
	uint64_t op;

	held_new(DDIO_COLL_WRITE);
	w_file_init(t.x.w, &f, 2, BLOCK, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(t.x.w, &f, BLOCKS * BLOCK, 2);
	later = (struct w_job){
		.g = t.x.g, .f = &f, .array = &t.x.a, .flags = DDIO_COLL_WRITE, .seed = 11
	};
	op = w_start(&later);
	go_send(&t.x.g->m[0].lane[0], t.x.op);
	CU_ASSERT_EQUAL(w_wait(t.x.g, op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_OK);
	w_apply(&later, t.x.g->map[op % W_OPS]);
	w_apply(&t.x.job, t.x.g->map[t.x.op % W_OPS]);
	w_run(t.x.w, SEC);
	CU_ASSERT(untouched());
	CU_ASSERT_EQUAL(w_file_wrong(t.x.w, &f, BLOCKS * BLOCK), 0);
	w_file_free(&f);
	told_free();
}

static void abort_send(struct w_lane *lane, uint64_t op)
{
	struct ddio_msg_coll_abort abort = { .op = op,
					     .status = DDIO_ST_NO_MEMORY,
					     .rank = lane->m->rank };
	uint8_t buf[128];

	memcpy(abort.group, lane->m->g->id, sizeof(abort.group));
	raw_send(lane, DDIO_OP_COLL_ABORT, op, buf,
		 (size_t)ddio_put_coll_abort(buf, sizeof(buf), &abort));
}

/* A member gives it up where a later one has ended, and nowhere else. */
static void test_given_up_late(void)
{
	struct w_job later;
	uint64_t op;

	held_new(0);
	later = t.x.job;
	later.array = &t.x.a;
	op = w_start(&later);
	CU_ASSERT_EQUAL(w_wait(t.x.g, op, SEC), DDIO_ST_OK);
	abort_send(&t.x.g->m[2].lane[1], t.x.op);
	w_run(t.x.w, MS);
	go_send(&t.x.g->m[0].lane[0], t.x.op);
	CU_ASSERT_EQUAL(w_wait(t.x.g, t.x.op, SEC), DDIO_ST_CANCELLED);
	CU_ASSERT(says(&t.x, "before it began"));
	told_free();
}

/* As many as may run, and one more; the node stops while they wait. */
static void test_many(void)
{
	uint32_t i;

	told_new(0, SILENT, 1);
	for (i = 0; i < 4; i++)
		t.x.g->m[i].heard = heard;
	for (i = 0; i <= COLL_MAX_RUNNING; i++)
		start_send(++t.x.g->ops, DDIO_PART_LIST);
	w_run(t.x.w, MS);
	CU_ASSERT_EQUAL(t.x.w->reactor[0].refused, 1);
	CU_ASSERT_EQUAL(ddio_sim_logged(t.x.w->dw, "collectives running"), 1);
	t.x.w->reactor[0].stopping = true;
	coll_stop(&t.x.w->reactor[0]);
	w_run(t.x.w, MS);
	CU_ASSERT_EQUAL(t.x.w->reactor[0].refused, 1 + COLL_MAX_RUNNING);
	t.x.w->reactor[0].stopping = false;
	told_free();
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "moves", test_moves },
		{ "lies", test_lies },
		{ "tells twice", test_twice },
		{ "tells unasked", test_unasked },
		{ "no memory", test_memory },
		{ "who says go", test_go },
		{ "nobody says go", test_no_go },
		{ "a later one begins first", test_out_of_order },
		{ "given up when a later one is over", test_given_up_late },
		{ "too many, and a stop", test_many },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "spread", cases } };

	return w_ut_run("test_coll_spread", suites, 1);
}
