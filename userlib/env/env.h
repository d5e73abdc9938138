/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outside world, as cp/ and iop/ see it: one struct ddio_env is one
 * reactor: a clock, timers, byte streams, memory, and a place to report what CPU
 * work was done.  Two worlds stand behind it: the real one (epoll, TCP) and
 * simulated ones (virtual time).  Disks are in disk/disk.h.
 *
 * Rules of a reactor
 * - Everything that belongs to an env is called from its reactor only, except
 *   ddio_env_post() and the gate functions, which any thread may call.
 * - No callback is ever made from inside the call that asked for it: callbacks
 *   come from the reactor's loop.  A caller may therefore free or change its
 *   own state right after a call without being re-entered.
 * - After ddio_stream_close(), ddio_timer_cancel(), ddio_listener_close() no
 *   further callback of that object arrives.  A disk request cannot be
 *   cancelled: its buffer stays in use until its callback.
 */
#ifndef DDIO_ENV_H
#define DDIO_ENV_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "base/heap.h"
#include "base/list.h"

struct ddio_env;
struct ddio_stream;
struct ddio_listener;

/*
 * Time: nanoseconds, monotonic, origin unspecified but never 0.
 */
uint64_t ddio_env_now(struct ddio_env *env);
/* Returns the wall-clock time, nanoseconds since 1970, for time stamps of files only. */
uint64_t ddio_env_wall(struct ddio_env *env);

/**
 * struct ddio_timer - a one-shot timer; the caller owns the memory
 * @fn: called once, at or after the time given
 * @arg: for @fn
 * Zero-initialise, set @fn and @arg, then arm.  The rest belongs to the env.
 */
struct ddio_timer {
	void (*fn)(void *arg);
	void *arg;
	struct ddio_heap_node node;
};

/* Arms a timer, or moves it if it is armed.  Cannot fail except -ENOMEM. */
int ddio_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns);
void ddio_timer_cancel(struct ddio_env *env, struct ddio_timer *timer);
bool ddio_timer_armed(const struct ddio_timer *timer);

/**
 * struct ddio_post - a function to be run on a reactor; the caller owns the memory
 * Between ddio_env_post() and the call of @fn the node must not be touched.
 */
struct ddio_post {
	void (*fn)(void *arg);
	void *arg;
	struct ddio_post *next;
};

/* Any thread.  Posts from one thread run in order.  Also how a reactor defers work to itself. */
void ddio_env_post(struct ddio_env *env, struct ddio_post *post);
/* The same for what is in no hurry: it waits until the reactor has something else to do, or ends. */
void ddio_env_post_later(struct ddio_env *env, struct ddio_post *post);

/**
 * struct ddio_offload - blocking work done outside the reactor
 * @work: runs elsewhere; touches only what @arg lends it
 * @done: runs on the reactor afterwards
 * Offloads of one env run one at a time and in order.  In a simulated world
 * @work runs at once and @done after the time that was charged for it.
 */
struct ddio_offload {
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
	struct ddio_offload *next;
};

void ddio_env_offload(struct ddio_env *env, struct ddio_offload *offload);
/*
 * Puts a file's bytes, and its length, on stable storage.  Blocks, so it is for offloaded work and for beginnings; any thread.
 * Return: 0 or -errno.
 */
int ddio_env_flush_file(struct ddio_env *env, int fd);

/*
 * Other processes are served here: from now on a thread that waits does not run the loop in place of the reactor's own, after which it
 * would serve nobody for a while.  Counted: each true needs its false.  On the reactor.
 */
void ddio_env_serve(struct ddio_env *env, bool serve);

/*
 * What comes next is awaited by somebody, and comes mostly within a millisecond, the flush of a disk for instance: for so long a
 * reactor that has nothing to do looks for events for longer before it sleeps.  On the reactor.
 */
void ddio_env_await(struct ddio_env *env);

/*
 * Until ddio_env_served(), but for a millisecond at most, what comes next is the doing of another process, which serves this one.
 * Where that needs this thread's processor, a reactor sleeps sooner.  On the reactor; @now: ddio_env_now().
 */
void ddio_env_await_service(struct ddio_env *env, uint64_t now);
void ddio_env_served(struct ddio_env *env);

/**
 * struct ddio_gate - how an application's call waits for a reactor
 * In the real world the caller is another thread, which sleeps; in a
 * simulated one it is a coroutine, which yields.  Opened once, for ever
 * (until ddio_gate_init()).  ddio_gate_open() is the last access that the
 * opener makes; the waiter may free the gate as soon as wait returns.
 */
