// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records are consistent.  Extents are read and sorted by place; the space between them
 * must be the recorded free space, exactly.  A repair corrects what is recorded wrongly of that, and records of which one bit is
 * wrong.  What cannot be corrected, and the later of two extents that overlap, is lost: each object that it may have been
 * of gets a record that says so, and is refused as long as that is there.  Its space is unknown, and stays taken.  Only
 * when somebody says that it is to be dropped, it reads as zeros.
 *
 * It is done in steps, on the records as they were when it began.  A repair comes at the end, if nothing has changed
 * meanwhile, also in steps; see mend.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/correct.h"
#include "iop/store/check/check.h"

/* What a pass returns when it is over: no errno. */

static void problem(struct store_check *check, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void problem(struct store_check *check, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text), "disk %s: ", check->store->label.name);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!check->result.problems++)
		memcpy(check->result.text, text, sizeof(text));
	ddio_env_log(check->store->env, DDIO_LOG_WARN, "%s", text);
}

int check_grow(void **v, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return 0;
	grown = realloc(*v, want * size);
	if (!grown)
		return -ENOMEM;
	*v = grown;
	*cap = want;
	return 0;
}

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

static int note_bad(struct store_check *check, int db, const MDB_val *key)
{
	struct bad_key *bad;

	if (check_grow((void **)&check->bad, &check->cap_bad, check->nbad, sizeof(*check->bad)))
		return -ENOMEM;
	bad = &check->bad[check->nbad++];
	memset(bad, 0, sizeof(*bad));
	bad->db = db;
	bad->len = key->mv_size < sizeof(bad->key) ? key->mv_size : sizeof(bad->key);
	memcpy(bad->key, key->mv_data, bad->len);
	return 0;
}

/* Objects [first, last] in memory may not be what the repaired records say. */
static int note_hit(struct store_check *check, uint64_t first, uint64_t last)
{
	int ret;

	if (!check->repair)
		return 0;
	ret = ranges_remove(&check->hit, first, last - first + (last < UINT64_MAX));
	return ret ? ret : ranges_add(&check->hit, first, last - first + (last < UINT64_MAX));
}

static int note_fix(struct place_fixes *fixes, uint64_t start, uint64_t len, uint64_t more)
{
	if (check_grow((void **)&fixes->v, &fixes->cap, fixes->n, sizeof(*fixes->v)))
		return -ENOMEM;
	fixes->v[fixes->n++] = (struct place_fix){ start, len, more };
	return 0;
}

/* Tries to correct a damaged record that has been noted in @bad.  Returns true if there is one that may stand there. */
static bool correct(struct bad_key *bad, const MDB_val *val)
{
	MDB_val k = lmdb_val(bad->fixed, bad->len), v = lmdb_val(bad->value, val->mv_size);

	if (bad->len > sizeof(bad->fixed) || val->mv_size > sizeof(bad->value))
		return false;
	memcpy(bad->fixed, bad->key, bad->len);
	memcpy(bad->value, val->mv_data, val->mv_size);
	if (!value_correct(&k, &v))
		return false;
	bad->fixed_len = bad->len;
	bad->value_len = val->mv_size;
	return true;
}

static struct bad_key *last_bad(struct store_check *check)
{
	return &check->bad[check->nbad - 1];
}

/* What was noted last stays as it is, unless it is to be dropped. */
static void leave(struct store_check *check)
{
	if (check->repair == STORE_DROP)
		return;
	check->nbad--;
	check->kept++;
}

