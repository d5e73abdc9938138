/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world of one process and one stream, both in memory: the test plays the
 * peer by bytes.  Nothing happens but in mem_run() and mem_pass().
 */
#ifndef DDIO_TEST_MEMENV_H
#define DDIO_TEST_MEMENV_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env/env_ops.h"

#ifndef MEM_TIMERS
#define MEM_TIMERS 8
#endif

/**
 * struct mem_env - the world
 * @in, @in_len, @in_at: bytes from the peer; not copied
 * @in_end: after them comes the end of the stream
 * @in_most: most bytes of one read, 0: any
 * @out, @out_len: what was written
 * @out_room: bytes that the stream still takes
 * @out_most: most bytes of one write, 0: any
 * @out_err: what writes return instead
 * @random: first byte of the next random bytes
 * @log, @logs: the last log line and their number
 */
struct mem_env {
	struct ddio_env env;
	struct ddio_stream stream;
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool open, connected, loopback, want_read, want_write;
	const uint8_t *in;
	size_t in_len, in_at, in_most;
	bool in_end;
	uint8_t *out;
	size_t out_len, out_cap, out_room, out_most;
	int out_err;
	uint64_t now;
	uint8_t random;
	struct ddio_timer *timers[MEM_TIMERS];
	struct ddio_post *posts, **posts_end;
	char log[1024];
	unsigned int logs;
};

static inline struct mem_env *mem_of(struct ddio_env *env)
{
	return ddio_container_of(env, struct mem_env, env);
}

static inline struct mem_env *mem_of_stream(const struct ddio_stream *s)
{
	return ddio_container_of((struct ddio_stream *)s, struct mem_env, stream);
}

static inline uint64_t mem_now(struct ddio_env *env)
{
	return mem_of(env)->now;
}

static inline int mem_timer_arm(struct ddio_env *env, struct ddio_timer *t, uint64_t when)
{
	struct mem_env *m = mem_of(env);
	size_t i;

	t->node.when = when;
	for (i = 0; !t->node.slot && i < MEM_TIMERS; i++) {
		if (m->timers[i])
			continue;
		m->timers[i] = t;
		t->node.slot = i + 1;
	}
	return t->node.slot ? 0 : -ENOMEM;
}

static inline void mem_timer_cancel(struct ddio_env *env, struct ddio_timer *t)
{
	if (t->node.slot)
		mem_of(env)->timers[t->node.slot - 1] = NULL;
	t->node.slot = 0;
}

static inline void mem_post(struct ddio_env *env, struct ddio_post *post)
{
	struct mem_env *m = mem_of(env);

	post->next = NULL;
	*m->posts_end = post;
	m->posts_end = &post->next;
}

static inline void mem_random(struct ddio_env *env, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = mem_of(env)->random++;
}

static inline void mem_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt,
			   va_list ap)
{
	struct mem_env *m = mem_of(env);

	(void)level;
	vsnprintf(m->log, sizeof(m->log), fmt, ap);
	m->logs++;
}

static inline void mem_set_ops(struct ddio_stream *s, const struct ddio_stream_ops *ops, void *ctx)
{
	mem_of_stream(s)->ops = ops;
	mem_of_stream(s)->ctx = ctx;
}

static inline ssize_t mem_readv(struct ddio_stream *s, const struct iovec *iov, int n)
{
	struct mem_env *m = mem_of_stream(s);
	size_t most = m->in_len - m->in_at, got = 0, part;
	int i;

	if (!most)
		return m->in_end ? 0 : -EAGAIN;
	if (m->in_most && most > m->in_most)
		most = m->in_most;
	for (i = 0; i < n && got < most; i++) {
		part = iov[i].iov_len < most - got ? iov[i].iov_len : most - got;
		memcpy(iov[i].iov_base, m->in + m->in_at, part);
		m->in_at += part;
		got += part;
	}
	return got;
}

static inline void mem_out_grow(struct mem_env *m, size_t more)
{
	while (m->out_cap < m->out_len + more) {
		m->out_cap = m->out_cap ? m->out_cap * 2 : 4096;
		m->out = realloc(m->out, m->out_cap);
		if (!m->out)
			abort();
	}
}

static inline ssize_t mem_writev(struct ddio_stream *s, const struct iovec *iov, int n)
{
	struct mem_env *m = mem_of_stream(s);
	size_t most = m->out_room, put = 0, part;
	int i;

	if (m->out_err)
		return m->out_err;
	if (m->out_most && most > m->out_most)
		most = m->out_most;
	if (!most || !m->connected)
		return -EAGAIN;
	for (i = 0; i < n && put < most; i++) {
		part = iov[i].iov_len < most - put ? iov[i].iov_len : most - put;
		mem_out_grow(m, part);
		memcpy(m->out + m->out_len, iov[i].iov_base, part);
		m->out_len += part;
		put += part;
	}
	m->out_room -= put;
	return put;
}

