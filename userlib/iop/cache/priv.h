/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the block cache.
 *
 * A request (struct cache_io) is cut into pieces, one per block.  A block that is cached, wanted,
 * locked or under way has an entry.  Pieces and locks that cannot be served at once wait at the entry in
 * the order in which they came; cache_entry_run() serves them until one has to wait.  What it may wait
 * for, and what runs the entry again:
 *   I/O of the block             its completion (disk.c)
 *   a lock that is held          cache_unlock(), by the list "ready"
 *   memory for the block         cache_mem_run(), when a block becomes free
 *
 * Some or all bytes of an entry are "valid": all of them after a read, or if the block was never written
 * before; otherwise those written since, as a mask with a bit per byte tells.  A partly valid block is always
 * dirty; the rest is read ("filled") when it is needed or before the block is written back.
 *
 * An entry is busy while its state is not IDLE, it is locked, it has waiters or it is being run; only
 * entries that are not busy are evicted or freed.  "stale" is set on busy entries only: their contents
 * are dropped when they cease to be busy.
 *
 * No callback is made while an entry is being worked on: ended requests go to the lists finished,
 * flushed and granted, from where the turn of the loop (cache.c) calls back.
 */
#ifndef DDIO_CACHE_PRIV_H
#define DDIO_CACHE_PRIV_H

#include "base/hash.h"
#include "env/local/showcase.h"
#include "iop/cache/cache.h"
#include "iop/cache/queue.h"

/* Most pieces of one request under way at once. */
#define CACHE_WINDOW 64
/* The papers' cache, in blocks. */
#define CACHE_PAPER_CLIENT 8
#define CACHE_PAPER_MIN 16

enum entry_state {
	ENTRY_IDLE,
	ENTRY_READING, /* all of it into buf */
	ENTRY_FILLING, /* partly valid: reading the rest through the cache's fill buffer */
	ENTRY_WRITING,
};

/**
 * struct cache_object - an object that has entries
 * @node: cache->objects, by its address
 * @blocks: struct cache_entry.of_block: all of them; @unsettled: struct cache_entry.of_unsettled: those that are dirty or stale
 * @n: entries, and walks over them
 */
struct cache_object {
	struct ddio_hash_node node;
	struct object *obj;
	struct ddio_list blocks, unsettled;
	uint64_t n;
};

/**
 * struct cache_entry - one block
 * @node: cache->entries, by object and block
 * @all: cache->all
 * @of: its object's; @of_block, @of_unsettled: in its lists
 * @lru: cache->lru while it has a buffer; oldest first
 * @unsettled: cache->unsettled while it is dirty or stale
 * @ready: cache->ready
 * @mem: cache->mem while its first piece waits for a buffer
 * @fill: cache->fills while it waits for the fill buffer
 * @doubt: cache->doubts while it waits to be written until the store has recorded that it may change
 * @pieces, @locks: waiters; the lower seq goes first
 * @valid: how many bytes of @buf are valid; @mask: which, if not all
 * @count: bytes written since it became dirty, for WriteFull; @from, @to: all of them are in [@from, @to)
 * @epoch: cache->epoch when it became dirty or stale; see flush.c
 * @err: why the waiters cannot be served; set only while they are run to be told
 * @running: being run
 * @write_back: to be written as soon as possible
 * @failed: the last write back failed
 * @alone: it is written because somebody syncs its object, and is the only block of that
 * @prefetched: read ahead and not used since; @run: number of its run, 0: of none
 * @proof: the CRC-32C that the block has to have; @proven: that is known: it was written as a whole, and not since
 * @shown: in the showcase, see show.c; 0: it is not
 */
