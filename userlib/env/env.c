// SPDX-License-Identifier: LGPL-2.1-or-later
/* The part that all worlds share: dispatch to the world's table, and memory. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "env/arena.h"
#include "env/aside.h"
#include "env/env_ops.h"

#define AWAITED_NS 1000000

uint64_t ddio_env_now(struct ddio_env *env)
{
	return env->ops->now(env);
}

uint64_t ddio_env_wall(struct ddio_env *env)
{
	return env->ops->wall(env);
}

int ddio_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns)
{
	return env->ops->timer_arm(env, timer, when_ns);
}

void ddio_timer_cancel(struct ddio_env *env, struct ddio_timer *timer)
{
	env->ops->timer_cancel(env, timer);
}

bool ddio_timer_armed(const struct ddio_timer *timer)
{
	return timer->node.slot != 0;
}

void ddio_env_post(struct ddio_env *env, struct ddio_post *post)
{
	env->ops->post(env, post);
}

void ddio_env_post_later(struct ddio_env *env, struct ddio_post *post)
{
	if (env->ops->post_later)
		env->ops->post_later(env, post);
	else
		env->ops->post(env, post);
}

void ddio_env_offload(struct ddio_env *env, struct ddio_offload *offload)
{
	env->ops->offload(env, offload);
}

void ddio_env_serve(struct ddio_env *env, bool serve)
{
	if (env->ops->serve)
		env->ops->serve(env, serve);
}

void ddio_env_await(struct ddio_env *env)
{
	env->awaited = ddio_env_now(env) + AWAITED_NS;
}

void ddio_env_await_service(struct ddio_env *env, uint64_t now)
{
	env->served = now + AWAITED_NS;
}

void ddio_env_served(struct ddio_env *env)
{
	env->served = 0;
}

int ddio_env_flush_file(struct ddio_env *env, int fd)
{
	if (fdatasync(fd))
		return -errno;
	if (env->ops->file_flushed)
		env->ops->file_flushed(env, fd);
	return 0;
}

void ddio_gate_init(struct ddio_gate *gate)
{
	gate->waiters = 0;
	gate->priv = NULL;
	atomic_store_explicit(&gate->open, 0, memory_order_release);
}

void ddio_gate_open(struct ddio_env *env, struct ddio_gate *gate)
{
	env->ops->gate_open(env, gate);
}

int ddio_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns)
{
	return env->ops->gate_wait(env, gate, deadline_ns);
}

int ddio_env_call(struct ddio_env *env, struct ddio_post *post, struct ddio_gate *gate)
{
	if (env->ops->call)
		return env->ops->call(env, post, gate);
	if (post)
		ddio_env_post(env, post);
	return ddio_gate_wait(env, gate, 0);
}

bool ddio_gate_is_open(const struct ddio_gate *gate)
{
	return atomic_load_explicit(&gate->open, memory_order_acquire) == 1;
}

int ddio_watcher_start(struct ddio_env *env, struct ddio_watcher *watcher)
{
	return env->ops->watcher_start ? env->ops->watcher_start(env, watcher) : -ENOTSUP;
}

void ddio_watcher_stop(struct ddio_env *env, struct ddio_watcher *watcher)
{
	if (watcher->priv)
		env->ops->watcher_stop(env, watcher);
}

void ddio_env_random(struct ddio_env *env, void *buf, size_t len)
{
	env->ops->random(env, buf, len);
}

void ddio_env_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	env->ops->log(env, level, fmt, ap);
	va_end(ap);
}

void ddio_env_charge(struct ddio_env *env, enum ddio_work work, uint64_t n)
{
	if (env->ops->charge)
		env->ops->charge(env, work, n);
}

int ddio_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			void *ctx, struct ddio_stream **stream)
{
	return env->ops->stream_connect(env, addr, ops, ctx, stream);
}

void ddio_stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx)
{
	stream->vt->set_ops(stream, ops, ctx);
}

ssize_t ddio_stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	return stream->vt->readv(stream, iov, n);
}

ssize_t ddio_stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	return stream->vt->writev(stream, iov, n);
}

void ddio_stream_want_read(struct ddio_stream *stream, bool want)
{
	stream->vt->want_read(stream, want);
}

void ddio_stream_want_write(struct ddio_stream *stream, bool want)
{
	stream->vt->want_write(stream, want);
}

const char *ddio_stream_local(struct ddio_stream *stream)
{
	return stream->vt->local ? stream->vt->local(stream) : "";
}

const char *ddio_stream_peer(const struct ddio_stream *stream)
{
	return stream->vt->peer(stream);
}

bool ddio_stream_is_loopback(const struct ddio_stream *stream)
{
	return stream->vt->is_loopback(stream);
}

const char *ddio_stream_why(const struct ddio_stream *stream)
{
	return stream->vt->why ? stream->vt->why(stream) : "";
}

bool ddio_stream_binding(const struct ddio_stream *stream, void *secret, size_t len)
{
	return stream->vt->binding && stream->vt->binding(stream, secret, len);
}

bool ddio_env_seals(const struct ddio_env *env)
{
	return env->ops->seals && env->ops->seals();
}

void ddio_stream_close(struct ddio_stream *stream)
{
	if (stream)
		stream->vt->close(stream);
}

void ddio_stream_detach(struct ddio_stream *stream)
{
	stream->vt->detach(stream);
	stream->env = NULL;
}

int ddio_stream_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	int ret;

	if (!stream->vt->attach)
		return env->ops->stream_attach(env, stream);
	ret = stream->vt->attach(env, stream);
	if (!ret)
		stream->env = env;
	return ret;
}

int ddio_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		struct ddio_listener **listener)
{
	return env->ops->listen(env, addr, accept, ctx, listener);
}

const char *ddio_listener_addr(const struct ddio_listener *listener)
{
	return listener->vt->addr(listener);
}

void ddio_listener_close(struct ddio_listener *listener)
{
	if (listener)
		listener->vt->close(listener);
}

#define HUGE_PAGE (2UL << 20)

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static size_t alloc_round(size_t len)
{
	size_t unit = len >= HUGE_PAGE ? HUGE_PAGE : page_size();

	if (!len)
		len = 1;
	return len > SIZE_MAX - 2 * unit ? 0 : (len + unit - 1) / unit * unit;
}

void *ddio_env_scratch(struct ddio_env *env, size_t len)
{
	if (env->scratch_len >= len)
		return env->scratch;
	free(env->scratch);
	env->scratch = malloc(len);
	env->scratch_len = env->scratch ? len : 0;
	return env->scratch;
}

void *ddio_env_spare_get(struct ddio_env *env, int kind, size_t min, size_t *len)
{
	struct env_spare *spare = &env->spare[kind];
	void *buf = spare->buf;

	if (spare->len < min)
		return NULL;
	*len = spare->len;
	spare->buf = NULL;
	spare->len = 0;
	return buf;
}

void ddio_env_spare_put(struct ddio_env *env, int kind, void *buf, size_t len)
{
	struct env_spare *spare = &env->spare[kind];

	if (len <= spare->len || len > ENV_SPARE_MAX) {
		free(buf);
		return;
	}
	free(spare->buf);
	spare->buf = buf;
	spare->len = len;
}

void ddio_env_fini(struct ddio_env *env)
{
	int i;

	asides_forget(env);
	for (i = 0; i < ENV_SPARES; i++) {
		free(env->spare[i].buf);
		env->spare[i] = (struct env_spare){ 0 };
	}
	free(env->scratch);
	env->scratch = NULL;
	env->scratch_len = 0;
	arena_free(env->arena);
	env->arena = NULL;
}

/* Whether a buffer of @size bytes, which alloc_round() gave, is one of the heap's. */
static bool on_heap(const struct ddio_env *env, size_t size)
{
	return env->ops->heap && size < HUGE_PAGE;
}

