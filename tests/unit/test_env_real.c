// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* The real world: loop, timers, posts, offloads, gates, streams between reactors. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "env/real.h"
#include "tests/unit/ut.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
/* Long enough for any machine: only a test that fails waits for it. */
#define PATIENCE (60 * SECOND)

static struct ddio_env *env_new(void)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_ERR, .name = "test" };
	struct ddio_env *env = NULL;

	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &env), 0);
	return env;
}

static void stop(void *arg)
{
	ddio_real_stop(arg);
}

/* Has @fn called on the reactor and waits for its end. */
struct call {
	struct ddio_env *env;
	struct ddio_post post;
	struct ddio_gate gate;
	void (*fn)(void *arg);
	void *arg;
};

static void call_run(void *arg)
{
	struct call *call = arg;

	call->fn(call->arg);
	ddio_gate_open(call->env, &call->gate);
}

static void on_reactor(struct ddio_env *env, void (*fn)(void *arg), void *arg)
{
	struct call call = { .env = env, .fn = fn, .arg = arg };

	call.post.fn = call_run;
	call.post.arg = &call;
	ddio_gate_init(&call.gate);
	ddio_env_post(env, &call.post);
	CU_ASSERT_EQUAL_FATAL(ddio_gate_wait(env, &call.gate, ddio_env_now(env) + PATIENCE), 0);
}

/*
 * Timers
 */
#define TIMERS 200

struct timers {
	struct ddio_env *env;
	struct ddio_timer timers[TIMERS];
	uint64_t last, early, fired, disorder;
	struct ddio_timer end;
};

struct ring {
	struct timers *all;
	uint64_t when;
};

static void timers_ring(void *arg)
{
	struct ring *ring = arg;
	struct timers *t = ring->all;

	t->fired++;
	t->early += ddio_env_now(t->env) < ring->when;
	t->disorder += ring->when < t->last;
	t->last = ring->when;
}

static void test_timers(void)
{
	struct timers t = { .env = env_new() };
	struct ring rings[TIMERS];
	uint64_t now = ddio_env_now(t.env);
	int i;

	for (i = 0; i < TIMERS; i++) {
		rings[i] = (struct ring){ &t, now + (i * 7919 % TIMERS) * MS / 10 };
		t.timers[i].fn = timers_ring;
		t.timers[i].arg = &rings[i];
		/* Arming an armed timer moves it. */
		CU_ASSERT_EQUAL(ddio_timer_arm(t.env, &t.timers[i], now + i), 0);
		CU_ASSERT_EQUAL(ddio_timer_arm(t.env, &t.timers[i], rings[i].when), 0);
	}
	for (i = 0; i < TIMERS; i += 4) {
		ddio_timer_cancel(t.env, &t.timers[i]);
		ddio_timer_cancel(t.env, &t.timers[i]);
		CU_ASSERT_FALSE(ddio_timer_armed(&t.timers[i]));
	}
	t.end.fn = stop;
	t.end.arg = t.env;
	ddio_timer_arm(t.env, &t.end, now + 30 * MS);
	CU_ASSERT_EQUAL(ddio_real_run(t.env), 0);
	CU_ASSERT(ddio_env_now(t.env) >= now + 30 * MS);
	CU_ASSERT_EQUAL(t.fired, TIMERS - TIMERS / 4);
	CU_ASSERT_EQUAL(t.early, 0);
	CU_ASSERT_EQUAL(t.disorder, 0);
	ddio_real_free(t.env);
}

/* A timer that arms itself for a time that has passed must not keep others from running. */
struct greedy {
	struct ddio_env *env;
	struct ddio_timer timer;
	struct ddio_timer other;
	unsigned int rounds;
};

static void greedy_ring(void *arg)
{
	struct greedy *g = arg;

	g->rounds++;
	ddio_timer_arm(g->env, &g->timer, 1);
}

static void test_greedy_timer(void)
{
	struct greedy g = { .env = env_new() };

	g.timer.fn = greedy_ring;
	g.timer.arg = &g;
	g.other.fn = stop;
	g.other.arg = g.env;
	ddio_timer_arm(g.env, &g.timer, 1);
	ddio_timer_arm(g.env, &g.other, ddio_env_now(g.env) + MS);
	CU_ASSERT_EQUAL(ddio_real_run(g.env), 0);
	CU_ASSERT(g.rounds > 1);
	ddio_timer_cancel(g.env, &g.timer);
	ddio_real_free(g.env);
}

