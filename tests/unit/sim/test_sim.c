// SPDX-License-Identifier: GPL-2.0-only
/* The simulated world: CPUs that do one thing at a time, and networks. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/disk/disk.h"
#include "sim/sim.h"
#include "tests/unit/iop/store/ut_store.h"
#include "tests/unit/lib/ut.h"

#define US 1000ull

static const struct ddio_sim_machine slow = {
	.name = "slow",
	.cost = { [DDIO_WORK_CALL] = { 1000, 0 }, [DDIO_WORK_COPY] = { 10, 1500 } },
};

struct mark {
	struct ddio_env *env;
	struct ddio_timer timer;
	uint64_t began, ended;
	uint32_t calls;
};

static void mark_event(void *arg)
{
	struct mark *m = arg;

	m->began = ddio_env_now(m->env);
	ddio_env_charge(m->env, DDIO_WORK_CALL, m->calls);
	m->ended = ddio_env_now(m->env);
}

static void mark_at(struct mark *m, struct ddio_env *env, uint64_t when, uint32_t calls)
{
	*m = (struct mark){ .env = env, .timer = { .fn = mark_event, .arg = m }, .calls = calls };
	ddio_timer_arm(env, &m->timer, when);
}

/* Work takes its time, once a call and for each unit, and a fraction of a nanosecond is kept. */
static void test_costs(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *env = ddio_sim_env(sim, "a");
	uint64_t t = ddio_env_now(env);

	ddio_sim_set_machine(sim, &slow);
	ddio_env_charge(env, DDIO_WORK_COPY, 100);
	ddio_sim_run_for(sim, US);
	CU_ASSERT_EQUAL(ddio_sim_busy(env), 10 + 150);
	ddio_env_charge(env, DDIO_WORK_COPY, 1);
	ddio_env_charge(env, DDIO_WORK_COPY, 1);
	ddio_sim_run_for(sim, US);
	CU_ASSERT_EQUAL(ddio_sim_busy(env), 160 + 2 * 10 + 3);
	CU_ASSERT_EQUAL(ddio_env_now(env), t + 2 * US);
	CU_ASSERT_EQUAL(ddio_sim_charged(env, DDIO_WORK_COPY), 102);
	ddio_sim_free(sim);
}

/* Two events on one CPU come one after the other; on two CPUs at the same time. */
static void test_one_thing_at_a_time(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *a = ddio_sim_env(sim, "a"), *b = ddio_sim_env(sim, "b");
	struct ddio_env *guest = ddio_sim_env(sim, "guest");
	struct mark m[4];
	uint64_t t = ddio_env_now(a);

	ddio_sim_set_machine(sim, &slow);
	ddio_sim_share(guest, a);
	mark_at(&m[0], a, t + 10 * US, 1);
	mark_at(&m[1], a, t + 10 * US, 1);
	mark_at(&m[2], guest, t + 10 * US, 1);
	mark_at(&m[3], b, t + 10 * US, 1);
	ddio_sim_run_for(sim, 100 * US);
	CU_ASSERT_EQUAL(m[0].began, t + 10 * US);
	CU_ASSERT_EQUAL(m[0].ended, t + 11 * US);
	CU_ASSERT_EQUAL(m[1].began, t + 11 * US);
	CU_ASSERT_EQUAL(m[2].began, t + 12 * US);
	CU_ASSERT_EQUAL(m[3].began, t + 10 * US);
	CU_ASSERT_EQUAL(ddio_sim_busy(a), 3 * US);
	CU_ASSERT_EQUAL(ddio_sim_busy(guest), 3 * US);
	CU_ASSERT_EQUAL(ddio_sim_busy(b), US);
	ddio_sim_free(sim);
}

/* What an event posts comes after an event that waits for the same CPU, or with prompt before it. */
struct sim_posting {
	struct mark mark;
	struct ddio_post post;
	uint64_t ended;
};

static void posted(void *arg)
{
	struct sim_posting *p = arg;

	p->ended = ddio_env_now(p->mark.env);
}

static void poster_event(void *arg)
{
	struct sim_posting *p = arg;

	mark_event(&p->mark);
	ddio_env_post(p->mark.env, &p->post);
}

