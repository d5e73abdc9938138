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
/* So many calls of store_settle() ago must a block have been written. */
#define SETTLE_AGE 2

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
	return a->kind == CHANGE_MARK || ((a->kind == CHANGE_EXTENT || a->kind == CHANGE_SHARE ||
					   a->kind == CHANGE_REPLACE) &&
					  a->start + a->count * a->bs == b->start);
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

/*
 * Puts a sealed batch whose commit has failed in front of the open one; together they are the open batch.  Without memory it waits,
 * and so do all later changes: the next commit tries again.
 */
static int batch_restore(struct store *store)
{
	struct store_batch *sealed = &store->sealed, *open = &store->open;
	size_t i;

	batch_trim(sealed);
	store->failed = batch_reserve(sealed, open->nchanges, open->nfreed);
	if (store->failed)
		return -ENOMEM;
	for (i = 0; i < open->nchanges; i++)
		sealed->changes[sealed->nchanges++] = open->changes[i];
	for (i = 0; i < open->nfreed; i++)
		sealed->freed[sealed->nfreed++] = open->freed[i];
	batch_fini(open);
	store->open = *sealed;
	memset(sealed, 0, sizeof(*sealed));
	return 0;
}

static bool store_seal(void *ctx)
{
	struct store *store = ctx;

	store->sealed_lost = store->failed ? batch_restore(store) : 0;
	if (store->sealed_lost)
		return true;
	/* An empty batch that was sealed before has not ended, but may have memory. */
	batch_fini(&store->sealed);
	store->sealed = store->open;
	store->sealed_seq = store->seq++;
	memset(&store->open, 0, sizeof(store->open));
	store->scrub_sealed = store->scrub;
	store->life_sealed = store->life;
	/* What was written may not be recorded without its sums. */
	if (sums_seal(&store->sums))
		store->sealed_lost = -ENOMEM;
	return !batch_empty(&store->sealed) || store->sealed_lost || store->sums.sealed.n;
}

/**
 * struct sums_part - sums that go into one of several transactions
 * @first: the first of them; @doubt: as in doubt
 */
struct sums_part {
	struct store *store;
	size_t first;
	bool doubt;
};

/* Groups that are in doubt as a whole say nothing of what the disk has. */
static bool store_early(void *ctx)
{
	const struct store *store = ctx;

	return batch_empty(&store->sealed) && !store->sealed_lost && store->sums.sealed.doubt;
}

static bool store_same(void *ctx)
{
	const struct store *store = ctx;

	return batch_empty(&store->open) && !store->failed && !sums_due(&store->sums);
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
	int ret = apply_to(store, txn, store->sealed.nchanges);

	/* Sums come last: they are those of the blocks as they are now. */
	return ret ? ret : sums_apply(&store->sums, txn, 0, store->sums.sealed.n, false);
}

static int apply_part(MDB_txn *txn, void *ctx)
{
	struct store *store = ctx;

	return apply_to(store, txn, part_end(&store->sealed));
}

static int sums_part(MDB_txn *txn, void *ctx)
{
	const struct sums_part *part = ctx;
	const struct sums *sums = &part->store->sums;
	size_t end = part->first + PART_CHANGES;

	return sums_apply(sums, txn, part->first, end < sums->sealed.n ? end : sums->sealed.n,
			  part->doubt);
}

static int sums_parts(struct store *store, bool doubt)
{
	struct sums_part part = { .store = store, .doubt = doubt };
	int ret = 0;

	for (; part.first < store->sums.sealed.n && !ret; part.first += PART_CHANGES)
		ret = lmdb_write_once(&store->db, sums_part, &part);
	return ret;
}

/*
 * In the worker, too.  A commit may fall between any two changes; until the last of them is recorded, the sums may be
 * those of other blocks.
 */
static int store_parts(void *ctx)
{
	struct store *store = ctx;
	struct store_batch *batch = &store->sealed;
	int ret = sums_parts(store, true);

	while (batch->applied < batch->nchanges && !ret) {
		ret = lmdb_write_once(&store->db, apply_part, store);
		if (!ret)
			batch->applied = part_end(batch);
	}
	return ret ? ret : sums_parts(store, false);
}

bool store_room(struct store *store)
{
	uint64_t changes = store->open.nchanges + store->sealed.nchanges +
			   2 * (sums_ndue(&store->sums) + store->sums.sealed.n) + 1;
	uint64_t touched = changes * CHANGE_PAGES;

	/* A transaction takes no page twice. */
	if (touched > 2 * store->db.space.used)
		touched = 2 * store->db.space.used;
	return lmdb_room_tell(&store->db, lmdb_room(&store->db, touched + changes * CHANGE_BYTES),
			      store->env);
}

static void store_ended(void *ctx, int err)
{
	struct store *store = ctx;

	sums_ended(&store->sums, err);
	if (err) {
		(void)batch_restore(store);
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
	.early = store_early,
	.same = store_same,
	.apply = store_apply,
	.parts = store_parts,
	.ended = store_ended,
};

/**
 * store_commit - make all changes so far durable
 * @store: the store
 * @commit: the caller's memory, until its @done
 *
 * Flushes the disk even if no record has changed: blocks may have been overwritten.  But if nothing was written either since
 * the last flush began, that one's commit will do.
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

void store_press(struct store *store)
{
	if (store->committer.active)
		return;
	sums_settle(&store->sums, 0, SUMS_BUSY / 2);
	committer_commit(&store->committer, NULL);
}

bool store_pressed(struct store *store)
{
	if (!sums_pressed(&store->sums))
		return false;
	store_press(store);
	return true;
}

void store_settle(struct store *store, bool all)
{
	sums_settle(&store->sums, all ? 0 : SETTLE_AGE, 0);
}

bool store_unsettled(const struct store *store)
{
	return sums_unsettled(&store->sums);
}

bool store_dirty(const struct store *store)
{
	return store->committer.active || !batch_empty(&store->open) || store->failed ||
	       sums_due(&store->sums);
}
