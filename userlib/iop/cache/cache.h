/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block cache of one disk (LRU over blocks, one-block-ahead prefetch on
 * the same disk, WriteFull write-back: TOCS 1997, section 4) and the disk queue
 * behind it (CSCAN).  Belongs to one reactor.
 */
#ifndef DDIO_CACHE_H
#define DDIO_CACHE_H

#include "env/env.h"
#include "iop/store/store.h"

struct cache;

#define CACHE_PAPER_MAX (1ull << 30)

struct cache_stats {
	uint64_t hits, misses;
	uint64_t prefetches, prefetch_used, prefetch_wasted;
	uint64_t runs, depth; /* runs that are read ahead of, and the deepest one's blocks */
	uint64_t blocks, dirty, bytes;
	uint64_t queue, max_queue;
};

/**
 * struct cache_opts
 * @bytes: most memory of blocks; a block of a file larger than that is still cached alone
 * @paper: the papers' size instead: 8 blocks for every client connected and disk (at least 16
 *	blocks, at most CACHE_PAPER_MAX bytes), see cache_set_clients()
 * @depth: most requests at the disk at once (CSCAN decides among the waiting ones); default 1, so
 *	that the order is ours, more for disks that take many
 * @fcfs: first come, first served instead; and a read has ended before the block behind it is
 *	read ahead, so that others come between: both as in TR94-226
 * @install: a block that is on the disk but not here is read before a part of it is written, as in
 *	TR95-251; else only the bytes that were written are known until the others are wanted
 */
struct cache_opts {
	uint64_t bytes;
	bool paper;
	uint32_t depth;
	bool fcfs;
	bool install;
};

int cache_new(struct ddio_env *env, struct store *store, const struct cache_opts *opts,
	      struct cache **cache);
/* Dirty blocks must have been written back (cache_flush()); nothing in flight, and the reactor
 * has run what was posted.  Not from inside a callback of the cache. */
void cache_free(struct cache *cache);
void cache_set_clients(struct cache *cache, uint32_t clients);
void cache_stats(const struct cache *cache, struct cache_stats *stats);

/**
 * struct cache_io - one request of the traditional path; caller-owned until @done
 * @obj: the caller holds a reference
 * @offset, @len: bytes of the object; within one block or over several
 * @buf: data; a write's data must stay until @done
 * @done: from the loop or from inside cache_read/write (a hit): status 0 or -errno
 * @reader: with @prefetch: the number of a reader of the object, whose runs are read ahead of (runs.c);
 *	0: of none, one block is read ahead as in the papers
 * @hit, @disk_reqs: results
 * Reads of holes and of what was never written give zeros.
 */
struct cache_io {
	struct object *obj;
	uint64_t offset;
	uint64_t len;
	void *buf;
	bool prefetch; /* read ahead on this disk afterwards */
	uint64_t reader;
	void (*done)(struct cache_io *io, int status);
	void *arg;
	uint32_t hit;
	uint32_t disk_reqs;
	struct ddio_list link;
	uint64_t priv[6];
	uint64_t first[9]; /* the cache's: the part in the first block, often all */
};

void cache_read(struct cache *cache, struct cache_io *io);
void cache_write(struct cache *cache, struct cache_io *io);

/**
 * struct cache_flush - write back; caller-owned until @done
 * @obj: NULL for everything
 * @drop: forget the blocks too
 * An error of the disk is reported once here; the blocks stay dirty unless @drop.
 * Also waits for the I/O that is under way on blocks that were discarded before.
 */
struct cache_flush {
	struct object *obj;
	bool drop;
	void (*done)(struct cache_flush *flush, int status);
	void *arg;
	struct ddio_list link;
	uint64_t pending;
	uint64_t seq;
	int status;
};

void cache_flush(struct cache *cache, struct cache_flush *flush);
/* Forget @count blocks of an object from @first on without writing them (remove, truncate, punch);
 * UINT64_MAX: all from there on.  Those with I/O under way are forgotten when it ends. */
void cache_discard(struct cache *cache, struct object *obj, uint64_t first, uint64_t count);
/* Is I/O of the cache under way, or a lock held, on one of these blocks? */
bool cache_busy(struct cache *cache, const struct object *obj, uint64_t first, uint64_t count);
/* Does it hold what the disk does not? */
bool cache_dirty(const struct cache *cache);
/* No I/O and no work of the cache is under way. */
bool cache_idle(const struct cache *cache);

/**
 * struct block_lock - a collective's hold on one block; caller-owned
 * While it is held, traditional requests for the block wait, and no I/O of the cache touches it.
 * @granted: from the loop, if cache_lock() returned false
 * @dirty: at the grant: the cached bytes of the whole block if they are newer than the disk, else NULL;
 *	valid while the lock is held
 * @status: at the grant: 0, or -errno: the cache holds newer bytes of a part of the block and could
 *	not read the rest, so neither the disk nor @dirty is right; to be unlocked all the same
 */
struct block_lock {
	struct object *obj;
	uint64_t block;
	void (*granted)(struct block_lock *lock);
	void *arg;
	const void *dirty;
	int status;
	struct ddio_list link;
	uint64_t seq;
	void *entry;
};

/* True: granted at once. */
bool cache_lock(struct cache *cache, struct block_lock *lock);
/* @stale: the disk now holds something newer: forget the cached block, dirty or not. */
void cache_unlock(struct cache *cache, struct block_lock *lock, bool stale);
/* Withdraw a lock that was not granted yet. */
void cache_lock_cancel(struct cache *cache, struct block_lock *lock);

/* Does the cache hold, or just write, newer bytes of the block than the disk has? */
bool cache_newer(struct cache *cache, const struct object *obj, uint64_t block);
/* The first block of [first, first + count) of which it does; first + count if there is none. */
uint64_t cache_next_newer(struct cache *cache, const struct object *obj, uint64_t first,
			  uint64_t count);

#endif /* DDIO_CACHE_H */
