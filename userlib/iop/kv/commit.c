// SPDX-License-Identifier: LGPL-2.1-or-later
/* Moves changes from memory to LMDB, in the background. */
#include <errno.h>
#include "iop/kv/priv.h"

static bool kv_seal(void *ctx)
{
	struct kv *kv = ctx;

	ddio_timer_cancel(kv->env, &kv->timer);
	if (!kv->active.n)
		return false;
	kv->sealed = kv->active;
	kv_map_init(&kv->active);
	kv->sealed_bare = kv->bare;
	kv->bare = false;
	kv->sealing = kv->journal.seq;
	/* After a failure the other journal is not empty, and this one continues to grow. */
	kv->sealed_journal = kv->journal.at;
	kv_journal_turn(&kv->journal);
	if (kv->sealed_journal == kv->journal.at)
		kv->sealed_journal = !kv->journal.at;
	return true;
}

/* Runs in the worker: the sealed layer does not change until the commit ends. */
static int kv_apply(MDB_txn *txn, void *ctx)
{
	struct kv *kv = ctx;

	return kv_write(kv, txn, &kv->sealed, kv->sealing);
}

static int kv_parts(void *ctx)
{
	struct kv *kv = ctx;

	/* A crash between two parts would leave half of a change that no journal completes. */
	return kv->sealed_bare ? -ENOSPC : kv_write_parts(kv, &kv->sealed, kv->sealing);
}

static void kv_put_back(struct kv *kv)
{
	struct kv_map newer = kv->active;

	kv->active = kv->sealed;
	kv_map_init(&kv->sealed);
	kv_map_move(&kv->active, &newer);
	kv->bare = kv->bare || kv->sealed_bare;
	kv->sealed_bare = false;
}

static void kv_ended(void *ctx, int err)
{
	struct kv *kv = ctx;
	int ret;

	if (err) {
		kv_put_back(kv);
		ddio_timer_arm(kv->env, &kv->timer, ddio_env_now(kv->env) + KV_COMMIT_NS);
		return;
	}
	kv->committed = kv->sealing;
	kv_map_clear(&kv->sealed);
	kv->sealed_bare = false;
	ret = kv_journal_empty(&kv->journal, kv->sealed_journal);
	/* It is merely longer than necessary: record numbers tell what has been committed. */
	if (ret)
		ddio_env_log(kv->env, DDIO_LOG_WARN, "%s: a journal cannot be emptied", kv->db.dir);
	if (kv->active.n)
		kv_changed(kv);
}

const struct committer_ops kv_committer_ops = {
	.seal = kv_seal,
	.apply = kv_apply,
	.parts = kv_parts,
	.ended = kv_ended,
};

void kv_changed(struct kv *kv)
{
	if ((kv->active.bytes >= KV_COMMIT_BYTES || kv->bare) && !kv->committer.active)
		committer_commit(&kv->committer, NULL);
	else if (!kv->committer.active && !ddio_timer_armed(&kv->timer) &&
		 ddio_timer_arm(kv->env, &kv->timer, ddio_env_now(kv->env) + KV_COMMIT_NS))
		committer_commit(&kv->committer, NULL);
}

void kv_commit(struct kv *kv, struct commit *commit)
{
	committer_commit(&kv->committer, commit);
}

bool kv_clean(const struct kv *kv)
{
	return !kv->active.n && !kv->committer.active;
}

bool kv_full(const struct kv *kv)
{
	/* What a removal has freed is there when it has been committed. */
	return kv->active.bytes >= KV_FULL_BYTES || kv->bare || kv->sealed_bare ||
	       (kv->db.space.tight && kv->active.n);
}

struct direct {
	struct kv *kv;
	int (*fn)(struct lmdb *db, MDB_txn *txn, void *arg);
	void *arg;
};

static int direct_run(MDB_txn *txn, void *arg)
{
	struct direct *d = arg;

	return d->fn(&d->kv->db, txn, d->arg);
}

int kv_direct(struct kv *kv, int (*fn)(struct lmdb *db, MDB_txn *txn, void *arg), void *arg)
{
	struct direct d = { kv, fn, arg };

	return kv_clean(kv) ? lmdb_write(&kv->db, direct_run, &d) : -EBUSY;
}

int kv_walk_begin(struct kv *kv, struct lmdb_walk *walk)
{
	return lmdb_walk_begin(walk, &kv->db);
}

bool kv_walk_newest(const struct kv *kv, const struct lmdb_walk *walk)
{
	return kv_clean(kv) && lmdb_walk_newest(walk);
}
