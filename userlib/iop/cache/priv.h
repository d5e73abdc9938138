/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the block cache.
 *
 * A request (struct cache_io) is cut into pieces, one a block.  A block
 * that is cached, wanted, locked or under way has an entry.  Whoever cannot be
 * served at once waits at the entry, pieces and locks in the order in which
 * they came; cache_entry_run() serves them until one has to wait for something.
 * What that can be, and who runs the entry again:
 *   I/O of the block             its completion (disk.c)
 *   a lock that is held          cache_unlock(), by the list "ready"
 *   memory for the block         cache_mem_run(), when a block becomes free
 *
 * An entry's bytes are right where they are "valid": all of them after a read
 * or where the block was never written before, else those that were written
 * since, by a mask with a bit for each byte.  A block that is valid in part is
 * always dirty; the rest is read ("filled") when somebody needs it or before it is
 * written back.
 *
 * An entry is busy while its state is not IDLE, it is locked, it has waiters or
 * it is being run; only what is not busy is evicted or freed.  "stale" is set
 * on busy entries only: their contents are forgotten when they cease to be.
 *
 * No callback is made while an entry is being worked on: what is over goes to
 * the lists finished, flushed and granted, and cache_work() calls from there.
 */
#ifndef DDIO_CACHE_PRIV_H
#define DDIO_CACHE_PRIV_H

#include "base/hash.h"
#include "iop/cache/cache.h"
#include "iop/cache/queue.h"

/* Pieces of one request that are under way at once. */
#define CACHE_WINDOW 64
/* The papers' cache, in blocks. */
#define CACHE_PAPER_CLIENT 8
#define CACHE_PAPER_MIN 16

enum entry_state {
	ENTRY_IDLE,
	ENTRY_READING, /* all of it into buf */
	ENTRY_FILLING, /* valid in part: the rest by way of the cache's fill buffer */
	ENTRY_WRITING,
};

/**
 * struct cache_entry - one block
 * @node: cache->entries, by object and block
 * @all: cache->all
 * @lru: cache->lru while it has a buffer; oldest first
 * @unsettled: cache->unsettled while it is dirty or stale
 * @ready: cache->ready
 * @mem: cache->mem while its first piece waits for a buffer
 * @fill: cache->fills while it waits for the fill buffer
 * @pieces, @locks: who waits; the one with the lower seq is first
 * @valid: bytes of @buf that are right
 * @mask: which these are, if not all
 * @count: bytes written since it became dirty: WriteFull
 * @epoch: cache->epoch when it became dirty or stale: see flush.c
 * @err: why what the waiters need cannot be had; only while they are run for that reason
 * @pin: being run
 * @write_back: to be written as soon as it can be
 * @failed: the last write back failed
 * @prefetched: read ahead and not used since; @run: for which run, 0: for none
 */
struct cache_entry {
	struct ddio_hash_node node;
	struct ddio_list all, lru, unsettled, ready, mem, fill;
	struct ddio_list pieces, locks;
	struct cache *cache;
	struct object *obj;
	uint64_t block;
	uint32_t size;
	enum entry_state state;
	uint8_t *buf;
	uint64_t *mask;
	uint32_t valid;
	uint64_t count;
	uint64_t epoch;
	int err;
	bool pin, dirty, stale, write_back, failed, prefetched;
	uint64_t run;
	struct block_lock *lock;
	struct queue_req req;
};

/**
 * struct cache_piece - the part of a request that is in one block
 */
struct cache_piece {
	struct ddio_list link;
	struct cache_io *io;
	uint64_t seq;
	uint64_t block;
	uint32_t offset, len;
	uint8_t *data;
};

/**
 * struct cache_io_state - a request's progress, in its priv
 * @next: bytes that were given to pieces so far
 * @running: pieces under way
 * @pumping: somebody up the stack makes pieces
 * @ended: it is in cache->finished, or reported
 * @prefetched: the block behind it has been thought of
 */
