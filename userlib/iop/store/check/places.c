// SPDX-License-Identifier: LGPL-2.1-or-later
/* The disk's space: extents sorted by place, how many objects have a place, and what is free, compared with what is recorded. */
#include <errno.h>
#include <inttypes.h>
#include "iop/store/check/check.h"

static int found_compare(const struct found *x, const struct found *y)
{
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void found_swap(struct found *found, size_t i, size_t j)
{
	const struct found tmp = found[i];

	found[i] = found[j];
	found[j] = tmp;
}

/* Heap sort, since each step of it takes little. */
static void found_rise(struct found *found, size_t i)
{
	for (; i && found_compare(&found[i], &found[(i - 1) / 2]) > 0; i = (i - 1) / 2)
		found_swap(found, i, (i - 1) / 2);
}

static void found_sink(struct found *found, size_t n)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && found_compare(&found[child + 1], &found[child]) > 0)
			child++;
		if (found_compare(&found[i], &found[child]) >= 0)
			return;
		found_swap(found, i, child);
		i = child;
	}
}

int check_place(struct store_check *check, const struct found *found)
{
	if (check_grow((void **)&check->found, &check->cap_found, check->nfound,
		       sizeof(*check->found)))
		return -ENOMEM;
	check->found[check->nfound++] = *found;
	found_rise(check->found, check->nfound - 1);
	return 0;
}

int check_sort_begin(struct store_check *check)
{
	const struct lost_gap *last = check->ngaps ? &check->gaps[check->ngaps - 1] : NULL;

	if (last && last->open &&
	    check_note_hit(check, last->after.count ? last->after.id : 0, UINT64_MAX))
		return -ENOMEM;
	check->unsorted = check->nfound;
	return PASS_OVER;
}

int check_sort_one(struct store_check *check)
{
	if (check->unsorted < 2)
		return PASS_OVER;
	found_swap(check->found, 0, --check->unsorted);
	found_sink(check->found, check->unsorted);
	return 0;
}

/* Blocks of two extents may be the same ones: where anything is shared, that is what overlaps. */
static bool may_share(const struct store_check *check, const struct found *a, const struct found *b)
{
	return check->sharing && a->bs == b->bs && !((b->start - a->start) % a->bs);
}

/* Two extents overlap that may: all before @ext that reach behind its begin do so from there on. */
static int count_owner(struct store_check *check, struct found *ext)
{
	const struct found *last = check->last;
	uint64_t end = last->start + last->len, len = end - ext->start;

	if (len >= ext->len)
		len = ext->len;
	else
		check->last = ext;
	return shares_add(&check->owners, ext->start, len, 1);
}

/* Of two extents that overlap, drops that of the younger object, unless they share what they have. */
int check_overlap(struct store_check *check)
{
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));
	struct found *last = check->last, *ext, *loser;

	if (check->at == check->nfound)
		return PASS_OVER;
	ext = &check->found[check->at++];
	if (!last || last->start + last->len <= ext->start) {
		check->last = ext;
		return 0;
	}
	if (may_share(check, last, ext))
		return count_owner(check, ext);
	check_report(check,
		     "block %" PRIu64 " of object %" PRIu64 " and block %" PRIu64
		     " of object %" PRIu64 " lie at the same place, byte %" PRIu64,
		     last->block, last->id, ext->block, ext->id, ext->start);
	loser = ext->id >= last->id ? ext : last;
	loser->dropped = true;
	if (loser == last)
		check->last = ext;
	rec_extent_key(key, loser->id, loser->block);
	if (check_note_bad(check, STORE_EXTENTS, &k) || check_note_hit(check, loser->id, loser->id))
		return -ENOMEM;
	if (check->repair == STORE_DROP)
		return 0;
	check_lose(check_last_bad(check), loser->id, loser->block);
	check->kept++;
	return 0;
}

int check_shared(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_shared rec;
	int err = rec_shared_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	check->sharing = true;
	if (!err && (rec.start < check->said_end || rec.start > check->store->size ||
		     rec.len > check->store->size - rec.start))
		err = -EUCLEAN;
	if (!err) {
		check->said_end = rec.start + rec.len;
		return shares_add(&check->said, rec.start, rec.len, rec.more);
	}
	check_report(check,
		     "a record of how many objects have a place is damaged, that of byte %" PRIu64,
		     rec.start);
	check->count_bad = true;
	return check_note_bad(check, STORE_SHARED, key);
}

