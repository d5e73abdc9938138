// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records are consistent.  Extents are read and sorted by place; the space between them
 * must be the recorded free space, exactly.  A repair drops malformed records and the later of two
 * extents that overlap, and rewrites the free space.
 *
 * It is done in steps, on the records as they were when it began.  A repair is one transaction at the end, if nothing
 * has changed meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/walk.h"
#include "iop/store/priv.h"

/**
 * struct found - a well-formed extent
 */
struct found {
	uint64_t start, len; /* bytes */
	uint64_t id, block;
	bool dropped;
};

/* The key of a record to be deleted. */
struct bad_key {
	int db;
	size_t len;
	uint8_t key[512];
};

/**
 * struct store_check - a check under way
 * @walk: reads the records
 * @pass, @at: what it is at: a pass, and of one over extents or free space how far it has come
 * @err: why it has ended, or 0
 * @found: all good extents: a heap, the last one on top, then in the order of places
 * @last_id, @last_end: of the last good one that was read: its object, and the block behind it
 * @unsorted: how many are in the heap
 * @behind: the end of the last extent before @at that is not dropped
 * @last: of the extents at which the pass over overlaps has looked, the last one that is not dropped
 * @recorded: free space that is recorded
 * @bad: records that a repair deletes
 */
struct store_check {
	struct store *store;
	struct lmdb_walk walk;
	bool repair;
	size_t pass;
	uint64_t at;
	int err;
	struct ddio_msg_fsck result;
	struct found *found, *last;
	size_t nfound, cap_found, unsorted;
	uint64_t last_id, last_end, behind;
	struct ranges recorded;
	struct bad_key *bad;
	size_t nbad, cap_bad;
};

/* What a pass returns when it is over: no errno. */
#define PASS_OVER 1

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

static int grow(void **v, size_t *cap, size_t n, size_t size)
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

	if (grow((void **)&check->bad, &check->cap_bad, check->nbad, sizeof(*check->bad)))
		return -ENOMEM;
	bad = &check->bad[check->nbad++];
	bad->db = db;
	bad->len = key->mv_size < sizeof(bad->key) ? key->mv_size : sizeof(bad->key);
	memcpy(bad->key, key->mv_data, bad->len);
	return 0;
}

static int check_object(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_object rec;
	int ret;

	ret = rec_object_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && rec.block < check->store->sector)
		ret = -EUCLEAN;
	if (!ret) {
		check->result.objects++;
		return 0;
	}
	problem(check, "the record of object %" PRIu64 " is damaged", rec.id);
	return note_bad(check, STORE_OBJECTS, key);
}

/* Returns the block size of object @id; 0: there is no such object. */
static uint32_t block_size(struct store_check *check, uint64_t id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_object rec;

	rec_key(key, id);
	if (mdb_get(check->walk.txn, check->store->db.dbi[STORE_OBJECTS], &k, &v))
		return 0;
	if (rec_object_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec))
		return 0;
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

static int check_extent(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_extent rec;
	const char *fault = "is damaged";
	uint32_t bs = 0;

	if (!rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec)) {
		bs = block_size(check, rec.id);
		fault = extent_fault(check, &rec, bs);
	}
	if (fault) {
		problem(check, "the extent at block %" PRIu64 " of object %" PRIu64 " %s",
			rec.block, rec.id, fault);
		return note_bad(check, STORE_EXTENTS, key);
	}
	if (grow((void **)&check->found, &check->cap_found, check->nfound, sizeof(*check->found)))
		return -ENOMEM;
	check->last_id = rec.id;
	check->last_end = rec.block + rec.count;
	check->found[check->nfound++] = (struct found){
		.start = rec.start, .len = rec.count * bs, .id = rec.id, .block = rec.block
	};
	found_rise(check->found, check->nfound - 1);
	check->result.blocks += rec.count;
	return 0;
}

static int sort_begin(struct store_check *check)
{
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

/* Of two extents that overlap, drops that of the younger object. */
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
	problem(check,
		"block %" PRIu64 " of object %" PRIu64 " and block %" PRIu64 " of object %" PRIu64
		" lie at the same place, byte %" PRIu64,
		last->block, last->id, ext->block, ext->id, ext->start);
	loser = ext->id >= last->id ? ext : last;
	loser->dropped = true;
	if (loser == last)
		check->last = ext;
	rec_extent_key(key, loser->id, loser->block);
	return note_bad(check, STORE_EXTENTS, &k);
}

static int check_free(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct rec_free rec;
	int err = rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (!err)
		err = ranges_add(&check->recorded, rec.start, rec.len);
	if (err == -ENOMEM)
		return err;
	if (err)
		problem(check, "the record of free space at byte %" PRIu64 " is damaged",
			rec.start);
	return 0;
}

