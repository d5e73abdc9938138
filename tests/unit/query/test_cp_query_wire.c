// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions as no library asks them: of an I/O processor in virtual time, by a client that makes its own messages, and
 * does not read what it has asked for.
 */
#include "cp/node/lane.h"
#include "proto/query/query.h"
#include "query/query.h"
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 1024, BLOCKS = 256, MANY = 400 };

/**
 * struct raw_query - a message to disk 0
 * @left: requests without an answer
 */
struct raw_query {
	struct session_call call;
	struct ddio_msg_query x;
	struct node_request *request;
	uint32_t n, left;
	uint32_t status;
	char text[DDIO_MAX_TEXT];
};

static const struct ddio_query_field field = { .type = DDIO_QUERY_U8 };
static const struct ddio_query_field bytes = { .type = DDIO_QUERY_BYTES, .len = 4 };
static const uint32_t output[] = { 0 };
static uint8_t want[DDIO_QUERY_BLOCKS_MAX / 8];

static void raw_done(struct node_request *request, const struct reply *reply)
{
	struct raw_query *raw = request->arg;

	raw->status = reply->status;
	snprintf(raw->text, sizeof(raw->text), "%s", reply->text ? reply->text : "");
	if (!--raw->left)
		call_end(&raw->call, NULL);
}

static void raw_run(struct session_call *call)
{
	struct raw_query *raw = ddio_container_of(call, struct raw_query, call);
	uint32_t i;

	raw->left = raw->n;
	for (i = 0; i < raw->n; i++) {
		request_init(&raw->request[i], DDIO_OP_OBJ_QUERY, raw_done, raw);
		CU_ASSERT_EQUAL(request_put(&raw->request[i], query, &raw->x), 0);
		request_disk(call->session, 0, &raw->request[i]);
	}
}

/* A question about all bytes of the file on disk 0, one record each. */
static void question(struct raw_query *raw, const struct ddio_file *f)
{
	memset(want, 0xff, sizeof(want));
	raw->x = (struct ddio_msg_query){
		.obj = { .file = f->rec.ref, .disk = f->rec.disks[0], .len = BLOCK * 10 },
		.ndisks = f->rec.ndisks,
		.part = DDIO_QUERY_NO_PART,
		.end = 1000000,
		.nblocks = 10,
		.want = want,
		.q = { .struct_size = sizeof(struct ddio_query),
		       .record = 1,
		       .nfields = 1,
		       .field = &field,
		       .noutput = 1,
		       .output = output }
	};
}

static uint32_t ask(struct cp_proc *p, struct raw_query *raw)
{
	call_run(p->session, &raw->call, raw_run);
	return raw->status;
}

/* Each member of the message that cannot be, one at a time. */
static void every_wrong_one(struct cp_proc *p)
{
	struct node_request request;
	struct raw_query raw = { .request = &request, .n = 1 };
	struct ddio_query_step step = { .op = DDIO_QUERY_AND };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, "x", 1, 0), 1);
	CP_OK(p, ddio_set_size(f, 100000));
#define IS(st, change)                                         \
	do {                                                   \
		question(&raw, f);                             \
		change;                                        \
		CU_ASSERT_EQUAL(ask(p, &raw), st);             \
		if (raw.status != st)                          \
			printf("%s: %s\n", #change, raw.text); \
	} while (0)
	IS(DDIO_ST_OK, (void)0);
	IS(DDIO_ST_INVALID, raw.x.q.noutput = 0); /* looks at nothing */
	IS(DDIO_ST_INVALID, raw.x.q.record = 0);
	IS(DDIO_ST_INVALID, raw.x.q.origin = 1ull << 62);
	IS(DDIO_ST_TOO_BIG, raw.x.end = DDIO_MAX_FILE; raw.x.q.record = 1000);
	IS(DDIO_ST_INVALID, raw.x.first = raw.x.end + 1);
	IS(DDIO_ST_INVALID, raw.x.obj.disk = 1000);
	IS(DDIO_ST_INVALID, raw.x.obj.offset = 1);
	IS(DDIO_ST_INVALID, raw.x.obj.len = BLOCK * 9);
	IS(DDIO_ST_INVALID, raw.x.stripe = raw.x.ndisks);
	IS(DDIO_ST_INVALID, raw.x.part = 10);
	IS(DDIO_ST_INVALID, raw.x.part = 3;
	   want[0] = 0xf7); /* a part of a block that is not asked about */
	IS(DDIO_ST_INVALID, raw.x.q.nsteps = 1; raw.x.q.where = &step);
	IS(DDIO_ST_TOO_BIG, raw.x.obj.offset = DDIO_MAX_FILE - BLOCK);
	IS(DDIO_ST_INVALID, raw.x.obj.offset = DDIO_MAX_FILE / 2; raw.x.ndisks = DDIO_MAX_DISKS);
	IS(DDIO_ST_STALE, raw.x.obj.file.block = 2 * BLOCK; raw.x.obj.len = BLOCK * 20);
	IS(DDIO_ST_OK, raw.x.part = 3; raw.x.part_next = UINT64_MAX);
	IS(DDIO_ST_OK, memset(want, 0, sizeof(want)));
#undef IS
	ddio_close(f);
}

