// SPDX-License-Identifier: GPL-2.0-only
/*
 * An I/O processor that does what it must not: the library notices, says so,
 * keeps its hands off the user's memory, and works again with the next request.
 */
#include <errno.h>
#include "conn/conn.h"
#include "cp/cp.h"
#include "proto/past/past.h"
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 512, BLOCKS = 8, BYTES = BLOCK * BLOCKS, DISK_COUNT = 2 };

enum sin {
	NONE,
	SHORT_DATA,
	LONG_DATA,
	EMPTY_DATA,
	DATA_TWICE,
	DATA_OF_OTHER_DISK,
	DATA_BEYOND,
	DATA_IN_A_WRITE,
	DATA_MISSING,
	DONE_TWICE,
	DONE_WITH_ERROR,
	LATE_DATA,
	TORN_DATA,
	WANT_TWICE,
	WANT_BEYOND,
	WANT_OF_OTHER_DISK,
	WANT_MISSING,
	WANT_IN_A_READ,
	UNKNOWN_TAG,
	UNKNOWN_OPCODE,
	SHORT_READ,
	LONG_READ,
	BAD_RECORD,
	OTHER_FILE,
	SILENCE,
	READY_UNASKED,
	TELL_ONCE, /* is none: it has something to tell, though nobody spreads it */
	TELL_TWICE,
	SINS
};

/**
 * struct fake - the node
 * @sin: what it does wrong, once
 * @handle, @op: of the collective
 */
struct fake {
	struct cp_world *w;
	struct ddio_env *env;
	struct ddio_conn *conn;
	struct ddio_past past;
	struct ddio_listener *listener;
	enum sin sin;
	uint32_t handle;
	uint64_t op;
	bool writing, silent;
	uint32_t asked, pieces;
	uint8_t data[2 * BLOCK];
	struct iovec iov;
	uint64_t size;
};

static void fake_send(struct fake *k, uint16_t opcode, uint64_t tag, const void *fixed, size_t len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = tag };

	ddio_conn_send(k->conn, &msg, fixed, len, NULL, 0, NULL);
}

static void fake_data(struct fake *k, uint64_t block, size_t len, uint32_t disk)
{
	struct ddio_msg_coll_data d = {
		.op = k->op, .block = block, .handle = k->handle, .disk = disk
	};
	uint8_t buf[64 + 2 * BLOCK];
	size_t i;
	ssize_t n;

	memcpy(d.group, k->data, sizeof(d.group));
	n = ddio_put_coll_data(buf, 64, &d);
	for (i = 0; i < len; i++)
		buf[n + (ssize_t)i] = cp_byte(9, block * BLOCK + i);
	/* Behind the fixed record, which is copied. */
	fake_send(k, DDIO_OP_COLL_DATA, k->op, buf, (size_t)n + len);
}

static void fake_done(struct fake *k, uint32_t status)
{
	struct ddio_msg_coll_done d = {
		.op = k->op, .handle = k->handle, .status = status, .lost_rank = UINT32_MAX
	};
	uint8_t buf[1024];
	ssize_t n;

	if (status)
		strcpy(d.text, "disk d1: block 3 is gone");
	n = ddio_put_coll_done(buf, sizeof(buf), &d);
	fake_send(k, DDIO_OP_COLL_DONE, k->op, buf, (size_t)n);
}

static void fake_want(struct fake *k, uint64_t block, uint32_t disk)
{
	struct ddio_want want = { .block = block, .disk = disk };
	struct ddio_msg_coll_want w = { .op = k->op, .handle = k->handle, .n = 1, .want = &want };
	uint8_t buf[64];
	ssize_t n = ddio_put_coll_want(buf, sizeof(buf), &w);

	fake_send(k, DDIO_OP_COLL_WANT, k->op, buf, (size_t)n);
	k->asked++;
}

