// SPDX-License-Identifier: LGPL-2.1-or-later
/* The record store: opens it, reads and changes records. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "iop/kv/priv.h"
#include "iop/lmdb/room.h"

struct replay {
	struct kv *kv;
	struct kv_map map;
};

static int replay_write(MDB_txn *txn, void *arg)
{
	struct replay *replay = arg;

	return kv_write(replay->kv, txn, &replay->map, replay->kv->journal.seq);
}

/* Unknown databases would be another version's. */
static int replay_check(const struct kv_map *map, uint8_t ndbs)
{
	const struct kv_node *node;

	for (node = map->head[0]; node; node = node->next[0])
		if (node->db >= ndbs)
			return -EUCLEAN;
	return 0;
}

/* Says what was not replayed; what may be more than the end of the last write is kept. */
static int replay_rest(struct kv *kv)
{
	struct kv_journal *j = &kv->journal;
	uint64_t seq = j->seq;
	int ret;

	kv->found = j->durable > seq ? KV_DAMAGED : j->beyond ? KV_TORN : KV_WHOLE;
	if (kv->found == KV_WHOLE && !j->torn)
		return 0;
	if (kv->found == KV_WHOLE) {
		ddio_env_log(kv->env, DDIO_LOG_INFO,
			     "%s: the journal ends with %" PRIu64
			     " bytes of a change that was never answered: dropped",
			     kv->db.dir, j->torn);
		return 0;
	}
	ddio_env_log(kv->env, DDIO_LOG_ERR,
		     "%s: the journal is damaged behind change %" PRIu64 ": %" PRIu64
		     " later changes are lost%s; it is kept in journal.*.damaged; run 'ddio fsck'",
		     kv->db.dir, seq, j->beyond,
		     kv->found == KV_DAMAGED ? ", and some of them were durable"
					     : ", unless the machine has just lost its power");
	kv->lost = true;
	ret = kv_journal_set_aside(j, kv->db.dir);
	j->seq = seq;
	return ret;
}

static int kv_replay(struct kv *kv, bool sync)
{
	struct replay replay = { .kv = kv };
	int i, ret;

	kv_map_init(&replay.map);
	ret = kv_journal_replay(&kv->journal, kv->committed, &replay.map);
	if (!ret)
		ret = replay_check(&replay.map, kv->own);
	if (!ret && replay.map.n) {
		ret = lmdb_write(&kv->db, replay_write, &replay);
		if (lmdb_no_room(ret))
			ret = kv_write_parts(kv, &replay.map, kv->journal.seq);
		if (!ret)
			kv->committed = kv->journal.seq;
	}
	kv_map_clear(&replay.map);
	if (!ret)
		ret = replay_rest(kv);
	for (i = 0; i < 2 && !ret; i++)
		ret = kv_journal_empty(&kv->journal, i);
	if (ret || !sync)
		return ret;
	/* Numbers after a gap are used again: the old records must not come back after a crash. */
	ret = kv_journal_sync(&kv->journal, kv->env);
	return ret ? ret : lmdb_sync_dir(&kv->db);
}

/*
 * Which changes are in LMDB is not known.  The journals may be older than LMDB, since emptying them is not flushed, and
 * to write their changes again would undo younger ones.  So they are kept, but not replayed, and numbers start afresh.
 */
static int kv_renumber(struct kv *kv, bool sync)
{
	struct replay replay = { .kv = kv };
	int ret;

	ddio_env_log(
		kv->env, DDIO_LOG_ERR,
		"%s: which changes of the journals are in the records is not known any more: those "
		"of the last second may be lost; the journals are kept in "
		"journal.*.damaged; run 'ddio fsck'",
		kv->db.dir);
	ret = kv_journal_set_aside(&kv->journal, kv->db.dir);
	if (ret)
		return ret;
	kv_map_init(&replay.map);
	kv->journal.seq = 0;
	ret = lmdb_write(&kv->db, replay_write, &replay);
	return ret || !sync ? ret : lmdb_sync_dir(&kv->db);
}

