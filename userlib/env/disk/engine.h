/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interfaces of disk engines, and of media behind them.  Users of disks include disk.h only. */
#ifndef DDIO_DISK_ENGINE_H
#define DDIO_DISK_ENGINE_H

#include "base/opttab.h"
#include "env/disk/disk.h"
#include "env/env_ops.h"

/**
 * struct ddio_medium_ops - where an emulated disk keeps its data in worlds that have media
 * @begun: the disk was given a request.  Return: nanoseconds that it takes beyond what the engine
 *	computes
 * @transfer: moves the data of a request, or makes writes durable.  Return: 0 or -errno
 * @close: called when the disk is closed
 */
struct ddio_medium_ops {
	uint64_t (*begun)(struct ddio_medium *medium, const struct ddio_disk_req *req);
	int (*transfer)(struct ddio_medium *medium, const struct ddio_disk_req *req);
	void (*close)(struct ddio_medium *medium);
};

struct ddio_medium {
	const struct ddio_medium_ops *ops;
	uint64_t size;
};

/**
 * struct ddio_disk_engine - one kind of disk
 * @name: as in the configuration
 * @help: one line
 * @open: allocates and fills @disk->info; the wrapper has set the rest
 * @close: frees
 * @submit: takes a request that the wrapper has checked; ends in disk_complete()
 * @commit: optional
 * @kick: optional: what disk_kick() asked for
 * @stats: optional: fills in the counters that only the engine has
 * @rw_sync: carries out a checked request and waits for it; nothing is in flight
 * @options: table ended by a NULL name; @open has disk_options_parse() read them into
 *	the engine's own struct
 * @access_ns: optional: see ddio_disk_access_ns()
 * @stream: optional: the engine's own disk streams; otherwise they are made of requests
 * @scatter: optional: moves blocks between the disk and joints
 */
struct ddio_disk_engine {
	const char *name;
	const char *help;
	int (*open)(struct ddio_env *env, const struct ddio_disk_spec *spec,
		    struct ddio_disk **disk, char *err, size_t err_len);
	void (*close)(struct ddio_disk *disk);
	void (*submit)(struct ddio_disk *disk, struct ddio_disk_req *req);
	void (*commit)(struct ddio_disk *disk);
	void (*kick)(struct ddio_disk *disk);
	void (*stats)(const struct ddio_disk *disk, struct ddio_disk_stats *stats);
	int (*rw_sync)(struct ddio_disk *disk, const struct ddio_disk_req *req);
	uint64_t (*access_ns)(const struct ddio_disk *disk, uint64_t offset);
	const struct ddio_opt *options;
	const struct disk_stream_engine *stream;
	const struct disk_scatter_engine *scatter;
};

/**
 * struct disk_stream_engine - how an engine makes disk streams
 * @requests: the blocks are requests, which the wrapper sees and counts as such
 * @alloc: returns one, zeroed, embedded first in the engine's own struct; NULL: out of memory
 * @begin: starts the stream, or fails with nothing started; @base is filled in
 * @release: the user has given the slot back; base->slot says for which block
 * @cancel: stops the stream; called at most once
 * @free: frees what @alloc and @begin allocated
 * The engine calls disk_stream_slot(), _wrote() and _ended(), from the loop.
 */
struct disk_stream_engine {
	bool requests;
	struct ddio_disk_stream *(*alloc)(const struct ddio_disk_stream_spec *spec);
	int (*begin)(struct ddio_disk_stream *base);
	void (*release)(struct ddio_disk_stream *base, uint32_t slot);
	void (*cancel)(struct ddio_disk_stream *base);
	void (*free)(struct ddio_disk_stream *base);
};

/**
 * struct ddio_disk_stream - the common part of disk streams, embedded first in the engine's
 * @opened: the disk's count of writes at the opening
 * @in_flight: blocks that the disk's counters count as in flight
 * @nheld: slots that are the user's
 * @error: of the first block that failed
 * @cancelled: by the user
 * @ended: the user's @ended has been called
 * @slot: for each, its block and whether the user holds it
 */
