/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks, as their users see them: requests, disk streams and scatter lists. */
#ifndef DDIO_DISK_H
#define DDIO_DISK_H

#include "env/env.h"

struct ddio_disk;
struct ddio_disk_engine;
struct ddio_joint;

/*
 * Requests.
 */
enum ddio_disk_op { DDIO_DISK_READ, DDIO_DISK_WRITE, DDIO_DISK_FLUSH };

/**
 * struct ddio_disk_sums - checksums of where a request's bytes went, the buffer or the disk, made by an engine that copies them with
 * the processor, while that has them in its cache
 * @n: how many there are; 0: none were made, or the request failed
 * @sum: the CRC-32C of each DDIO_DISK_SUM_LEN bytes, the last of what is left of them
 */
#define DDIO_DISK_SUM_LEN 65536u
#define DISK_SUMS 16u

struct ddio_disk_sums {
	uint32_t n, sum[DISK_SUMS];
};

/**
 * struct ddio_disk_req - one request; the caller owns the memory until @done
 * @op: what
 * @offset: byte on the disk, a multiple of the sector size
 * @len: bytes, a multiple of the sector size; 0 for a flush
 * @buf: aligned to info.align
 * @durable: a write that a flush will follow at once: the engine may put it on stable storage by itself, if that is faster
 * @sums: NULL, or where checksums go
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
	bool durable;
	struct ddio_disk_sums *sums;
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
 * @create: create the file if it is missing, and give it its size if it is empty
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
 * @forgets: its contents are lost when it is closed
 * @streams: a block list is better handed to it as a disk stream than block by block
 * @positions: ddio_disk_access_ns() has answers
 * @scatters: it supports joints, see ddio_disk_scatter_new(); @scatter_sums: and ddio_disk_scatter_sums()
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
	bool scatters, scatter_sums;
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

/* @err: on failure one line that names the disk and says what was wrong. */
int ddio_disk_open(struct ddio_env *env, const struct ddio_disk_spec *spec, struct ddio_disk **disk,
		   char *err, size_t err_len);
/* No request may be in flight. */
void ddio_disk_close(struct ddio_disk *disk);
const struct ddio_disk_info *ddio_disk_info(const struct ddio_disk *disk);
void ddio_disk_stats(const struct ddio_disk *disk, struct ddio_disk_stats *stats);
const char *ddio_disk_name(const struct ddio_disk *disk);
/* Returns how many writes have ended, blocks of streams among them: whoever finds the same number again knows of none since. */
uint64_t ddio_disk_written(const struct ddio_disk *disk);
/*
 * Returns the time, on the disk's own clock, until the block at byte @offset would begin to pass under
 * the heads if a read of it were submitted now, after what has been submitted already: for serving
 * the shortest access first.  UINT64_MAX where the disk does not know.
 */
uint64_t ddio_disk_access_ns(const struct ddio_disk *disk, uint64_t offset);
/* A bad range or alignment ends in @done with -EINVAL, like every other error. */
void ddio_disk_submit(struct ddio_disk *disk, struct ddio_disk_req *req);
/* Starts everything submitted since the last commit, as one batch where the engine batches. */
void ddio_disk_commit(struct ddio_disk *disk);
/* The next @n requests of @op (-1: any) fail with @status after their normal time: fault injection. */
void disk_inject(struct ddio_disk *disk, int op, uint64_t n, int status);

/*
 * Makes a request and waits for it: at the start, before the loop runs and with nothing in flight.
 * Takes no emulated time and is not counted.  Return: 0, -EINVAL as for a request, or another -errno.
 */
int ddio_disk_rw_sync(struct ddio_disk *disk, enum ddio_disk_op op, uint64_t offset, void *buf,
		      uint64_t len);

/*
 * Disk streams: a whole block list is handed over at once, and a few slots of memory go to and fro
 * between the disk and the user.  Reading, the disk fills slots with the next blocks and the user
 * releases each when it has emptied it; writing, slots come empty, and the user fills each with the
 * block it is for and releases it.
 *
 * A slot is the user's from @slot to ddio_disk_stream_release(), and otherwise the disk's.
 * After the first block that failed no other is started.
 */
struct ddio_disk_stream;

/**
 * struct ddio_disk_block - one block of a disk stream's list
 * @offset: byte on the disk, a multiple of the sector size
 * @cookie: the user's
 */
struct ddio_disk_block {
	uint64_t offset;
	uint64_t cookie;
};

