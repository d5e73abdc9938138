// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records are consistent.  Extents are read and sorted by place; the space between them
 * must be the recorded free space, exactly.  A repair drops malformed records and the later of two
 * extents that overlap, and rewrites the free space, in one transaction.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
 * struct check - a check under way
 * @txn: a write transaction for a repair
 * @found: all good extents, at first by object, then by place
 * @bad: records that a repair deletes
 */
struct check {
	struct store *store;
	MDB_txn *txn;
	bool repair;
	struct ddio_msg_fsck *result;
	struct found *found;
	size_t nfound, cap_found;
	struct bad_key *bad;
	size_t nbad, cap_bad;
};

static void problem(struct check *check, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void problem(struct check *check, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text), "disk %s: ", check->store->label.name);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!check->result->problems++)
		memcpy(check->result->text, text, sizeof(text));
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

static int note_bad(struct check *check, int db, const MDB_val *key)
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

/* Calls @fn with every record of a database. */
static int each_record(struct check *check, int db,
		       int (*fn)(struct check *check, MDB_val *key, MDB_val *val))
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret;

	ret = lmdb_errno(mdb_cursor_open(check->txn, check->store->db.dbi[db], &cursor));
	if (ret)
		return ret;
	ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		ret = fn(check, &k, &v);
		if (!ret)
			ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
	return ret == -ENOENT ? 0 : ret;
}

static int check_object(struct check *check, MDB_val *key, MDB_val *val)
{
	struct rec_object rec;
	int ret;

	ret = rec_object_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && rec.block < check->store->sector)
		ret = -EUCLEAN;
	if (!ret) {
		check->result->objects++;
		return 0;
	}
	problem(check, "the record of object %" PRIu64 " is damaged", rec.id);
	return note_bad(check, STORE_OBJECTS, key);
}

/* Returns the block size of object @id; 0: there is no such object. */
static uint32_t block_size(struct check *check, uint64_t id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_object rec;

	rec_key(key, id);
	if (mdb_get(check->txn, check->store->db.dbi[STORE_OBJECTS], &k, &v))
		return 0;
	if (rec_object_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec))
		return 0;
	return rec.block < check->store->sector ? 0 : rec.block;
}

/* Returns what is wrong with an extent, or NULL. */
static const char *extent_fault(struct check *check, const struct rec_extent *rec, uint32_t bs)
{
	const struct found *last = check->nfound ? &check->found[check->nfound - 1] : NULL;

	if (!bs)
		return "belongs to no object";
	if (!rec_extent_within(rec, bs, check->store->size))
		return "lies outside the disk";
	if (rec->start % check->store->sector)
		return "does not begin at a sector";
	if (last && last->id == rec->id && last->block + last->len / bs > rec->block)
		return "overlaps the one before it in the object";
	return NULL;
}

static int check_extent(struct check *check, MDB_val *key, MDB_val *val)
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
	check->found[check->nfound++] = (struct found){
		.start = rec.start, .len = rec.count * bs, .id = rec.id, .block = rec.block
	};
	check->result->blocks += rec.count;
	return 0;
}

static int found_compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Of two extents that overlap, drops that of the younger object. */
static int check_overlaps(struct check *check)
{
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));
	struct found *last = NULL, *ext, *loser;
	size_t i;

	if (check->nfound)
		qsort(check->found, check->nfound, sizeof(*check->found), found_compare);
	for (i = 0; i < check->nfound; i++) {
		ext = &check->found[i];
		if (!last || last->start + last->len <= ext->start) {
			last = ext;
			continue;
		}
		problem(check,
			"block %" PRIu64 " of object %" PRIu64 " and block %" PRIu64
			" of object %" PRIu64 " lie at the same place, byte %" PRIu64,
			last->block, last->id, ext->block, ext->id, ext->start);
		loser = ext->id >= last->id ? ext : last;
		loser->dropped = true;
		rec_extent_key(key, loser->id, loser->block);
		if (note_bad(check, STORE_EXTENTS, &k))
			return -ENOMEM;
		if (loser == last)
			last = ext;
	}
	return 0;
}

/* Calls @fn for each piece of space that no extent has. */
static int each_free(struct check *check,
		     int (*fn)(struct check *check, uint64_t start, uint64_t len, void *arg),
		     void *arg)
{
	uint64_t at = LABEL_SPACE;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nfound && !ret; i++) {
		const struct found *ext = &check->found[i];

		if (ext->dropped)
			continue;
		if (ext->start > at)
			ret = fn(check, at, ext->start - at, arg);
		at = ext->start + ext->len;
	}
	if (!ret && at < check->store->size)
		ret = fn(check, at, check->store->size - at, arg);
	return ret;
}