static int kv_start(struct kv *kv, const struct kv_opts *opts, char *err, size_t err_len)
{
	const char *dir = opts->dir;
	int ret = kv_journal_open(&kv->journal, dir);

	if (ret) {
		snprintf(err, err_len, "%s: cannot open the journals: %s", dir, strerror(-ret));
		return ret;
	}
	ret = kv->unnumbered ? kv_renumber(kv, opts->sync) : kv_read_committed(kv);
	if (!ret)
		ret = kv_replay(kv, opts->sync);
	if (ret) {
		snprintf(err, err_len, "%s: cannot replay the journals: %s", dir, strerror(-ret));
		kv_journal_close(&kv->journal);
	}
	return ret;
}

static void commit_timer(void *arg)
{
	kv_commit(arg, NULL);
}

static bool intact(const void *arg, const char *db, const MDB_val *key, const MDB_val *value)
{
	const struct kv_opts *opts = arg;

	if (!strcmp(db, KV_OWN_DB))
		return kv_own_intact(key, value);
	return !opts->intact || opts->intact(db, key, value);
}

static int kv_open_db(struct kv *kv, const struct kv_opts *opts, char *err, size_t err_len)
{
	struct lmdb_opts lmdb = { .dir = opts->dir,
				  .map = opts->map,
				  .sync = opts->sync,
				  .intact = intact,
				  .arg = opts };
	int ret;

	for (kv->own = 0; opts->dbs[kv->own]; kv->own++)
		lmdb.dbs[kv->own] = opts->dbs[kv->own];
	lmdb.dbs[kv->own] = KV_OWN_DB;
	ret = lmdb_open(&kv->db, &lmdb, err, err_len);
	if (ret)
		return ret;
	lmdb_room_begin(&kv->db, opts->reserve);
	if (!kv->db.records.damaged)
		return 0;
	ret = opts->repair ? kv_drop_damaged(kv, opts) : -EUCLEAN;
	if (ret)
		snprintf(
			err, err_len,
			"%s: %" PRIu64
			" records are damaged, the first is: %s; put the directory back from a "
			"backup, or start with --repair, which corrects those of which one bit is wrong and "
			"removes the others, and run 'ddio fsck'",
			opts->dir, kv->db.records.damaged, kv->db.records.first);
	if (ret)
		lmdb_close(&kv->db);
	return ret;
}

int kv_open(struct ddio_env *env, const struct kv_opts *opts, struct kv **result, char *err,
	    size_t err_len)
{
	struct kv *kv = calloc(1, sizeof(*kv));
	int ret;

	*result = NULL;
	if (!kv) {
		snprintf(err, err_len, "out of memory");
		return -ENOMEM;
	}
	kv->env = env;
	kv->timer.fn = commit_timer;
	kv->timer.arg = kv;
	kv_map_init(&kv->change);
	kv_map_init(&kv->active);
	kv_map_init(&kv->sealed);
	ret = kv_open_db(kv, opts, err, err_len);
	if (ret)
		goto free_kv;
	ret = kv_start(kv, opts, err, err_len);
	if (ret)
		goto close_db;
	committer_init(&kv->committer, env, &kv->db, NULL, &kv_committer_ops, kv);
	kv_flush_init(kv, opts->sync);
	*result = kv;
	return 0;

close_db:
	lmdb_close(&kv->db);
free_kv:
	free(kv);
	return ret;
}

enum kv_found kv_found(const struct kv *kv)
{
	return kv->found;
}

bool kv_lost(const struct kv *kv)
{
	return kv->lost;
}

uint64_t kv_changes(const struct kv *kv)
{
	return kv->journal.seq;
}

void kv_close(struct kv *kv)
{
	if (!kv)
		return;
	ddio_timer_cancel(kv->env, &kv->timer);
	if (bug_on(kv->committer.active || kv->flush.active, "%s: closed during a commit",
		   kv->db.dir))
		return;
	kv_map_clear(&kv->change);
	kv_map_clear(&kv->active);
	kv_map_clear(&kv->sealed);
	kv_journal_close(&kv->journal);
	lmdb_close(&kv->db);
	free(kv->buf);
	free(kv);
}