static void post_beside(bool prompt, uint64_t first, uint64_t second)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *a = ddio_sim_env(sim, "a");
	struct sim_posting p[2];
	uint64_t t = ddio_env_now(a);
	uint32_t i;

	ddio_sim_set_machine(sim, &slow);
	ddio_sim_prompt(sim, prompt);
	for (i = 0; i < 2; i++) {
		p[i].post = (struct ddio_post){ .fn = posted, .arg = &p[i] };
		mark_at(&p[i].mark, a, t + 10 * US, 1);
		p[i].mark.timer.fn = poster_event;
	}
	ddio_sim_run_for(sim, 100 * US);
	CU_ASSERT_EQUAL(p[0].ended, t + first);
	CU_ASSERT_EQUAL(p[1].ended, t + second);
	ddio_sim_free(sim);
}

static void test_prompt(void)
{
	post_beside(false, 12 * US, 12 * US);
	post_beside(true, 11 * US, 12 * US);
}

struct compute {
	struct ddio_env *env;
	uint64_t ended;
};

static void compute(void *arg)
{
	struct compute *c = arg;

	ddio_sim_compute(c->env, 100 * US);
	c->ended = ddio_env_now(c->env);
}

/* A computation takes what the CPU has left over. */
static void test_compute(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *a = ddio_sim_env(sim, "a");
	struct compute c = { .env = a };
	struct mark m[12];
	uint64_t t = ddio_env_now(a);
	uint32_t i;

	ddio_sim_set_machine(sim, &slow);
	/* One each 10 us: eleven of them come before 100 us are left over, as the last is
	 * made up for. */
	for (i = 0; i < 12; i++)
		mark_at(&m[i], a, t + 5 * US + i * 10 * US, 1);
	CU_ASSERT_EQUAL(ddio_sim_spawn(a, compute, &c), 0);
	CU_ASSERT_EQUAL(ddio_sim_run(sim), 0);
	CU_ASSERT_EQUAL(c.ended, t + 111 * US);
	ddio_sim_free(sim);
}

/*
 * Networks: one process sends, another reads and notes when the last byte came.
 */
struct wire_end {
	struct ddio_env *env;
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	uint64_t expected, got, last;
};

static void end_readable(void *arg)
{
	struct wire_end *e = arg;
	char buf[4096];
	struct iovec iov = { buf, sizeof(buf) };
	ssize_t n = ddio_stream_readv(e->stream, &iov, 1);

	if (n > 0) {
		e->got += (uint64_t)n;
		e->last = ddio_env_now(e->env);
	}
}

static void end_failed(void *arg, int err)
{
	(void)arg;
	CU_ASSERT_EQUAL(err, 0);
}

static const struct ddio_stream_ops end_ops = { .readable = end_readable, .failed = end_failed };

static void end_accept(void *arg, struct ddio_stream *stream)
{
	struct wire_end *e = arg;

	e->stream = stream;
	ddio_stream_set_ops(stream, &end_ops, e);
}

static void pair_open(struct ddio_sim *sim, struct wire_end *from, struct wire_end *to,
		      const char *addr)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	link.latency_ns = 0;
	ddio_sim_set_link(from->env, &link);
	ddio_sim_set_link(to->env, &link);
	CU_ASSERT_EQUAL(ddio_listen(to->env, addr, end_accept, to, &to->listener), 0);
	CU_ASSERT_EQUAL(ddio_stream_connect(from->env, addr, &end_ops, from, &from->stream), 0);
	ddio_sim_run_for(sim, US);
	CU_ASSERT_PTR_NOT_NULL_FATAL(to->stream);
}

static void pair_send(struct wire_end *from, struct wire_end *to, size_t len)
{
	static char data[4000];
	struct iovec iov = { data, len };

	CU_ASSERT_EQUAL(ddio_stream_writev(from->stream, &iov, 1), (ssize_t)len);
	to->expected += len;
}

static void pair_close(struct wire_end *from, struct wire_end *to)
{
	ddio_stream_close(from->stream);
	ddio_stream_close(to->stream);
	ddio_listener_close(to->listener);
}