static int compare_free(struct store_check *check, uint64_t start, uint64_t len)
{
	const struct range_node *range = ranges_find(&check->recorded, start);

	check->result.free_bytes += len;
	if (!range || range->start != start || range->len != len)
		problem(check, "%" PRIu64 " bytes at %" PRIu64 " are free, but not recorded so",
			len, start);
	return range && range->start == start ? ranges_remove(&check->recorded, start, len) : 0;
}

/* Looks at the space in front of an extent, at last of the disk's end. */
static int check_gap(struct store_check *check)
{
	static const struct found none;
	const struct found *ext = &none;
	uint64_t start = check->behind, end = check->store->size;

	if (check->at > check->nfound)
		return PASS_OVER;
	if (check->at < check->nfound) {
		ext = &check->found[check->at];
		end = ext->start;
	}
	check->at++;
	if (ext->dropped)
		return 0;
	check->behind = ext->start + ext->len;
	return end > start ? compare_free(check, start, end - start) : 0;
}

static int check_rest(struct store_check *check)
{
	const struct range_node *rest = ranges_find(&check->recorded, check->at);

	if (!rest)
		return PASS_OVER;
	problem(check, "%" PRIu64 " bytes at %" PRIu64 " are recorded as free, but are not",
		rest->len, rest->start);
	check->at = rest->start + rest->len;
	return 0;
}

static int check_label(struct store_check *check)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label;
	int ret;

	ret = lmdb_errno(mdb_get(check->walk.txn, check->store->db.dbi[STORE_META], &k, &v));
	if (!ret)
		ret = rec_label_get(v.mv_data, v.mv_size, &label);
	if (!ret && !memcmp(&label, &check->store->label, sizeof(label)))
		return PASS_OVER;
	problem(check, "the label in the records is %s",
		ret == -ENOENT ? "missing"
		: ret	       ? "damaged"
			       : "another disk's");
	return PASS_OVER;
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
			ret = store_put_free(check->store, txn, at, ext->start - at);
		at = ext->start + ext->len;
	}
	if (!ret && at < check->store->size)
		ret = store_put_free(check->store, txn, at, check->store->size - at);
	return ret;
}

static int mend(MDB_txn *txn, void *arg)
{
	struct store_check *check = arg;
	struct lmdb *db = &check->store->db;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nbad && !ret; i++) {
		MDB_val k = lmdb_val(check->bad[i].key, check->bad[i].len);

		ret = mdb_del(txn, db->dbi[check->bad[i].db], &k, NULL);
		if (ret == MDB_NOTFOUND)
			ret = 0;
	}
	if (!ret)
		ret = mdb_drop(txn, db->dbi[STORE_FREE], 0);
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
	store->idle_extents = 0;
	ddio_hash_for_each(obj, &walk, &store->hash, node) {
		if (!ret)
			ret = object_reload(obj);
		store->idle_extents += obj->idle ? obj->map.n : 0;
	}
	return ret ? ret : store_count(store);
}

static int records_repair(struct store_check *check)
{
	int ret;

	if (store_dirty(check->store) || !lmdb_walk_newest(&check->walk))
		return -EBUSY;
	ret = lmdb_write(&check->store->db, mend, check);
	if (!ret)
		check->result.repaired = check->result.problems;
	return ret ? ret : refresh(check->store);
}

/* What is done, in this order: with each record of a database, or something until it says that it is over. */
static const struct store_check_pass {
	int db;
	int (*record)(struct store_check *check, const MDB_val *key, const MDB_val *val);
	int (*step)(struct store_check *check);
} passes[] = {
	{ .step = check_label },
	{ .db = STORE_OBJECTS, .record = check_object },
	{ .db = STORE_EXTENTS, .record = check_extent },
	{ .step = sort_begin },
	{ .step = sort_one },
	{ .step = check_overlap },
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

static void restart(struct store_check *check)
{
	ranges_fini(&check->recorded);
	ranges_init(&check->recorded);
	check->nfound = 0;
	check->nbad = 0;
	check->last = NULL;
	check->behind = LABEL_SPACE;
	check->pass = 0;
	check->at = 0;
	memset(&check->result, 0, sizeof(check->result));
	check->err = lmdb_walk_begin(&check->walk, &check->store->db);
}

int store_check_begin(struct store *store, bool repair, struct store_check **result)
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
	restart(check);
	*result = check;
	return 0;
}

bool store_check_step(struct store_check *check, uint32_t steps)
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
	return !check->err && check->pass < NR_PASSES;
}

int store_check_end(struct store_check *check, struct ddio_msg_fsck *result)
{
	int ret = check->err;

	if (!ret && result && check->repair && check->result.problems)
		ret = records_repair(check);
	if (!ret && result)
		*result = check->result;
	lmdb_walk_end(&check->walk);
	ranges_fini(&check->recorded);
	free(check->found);
	free(check->bad);
	free(check);
	return ret;
}