static void fake_read(struct fake *k, enum sin sin)
{
	uint64_t b;

	for (b = 0; b < BLOCKS; b++) {
		if (sin == DATA_MISSING && b == 5)
			continue;
		fake_data(k, b,
			  sin == SHORT_DATA && b == 3	? BLOCK - 1
			  : sin == LONG_DATA && b == 3	? BLOCK + 1
			  : sin == EMPTY_DATA && b == 3 ? 0
							: BLOCK,
			  (b + (sin == DATA_OF_OTHER_DISK && b == 3)) % DISK_COUNT);
		if (sin == DATA_TWICE && b == 3)
			fake_data(k, b, BLOCK, b % DISK_COUNT);
	}
	if (sin == DATA_BEYOND)
		fake_data(k, BLOCKS, BLOCK, 0);
	if (sin == WANT_IN_A_READ)
		fake_want(k, 0, 0);
	fake_done(k, sin == DONE_WITH_ERROR ? DDIO_ST_IO : DDIO_ST_OK);
	if (sin == DONE_TWICE)
		fake_done(k, DDIO_ST_OK);
	if (sin == LATE_DATA)
		fake_data(k, 2, BLOCK, 0);
}

static void fake_write(struct fake *k, enum sin sin)
{
	uint64_t b;

	for (b = 0; b < BLOCKS; b++) {
		if (sin == WANT_MISSING && b == 5)
			continue;
		fake_want(k, b, (b + (sin == WANT_OF_OTHER_DISK && b == 3)) % DISK_COUNT);
		if (sin == WANT_TWICE && b == 3)
			fake_want(k, b, b % DISK_COUNT);
	}
	if (sin == WANT_BEYOND)
		fake_want(k, BLOCKS + 1, 1);
	if (sin == DATA_IN_A_WRITE)
		fake_data(k, 0, BLOCK, 0);
	if (sin == WANT_MISSING)
		fake_done(k, DDIO_ST_OK);
}

static void fake_step(struct fake *k, uint16_t opcode)
{
	struct ddio_msg_coll_step step = { .op = k->op, .handle = k->handle };
	uint8_t buf[32];

	fake_send(k, opcode, k->op, buf, (size_t)ddio_put_coll_step(buf, sizeof(buf), &step));
}

/* Sends what comes before the data. */
static void fake_steps(struct fake *k, enum sin sin)
{
	if (sin == READY_UNASKED)
		fake_step(k, DDIO_OP_COLL_READY);
	if (sin == TELL_ONCE || sin == TELL_TWICE)
		fake_step(k, DDIO_OP_COLL_TELL);
	if (sin == TELL_TWICE)
		fake_step(k, DDIO_OP_COLL_TELL);
}

/* The header of a DATA whose bytes never come. */
static void fake_torn(struct fake *k)
{
	struct ddio_sim_link net;

	fake_data(k, 0, BLOCK, 0);
	ddio_sim_link_default(&net);
	net.break_after = DDIO_WIRE_HEADER_LEN + 40 + BLOCK / 2;
	ddio_sim_set_link(k->env, &net);
}

static void fake_start(struct fake *k, const void *payload, size_t len)
{
	struct ddio_msg_coll_start start;
	enum sin sin = k->sin;

	CU_ASSERT_EQUAL_FATAL(ddio_get_coll_start(payload, len, &start), 0);
	k->op = start.op;
	k->writing = start.flags & DDIO_COLL_WRITE;
	memcpy(k->data, start.group, sizeof(start.group));
	ddio_coll_start_free(&start);
	k->sin = NONE;
	k->asked = 0;
	k->pieces = 0;
	if (sin == SILENCE)
		k->silent = true;
	if (k->silent)
		return;
	fake_steps(k, sin);
	if (sin == TORN_DATA)
		fake_torn(k);
	else if (k->writing)
		fake_write(k, sin);
	else
		fake_read(k, sin);
}

static struct ddio_file_record fake_record(struct fake *k, const char *name)
{
	static uint32_t disks[DISK_COUNT] = { 0, 1 };
	struct ddio_file_record rec = { .ref = { .id = 7, .block = BLOCK },
					.size = k->size,
					.ndisks = DISK_COUNT,
					.disks = disks };

	strcpy(rec.name, name);
	return rec;
}

static void fake_lookup(struct fake *k, const struct ddio_msg *msg)
{
	struct ddio_file_record rec = fake_record(k, "f");
	uint8_t buf[512];
	ssize_t n;

	if (k->sin == OTHER_FILE)
		rec.ref.id = 8;
	n = ddio_put_record(buf, sizeof(buf), &rec);
	if (k->sin == BAD_RECORD)
		n -= 3;
	if (k->sin == OTHER_FILE || k->sin == BAD_RECORD)
		k->sin = NONE;
	ddio_conn_reply(k->conn, msg, DDIO_ST_OK, buf, (size_t)n);
}