/* Time from writing until the last byte is there, between two nodes. */
static uint64_t travel(const struct ddio_sim_net *net, uint32_t nodes, uint32_t from, uint32_t to)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct wire_end a = { 0 }, b = { 0 };
	uint64_t t;
	uint32_t i;

	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, net), 0);
	for (i = 0; i < nodes; i++) {
		struct ddio_env *env = ddio_sim_env(sim, "n");

		if (i == from)
			a.env = env;
		if (i == to)
			b.env = env;
	}
	pair_open(sim, &a, &b, "127.0.0.1:1");
	t = ddio_env_now(a.env);
	pair_send(&a, &b, 2000);
	ddio_sim_run_for(sim, 1000 * US);
	CU_ASSERT_EQUAL(b.got, b.expected);
	pair_close(&a, &b);
	ddio_sim_free(sim);
	return b.last - t;
}

/* 2000 bytes take 10 us at 200e6 bytes/s; a router more for each hop, the shorter way round. */
static void test_torus_distance(void)
{
	const struct ddio_sim_net *net = &ddio_sim_net_1994;

	CU_ASSERT_EQUAL(travel(net, 36, 0, 1), 10 * US + 2 * 20);
	CU_ASSERT_EQUAL(travel(net, 36, 0, 3), 10 * US + 4 * 20);
	CU_ASSERT_EQUAL(travel(net, 36, 0, 5), 10 * US + 2 * 20);
	CU_ASSERT_EQUAL(travel(net, 36, 0, 7), 10 * US + 3 * 20);
	CU_ASSERT_EQUAL(travel(net, 36, 0, 21), 10 * US + 7 * 20);
	CU_ASSERT_EQUAL(travel(net, 36, 35, 0), 10 * US + 3 * 20);
}

static void test_other_networks(void)
{
	struct ddio_sim_net net = ddio_sim_net_1994;

	net.kind = DDIO_SIM_NET_SWITCHED;
	CU_ASSERT_EQUAL(travel(&net, 4, 1, 3), 2 * 10 * US + 20 - 10 * US);
	net.kind = DDIO_SIM_NET_IDEAL;
	CU_ASSERT_EQUAL(travel(&net, 4, 1, 3), 10 * US);
	net.bytes_per_s = 0;
	CU_ASSERT_EQUAL(travel(&net, 4, 1, 3), 0);
}

/* When each of two messages has come, sent at the same time along paths @first and @second. */
static void contend(const struct ddio_sim_net *net, const uint32_t first[2],
		    const uint32_t second[2], uint64_t came[2])
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_sim_net_stats st;
	struct ddio_env *env[36];
	struct wire_end a[2], b[2];
	uint64_t t;
	uint32_t i;

	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, net), 0);
	for (i = 0; i < 36; i++)
		env[i] = ddio_sim_env(sim, "n");
	a[0] = (struct wire_end){ .env = env[first[0]] };
	b[0] = (struct wire_end){ .env = env[first[1]] };
	a[1] = (struct wire_end){ .env = env[second[0]] };
	b[1] = (struct wire_end){ .env = env[second[1]] };
	pair_open(sim, &a[0], &b[0], "127.0.0.1:1");
	pair_open(sim, &a[1], &b[1], "127.0.0.1:2");
	t = ddio_env_now(env[0]);
	pair_send(&a[0], &b[0], 2000);
	pair_send(&a[1], &b[1], 2000);
	ddio_sim_run_for(sim, 1000 * US);
	came[0] = b[0].last - t;
	came[1] = b[1].last - t;
	ddio_sim_net_stats(sim, &st);
	CU_ASSERT_EQUAL(st.bytes, 4000);
	pair_close(&a[0], &b[0]);
	pair_close(&a[1], &b[1]);
	ddio_sim_free(sim);
}