struct cache_entry {
	struct ddio_hash_node node;
	struct ddio_list all, lru, unsettled, ready, mem, fill, doubt;
	struct ddio_list of_block, of_unsettled;
	struct ddio_list pieces, locks;
	struct cache *cache;
	struct cache_object *of;
	struct object *obj;
	uint64_t block;
	uint32_t size;
	enum entry_state state;
	uint8_t *buf;
	uint64_t *mask;
	uint32_t valid;
	uint64_t count;
	uint32_t from, to;
	uint64_t epoch;
	int err;
	bool running, dirty, stale, write_back, failed, prefetched, alone, proven;
	uint32_t proof;
	uint64_t run;
	struct block_lock *lock;
	uint64_t shown;
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
 * @next: bytes given to pieces so far
 * @running: pieces under way
 * @pumping: a caller up the stack makes pieces
 * @ended: it is in cache->finished, or reported
 * @prefetched: what it makes worth reading ahead has been read
 */
struct cache_io_state {
	uint64_t next;
	uint32_t running;
	int32_t status;
	bool write, missed, pumping, ended, prefetched;
};

/**
 * struct cache_error - a failed write back that no flush has reported
 */
struct cache_error {
	struct ddio_list link;
	struct object *obj;
	int err;
};

struct ahead;

/**
 * struct cache - the cache of one disk
 * @objects: struct cache_object, so that what concerns one object does not look at the blocks of all
 * @looked: how many entries have been looked at because of an object, for tests
 * @lru: entries with a buffer
 * @mem: entries whose first piece waits for a buffer, in order
 * @fills: entries that wait for the fill buffer; @filling has it
 * @doubts: entries that wait for a commit of the store before they are written; @doubt: that commit;
 *	@doubting: it is under way; @doubt_soon: blocks that will be written have to be recorded, too
 * @starved: locks for whose entry there was no memory; @retry tries them again
 * @finished, @flushed, @granted: callbacks that are due
 * @errors: struct cache_error; @lost_err: an error that there was no memory to keep
 * @bytes: memory of the entries' buffers; @nbufs: their number
 * @pool: free buffers, all of @pool_size; @pooled: their memory
 * @wanted: memory that the entries in @mem wait for
 * @showcase: NULL until somebody asks for it; buffers lie in it from then on
 * @writing: memory of blocks being written back or filled
 * @said: -ENOMEM once the log has it, until a block is written again
 * @mem_err: a write back failed while an entry waited for memory
 * @inflight: disk requests of the cache
 * @epoch: number of the last flush
 * @unused: memory of blocks read ahead and not used yet
 * @ahead: NULL until a request names a reader
 * @kicked: @kick is under way
 * @work: one turn of the loop; @working: it is up the stack, @more: another round is due
 */
struct cache {
	struct ddio_env *env;
	struct store *store;
	struct cache_opts opts;
	struct queue queue;
	uint32_t clients;
	struct ddio_hash entries, objects;
	uint64_t looked;
	struct ddio_list all, lru, unsettled, ready, mem, fills, flushes, errors, starved, doubts;
	struct ddio_list finished, flushed, granted;
	struct cache_entry *filling;
	uint8_t *fill_buf; /* while @filling */
	uint64_t bytes, nbufs;
	void *pool;
	uint32_t pool_size;
	uint64_t pooled, npooled;
	struct ddio_showcase *showcase;
	uint64_t wanted, writing, inflight, unused;
	struct ahead *ahead;
	uint64_t seq, epoch;
	uint64_t ndirty;
	int lost_err, mem_err, said;
	struct cache_stats stats;
	struct ddio_timer retry;
	struct ddio_post kick;
	struct commit doubt;
	bool kicked, working, more, doubting, doubt_soon;
	void (*work)(struct cache *c);
};

static inline struct cache_io_state *cache_io_state(struct cache_io *io)
{
	return (struct cache_io_state *)io->priv;
}

/* core.c */
/* Asks for a turn from the loop. */
void cache_kick(struct cache *c);
/* Asks for a turn after a while, when memory was short. */
void cache_retry_later(struct cache *c);

/* io.c */
void cache_io_begin(struct cache *c, struct cache_io *io, bool write);
/* Calls back for the requests that have ended. */
void cache_io_report(struct cache *c);
/* Serves waiters in order, until one has to wait longer. */
void cache_entry_run(struct cache *c, struct cache_entry *e);

/* piece.c: serves a piece if possible.  Returns its final 0 or -errno, or PIECE_WAITS. */
enum { PIECE_WAITS = 1 };
int cache_piece_try(struct cache *c, struct cache_entry *e, struct cache_piece *p);

/* entry.c */
struct cache_entry *cache_entry_find(struct cache *c, const struct object *obj, uint64_t block);
/* Finds or makes an entry; NULL: no memory. */
struct cache_entry *cache_entry_get(struct cache *c, struct object *obj, uint64_t block);
/* Returns the object's, which stays until cache_object_put(); NULL: none of its blocks has an entry. */
struct cache_object *cache_object_hold(struct cache *c, const struct object *obj);
void cache_object_put(struct cache *c, struct cache_object *of);
/* Frees an entry that nothing needs any longer. */
void cache_entry_settle(struct cache *c, struct cache_entry *e);
bool cache_entry_busy(const struct cache_entry *e);
bool cache_entry_waited(const struct cache_entry *e);
/* Drops the contents; not while I/O is under way or the block is locked. */
void cache_entry_drop(struct cache *c, struct cache_entry *e);
/* Drops the contents, now or when the entry ceases to be busy. */
void cache_entry_forget(struct cache *c, struct cache_entry *e);
/* Notes that bytes [@from, @from + @len) were written. */
void cache_entry_dirty(struct cache *c, struct cache_entry *e, uint32_t from, uint32_t len);
void cache_entry_clean(struct cache *c, struct cache_entry *e);
/* Returns true if the block has ever been written to the disk, at *start. */
bool cache_entry_on_disk(const struct cache_entry *e, uint64_t *start);

/* mask.c */
int cache_mask_start(struct cache_entry *e);
bool cache_mask_covers(const struct cache_entry *e, uint32_t offset, uint32_t len);
void cache_mask_add(struct cache_entry *e, uint32_t offset, uint32_t len);
/* Completes the block: takes the bytes that are not valid from @from. */
void cache_mask_merge(struct cache_entry *e, const uint8_t *from);

/* mem.c */
/* Gives the entry a buffer: 0, -EAGAIN (it waits in cache->mem) or -ENOMEM. */
int cache_mem_attach(struct cache *c, struct cache_entry *e);
/* Does the same if that takes neither waiting nor a write back; returns false otherwise. */
bool cache_mem_try(struct cache *c, struct cache_entry *e);
/* Writes back the oldest dirty block, unless one is being written, so that there is room later. */
void cache_mem_age(struct cache *c);
/* Returns the next entry that can have its buffer now, or an error instead; NULL: none. */
struct cache_entry *cache_mem_next(struct cache *c);
/* Evicts down to the bound, as far as that takes no write back. */
void cache_mem_shrink(struct cache *c);

/* pool.c */
/* Returns true if @bytes in @nbufs buffers are within the bound. */
bool cache_mem_fits(const struct cache *c, uint64_t bytes, uint64_t nbufs);
/* Returns true if there is room for one more block of @size bytes. */
bool cache_mem_room(const struct cache *c, uint32_t size);
/* Allocates a buffer for the entry: 0 or -ENOMEM. */
int cache_mem_take(struct cache *c, struct cache_entry *e);
void cache_mem_release(struct cache *c, struct cache_entry *e);
/* Returns true if the block's buffer lies in the showcase, where it is put now if it can be. */
bool cache_mem_showable(struct cache *c, struct cache_entry *e);
/* Allocates beyond the bound, for one fill. */
uint8_t *cache_mem_raw(struct cache *c, uint32_t size);
void cache_mem_raw_free(struct cache *c, uint8_t *buf, uint32_t size);
void cache_mem_trim(struct cache *c);
uint64_t cache_mem_cost(uint32_t size);
/* Returns the bound on memory, for blocks of @size bytes. */
uint64_t cache_mem_bound(const struct cache *c, uint32_t size);

/* show.c */
/* Shows a block that was read or written, if there is a showcase and the block is whole and at rest. */
void cache_entry_show(struct cache *c, struct cache_entry *e);
/* The block is about to change, to be locked or to be dropped. */
void cache_entry_hide(struct cache *c, struct cache_entry *e);

/* disk.c */
void cache_disk_read(struct cache *c, struct cache_entry *e, uint64_t start);
void cache_disk_fill(struct cache *c, struct cache_entry *e);
/* Writes back, as soon as possible. */
void cache_disk_write(struct cache *c, struct cache_entry *e);
void cache_disk_run_fills(struct cache *c);
/* Has the store record which blocks may change, if some wait for that. */
void cache_disk_doubt(struct cache *c);

/* runs.c */
/* Tells the run that a block read ahead was used, or is dropped unused. */
void cache_run_used(struct cache *c, struct cache_entry *e);
void cache_run_wasted(struct cache *c, struct cache_entry *e);
void cache_run_stats(const struct cache *c, struct cache_stats *stats);
void cache_runs_free(struct cache *c);

/* readahead.c: reads ahead after a read that asks for it has been cut into pieces. */
void cache_read_ahead(struct cache *c, struct cache_io *io);

/* lock.c */
bool cache_lock_try(struct cache *c, struct cache_entry *e, struct block_lock *lock);
void cache_lock_retry(struct cache *c);

/* flush.c */
void cache_flush_end(struct cache *c, struct cache_flush *flush);

/* flush_wait.c */
/* Returns true if the flush waits for the entry, which is unsettled. */
bool cache_flush_concerns(const struct cache_flush *flush, const struct cache_entry *e);
void cache_flush_one_less(struct cache *c, struct cache_flush *flush);
/* Tells earlier flushes that they need not wait for the entry any longer. */
void cache_flush_notify(struct cache *c, const struct cache_entry *e);
/* Tells a failed write back to the flushes that wait for it, or keeps it for the next one. */
void cache_flush_failed(struct cache *c, struct cache_entry *e, int err);
/* Returns an error that no flush has reported yet, or 0.  @obj NULL: of any object. */
int cache_errors_take(struct cache *c, const struct object *obj);
void cache_errors_forget(struct cache *c, const struct object *obj);

#endif /* DDIO_CACHE_PRIV_H */
