/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the object store; see Documentation/store.rst. */
#ifndef DDIO_STORE_PRIV_H
#define DDIO_STORE_PRIV_H

#include "base/hash.h"
#include "iop/bound/bound.h"
#include "iop/store/gone/gone.h"
#include "iop/store/ranges/extent.h"
#include "iop/store/ranges/freespace.h"
#include "iop/store/ranges/shares.h"
#include "iop/lmdb/committer.h"
#include "iop/lmdb/env.h"
#include "iop/store/store.h"
#include "iop/store/record.h"
#include "iop/sums/sums.h"

enum {
	STORE_META,
	STORE_OBJECTS,
	STORE_EXTENTS,
	STORE_FREE,
	STORE_SUMS,
	STORE_PENDING,
	STORE_SHARED,
};

#define STORE_LABEL_KEY "label"
#define STORE_MAP (16u << 20) /* initial address space of the records */
/* How many unused objects, or extents of them, are kept in memory. */
#define STORE_IDLE_OBJECTS 1024
#define STORE_IDLE_EXTENTS (1u << 20)
/* Limits an object's blocks, so that sums of block numbers cannot overflow. */
#define STORE_MAX_BLOCKS (UINT64_C(1) << 53)

/**
 * struct store_change - one change of the records
 * OBJECT: make the object's record, or have it say that it is frozen; EXTENT: add blocks; MARK: recorded blocks have been written, or
 * read as zeros again; CUT: drop blocks; REMOVE: drop the object; LIFE: the name space knows the disk;
 * SCRUB: store.scrub; PENDING: an epoch has blocks of the file; MOVE: blocks of the epoch become the file's;
 * PENDED: it has none any more; SHARE: the object gets blocks at a place that others have, too; REPLACE: blocks have new places;
 * END: the incarnation of the daemon with number id ends in order
 */
struct store_change {
	enum {
		CHANGE_OBJECT,
		CHANGE_EXTENT,
		CHANGE_MARK,
		CHANGE_CUT,
		CHANGE_REMOVE,
		CHANGE_LIFE,
		CHANGE_SCRUB,
		CHANGE_PENDING,
		CHANGE_MOVE,
		CHANGE_PENDED,
		CHANGE_SHARE,
		CHANGE_REPLACE,
		CHANGE_END,
	} kind;
	uint32_t bs;	/* bytes of the object's blocks */
	bool unwritten; /* EXTENT, MARK */
	bool frozen;	/* OBJECT */
	uint64_t id;
	uint64_t block;	 /* OBJECT: the layout; PENDING, PENDED: the epoch */
	uint64_t start;	 /* OBJECT, PENDING: the seed; MOVE: the shadow */
	uint64_t count;	 /* PENDING: the shadow */
	uint32_t layout; /* PENDING */
};

struct freed {
	uint64_t start, len;
};

/**
 * struct store_batch - the changes that one commit writes, in order, and the space that it frees
 * @applied: so many of the changes are in the records already
 */
struct store_batch {
	struct store_change *changes;
	size_t nchanges, cap_changes, applied;
	struct freed *freed;
	size_t nfreed, cap_freed;
};

/**
 * struct object - one object in memory
 * @refs: users; at 0 a clean object may be dropped
 * @seq: number of the batch with its last change
 * @recorded: its record is written, or is in a batch
 * @removed: no longer found; its space is freed after the commit and the last user
 * @refused: a part of it is lost: nobody gets it but to remove it, and its users add nothing
 * @damaged: records of it are damaged, and nothing of it was read
 * @frozen: it is a snapshot's: its blocks may move to other places, but nothing changes what it has
 * @map: places of its blocks
 * @unwritten: blocks that have a place but have never been written
 * @reserved: the part of @unwritten that is recorded as such, or in a batch: it keeps its place
 * @fresh: where blocks that others have, too, will be written: these places become those of @map then
 * @node: in the store's hash, by id; one that was removed and a new one may both be there
 * @link: in the store's idle (clean, by last use) or busy list, if refs is 0
 */