static int compare_free(struct check *check, uint64_t start, uint64_t len, void *arg)
{
	struct ranges *recorded = arg;
	const struct range_node *range = ranges_find(recorded, start);

	check->result->free_bytes += len;
	if (!range || range->start != start || range->len != len)
		problem(check, "%" PRIu64 " bytes at %" PRIu64 " are free, but not recorded so",
			len, start);
	return range && range->start == start ? ranges_remove(recorded, start, len) : 0;
}

static int collect_free(struct ranges *recorded, struct check *check)
{
	struct rec_free rec;
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret, err;

	ret = lmdb_errno(mdb_cursor_open(check->txn, check->store->db.dbi[STORE_FREE], &cursor));
	if (ret)
		return ret;
	ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		err = rec_free_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec);
		if (!err)
			err = ranges_add(recorded, rec.start, rec.len);
		if (err == -ENOMEM)
			ret = err;
		else if (err)
			problem(check, "the record of free space at byte %" PRIu64 " is damaged",
				rec.start);
		if (!ret)
			ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
	return ret == -ENOENT ? 0 : ret;
}

static int check_free(struct check *check)
{
	const struct range_node *rest;
	struct ranges recorded;
	int ret;

	ranges_init(&recorded);
	ret = collect_free(&recorded, check);
	if (!ret)
		ret = each_free(check, compare_free, &recorded);
	for (rest = ranges_find(&recorded, 0); !ret && rest;
	     rest = ranges_find(&recorded, rest->start + rest->len))
		problem(check, "%" PRIu64 " bytes at %" PRIu64 " are recorded as free, but are not",
			rest->len, rest->start);
	ranges_fini(&recorded);
	return ret;
}

static int check_label(struct check *check)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label;
	int ret;

	ret = lmdb_errno(mdb_get(check->txn, check->store->db.dbi[STORE_META], &k, &v));
	if (!ret)
		ret = rec_label_get(v.mv_data, v.mv_size, &label);
	if (!ret && !memcmp(&label, &check->store->label, sizeof(label)))
		return 0;
	problem(check, "the label in the records is %s",
		ret == -ENOENT ? "missing"
		: ret	       ? "damaged"
			       : "another disk's");
	return 0;
}

static int write_free(struct check *check, uint64_t start, uint64_t len, void *arg)
{
	(void)arg;
	return store_put_free(check->store, check->txn, start, len);
}

static int mend(struct check *check)
{
	struct lmdb *db = &check->store->db;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nbad && !ret; i++) {
		MDB_val k = lmdb_val(check->bad[i].key, check->bad[i].len);

		ret = mdb_del(check->txn, db->dbi[check->bad[i].db], &k, NULL);
		if (ret == MDB_NOTFOUND)
			ret = 0;
	}
	if (!ret)
		ret = mdb_drop(check->txn, db->dbi[STORE_FREE], 0);
	if (!ret)
		ret = each_free(check, write_free, NULL);
	return ret ? ret : store_put_label(check->store, check->txn, 0);
}

/* Runs the whole check within a transaction. */
static int check_run(MDB_txn *txn, void *arg)
{
	struct check *check = arg;
	int ret;

	check->txn = txn;
	check->nfound = 0;
	check->nbad = 0;
	memset(check->result, 0, sizeof(*check->result));
	ret = check_label(check);
	if (!ret)
		ret = each_record(check, STORE_OBJECTS, check_object);
	if (!ret)
		ret = each_record(check, STORE_EXTENTS, check_extent);
	if (!ret)
		ret = check_overlaps(check);
	if (!ret)
		ret = check_free(check);
	check->result->extents = check->nfound;
	if (ret || !check->repair || !check->result->problems)
		return ret;
	ret = mend(check);
	if (!ret)
		check->result->repaired = check->result->problems;
	return ret;
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

int store_check(struct store *store, bool repair, struct ddio_msg_fsck *result)
{
	struct check check = { .store = store, .repair = repair, .result = result };
	int ret;

	if (repair && store_dirty(store))
		return -EBUSY;
	if (repair) {
		ret = lmdb_write(&store->db, check_run, &check);
		if (!ret && result->repaired)
			ret = refresh(store);
	} else {
		ret = lmdb_read_begin(&store->db);
		if (!ret) {
			ret = check_run(store->db.read, &check);
			lmdb_read_end(&store->db);
		}
	}
	free(check.found);
	free(check.bad);
	return ret;
}
