// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a repair writes of what a check has found: some of it in each turn, in a transaction.  Each of these leaves records
 * that a crash may leave, too: nothing is worse than before, and the next check finds the rest.  Therefore objects are
 * marked as having lost something before that which damaged it goes, and space becomes free last.  The repair ends
 * if anything else has been committed, or is to be: then what was found may not be so any more.
 */
#include <errno.h>
#include <string.h>
#include "iop/store/check/check.h"

/* Returns true if there is an extent that can be read; *@rec. */
static bool extent_at(struct store_check *check, MDB_txn *txn, MDB_val k, struct rec_extent *rec)
{
	MDB_val v;

	return !mdb_get(txn, check->store->db.dbi[STORE_EXTENTS], &k, &v) &&
	       !rec_extent_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, rec);
}

static int put_lost(struct store_check *check, MDB_txn *txn, uint64_t id, uint64_t block)
{
	struct bad_key lost;
	MDB_val k = lmdb_val(lost.fixed, sizeof(lost.fixed));
	MDB_val v = lmdb_val(lost.value, REC_EXTENT_LEN);
	struct rec_extent rec;

	check_lose(&lost, id, block);
	if (extent_at(check, txn, k, &rec))
		return 0;
	return mdb_put(txn, check->store->db.dbi[STORE_EXTENTS], &k, &v, 0);
}

/* The object @id lies within the gap: what is lost may have been its own. */
static int lost_of(struct store_check *check, MDB_txn *txn, const struct lost_gap *gap, uint64_t id)
{
	if (gap->after.count && gap->after.id == id)
		return put_lost(check, txn, id, gap->after.block + gap->after.count);
	/* It begins with its first block: nothing was in front of that. */
	if (gap->before.count && gap->before.id == id && !gap->before.block)
		return 0;
	return put_lost(check, txn, id, 0);
}

/* In an order in which whatever is not marked yet stays within a gap: see gaps.c. */
static int mend_mark(struct store_check *check, MDB_txn *txn, size_t i)
{
	const struct gap_mark *mark = &check->marks[i];

	if (check->heads || check->repair == STORE_DROP)
		return 0;
	return lost_of(check, txn, &check->gaps[mark->gap], mark->id);
}

/* If records of objects are gone, too, nobody can say whose an extent was: all around it stay refused. */
static bool nameless(const struct store_check *check, const struct bad_key *bad)
{
	return check->heads && check->repair != STORE_DROP && bad->db == STORE_EXTENTS &&
	       !bad->value_len;
}

static int mend_record(struct store_check *check, MDB_txn *txn, size_t i)
{
	const struct bad_key *bad = &check->bad[i];
	struct lmdb *db = &check->store->db;
	MDB_val k = lmdb_val(bad->key, bad->len), v = lmdb_val(bad->value, bad->value_len);
	struct rec_extent rec;
	int ret;

	if (nameless(check, bad))
		return 0;
	/* A mark stands there already. */
	if (bad->db == STORE_EXTENTS && check->repair != STORE_DROP && !bad->value_len &&
	    extent_at(check, txn, k, &rec) && rec.lost)
		return 0;
	ret = mdb_del(txn, db->dbi[bad->db], &k, NULL);
	if (ret && ret != MDB_NOTFOUND)
		return ret;
	k = lmdb_val(bad->fixed, bad->fixed_len);
	return bad->value_len ? mdb_put(txn, db->dbi[bad->db], &k, &v, 0) : 0;
}

static int mend_not_free(struct store_check *check, MDB_txn *txn, size_t i)
{
	const struct place_fix *fix = &check->not_free.v[i];

	return store_drop_free(check->store, txn, fix->start, fix->len);
}

static int mend_count(struct store_check *check, MDB_txn *txn, size_t i)
{
	const struct place_fix *fix = &check->counts.v[i];

	return store_set_shared(check->store, txn, fix->start, fix->len, fix->more);
}

static int mend_to_free(struct store_check *check, MDB_txn *txn, size_t i)
{
	const struct place_fix *fix = &check->to_free.v[i];

	return store_put_free(check->store, txn, fix->start, fix->len);
}

static int mend_label(struct store_check *check, MDB_txn *txn, size_t i)
{
	(void)i;
	return store_put_label(check->store, txn, 0);
}

/* What is written, in this order. */
enum { MEND_MARKS, MEND_BAD, MEND_NOT_FREE, MEND_COUNTS, MEND_TO_FREE, MEND_LABEL, NR_MEND };

static int (*const mends[NR_MEND])(struct store_check *check, MDB_txn *txn, size_t i) = {
	[MEND_MARKS] = mend_mark,   [MEND_BAD] = mend_record,	   [MEND_NOT_FREE] = mend_not_free,
	[MEND_COUNTS] = mend_count, [MEND_TO_FREE] = mend_to_free, [MEND_LABEL] = mend_label,
};

/* Finds the fix number *@i of all: it becomes the number among its kind, which is returned; NR_MEND: there is none. */
static int place_in_line(const struct store_check *check, size_t *i)
{
	const size_t nr[NR_MEND] = {
		[MEND_MARKS] = check->nmarks,	     [MEND_BAD] = check->nbad,
		[MEND_NOT_FREE] = check->not_free.n, [MEND_COUNTS] = check->counts.n,
		[MEND_TO_FREE] = check->to_free.n,   [MEND_LABEL] = 1,
	};
	int kind;

	for (kind = 0; kind < NR_MEND && *i >= nr[kind]; kind++)
		*i -= nr[kind];
	return kind;
}