/*
 * Posts, from several threads at once
 */
#define POSTERS 4
#define POSTS 5000

struct poster {
	struct ddio_env *env;
	struct posting {
		struct ddio_post post;
		struct poster *poster;
		unsigned int number;
	} posts[POSTS];
	unsigned int next, disorder;
	unsigned int *left;
};

static void posted(void *arg)
{
	struct posting *posting = arg;
	struct poster *poster = posting->poster;

	poster->disorder += posting->number != poster->next++;
	if (!--*poster->left)
		ddio_real_stop(poster->env);
}

static void *poster_main(void *arg)
{
	struct poster *poster = arg;
	unsigned int i;

	for (i = 0; i < POSTS; i++) {
		poster->posts[i].post.fn = posted;
		poster->posts[i].post.arg = &poster->posts[i];
		poster->posts[i].poster = poster;
		poster->posts[i].number = i;
		ddio_env_post(poster->env, &poster->posts[i].post);
	}
	return NULL;
}

static void test_posts(void)
{
	struct poster *posters = calloc(POSTERS, sizeof(*posters));
	struct ddio_env *env = env_new();
	unsigned int left = POSTERS * POSTS;
	pthread_t threads[POSTERS];
	int i;

	for (i = 0; i < POSTERS; i++) {
		posters[i].env = env;
		posters[i].left = &left;
		pthread_create(&threads[i], NULL, poster_main, &posters[i]);
	}
	CU_ASSERT_EQUAL(ddio_real_run(env), 0);
	for (i = 0; i < POSTERS; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_EQUAL(posters[i].next, POSTS);
		CU_ASSERT_EQUAL(posters[i].disorder, 0);
	}
	CU_ASSERT_EQUAL(left, 0);
	free(posters);
	ddio_real_free(env);
}

/* What was posted before the stop still runs, and a stop before the run counts. */
static void count(void *arg)
{
	++*(unsigned int *)arg;
}

static void test_stop(void)
{
	struct ddio_env *env = env_new();
	unsigned int n = 0;
	struct ddio_post post = { .fn = count, .arg = &n };

	ddio_env_post(env, &post);
	ddio_real_stop(env);
	CU_ASSERT_EQUAL(ddio_real_run(env), 0);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(ddio_real_start_thread(env), 0);
	CU_ASSERT_EQUAL(ddio_real_start_thread(env), -EBUSY);
	on_reactor(env, count, &n);
	CU_ASSERT_EQUAL(ddio_real_run(env), -EBUSY);
	ddio_real_join_thread(env);
	ddio_real_join_thread(env);
	CU_ASSERT_EQUAL(n, 2);
	/* Left over: run by free, lest what they own be lost. */
	ddio_env_post(env, &post);
	ddio_real_free(env);
	CU_ASSERT_EQUAL(n, 3);
}

/*
 * Offloads
 */
#define JOBS 50

struct job {
	struct ddio_offload job;
	struct jobs *jobs;
	unsigned int number;
};

struct jobs {
	struct ddio_env *env;
	struct job job[JOBS];
	pthread_t loop;
	unsigned int worked, done, wrong;
	unsigned int wrong_work; /* the worker's own, like worked */
};

static void job_work(void *arg)
{
	struct job *job = arg;

	job->jobs->wrong_work += job->number != job->jobs->worked++;
	job->jobs->wrong_work += !!pthread_equal(pthread_self(), job->jobs->loop);
}

static void job_done(void *arg)
{
	struct job *job = arg;
	struct jobs *jobs = job->jobs;

	jobs->wrong += job->number != jobs->done;
	jobs->wrong += !pthread_equal(pthread_self(), jobs->loop);
	if (++jobs->done == JOBS)
		ddio_real_stop(jobs->env);
}

