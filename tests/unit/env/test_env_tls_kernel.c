// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/*
 * Streams of TLS over sockets, whose records the kernel makes where it can (module tls, Linux 6.14), and OpenSSL else: neither the bytes nor
 * the other end can tell.  tests/vm/t_cluster.sh runs it where the kernel can.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "env/tls/priv.h"
#include "tests/unit/env/env_help.h"

/* An end: everything of it is touched by its reactor only; main waits at its gate. */
struct kernel_end {
	struct ddio_env *env;
	struct ddio_tls *tls;
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	struct ddio_gate gate; /* opened when all is there, or nothing comes any more */
	char addr[64];
	uint64_t to_send, sent, want, got, replaced;
	size_t put_most;
	unsigned int wrong;
	bool on, over, spoilt, close_when_sent;
	int err;
	char why[TLS_WHY];
};

static uint8_t pattern(uint64_t at)
{
	return (uint8_t)((at * 2654435761u) >> 16);
}

static struct tls_stream *inside(const struct kernel_end *e)
{
	return ddio_container_of(e->stream, struct tls_stream, base);
}

static void check_done(struct kernel_end *e)
{
	if (e->stream) {
		e->on = inside(e)->kernel.on;
		e->replaced = inside(e)->replaced;
	}
	if (e->err || e->over || (e->got == e->want && e->sent == e->to_send))
		if (!ddio_gate_is_open(&e->gate))
			ddio_gate_open(e->env, &e->gate);
}

static void end_failed(void *ctx, int err)
{
	struct kernel_end *e = ctx;

	e->err = err;
	snprintf(e->why, sizeof(e->why), "%s", ddio_stream_why(e->stream));
	ddio_stream_want_read(e->stream, false);
	ddio_stream_want_write(e->stream, false);
	check_done(e);
}

static void end_readable(void *ctx)
{
	struct kernel_end *e = ctx;
	uint8_t buf[70000];
	struct iovec iov[2] = { { buf, 1000 }, { buf + 1000, sizeof(buf) - 1000 } };
	ssize_t n = ddio_stream_readv(e->stream, iov, 2), i;

	for (i = 0; i < n; i++)
		e->wrong += buf[i] != pattern(e->got + (uint64_t)i);
	if (n > 0)
		e->got += (uint64_t)n;
	e->over |= !n;
	if (!n)
		ddio_stream_want_read(e->stream, false);
	if (n < 0 && n != -EAGAIN)
		end_failed(e, (int)n);
	else
		check_done(e);
}

/* What the other end cannot open. */
static void spoil(struct kernel_end *e)
{
	static const struct env_record_key other;
	struct tls_stream *s = inside(e);

	e->spoilt = false;
	CU_ASSERT_EQUAL(s->plain->vt->seal(s->plain, true, &other), 0);
}

static void end_close(void *arg)
{
	struct kernel_end *e = arg;

	ddio_stream_close(e->stream);
	ddio_listener_close(e->listener);
	e->stream = NULL;
	e->listener = NULL;
}

static void end_writable(void *ctx)
{
	struct kernel_end *e = ctx;
	uint8_t buf[100000];
	struct iovec iov = { .iov_base = buf };
	uint64_t i;
	ssize_t n;

	while (e->sent < e->to_send) {
		if (e->spoilt && e->sent)
			spoil(e);
		iov.iov_len = e->to_send - e->sent < e->put_most ? e->to_send - e->sent
								 : e->put_most;
		for (i = 0; i < iov.iov_len; i++)
			buf[i] = pattern(e->sent + i);
		n = ddio_stream_writev(e->stream, &iov, 1);
		if (n == -EAGAIN)
			return;
		if (n < 0) {
			end_failed(e, (int)n);
			return;
		}
		e->sent += (uint64_t)n;
	}
	ddio_stream_want_write(e->stream, false);
	check_done(e);
	if (e->close_when_sent)
		end_close(e);
}