static uint64_t at_a_time(const struct store_check *check)
{
	return check->store->bounds->at[BOUND_FIXES].limit;
}

static int mend(MDB_txn *txn, void *arg)
{
	struct store_check *check = arg;
	uint64_t n;
	size_t i;
	int kind, ret = 0;

	for (n = 0; n < at_a_time(check) && !ret; n++) {
		i = check->fixed + n;
		kind = place_in_line(check, &i);
		if (kind == NR_MEND)
			break;
		ret = mends[kind](check, txn, i);
	}
	return ret;
}

static bool is_hit(const struct store_check *check, const struct object *obj)
{
	return check->taken.n || obj->refused || obj->damaged ||
	       ranges_contain(&check->hit, obj->ref.id, 1);
}

/* Brings objects in memory in line with their records, which come before space becomes free that they had. */
static int refresh(struct store_check *check)
{
	struct store *store = check->store;
	struct ddio_hash_walk walk;
	struct object *obj;
	int ret = 0;

	if (check->refreshed)
		return 0;
	check->refreshed = true;
	store_fetch_again(store);
	store->idle_extents = 0;
	ddio_hash_for_each(obj, &walk, &store->hash, node) {
		if (!ret && is_hit(check, obj))
			ret = object_reload(obj, &check->taken);
		store->idle_extents += obj->idle ? obj->map.n : 0;
	}
	return ret ? ret : store_count(store);
}

/* What is neither free in memory nor held there becomes free. */
static int set_free(struct store *store, const struct ranges *held, uint64_t start, uint64_t len)
{
	const struct range_node *free, *other;
	uint64_t end = start + len, to;
	int ret = 0;

	for (; start < end && !ret; start = to) {
		free = ranges_find(&store->free, start);
		other = ranges_find(held, start);
		if (!free || (other && other->start < free->start))
			free = other;
		to = free && free->start < end ? free->start : end;
		if (to > start)
			ret = ranges_add(&store->free, start, to - start);
		else
			to = free->start + free->len;
	}
	return ret;
}

/* Space that was recorded as free can be given away. */
static int mended_free(struct store_check *check, size_t first, size_t end)
{
	struct ranges held;
	size_t i;
	int ret = refresh(check);

	ranges_init(&held);
	if (!ret)
		ret = store_held(check->store, &held);
	for (i = first; i < end && !ret; i++)
		ret = set_free(check->store, &held, check->to_free.v[i].start,
			       check->to_free.v[i].len);
	ranges_fini(&held);
	return ret;
}

/* Goes past what a transaction has written.  Returns 1 if there is more, 0 or -ENOMEM. */
static int mended(struct store_check *check)
{
	size_t i, first = SIZE_MAX, end = 0, n;
	int kind = 0, ret = 0;

	for (n = 0; n < at_a_time(check) && kind < NR_MEND; n++) {
		i = check->fixed;
		kind = place_in_line(check, &i);
		check->fixed += kind < NR_MEND;
		if (kind != MEND_TO_FREE)
			continue;
		first = first < i ? first : i;
		end = i + 1;
	}
	bound_seen(&check->store->bounds->at[BOUND_FIXES], n);
	if (end)
		ret = mended_free(check, first, end);
	i = check->fixed;
	return ret ? ret : place_in_line(check, &i) < NR_MEND;
}

static uint64_t last_txn(const struct store_check *check)
{
	MDB_envinfo info;

	return mdb_env_info(check->store->db.env, &info) ? 0 : info.me_last_txnid;
}

int check_mend_some(struct store_check *check)
{
	int ret;

	if (store_dirty(check->store) || last_txn(check) != check->txn)
		return -EBUSY;
	ret = lmdb_write(&check->store->db, mend, check);
	if (ret)
		return ret;
	check->txn = last_txn(check);
	ret = mended(check);
	check->store->bounds->at[BOUND_FIXES].hits += ret > 0;
	return ret;
}

/* Owners are counted in memory as they will be in the records.  A removed object in use has owners that no record knows. */
static int count_anew(struct store_check *check)
{
	struct store *store = check->store;
	struct ddio_hash_walk walk;
	struct object *obj;

	ddio_hash_for_each(obj, &walk, &store->hash, node)
		if (obj->removed)
			return -EBUSY;
	shares_fini(&store->shares);
	store->shares = check->owners;
	shares_init(&check->owners);
	return 0;
}

int check_mend_begin(struct store_check *check)
{
	int ret = 0;

	if (store_dirty(check->store) || !lmdb_walk_newest(&check->walk))
		return -EBUSY;
	if (check->counts.n || check->count_bad)
		ret = count_anew(check);
	if (ret)
		return ret;
	check->txn = mdb_txn_id(check->walk.txn);
	/* What it reads could not be used again as long as the walk lasts. */
	lmdb_walk_stop(&check->walk);
	check->mending = true;
	return 0;
}

int check_mend_end(struct store_check *check)
{
	uint64_t most = check->result.problems - check->kept;

	check->result.repaired = check->fixed < most && check->err ? check->fixed : most;
	return refresh(check);
}
