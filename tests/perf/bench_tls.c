// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one stream over loopback takes: plain, by TLS whose records OpenSSL makes, and whose records the kernel makes.
 *
 *   bench_tls MB [ROUNDS]
 *	the three in turns.  Prints for each "WAY MB/s RATE s/GB PROCESSORS" (2^20 and 10^9 bytes); both ends are threads of
 *	this process, whose processor time, the system's included, is the last figure.
 *
 * The kernel is used even if it cannot replace keys, as ddiod would not: so short a stream needs no second one.  Its modules,
 * tls and those of the cipher, must be there ("modprobe -a tls gcm ctr aesni-intel").
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "env/real/real.h"
#include "env/tls/priv.h"

#define CHUNK (256u << 10)
#define WAIT_NS (600ull * 1000000000)
/* No key is good for more. */
#define MB_MOST 100000

enum tls_way { WAY_PLAIN, WAY_OPENSSL, WAY_KERNEL, WAYS };
static const char *const names[WAYS] = { "plain", "openssl", "kernel" };

/* An end: touched by its reactor only; main waits at its gate. */
struct bench_end {
	struct ddio_env *env;
	struct ddio_env_ops ops;
	struct ddio_tls *tls; /* NULL: plain */
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	struct ddio_gate gate;
	char addr[64];
	uint64_t left;
	bool sends, sealed;
	int err;
};

static char buf[2][CHUNK];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static bool seals(void)
{
	return true;
}

static void end_over(struct bench_end *e, int err)
{
	e->err = err;
	if (e->tls)
		e->sealed = ddio_container_of(e->stream, struct tls_stream, base)->kernel.on;
	ddio_stream_want_read(e->stream, false);
	ddio_stream_want_write(e->stream, false);
	if (!ddio_gate_is_open(&e->gate))
		ddio_gate_open(e->env, &e->gate);
}

static void end_failed(void *ctx, int err)
{
	struct bench_end *e = ctx;

	fprintf(stderr, "bench_tls: %s: %s\n", strerror(-err), ddio_stream_why(e->stream));
	end_over(e, err);
}

static void end_move(struct bench_end *e)
{
	struct iovec v = { .iov_base = buf[e->sends] };
	ssize_t n = 0;

	while (e->left) {
		v.iov_len = e->left < CHUNK ? e->left : CHUNK;
		n = e->sends ? ddio_stream_writev(e->stream, &v, 1)
			     : ddio_stream_readv(e->stream, &v, 1);
		if (n <= 0)
			break;
		e->left -= (uint64_t)n;
	}
	if (!e->left)
		end_over(e, 0);
	else if (n != -EAGAIN)
		end_failed(e, n ? (int)n : -ECONNRESET);
}

static void end_readable(void *ctx)
{
	struct bench_end *e = ctx;

	if (!e->sends)
		end_move(e);
}

static void end_writable(void *ctx)
{
	struct bench_end *e = ctx;

	if (e->sends)
		end_move(e);
}

static const struct ddio_stream_ops end_ops = {
	.readable = end_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void end_accept(void *ctx, struct ddio_stream *plain)
{
	struct bench_end *e = ctx;

	if (!e->tls)
		e->stream = plain;
	else if (ddio_tls_accept(e->tls, plain, &e->stream))
		abort();
	ddio_stream_set_ops(e->stream, &end_ops, e);
}

static void end_begin(void *arg)
{
	struct bench_end *e = arg;

	if (!e->sends) {
		e->err = ddio_listen(e->env, "127.0.0.1:0", end_accept, e, &e->listener);
		if (!e->err)
			snprintf(e->addr, sizeof(e->addr), "%s", ddio_listener_addr(e->listener));
		return;
	}
	e->err = e->tls ? ddio_tls_connect(e->tls, e->env, e->addr, &end_ops, e, &e->stream)
			: ddio_stream_connect(e->env, e->addr, &end_ops, e, &e->stream);
	if (!e->err)
		ddio_stream_want_write(e->stream, true);
}

static void end_close(void *arg)
{
	struct bench_end *e = arg;

	if (e->stream)
		ddio_stream_close(e->stream);
	if (e->listener)
		ddio_listener_close(e->listener);
}

struct bench_call {
	struct bench_end *end;
	void (*fn)(void *arg);
	struct ddio_gate gate;
};

static void call_run(void *arg)
{
	struct bench_call *call = arg;

	call->fn(call->end);
	ddio_gate_open(call->end->env, &call->gate);
}

static void on_reactor(struct bench_end *e, void (*fn)(void *arg))
{
	struct bench_call call = { .end = e, .fn = fn };
	struct ddio_post post = { .fn = call_run, .arg = &call };

	ddio_gate_init(&call.gate);
	if (ddio_env_call(e->env, &post, &call.gate))
		abort();
}

static void end_init(struct bench_end *e, enum tls_way way, uint64_t bytes, bool sends)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_ERR, .name = "bench" };
	static const struct ddio_tls_secret secret = { .name = "one", .bytes = { 1, 2, 3 } };

	memset(e, 0, sizeof(*e));
	e->left = bytes;
	e->sends = sends;
	ddio_gate_init(&e->gate);
	if (ddio_real_new(&opts, &e->env))
		abort();
	if (way != WAY_PLAIN) {
		if (ddio_tls_new(&e->tls))
			abort();
		ddio_tls_set_secrets(e->tls, &secret, 1);
		ddio_tls_set_kernel(e->tls, way == WAY_KERNEL);
		e->ops = *e->env->ops;
		e->ops.seals = seals;
		e->env->ops = &e->ops;
	}
	ddio_real_start_thread(e->env);
}

static void end_free(struct bench_end *e)
{
	on_reactor(e, end_close);
	ddio_real_free(e->env);
	ddio_tls_free(e->tls);
}

static int once(enum tls_way way, uint64_t bytes)
{
	struct bench_end from, to;
	uint64_t begun, cpu;
	int err;

	end_init(&to, way, bytes, false);
	end_init(&from, way, bytes, true);
	on_reactor(&to, end_begin);
	strcpy(from.addr, to.addr);
	begun = now_ns();
	cpu = cpu_ns();
	on_reactor(&from, end_begin);
	err = ddio_gate_wait(to.env, &to.gate, ddio_env_now(to.env) + WAIT_NS);
	begun = now_ns() - begun;
	cpu = cpu_ns() - cpu;
	if (!err)
		err = to.err ? to.err : from.err;
	if (!err && to.sealed != (way == WAY_KERNEL))
		err = -ENOTSUP;
	end_free(&from);
	end_free(&to);
	if (err)
		printf("%-8s not here: %s\n", names[way], strerror(-err));
	else
		printf("%-8s MB/s %7.0f  s/GB %.3f\n", names[way],
		       (double)bytes / 1048576 * 1e9 / (double)begun, (double)cpu / (double)bytes);
	fflush(stdout);
	return err;
}

int main(int argc, char **argv)
{
	int mb = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 1, r, way;
	int failed = 0;

	if (mb < 1 || mb > MB_MOST || rounds < 1) {
		fprintf(stderr, "usage: bench_tls MB [ROUNDS]\n");
		return 2;
	}
	for (r = 0; r < rounds; r++)
		for (way = 0; way < WAYS; way++)
			failed |= once((enum tls_way)way, (uint64_t)mb << 20) && way != WAY_KERNEL;
	return failed;
}