static void test_offloads(void)
{
	struct jobs jobs = { .env = env_new(), .loop = pthread_self() };
	unsigned int i;

	for (i = 0; i < JOBS; i++) {
		jobs.job[i] = (struct job){ { job_work, job_done, &jobs.job[i], NULL }, &jobs, i };
		ddio_env_offload(jobs.env, &jobs.job[i].job);
	}
	CU_ASSERT_EQUAL(ddio_real_run(jobs.env), 0);
	CU_ASSERT_EQUAL(jobs.worked, JOBS);
	CU_ASSERT_EQUAL(jobs.done, JOBS);
	CU_ASSERT_EQUAL(jobs.wrong + jobs.wrong_work, 0);
	/* Under way while the env is freed: done is still called. */
	jobs.done = 1;
	jobs.worked = 1;
	ddio_env_offload(jobs.env, &jobs.job[1].job);
	ddio_real_free(jobs.env);
	CU_ASSERT_EQUAL(jobs.done, 2);
	CU_ASSERT_EQUAL(jobs.wrong + jobs.wrong_work, 0);
}

/*
 * Gates
 */
struct gate_call {
	struct ddio_env *env;
	struct ddio_gate *gate;
	struct ddio_post post;
	int ret;
};

static void gate_open_it(void *arg)
{
	struct gate_call *call = arg;

	ddio_gate_open(call->env, call->gate);
}

static void gate_wait_here(void *arg)
{
	struct gate_call *call = arg;

	call->ret = ddio_gate_wait(call->env, call->gate, 0);
}

static void *gate_waiter(void *arg)
{
	gate_wait_here(arg);
	return NULL;
}

static void test_gates(void)
{
	struct ddio_env *env = env_new();
	struct gate_call call = { .env = env, .post = { .fn = gate_open_it, .arg = &call } };
	struct ddio_gate shut;
	pthread_t thread;
	int i;

	ddio_real_start_thread(env);
	/* The waiter frees its gate at once, thousands of times: the opener must not look back. */
	for (i = 0; i < 5000; i++) {
		call.gate = malloc(sizeof(*call.gate));
		ddio_gate_init(call.gate);
		ddio_env_post(env, &call.post);
		CU_ASSERT_EQUAL(ddio_gate_wait(env, call.gate, 0), 0);
		memset(call.gate, 0xff, sizeof(*call.gate));
		free(call.gate);
	}
	ddio_gate_init(&shut);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, ddio_env_now(env) + MS), -ETIMEDOUT);
	CU_ASSERT_FALSE(ddio_gate_is_open(&shut));
	call.gate = &shut;
	on_reactor(env, gate_wait_here, &call);
	CU_ASSERT_EQUAL(call.ret, -EDEADLK);
	call.ret = 1;
	pthread_create(&thread, NULL, gate_waiter, &call);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, ddio_env_now(env) + MS), -ETIMEDOUT);
	ddio_gate_open(env, &shut);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(call.ret, 0);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, 1), 0);
	ddio_real_free(env);
}

/*
 * Streams: what one end sends the other one checks.  Everything of an end is
 * touched by its reactor only; main waits at its gate.
 */
struct end {
	struct ddio_env *env;
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	struct ddio_gate gate; /* opened when done */
	char addr[64];
	uint64_t to_send, sent, want, got;
	unsigned int wrong;
	int err, connects;
	bool over, close_when_sent;
	struct end *next_owner; /* accepted streams are handed on to this one */
	struct ddio_post handed;
};

static uint8_t pattern(uint64_t at)
{
	return (at * 2654435761U) >> 16;
}

static void end_check_done(struct end *e)
{
	if (e->over || e->err || (e->got == e->want && e->sent == e->to_send && e->want))
		if (!ddio_gate_is_open(&e->gate))
			ddio_gate_open(e->env, &e->gate);
}

static void end_readable(void *ctx)
{
	struct end *e = ctx;
	uint8_t buf[70000];
	struct iovec iov[2] = { { buf, 1000 }, { buf + 1000, sizeof(buf) - 1000 } };
	ssize_t n, i;

	n = ddio_stream_readv(e->stream, iov, 2);
	if (n > 0) {
		for (i = 0; i < n; i++)
			e->wrong += buf[i] != pattern(e->got + i);
		e->got += n;
	} else if (n == 0) {
		e->over = true;
		ddio_stream_want_read(e->stream, false);
	} else if (n != -EAGAIN) {
		e->err = n;
		ddio_stream_want_read(e->stream, false);
	}
	end_check_done(e);
}