static struct ddio_file *bytes_write(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	uint8_t *image = malloc(BLOCK * BLOCKS);

	memset(image, 7, BLOCK * BLOCKS);
	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, image, BLOCK * BLOCKS, 0), BLOCK * BLOCKS);
	free(image);
	return f;
}

static void wrong_messages(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .reactors = 1, .nodes = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, every_wrong_one, NULL), 0);
	cp_world_end(&w);
}

/*
 * A stopped reader
 */
struct stopped {
	bool asked, over;
	uint64_t most;
};

static void stops(struct cp_proc *p)
{
	struct node_request *request = calloc(MANY, sizeof(*request));
	struct raw_query raw = { .request = request, .n = MANY };
	struct ddio_file *f = bytes_write(p);
	struct stopped *s = p->w->arg;
	struct lane *lane;

	question(&raw, f);
	raw.x.q.record = 4;
	raw.x.q.field = &bytes;
	raw.x.end = BLOCK * BLOCKS / 4;
	raw.x.obj.len = (uint64_t)BLOCK * BLOCKS / f->rec.ndisks;
	raw.x.nblocks = BLOCKS / f->rec.ndisks;
	lane = p->session->nodes[0]->lanes[p->session->disks[f->rec.disks[0]]->reactor];
	ddio_conn_pause(lane->conn, true);
	s->asked = true;
	/* It ends when the session gives the node up, which it seems not to hear of. */
	ask(p, &raw);
	CU_ASSERT_NOT_EQUAL(raw.status, DDIO_ST_OK);
	s->over = true;
	ddio_close(f);
	free(request);
}

/* Another process is served meanwhile, and the node's memory stays bounded. */
static void others(struct cp_proc *p)
{
	struct stopped *s = p->w->arg;
	const struct reactor *reactor = &p->w->node[0].iop->reactors[0];
	struct ddio_query q = { .struct_size = sizeof(q),
				.record = 1,
				.nfields = 1,
				.field = &field,
				.nreduce = 1,
				.reduce = &(struct ddio_query_reduce){ .kind = DDIO_QUERY_SUM } };
	struct ddio_query_value value;
	struct ddio_query_result r = { .struct_size = sizeof(r),
				       .records = UINT64_MAX,
				       .value = &value };
	struct ddio_file *f = NULL;
	int i;

	if (!p->rank) {
		stops(p);
		return;
	}
	while (!s->asked)
		ddio_sim_sleep(p->env, CP_MS);
	CP_OK(p, ddio_open(p->session, "f", 0, NULL, &f));
	for (i = 0; i < 10; i++) {
		CP_OK(p, ddio_query(f, &q, &r));
		CU_ASSERT_EQUAL(value.value.u, 7ull * BLOCK * BLOCKS);
		if (reactor->memory > s->most)
			s->most = reactor->memory;
		ddio_sim_sleep(p->env, 10 * CP_MS);
	}
	CU_ASSERT_FALSE(s->over);
	ddio_close(f);
}

static void stopped_reader(void)
{
	struct stopped s = { 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2,
						.reactors = 1,
						.nodes = 1,
						.block = BLOCK,
						.timeout_ms = 3000 });
	CU_ASSERT_EQUAL(cp_run(&w, others, &s), 0);
	cp_world_end(&w);
	/* 8 MB of room for the answers of a connection, and what else there is. */
	CU_ASSERT(s.most < 40u << 20);
}

static const struct ut_case cases[] = {
	{ "messages that cannot be", wrong_messages },
	{ "a reader that has stopped", stopped_reader },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "query wire", cases } };

	return ut_run("test_cp_query_wire", suites, 1);
}