static const struct ddio_stream_ops end_ops = {
	.readable = end_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void end_accept(void *ctx, struct ddio_stream *plain)
{
	struct kernel_end *e = ctx;

	CU_ASSERT_EQUAL_FATAL(ddio_tls_accept(e->tls, plain, &e->stream), 0);
	ddio_stream_set_ops(e->stream, &end_ops, e);
	ddio_stream_want_write(e->stream, true);
}

static void end_listen(void *arg)
{
	struct kernel_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(e->env, "127.0.0.1:0", end_accept, e, &e->listener), 0);
	snprintf(e->addr, sizeof(e->addr), "%s", ddio_listener_addr(e->listener));
}

static void end_connect(void *arg)
{
	struct kernel_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_tls_connect(e->tls, e->env, e->addr, &end_ops, e, &e->stream),
			      0);
	ddio_stream_want_write(e->stream, true);
}

static void end_init(struct kernel_end *e, bool kernel)
{
	struct ddio_tls_secret secret = { .name = "one", .bytes = { 1, 2, 3 } };

	memset(e, 0, sizeof(*e));
	e->put_most = 100000;
	ddio_gate_init(&e->gate);
	e->env = env_new();
	CU_ASSERT_EQUAL_FATAL(ddio_tls_new(&e->tls), 0);
	ddio_tls_set_secrets(e->tls, &secret, 1);
	ddio_tls_set_kernel(e->tls, kernel);
	tls_set_records(e->tls, 100);
}

static void begin(struct kernel_end *iop, struct kernel_end *cp)
{
	ddio_real_start_thread(iop->env);
	ddio_real_start_thread(cp->env);
	on_reactor(iop->env, end_listen, iop);
	strcpy(cp->addr, iop->addr);
	on_reactor(cp->env, end_connect, cp);
}

static void end_wait(struct kernel_end *e)
{
	CU_ASSERT_EQUAL(ddio_gate_wait(e->env, &e->gate, ddio_env_now(e->env) + PATIENCE), 0);
}

static void end_free(struct kernel_end *e)
{
	on_reactor(e->env, end_close, e);
	ddio_real_free(e->env);
	ddio_tls_free(e->tls);
}

static bool possible(void)
{
	struct ddio_env *env = env_new();
	bool ret = ddio_env_seals(env);

	ddio_real_free(env);
	return ret;
}

/* Simple 1-RTT of RFC 8448, section 3: what follows from the secrets of the application's traffic. */
static void test_keys(void)
{
	static const uint8_t secrets[2][TLS_TRAFFIC] = {
		{ 0x9e, 0x40, 0x64, 0x6c, 0xe7, 0x9a, 0x7f, 0x9d, 0xc0, 0x5a, 0xf8,
		  0x88, 0x9b, 0xce, 0x65, 0x52, 0x87, 0x5a, 0xfa, 0x0b, 0x06, 0xdf,
		  0x00, 0x87, 0xf7, 0x92, 0xeb, 0xb7, 0xc1, 0x75, 0x04, 0xa5 },
		{ 0xa1, 0x1a, 0xf9, 0xf0, 0x55, 0x31, 0xf8, 0x56, 0xad, 0x47, 0x11,
		  0x6b, 0x45, 0xa9, 0x50, 0x32, 0x82, 0x04, 0xb4, 0xf4, 0x4b, 0xfb,
		  0x6b, 0x3a, 0x4b, 0x4f, 0x1f, 0x3f, 0xcb, 0x63, 0x16, 0x43 },
	};
	static const struct env_record_key keys[2] = {
		{ { 0x17, 0x42, 0x2d, 0xda, 0x59, 0x6e, 0xd5, 0xd9, 0xac, 0xd8, 0x90, 0xe3, 0xc6,
		    0x3f, 0x50, 0x51 },
		  { 0x5b, 0x78, 0x92, 0x3d, 0xee, 0x08, 0x57, 0x90, 0x33, 0xe5, 0x23, 0xd9 } },
		{ { 0x9f, 0x02, 0x28, 0x3b, 0x6c, 0x9c, 0x07, 0xef, 0xc2, 0x6b, 0xb9, 0xf2, 0xac,
		    0x92, 0xe3, 0x56 },
		  { 0xcf, 0x78, 0x2b, 0x88, 0xdd, 0x83, 0x54, 0x9a, 0xad, 0xf1, 0xe9, 0x84 } },
	};
	/* What comes after the first of these; by OpenSSL's own TLS13-KDF. */
	static const uint8_t next[TLS_TRAFFIC] = { 0xfc, 0xdf, 0xcc, 0x72, 0x72, 0x5a, 0xae, 0xe4,
						   0x8b, 0xf6, 0x4e, 0x4f, 0xd8, 0xb7, 0x49, 0xcd,
						   0xbd, 0xba, 0xb3, 0x9d, 0x90, 0xda, 0x0b, 0x26,
						   0xe2, 0x24, 0x5c, 0xa6, 0xea, 0x16, 0x72, 0x07 };
	uint8_t secret[TLS_TRAFFIC];
	struct env_record_key key;
	int i;

	CU_ASSERT_FATAL(tls_expand(NULL, secrets[0], "traffic upd", secret, sizeof(secret)));
	CU_ASSERT(!memcmp(secret, next, sizeof(next)));
	for (i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(tls_record_key(NULL, secrets[i], &key));
		CU_ASSERT(!memcmp(&key, &keys[i], sizeof(key)));
	}
}