static void test_torus_contention(void)
{
	const uint32_t row[2] = { 0, 2 }, same_row[2] = { 1, 3 }, back[2] = { 2, 0 };
	const uint32_t apart[2] = { 12, 14 };
	uint64_t came[2];

	contend(&ddio_sim_net_1994, row, apart, came);
	CU_ASSERT_EQUAL(came[0], 10 * US + 60);
	CU_ASSERT_EQUAL(came[1], 10 * US + 60);
	/* The link from 1 to 2 is on both paths. */
	contend(&ddio_sim_net_1994, row, same_row, came);
	CU_ASSERT_EQUAL(came[0], 10 * US + 60);
	CU_ASSERT_EQUAL(came[1], 2 * (10 * US + 60));
	/* The other direction is another link. */
	contend(&ddio_sim_net_1994, row, back, came);
	CU_ASSERT_EQUAL(came[1], 10 * US + 60);
}

/* How long 2000 bytes take to a neighbour after Memputs of @put bytes, and perhaps a look-up in a cache. */
static uint64_t travel_put(uint64_t put, bool cached, uint64_t *messages)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_sim_net_stats before, after;
	struct wire_end a = { 0 }, b = { 0 };
	uint64_t t;

	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, &ddio_sim_net_1994), 0);
	a.env = ddio_sim_env(sim, "n");
	b.env = ddio_sim_env(sim, "n");
	pair_open(sim, &a, &b, "127.0.0.1:1");
	ddio_env_charge(a.env, DDIO_WORK_MEMPUT, put);
	if (cached)
		ddio_env_charge(a.env, DDIO_WORK_CACHE, 1);
	ddio_sim_net_stats(sim, &before);
	t = ddio_env_now(a.env);
	pair_send(&a, &b, 2000);
	ddio_sim_run_for(sim, 1000 * US);
	ddio_sim_net_stats(sim, &after);
	*messages = after.messages - before.messages;
	CU_ASSERT_EQUAL(b.got, b.expected);
	pair_close(&a, &b);
	ddio_sim_free(sim);
	return b.last - t;
}

/* Each Memput takes its data, 16 bytes more, and its way: 120 and 40 ns for 8 bytes. */
static void test_torus_puts(void)
{
	uint64_t n;

	CU_ASSERT_EQUAL(travel_put(8, false, &n), 250 * 160);
	CU_ASSERT_EQUAL(n, 250);
	CU_ASSERT_EQUAL(travel_put(1000, false, &n), 2 * (1016 * 5 + 40));
	CU_ASSERT_EQUAL(n, 2);
	CU_ASSERT_EQUAL(travel_put(2000, false, &n), 10 * US + 40);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(travel_put(8, true, &n), 10 * US + 40);
	CU_ASSERT_EQUAL(n, 1);
}

/* What a handler sends after it has worked leaves afterwards, and what is sent earlier goes first. */
struct sender {
	struct wire_end from, to;
	struct ddio_timer timer;
	uint32_t calls;
};

static void sender_event(void *arg)
{
	struct sender *s = arg;

	ddio_env_charge(s->from.env, DDIO_WORK_CALL, 1);
	if (s->calls)
		ddio_env_charge(s->from.env, DDIO_WORK_CALL, 1);
	pair_send(&s->from, &s->to, 2000);
}

static void test_leaving(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct sender s[2];
	struct ddio_env *env[36];
	uint64_t t;
	uint32_t i;

	memset(s, 0, sizeof(s));
	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, &ddio_sim_net_1994), 0);
	for (i = 0; i < 36; i++)
		env[i] = ddio_sim_env(sim, "n");
	for (i = 0; i < 2; i++) {
		s[i].from.env = env[i];
		s[i].to.env = env[2 + i];
		s[i].timer.fn = sender_event;
		s[i].timer.arg = &s[i];
		pair_open(sim, &s[i].from, &s[i].to, i ? "127.0.0.1:2" : "127.0.0.1:1");
	}
	ddio_sim_set_machine(sim, &slow);
	t = ddio_env_now(env[0]) + US;
	s[0].calls = 1; /* works twice as long */
	ddio_timer_arm(env[0], &s[0].timer, t);
	ddio_timer_arm(env[1], &s[1].timer, t);
	ddio_sim_run_for(sim, 1000 * US);
	CU_ASSERT_EQUAL(s[1].to.last, t + US + 10 * US + 60);
	CU_ASSERT_EQUAL(s[0].to.last, t + US + 2 * (10 * US + 60));
	for (i = 0; i < 2; i++)
		pair_close(&s[i].from, &s[i].to);
	ddio_sim_free(sim);
}

