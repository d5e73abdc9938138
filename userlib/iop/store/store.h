/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The object store of one disk.  A file's share of the disk is an object: a set of extents in units of
 * the file's block.  LMDB holds the records (extents, free space, the disk's label), never block data.
 * Belongs to one reactor.
 *
 * No crash exposes bytes that were never written, because
 *   1. blocks are allocated in memory only,
 *   2. the caller writes their data and calls object_written(),
 *   3. store_commit() seals the changes so far, flushes the disk, and
 *      writes the sealed records in one transaction.
 * Freed space is allocated again only after the commit that freed it.
 */
#ifndef DDIO_STORE_H
#define DDIO_STORE_H

#include "env/disk/disk.h"
#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/room.h"
#include "iop/store/record.h"
#include "proto/proto.h"

struct bounds;
struct store;
struct object;

/**
 * struct store_opts - what to open
 * @dir: directory of this disk's records; created if missing
 * @cluster, @disk_name, @disk: identity; written to the disk's label and the records on first use,
 *	compared from then on
 * @reserve: see struct lmdb_opts
 * @sync: fsync commits
 * @repair: rewrite a damaged label from the other one
 * @bounds: how much is done in a turn of the reactor; NULL: as usual
 * @sums: make checksums of the blocks, and compare them; without, those that there are are dropped
 */
struct store_opts {
	const char *dir;
	const char *cluster;
	const char *disk_name;
	uint32_t disk;
	uint64_t reserve;
	bool sync;
	bool repair;
	struct bounds *bounds;
	bool sums;
};

/* Blocks; for the start only.  @err: one line. */
int store_open(struct ddio_env *env, struct ddio_disk *disk, const struct store_opts *opts,
	       struct store **store, char *err, size_t err_len);
/* No commit may be under way; uncommitted changes are lost. */
void store_close(struct store *store);
struct ddio_disk *store_disk(const struct store *store);
uint64_t store_free_bytes(const struct store *store);
/* Returns how many more bytes objects would take if each had its own. */
uint64_t store_shared_bytes(const struct store *store);
/* Tells what the records take. */
struct lmdb_left store_left(const struct store *store);
uint64_t store_objects(const struct store *store);
/* Memory of their blocks' checksums. */
uint64_t store_sums_bytes(const struct store *store);
/* How many chunks of blocks that were read did not match their checksums. */
uint64_t store_mismatches(const struct store *store);

/* Says which disk it is, and of which time. */
void store_identity(const struct store *store, struct ddio_disk_id *id);
/* Notes that the name space knows the disk; @names, @change, @lost: see struct ddio_disk_id.  0 or -ENOMEM; the next
 * commit records it. */
int store_known(struct store *store, uint64_t names, uint64_t change, uint64_t lost);
/* Returns the incarnations of the daemon that had ended in order when the store was opened: nothing is lost of what the disk was
 * given in them. */
const struct ddio_ends *store_ends(const struct store *store);
/* Notes that incarnation @boot ends in order: all that the disk was given is durable, and nothing follows but a commit, which
 * records it.  0 or -ENOMEM. */
int store_end_note(struct store *store, uint64_t boot);
/* What to say of a file, by its number, that may have lost its object. */
#define STORE_LOST_TEXT                                                                               \
	"file %llu may have had data on the disk that was here before: remove the file, and restore " \
	"it from a backup"
/* Returns true if a file of this number that has no object may have lost it. */
bool store_lost(const struct store *store, uint64_t id);
/* Notes that a file is removed: for a while store_get() makes no object of it. */
void store_gone(struct store *store, uint64_t id);
/* Returns true if that was noted lately. */
bool store_is_gone(const struct store *store, uint64_t id);
/* What it means that a file has no object: 0, it has had none; -ESTALE, it is removed; -EREMOTEIO, it may have lost it. */
int store_missing(const struct store *store, uint64_t id);

/**
 * store_get - take a reference to an object
 * @create: create it if missing (in memory until something is committed)
 * Return: 0, -ENOENT, -ESTALE (it exists with another block size, layout or seed, or @create: its file was removed), -EINVAL (the
 * block is smaller than the disk's sector), -EUCLEAN (its records are damaged), -EREMOTEIO (@create: it is missing,
 * and may have been lost) or -ENOMEM.
 */
int store_get(struct store *store, const struct ddio_file_ref *ref, bool create,
	      struct object **obj);
/**
 * struct store_wait - somebody who waits until an object has been read; the caller owns the memory
 * @done: called then, whatever became of it
 */
struct store_wait {
	struct ddio_list link;
	void (*done)(struct store_wait *wait);
	void *arg;
};

/**
 * store_fetch - read an object's records, some in each turn, before store_get(); wait while an epoch holds the file
 * @wait: called in a later turn, when they have been read; NULL: the caller asks again in a later turn
 * Return: true if store_get() takes no time; @wait is not used then.
 */
