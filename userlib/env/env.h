/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outside world, as cp/ and iop/ see it: one struct ddio_env is one
 * reactor: a clock, timers, byte streams, disks, and a place to say what CPU
 * work was done.  Two worlds stand behind it: the real one (epoll, TCP, disk
 * engines) and simulated ones (virtual time).
 *
 * Rules of a reactor
 * - Everything that belongs to an env is called from its reactor only, except
 *   ddio_env_post() and the gate functions, which any thread may call.
 * - No callback is ever made from inside the call that asked for it: callbacks
 *   come from the reactor's loop.  A caller may therefore free or change its
 *   own state right after a call without fearing to be re-entered.
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
#include "base/list.h"

struct ddio_env;
struct ddio_stream;
struct ddio_listener;
struct ddio_disk;

/*
 * Time: nanoseconds, monotonic, origin unspecified but never 0.
 */
uint64_t ddio_env_now(struct ddio_env *env);
/* Wall-clock time, nanoseconds since 1970, for time stamps of files only. */
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
	uint64_t when;
	uint64_t seq;
	size_t slot; /* 0: not armed, else index in the env's heap */
};

/* Arming an armed timer moves it.  Cannot fail except -ENOMEM. */
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

/**
 * struct ddio_gate - how an application's call waits for a reactor
 * In the real world the caller is another thread, which sleeps; in a
 * simulated one it is a coroutine, which yields.  Opened once, for ever
 * (until ddio_gate_init()).  ddio_gate_open() is the last access that the
 * opener makes; the waiter may free the gate as soon as wait returns.
 */
struct ddio_gate {
	uint32_t open;
	uint32_t waiters;
	void *priv;
};

void ddio_gate_init(struct ddio_gate *gate);
void ddio_gate_open(struct ddio_env *env, struct ddio_gate *gate);
/* Never called on the reactor.  @deadline_ns: 0 for none.  Return: 0 or -ETIMEDOUT. */
int ddio_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
bool ddio_gate_is_open(const struct ddio_gate *gate);

/**
 * struct ddio_watcher - a descriptor of the caller's that the reactor looks at; the caller owns the memory
 * @fd: stays the caller's, and open until ddio_watcher_stop()
 * @fn: called again and again while @fd can be read or is in error
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
/* @fn is not called any more.  Nothing if it was not started. */
void ddio_watcher_stop(struct ddio_env *env, struct ddio_watcher *watcher);

/* Unpredictable bytes (nonces, identifiers); from the seed in a simulated world. */
void ddio_env_random(struct ddio_env *env, void *buf, size_t len);

/*
 * Log lines: for the operator, one event a line, no newline at the end.
 */
enum ddio_log_level { DDIO_LOG_ERR, DDIO_LOG_WARN, DDIO_LOG_INFO, DDIO_LOG_DEBUG };

void ddio_env_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * CPU work, told to the world as it is done: nothing in the real world, time
 * in a simulated one with the costs of a named machine.
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
	DDIO_WORK_CALL,	    /* n application calls into the library */
};

void ddio_env_charge(struct ddio_env *env, enum ddio_work work, uint64_t n);

/*
 * Byte streams.  Addresses are text: "host:port", "[v6]:port"; port 0 listens
 * on any.  All calls are non-blocking.
 */

/**
 * struct ddio_stream_ops - what a stream tells its user
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
/* For a stream that a listener has just accepted, or that another reactor let go. */
void ddio_stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx);
/* Bytes moved (may be fewer than asked), 0 at the end (read only), -EAGAIN, or another -errno. */
ssize_t ddio_stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n);
ssize_t ddio_stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n);
void ddio_stream_want_read(struct ddio_stream *stream, bool want);  /* initially true */
void ddio_stream_want_write(struct ddio_stream *stream, bool want); /* initially false */
/* Text of the peer's address; valid until close. */
const char *ddio_stream_peer(const struct ddio_stream *stream);
/* Text of this end's address, once connected; "" if it is not known.  Valid until the next call. */
const char *ddio_stream_local(struct ddio_stream *stream);
/* True if the peer is this machine by a loopback address. */
bool ddio_stream_is_loopback(const struct ddio_stream *stream);
/* Data written are delivered unless the process dies; then the peer reads the end. */
void ddio_stream_close(struct ddio_stream *stream);