static inline void mem_want_read(struct ddio_stream *s, bool want)
{
	mem_of_stream(s)->want_read = want;
}

static inline void mem_want_write(struct ddio_stream *s, bool want)
{
	mem_of_stream(s)->want_write = want;
}

static inline const char *mem_peer(const struct ddio_stream *s)
{
	return mem_of_stream(s)->loopback ? "127.0.0.1:99" : "192.0.2.7:99";
}

static inline bool mem_is_loopback(const struct ddio_stream *s)
{
	return mem_of_stream(s)->loopback;
}

static inline void mem_detach(struct ddio_stream *s)
{
	mem_of_stream(s)->ops = NULL;
}

static inline void mem_close(struct ddio_stream *s)
{
	mem_of_stream(s)->open = false;
}

static const struct ddio_stream_vtable mem_stream_vt = {
	.set_ops = mem_set_ops,
	.readv = mem_readv,
	.writev = mem_writev,
	.want_read = mem_want_read,
	.want_write = mem_want_write,
	.peer = mem_peer,
	.is_loopback = mem_is_loopback,
	.detach = mem_detach,
	.close = mem_close,
};

static inline int mem_connect(struct ddio_env *env, const char *addr,
			      const struct ddio_stream_ops *ops, void *ctx,
			      struct ddio_stream **stream)
{
	struct mem_env *m = mem_of(env);

	(void)addr;
	m->ops = ops;
	m->ctx = ctx;
	m->open = true;
	m->connected = false;
	*stream = &m->stream;
	return 0;
}

static inline int mem_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	(void)env;
	(void)stream;
	return 0;
}

static const struct ddio_env_ops mem_env_ops = {
	.name = "mem",
	.now = mem_now,
	.wall = mem_now,
	.timer_arm = mem_timer_arm,
	.timer_cancel = mem_timer_cancel,
	.post = mem_post,
	.random = mem_random,
	.log = mem_log,
	.stream_connect = mem_connect,
	.stream_attach = mem_attach,
};

static inline void mem_init(struct mem_env *m)
{
	memset(m, 0, sizeof(*m));
	m->env.ops = &mem_env_ops;
	ddio_list_init(&m->env.asides);
	m->stream.vt = &mem_stream_vt;
	m->stream.env = &m->env;
	m->open = m->connected = m->loopback = m->want_read = true;
	m->out_room = SIZE_MAX;
	m->now = 1000000000;
	m->posts_end = &m->posts;
}

static inline bool mem_run_posts(struct mem_env *m)
{
	struct ddio_post *post = m->posts, *next;
	bool any = post;

	m->posts = NULL;
	m->posts_end = &m->posts;
	for (; post; post = next) {
		next = post->next;
		post->fn(post->arg);
	}
	return any;
}

/* Runs until nothing more happens by itself. */
static inline void mem_run(struct mem_env *m)
{
	bool any;

	do {
		any = mem_run_posts(m);
		if (m->open && m->ops && m->want_write && (m->out_room || m->out_err)) {
			m->connected = true;
			m->ops->writable(m->ctx);
			any = true;
		}
		if (m->open && m->ops && m->want_read && m->connected &&
		    (m->in_at < m->in_len || m->in_end)) {
			m->ops->readable(m->ctx);
			any = true;
		}
	} while (any);
}

/* Lets time pass. */
static inline void mem_pass(struct mem_env *m, uint64_t ns)
{
	struct ddio_timer *t;
	size_t i;

	m->now += ns;
	for (i = 0; i < MEM_TIMERS; i++) {
		t = m->timers[i];
		if (!t || t->node.when > m->now)
			continue;
		mem_timer_cancel(&m->env, t);
		t->fn(t->arg);
	}
	mem_run(m);
}

/* Delivers these bytes from the peer, and runs all that follows from them. */
static inline void mem_feed(struct mem_env *m, const void *buf, size_t len)
{
	m->in = buf;
	m->in_len = len;
	m->in_at = 0;
	mem_run(m);
}

/* The memory of what was written; posts that are left are run. */
static inline void mem_fini(struct mem_env *m)
{
	while (mem_run_posts(m))
		;
	ddio_env_fini(&m->env);
	free(m->out);
	m->out = NULL;
}

#endif /* DDIO_TEST_MEMENV_H */
