// SPDX-License-Identifier: GPL-2.0-only
/* The simulated world as an env: order, time, coroutines, streams and their faults. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/disk/disk.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

#define MS 1000000ULL

/*
 * Timers, posts, offloads
 */
struct trace {
	struct ddio_env *env;
	char text[64];
};

static void trace_add(struct trace *t, char c)
{
	size_t n = strlen(t->text);

	if (n + 1 < sizeof(t->text)) {
		t->text[n] = c;
		t->text[n + 1] = '\0';
	}
}

#define TRACE_FN(c)                      \
	static void trace_##c(void *arg) \
	{                                \
		trace_add(arg, #c[0]);   \
	}
TRACE_FN(a)
TRACE_FN(b)
TRACE_FN(c)
TRACE_FN(w)
TRACE_FN(d)

static void test_order(void)
{
	struct ddio_sim *world = ddio_sim_new(1);
	struct ddio_env *env = ddio_sim_env(world, "one");
	struct trace t = { .env = env };
	struct ddio_timer early = { .fn = trace_a, .arg = &t };
	struct ddio_timer late = { .fn = trace_b, .arg = &t };
	struct ddio_timer never = { .fn = trace_c, .arg = &t };
	struct ddio_post post = { .fn = trace_c, .arg = &t };
	struct ddio_offload job = { .work = trace_w, .done = trace_d, .arg = &t };
	uint64_t now = ddio_env_now(env);

	CU_ASSERT(now != 0);
	ddio_timer_arm(env, &late, now + 5 * MS);
	ddio_timer_arm(env, &never, now + 4 * MS);
	ddio_timer_arm(env, &early, now + 3 * MS);
	ddio_timer_cancel(env, &never);
	ddio_env_post(env, &post);
	ddio_env_offload(env, &job);
	CU_ASSERT_STRING_EQUAL(t.text, "w");
	ddio_sim_run_for(world, 4 * MS);
	CU_ASSERT_STRING_EQUAL(t.text, "wcda");
	CU_ASSERT_EQUAL(ddio_env_now(env), now + 4 * MS);
	CU_ASSERT(ddio_timer_armed(&late));
	ddio_sim_run_for(world, 4 * MS);
	CU_ASSERT_STRING_EQUAL(t.text, "wcdab");
	ddio_env_log(env, DDIO_LOG_WARN, "lost %d of %s", 3, "them");
	CU_ASSERT_EQUAL(ddio_sim_logged(world, "one warning: lost 3 of them"), 1);
	CU_ASSERT_EQUAL(ddio_sim_logged(world, "lost 4"), 0);
	ddio_env_charge(env, DDIO_WORK_COPY, 5);
	ddio_env_charge(env, DDIO_WORK_COPY, 7);
	CU_ASSERT_EQUAL(ddio_sim_charged(env, DDIO_WORK_COPY), 12);
	ddio_sim_free(world);
}

/*
 * Coroutines and gates
 */
struct meeting {
	struct ddio_env *env;
	struct ddio_gate gate;
	struct ddio_gate never;
	uint64_t woke;
	int ret;
};

static void meeting_wait(void *arg)
{
	struct meeting *m = arg;

	m->ret = ddio_gate_wait(m->env, &m->gate, 0);
	m->woke = ddio_env_now(m->env);
}

static void meeting_open(void *arg)
{
	struct meeting *m = arg;

	ddio_sim_sleep(m->env, 7 * MS);
	ddio_gate_open(m->env, &m->gate);
}

static void meeting_miss(void *arg)
{
	struct meeting *m = arg;

	m->ret = ddio_gate_wait(m->env, &m->never, ddio_env_now(m->env) + 2 * MS);
}

static void test_coroutines(void)
{
	struct ddio_sim *world = ddio_sim_new(1);
	struct ddio_env *env = ddio_sim_env(world, "one");
	struct meeting m = { .env = env, .ret = 1 };
	uint64_t start = ddio_env_now(env);

	ddio_gate_init(&m.gate);
	ddio_gate_init(&m.never);
	CU_ASSERT_EQUAL(ddio_sim_spawn(env, meeting_wait, &m), 0);
	CU_ASSERT_EQUAL(ddio_sim_spawn(env, meeting_open, &m), 0);
	CU_ASSERT_EQUAL(ddio_sim_run(world), 0);
	CU_ASSERT_EQUAL(m.ret, 0);
	CU_ASSERT_EQUAL(m.woke, start + 7 * MS);
	CU_ASSERT(ddio_gate_is_open(&m.gate));

	ddio_sim_spawn(env, meeting_miss, &m);
	CU_ASSERT_EQUAL(ddio_sim_run(world), 0);
	CU_ASSERT_EQUAL(m.ret, -ETIMEDOUT);
	CU_ASSERT_EQUAL(ddio_env_now(env), start + 9 * MS);

	ddio_gate_init(&m.gate);
	ddio_sim_spawn(env, meeting_wait, &m);
	CU_ASSERT_EQUAL(ddio_sim_run(world), -EDEADLK);
	/* Freed in the middle of its wait. */
	ddio_sim_free(world);
}

static void gate_opener(void *arg)
{
	struct meeting *m = arg;

	ddio_gate_open(m->env, &m->gate);
}

static void gate_self_wait(void *arg)
{
	struct meeting *m = arg;

	m->ret = ddio_gate_wait(m->env, &m->never, 0);
}

static void test_gate_from_main(void)
{
	struct ddio_sim *world = ddio_sim_new(1);
	struct meeting m = { .env = ddio_sim_env(world, "one") };
	struct ddio_timer timer = { .fn = gate_opener, .arg = &m };
	struct ddio_post post = { .fn = gate_self_wait, .arg = &m };
	uint64_t start = ddio_env_now(m.env);

	ddio_gate_init(&m.gate);
	ddio_gate_init(&m.never);
	ddio_timer_arm(m.env, &timer, start + 3 * MS);
	CU_ASSERT_EQUAL(ddio_gate_wait(m.env, &m.gate, start + MS), -ETIMEDOUT);
	CU_ASSERT_EQUAL(ddio_env_now(m.env), start + MS);
	CU_ASSERT_EQUAL(ddio_gate_wait(m.env, &m.gate, 0), 0);
	CU_ASSERT_EQUAL(ddio_env_now(m.env), start + 3 * MS);
	CU_ASSERT_EQUAL(ddio_gate_wait(m.env, &m.never, 0), -EDEADLK);
	ddio_env_post(m.env, &post);
	ddio_sim_run_for(world, MS);
	CU_ASSERT_EQUAL(m.ret, -EDEADLK);
	ddio_sim_free(world);
}

/*
 * Streams: an echoing process and one that checks what comes back.
 */
#define ECHO_LEN 300000

struct link_end {
	struct ddio_stream *stream;
	uint8_t *buf;
	size_t have, sent;
	int err;
	bool over;
	bool sends_all;
};

static void end_write(struct link_end *e)
{
	size_t limit = e->sends_all ? ECHO_LEN : e->have;
	struct iovec iov[2];
	ssize_t n;

	while (e->sent < limit) {
		iov[0].iov_base = e->buf + e->sent;
		iov[0].iov_len = (limit - e->sent + 1) / 2;
		iov[1].iov_base = e->buf + e->sent + iov[0].iov_len;
		iov[1].iov_len = limit - e->sent - iov[0].iov_len;
		n = ddio_stream_writev(e->stream, iov, 2);
		if (n < 0)
			break;
		e->sent += n;
	}
	ddio_stream_want_write(e->stream, e->sent < limit);
}

static void echo_readable(void *ctx)
{
	struct link_end *e = ctx;
	struct iovec iov = { .iov_base = e->buf + e->have, .iov_len = ECHO_LEN - e->have };
	uint8_t extra;
	ssize_t n;

	if (!iov.iov_len)
		iov = (struct iovec){ .iov_base = &extra, .iov_len = 1 };
	n = ddio_stream_readv(e->stream, &iov, 1);
	if (n <= 0) {
		e->over = n == 0;
		ddio_stream_want_read(e->stream, false);
		return;
	}
	e->have += n;
	end_write(e);
}

static void end_writable(void *ctx)
{
	end_write(ctx);
}

static void end_failed(void *ctx, int err)
{
	struct link_end *e = ctx;

	e->err = err;
}

static const struct ddio_stream_ops echo_ops = {
	.readable = echo_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void check_readable(void *ctx)
{
	struct link_end *e = ctx;
	uint8_t got[5000];
	struct iovec iov = { .iov_base = got, .iov_len = sizeof(got) };
	ssize_t n;

	n = ddio_stream_readv(e->stream, &iov, 1);
	if (n <= 0) {
		e->over = n == 0;
		ddio_stream_want_read(e->stream, false);
		return;
	}
	if (e->have + n > ECHO_LEN || memcmp(got, e->buf + e->have, n))
		e->err = -EBADMSG;
	e->have += n;
}

static const struct ddio_stream_ops check_ops = {
	.readable = check_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void echo_accept(void *ctx, struct ddio_stream *stream)
{
	struct link_end *e = ctx;

	e->stream = stream;
	ddio_stream_set_ops(stream, &echo_ops, e);
}

struct echo {
	struct ddio_sim *world;
	struct ddio_env *server, *client;
	struct ddio_listener *listener;
	struct link_end back, forth;
};

static void echo_begin(struct echo *t, uint64_t seed, const struct ddio_sim_link *net)
{
	size_t i;

	memset(t, 0, sizeof(*t));
	t->world = ddio_sim_new(seed);
	t->server = ddio_sim_env(t->world, "server");
	t->client = ddio_sim_env(t->world, "client");
	t->back.buf = malloc(ECHO_LEN);
	t->forth.buf = malloc(ECHO_LEN);
	t->forth.sends_all = true;
	for (i = 0; i < ECHO_LEN; i++)
		t->forth.buf[i] = i * 7 + i / 251;
	ddio_sim_set_link(t->server, net);
	ddio_sim_set_link(t->client, net);
	CU_ASSERT_EQUAL(ddio_listen(t->server, "127.0.0.1:0", echo_accept, &t->back, &t->listener),
			0);
	CU_ASSERT_EQUAL(ddio_stream_connect(t->client, ddio_listener_addr(t->listener), &check_ops,
					    &t->forth, &t->forth.stream),
			0);
	ddio_stream_want_write(t->forth.stream, true);
}

static void echo_end(struct echo *t)
{
	ddio_stream_close(t->forth.stream);
	ddio_sim_run_for(t->world, 1000 * MS);
	ddio_stream_close(t->back.stream);
	ddio_listener_close(t->listener);
	free(t->back.buf);
	free(t->forth.buf);
	ddio_sim_free(t->world);
}

static void test_streams(void)
{
	static const struct ddio_sim_link nets[] = {
		{ .latency_ns = 10000, .window = 65536 },
		{ .latency_ns = 1, .window = 1 << 20 },
		{ .latency_ns = 10000, .jitter_ns = 50000, .window = 4096, .chop = 700 },
		{ .window = 100, .chop = 3 },
	};
	struct echo t;
	size_t i;

	for (i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		echo_begin(&t, i, &nets[i]);
		ddio_sim_run_for(t.world, 60000 * MS);
		CU_ASSERT_EQUAL(t.forth.have, ECHO_LEN);
		CU_ASSERT_EQUAL(t.forth.err, 0);
		CU_ASSERT_FALSE(t.back.over);
		CU_ASSERT(ddio_stream_is_loopback(t.forth.stream));
		echo_end(&t);
	}
}

static void test_stream_end(void)
{
	struct ddio_sim_link net;
	struct echo t;

	ddio_sim_link_default(&net);
	echo_begin(&t, 1, &net);
	ddio_sim_run_for(t.world, 1000 * MS);
	ddio_stream_close(t.forth.stream);
	t.forth.stream = NULL;
	ddio_sim_run_for(t.world, MS);
	CU_ASSERT_TRUE(t.back.over);
	CU_ASSERT_EQUAL(t.back.err, 0);
	CU_ASSERT_EQUAL(t.back.have, ECHO_LEN);
	echo_end(&t);
}

static void test_stream_faults(void)
{
	struct ddio_sim_link net;
	struct echo t;

	ddio_sim_link_default(&net);
	net.break_after = 100000;
	echo_begin(&t, 1, &net);
	ddio_sim_run_for(t.world, 1000 * MS);
	CU_ASSERT_EQUAL(t.forth.err, -ECONNRESET);
	CU_ASSERT_EQUAL(t.back.err, -ECONNRESET);
	CU_ASSERT(t.back.have < 100000);
	echo_end(&t);

	net.break_after = 0;
	net.stall_after = 123456;
	echo_begin(&t, 1, &net);
	ddio_sim_run_for(t.world, 1000 * MS);
	CU_ASSERT_EQUAL(t.back.have, 123456);
	CU_ASSERT_EQUAL(t.forth.have, 123456);
	CU_ASSERT_EQUAL(t.forth.err, 0);
	echo_end(&t);
}

static void test_kill_and_cut(void)
{
	struct ddio_sim_link net;
	struct ddio_stream *again;
	struct link_end other = { 0 };
	struct echo t;

	ddio_sim_link_default(&net);
	net.window = 8192;
	echo_begin(&t, 1, &net);
	ddio_sim_run_for(t.world, MS / 5);
	sim_kill(t.server);
	ddio_sim_run_for(t.world, 1000 * MS);
	CU_ASSERT_TRUE(t.forth.over);
	CU_ASSERT(t.forth.have > 0 && t.forth.have < ECHO_LEN);
	CU_ASSERT_EQUAL(ddio_stream_connect(t.client, ddio_listener_addr(t.listener), &check_ops,
					    &other, &again),
			0);
	CU_ASSERT_EQUAL(other.err, 0);
	ddio_sim_run_for(t.world, MS);
	CU_ASSERT_EQUAL(other.err, -ECONNREFUSED);
	ddio_stream_close(again);
	echo_end(&t);

	echo_begin(&t, 1, &net);
	ddio_sim_run_for(t.world, MS / 5);
	ddio_sim_cut(t.client);
	ddio_sim_run_for(t.world, 1000 * MS);
	CU_ASSERT_EQUAL(t.forth.err, -ECONNRESET);
	CU_ASSERT_EQUAL(t.back.err, -ECONNRESET);
	echo_end(&t);
}

/* The same seed gives the same run, another seed another one. */
static void test_repeats(void)
{
	struct ddio_sim_link net = {
		.latency_ns = 10000, .jitter_ns = 90000, .window = 5000, .chop = 900
	};
	size_t have[3];
	struct echo t;
	int i;

	for (i = 0; i < 3; i++) {
		echo_begin(&t, i == 2 ? 5 : 4, &net);
		ddio_sim_run_for(t.world, 2 * MS);
		have[i] = t.forth.have;
		CU_ASSERT(have[i] > 0 && have[i] < ECHO_LEN);
		echo_end(&t);
	}
	CU_ASSERT_EQUAL(have[0], have[1]);
	CU_ASSERT_NOT_EQUAL(have[0], have[2]);
}

/*
 * Disks in virtual time
 */
struct disk_use {
	struct ddio_env *env;
	struct ddio_disk_req req;
	struct ddio_gate gate;
};

static void disk_done(struct ddio_disk_req *req)
{
	struct disk_use *use = req->arg;

	ddio_gate_open(use->env, &use->gate);
}

static int disk_do(struct disk_use *use, struct ddio_disk *disk, enum ddio_disk_op op, void *buf)
{
	use->req = (struct ddio_disk_req){
		.op = op, .len = 512, .buf = buf, .done = disk_done, .arg = use
	};
	ddio_gate_init(&use->gate);
	ddio_disk_submit(disk, &use->req);
	ddio_disk_commit(disk);
	CU_ASSERT_FALSE(ddio_gate_is_open(&use->gate));
	CU_ASSERT_EQUAL(ddio_gate_wait(use->env, &use->gate, 0), 0);
	return use->req.status;
}

static void test_disks(void)
{
	struct ddio_sim *world = ddio_sim_new(1);
	struct disk_use use = { .env = ddio_sim_env(world, "one") };
	struct ddio_disk_spec spec = {
		.name = "d", .engine = "mem", .size = 1 << 20, .options = "delay_us=1500"
	};
	char buf[512] = "written", back[512] = "";
	struct ddio_disk *disk;
	char err[200];

	CU_ASSERT_EQUAL_FATAL(ddio_disk_open(use.env, &spec, &disk, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(disk_do(&use, disk, DDIO_DISK_WRITE, buf), 0);
	CU_ASSERT_EQUAL(use.req.done_ns - use.req.submit_ns, 1500000);
	CU_ASSERT_EQUAL(disk_do(&use, disk, DDIO_DISK_READ, back), 0);
	CU_ASSERT_STRING_EQUAL(back, "written");
	ddio_disk_close(disk);
	ddio_sim_free(world);
}

static const struct ut_case cases[] = {
	{ "timers, posts and offloads in order", test_order },
	{ "coroutines wait at gates", test_coroutines },
	{ "a gate from main runs the world", test_gate_from_main },
	{ "streams carry every byte", test_streams },
	{ "a closed stream ends", test_stream_end },
	{ "streams break and stall", test_stream_faults },
	{ "processes die and are cut off", test_kill_and_cut },
	{ "a seed repeats", test_repeats },
	{ "a disk takes virtual time", test_disks },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_sim", cases } };

	return ut_run("env_sim", suites, 1);
}