/**
 * ddio_stream_detach - take a stream from its reactor; ddio_stream_attach() - give it to another
 * To hand a connection from the accepting reactor to the one that owns the
 * disks it asked for.  Between the two calls the stream belongs to nobody's
 * loop.  After attach the ops are to be set, then events come.
 */
void ddio_stream_detach(struct ddio_stream *stream);
int ddio_stream_attach(struct ddio_env *env, struct ddio_stream *stream);

typedef void (*ddio_accept_fn)(void *ctx, struct ddio_stream *stream);
int ddio_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		struct ddio_listener **listener);
/* The address really bound, with its port. */
const char *ddio_listener_addr(const struct ddio_listener *listener);
void ddio_listener_close(struct ddio_listener *listener);
/* Is this text an address of this machine only (127.0.0.0/8, ::1, localhost)? */
bool ddio_addr_is_loopback(const char *addr);

/*
 * Disks.
 */
enum ddio_disk_op { DDIO_DISK_READ, DDIO_DISK_WRITE, DDIO_DISK_FLUSH };

/**
 * struct ddio_disk_req - one request; the caller owns the memory until @done
 * @op: what
 * @offset: byte on the disk, a multiple of the sector size
 * @len: bytes, a multiple of the sector size; 0 for a flush
 * @buf: aligned to info.align
 * @done: called from the loop, exactly once, never inside ddio_disk_submit()
 * @arg: the caller's
 * @status: at @done: 0 or a negative errno
 * @submit_ns, @done_ns: set by the env, real or virtual time
 * @link, @priv: the engine's while the request is in its hands
 */
struct ddio_disk_req {
	enum ddio_disk_op op;
	uint64_t offset;
	uint64_t len;
	void *buf;
	void (*done)(struct ddio_disk_req *req);
	void *arg;
	int status;
	uint64_t submit_ns;
	uint64_t done_ns;
	struct ddio_list link;
	uint64_t priv[4];
};

/**
 * struct ddio_disk_spec - what to open
 * @name: the disk's name in the configuration, for messages
 * @engine: "mem", "aio", "hp97560", "kmod"; NULL chooses by @path
 * @path: block device or file; for the engines that need one, or that can keep their
 *	data in one (mem, hp97560)
 * @size: bytes, for engines that make their disk; 0 for the device's, the file's or the model's
 * @options: more options of the engine, "name=value" separated by commas, or NULL
 * @bus: disks of one env with the same non-NULL text share one emulated bus
 * @create: make or grow the file if it is too small
 */
struct ddio_disk_spec {
	const char *name;
	const char *engine;
	const char *path;
	uint64_t size;
	const char *options;
	const char *bus;
	bool create;
};

/**
 * struct ddio_disk_info - what was opened
 * @sector: bytes; offsets and lengths are multiples of it
 * @align: required alignment of buffers
 * @peak: sustained bytes a second of the medium if known, else 0
 * @time_scale: real seconds for one second of the disk's own time; 1.0 unless emulated
 * @max_len: longest request, bytes
 * @forgets: what it holds is lost when it is closed
 * @streams: whole lists are better given to it as a stream than block by block
 * @positions: it answers ddio_disk_access_ns()
 * @scatters: it knows joints, see ddio_disk_scatter_new()
 */
struct ddio_disk_info {
	const char *engine;
	uint64_t size;
	uint32_t sector;
	uint32_t align;
	uint64_t peak;
	double time_scale;
	uint64_t max_len;
	bool forgets;
	bool streams;
	bool positions;
	bool scatters;
};

/**
 * struct ddio_disk_stats - counted by the wrapper for every engine, the last ones by emulated disks
 */