static int check_pending(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_pending rec;
	struct bad_key *bad;
	int ret = rec_pending_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (ret) {
		problem(check, "the record of what is pending of file %" PRIu64 " is damaged",
			rec.id);
		ret = note_bad(check, STORE_PENDING, key);
		if (ret)
			return ret;
		bad = last_bad(check);
		if (!correct(bad, val) ||
		    rec_pending_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec)) {
			bad->value_len = 0;
			leave(check);
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

	problem(check, "object %" PRIu64 " is pending, but of no file", id);
	ret = note_bad(check, STORE_OBJECTS, key);
	if (ret)
		return ret;
	leave(check);
	return note_hit(check, id, id);
}

static int check_object(struct store_check *check, const MDB_val *key, const MDB_val *val)
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
	problem(check, "the record of object %" PRIu64 " is damaged", rec.id);
	ret = note_bad(check, STORE_OBJECTS, key);
	if (ret)
		return ret;
	bad = last_bad(check);
	if (correct(bad, val) &&
	    !rec_object_get(bad->fixed, bad->fixed_len, bad->value, bad->value_len, &rec))
		return 0;
	bad->value_len = 0;
	check->heads++;
	leave(check);
	return note_hit(check, rec.id, rec.id);
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
	return note_hit(check, gap->after.count ? gap->after.id : 0, rec->id);
}

void check_lose(struct bad_key *bad, uint64_t id, uint64_t block)
{
	const struct rec_extent rec = { .id = id, .block = block, .count = 1, .lost = true };

	rec_extent_key(bad->fixed, id, block);
	rec_extent_put(bad->value, &rec);
	bad->fixed_len = REC_EXTENT_KEY_LEN;
	bad->value_len = REC_EXTENT_LEN;
}

static int extent_found(struct store_check *check, const struct rec_extent *rec, uint32_t bs)
{
	if (check_grow((void **)&check->found, &check->cap_found, check->nfound,
		       sizeof(*check->found)))
		return -ENOMEM;
	check->last_id = rec->id;
	check->last_end = rec->block + rec->count;
	check->found[check->nfound++] = (struct found){
		.start = rec->start,
		.len = rec->count * bs,
		.id = rec->id,
		.block = rec->block,
		.bs = bs,
	};
	found_rise(check->found, check->nfound - 1);
	check->result.blocks += rec->count;
	return 0;
}

/* An extent that can be read, from @key or corrected, but is not as it must be. */
static int extent_wrong(struct store_check *check, const MDB_val *key, const struct rec_extent *rec,
			uint32_t bs, const char *fault)
{
	int ret;

	problem(check, "the extent at block %" PRIu64 " of object %" PRIu64 " %s", rec->block,
		rec->id, fault);
	ret = note_bad(check, STORE_EXTENTS, key);
	if (ret)
		return ret;
	if (bs && check->repair != STORE_DROP && !rec->lost) {
		check_lose(last_bad(check), rec->id, rec->block);
		check->kept++;
	} else {
		leave(check);
	}
	return note_hit(check, rec->id, rec->id);
}

static int extent_damaged(struct store_check *check, const MDB_val *key, const MDB_val *val,
			  const struct rec_extent *damaged)
{
	struct rec_extent rec;
	struct bad_key *bad;
	uint32_t bs;
	int ret;

	problem(check, "the extent at block %" PRIu64 " of object %" PRIu64 " is damaged",
		damaged->block, damaged->id);
	ret = note_bad(check, STORE_EXTENTS, key);
	if (ret)
		return ret;
	bad = last_bad(check);
	if (correct(bad, val) &&
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

static int check_extent(struct store_check *check, const MDB_val *key, const MDB_val *val)
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

static int sort_begin(struct store_check *check)
{
	const struct lost_gap *last = check->ngaps ? &check->gaps[check->ngaps - 1] : NULL;

	if (last && last->open &&
	    note_hit(check, last->after.count ? last->after.id : 0, UINT64_MAX))
		return -ENOMEM;
	check->unsorted = check->nfound;
	return PASS_OVER;
}

static int sort_one(struct store_check *check)
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
static int check_overlap(struct store_check *check)
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
	problem(check,
		"block %" PRIu64 " of object %" PRIu64 " and block %" PRIu64 " of object %" PRIu64
		" lie at the same place, byte %" PRIu64,
		last->block, last->id, ext->block, ext->id, ext->start);
	loser = ext->id >= last->id ? ext : last;
	loser->dropped = true;
	if (loser == last)
		check->last = ext;
	rec_extent_key(key, loser->id, loser->block);
	if (note_bad(check, STORE_EXTENTS, &k) || note_hit(check, loser->id, loser->id))
		return -ENOMEM;
	if (check->repair == STORE_DROP)
		return 0;
	check_lose(last_bad(check), loser->id, loser->block);
	check->kept++;
	return 0;
}

static int check_shared(struct store_check *check, const MDB_val *key, const MDB_val *val)
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
	problem(check,
		"a record of how many objects have a place is damaged, that of byte %" PRIu64,
		rec.start);
	check->count_bad = true;
	return note_bad(check, STORE_SHARED, key);
}