/**
 * struct ddio_disk_stream_ops - callbacks of a disk stream
 * @next: returns the list's next block; false: the list has ended.  The engine asks as far ahead as
 *	it likes, also inside ddio_disk_stream_open() and _release()
 * @slot: reading: the slot holds the block, or nothing if @status is not 0.
 *	Writing: the slot is to be filled with the block; blocks come in the order of the list
 * @wrote: the block is written, or @status says why not
 * @ended: called once, and last: the list is done and every slot was released; or it was cancelled, or
 *	a block failed, and nothing is in flight
 * All but the first are called from the loop.
 */
struct ddio_disk_stream_ops {
	bool (*next)(void *ctx, struct ddio_disk_block *block);
	void (*slot)(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status);
	void (*wrote)(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status);
	void (*ended)(void *ctx, int status);
};

/**
 * struct ddio_disk_stream_spec - what a disk stream is to do
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

/* Return: 0 or -errno.  On failure nothing was started, though blocks may have been asked for. */
int ddio_disk_stream_open(struct ddio_disk *disk, const struct ddio_disk_stream_spec *spec,
			  struct ddio_disk_stream **stream);
void ddio_disk_stream_release(struct ddio_disk_stream *stream, uint32_t slot);
/* Starts no further block; slots need no longer be released, and @ended comes. */
void ddio_disk_stream_cancel(struct ddio_disk_stream *stream);
/* To be called after @ended, or in it. */
void ddio_disk_stream_close(struct ddio_disk_stream *stream);
/*
 * Reading: returns true if nothing was written to the block since the stream was opened.  Otherwise
 * the disk may have read it before, during or after the write.  Sometimes false without need.
 */
bool ddio_disk_stream_fresh(const struct ddio_disk_stream *stream,
			    const struct ddio_disk_block *block);

/*
 * Scatter lists: blocks that are moved between a disk and the members of a joint.  A list is filled by
 * adding blocks and their runs, then started; when it has ended, it may be cleared and used again.
 */
struct ddio_disk_scatter;

/**
 * struct ddio_scatter_run - nested-strided pieces of a block and of a member's memory
 * @memory: byte of the first piece in the member's memory; @offset: its byte in the block
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
 * struct ddio_disk_scatter_ops - callbacks of a scatter list, from the loop
 * @block: a block of the list has ended.  -EOWNERDEAD: a member has left; -ECANCELED: not started.
 *	After the first that failed no other is started
 * @ended: called once, and last: all of them have
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

/* Makes an empty list.  -EOPNOTSUPP: this disk cannot scatter. */
int ddio_disk_scatter_new(struct ddio_disk *disk, const struct ddio_disk_scatter_spec *spec,
			  struct ddio_disk_scatter **scatter);
/* Adds a block, at byte @offset of the disk, without runs. */
int ddio_disk_scatter_block(struct ddio_disk_scatter *scatter, uint64_t offset);
/* Adds a run to the last block.  -ERANGE: the disk cannot express it; -ENOMEM. */
int ddio_disk_scatter_run(struct ddio_disk_scatter *scatter, const struct ddio_scatter_run *run);
/*
 * The list is one of blocks that have sums: reading, each is compared with the CRC-32C that it was given before anything of
 * it is delivered, and ends with -EBADMSG if it differs; writing, ddio_disk_scatter_sum() tells it once a block has ended.
 */
void ddio_disk_scatter_sums(struct ddio_disk_scatter *scatter, bool on);
bool ddio_disk_scatter_has_sums(const struct ddio_disk_scatter *scatter);
/* Gives the last block its sum. */
void ddio_disk_scatter_give_sum(struct ddio_disk_scatter *scatter, uint32_t sum);
uint32_t ddio_disk_scatter_sum(const struct ddio_disk_scatter *scatter, uint32_t index);
/* Takes out the last block and its runs. */
void ddio_disk_scatter_undo(struct ddio_disk_scatter *scatter);
uint32_t ddio_disk_scatter_blocks(const struct ddio_disk_scatter *scatter);
uint64_t ddio_disk_scatter_runs(const struct ddio_disk_scatter *scatter);
/* Moves the blocks in the order of the list.  Return: 0, or -errno with nothing started. */
int ddio_disk_scatter_start(struct ddio_disk_scatter *scatter);
/* Starts no further block; @ended still comes.  Harmless on a list that does not run. */
void ddio_disk_scatter_cancel(struct ddio_disk_scatter *scatter);
/* Not while the list runs; in @ended it may be called. */
void ddio_disk_scatter_clear(struct ddio_disk_scatter *scatter);
void ddio_disk_scatter_free(struct ddio_disk_scatter *scatter);

/* Prints every engine of the real world and every option with its limits. */
void disk_engines_print(FILE *out);

/* The engines of the real world, NULL-terminated: for struct ddio_real_opts. */
extern const struct ddio_disk_engine *const ddio_disk_engines[];

#endif /* DDIO_DISK_H */