static int note_fix(struct place_fixes *fixes, uint64_t start, uint64_t len, uint64_t more)
{
	if (check_grow((void **)&fixes->v, &fixes->cap, fixes->n, sizeof(*fixes->v)))
		return -ENOMEM;
	fixes->v[fixes->n++] = (struct place_fix){ start, len, more };
	return 0;
}

/* Compares how many owners a place has with how many are recorded.  Those that are lost may have been owners, too. */
int check_owners(struct store_check *check)
{
	uint64_t len = UINT64_MAX, more = shares_at(&check->owners, check->at, &len), said;

	if (check->at >= check->store->size)
		return PASS_OVER;
	said = shares_at(&check->said, check->at, &len);
	if (len > check->store->size - check->at)
		len = check->store->size - check->at;
	if (check->kept && said > more) {
		int ret = shares_add(&check->owners, check->at, len, said - more);

		check->at += len;
		return ret;
	}
	check->at += len;
	if (more == said)
		return 0;
	check_report(check,
		     "%" PRIu64 " bytes at %" PRIu64 " have %" PRIu64 " owners, but %" PRIu64
		     " are recorded",
		     len, check->at - len, more + 1, said + 1);
	return note_fix(&check->counts, check->at - len, len, more);
}

int check_free(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_free rec;
	int err = rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (!err)
		err = ranges_add(&check->recorded, rec.start, rec.len);
	if (!err || err == -ENOMEM)
		return err;
	check_report(check, "the record of free space at byte %" PRIu64 " is damaged", rec.start);
	return check_note_bad(check, STORE_FREE, key);
}

/* Looks at a piece of [@check->behind, @end), which nobody has. */
static int compare_free(struct store_check *check, uint64_t end)
{
	uint64_t start = check->behind, len = end - start;
	const struct range_node *range = ranges_find(&check->recorded, start);
	bool recorded = range && range->start <= start;

	if (recorded && len > range->start + range->len - start)
		len = range->start + range->len - start;
	else if (range && !recorded && len > range->start - start)
		len = range->start - start;
	check->behind += len;
	check->result.free_bytes += len;
	if (recorded)
		return ranges_remove(&check->recorded, start, len);
	/* What was lost had its space somewhere. */
	if (check->kept)
		return 0;
	check_report(check, "%" PRIu64 " bytes at %" PRIu64 " are free, but not recorded so", len,
		     start);
	return note_fix(&check->to_free, start, len, 0);
}

/* Looks at the space in front of an extent, at last of the disk's end. */
int check_gap(struct store_check *check)
{
	static const struct found none;
	const struct found *ext = &none;
	uint64_t end = check->store->size;

	if (check->at > check->nfound)
		return PASS_OVER;
	if (check->at < check->nfound) {
		ext = &check->found[check->at];
		end = ext->start;
	}
	if (!ext->dropped && end > check->behind)
		return compare_free(check, end);
	check->at++;
	if (!ext->dropped && check->behind < ext->start + ext->len)
		check->behind = ext->start + ext->len;
	return 0;
}

/* Memory gives none of it away from now on; what it has given away is told the objects at the end. */
static int hold_back(struct store_check *check, uint64_t start, uint64_t len)
{
	struct ranges *free = &check->store->free;
	int ret = 0;

	if (!check->repair)
		return 0;
	if (!ranges_contain(free, start, len))
		ret = ranges_add(&check->taken, start, len);
	store_moves_lose(check->store, start, len);
	return ret ? ret : ranges_remove(free, start, len);
}

int check_rest(struct store_check *check)
{
	const struct range_node *rest = ranges_find(&check->recorded, check->at);
	int ret;

	if (!rest)
		return PASS_OVER;
	check_report(check, "%" PRIu64 " bytes at %" PRIu64 " are recorded as free, but are not",
		     rest->len, rest->start);
	check->at = rest->start + rest->len;
	ret = note_fix(&check->not_free, rest->start, rest->len, 0);
	return ret ? ret : hold_back(check, rest->start, rest->len);
}