struct ddio_gate {
	_Atomic uint32_t open;
	uint32_t waiters;
	void *priv;
};

void ddio_gate_init(struct ddio_gate *gate);
void ddio_gate_open(struct ddio_env *env, struct ddio_gate *gate);
/* Never called on the reactor.  @deadline_ns: 0 for none.  Return: 0 or -ETIMEDOUT. */
int ddio_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
bool ddio_gate_is_open(const struct ddio_gate *gate);

/**
 * ddio_env_call - have the reactor do something, and wait for it
 * @env: the reactor
 * @post: as for ddio_env_post(); NULL if it was posted before
 * @gate: opened by functions that run on this reactor, and by nobody else
 * In the real world the calling thread may run the reactor itself meanwhile, which saves waking another.  Never called on
 * the reactor.
 * Return: 0, or -EDEADLK on the reactor.
 */
int ddio_env_call(struct ddio_env *env, struct ddio_post *post, struct ddio_gate *gate);

/**
 * struct ddio_watcher - a descriptor that the reactor watches; the caller owns the memory
 * @fd: the caller's; must stay open until ddio_watcher_stop()
 * @fn: called again and again while @fd is readable or in error
 * @arg: for @fn
 * Zero-initialise, set these, then start.  The rest belongs to the env.
 */
struct ddio_watcher {
	int fd;
	void (*fn)(void *arg);
	void *arg;
	void *priv;
};

/* Return: 0, -ENOTSUP in a world without descriptors, or another -errno. */
int ddio_watcher_start(struct ddio_env *env, struct ddio_watcher *watcher);
/* After this @fn is not called again.  Does nothing to a watcher that was not started. */
void ddio_watcher_stop(struct ddio_env *env, struct ddio_watcher *watcher);

/* Fills in unpredictable bytes (nonces, identifiers); from the seed in a simulated world. */
void ddio_env_random(struct ddio_env *env, void *buf, size_t len);

/*
 * Log lines: for the operator, one event a line, no newline at the end.
 */
enum ddio_log_level { DDIO_LOG_ERR, DDIO_LOG_WARN, DDIO_LOG_INFO, DDIO_LOG_DEBUG };

void ddio_env_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * CPU work, reported to the world as it is done: costs nothing in the real world, and in a
 * simulated one the time that a named machine would take.
 */
enum ddio_work {
	DDIO_WORK_MSG_SEND, /* n messages */
	DDIO_WORK_MSG_RECV, /* n messages */
	DDIO_WORK_MEMPUT,   /* n bytes put by an IOP into a CP's memory; one call a message */
	DDIO_WORK_MEMGET,   /* n bytes fetched by an IOP from a CP's memory; one call a message */
	DDIO_WORK_CACHE,    /* n cache look-ups */
	DDIO_WORK_SWITCH,   /* n hand-overs between request handlers (thread switches of 1994) */
	DDIO_WORK_COPY,	    /* n bytes copied from memory to memory */
	DDIO_WORK_SORT,	    /* n keys sorted, one call a sort */
	DDIO_WORK_RUNS,	    /* n runs computed from a distribution */
	DDIO_WORK_PIECES,   /* n contiguous pieces found, each counted once a dimension */
	DDIO_WORK_GATHER,   /* n contiguous pieces gathered into or dealt out of one message */
	DDIO_WORK_DISK,	    /* n disk requests started */
	DDIO_WORK_SHARED, /* n bytes copied by a CP from or to a buffer that it shares with an IOP */
	DDIO_WORK_CALL,	  /* n application calls into the library */
};

void ddio_env_charge(struct ddio_env *env, enum ddio_work work, uint64_t n);

/*
 * Byte streams.  Addresses are text: "host:port", "[v6]:port"; port 0 listens
 * on any.  "local:NAME" is a name of this machine, of at most ENV_LOCAL_NAME bytes, between processes of one user:
 * others are refused (-EACCES).  All calls are non-blocking.
 */

#define ENV_LOCAL "local:"
#define ENV_LOCAL_NAME 90

/**
 * struct ddio_stream_ops - callbacks of a stream
 * @readable: bytes (or the end, or an error) can be read.  Level-triggered:
 *	comes again and again until read, unless ddio_stream_want_read(false).
 * @writable: asked for by ddio_stream_want_write(true), level-triggered; also
 *	reports a completed connect if asked for
 * @failed: the connect failed or the stream broke; @err is a negative errno.
 *	Nothing else will come; the user still has to close.  An orderly end of
 *	the peer is not a failure: ddio_stream_readv() returns 0.
 */
