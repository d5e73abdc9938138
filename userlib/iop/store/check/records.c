// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each record by itself: whether it can be read, and stands where it may.  One of which a single bit is wrong is corrected.  What
 * lies between two extents that can be read is a gap, see gaps.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "iop/store/check/check.h"

int check_pending(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_pending rec;
	struct bad_key *bad;
	int ret = rec_pending_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (ret) {
		check_report(check, "the record of what is pending of file %" PRIu64 " is damaged",
			     rec.id);
		ret = check_note_bad(check, STORE_PENDING, key);
		if (ret)
			return ret;
		bad = check_last_bad(check);
		if (!check_correct(bad, val) ||
		    rec_pending_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec)) {
			bad->value_len = 0;
			check_leave(check);
			return 0;
		}
	}
	if (check_grow((void **)&check->shadows, &check->cap_shadows, check->nshadows,
		       sizeof(*check->shadows)))
		return -ENOMEM;
	check->shadows[check->nshadows++] = rec.shadow;
	return 0;
}

static bool is_pending(const struct store_check *check, uint64_t id)
{
	size_t i;

	for (i = 0; i < check->nshadows; i++)
		if (check->shadows[i] == id)
			return true;
	return false;
}

/* Nobody knows whose its blocks are. */
static int shadow_lost(struct store_check *check, const MDB_val *key, uint64_t id)
{
	int ret;

	check_report(check, "object %" PRIu64 " is pending, but of no file", id);
	ret = check_note_bad(check, STORE_OBJECTS, key);
	if (ret)
		return ret;
	check_leave(check);
	return check_note_hit(check, id, id);
}

int check_object(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_object rec;
	struct bad_key *bad;
	int ret;

	ret = rec_object_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && rec.block < check->store->sector)
		ret = -EUCLEAN;
	if (!ret && rec.id & REC_SHADOW && !is_pending(check, rec.id))
		return shadow_lost(check, key, rec.id);
	if (!ret) {
		check->result.objects++;
		return 0;
	}
	check_report(check, "the record of object %" PRIu64 " is damaged", rec.id);
	ret = check_note_bad(check, STORE_OBJECTS, key);
	if (ret)
		return ret;
	bad = check_last_bad(check);
	if (check_correct(bad, val) &&
	    !rec_object_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec))
		return 0;
	bad->value_len = 0;
	check->heads++;
	check_leave(check);
	return check_note_hit(check, rec.id, rec.id);
}

/* The block size in a record that is going to be corrected. */
static uint32_t corrected_size(const struct store_check *check, uint64_t id)
{
	struct rec_object rec;
	size_t i;

	for (i = 0; i < check->nbad; i++) {
		const struct bad_key *bad = &check->bad[i];

		if (bad->db == STORE_OBJECTS && bad->value_len &&
		    !rec_object_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec) &&
		    rec.id == id)
			return rec.block < check->store->sector ? 0 : rec.block;
	}
	return 0;
}

/* Returns the block size of object @id; 0: there is no such object. */
static uint32_t block_size(struct store_check *check, uint64_t id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_object rec;

	rec_key(key, id);
	if (mdb_get(check->walk.txn, check->store->db.dbi[STORE_OBJECTS], &k, &v))
		return corrected_size(check, id);
	if (rec_object_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec))
		return corrected_size(check, id);
	return rec.block < check->store->sector ? 0 : rec.block;
}

/* Returns what is wrong with an extent, or NULL. */
static const char *extent_fault(struct store_check *check, const struct rec_extent *rec,
				uint32_t bs)
{
	if (!bs)
		return "belongs to no object";
	if (!rec_extent_within(rec, bs, check->store->size))
		return "lies outside the disk";
	if (rec->start % check->store->sector)
		return "does not begin at a sector";
	if (check->nfound && check->last_id == rec->id && check->last_end > rec->block)
		return "overlaps the one before it in the object";
	return NULL;
}