bool store_fetch(struct store *store, const struct ddio_file_ref *ref, struct store_wait *wait);
/* Takes out what waits. */
void store_fetch_forget(struct store_wait *wait);
/* The same of an object of which a part is lost: it can only be removed. */
int store_get_remains(struct store *store, const struct ddio_file_ref *ref, struct object **obj);
/* Describes an object's file, given only the id.  Returns 0, -ENOENT, -EUCLEAN or -ENOMEM. */
int store_ref(struct store *store, uint64_t id, struct ddio_file_ref *ref);
void object_ref(struct object *obj);
void object_put(struct object *obj);
const struct ddio_file_ref *object_file(const struct object *obj);
/**
 * struct object_habit - for whoever writes and syncs an object, while it is in memory
 * @writes: since the last sync; @usual: how many there were before that one; @times: how often in succession as many
 */
struct object_habit {
	uint32_t writes, usual, times;
};
struct object_habit *object_habit(struct object *obj);

/**
 * object_lookup - find the place of a block
 * @start: byte on the disk
 * @run: how many blocks from @block on are contiguous on the disk, or (in a hole) have no place
 * @written: false: it reads as zeros, whatever is on the disk
 * Return: false for a hole.
 */
bool object_lookup(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written);
/**
 * object_target - find where a block is to be written: as object_lookup(), but not where others have it, too
 * Return: false for a block that needs object_alloc() first. @written: false: it is to be written whole
 */
bool object_target(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written);
/**
 * object_share - give blocks of one object to another one as well
 * @to: gets them as blocks from @first on, and loses what it has there
 * @from: the blocks from @at on, of as many bytes; may be @to, if the two ranges have nothing in common
 * @count: how many; lowered to how many it were, by what may be done in a turn
 * The caller sees to it that nobody writes blocks of either range, and no cache has them dirty, or those of @to at all.
 * Return: 0, -ENOSPC (no room for records), -EUCLEAN, -ENOENT, -EFBIG or -ENOMEM.
 */
int object_share(struct object *to, uint64_t first, struct object *from, uint64_t at,
		 uint64_t *count);
/*
 * Freezes the object: from now on it is what it is until it is removed, whoever asks; its blocks may move to other
 * places.  What would change it is refused with -EROFS.  The next commit records it.  Return: 0, -ENOSPC (no room for
 * records), -ENOENT, -EUCLEAN or -ENOMEM.
 */
int object_freeze(struct object *obj);
bool object_frozen(const struct object *obj);
/* Returns how many of the object's blocks others have, too. */
uint64_t object_shared(const struct object *obj);
/**
 * object_alloc - give every block of [first, first + count) a place, by the file's layout
 * contiguous: one extent if free space allows, following the object's previous block if it can;
 * random-blocks: each block at a random place; random-tracks: random tracks, blocks of a track in
 * order; both from a generator seeded with ref.seed, file id and disk.
 * Blocks that others have, too, get another place, where object_target() finds it; they are read where they were until
 * they have been written there.
 * Return: 0, or -ENOSPC with nothing changed.
 */
int object_alloc(struct object *obj, uint64_t first, uint64_t count);
/**
 * object_renew - before blocks are written as a whole, give them fresh places that lie in one piece, if it is worth it
 * They were all written, and lie in many small pieces; the layout is contiguous, and there is twice as much space.
 * object_target() finds the places, as after object_alloc() of blocks that others have, too.  Return: whether they have them.
 */
bool object_renew(struct object *obj, uint64_t first, uint64_t count);
/* Blocks have been written.  Return: 0, or -ENOMEM: from some block on they count as not written. */
int object_written(struct object *obj, uint64_t first, uint64_t count);
/* Returns 0 if the disk has space for those of the blocks that have no place; else the error of object_alloc(). */
int object_room(struct object *obj, uint64_t first, uint64_t count);
/* Returns how many of @count blocks from @first on can get places, or read as zeros, in @steps steps. */
uint64_t object_stretch(const struct object *obj, uint64_t first, uint64_t count, uint64_t steps);
/**
 * object_write_begin - before a block is written at its place
 * Return: 0: object_write_end() must follow; 1: that it may change must be recorded first: ask again after the next
 * store_commit(); or -errno.
 */
int object_write_begin(struct object *obj, uint64_t block);
/* Has that recorded of blocks of [first, first + count), as far as *@steps reach, which it lowers.  Returns true if a commit is
 * needed. */
bool object_write_ahead(struct object *obj, uint64_t first, uint64_t count, uint32_t *steps);
/* The same of a block, and of others that will follow. */
bool object_write_soon(struct object *obj, uint64_t block);
/*
 * @written: as by object_written(); @data: the block, or NULL if it went past us.  Return: 0, or -ENOMEM: the block counts as
 * not written, as if the disk had failed.
 */
int object_write_end(struct object *obj, uint64_t block, bool written, const void *data);
/* The same of one that was written by a request; *@made: the sums that the disk's engine made of it, if it did. */
int object_write_made(struct object *obj, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made);
/* Returns true if blocks have sums. */
bool object_sums(const struct object *obj);
/* Returns true if whoever writes the block may tell its sum: blocks have sums, and this has one. */
bool object_takes_sum(const struct object *obj);
/* The block was written, went past us, and has @sum. */
int object_write_told(struct object *obj, uint64_t block, uint32_t sum);
/*
 * What the CRC-32C of a block has to be that is compared elsewhere: 1 with *@sum; 0: there is nothing to compare it with;
 * -EAGAIN: only object_check() can say; or -ENOMEM.
 */