/* Compares how many owners a place has with how many are recorded.  Those that are lost may have been owners, too. */
static int compare_owners(struct store_check *check)
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
	problem(check,
		"%" PRIu64 " bytes at %" PRIu64 " have %" PRIu64 " owners, but %" PRIu64
		" are recorded",
		len, check->at - len, more + 1, said + 1);
	return note_fix(&check->counts, check->at - len, len, more);
}

static int check_free(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_free rec;
	int err = rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (!err)
		err = ranges_add(&check->recorded, rec.start, rec.len);
	if (!err || err == -ENOMEM)
		return err;
	problem(check, "the record of free space at byte %" PRIu64 " is damaged", rec.start);
	return note_bad(check, STORE_FREE, key);
}

static int sums_wrong(struct store_check *check, const MDB_val *key, const struct rec_sums *rec,
		      const char *fault)
{
	problem(check, "the checksums of object %" PRIu64 ", group %" PRIu64 ", %s", rec->id,
		rec->number, fault);
	/* Nothing is lost with them: blocks without get new ones when they are written, or looked through. */
	return note_bad(check, STORE_SUMS, key);
}

static int check_sums(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_sums rec;

	if (rec_sums_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec))
		return sums_wrong(check, key, &rec, "are damaged");
	if (rec.id != check->sums_id)
		check->sums_bs = block_size(check, rec.id);
	check->sums_id = rec.id;
	return check->sums_bs ? 0 : sums_wrong(check, key, &rec, "are of no object");
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
	problem(check, "%" PRIu64 " bytes at %" PRIu64 " are free, but not recorded so", len,
		start);
	return note_fix(&check->to_free, start, len, 0);
}

/* Looks at the space in front of an extent, at last of the disk's end. */
static int check_gap(struct store_check *check)
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

static int check_rest(struct store_check *check)
{
	const struct range_node *rest = ranges_find(&check->recorded, check->at);
	int ret;

	if (!rest)
		return PASS_OVER;
	problem(check, "%" PRIu64 " bytes at %" PRIu64 " are recorded as free, but are not",
		rest->len, rest->start);
	check->at = rest->start + rest->len;
	ret = note_fix(&check->not_free, rest->start, rest->len, 0);
	return ret ? ret : hold_back(check, rest->start, rest->len);
}

static int check_label(struct store_check *check)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label = { .flags = 0 };
	int ret;

	ret = lmdb_errno(mdb_get(check->walk.txn, check->store->db.dbi[STORE_META], &k, &v));
	if (!ret)
		ret = rec_label_get(v.mv_data, v.mv_size, &label);
	check->sharing = !ret && label.flags & LABEL_SHARED;
	label.flags &= ~(LABEL_PENDING | LABEL_SHARED | LABEL_FROZEN);
	if (!ret && !memcmp(&label, &check->store->label, sizeof(label)))
		return PASS_OVER;
	problem(check, "the label in the records is %s",
		ret == -ENOENT ? "missing"
		: ret	       ? "damaged"
			       : "another disk's");
	return PASS_OVER;
}

/* What is done, in this order: with each record of a database, or something until it says that it is over. */
static const struct store_check_pass {
	int db;
	int (*record)(struct store_check *check, const MDB_val *key, const MDB_val *val);
	int (*step)(struct store_check *check);
} passes[] = {
	{ .step = check_label },
	{ .db = STORE_PENDING, .record = check_pending },
	{ .db = STORE_OBJECTS, .record = check_object },
	{ .db = STORE_EXTENTS, .record = check_extent },
	{ .step = check_gaps },
	{ .db = STORE_SHARED, .record = check_shared },
	{ .step = sort_begin },
	{ .step = sort_one },
	{ .step = check_overlap },
	{ .step = compare_owners },
	{ .db = STORE_SUMS, .record = check_sums },
	{ .db = STORE_FREE, .record = check_free },
	{ .step = check_gap },
	{ .step = check_rest },
};
#define NR_PASSES (sizeof(passes) / sizeof(passes[0]))

