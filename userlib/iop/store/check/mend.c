// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a repair writes, in one transaction, of what a check has found. */
#include <errno.h>
#include <string.h>
#include "iop/store/check/check.h"

/* Records space that no extent has: what was lost may have been there, unless it was recorded as free before. */
static int write_gap(struct store_check *check, MDB_txn *txn, uint64_t start, uint64_t end)
{
	const struct range_node *range;
	uint64_t from, to;
	int ret = 0;

	if (!check->kept)
		return store_put_free(check->store, txn, start, end - start);
	for (range = ranges_find(&check->known, start); range && range->start < end && !ret;
	     range = ranges_find(&check->known, to)) {
		from = range->start > start ? range->start : start;
		to = range->start + range->len < end ? range->start + range->len : end;
		ret = store_put_free(check->store, txn, from, to - from);
		if (to == end)
			break;
	}
	return ret;
}

/* Records the space that no extent has. */
static int write_free(struct store_check *check, MDB_txn *txn)
{
	uint64_t at = LABEL_SPACE;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nfound && !ret; i++) {
		const struct found *ext = &check->found[i];

		if (ext->dropped)
			continue;
		if (ext->start > at)
			ret = write_gap(check, txn, at, ext->start);
		if (at < ext->start + ext->len)
			at = ext->start + ext->len;
	}
	if (!ret && at < check->store->size)
		ret = write_gap(check, txn, at, check->store->size);
	return ret;
}

/* Records how many owners places have. */
static int write_owners(struct store_check *check, MDB_txn *txn)
{
	const struct share_node *node = shares_find(&check->owners, 0);
	int ret = mdb_drop(txn, check->store->db.dbi[STORE_SHARED], 0);

	for (; node && !ret;
	     node = shares_find(&check->owners, node->range.start + node->range.len))
		ret = store_put_shared(check->store, txn, node->range.start, node->range.len,
				       node->more);
	return ret;
}

static int put_lost(struct store_check *check, MDB_txn *txn, uint64_t id, uint64_t block)
{
	struct bad_key lost;
	MDB_val k = lmdb_val(lost.fixed, sizeof(lost.fixed));
	MDB_val v = lmdb_val(lost.value, REC_EXTENT_LEN);
	int ret;

	check_lose(&lost, id, block);
	ret = mdb_put(txn, check->store->db.dbi[STORE_EXTENTS], &k, &v, MDB_NOOVERWRITE);
	return ret == MDB_KEYEXIST ? 0 : ret;
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

static int mend_gap(struct store_check *check, MDB_txn *txn, const struct lost_gap *gap)
{
	uint64_t first = gap->after.count ? gap->after.id : 0, id;
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret = mdb_cursor_open(txn, check->store->db.dbi[STORE_OBJECTS], &cursor);

	if (ret)
		return ret;
	rec_key(key, first);
	for (ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE); !ret;
	     ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		if (!rec_key_get(k.mv_data, k.mv_size, &id))
			continue;
		if (gap->before.count && id > gap->before.id)
			break;
		ret = lost_of(check, txn, gap, id);
		if (ret)
			break;
	}
	mdb_cursor_close(cursor);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

/* If records of objects are gone, too, nobody can say whose an extent was: all around it stay refused. */
static bool nameless(const struct store_check *check, const struct bad_key *bad)
{
	return check->heads && check->repair != STORE_DROP && bad->db == STORE_EXTENTS &&
	       !bad->value_len;
}

static int mend_record(struct store_check *check, MDB_txn *txn, const struct bad_key *bad)
{
	struct lmdb *db = &check->store->db;
	MDB_val k = lmdb_val(bad->key, bad->len), v = lmdb_val(bad->value, bad->value_len);
	int ret;

	if (nameless(check, bad))
		return 0;
	ret = mdb_del(txn, db->dbi[bad->db], &k, NULL);
	if (ret && ret != MDB_NOTFOUND)
		return ret;
	k = lmdb_val(bad->fixed, bad->fixed_len);
	return bad->value_len ? mdb_put(txn, db->dbi[bad->db], &k, &v, 0) : 0;
}

static int mend(MDB_txn *txn, void *arg)
{
	struct store_check *check = arg;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nbad && !ret; i++)
		ret = mend_record(check, txn, &check->bad[i]);
	for (i = 0; i < check->ngaps && !ret && !check->heads && check->repair != STORE_DROP; i++)
		ret = mend_gap(check, txn, &check->gaps[i]);
	if (!ret)
		ret = write_owners(check, txn);
	if (!ret)
		ret = mdb_drop(txn, check->store->db.dbi[STORE_FREE], 0);
	if (!ret)
		ret = write_free(check, txn);
	return ret ? ret : store_put_label(check->store, txn, 0);
}

/* Brings memory in line with the repaired records. */
static int refresh(struct store *store)
{
	struct ddio_hash_walk walk;
	struct object *obj;
	int ret;

	ret = store_load_free(store);
	if (!ret)
		ret = store_load_shares(store);
	store_fetch_again(store);
	store->idle_extents = 0;
	ddio_hash_for_each(obj, &walk, &store->hash, node) {
		if (!ret)
			ret = object_reload(obj);
		store->idle_extents += obj->idle ? obj->map.n : 0;
	}
	return ret ? ret : store_count(store);
}

int check_mend(struct store_check *check)
{
	int ret;

	if (store_dirty(check->store) || !lmdb_walk_newest(&check->walk))
		return -EBUSY;
	ret = lmdb_write(&check->store->db, mend, check);
	if (!ret)
		check->result.repaired = check->result.problems - check->kept;
	return ret ? ret : refresh(check->store);
}