struct cache_io_state {
	uint64_t next;
	uint32_t running;
	int32_t status;
	bool write, missed, pumping, ended, prefetched;
};

/**
 * struct cache_error - a write back that failed and that no flush has reported
 */
struct cache_error {
	struct ddio_list link;
	struct object *obj;
	int err;
};

struct ahead;

/**
 * struct cache - the cache of one disk
 * @lru: entries with a buffer
 * @mem: entries whose first piece waits for a buffer, in order
 * @fills: entries that wait for the fill buffer; @filling has it
 * @starved: locks that got no entry for want of memory; @retry tries again
 * @finished, @flushed, @granted: callbacks that are due
 * @errors: struct cache_error; @lost_err: one that could not be kept there
 * @bytes: memory of the entries' buffers; @nbufs their number
 * @pool: free buffers, all of @pool_size; @pooled their memory
 * @wanted: memory that those in @mem wait for
 * @writing: memory of blocks that are being written back, or filled
 * @mem_err: a write back failed while somebody waited for memory
 * @inflight: disk requests of the cache
 * @epoch: number of the last flush
 * @unused: memory of blocks that were read ahead and not used yet
 * @ahead: NULL until a request names a reader
 * @kicked: @kick is under way
 * @work: one turn, from the loop; @working: it is up the stack, @more: it is to go round again
 */
struct cache {
	struct ddio_env *env;
	struct store *store;
	struct cache_opts opts;
	struct queue queue;
	uint32_t clients;
	struct ddio_hash entries;
	struct ddio_list all, lru, unsettled, ready, mem, fills, flushes, errors, starved;
	struct ddio_list finished, flushed, granted;
	struct cache_entry *filling;
	uint8_t *fill_buf; /* while @filling */
	uint64_t bytes, nbufs;
	void *pool;
	uint32_t pool_size;
	uint64_t pooled, npooled;
	uint64_t wanted, writing, inflight, unused;
	struct ahead *ahead;
	uint64_t seq, epoch;
	uint64_t ndirty;
	int lost_err, mem_err;
	struct cache_stats stats;
	struct ddio_timer retry;
	struct ddio_post kick;
	bool kicked, working, more;
	void (*work)(struct cache *c);
};

static inline struct cache_io_state *cache_io_state(struct cache_io *io)
{
	return (struct cache_io_state *)io->priv;
}

/* core.c */
/* Has a turn made from the loop. */
void cache_kick(struct cache *c);
/* For want of memory: a turn after a moment. */
void cache_retry_later(struct cache *c);

/* io.c */
void cache_io_begin(struct cache *c, struct cache_io *io, bool write);
/* The callbacks of the requests that are over. */
void cache_io_report(struct cache *c);
/* Serves those who wait, in order, until one cannot be served yet. */
void cache_entry_run(struct cache *c, struct cache_entry *e);

/* piece.c: serves a piece if that is possible now: 0 or -errno: it is over; or it waits for something. */
enum { PIECE_WAITS = 1 };
int cache_piece_try(struct cache *c, struct cache_entry *e, struct cache_piece *p);

/* entry.c */
struct cache_entry *cache_entry_find(struct cache *c, const struct object *obj, uint64_t block);
/* NULL without memory. */
struct cache_entry *cache_entry_get(struct cache *c, struct object *obj, uint64_t block);
/* Frees an entry that nothing holds any more. */
void cache_entry_settle(struct cache *c, struct cache_entry *e);
bool cache_entry_busy(const struct cache_entry *e);
bool cache_entry_waited(const struct cache_entry *e);
/* Forgets the contents; not while I/O is under way or it is locked. */
void cache_entry_drop(struct cache *c, struct cache_entry *e);
/* Forgets the contents, now or when it ceases to be busy. */
void cache_entry_forget(struct cache *c, struct cache_entry *e);
void cache_entry_dirty(struct cache *c, struct cache_entry *e, uint32_t written);
void cache_entry_clean(struct cache *c, struct cache_entry *e);
/* Written before?  Then *start is the place. */
bool cache_entry_on_disk(const struct cache_entry *e, uint64_t *start);

