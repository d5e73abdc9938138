// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* Streams of the real world, between reactors and to raw sockets. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "env/addr.h"
#include "tests/unit/env/env_help.h"

/*
 * Streams: what one end sends the other one checks.  Everything of an end is
 * touched by its reactor only; main waits at its gate.
 */
struct pipe_end {
	struct ddio_env *env;
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	struct ddio_gate gate; /* opened when done */
	char addr[64];
	uint64_t to_send, sent, want, got;
	unsigned int wrong;
	int err, connects;
	bool over, close_when_sent;
	struct pipe_end *next_owner; /* accepted streams are handed on to this one */
	struct ddio_post handed;
};

static uint8_t pattern(uint64_t at)
{
	return (at * 2654435761U) >> 16;
}

static void end_check_done(struct pipe_end *e)
{
	if (e->over || e->err || (e->got == e->want && e->sent == e->to_send && e->want))
		if (!ddio_gate_is_open(&e->gate))
			ddio_gate_open(e->env, &e->gate);
}

static void end_readable(void *ctx)
{
	struct pipe_end *e = ctx;
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
	struct pipe_end *e = arg;

	ddio_stream_close(e->stream);
	ddio_listener_close(e->listener);
	e->stream = NULL;
	e->listener = NULL;
}

static void end_writable(void *ctx)
{
	struct pipe_end *e = ctx;
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
	struct pipe_end *e = ctx;

	e->err = err;
	end_check_done(e);
}

static const struct ddio_stream_ops end_ops = {
	.readable = end_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void end_take(struct pipe_end *e, struct ddio_stream *stream)
{
	e->stream = stream;
	ddio_stream_set_ops(stream, &end_ops, e);
	ddio_stream_want_write(stream, e->to_send > 0);
}

static void end_take_handed(void *arg)
{
	struct pipe_end *e = arg;

	CU_ASSERT_EQUAL(ddio_stream_attach(e->env, e->stream), 0);
	end_take(e, e->stream);
}

static void end_accept(void *ctx, struct ddio_stream *stream)
{
	struct pipe_end *e = ctx, *next = e->next_owner;

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
	struct pipe_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(e->env, e->addr, end_accept, e, &e->listener), 0);
	snprintf(e->addr, sizeof(e->addr), "%s", ddio_listener_addr(e->listener));
}

static void end_connect(void *arg)
{
	struct pipe_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(e->env, e->addr, &end_ops, e, &e->stream), 0);
	ddio_stream_want_write(e->stream, true);
}

static void end_init(struct pipe_end *e)
{
	memset(e, 0, sizeof(*e));
	ddio_gate_init(&e->gate);
	e->env = env_new();
	strcpy(e->addr, "127.0.0.1:0");
}

static void end_wait(struct pipe_end *e)
{
	CU_ASSERT_EQUAL(ddio_gate_wait(e->env, &e->gate, ddio_env_now(e->env) + PATIENCE), 0);
}

static void end_free(struct pipe_end *e)
{
	on_reactor(e->env, end_close, e);
	ddio_real_free(e->env);
}

/* @addr: to listen on.  Both ways at once, sums of 2 x @len bytes. */
static void stream_exchange(const char *addr, const char *connect_host, uint64_t len)
{
	struct pipe_end a, b;
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

static int sockets(void)
{
	struct stat st;
	int fd, n = 0;

	for (fd = 0; fd < 200; fd++)
		n += !fstat(fd, &st) && S_ISSOCK(st.st_mode);
	return n;
}

/* A child has none of its parent's connections, and the parent has all. */
static void test_fork(void)
{
	struct pipe_end a, b;
	int before = sockets(), status = -1;
	pid_t child;

	end_init(&a);
	end_init(&b);
	a.want = b.to_send = 1000000;
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	on_reactor(a.env, end_listen, &a);
	strcpy(b.addr, a.addr);
	on_reactor(b.env, end_connect, &b);
	end_wait(&a);
	CU_ASSERT_EQUAL(sockets(), before + 3);
	child = fork();
	if (!child)
		_exit(sockets());
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), before);
	CU_ASSERT_EQUAL(sockets(), before + 3);
	end_free(&b);
	end_free(&a);
	CU_ASSERT_EQUAL(sockets(), before);
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

/* Every machine knows that name but a bare system without /etc/hosts. */
static bool have_localhost(void)
{
	struct addrinfo *list = NULL;
	bool have = !getaddrinfo("localhost", NULL, NULL, &list);

	if (have)
		freeaddrinfo(list);
	return have;
}

static void test_exchange(void)
{
	stream_exchange("127.0.0.1:0", "127.0.0.1", 20000000);
	stream_exchange("*:0", "127.0.0.1", 1000);
	/* A name, resolved by the worker; it may have several addresses, of which one listens. */
	if (have_localhost())
		stream_exchange("127.0.0.1:0", "localhost", 100000);
	else
		ut_skip("the name localhost is not known here");
	if (have_ipv6())
		stream_exchange("[::1]:0", "[::1]", 100000);
	else
		ut_skip("no IPv6 here");
}

/* Closing right after the last write loses nothing, even with unread bytes on our side. */
static void test_close_delivers(void)
{
	struct pipe_end a, b;

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
	struct pipe_end *e = arg;

	e->to_send = 500000;
	ddio_stream_want_write(e->stream, true);
}