static void end_close(void *arg)
{
	struct end *e = arg;

	ddio_stream_close(e->stream);
	ddio_listener_close(e->listener);
	e->stream = NULL;
	e->listener = NULL;
}

static void end_writable(void *ctx)
{
	struct end *e = ctx;
	uint8_t buf[100000];
	struct iovec iov = { .iov_base = buf };
	uint64_t i;
	ssize_t n;

	e->connects++;
	while (e->sent < e->to_send) {
		iov.iov_len = e->to_send - e->sent < sizeof(buf) ? e->to_send - e->sent
								 : sizeof(buf);
		for (i = 0; i < iov.iov_len; i++)
			buf[i] = pattern(e->sent + i);
		n = ddio_stream_writev(e->stream, &iov, 1);
		if (n < 0)
			return;
		e->sent += n;
	}
	ddio_stream_want_write(e->stream, false);
	end_check_done(e);
	if (e->close_when_sent)
		end_close(e);
}

static void end_failed(void *ctx, int err)
{
	struct end *e = ctx;

	e->err = err;
	end_check_done(e);
}

static const struct ddio_stream_ops end_ops = {
	.readable = end_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void end_take(struct end *e, struct ddio_stream *stream)
{
	e->stream = stream;
	ddio_stream_set_ops(stream, &end_ops, e);
	ddio_stream_want_write(stream, e->to_send > 0);
}

static void end_take_handed(void *arg)
{
	struct end *e = arg;

	CU_ASSERT_EQUAL(ddio_stream_attach(e->env, e->stream), 0);
	end_take(e, e->stream);
}

static void end_accept(void *ctx, struct ddio_stream *stream)
{
	struct end *e = ctx, *next = e->next_owner;

	if (!next) {
		end_take(e, stream);
		return;
	}
	ddio_stream_detach(stream);
	next->stream = stream;
	next->handed.fn = end_take_handed;
	next->handed.arg = next;
	ddio_env_post(next->env, &next->handed);
}

static void end_listen(void *arg)
{
	struct end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(e->env, e->addr, end_accept, e, &e->listener), 0);
	snprintf(e->addr, sizeof(e->addr), "%s", ddio_listener_addr(e->listener));
}

static void end_connect(void *arg)
{
	struct end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(e->env, e->addr, &end_ops, e, &e->stream), 0);
	ddio_stream_want_write(e->stream, true);
}

static void end_init(struct end *e)
{
	memset(e, 0, sizeof(*e));
	ddio_gate_init(&e->gate);
	e->env = env_new();
	strcpy(e->addr, "127.0.0.1:0");
}

static void end_wait(struct end *e)
{
	CU_ASSERT_EQUAL(ddio_gate_wait(e->env, &e->gate, ddio_env_now(e->env) + PATIENCE), 0);
}

static void end_free(struct end *e)
{
	on_reactor(e->env, end_close, e);
	ddio_real_free(e->env);
}

/* @addr: to listen on.  Both ways at once, sums of 2 x @len bytes. */
static void stream_exchange(const char *addr, const char *connect_host, uint64_t len)
{
	struct end a, b;
	const char *port;

	end_init(&a);
	end_init(&b);
	strcpy(a.addr, addr);
	a.to_send = a.want = b.to_send = b.want = len;
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	on_reactor(a.env, end_listen, &a);
	port = strrchr(a.addr, ':');
	snprintf(b.addr, sizeof(b.addr), "%s%s", connect_host, port);
	on_reactor(b.env, end_connect, &b);
	end_wait(&a);
	end_wait(&b);
	end_free(&b);
	end_free(&a);
	CU_ASSERT_EQUAL(a.got, len);
	CU_ASSERT_EQUAL(b.got, len);
	CU_ASSERT_EQUAL(a.wrong + b.wrong, 0);
	CU_ASSERT_EQUAL(a.err, 0);
	CU_ASSERT_EQUAL(b.err, 0);
}