struct object {
	struct store *store;
	struct ddio_file_ref ref;
	uint32_t refs;
	uint64_t seq;
	bool recorded, removed, idle, refused, damaged, frozen;
	struct object_habit habit;
	struct extent_map map, fresh;
	struct ranges unwritten, reserved;
	struct ddio_hash_node node;
	struct ddio_list link;
};

/**
 * struct store - one disk's objects
 * @free: bytes that may be allocated; @given: struct given: space that will be there in later turns, @giving bytes,
 *	while @give_timer is armed
 * @shares: places that have more owners than one; as many as are recorded, and those that are not any more in a batch
 *	that is not committed
 * @bounds: how much is done in a turn, the reactor's or @own
 * @open: changes since the last seal; @sealed: changes being committed
 * @seq: number of the open batch; @sealed_seq: of the sealed one; @done_seq: of the last committed one
 * @hash: all objects in memory
 * @fetches: struct fetch: objects that are being read, the first by @fetch_timer
 * @idle: clean objects without users, oldest first, with @idle_n and @idle_extents
 * @busy: objects without users that are not clean
 * @holds: struct store_hold; @moves: struct store_taken
 * @epochs: struct store_epoch: what is pending; @shadow: the last number of an object of one
 * @sums: checksums of the blocks
 * @scrub: how far the disk has been looked through; @scrub_sealed: as it is being recorded
 * @ends: see store_ends()
 * @gones: files that were removed lately, or NULL
 * @ending: the daemon ends in order
 * @failed: @sealed is of a commit that has failed, and there was no memory to put it in front of @open
 * @sealed_lost: why what was to be sealed was not: the commit fails with it
 */
struct store {
	struct ddio_env *env;
	struct ddio_disk *disk;
	struct lmdb db;
	struct label label;
	struct rec_life life, life_sealed;
	bool ending;
	uint64_t size; /* of the disk, whole sectors */
	uint32_t sector;
	struct ranges free;
	struct shares shares;
	struct ddio_list given;
	uint64_t giving;
	struct ddio_timer give_timer, fetch_timer;
	struct ddio_list fetches;
	struct bounds *bounds, own;
	struct ddio_hash hash;
	struct ddio_list idle, busy;
	size_t idle_n, idle_extents;
	uint64_t objects;
	struct ddio_list epochs, holds, moves;
	uint64_t shadow;
	struct store_batch open, sealed;
	struct sums sums;
	struct rec_scrub scrub, scrub_sealed;
	struct ddio_ends ends;
	struct gones *gones;
	uint64_t seq, sealed_seq, done_seq;
	bool failed;
	int sealed_lost;
	struct committer committer;
};

/* commit.c: may records be added?  If not, logs why, once. */
bool store_room(struct store *store);

/* While a store is being opened: */

/**
 * struct identity - the labels found
 * @on_disk, @in_recs: 0 or why it could not be read, see rec_label_get(); -ENOENT: there is none
 */
struct identity {
	struct store *store;
	const struct store_opts *opts;
	struct label disk, recs;
	int on_disk, in_recs;
	void *buf; /* LABEL_SPACE, fit for the disk */
	char *err;
	size_t err_len;
};

#define refuse(id, ret, ...) (snprintf((id)->err, (id)->err_len, __VA_ARGS__), (ret))

/* label.c */
int identity_label_write(struct identity *id, const struct label *label);
int identity_recs_write(struct identity *id, int (*fn)(MDB_txn *txn, void *arg));

/* life.c: a pair of disk and records has just been made. */
void life_first(struct store *store);
/* Disk and records belong together: checks that they are of the same time, and begins a new life. */
int life_begin(struct identity *id);
/* The same, where one of the two labels is damaged. */
int life_resume(struct identity *id);
/* The store is being closed: notes it, if it ends in order. */
void life_end(struct store *store);
/* Writes the record of the store's life.  Returns MDB_*. */
int life_put(struct store *store, MDB_txn *txn);