struct ddio_disk_stream {
	struct ddio_disk *disk;
	const struct disk_stream_engine *engine;
	struct ddio_disk_stream_spec spec;
	uint64_t opened;
	uint32_t in_flight;
	uint32_t nheld;
	int error;
	bool cancelled, ended;
	struct disk_stream_held {
		struct ddio_disk_block block;
		bool held;
	} * slot;
};

/* Returns the next block of the list; false also after an error or a cancel. */
bool disk_stream_next(struct ddio_disk_stream *stream, struct ddio_disk_block *block);
/* Reading, for engines that count themselves: a block was given to the disk. */
void disk_stream_begun(struct ddio_disk_stream *stream);
/* A slot becomes the user's.  Writing: @status is 0. */
void disk_stream_slot(struct ddio_disk_stream *stream, uint32_t slot,
		      const struct ddio_disk_block *block, int status);
void disk_stream_wrote(struct ddio_disk_stream *stream, uint32_t slot, int status);
/* The last call; the stream may be gone afterwards. */
void disk_stream_ended(struct ddio_disk_stream *stream);
/**
 * struct disk_scatter_engine - how an engine scatters; scatter.h has the list
 * @start: starts the list, or fails with nothing started
 * @cancel: stops a running list
 * The engine calls disk_scatter_landed() and _ended(), from the loop.
 */
struct disk_scatter_engine {
	int (*start)(struct ddio_disk_scatter *scatter);
	void (*cancel)(struct ddio_disk_scatter *scatter);
};

/* Disk streams made of requests. */
extern const struct disk_stream_engine disk_stream_plain;

/**
 * struct disk_common - options that every engine has, read by the wrapper
 * @fail_after: requests that succeed before all others fail with -EIO; fault injection
 * @stream: block lists are to be given to the disk as disk streams
 * @scatter: blocks may be moved directly to and from processes of the machine
 */
struct disk_common {
	uint64_t fail_after;
	bool stream;
	bool scatter;
};

/* Allocated on its own, since its post may still be under way when the disk is closed. */
struct disk_kick {
	struct ddio_post post;
	struct ddio_disk *disk; /* NULL once closed */
	bool posted;
};

/*
 * Embedded first in every engine's own struct.  Of a request's priv the last
 * one is the wrapper's, the others are the engine's.
 */
struct ddio_disk {
	const struct ddio_disk_engine *engine;
	struct ddio_env *env;
	char *name;
	struct ddio_disk_info info;
	struct ddio_disk_stats stats;
	uint64_t busy_since;
	uint64_t inject_n;
	int inject_op, inject_status;
	struct disk_common common;
	uint64_t accepted;	   /* requests given to the engine so far */
	struct ddio_list rejected; /* wait for the loop to fail them */
	uint64_t n_rejected;
	struct disk_kick *kick;
	uint32_t streams;      /* open ones */
	uint64_t write_seq;    /* writes begun and ended while there were streams */
	uint64_t *write_table; /* of the last of them in each region, see env/disk/writes.c */
};

/*
 * Called by an engine, from the loop: ends the request, does the counting, calls
 * done.  The disk may be closed by done: after the last request in flight the
 * engine must not touch it.
 */
void disk_complete(struct ddio_disk *disk, struct ddio_disk_req *req, int status);
/* Makes the loop call the engine's @kick once, soon. */
void disk_kick(struct ddio_disk *disk);

/**
 * disk_options_parse - read spec->options into an engine's own struct
 * @options: the engine's table
 * @spec: has the options, and the disk's name for messages
 * @opts: filled with the defaults by the caller; members that are named are overwritten.
 *	An OPT_STRING member is a char * that the caller frees, also on failure.
 * Return: 0, or -EINVAL for an unknown option or a bad value, with one line in @err.
 */
int disk_options_parse(const struct ddio_opt *options, const struct ddio_disk_spec *spec,
		       void *opts, char *err, size_t err_len);
/* Options of every engine, read by the wrapper. */
extern const struct ddio_opt ddio_disk_common_options[];

/* Engines that need nothing but an env, for simulated worlds. */
extern const struct ddio_disk_engine ddio_disk_mem, ddio_disk_hp97560;

#endif /* DDIO_DISK_ENGINE_H */