static void test_refused(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_sim_net net = ddio_sim_net_1994;

	net.rows = 0;
	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, &net), -EINVAL);
	CU_ASSERT_PTR_NULL(ddio_sim_machine_find("none"));
	ddio_sim_env(sim, "a");
	CU_ASSERT_EQUAL(ddio_sim_set_net(sim, &ddio_sim_net_1994), -EINVAL);
	ddio_sim_free(sim);
}

/*
 * Faults
 */
struct writer {
	int fd;
	ssize_t ret;
	int err;
	bool done;
};

static void writer_work(void *arg)
{
	struct writer *w = arg;

	w->ret = write(w->fd, "x", 1);
	w->err = errno;
}

static void writer_done(void *arg)
{
	((struct writer *)arg)->done = true;
}

/* Offloaded work fails where it writes, whether it takes time or not, and only while it is to. */
static void test_offload_fails(void)
{
	char path[] = "/tmp/ddio-test-sim.XXXXXX";
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *env = ddio_sim_env(sim, "a");
	uint32_t round;

	for (round = 0; round < 4; round++) {
		struct writer w = { .fd = round ? open(path, O_WRONLY) : mkstemp(path) };
		struct ddio_offload job = { .work = writer_work, .done = writer_done, .arg = &w };

		ddio_sim_set_offload(env, round < 2 ? 0 : 1000);
		ddio_sim_fail_offload(env, round % 2);
		ddio_env_offload(env, &job);
		ddio_sim_run_for(sim, 5000);
		CU_ASSERT(w.done);
		CU_ASSERT_EQUAL(w.ret, round % 2 ? -1 : 1);
		CU_ASSERT(!(round % 2) || w.err == EFBIG);
		CU_ASSERT_EQUAL(write(w.fd, "y", 1), 1);
		close(w.fd);
	}
	unlink(path);
	ddio_sim_free(sim);
}

static void disk_done(struct ddio_disk_req *req)
{
	(*(uint32_t *)req->arg)++;
}

static int disk_do(struct ddio_sim *sim, struct ddio_disk *disk, enum ddio_disk_op op, void *buf)
{
	uint32_t done = 0;
	struct ddio_disk_req req = { .op = op, .buf = buf, .done = disk_done, .arg = &done };

	req.len = op == DDIO_DISK_FLUSH ? 0 : 512;
	ddio_disk_submit(disk, &req);
	ddio_disk_commit(disk);
	ddio_sim_run_for(sim, 1000 * US);
	CU_ASSERT_EQUAL(done, 1);
	return req.status;
}

static void forgot(void *arg)
{
	(*(uint32_t *)arg)++;
}

/* Returns how a file reads that had 3 sectors "a" when it was flushed, then 4 sectors "b", and has lost @lose of a thousand. */
static const char *after_loss(bool flush, uint32_t lose)
{
	static char buf[8 * 512 + 1], seen[9];
	struct ddio_sim *sim = ddio_sim_new(5);
	struct ddio_env *env = ddio_sim_env(sim, "io0");
	char top[200], file[260], copy[260];
	ssize_t n;
	int fd, i;

	ut_temp_dir(top, sizeof(top));
	snprintf(file, sizeof(file), "%s/file", top);
	snprintf(copy, sizeof(copy), "%s/copy", top);
	fd = open(file, O_RDWR | O_CREAT, 0600);
	memset(buf, 'a', sizeof(buf));
	CU_ASSERT_EQUAL_FATAL(pwrite(fd, buf, 3 * 512, 0), 3 * 512);
	CU_ASSERT_EQUAL(!flush || !ddio_env_flush_file(env, fd), true);
	memset(buf, 'b', sizeof(buf));
	CU_ASSERT_EQUAL(pwrite(fd, buf, 4 * 512, 0), 4 * 512);
	close(fd);
	ut_copy_file(file, copy);
	CU_ASSERT(ddio_sim_file_crash(sim, file, copy, lose) >= 0);
	CU_ASSERT_EQUAL(ddio_env_flush_file(env, -1), -EBADF);
	fd = open(copy, O_RDONLY);
	n = pread(fd, buf, sizeof(buf) - 1, 0);
	close(fd);
	for (i = 0; i < n / 512; i++)
		seen[i] = buf[i * 512] ? buf[i * 512] : '0';
	seen[i] = '\0';
	CU_ASSERT_EQUAL(ddio_sim_file_crash(sim, "/nowhere", copy, lose), -ENOENT);
	ut_remove_tree(top);
	ddio_sim_free(sim);
	return seen;
}