static bool have_ipv6(void)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool have = fd >= 0 && !bind(fd, (struct sockaddr *)&sa, sizeof(sa));

	if (fd >= 0)
		close(fd);
	return have;
}

static void test_exchange(void)
{
	stream_exchange("127.0.0.1:0", "127.0.0.1", 20000000);
	stream_exchange("*:0", "127.0.0.1", 1000);
	/* A name, resolved by the worker; it may have several addresses, of which one listens. */
	stream_exchange("127.0.0.1:0", "localhost", 100000);
	if (have_ipv6())
		stream_exchange("[::1]:0", "[::1]", 100000);
}

/* Closing right after the last write loses nothing, even with unread bytes on our side. */
static void test_close_delivers(void)
{
	struct end a, b;

	end_init(&a);
	end_init(&b);
	a.to_send = 3000000;
	a.close_when_sent = true;
	b.to_send = 100; /* never read by a */
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	on_reactor(a.env, end_listen, &a);
	strcpy(b.addr, a.addr);
	on_reactor(b.env, end_connect, &b);
	end_wait(&b);
	end_free(&b);
	end_free(&a);
	CU_ASSERT_TRUE(b.over);
	CU_ASSERT_EQUAL(b.err, 0);
	CU_ASSERT_EQUAL(b.got, 3000000);
	CU_ASSERT_EQUAL(b.wrong, 0);
}

/* A raw peer that ends its side and still reads: half-closed. */
static int raw_connect(const char *addr)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sa.sin_port = htons(atoi(strrchr(addr, ':') + 1));
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void end_send_more(void *arg)
{
	struct end *e = arg;

	e->to_send = 500000;
	ddio_stream_want_write(e->stream, true);
}

static void test_half_close(void)
{
	uint8_t byte, expect[10];
	uint64_t at;
	struct end a;
	int i, fd;

	end_init(&a);
	ddio_real_start_thread(a.env);
	on_reactor(a.env, end_listen, &a);
	fd = raw_connect(a.addr);
	for (i = 0; i < 10; i++)
		expect[i] = pattern(i);
	CU_ASSERT_EQUAL(write(fd, expect, 10), 10);
	shutdown(fd, SHUT_WR);
	end_wait(&a);
	CU_ASSERT_EQUAL(a.got, 10);
	CU_ASSERT_TRUE(a.over);
	on_reactor(a.env, end_send_more, &a);
	for (at = 0; at < 500000 && read(fd, &byte, 1) == 1; at++)
		a.wrong += byte != pattern(at);
	CU_ASSERT_EQUAL(at, 500000);
	CU_ASSERT_EQUAL(a.wrong, 0);
	close(fd);
	end_free(&a);
}

/* A peer that resets: told once by failed() to one who does not read. */
static void end_stop_reading(void *arg)
{
	struct end *e = arg;

	ddio_stream_want_read(e->stream, false);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void test_reset(void)
{
	struct linger abortive = { .l_onoff = 1 };
	struct end a;
	int fd;

	end_init(&a);
	ddio_real_start_thread(a.env);
	on_reactor(a.env, end_listen, &a);
	fd = raw_connect(a.addr);
	/* Accepted for sure once it has read this byte. */
	a.want = 1;
	CU_ASSERT_EQUAL(write(fd, "\0", 1), 1);
	end_wait(&a);
	ddio_gate_init(&a.gate);
	on_reactor(a.env, end_stop_reading, &a);
	a.want = 0;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &abortive, sizeof(abortive));
	close(fd);
	end_wait(&a);
	on_reactor(a.env, nothing, NULL);
	CU_ASSERT_EQUAL(a.err, -ECONNRESET);
	end_free(&a);
}

static void end_connect_bad(void *arg)
{
	static const char *const bad[] = {
		"",	   ":",	    "1.2.3.4",	  "1.2.3.4:", ":80",  "1.2.3.4:x",	  "::1:80",
		"[::1]80", "[]:80", "host:65536", "host:0",   "*:80", "host:99999999999", "host:8 0"
	};
	struct end *e = arg;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(ddio_stream_connect(e->env, bad[i], &end_ops, e, &e->stream),
				-EINVAL);
	e->stream = NULL;
}