static void *heap_alloc(size_t len)
{
	void *buf;

	return posix_memalign(&buf, page_size(), len) ? NULL : memset(buf, 0, len);
}

bool ddio_env_registers(const struct ddio_env *env)
{
	return env->arena;
}

/**
 * ddio_env_alloc - memory for disk requests
 * @env: the reactor that will use it
 * @len: bytes
 *
 * From 2 MB on, the buffer starts at a huge page's boundary and huge pages are asked for.
 *
 * Return: zeroed memory, or NULL.
 */
void *ddio_env_alloc(struct ddio_env *env, size_t len)
{
	size_t size = alloc_round(len);
	size_t extra = size >= HUGE_PAGE ? HUGE_PAGE : 0;
	uintptr_t at, start;
	void *map;

	if (!size)
		return NULL;
	map = env->arena ? arena_get(env->arena, len) : NULL;
	if (map)
		return map;
	if (on_heap(env, size))
		return heap_alloc(len);
	map = mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	if (!extra)
		return map;
	at = (uintptr_t)map;
	start = (at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	if (start > at)
		munmap(map, start - at);
	if (at + extra > start)
		munmap((void *)(start + size), at + extra - start);
	/* Without huge pages the buffer works, too, only more slowly. */
	madvise((void *)start, size, MADV_HUGEPAGE);
	return (void *)start;
}

void ddio_env_free(struct ddio_env *env, void *buf, size_t len)
{
	size_t size = alloc_round(len);

	if (!buf || (env->arena && arena_put(env->arena, buf, len)))
		return;
	if (on_heap(env, size))
		free(buf);
	else
		munmap(buf, size);
}