int kv_get(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
	   size_t *len)
{
	const struct kv_map *layers[] = { &kv->change, &kv->active, &kv->sealed };
	const struct kv_node *node;
	size_t i;

	for (i = 0; i < 3; i++) {
		node = layers[i]->n ? kv_map_find(layers[i], db, key, key_len) : NULL;
		if (!node)
			continue;
		if (!node->value)
			return -ENOENT;
		*value = node->value;
		*len = node->len;
		return 0;
	}
	return kv_get_lmdb(kv, db, key, key_len, value, len);
}

void kv_begin(struct kv *kv)
{
	kv_map_clear(&kv->change);
	kv->changing = true;
	kv->adds = false;
}

static bool key_ok(const struct kv *kv, uint8_t db, size_t key_len)
{
	return kv->changing && db < kv->own && key_len && key_len <= KV_KEY_MAX;
}

int kv_put(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void *value,
	   size_t len)
{
	if (!key_ok(kv, db, key_len) || len > KV_JOURNAL_MAX)
		return -EINVAL;
	return kv_map_set(&kv->change, db, key, key_len, len ? value : "", len);
}

int kv_del(struct kv *kv, uint8_t db, const void *key, size_t key_len)
{
	if (!key_ok(kv, db, key_len))
		return -EINVAL;
	return kv_map_set(&kv->change, db, key, key_len, NULL, 0);
}

void kv_adds(struct kv *kv)
{
	kv->adds = true;
}

/* Without room for a journal, changes are answered when they have been committed, and so are those that follow them. */
static bool in_journal(const struct kv *kv)
{
	return !kv->bare && !kv->sealed_bare;
}

struct lmdb_left kv_left(const struct kv *kv)
{
	return lmdb_left(&kv->db);
}

/* In LMDB's pages, records take up to three times their bytes. */
static bool kv_room(struct kv *kv, uint64_t more)
{
	uint64_t bytes = kv->change.bytes + kv->active.bytes + kv->sealed.bytes;

	return in_journal(kv) && lmdb_room(&kv->db, 3 * bytes + more);
}

/* A change that adds records finds no room.  What waits takes less when it has been committed. */
static int kv_refuse(struct kv *kv)
{
	if (kv->active.n && !kv->committer.active)
		kv_commit(kv, NULL);
	lmdb_room_tell(&kv->db, false, kv->env);
	return -ENOSPC;
}

static int kv_note_addition(struct kv *kv)
{
	int ret;

	if (!kv_room(kv, 0))
		return kv_refuse(kv);
	ret = kv_journal_append(&kv->journal, &kv->change);
	return ret == -EDQUOT || ret == -ENOSPC ? kv_refuse(kv) : ret;
}

/* A change that adds nothing does without a journal if that cannot be written. */
static int kv_note(struct kv *kv)
{
	int ret;

	if (kv->adds)
		return kv_note_addition(kv);
	ret = in_journal(kv) ? kv_journal_append(&kv->journal, &kv->change) : 0;
	if (ret && !lmdb_no_room(ret))
		return ret;
	if (ret || !in_journal(kv))
		kv->bare = true;
	return 0;
}

int kv_end(struct kv *kv)
{
	int ret;

	kv->changing = false;
	if (!kv->change.n)
		return 0;
	ret = kv_note(kv);
	if (ret) {
		kv_map_clear(&kv->change);
		return ret;
	}
	kv_map_move(&kv->active, &kv->change);
	/* Whoever changes something waits for a commit before there seems to be no room for what comes next. */
	kv->db.space.tight = !kv_room(kv, KV_NEXT_BYTES);
	kv_changed(kv);
	return 0;
}

void kv_abort(struct kv *kv)
{
	kv->changing = false;
	kv_map_clear(&kv->change);
}