static void test_connect_fails(void)
{
	struct end a, b;

	end_init(&a);
	end_init(&b);
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	/* A port that was free a moment ago. */
	on_reactor(a.env, end_listen, &a);
	strcpy(b.addr, a.addr);
	on_reactor(a.env, end_close, &a);
	on_reactor(b.env, end_connect, &b);
	end_wait(&b);
	CU_ASSERT_EQUAL(b.err, -ECONNREFUSED);
	CU_ASSERT_EQUAL(b.connects, 0);
	on_reactor(b.env, end_close, &b);
	/* Closed while the name is still being resolved. */
	strcpy(b.addr, "localhost:1");
	on_reactor(b.env, end_connect, &b);
	on_reactor(b.env, end_close, &b);
	on_reactor(b.env, end_connect_bad, &b);
	end_free(&b);
	end_free(&a);
}

/* The connection is accepted by one reactor and served by another. */
static void test_hand_over(void)
{
	struct end a, b, c;

	end_init(&a);
	end_init(&b);
	end_init(&c);
	a.next_owner = &c;
	b.to_send = b.want = c.to_send = c.want = 2000000;
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	ddio_real_start_thread(c.env);
	on_reactor(a.env, end_listen, &a);
	strcpy(b.addr, a.addr);
	on_reactor(b.env, end_connect, &b);
	end_wait(&b);
	end_wait(&c);
	CU_ASSERT_EQUAL(c.got, 2000000);
	CU_ASSERT_EQUAL(b.got, 2000000);
	CU_ASSERT_EQUAL(b.wrong + c.wrong, 0);
	CU_ASSERT_TRUE(ddio_stream_is_loopback(c.stream));
	CU_ASSERT_EQUAL(strncmp(ddio_stream_peer(c.stream), "127.0.0.1:", 10), 0);
	end_free(&b);
	end_free(&c);
	end_free(&a);
}

/* Two streams in one batch of events: the first one's callback closes the other. */
struct pair {
	struct end ends[2];
	unsigned int called;
};

static void pair_readable(void *ctx)
{
	struct pair *p = ctx;

	p->called++;
	ddio_stream_close(p->ends[0].stream);
	ddio_stream_close(p->ends[1].stream);
	p->ends[0].stream = p->ends[1].stream = NULL;
}

static const struct ddio_stream_ops pair_ops = { .readable = pair_readable, .failed = end_failed };

static void pair_accept(void *ctx, struct ddio_stream *stream)
{
	struct pair *p = ctx;
	struct end *e = &p->ends[p->ends[0].stream ? 1 : 0];

	e->stream = stream;
	ddio_stream_set_ops(stream, &pair_ops, p);
	if (e == &p->ends[1])
		ddio_real_stop(p->ends[0].env);
}

static void test_close_in_batch(void)
{
	struct pair p = { .called = 0 };
	struct ddio_timer timer = { .fn = stop };
	struct ddio_listener *listener;
	int fd[2];

	timer.arg = p.ends[0].env = env_new();
	CU_ASSERT_EQUAL_FATAL(ddio_listen(p.ends[0].env, "127.0.0.1:0", pair_accept, &p, &listener),
			      0);
	fd[0] = raw_connect(ddio_listener_addr(listener));
	fd[1] = raw_connect(ddio_listener_addr(listener));
	CU_ASSERT_EQUAL(ddio_real_run(p.ends[0].env), 0);
	/* Both become readable while the loop does not run. */
	CU_ASSERT_EQUAL(write(fd[0], "x", 1), 1);
	CU_ASSERT_EQUAL(write(fd[1], "x", 1), 1);
	ddio_timer_arm(p.ends[0].env, &timer, ddio_env_now(p.ends[0].env) + 20 * MS);
	CU_ASSERT_EQUAL(ddio_real_run(p.ends[0].env), 0);
	CU_ASSERT_EQUAL(p.called, 1);
	CU_ASSERT_PTR_NULL(p.ends[0].stream);
	close(fd[0]);
	close(fd[1]);
	ddio_listener_close(listener);
	ddio_real_free(p.ends[0].env);
}

