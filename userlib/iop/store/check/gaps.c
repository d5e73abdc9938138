// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Objects within gaps: extents between two others cannot be read, and may have been of any object whose number lies between
 * those of the two.  A repair marks each of them as having lost something, a few in a transaction, and then deletes what cannot be
 * read.  A check that comes when some are marked sees the marks as extents that can be read, and takes the gap for a smaller one.
 * So marks come from both ends towards the first record that cannot be read: whatever is not marked yet lies between
 * the marks nearest to it.  One that takes the place of that record comes last.
 */
#include "iop/store/check/check.h"

/* Finds the first object from @*id on that lies within the gap: 0, -ENOENT. */
static int object_within(struct store_check *check, const struct lost_gap *gap, uint64_t *id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret = mdb_cursor_open(check->walk.txn, check->store->db.dbi[STORE_OBJECTS], &cursor);

	if (ret)
		return lmdb_errno(ret);
	if (gap->after.count && *id < gap->after.id)
		*id = gap->after.id;
	rec_key(key, *id);
	ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	while (!ret && !rec_key_get(k.mv_data, k.mv_size, id))
		ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
	mdb_cursor_close(cursor);
	if (!ret && gap->before.count && *id > gap->before.id)
		ret = MDB_NOTFOUND;
	return lmdb_errno(ret);
}

/* The marks of a gap, by number so far: those behind the first record that cannot be read from the last one on. */
static void order(const struct store_check *check)
{
	const struct lost_gap *gap = &check->gaps[check->gap_at];
	struct gap_mark *lo, *hi, mark;
	size_t first = check->nmarks;

	while (first && check->marks[first - 1].gap == check->gap_at &&
	       check->marks[first - 1].id >= gap->bad)
		first--;
	if (first == check->nmarks)
		return;
	for (lo = &check->marks[first], hi = &check->marks[check->nmarks - 1]; lo < hi;
	     lo++, hi--) {
		mark = *lo;
		*lo = *hi;
		*hi = mark;
	}
}

static void next_gap(struct store_check *check)
{
	order(check);
	check->gap_at++;
	check->at = 0;
}

int check_gaps(struct store_check *check)
{
	uint64_t id = check->at;
	int ret;

	if (check->repair != STORE_REPAIR || check->gap_at == check->ngaps)
		return PASS_OVER;
	ret = object_within(check, &check->gaps[check->gap_at], &id);
	if (ret && ret != -ENOENT)
		return ret;
	if (ret) {
		next_gap(check);
		return 0;
	}
	if (check_grow((void **)&check->marks, &check->cap_marks, check->nmarks,
		       sizeof(*check->marks)))
		return -ENOMEM;
	check->marks[check->nmarks++] = (struct gap_mark){ .gap = check->gap_at, .id = id };
	check->at = id + 1;
	if (!check->at)
		next_gap(check);
	return 0;
}