static void fake_obj_read(struct fake *k, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_obj obj;
	struct ddio_msg_obj_data d = { 0 };
	uint8_t buf[64 + BYTES + 1] = { 0 };
	ssize_t n;

	CU_ASSERT_EQUAL_FATAL(ddio_get_obj(payload, msg->length, &obj), 0);
	d.len = obj.len;
	if (k->sin == SHORT_READ)
		d.len--;
	if (k->sin == LONG_READ)
		d.len++;
	if (k->sin == SHORT_READ || k->sin == LONG_READ)
		k->sin = NONE;
	n = ddio_put_obj_data(buf, sizeof(buf), &d);
	ddio_conn_reply(k->conn, msg, DDIO_ST_OK, buf, (size_t)n + d.len);
}

static void fake_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct fake *k = ctx;
	struct ddio_welcome_disk disks[DISK_COUNT] = {
		{ .disk = 0, .sector = 512, .size = 1 << 20 },
		{ .disk = 1, .sector = 512, .size = 1 << 20 },
	};
	struct ddio_msg_welcome w = {
		.nreactors = 1, .ndisks = DISK_COUNT, .boot = 1, .disks = disks, .name = "io0"
	};

	CU_ASSERT_EQUAL(hello->reactor, 0);
	ddio_conn_welcome(k->conn, &w);
}

static int fake_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		     struct ddio_sink *sink)
{
	struct fake *k = ctx;

	(void)msg;
	(void)prefix;
	(void)prefix_len;
	k->iov.iov_base = k->data + 16;
	k->iov.iov_len = BLOCK;
	sink->iov = &k->iov;
	sink->n = 1;
	return 0;
}

static int fake_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct fake *k = ctx;
	struct ddio_msg_attach at;
	size_t len;

	if (k->silent)
		return 0;
	switch (msg->opcode) {
	case DDIO_OP_NS_LOOKUP:
		fake_lookup(k, msg);
		break;
	case DDIO_OP_ATTACH:
		CU_ASSERT_EQUAL(ddio_get_attach(payload, msg->length, &at), 0);
		k->handle = at.handle;
		ddio_conn_reply(k->conn, msg, DDIO_ST_OK, NULL, 0);
		break;
	case DDIO_OP_COLL_START:
		if (k->sin == UNKNOWN_TAG) {
			struct ddio_msg m = { .opcode = DDIO_OP_PING, .tag = 0x100000077 };

			ddio_conn_reply(k->conn, &m, DDIO_ST_OK, NULL, 0);
		}
		if (k->sin == UNKNOWN_OPCODE)
			fake_send(k, DDIO_OP_NS_CREATE, 1, "", 0);
		fake_start(k, payload, msg->length);
		break;
	case DDIO_OP_COLL_AGAIN:
		CU_ASSERT_EQUAL(ddio_past_get(&k->past, payload, msg->length, &payload, &len), 0);
		return fake_message(
			ctx, &(struct ddio_msg){ .opcode = DDIO_OP_COLL_START, .length = len },
			payload);
	case DDIO_OP_COLL_PIECE:
		if (++k->pieces == BLOCKS)
			fake_done(k, DDIO_ST_OK);
		break;
	case DDIO_OP_COLL_ABORT:
	case DDIO_OP_COLL_TOLD:
		break;
	case DDIO_OP_OBJ_READ:
		fake_obj_read(k, msg, payload);
		break;
	default:
		ddio_conn_reply(k->conn, msg, DDIO_ST_OK, NULL, 0);
	}
	return 0;
}

static void fake_closed(void *ctx, int err, const char *why)
{
	struct fake *k = ctx;

	(void)err;
	(void)why;
	ddio_conn_close(k->conn, false);
	k->conn = NULL;
}

static const struct ddio_conn_ops fake_ops = {
	.hello = fake_hello,
	.bulk = fake_bulk,
	.message = fake_message,
	.closed = fake_closed,
};

static void fake_accept(void *ctx, struct ddio_stream *stream)
{
	struct fake *k = ctx;
	struct ddio_conn_opts opts = { .key = &k->w->key, .cluster = "ut" };

	/* The old connection may not have been seen to end. */
	if (k->conn)
		ddio_conn_close(k->conn, false);
	k->silent = false;
	ddio_past_clear(&k->past);
	CU_ASSERT_EQUAL(ddio_conn_accept(k->env, stream, &opts, &fake_ops, k, &k->conn), 0);
}