/* Out of descriptors: the listener waits and then takes the connection after all. */
static void test_accept_without_descriptors(void)
{
	struct rlimit old, low;
	struct end a;
	int fd;

	end_init(&a);
	ddio_real_start_thread(a.env);
	on_reactor(a.env, end_listen, &a);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = fd + 1;
	setrlimit(RLIMIT_NOFILE, &low);
	{
		struct sockaddr_in sa = { .sin_family = AF_INET };

		sa.sin_port = htons(atoi(strrchr(a.addr, ':') + 1));
		sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	}
	a.want = 1;
	CU_ASSERT_EQUAL(write(fd, "\0", 1), 1);
	CU_ASSERT_EQUAL(ddio_gate_wait(a.env, &a.gate, ddio_env_now(a.env) + 50 * MS), -ETIMEDOUT);
	setrlimit(RLIMIT_NOFILE, &old);
	end_wait(&a);
	CU_ASSERT_EQUAL(a.got, 1);
	close(fd);
	end_free(&a);
}

static void test_loopback_text(void)
{
	static const char *const yes[] = { "127.0.0.1:80", "127.9.9.9:1",
					   "[::1]:7",	   "localhost:5",
					   "::1",	   "127.0.0.1",
					   "localhost",	   "[::ffff:127.0.0.1]:7" };
	static const char *const no[] = { "10.0.0.1:80", "0.0.0.0:80",	  "[::]:7", "example:5",
					  "128.0.0.1",	 "localhost.x:5", "*:5",    "" };
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CU_ASSERT_TRUE(ddio_addr_is_loopback(yes[i]));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CU_ASSERT_FALSE(ddio_addr_is_loopback(no[i]));
}

static void log_keep(void *arg, enum ddio_log_level level, const char *line)
{
	snprintf(arg, 100, "%d %s", level, line);
}

static void test_small_things(void)
{
	char line[100] = "";
	struct ddio_real_opts opts = { .log = log_keep, .log_arg = line };
	uint8_t a[16], b[16];
	struct ddio_env *env;
	size_t i, sum = 0;
	uint8_t *mem;

	opts.log_level = DDIO_LOG_WARN;
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &env), 0);
	ddio_env_log(env, DDIO_LOG_INFO, "not %s", "this");
	CU_ASSERT_STRING_EQUAL(line, "");
	ddio_env_log(env, DDIO_LOG_WARN, "but %s", "this");
	CU_ASSERT_STRING_EQUAL(line, "1 but this");
	ddio_env_random(env, a, sizeof(a));
	ddio_env_random(env, b, sizeof(b));
	CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
	CU_ASSERT(ddio_env_wall(env) > 1600000000ULL * SECOND);
	for (i = 1; i <= 5 << 20; i = i * 3 + 1) {
		mem = ddio_env_alloc(env, i);
		CU_ASSERT_PTR_NOT_NULL_FATAL(mem);
		CU_ASSERT_EQUAL((uintptr_t)mem % 4096, 0);
		sum += mem[0] + mem[i - 1];
		memset(mem, 1, i);
		ddio_env_free(env, mem, i);
	}
	CU_ASSERT_EQUAL(sum, 0);
	CU_ASSERT_PTR_NULL(ddio_env_alloc(env, SIZE_MAX));
	ddio_real_free(env);
}

static const struct ut_case cases[] = {
	{ "timers fire in order, not early, unless cancelled", test_timers },
	{ "a timer that re-arms itself starves nobody", test_greedy_timer },
	{ "posts of several threads", test_posts },
	{ "starting and stopping", test_stop },
	{ "offloads in order, elsewhere", test_offloads },
	{ "gates", test_gates },
	{ "streams both ways", test_exchange },
	{ "closing delivers what was written", test_close_delivers },
	{ "a half-closed stream", test_half_close },
	{ "a stream that is reset", test_reset },
	{ "connects that fail", test_connect_fails },
	{ "a stream goes to another reactor", test_hand_over },
	{ "closing what is in the same batch of events", test_close_in_batch },
	{ "accepting without descriptors", test_accept_without_descriptors },
	{ "what a loopback address is", test_loopback_text },
	{ "log, random numbers, memory", test_small_things },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_real", cases } };

	return ut_run("env_real", suites, 1);
}
