/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The object store of one disk: each file's share of the disk is an object, a
 * set of extents in units of the file's block.  Records (extents, free space,
 * the disk's label) are in LMDB; block data never is.  Belongs to one reactor.
 *
 * Order of things, so that no crash shows bytes that were never written:
 *   1. blocks are allocated in memory only,
 *   2. the caller writes their data and calls ddio_object_written(),
 *   3. ddio_store_commit() seals the changes so far, flushes the disk, and
 *      writes the sealed records in one transaction.
 * Space that was freed is given out again only after the commit that freed it.
 */
#ifndef DDIO_STORE_H
#define DDIO_STORE_H

#include "env/env.h"
#include "proto/proto.h"

struct ddio_store;
struct ddio_object;

/**
 * struct ddio_store_opts - what to open
 * @dir: directory of this disk's records; made if it does not exist
 * @cluster, @disk_name, @disk: identity; written on the disk's label and in the records at first
 *	use, compared ever after
 * @sync: fsync commits
 * @repair: if one of the two labels is damaged, write it again from the other
 */
struct ddio_store_opts {
	const char *dir;
	const char *cluster;
	const char *disk_name;
	uint32_t disk;
	bool sync;
	bool repair;
};

/* Blocking: at start only.  @err: one line. */
int ddio_store_open(struct ddio_env *env, struct ddio_disk *disk,
		    const struct ddio_store_opts *opts, struct ddio_store **store, char *err,
		    size_t err_len);
/* No commit may be pending; uncommitted changes are lost. */
void ddio_store_close(struct ddio_store *store);
struct ddio_disk *ddio_store_disk(const struct ddio_store *store);
uint64_t ddio_store_free_bytes(const struct ddio_store *store);
uint64_t ddio_store_objects(const struct ddio_store *store);

/**
 * ddio_store_get - a reference to an object
 * @create: make it if it does not exist (in memory until something is committed)
 * Return: 0, -ENOENT, -ESTALE (it exists with another block size, layout or seed), -EINVAL (the
 * block is smaller than the disk's sector), -EUCLEAN (its records are damaged), -ENOMEM.
 */
int ddio_store_get(struct ddio_store *store, const struct ddio_file_ref *ref, bool create,
		   struct ddio_object **obj);
/* What an object's file is like, by the id alone.  Return: 0, -ENOENT, -EUCLEAN, -ENOMEM. */
int ddio_store_ref(struct ddio_store *store, uint64_t id, struct ddio_file_ref *ref);
void ddio_object_ref(struct ddio_object *obj);
void ddio_object_put(struct ddio_object *obj);
const struct ddio_file_ref *ddio_object_file(const struct ddio_object *obj);
struct ddio_store *ddio_object_store(const struct ddio_object *obj);

/**
 * ddio_object_lookup - where a block lies
 * @start: byte on the disk
 * @run: blocks from @block on that lie one behind the other (at least 1; for a hole: blocks of hole)
 * @written: has it ever been written?  If not it reads as zeros whatever is on the disk.
 * Return: false for a hole.
 */
bool ddio_object_lookup(const struct ddio_object *obj, uint64_t block, uint64_t *start,
			uint64_t *run, bool *written);
/**
 * ddio_object_alloc - give every block of [first, first + count) a place
 * By the file's layout: contiguous: as one extent where free space allows, right behind the object's
 * previous block if that is free; random-blocks: each block at a random place; random-tracks: random
 * tracks, blocks of a track in order; both by a generator seeded with ref.seed, file id and disk.
 * Return: 0, or -ENOSPC with nothing changed.
 */
int ddio_object_alloc(struct ddio_object *obj, uint64_t first, uint64_t count);
void ddio_object_written(struct ddio_object *obj, uint64_t first, uint64_t count);
/**
 * ddio_object_reserve - ddio_object_alloc() for blocks that shall keep their place, written or not
 * With the next commit their place is recorded.
 * Return: 0, -ENOSPC with nothing changed, or -ENOMEM.
 */
int ddio_object_reserve(struct ddio_object *obj, uint64_t first, uint64_t count);
/* Those of [first, first + count) that have a place keep it, and read as zeros again. */
int ddio_object_unwrite(struct ddio_object *obj, uint64_t first, uint64_t count);
/* Frees blocks from @nblocks on. */
int ddio_object_truncate(struct ddio_object *obj, uint64_t nblocks);
/* Frees [first, first + count). */
int ddio_object_punch(struct ddio_object *obj, uint64_t first, uint64_t count);
/* Frees all; the object is gone for ddio_store_get() at once.  Its space is given out again after
 * the commit and the last ddio_object_put(): a user may still have a write under way. */
int ddio_object_remove(struct ddio_object *obj);
uint64_t ddio_object_blocks(const struct ddio_object *obj); /* allocated */
uint64_t ddio_object_end(const struct ddio_object *obj);    /* one past the last allocated block */

/**
 * struct ddio_commit - tells when what was changed before is durable; the caller owns the memory
 */
struct ddio_commit {
	void (*done)(struct ddio_commit *commit, int err);
	void *arg;
	struct ddio_list link;
};
/* Commits that come while one runs are joined into the next one. */
void ddio_store_commit(struct ddio_store *store, struct ddio_commit *commit);
bool ddio_store_dirty(const struct ddio_store *store);

/* Committed and uncommitted objects with an id above @after, ascending; returns how many. */
uint32_t ddio_store_list(struct ddio_store *store, uint64_t after, uint64_t *ids, uint32_t max);

/**
 * ddio_store_check - are the records consistent?
 * Every extent within the disk, no two overlap, objects well formed, free space the exact complement.
 * Only reads what is committed.  With @repair rebuilds free space and drops what is malformed.
 * A repair is -EBUSY while changes wait to be committed.
 */
int ddio_store_check(struct ddio_store *store, bool repair, struct ddio_msg_fsck *result);

#endif /* DDIO_STORE_H */
