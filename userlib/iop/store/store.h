/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The object store of one disk: each file's share of the disk is an object, a
 * set of extents in units of the file's block.  Records (extents, free space,
 * the disk's label) are in LMDB; block data never is.  Belongs to one reactor.
 *
 * Order of things, so that no crash shows bytes that were never written:
 *   1. blocks are allocated in memory only,
 *   2. the caller writes their data and calls object_written(),
 *   3. store_commit() seals the changes so far, flushes the disk, and
 *      writes the sealed records in one transaction.
 * Space that was freed is given out again only after the commit that freed it.
 */
#ifndef DDIO_STORE_H
#define DDIO_STORE_H

#include "env/disk/disk.h"
#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "proto/proto.h"

struct store;
struct object;

/**
 * struct store_opts - what to open
 * @dir: directory of this disk's records; made if it does not exist
 * @cluster, @disk_name, @disk: identity; written on the disk's label and in the records at first
 *	use, compared ever after
 * @sync: fsync commits
 * @repair: if one of the two labels is damaged, write it again from the other
 */
struct store_opts {
	const char *dir;
	const char *cluster;
	const char *disk_name;
	uint32_t disk;
	bool sync;
	bool repair;
};

/* Blocking: at start only.  @err: one line. */
int store_open(struct ddio_env *env, struct ddio_disk *disk, const struct store_opts *opts,
	       struct store **store, char *err, size_t err_len);
/* No commit may be pending; uncommitted changes are lost. */
void store_close(struct store *store);
struct ddio_disk *store_disk(const struct store *store);
uint64_t store_free_bytes(const struct store *store);
uint64_t store_objects(const struct store *store);

/**
 * store_get - a reference to an object
 * @create: make it if it does not exist (in memory until something is committed)
 * Return: 0, -ENOENT, -ESTALE (it exists with another block size, layout or seed), -EINVAL (the
 * block is smaller than the disk's sector), -EUCLEAN (its records are damaged), -ENOMEM.
 */
int store_get(struct store *store, const struct ddio_file_ref *ref, bool create,
	      struct object **obj);
/* What an object's file is like, by the id alone.  Return: 0, -ENOENT, -EUCLEAN, -ENOMEM. */
int store_ref(struct store *store, uint64_t id, struct ddio_file_ref *ref);
void object_ref(struct object *obj);
void object_put(struct object *obj);
const struct ddio_file_ref *object_file(const struct object *obj);
struct store *object_store(const struct object *obj);

/**
 * object_lookup - where a block lies
 * @start: byte on the disk
 * @run: blocks from @block on that lie one behind the other (at least 1; for a hole: blocks of hole)
 * @written: has it ever been written?  If not it reads as zeros whatever is on the disk.
 * Return: false for a hole.
 */
bool object_lookup(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written);
/**
 * object_alloc - give every block of [first, first + count) a place
 * By the file's layout: contiguous: as one extent where free space allows, right behind the object's
 * previous block if that is free; random-blocks: each block at a random place; random-tracks: random
 * tracks, blocks of a track in order; both by a generator seeded with ref.seed, file id and disk.
 * Return: 0, or -ENOSPC with nothing changed.
 */
int object_alloc(struct object *obj, uint64_t first, uint64_t count);
void object_written(struct object *obj, uint64_t first, uint64_t count);
/**
 * object_reserve - object_alloc() for blocks that shall keep their place, written or not
 * With the next commit their place is recorded.
 * Return: 0, -ENOSPC with nothing changed, or -ENOMEM.
 */
int object_reserve(struct object *obj, uint64_t first, uint64_t count);
/* Those of [first, first + count) that have a place keep it, and read as zeros again. */
int object_unwrite(struct object *obj, uint64_t first, uint64_t count);
/* Frees blocks from @nblocks on. */
int object_truncate(struct object *obj, uint64_t nblocks);
/* Frees [first, first + count). */
int object_punch(struct object *obj, uint64_t first, uint64_t count);
/* Frees all; the object is gone for store_get() at once.  Its space is given out again after
 * the commit and the last object_put(): a user may still have a write under way. */
int object_remove(struct object *obj);
uint64_t object_blocks(const struct object *obj); /* allocated */
uint64_t object_end(const struct object *obj);	  /* one past the last allocated block */

/* Commits that come while one runs are joined into the next one. */
void store_commit(struct store *store, struct commit *commit);
bool store_dirty(const struct store *store);

/* Committed and uncommitted objects with an id above @after, ascending; returns how many. */
uint32_t store_list(struct store *store, uint64_t after, uint64_t *ids, uint32_t max);

/**
 * store_check - are the records consistent?
 * Every extent within the disk, no two overlap, objects well formed, free space the exact complement.
 * Only reads what is committed.  With @repair rebuilds free space and drops what is malformed.
 * A repair is -EBUSY while changes wait to be committed.
 */
int store_check(struct store *store, bool repair, struct ddio_msg_fsck *result);

#endif /* DDIO_STORE_H */