/* Notes that what follows the last extent that could be read is lost, up to the next one. */
static int gap_open(struct store_check *check, const MDB_val *key)
{
	uint8_t start[REC_KEY_LEN] = { 0 };
	struct lost_gap *gap;

	if (check->ngaps && check->gaps[check->ngaps - 1].open)
		return 0;
	if (check_grow((void **)&check->gaps, &check->cap_gaps, check->ngaps, sizeof(*check->gaps)))
		return -ENOMEM;
	gap = &check->gaps[check->ngaps++];
	*gap = (struct lost_gap){ .after = check->read, .open = true };
	memcpy(start, key->mv_data, key->mv_size < sizeof(start) ? key->mv_size : sizeof(start));
	rec_key_get(start, sizeof(start), &gap->bad);
	return 0;
}

static int gap_close(struct store_check *check, const struct rec_extent *rec)
{
	struct lost_gap *gap;

	check->read = *rec;
	if (!check->ngaps || !check->gaps[check->ngaps - 1].open)
		return 0;
	gap = &check->gaps[check->ngaps - 1];
	gap->before = *rec;
	gap->open = false;
	return check_note_hit(check, gap->after.count ? gap->after.id : 0, rec->id);
}

static int extent_found(struct store_check *check, const struct rec_extent *rec, uint32_t bs)
{
	const struct found found = {
		.start = rec->start,
		.len = rec->count * bs,
		.id = rec->id,
		.block = rec->block,
		.bs = bs,
	};

	check->last_id = rec->id;
	check->last_end = rec->block + rec->count;
	check->result.blocks += rec->count;
	return check_place(check, &found);
}

/* An extent that can be read, from @key or corrected, but is not as it must be. */
static int extent_wrong(struct store_check *check, const MDB_val *key, const struct rec_extent *rec,
			uint32_t bs, const char *fault)
{
	int ret;

	check_report(check, "the extent at block %" PRIu64 " of object %" PRIu64 " %s", rec->block,
		     rec->id, fault);
	ret = check_note_bad(check, STORE_EXTENTS, key);
	if (ret)
		return ret;
	if (bs && check->repair != STORE_DROP && !rec->lost) {
		check_lose(check_last_bad(check), rec->id, rec->block);
		check->kept++;
	} else {
		check_leave(check);
	}
	return check_note_hit(check, rec->id, rec->id);
}

static int extent_damaged(struct store_check *check, const MDB_val *key, const MDB_val *val,
			  const struct rec_extent *damaged)
{
	struct rec_extent rec;
	struct bad_key *bad;
	uint32_t bs;
	int ret;

	check_report(check, "the extent at block %" PRIu64 " of object %" PRIu64 " is damaged",
		     damaged->block, damaged->id);
	ret = check_note_bad(check, STORE_EXTENTS, key);
	if (ret)
		return ret;
	bad = check_last_bad(check);
	if (check_correct(bad, val) &&
	    !rec_extent_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec)) {
		bs = block_size(check, rec.id);
		ret = gap_close(check, &rec);
		if (!ret && !rec.lost && !extent_fault(check, &rec, bs))
			return extent_found(check, &rec, bs);
		if (ret)
			return ret;
	}
	bad->fixed_len = 0;
	bad->value_len = 0;
	ret = gap_open(check, key);
	check->kept += check->repair != STORE_DROP;
	return ret;
}

int check_extent(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_extent rec;
	const char *fault;
	uint32_t bs;
	int ret;

	if (rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec))
		return extent_damaged(check, key, val, &rec);
	ret = gap_close(check, &rec);
	if (ret)
		return ret;
	bs = block_size(check, rec.id);
	fault = rec.lost ? "is lost, or one after it: restore the file from a backup"
			 : extent_fault(check, &rec, bs);
	return fault ? extent_wrong(check, key, &rec, bs, fault) : extent_found(check, &rec, bs);
}

static int sums_wrong(struct store_check *check, const MDB_val *key, const struct rec_sums *rec,
		      const char *fault)
{
	check_report(check, "the checksums of object %" PRIu64 ", group %" PRIu64 ", %s", rec->id,
		     rec->number, fault);
	/* Nothing is lost with them: blocks without get new ones when they are written, or looked through. */
	return check_note_bad(check, STORE_SUMS, key);
}

int check_sums(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_sums rec;

	if (rec_sums_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec))
		return sums_wrong(check, key, &rec, "are damaged");
	if (rec.id != check->sums_id)
		check->sums_bs = block_size(check, rec.id);
	check->sums_id = rec.id;
	return check->sums_bs ? 0 : sums_wrong(check, key, &rec, "are of no object");
}