/*
 * The other side
 */
static int transfer(struct cp_proc *p, struct ddio_file *f, uint8_t *buf, bool writing)
{
	struct ddio_extent all = { 0, BYTES };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &all };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .buf = buf, .method = DDIO_METHOD_DDS
	};

	return cp_note(p, writing ? ddio_write(f, &t) : ddio_read(f, &t));
}

static bool sin_writes(enum sin sin)
{
	return sin == DATA_IN_A_WRITE || (sin >= WANT_TWICE && sin <= WANT_MISSING);
}

static int sinned_against(struct cp_proc *p, struct fake *k, struct ddio_file *f, enum sin sin)
{
	uint8_t *buf = calloc(1, BYTES);
	ssize_t n;
	int ret;

	k->sin = sin;
	if (sin == SHORT_READ || sin == LONG_READ) {
		n = ddio_pread(f, buf, BYTES, 0);
		ret = n < 0 ? (int)n : 0;
		cp_note(p, ret);
	} else {
		ret = transfer(p, f, buf, sin_writes(sin));
	}
	/* Whatever comes now must not come here. */
	free(buf);
	return ret;
}

static void suffer(struct cp_proc *p)
{
	struct fake *k = p->w->arg;
	enum sin sin = k->sin;
	struct ddio_file *f = NULL;
	uint8_t buf[BYTES];
	int ret, i;

	k->sin = NONE;
	CP_OK(p, ddio_open(p->session, "f", 0, NULL, &f));
	CP_OK(p, transfer(p, f, buf, false));
	ret = sinned_against(p, k, f, sin);
	if (sin == NONE || sin == LATE_DATA || sin == DONE_TWICE || sin == TELL_ONCE)
		CU_ASSERT_EQUAL(ret, 0)
	else
		CU_ASSERT_NOT_EQUAL(ret, 0);
	if (getenv("DDIO_SHOW"))
		fprintf(stderr, "%d: %d %s\n", sin, ret, p->text);
	if (sin == DONE_WITH_ERROR) {
		CU_ASSERT_EQUAL(ret, -EIO);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "disk d1: block 3 is gone"));
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "io0"));
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "read of f"));
	}
	ddio_sim_sleep(p->env, 10 * CP_MS);
	memset(buf, 0, BYTES);
	CP_OK(p, transfer(p, f, buf, false));
	for (i = 0; i < BYTES; i++)
		CU_ASSERT_FATAL(buf[i] == cp_byte(9, (uint64_t)i));
	CP_OK(p, transfer(p, f, buf, true));
	ddio_close(f);
}

static void every_sin(void)
{
	struct cp_world w;
	struct fake k;
	enum sin sin;

	for (sin = NONE; sin < SINS; sin++) {
		memset(&w, 0, sizeof(w));
		memset(&k, 0, sizeof(k));
		w.p = (struct cp_params){ .nodes = 1,
					  .disks = DISK_COUNT,
					  .procs = 1,
					  .block = BLOCK,
					  .disk_size = "1M",
					  .timeout_ms = 1000 };
		strcpy(w.top, "/nonexistent");
		w.dw = ddio_sim_new(sin + 1);
		cp_conf(&w);
		k.w = &w;
		k.sin = sin;
		k.size = BYTES;
		k.env = ddio_sim_env(w.dw, "fake");
		CU_ASSERT_EQUAL_FATAL(
			ddio_listen(k.env, "127.0.0.1:7400", fake_accept, &k, &k.listener), 0);
		CU_ASSERT_EQUAL(cp_run(&w, suffer, &k), 0);
		CU_ASSERT(ddio_sim_elapsed(w.dw) < 10 * CP_SEC);
		ddio_sim_spawn(w.proc[0].env, cp_end_main, &w.proc[0]);
		CU_ASSERT_EQUAL(ddio_sim_run(w.dw), 0);
		if (k.conn)
			ddio_conn_close(k.conn, false);
		ddio_past_clear(&k.past);
		ddio_listener_close(k.listener);
		ddio_sim_free(w.dw);
		ddio_conf_free(w.conf);
	}
}

static const struct ut_case cases[] = {
	{ "every sin", every_sin },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "bad node", cases } };

	return ut_run("cp_bad_node", suites, 1);
}
