// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Batches of changes: noted as changes are made, sealed, written by the worker in one transaction.  A
 * batch whose transaction failed is put in front of later changes and tried again by the next commit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/room.h"
#include "iop/store/priv.h"

/* What a change may take: pages of three trees, for a while; its records, permanently. */
#define CHANGE_PAGES (3 * 4096)
#define CHANGE_BYTES 512
/* So many are in a transaction where there is no room for all. */
#define PART_CHANGES 4

void batch_fini(struct store_batch *batch)
{
	free(batch->changes);
	free(batch->freed);
	memset(batch, 0, sizeof(*batch));
}

static int vector_reserve(void **v, size_t *cap, size_t want, size_t size)
{
	void *grown;

	if (want <= *cap)
		return 0;
	if (want < *cap * 2)
		want = *cap * 2;
	grown = realloc(*v, want * size);
	if (!grown)
		return -ENOMEM;
	*v = grown;
	*cap = want;
	return 0;
}

int batch_reserve(struct store_batch *batch, size_t changes, size_t freed)
{
	if (vector_reserve((void **)&batch->changes, &batch->cap_changes, batch->nchanges + changes,
			   sizeof(*batch->changes)))
		return -ENOMEM;
	return vector_reserve((void **)&batch->freed, &batch->cap_freed, batch->nfreed + freed,
			      sizeof(*batch->freed));
}

/* A file written from front to back is one change, not one per block. */
static bool change_continues(const struct store_change *a, const struct store_change *b)
{
	if (a->kind != b->kind || a->id != b->id || a->unwritten != b->unwritten ||
	    a->block + a->count != b->block)
		return false;
	return a->kind == CHANGE_MARK ||
	       (a->kind == CHANGE_EXTENT && a->start + a->count * a->bs == b->start);
}

void batch_change(struct store_batch *batch, const struct store_change *change)
{
	struct store_change *last = batch->nchanges ? &batch->changes[batch->nchanges - 1] : NULL;

	if (last && change_continues(last, change))
		last->count += change->count;
	else
		batch->changes[batch->nchanges++] = *change;
}

void batch_freed(struct store_batch *batch, uint64_t start, uint64_t len)
{
	batch->freed[batch->nfreed++] = (struct freed){ .start = start, .len = len };
}

static bool batch_empty(const struct store_batch *batch)
{
	return !batch->nchanges && !batch->nfreed;
}

static bool store_seal(void *ctx)
{
	struct store *store = ctx;

	/* An empty batch that was sealed before has not ended, but may have memory. */
	batch_fini(&store->sealed);
	store->sealed = store->open;
	store->sealed_seq = store->seq++;
	memset(&store->open, 0, sizeof(store->open));
	store->sealed_lost = store->lost;
	return !batch_empty(&store->sealed) || store->lost;
}

static size_t part_end(const struct store_batch *batch)
{
	return batch->nchanges - batch->applied > PART_CHANGES ? batch->applied + PART_CHANGES
							       : batch->nchanges;
}

/* The changes that are not in the records yet, up to @end. */
static int apply_to(struct store *store, MDB_txn *txn, size_t end)
{
	size_t i;
	int ret = store->sealed_lost;

	for (i = store->sealed.applied; i < end && !ret; i++)
		ret = store_apply_change(store, txn, &store->sealed.changes[i]);
	return ret;
}

/* Runs in the worker: nothing else touches the sealed batch until the commit ends. */
static int store_apply(MDB_txn *txn, void *ctx)
{
	struct store *store = ctx;

	return apply_to(store, txn, store->sealed.nchanges);
}

static int apply_part(MDB_txn *txn, void *ctx)
{
	struct store *store = ctx;

	return apply_to(store, txn, part_end(&store->sealed));
}

/* In the worker, too.  A commit may fall between any two changes. */
static int store_parts(void *ctx)
{
	struct store *store = ctx;
	struct store_batch *batch = &store->sealed;
	int ret = 0;

	while (batch->applied < batch->nchanges && !ret) {
		ret = lmdb_write_once(&store->db, apply_part, store);
		if (!ret)
			batch->applied = part_end(batch);
	}
	return ret;
}

/* Forgets the changes that are in the records although the commit failed. */
static void batch_trim(struct store_batch *batch)
{
	size_t n = batch->applied;

	if (n)
		memmove(batch->changes, batch->changes + n,
			(batch->nchanges - n) * sizeof(*batch->changes));
	batch->nchanges -= n;
	batch->applied = 0;
}

bool store_room(struct store *store)
{
	uint64_t changes = store->open.nchanges + store->sealed.nchanges + 1;
	uint64_t touched = changes * CHANGE_PAGES;

	/* A transaction takes no page twice. */
	if (touched > 2 * store->db.space.used)
		touched = 2 * store->db.space.used;
	return lmdb_room_tell(&store->db, lmdb_room(&store->db, touched + changes * CHANGE_BYTES),
			      store->env);
}

/* Puts the sealed batch in front of the open one; together they are the open batch. */
static void batch_restore(struct store *store)
{
	struct store_batch *sealed = &store->sealed, *open = &store->open;
	size_t i;

	batch_trim(sealed);
	if (batch_reserve(sealed, open->nchanges, open->nfreed)) {
		store->lost = -ENOMEM;
		return;
	}
	for (i = 0; i < open->nchanges; i++)
		sealed->changes[sealed->nchanges++] = open->changes[i];
	for (i = 0; i < open->nfreed; i++)
		sealed->freed[sealed->nfreed++] = open->freed[i];
	batch_fini(open);
	store->open = *sealed;
	memset(sealed, 0, sizeof(*sealed));
}

static void store_ended(void *ctx, int err)
{
	struct store *store = ctx;

	if (err) {
		batch_restore(store);
		return;
	}
	if (store->sealed.nfreed)
		store_give_batch(store, &store->sealed);
	batch_fini(&store->sealed);
	store->done_seq = store->sealed_seq;
	store_sweep(store);
}

const struct committer_ops store_committer_ops = {
	.seal = store_seal,
	.apply = store_apply,
	.parts = store_parts,
	.ended = store_ended,
};

/**
 * store_commit - make all changes so far durable
 * @store: the store
 * @commit: the caller's memory, until its @done
 *
 * Flushes the disk even if no record has changed: blocks may have been overwritten.
 */
void store_commit(struct store *store, struct commit *commit)
{
	committer_commit(&store->committer, commit);
}

/**
 * store_stopped - why the disk takes no more writes
 * @store: the store
 *
 * Return: 0, or the error of a flush that failed: it lasts until the store is opened again
 */
int store_stopped(const struct store *store)
{
	return store->committer.stopped;
}

bool store_dirty(const struct store *store)
{
	return store->committer.active || !batch_empty(&store->open);
}
