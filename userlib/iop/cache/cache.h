/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block cache of one disk (LRU, one block read ahead on the same disk, WriteFull: TOCS 1997,
 * section 4) and the disk queue behind it (CSCAN).  Belongs to one reactor.
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
 * @bytes: bound on the memory of blocks; a single block larger than that is still cached
 * @paper: the papers' bound instead: 8 blocks per connected client (at least 16 blocks, at most
 *	CACHE_PAPER_MAX bytes); see cache_set_clients()
 * @depth: most requests at the disk at once; default 1, so that CSCAN alone decides the order; more
 *	for disks that take many
 * @fcfs: first come, first served instead of CSCAN
 * @late_ahead: a read ends before the next block is read ahead
 *	ahead, so that other requests come between: both as in TR94-226
 * @install: a block that is on the disk but not cached is read before part of it is written, as in
 *	TR95-251; otherwise the rest is read only when it is needed
 * @ends: collectives may leave blocks here that they write part of; see cache_lock_room()
 */
struct cache_opts {
	uint64_t bytes;
	bool paper;
	uint32_t depth;
	bool fcfs, late_ahead;
	bool install;
	bool ends;
};

int cache_new(struct ddio_env *env, struct store *store, const struct cache_opts *opts,
	      struct cache **cache);
/* Drops what is still dirty: flush first.  No I/O may be in flight, and the reactor must have run what was
 * posted.  Not from a callback of the cache. */
void cache_free(struct cache *cache);
void cache_set_clients(struct cache *cache, uint32_t clients);
void cache_stats(const struct cache *cache, struct cache_stats *stats);

/**
 * struct cache_io - one request of the traditional path; caller-owned until @done
 * @obj: the caller holds a reference
 * @offset, @len: bytes of the object, in one block or several
 * @buf: data; must stay until @done
 * @done: called from the loop, or (a hit) from cache_read() or cache_write(); status 0 or -errno
 * @reader: with @prefetch: the number of a reader of the object, whose runs are read ahead of (runs.c);
 *	0: of none, one block is read ahead as in the papers
 * @prove: a read: @proven bytes were whole chunks with checksums, of which @sum becomes the CRC-32C, if that is all of them; a write of
 *	one whole block: @sum is that of @buf as it was sent, and is compared with what is written in the end
 * @hit, @disk_reqs: results; @bad: the block of the first error
 * Holes and blocks that were never written read as zeros.
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
	bool prove;
	uint32_t sum;
	uint64_t proven;
	uint32_t hit;
	uint32_t disk_reqs;
	uint64_t bad;
	struct ddio_list link;
	uint64_t priv[6];
	uint64_t first[9]; /* the cache's: the first piece, often the only one */
};

void cache_read(struct cache *cache, struct cache_io *io);
void cache_write(struct cache *cache, struct cache_io *io);
/* Forgets blocks of the object that hold what the disk has as well, since they were found not to. */
void cache_distrust(struct cache *cache, const struct object *obj, uint64_t first, uint64_t count);

/**
 * struct cache_flush - write back dirty blocks; caller-owned until @done
 * @obj: NULL: of all objects
 * @first, @count: with @obj: of these blocks alone; @count 0: of all
 * @drop: drop the blocks, too
 * @quiet: nobody asked, and nobody hears: errors are left for the next one that somebody asks for
 * A disk error is reported here, once; the blocks stay dirty unless @drop.  Also waits for I/O under way
 * on blocks that were discarded before.
 */
struct cache_flush {
	struct object *obj;
	uint64_t first, count;
	bool drop, quiet;
	void (*done)(struct cache_flush *flush, int status);
	void *arg;
	struct ddio_list link;
	uint64_t pending;
	uint64_t seq;
	int status;
};

void cache_flush(struct cache *cache, struct cache_flush *flush);
/* Drops @count blocks of an object from @first on without writing them (remove, truncate, punch);
 * UINT64_MAX: all from there on.  Blocks with I/O under way are dropped when it ends. */
void cache_discard(struct cache *cache, struct object *obj, uint64_t first, uint64_t count);
/*
 * Lets a process of this machine take bytes of blocks that are cached, by itself: the mailbox is its own.  A block is shown
 * when it was read or written, and hidden before it changes.  Return: 0 or -errno; -EOPNOTSUPP where blocks must lie elsewhere.
 */
int cache_show_to(struct cache *cache, const char *name, const uint8_t *token);
/* Returns true if I/O of the cache is under way, or a lock held, on one of these blocks. */
bool cache_busy(struct cache *cache, const struct object *obj, uint64_t first, uint64_t count);
/* Returns true if it holds dirty blocks. */
bool cache_dirty(const struct cache *cache);
/* Returns true if no I/O and no work of the cache is under way. */
bool cache_idle(const struct cache *cache);

/**
 * struct block_lock - a collective's hold on one block; caller-owned
 * While it is held, traditional requests for the block wait, and no I/O of the cache touches it.
 * @part: the holder does not need the bytes that a partly valid block lacks, so they are not read for it
 * @granted: from the loop, if cache_lock() returned false
 * @dirty: at the grant: the cached bytes of the whole block if they are newer than the disk, else NULL;
 *	valid while the lock is held
 * @newer: at the grant: some bytes of the block, or all, are newer than the disk
 * @status: at the grant: 0, or -errno: the cache holds newer bytes of a part of the block and could
 *	not read the rest, so neither the disk nor @dirty is right; to be unlocked all the same
 */
struct block_lock {
	struct object *obj;
	uint64_t block;
	bool part, newer;
	void (*granted)(struct block_lock *lock);
	void *arg;
	const void *dirty;
	int status;
	struct ddio_list link;
	uint64_t seq;
	void *entry;
};

/* Returns true if granted at once. */
bool cache_lock(struct cache *cache, struct block_lock *lock);
/* @stale: the disk now holds something newer: drop the cached block, dirty or not. */
void cache_unlock(struct cache *cache, struct block_lock *lock, bool stale);
/* Returns true if collectives may leave blocks here. */
bool cache_takes_ends(const struct cache *cache);
/*
 * Returns where bytes of the locked block can be put, which stay in the cache as if they had been written to it, or
 * NULL if there is no room for the block just now.  cache_lock_put() says which bytes were put, at least one.
 */
uint8_t *cache_lock_room(struct cache *cache, struct block_lock *lock);
void cache_lock_put(struct cache *cache, struct block_lock *lock, uint32_t offset, uint32_t len);
/* Withdraws a lock that has not been granted. */
void cache_lock_cancel(struct cache *cache, struct block_lock *lock);

/* Returns true if the cache holds, or is writing, newer bytes of the block than the disk has. */
bool cache_newer(struct cache *cache, const struct object *obj, uint64_t block);
/* Returns the first block of [first, first + count) for which that is true; first + count: none. */
uint64_t cache_next_newer(struct cache *cache, const struct object *obj, uint64_t first,
			  uint64_t count);

#endif /* DDIO_CACHE_H */