static void test_half_close(void)
{
	uint8_t byte, expect[10];
	uint64_t at;
	struct pipe_end a;
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

/* After a reset by the peer, a user that does not read hears of it once, by failed(). */
static void end_stop_reading(void *arg)
{
	struct pipe_end *e = arg;

	ddio_stream_want_read(e->stream, false);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void test_reset(void)
{
	struct linger abortive = { .l_onoff = 1 };
	struct pipe_end a;
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

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

/* Returns this process's socket that is connected to @port; -1: none. */
static int socket_to(in_port_t port)
{
	struct sockaddr_in peer;
	socklen_t len;
	int other;

	for (other = 0; other < 1000; other++) {
		len = sizeof(peer);
		memset(&peer, 0, sizeof(peer));
		if (!getpeername(other, (struct sockaddr *)&peer, &len) &&
		    peer.sin_family == AF_INET && peer.sin_port == port)
			return other;
	}
	return -1;
}

/* Returns this process's other end of a connected socket; -1: none. */
static int other_end(int fd)
{
	struct sockaddr_in own = { 0 };
	socklen_t len = sizeof(own);

	getsockname(fd, (struct sockaddr *)&own, &len);
	return socket_to(own.sin_port);
}

static void options_check(int fd)
{
	CU_ASSERT_EQUAL(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	CU_ASSERT_EQUAL(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	CU_ASSERT_EQUAL(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
	CU_ASSERT_EQUAL(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 4);
	CU_ASSERT_EQUAL(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 60000);
}

/* A socket that was accepted has the options of one that connects, which are those of the listening one. */
static void test_accepted_options(void)
{
	struct pipe_end a;
	int fd, accepted;

	end_init(&a);
	ddio_real_start_thread(a.env);
	on_reactor(a.env, end_listen, &a);
	fd = raw_connect(a.addr);
	a.want = 1;
	CU_ASSERT_EQUAL(write(fd, "\0", 1), 1);
	end_wait(&a);
	accepted = other_end(fd);
	CU_ASSERT(accepted >= 0);
	options_check(accepted);
	close(fd);
	end_free(&a);
}

/* One that connects has them, too, though to this machine it gets them late. */
static void test_connected_options(void)
{
	struct pipe_end a, b;

	end_init(&a);
	end_init(&b);
	a.want = b.to_send = 1;
	ddio_real_start_thread(a.env);
	ddio_real_start_thread(b.env);
	on_reactor(a.env, end_listen, &a);
	strcpy(b.addr, a.addr);
	on_reactor(b.env, end_connect, &b);
	end_wait(&a);
	options_check(socket_to(htons((in_port_t)atoi(strrchr(a.addr, ':') + 1))));
	end_free(&b);
	end_free(&a);
}

static void end_connect_bad(void *arg)
{
	static const char *const bad[] = {
		"",	   ":",	    "1.2.3.4",	  "1.2.3.4:", ":80",  "1.2.3.4:x",	  "::1:80",
		"[::1]80", "[]:80", "host:65536", "host:0",   "*:80", "host:99999999999", "host:8 0"
	};
	struct pipe_end *e = arg;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(ddio_stream_connect(e->env, bad[i], &end_ops, e, &e->stream),
				-EINVAL);
	e->stream = NULL;
}

static void test_connect_fails(void)
{
	struct pipe_end a, b;

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
	struct pipe_end a, b, c;

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
	struct pipe_end ends[2];
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
	struct pipe_end *e = &p->ends[p->ends[0].stream ? 1 : 0];

	e->stream = stream;
	ddio_stream_set_ops(stream, &pair_ops, p);
	if (e == &p->ends[1])
		real_stop(p->ends[0].env);
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
	CU_ASSERT_EQUAL(real_run(p.ends[0].env), 0);
	/* Both become readable while the loop does not run. */
	CU_ASSERT_EQUAL(write(fd[0], "x", 1), 1);
	CU_ASSERT_EQUAL(write(fd[1], "x", 1), 1);
	ddio_timer_arm(p.ends[0].env, &timer, ddio_env_now(p.ends[0].env) + 20 * MS);
	CU_ASSERT_EQUAL(real_run(p.ends[0].env), 0);
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
	struct pipe_end a;
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

static void test_free_ports(void)
{
	unsigned int low = 32768, high = 60999;
	uint16_t port[64];
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	size_t i, j;

	if (f) {
		CU_ASSERT_EQUAL(fscanf(f, "%u %u", &low, &high), 2);
		fclose(f);
	}
	CU_ASSERT_EQUAL(ddio_ports_free(port, 64), 0);
	for (i = 0; i < 64; i++) {
		CU_ASSERT(port[i] >= 1024 && (port[i] < low || port[i] > high));
		for (j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(port[i], port[j]);
	}
}

static const struct ut_case cases[] = {
	{ "streams both ways", test_exchange },
	{ "closing delivers what was written", test_close_delivers },
	{ "a half-closed stream", test_half_close },
	{ "a child of fork()", test_fork },
	{ "a stream that is reset", test_reset },
	{ "options of what was accepted", test_accepted_options },
	{ "options of a connected socket", test_connected_options },
	{ "connects that fail", test_connect_fails },
	{ "a stream goes to another reactor", test_hand_over },
	{ "closing what is in the same batch of events", test_close_in_batch },
	{ "accepting without descriptors", test_accept_without_descriptors },
	{ "what a loopback address is", test_loopback_text },
	{ "ports for servers that start again", test_free_ports },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_stream", cases } };

	return ut_run("env_stream", suites, 1);
}