struct ddio_disk_stats {
	uint64_t reads, writes, flushes;
	uint64_t read_bytes, write_bytes;
	uint64_t errors;
	uint64_t in_flight, max_in_flight;
	uint64_t busy_ns; /* time with at least one request in flight */
	uint64_t seeks, seek_ns, rotation_ns, buffer_hits, bus_wait_ns;
};

/* @err: on failure one line saying what was wrong, naming the disk. */
int ddio_disk_open(struct ddio_env *env, const struct ddio_disk_spec *spec, struct ddio_disk **disk,
		   char *err, size_t err_len);
/* No request may be in flight. */
void ddio_disk_close(struct ddio_disk *disk);
const struct ddio_disk_info *ddio_disk_info(const struct ddio_disk *disk);
void ddio_disk_stats(const struct ddio_disk *disk, struct ddio_disk_stats *stats);
const char *ddio_disk_name(const struct ddio_disk *disk);
/*
 * The time, on the disk's own clock, from now until a read of the block at byte @offset would
 * begin to pass under the heads if it were submitted now, behind what has been submitted: for who
 * wants the shortest access first.  UINT64_MAX where the disk does not know.
 */
uint64_t ddio_disk_access_ns(const struct ddio_disk *disk, uint64_t offset);
/* A bad range or alignment ends in @done with -EINVAL, like every other error. */
void ddio_disk_submit(struct ddio_disk *disk, struct ddio_disk_req *req);
/* Make everything submitted since the last commit start now (a batch for engines that batch). */
void ddio_disk_commit(struct ddio_disk *disk);
/* Next @n requests of @op (-1: any) fail with @status after their normal time: fault injection. */
void disk_inject(struct ddio_disk *disk, int op, uint64_t n, int status);

/*
 * A request that waits: for the start, before the loop runs and with nothing in flight.  Takes no
 * emulated time and is not counted.  Return: 0, -EINVAL as for a request, or another -errno.
 */
int ddio_disk_rw_sync(struct ddio_disk *disk, enum ddio_disk_op op, uint64_t offset, void *buf,
		      uint64_t len);

/*
 * Streams of a disk: a whole list of blocks is handed over at once, and a few slots of
 * memory go to and fro between the disk and the user.  Reading, the disk fills slots with
 * the next blocks and the user releases them when he has emptied them; writing, slots come
 * empty, the user fills each with the block it is for and releases it.
 *
 * A slot is the user's from @slot to ddio_disk_stream_release(), and the disk's else.
 * After the first block that failed no other is begun.
 */
struct ddio_disk_stream;

/**
 * struct ddio_disk_block - one block of a stream's list
 * @offset: byte on the disk, a multiple of the sector size
 * @cookie: the user's
 */
struct ddio_disk_block {
	uint64_t offset;
	uint64_t cookie;
};

/**
 * struct ddio_disk_stream_ops - what a stream asks of its user, and tells him
 * @next: the list's next block; false: there is none, now and later.  The engine asks as
 *	far ahead as it likes, also inside of ddio_disk_stream_open() and _release()
 * @slot: reading: the slot holds the block, or nothing with a @status that is not 0.
 *	Writing: it wants the block; blocks come in the order of the list
 * @wrote: the block is written, or @status says why not
 * @ended: all is over: the list is done and every slot was released; or it was cancelled, or a block failed, and nothing is in flight.  Once, and last.
 * All but the first are called from the loop.
 */
struct ddio_disk_stream_ops {
	bool (*next)(void *ctx, struct ddio_disk_block *block);
	void (*slot)(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status);
	void (*wrote)(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status);
	void (*ended)(void *ctx, int status);
};

/**
 * struct ddio_disk_stream_spec - what a stream is to do
 * @op: DDIO_DISK_READ or DDIO_DISK_WRITE
 * @slots: how many; also the most blocks in flight
 * @len: of a block
 * @mem: of the first slot, from ddio_env_alloc(), aligned to info.align
 * @stride: bytes from one slot to the next, at least @len
 */