/* label.c: checks the identity of disk and records, or makes a new one. */
int store_identify(struct store *store, const struct store_opts *opts, char *err, size_t err_len);
/* Writes the label's record with @flags added.  Returns MDB_*. */
int store_put_label(struct store *store, MDB_txn *txn, uint32_t flags);

/* life.c: writes that the name space knows the disk.  Returns MDB_*. */
int store_apply_life(struct store *store, MDB_txn *txn);

/* life.c: the record of how far the disk has been looked through: reads it, and writes it.  MDB_*. */
void store_load_scrub(struct store *store);
int store_apply_scrub(struct store *store, MDB_txn *txn);

/* life.c: reads the record of orderly ends; @sync: commits reach stable storage.  Writes it: MDB_*. */
void store_load_ends(struct store *store, bool sync);
int store_apply_end(struct store *store, MDB_txn *txn, const struct store_change *change);

/* list.c: counts the objects into store->objects. */
int store_count(struct store *store);

/* space.c: fills store->free from the records. */
int store_load_free(struct store *store);
/* Takes an owner from [start, start + len) in memory: what has none left becomes free. */
void store_give_back(struct store *store, uint64_t start, uint64_t len);

/* space.c: gives back the fresh places of [first, end): 0 or -ENOMEM. */
int fresh_drop(struct object *obj, uint64_t first, uint64_t end);

/* share.c: fills store->shares from the records. */
int store_load_shares(struct store *store);
/* Returns true if the block has a fresh place. */
bool fresh_has(const struct object *obj, uint64_t block);
/* Blocks of [first, end) that have one have been written there: notes it.  0 or -ENOMEM. */
int fresh_written(struct object *obj, uint64_t first, uint64_t end);
/* Returns how many of the blocks need one: others have them, too. */
uint64_t fresh_missing(const struct object *obj, uint64_t first, uint64_t count);
/* Allocates places for these; see layout_place(). */
struct places;
int fresh_place(struct object *obj, uint64_t first, uint64_t count, struct places *places);
/* blocks.c: object_alloc(), but for blocks that others have, too. */
int object_alloc_gaps(struct object *obj, uint64_t first, uint64_t count);

/*
 * space.c.  Makes space free again in memory, in turns: that of an object, whose map becomes empty, or what a batch has
 * freed.
 */
void store_give_extents(struct store *store, struct extent_map *map, uint32_t bs);
void store_give_batch(struct store *store, struct store_batch *batch);
/* Makes @steps pieces of it free now.  Returns false if none were left. */
bool store_give(struct store *store, uint64_t steps);
/* Forgets what waits: the free space is read from the records, or not needed any more. */
void store_give_none(struct store *store);

/* object.c */
void store_objects_init(struct store *store);
void store_objects_fini(struct store *store);
/* After a commit: drops clean unused objects, frees the space of removed ones. */
void store_sweep(struct store *store);

/* reload.c: rereads an object's extents after a repair.  Blocks that wait to be written or freed keep their places, but for those
 * in @taken, which are others'. */
int object_reload(struct object *obj, const struct ranges *taken);
/* reload.c: adds to @held the places that only memory knows to be used. */
int store_held(struct store *store, struct ranges *held);
/* reload.c: a place is another's: nothing is moved there. */
void store_moves_lose(struct store *store, uint64_t start, uint64_t len);

/* epoch.c: reads what is pending; forgets it, when the store is closed. */
int store_load_pending(struct store *store);
void store_epochs_fini(struct store *store);
/* hold.c: returns true if nobody holds the file; otherwise @wait, if not NULL, waits. */
bool store_hold_free(const struct store *store, uint64_t file, struct store_wait *wait);