struct ddio_stream_ops {
	void (*readable)(void *ctx);
	void (*writable)(void *ctx);
	void (*failed)(void *ctx, int err);
};

int ddio_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			void *ctx, struct ddio_stream **stream);
/* For a stream that a listener has just accepted, or that another reactor has detached. */
void ddio_stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx);
/* Return the bytes moved (maybe fewer than asked), 0 at the end (read only), -EAGAIN, or another -errno. */
ssize_t ddio_stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n);
ssize_t ddio_stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n);
void ddio_stream_want_read(struct ddio_stream *stream, bool want);  /* initially true */
void ddio_stream_want_write(struct ddio_stream *stream, bool want); /* initially false */
/* Returns the peer's address as text; valid until close. */
const char *ddio_stream_peer(const struct ddio_stream *stream);
/* Returns this end's address as text, once connected; "" if it is not known.  Valid until the next call. */
const char *ddio_stream_local(struct ddio_stream *stream);
/* Returns true if the peer is this machine by a loopback address. */
bool ddio_stream_is_loopback(const struct ddio_stream *stream);
/* Returns what the stream's error means, as text; "" if nothing but what its number says.  Valid until close. */
const char *ddio_stream_why(const struct ddio_stream *stream);
/* Fills in bytes that only this stream's two ends know, the same at both.  Returns false if it has none, as plain streams. */
bool ddio_stream_binding(const struct ddio_stream *stream, void *secret, size_t len);
/* Returns true if the kernel can make the records of TLS of this env's streams, and replace their keys. */
bool ddio_env_seals(const struct ddio_env *env);
/* Data already written are still delivered, unless the process dies, before the peer reads the end. */
void ddio_stream_close(struct ddio_stream *stream);

/**
 * ddio_stream_detach - take a stream from its reactor; ddio_stream_attach() - give it to another
 *
 * Hands a connection from the accepting reactor to the one that owns the disks it
 * asked for.  Between the two calls the stream belongs to no loop.  Events come once
 * the ops are set after the attach.
 */
void ddio_stream_detach(struct ddio_stream *stream);
int ddio_stream_attach(struct ddio_env *env, struct ddio_stream *stream);

typedef void (*ddio_accept_fn)(void *ctx, struct ddio_stream *stream);
int ddio_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		struct ddio_listener **listener);
/* Returns the address that was bound, with its port. */
const char *ddio_listener_addr(const struct ddio_listener *listener);
void ddio_listener_close(struct ddio_listener *listener);
/* Returns whether the text is an address that only this machine can reach (127.0.0.0/8, ::1, localhost). */
bool ddio_addr_is_loopback(const char *addr);

/*
 * Memory.
 */
/* Allocates buffers fit for every engine (page-aligned, huge pages where they help), zeroed. */
void *ddio_env_alloc(struct ddio_env *env, size_t len);
void ddio_env_free(struct ddio_env *env, void *buf, size_t len);
/* Returns true if that memory is registered with the kernel, so that other memory would have to be copied. */
bool ddio_env_registers(const struct ddio_env *env);

/**
 * ddio_env_scratch - memory that all users of a reactor share
 * @len: the same in every call
 *
 * What many objects need for a moment each, one after the other, thus exists once.  Valid until the
 * caller returns to the loop; the contents are undefined.  NULL: out of memory.
 */
void *ddio_env_scratch(struct ddio_env *env, size_t len);

/* Kinds of memory that come and go all the time; see ddio_env_spare_get(). */
enum {
	DDIO_ENV_SPARE_CHUNK,
	DDIO_ENV_SPARE_RING,
	ENV_SPARE_RECORDS,
	DDIO_ENV_SPARE_GATHER,
	DDIO_ENV_SPARE_BLOCK,
	ENV_SPARES
};
#define ENV_SPARE_MAX (132u << 10)

/**
 * ddio_env_spare_get - reuse memory that was given to ddio_env_spare_put()
 * @env: the reactor
 * @kind: the reactor keeps one buffer of each kind
 * @min: bytes needed
 * @len: bytes found
 *
 * Return: a buffer for free() or ddio_env_spare_put(), or NULL if none is large enough.
 */
void *ddio_env_spare_get(struct ddio_env *env, int kind, size_t min, size_t *len);
/* Takes memory of malloc(), which is kept for the next user or freed. */
void ddio_env_spare_put(struct ddio_env *env, int kind, void *buf, size_t len);

#endif /* DDIO_ENV_H */