static void exchange(bool kernel_iop, bool kernel_cp, size_t put_most, uint64_t len)
{
	struct kernel_end iop, cp;

	end_init(&iop, kernel_iop);
	end_init(&cp, kernel_cp);
	iop.to_send = iop.want = cp.to_send = cp.want = len;
	iop.put_most = put_most;
	begin(&iop, &cp);
	end_wait(&iop);
	end_wait(&cp);
	end_free(&cp);
	end_free(&iop);
	CU_ASSERT_EQUAL(iop.got, len);
	CU_ASSERT_EQUAL(cp.got, len);
	CU_ASSERT_EQUAL(iop.wrong + cp.wrong, 0);
	CU_ASSERT_EQUAL(iop.err, 0);
	CU_ASSERT_EQUAL(cp.err, 0);
	CU_ASSERT_EQUAL(iop.on, kernel_iop && possible());
	CU_ASSERT_EQUAL(cp.on, kernel_cp && possible());
	/* Each record has at most 16 KB. */
	CU_ASSERT(iop.replaced >= len / 16384 / 100);
	CU_ASSERT(cp.replaced >= len / 16384 / 100);
}

/* All pairs understand each other, and keys are replaced meanwhile. */
static void test_pairs(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		exchange(i & 1, i & 2, 100000, 2000000);
		exchange(i & 1, i & 2, 50, 50000);
	}
}

static void test_close(void)
{
	struct kernel_end iop, cp;

	end_init(&iop, true);
	end_init(&cp, true);
	iop.to_send = 3000000;
	iop.want = 1;
	iop.close_when_sent = true;
	cp.want = UINT64_MAX;
	cp.to_send = 100; /* perhaps never read */
	begin(&iop, &cp);
	end_wait(&cp);
	end_free(&cp);
	end_free(&iop);
	CU_ASSERT(cp.over);
	CU_ASSERT_EQUAL(cp.err, 0);
	CU_ASSERT_EQUAL(cp.got, 3000000);
	CU_ASSERT_EQUAL(cp.wrong, 0);
}

static void test_changed(void)
{
	struct kernel_end iop, cp;

	if (!possible()) {
		ut_skip("this kernel makes no records of TLS, or cannot replace their keys");
		return;
	}
	end_init(&iop, true);
	end_init(&cp, true);
	iop.to_send = 3000000;
	iop.put_most = 1000;
	iop.spoilt = true;
	iop.want = cp.want = UINT64_MAX;
	begin(&iop, &cp);
	end_wait(&cp);
	end_free(&cp);
	end_free(&iop);
	CU_ASSERT_EQUAL(cp.err, -ECONNRESET);
	CU_ASSERT_STRING_EQUAL(cp.why, tls_bad_record);
	CU_ASSERT_EQUAL(cp.got, 1000);
	CU_ASSERT_EQUAL(cp.wrong, 0);
}

static const struct ut_case cases[] = {
	{ "keys of RFC 8448", test_keys },
	{ "either, both, none", test_pairs },
	{ "closed at once", test_close },
	{ "a record is changed", test_changed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "TLS by the kernel", cases } };

	return ut_run("test_env_tls_kernel", suites, 1);
}