/* object.c: store_fetch() without waiting for an epoch */
bool store_fetch_object(struct store *store, const struct ddio_file_ref *ref,
			struct store_wait *wait);

/* load.c: the records of one object */
int store_load_header(struct store *store, uint64_t id, struct rec_object *rec);
/* All extents, or *@steps from block *@next on, which moves on.  Returns 1 if there are more, 0 or -errno. */
int store_load_extents(struct object *obj, uint64_t *next, uint64_t *steps);
/* object.c: objects that are being read are read anew, since their records have been repaired. */
void store_fetch_again(struct store *store);

/* commit.c */
/* Too many sums wait to be recorded: commits some. */
void store_press(struct store *store);
extern const struct committer_ops store_committer_ops;
void batch_fini(struct store_batch *batch);
/* Makes room for @changes and @freed more, so that noting them cannot fail. */
int batch_reserve(struct store_batch *batch, size_t changes, size_t freed);
void batch_change(struct store_batch *batch, const struct store_change *change);
void batch_freed(struct store_batch *batch, uint64_t start, uint64_t len);

/* apply.c: applies one change to the records within a transaction.  Returns 0, -errno or MDB_*. */
int store_apply_change(struct store *store, MDB_txn *txn, const struct store_change *change);

/* apply_free.c: the same.  What is taken must be recorded as free, what is put must not. */
int store_take_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);
int store_put_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);
/* Takes all of it that is recorded as free. */
int store_drop_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);
/* Returns 0 if nothing of it is recorded as free. */
int store_owned(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);

/* apply_share.c: the same of owners: one more of a place that has some; one less, and free if that was the last. */
int store_put_owner(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);
int store_take_owner(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len);
/* Writes that the place has @more owners than one, whatever is recorded there. */
int store_set_shared(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len,
		     uint64_t more);

/* apply_extent.c: the same */
int store_apply_extent(struct store *store, MDB_txn *txn, const struct store_change *change);
int store_apply_mark(struct store *store, MDB_txn *txn, const struct store_change *change);
int store_apply_cut(struct store *store, MDB_txn *txn, const struct store_change *change);
int store_apply_share(struct store *store, MDB_txn *txn, const struct store_change *change);
int store_apply_replace(struct store *store, MDB_txn *txn, const struct store_change *change);

/* apply_extent.c: blocks of the shadow become those of the object. */
int store_apply_move(struct store *store, MDB_txn *txn, const struct store_change *change);

/* note.c: returns how many extents have blocks of [first, end). */
size_t object_extents_within(const struct object *obj, uint64_t first, uint64_t end);
/* note.c: makes sure of memory, so that one change of what is unwritten, and of what is reserved, cannot fail: 0 or -ENOMEM. */
int object_ranges_ready(struct object *obj);

/* range.c: makes room for a change that frees what the object has of [first, end), and then forgets what was not written.
 * 0, or -ENOMEM with nothing changed. */
int object_cut_ready(struct object *obj, uint64_t first, uint64_t end);
/* Notes the space of [first, end) as freed by the open batch, and takes the blocks out of the object. */
void object_cut(struct object *obj, uint64_t first, uint64_t end);

/* note.c: notes, once, the change that records the object itself; there is room for it. */
void object_note(struct object *obj);
/* note.c: notes the change that adds blocks [first, first + count), which may lie in several
 * extents. */
int object_note_extents(struct object *obj, uint64_t first, uint64_t count, bool unwritten);
/* Notes that recorded blocks have been written, or read as zeros again. */
int object_note_mark(struct object *obj, uint64_t first, uint64_t count, bool unwritten);

/* place.c: allocates places for blocks [first, first + count).  After a failure @places holds what was
 * allocated, for the caller to give back. */
struct places {
	struct extent *v;
	size_t n, cap;
};
int layout_place(struct object *obj, uint64_t first, uint64_t count, struct places *places);

#endif /* DDIO_STORE_PRIV_H */