/* A loss of power takes what was not flushed of a file, sector by sector, and no more. */
static void test_file_crash(void)
{
	CU_ASSERT_STRING_EQUAL(after_loss(true, 0), "bbbb");
	CU_ASSERT_STRING_EQUAL(after_loss(true, 1000), "aaa");
	CU_ASSERT_STRING_EQUAL(after_loss(false, 0), "bbbb");
	CU_ASSERT_STRING_EQUAL(after_loss(false, 1000), "");
	CU_ASSERT(strchr(after_loss(true, 500), 'a') && strchr(after_loss(true, 500), 'b'));
}

/* Of the requests that are to fail only the kinds that are meant count, and a failed flush tells what it has lost. */
static void test_medium_fails(void)
{
	static uint8_t a[512] __attribute__((aligned(4096))), b[512] __attribute__((aligned(4096)));
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_sim_medium *m = ddio_sim_medium_new(sim, "m", 1 << 16);
	struct ddio_disk_spec spec = { .name = "m", .engine = "mem", .path = "m", .size = 1 << 16 };
	uint32_t lost = 0;
	struct ddio_sim_medium_faults how = { .bad_next = 1, .forgot = forgot, .arg = &lost };
	struct ddio_disk *disk = NULL;
	char err[200] = "";

	CU_ASSERT_EQUAL_FATAL(
		ddio_disk_open(ddio_sim_env(sim, "a"), &spec, &disk, err, sizeof(err)), 0);
	memset(a, 7, sizeof(a));
	how.bad_ops = 1u << DDIO_DISK_READ;
	ddio_sim_medium_set(m, &how);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_WRITE, a), 0);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_FLUSH, NULL), 0);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_READ, b), -EIO);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_READ, b), 0);
	CU_ASSERT(!memcmp(a, b, sizeof(a)));
	memset(a, 8, sizeof(a));
	how.bad_ops = 1u << DDIO_DISK_FLUSH;
	ddio_sim_medium_set(m, &how);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_WRITE, a), 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_FLUSH, NULL), -EIO);
	CU_ASSERT_EQUAL(lost, 1);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_READ, b), 0);
	CU_ASSERT_EQUAL(b[0], 7);
	/* Nothing was to be kept, and nothing is lost. */
	ddio_sim_medium_set(m, &how);
	CU_ASSERT_EQUAL(disk_do(sim, disk, DDIO_DISK_FLUSH, NULL), -EIO);
	CU_ASSERT_EQUAL(lost, 1);
	ddio_disk_close(disk);
	ddio_sim_free(sim);
}

static const struct ut_case fault_tests[] = {
	{ "offloaded work that cannot write", test_offload_fails },
	{ "requests of one kind that fail, and what a flush loses", test_medium_fails },
	{ "what a file loses", test_file_crash },
	{ 0 },
};

static const struct ut_case cpu_tests[] = {
	{ "costs", test_costs },
	{ "one thing at a time", test_one_thing_at_a_time },
	{ "prompt", test_prompt },
	{ "a computation takes what is left over", test_compute },
	{ 0 },
};

static const struct ut_case net_tests[] = {
	{ "torus: distances", test_torus_distance },
	{ "other networks", test_other_networks },
	{ "torus: contention", test_torus_contention },
	{ "torus: single Memputs", test_torus_puts },
	{ "work before sending", test_leaving },
	{ "refused", test_refused },
	{ 0 },
};

int main(void)
{
	const struct ut_suite suites[] = {
		{ "cpu", cpu_tests },
		{ "net", net_tests },
		{ "faults", fault_tests },
	};

	return ut_run("sim", suites, sizeof(suites) / sizeof(suites[0]));
}