struct ddio_disk_stream_spec {
	enum ddio_disk_op op;
	uint32_t slots;
	uint32_t len;
	void *mem;
	size_t stride;
	const struct ddio_disk_stream_ops *ops;
	void *ctx;
};

/* Return: 0 or -errno; then nothing was begun, though blocks may have been asked for. */
int ddio_disk_stream_open(struct ddio_disk *disk, const struct ddio_disk_stream_spec *spec,
			  struct ddio_disk_stream **stream);
void ddio_disk_stream_release(struct ddio_disk_stream *stream, uint32_t slot);
/* No further block begins; slots need not be released any more, and @ended comes. */
void ddio_disk_stream_cancel(struct ddio_disk_stream *stream);
/* After, or in, @ended. */
void ddio_disk_stream_close(struct ddio_disk_stream *stream);
/*
 * Reading: was nothing written to the block since the stream was opened?  If not so the
 * disk may have read it before, after or meanwhile.  Sometimes false without need.
 */
bool ddio_disk_stream_fresh(const struct ddio_disk_stream *stream,
			    const struct ddio_disk_block *block);

/*
 * Joints: processes of one machine give a disk's reactor memory of theirs, so that blocks move
 * straight between them and the disks.  A joint is made by the one who owns the disks, and sent to
 * the others' mailboxes; they join memory of theirs to it.  Between machines, and in worlds that
 * know nothing of this, all of it is -EOPNOTSUPP or fails in another way, and there is always
 * another way to move the data.
 */
struct ddio_joint;
struct ddio_membership;

#define DDIO_MAILBOX_NAME 64
#define DDIO_MAILBOX_TOKEN 16

/**
 * struct ddio_mailbox - where a joint can be sent to; the caller owns the memory
 * @name: within this machine; empty: it is not open
 * @token: what a letter must show; goes to nobody but the one who is to send it
 */
struct ddio_mailbox {
	int fd;
	char name[DDIO_MAILBOX_NAME];
	uint8_t token[DDIO_MAILBOX_TOKEN];
};

/* Return: 0 or -errno. */
int ddio_mailbox_open(struct ddio_env *env, struct ddio_mailbox *box);
/* What was sent with the right token so far; never waits: -ENOENT. */
int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint);
/* Harmless on one that is not open. */
void ddio_mailbox_close(struct ddio_mailbox *box);

/* One reference; @members may join it, numbers 0 to @members - 1. */
int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint);
/* References may be taken and put by any thread. */
void ddio_joint_get(struct ddio_joint *joint);
void ddio_joint_put(struct ddio_joint *joint);
/* It is there when this returns 0; else no such mailbox is on this machine, or -errno. */
int ddio_joint_send(struct ddio_joint *joint, const char *name,
		    const uint8_t token[DDIO_MAILBOX_TOKEN]);
/*
 * Gives memory; -ENOMEM: more than may be pinned, -EEXIST: @member has joined already.
 * @reading: it is only to be read from.
 */
int ddio_joint_join(struct ddio_joint *joint, uint32_t member, const void *mem, size_t len,
		    bool reading, struct ddio_membership **membership);
/* Takes it back: nobody touches the memory any more when this returns.  NULL is harmless. */
void ddio_membership_end(struct ddio_membership *membership);

/*
 * Scattering: a list of blocks moved between a disk and members of a joint.  A list is made by
 * adding blocks and their runs, started, and may be cleared and used again when it has ended.
 */
struct ddio_disk_scatter;

/**
 * struct ddio_scatter_run - nested-strided pieces of a block and of a member's memory
 * @memory: byte in the memory of the first piece; @offset: the same in the block
 * @len: bytes of each piece
 * @level: outermost first
 */
struct ddio_scatter_run {
	uint64_t memory;
	uint64_t offset;
	uint64_t len;
	uint32_t member;
	uint32_t nlevels;
	struct ddio_scatter_level {
		uint64_t count;
		uint64_t block_stride;
		int64_t memory_stride;
	} level[18];
};