static int step(struct store_check *check, const struct store_check_pass *pass)
{
	MDB_val k, v;
	int ret;

	if (pass->step)
		return pass->step(check);
	ret = lmdb_walk_next(&check->walk, check->store->db.dbi[pass->db], &k, &v);
	if (ret == -ENOENT)
		return PASS_OVER;
	return ret ? ret : pass->record(check, &k, &v);
}

static void forget(struct store_check *check)
{
	ranges_fini(&check->recorded);
	ranges_fini(&check->hit);
	ranges_fini(&check->taken);
	shares_fini(&check->owners);
	shares_fini(&check->said);
}

static void restart(struct store_check *check)
{
	forget(check);
	check->said_end = 0;
	check->not_free.n = 0;
	check->to_free.n = 0;
	check->counts.n = 0;
	check->count_bad = false;
	check->nfound = 0;
	check->nbad = 0;
	check->ngaps = 0;
	check->nmarks = 0;
	check->gap_at = 0;
	check->nshadows = 0;
	check->kept = 0;
	check->heads = 0;
	check->sums_id = 0;
	check->sums_bs = 0;
	memset(&check->read, 0, sizeof(check->read));
	check->last = NULL;
	check->behind = LABEL_SPACE;
	check->pass = 0;
	check->at = 0;
	memset(&check->result, 0, sizeof(check->result));
	check->err = lmdb_walk_begin(&check->walk, &check->store->db);
}

int store_check_begin(struct store *store, enum store_repair repair, struct store_check **result)
{
	struct store_check *check;

	*result = NULL;
	if (repair && store_dirty(store))
		return -EBUSY;
	check = calloc(1, sizeof(*check));
	if (!check)
		return -ENOMEM;
	check->store = store;
	check->repair = repair;
	ranges_init(&check->recorded);
	ranges_init(&check->hit);
	ranges_init(&check->taken);
	shares_init(&check->owners);
	shares_init(&check->said);
	restart(check);
	*result = check;
	return 0;
}

static void look(struct store_check *check, uint32_t steps)
{
	int ret;

	if (!check->walk.txn && !check->err) {
		lmdb_walk_end(&check->walk);
		restart(check);
	}
	for (; steps && !check->err && check->pass < NR_PASSES; steps--) {
		ret = step(check, &passes[check->pass]);
		if (ret < 0)
			check->err = ret;
		if (ret != PASS_OVER)
			continue;
		check->pass++;
		check->at = 0;
	}
	check->result.extents = check->nfound;
}

bool store_check_step(struct store_check *check, uint32_t steps)
{
	int ret;

	/* What waits to be free again is free in the records. */
	if (check->repair && store_give(check->store, steps))
		return true;
	if (!check->mending) {
		look(check, steps);
		if (check->err || check->pass < NR_PASSES)
			return !check->err;
		if (!check->repair || !check->result.problems)
			return false;
		check->err = check_mend_begin(check);
		return !check->err;
	}
	ret = check_mend_some(check);
	check->err = ret < 0 ? ret : 0;
	return ret > 0;
}

int store_check_end(struct store_check *check, struct ddio_msg_fsck *result)
{
	int ret = check->err, end = check->mending ? check_mend_end(check) : 0;

	if (!ret)
		ret = end;
	if (result)
		*result = check->result;
	lmdb_walk_end(&check->walk);
	forget(check);
	free(check->not_free.v);
	free(check->to_free.v);
	free(check->counts.v);
	free(check->found);
	free(check->bad);
	free(check->gaps);
	free(check->marks);
	free(check->shadows);
	free(check);
	return ret;
}