/* mask.c */
int cache_mask_start(struct cache_entry *e);
bool cache_mask_covers(const struct cache_entry *e, uint32_t offset, uint32_t len);
void cache_mask_add(struct cache_entry *e, uint32_t offset, uint32_t len);
/* Takes from @from the bytes that are not valid, and makes them so. */
void cache_mask_merge(struct cache_entry *e, const uint8_t *from);

/* mem.c */
/* A buffer for the entry: 0, -EAGAIN (it waits in cache->mem) or -ENOMEM. */
int cache_mem_attach(struct cache *c, struct cache_entry *e);
/* The same if it costs nobody anything: no waiting, no write back. */
bool cache_mem_try(struct cache *c, struct cache_entry *e);
/* The entry that can have its memory now, or has got the error that it cannot; NULL: none. */
struct cache_entry *cache_mem_next(struct cache *c);
/* Down to the bound, as far as that costs no write back. */
void cache_mem_shrink(struct cache *c);

/* pool.c */
/* Are so many bytes, in so many buffers, within the bound? */
bool cache_mem_fits(const struct cache *c, uint64_t bytes, uint64_t nbufs);
/* Is there room for a block of @size bytes more? */
bool cache_mem_room(const struct cache *c, uint32_t size);
/* A buffer for the entry: 0 or -ENOMEM. */
int cache_mem_take(struct cache *c, struct cache_entry *e);
void cache_mem_release(struct cache *c, struct cache_entry *e);
/* Beyond the bound, for one fill. */
uint8_t *cache_mem_raw(struct cache *c, uint32_t size);
void cache_mem_raw_free(struct cache *c, uint8_t *buf, uint32_t size);
void cache_mem_trim(struct cache *c);
uint64_t cache_mem_cost(uint32_t size);
/* The bound on the memory of blocks of @size bytes. */
uint64_t cache_mem_bound(const struct cache *c, uint32_t size);

/* disk.c */
void cache_disk_read(struct cache *c, struct cache_entry *e, uint64_t start);
void cache_disk_fill(struct cache *c, struct cache_entry *e);
/* Write back, as soon as that is possible. */
void cache_disk_write(struct cache *c, struct cache_entry *e);
void cache_disk_run_fills(struct cache *c);

/* runs.c */
/* A block that was read ahead was used, or is dropped. */
void cache_run_used(struct cache *c, struct cache_entry *e);
void cache_run_wasted(struct cache *c, struct cache_entry *e);
void cache_run_stats(const struct cache *c, struct cache_stats *stats);
void cache_runs_free(struct cache *c);

/* readahead.c: after a read that asks for it has been cut into pieces. */
void cache_read_ahead(struct cache *c, struct cache_io *io);

/* lock.c */
bool cache_lock_try(struct cache *c, struct cache_entry *e, struct block_lock *lock);
void cache_lock_retry(struct cache *c);

/* flush.c */
void cache_flush_end(struct cache *c, struct cache_flush *flush);

/* flush_wait.c */
/* Does the flush wait for the entry, as long as that is unsettled? */
bool cache_flush_concerns(const struct cache_flush *flush, const struct cache_entry *e);
void cache_flush_one_less(struct cache *c, struct cache_flush *flush);
/* The entry ceases to be what earlier flushes wait for. */
void cache_flush_notify(struct cache *c, const struct cache_entry *e);
/* It could not be written: told to the flushes that wait for it, or kept for the next one. */
void cache_flush_failed(struct cache *c, struct cache_entry *e, int err);
/* The error that no flush has reported yet, or 0.  @obj NULL: of all objects. */
int cache_errors_take(struct cache *c, const struct object *obj);
void cache_errors_forget(struct cache *c, const struct object *obj);

#endif /* DDIO_CACHE_PRIV_H */