/**
 * struct ddio_disk_scatter_ops - from the loop
 * @block: a block of the list has ended.  -EOWNERDEAD: a member has left; -ECANCELED: not begun.
 *	After the first that failed no other is begun
 * @ended: all of them have; once, and last
 */
struct ddio_disk_scatter_ops {
	void (*block)(void *ctx, uint32_t index, int status);
	void (*ended)(void *ctx);
};

/**
 * struct ddio_disk_scatter_spec - what a list is for
 * @op: DDIO_DISK_READ or DDIO_DISK_WRITE
 * @depth: blocks in flight
 * @len: of a block
 */
struct ddio_disk_scatter_spec {
	enum ddio_disk_op op;
	uint32_t depth;
	uint32_t len;
	struct ddio_joint *joint;
	const struct ddio_disk_scatter_ops *ops;
	void *ctx;
};

/* An empty list.  -EOPNOTSUPP: not with this disk. */
int ddio_disk_scatter_new(struct ddio_disk *disk, const struct ddio_disk_scatter_spec *spec,
			  struct ddio_disk_scatter **scatter);
/* One more block, at byte @offset of the disk; without runs yet. */
int ddio_disk_scatter_block(struct ddio_disk_scatter *scatter, uint64_t offset);
/* For the last block.  -ERANGE: it cannot be said to the disk; -ENOMEM. */
int ddio_disk_scatter_run(struct ddio_disk_scatter *scatter, const struct ddio_scatter_run *run);
/* Takes the last block out again, and what was added of its runs. */
void ddio_disk_scatter_undo(struct ddio_disk_scatter *scatter);
uint32_t ddio_disk_scatter_blocks(const struct ddio_disk_scatter *scatter);
uint64_t ddio_disk_scatter_runs(const struct ddio_disk_scatter *scatter);
/* Blocks are moved in the order of the list.  Return: 0 or -errno, and then nothing was begun. */
int ddio_disk_scatter_start(struct ddio_disk_scatter *scatter);
/* What has not begun is not; @ended comes all the same.  Harmless on one that does not run. */
void ddio_disk_scatter_cancel(struct ddio_disk_scatter *scatter);
/* Not while it runs, but in @ended. */
void ddio_disk_scatter_clear(struct ddio_disk_scatter *scatter);
void ddio_disk_scatter_free(struct ddio_disk_scatter *scatter);

/* Every engine of the real world and every option with its limits, as text for a person. */
void disk_engines_print(FILE *out);

/* Buffers fit for every engine (page-aligned, huge pages where they help), zeroed. */
void *ddio_env_alloc(struct ddio_env *env, size_t len);
void ddio_env_free(struct ddio_env *env, void *buf, size_t len);

/**
 * ddio_env_scratch - memory that everybody on the reactor shares
 * @len: the same in every call
 *
 * Good until the caller returns to the loop; what was in it is nobody's.  So that what many objects
 * need for a moment each, one after the other, exists once.  NULL without memory.
 */
void *ddio_env_scratch(struct ddio_env *env, size_t len);

/* Kinds of memory that come and go all the time; see ddio_env_spare_get(). */
enum { DDIO_ENV_SPARE_CHUNK, DDIO_ENV_SPARE_RING, DDIO_ENV_SPARES };
#define DDIO_ENV_SPARE_MAX (64u << 10)

/**
 * ddio_env_spare_get - memory that somebody on the reactor did not need any more
 * @env: the reactor
 * @kind: one of each is kept
 * @min: bytes that are needed
 * @len: bytes that it has
 *
 * Return: the caller's from now on, for free() or ddio_env_spare_put(); NULL: there is none so large.
 */
void *ddio_env_spare_get(struct ddio_env *env, int kind, size_t min, size_t *len);
/* From malloc(); kept for the next one, or freed. */
void ddio_env_spare_put(struct ddio_env *env, int kind, void *buf, size_t len);

#endif /* DDIO_ENV_H */