int object_sum(struct object *obj, uint64_t block, uint32_t *sum);
/* Returns true if the CRC-32C of bytes [@from, @to) of the block is known without looking at them; *@sum is what it has to be. */
bool object_sum_range(struct object *obj, uint64_t block, uint32_t from, uint32_t to,
		      uint32_t *sum);
/*
 * After object_write_end(): returns true unless the checksums that it made of the block differ from @expected, the CRC-32C of the bytes
 * that were to be written.  Then that is logged, and whoever reads the block gets an error until it is written again.
 */
bool object_prove(struct object *obj, uint64_t block, uint32_t expected);
/* It was compared with that; that it differs is logged. */
void object_compared(struct object *obj, uint64_t block, bool same);
/* Compares a block that was read from its place with its checksum: 0; -EBADMSG: it differs, and that was logged; or
 * -ENOMEM. */
int object_check(struct object *obj, uint64_t block, const void *data);
/* The same; *@made: as of object_write_made(). */
int object_check_made(struct object *obj, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made);
/**
 * object_scrub - the same by one who looks through the disk: nothing is logged, and chunks without a sum get one
 * @given: receives how many did
 * @byte: -EBADMSG: receives where on the disk the chunk lies that differs
 */
int object_scrub(struct object *obj, uint64_t block, const void *data, uint32_t *given,
		 uint64_t *byte);
/* Returns true if a chunk of the block has no sum. */
bool object_lacks(struct object *obj, uint64_t block);
/**
 * object_reserve - like object_alloc(), for blocks that keep their place even if never written
 * The next commit records it.
 * Return: 0, -ENOSPC with nothing changed, or -ENOMEM.
 */
int object_reserve(struct object *obj, uint64_t first, uint64_t count);
/* Makes blocks of [first, first + count) read as zeros again; those that have a place keep it. */
int object_unwrite(struct object *obj, uint64_t first, uint64_t count);
/* Frees [first, first + count), or with UINT64_MAX all from @first on. */
int object_punch(struct object *obj, uint64_t first, uint64_t count);
/* Removes the object: store_get() no longer finds it.  Its space is allocated again only after the commit
 * and the last object_put(), since a user may still have a write under way. */
int object_remove(struct object *obj);
uint64_t object_blocks(const struct object *obj); /* allocated */
uint64_t object_end(const struct object *obj);	  /* one past the last allocated block */

/* Makes all changes so far durable.  Commits requested while one is running share the next one. */
void store_commit(struct store *store, struct commit *commit);
bool store_dirty(const struct store *store);
/**
 * store_settle - has the next commit record the sums of blocks that were written again in place
 * @all: of all blocks; otherwise of those that were not written since the last call but one
 */
void store_settle(struct store *store, bool all);
/* Returns true if so many wait to be recorded that who adds some should wait; has some recorded. */
bool store_pressed(struct store *store);
/* Returns true if there are such sums, or changes. */
bool store_unsettled(const struct store *store);
/* Returns the error of a failed flush, which lasts until the store is opened again, or 0. */
int store_stopped(const struct store *store);

/**
 * struct store_taken - a place that blocks are being moved to, which only memory knows not to be free
 * @lost: a repair has found that it is somebody else's
 */
struct store_taken {
	struct ddio_list link;
	uint64_t start, len;
	bool lost;
};

/* Returns how far the disk has been looked through, as noted last. */
const struct rec_scrub *store_scrub(const struct store *store);
/* Notes it: 0 or -ENOMEM; the next commit records it. */
int store_scrub_note(struct store *store, const struct rec_scrub *rec);

/* Lists committed and uncommitted objects with ids above @after, ascending; returns how many. */
uint32_t store_list(struct store *store, uint64_t after, uint64_t *ids, uint32_t max);

/**
 * store_check_begin - check that the records are consistent
 * Every extent lies within the disk, none overlap, objects are well formed, free space is the exact
 * complement.  Reads what is committed when it begins.  @repair: at the end, correct records of which one bit is wrong,
 * refuse objects that have lost others, and rebuild free space; or drop what cannot be corrected, so that it reads as
 * zeros; -EBUSY, from begin or end, if changes wait to be committed or have been made meanwhile.
 */
enum store_repair { STORE_CHECK, STORE_REPAIR, STORE_DROP };
struct store_check;
int store_check_begin(struct store *store, enum store_repair repair, struct store_check **check);
/* Looks at up to @steps records.  Returns false when there is nothing more to do but store_check_end(). */
bool store_check_step(struct store_check *check, uint32_t steps);
/* Frees @check.  @result: what it has found; NULL: it is given up. */
int store_check_end(struct store_check *check, struct ddio_msg_fsck *result);

#endif /* DDIO_STORE_H */
