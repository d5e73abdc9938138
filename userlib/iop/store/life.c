// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lives of a disk.  Each begins with a start of the daemon, has a number that no other one has, and is noted
 * on the disk and in its records, so that one of the two that was put back from a backup is noticed here.  The
 * name space remembers the last life that it was told of, so that both put back together are noticed there.
 *
 * A life that the name space does not know ended without a change by anybody: the next start continues it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "iop/lmdb/correct.h"
#include "iop/store/priv.h"

#define RANDOM_BITS DDIO_LIFE_RANDOM

static uint64_t life_after(const struct store *store, uint64_t life)
{
	uint64_t random;

	ddio_env_random(store->env, &random, sizeof(random));
	return ((life >> RANDOM_BITS) + 1) << RANDOM_BITS | random >> (64 - RANDOM_BITS);
}

void life_first(struct store *store)
{
	store->life = (struct rec_life){ .life = life_after(store, 0) };
	store->label.life = store->life.life;
}

int life_put(struct store *store, MDB_txn *txn)
{
	MDB_val k = lmdb_val(STORE_LIFE_KEY, strlen(STORE_LIFE_KEY)), v;
	uint8_t buf[REC_LIFE_LEN];

	rec_life_put(buf, &store->life);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

static int life_read(struct identity *id)
{
	struct lmdb *db = &id->store->db;
	MDB_val k = lmdb_val(STORE_LIFE_KEY, strlen(STORE_LIFE_KEY)), v;
	int ret = lmdb_read_begin(db);

	memset(&id->store->life, 0, sizeof(id->store->life));
	if (ret)
		return ret;
	ret = lmdb_errno(mdb_get(db->read, db->dbi[STORE_META], &k, &v));
	if (!ret)
		ret = rec_life_get(v.mv_data, v.mv_size, &id->store->life);
	lmdb_read_end(db);
	return ret;
}

static int put_all(MDB_txn *txn, void *arg)
{
	int ret = store_put_label(arg, txn, 0);

	return ret ? ret : life_put(arg, txn);
}

static int life_write(struct identity *id)
{
	struct store *store = id->store;
	int ret;

	store->label.life = store->life.life;
	ret = identity_recs_write(id, put_all);
	return ret ? ret : identity_label_write(id, &store->label);
}

/* Names which of the two is the older one. */
static int refuse_times(struct identity *id)
{
	uint64_t disk = id->disk.life >> RANDOM_BITS, recs = id->store->life.life >> RANDOM_BITS;
	const char *older = disk < recs ? "disk" : disk > recs ? "records" : NULL;

	return refuse(id, -EMEDIUMTYPE,
		      "disk %s: it and its records in %s are of different times (start %" PRIu64
		      " and %" PRIu64
		      "): %s%s put back from a backup; put back the younger one, or "
		      "disk and records of one backup, see ddio-replace(1)",
		      id->opts->disk_name, id->opts->dir, disk, recs, older ? "the " : "one was",
		      older ? (disk < recs ? "disk was" : "records were") : "");
}

/* The crash of a start leaves a new life in the records beside the one before it on the disk. */
static bool same_time(const struct identity *id)
{
	const struct rec_life *life = &id->store->life;

	return id->disk.life == life->life ||
	       (id->disk.life == life->before && !(life->flags & DDIO_DISK_KNOWN));
}

int life_begin(struct identity *id)
{
	struct rec_life *life = &id->store->life;
	int ret = life_read(id);

	if (ret == -EUCLEAN && id->opts->repair)
		return life_resume(id, id->disk.life);
	if (ret && ret != -ENOENT)
		return refuse(id, ret,
			      "disk %s: the record of its life in %s cannot be read; a start with "
			      "repair writes it again from the disk",
			      id->opts->disk_name, id->opts->dir);
	if (!same_time(id))
		return refuse_times(id);
	if (!life->life || life->flags & DDIO_DISK_KNOWN) {
		life->before = life->life;
		life->life = life_after(id->store, life->life);
		life->flags = 0;
	} else if (id->disk.life == life->life && id->recs.life == life->life &&
		   !(id->recs.flags & LABEL_NEW)) {
		id->store->label.life = life->life;
		return 0;
	}
	return life_write(id);
}

int life_resume(struct identity *id, uint64_t life)
{
	if (life_read(id) || id->store->life.life != life)
		id->store->life.life = life ? life : life_after(id->store, 0);
	return life_write(id);
}

void store_identity(const struct store *store, struct ddio_disk_id *id)
{
	*id = (struct ddio_disk_id){
		.disk = store->label.disk,
		.flags = store->life.flags |
			 (store->label.flags & LABEL_FORGETS ? DDIO_DISK_FORGETS : 0),
		.life = store->life.life,
		.before = store->life.before,
		.names = store->life.names,
		.lost = store->life.lost,
	};
	memcpy(id->uuid, store->label.uuid, sizeof(id->uuid));
}

int store_known(struct store *store, uint64_t names, uint64_t lost)
{
	struct rec_life *life = &store->life;
	struct store_change change = { .kind = CHANGE_LIFE };

	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	life->flags = DDIO_DISK_KNOWN;
	life->names = names;
	if (lost > life->lost)
		life->lost = lost;
	change.start = life->names;
	change.count = life->lost;
	batch_change(&store->open, &change);
	return 0;
}

int store_apply_life(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	MDB_val k = lmdb_val(STORE_LIFE_KEY, strlen(STORE_LIFE_KEY)), v;
	struct rec_life life = { .flags = DDIO_DISK_KNOWN,
				 .life = store->label.life,
				 .before = store->life.before,
				 .names = change->start,
				 .lost = change->count };
	uint8_t buf[REC_LIFE_LEN];

	rec_life_put(buf, &life);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

bool store_lost(const struct store *store, uint64_t id)
{
	return id < store->life.lost;
}

/* One that is missing or damaged says that the disk has never been looked through. */
void store_load_scrub(struct store *store)
{
	struct lmdb *db = &store->db;
	MDB_val k = lmdb_val(STORE_SCRUB_KEY, strlen(STORE_SCRUB_KEY)), v;

	memset(&store->scrub, 0, sizeof(store->scrub));
	if (lmdb_read_begin(db))
		return;
	if (!mdb_get(db->read, db->dbi[STORE_META], &k, &v) &&
	    rec_scrub_get(v.mv_data, v.mv_size, &store->scrub))
		memset(&store->scrub, 0, sizeof(store->scrub));
	lmdb_read_end(db);
}

int store_apply_scrub(struct store *store, MDB_txn *txn)
{
	MDB_val k = lmdb_val(STORE_SCRUB_KEY, strlen(STORE_SCRUB_KEY)), v;
	uint8_t buf[REC_SCRUB_LEN];

	rec_scrub_put(buf, &store->scrub_sealed);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

const struct rec_scrub *store_scrub(const struct store *store)
{
	return &store->scrub;
}

int store_scrub_note(struct store *store, const struct rec_scrub *rec)
{
	const struct store_change change = { .kind = CHANGE_SCRUB };

	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	store->scrub = *rec;
	batch_change(&store->open, &change);
	return 0;
}

/*
 * The ends: incarnations of the daemon that ended in order, with nothing lost of what the disk was given in them.  A client that
 * was cut off when one ended learns of it from the next one.  Where commits do not reach stable storage, or the disk
 * forgets its data, nothing is recorded: the record could be there, and what it stands for not.
 */

/* Reads a record of which one bit may be wrong.  Returns true if it can be read. */
static bool ends_read(const MDB_val *key, const MDB_val *value, struct ddio_ends *ends)
{
	uint8_t name[sizeof(STORE_ENDS_KEY)], raw[REC_ENDS_LEN];
	MDB_val k = lmdb_val(name, key->mv_size), v = lmdb_val(raw, sizeof(raw));

	if (!rec_ends_get(value->mv_data, value->mv_size, ends))
		return true;
	if (value->mv_size != sizeof(raw))
		return false;
	memcpy(name, key->mv_data, key->mv_size);
	memcpy(raw, value->mv_data, sizeof(raw));
	return value_correct(&k, &v) && !memcmp(name, STORE_ENDS_KEY, k.mv_size) &&
	       !rec_ends_get(raw, sizeof(raw), ends);
}

/* One that is missing or damaged says that none ended so. */
void store_load_ends(struct store *store, bool sync)
{
	struct lmdb *db = &store->db;
	MDB_val k = lmdb_val(STORE_ENDS_KEY, strlen(STORE_ENDS_KEY)), v;
	struct ddio_ends ends;

	memset(&store->ends, 0, sizeof(store->ends));
	if (!sync || store->label.flags & LABEL_FORGETS)
		return;
	if (lmdb_read_begin(db))
		return;
	if (!mdb_get(db->read, db->dbi[STORE_META], &k, &v) && ends_read(&k, &v, &ends))
		store->ends = ends;
	store->ends.known = true;
	lmdb_read_end(db);
}

/* Those that were there when the store was opened do not change: a commit that is repeated writes the same. */
int store_apply_end(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	MDB_val k = lmdb_val(STORE_ENDS_KEY, strlen(STORE_ENDS_KEY)), v;
	struct ddio_ends ends = store->ends;
	uint8_t buf[REC_ENDS_LEN];

	ddio_ends_add(&ends, change->id);
	rec_ends_put(buf, &ends);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

const struct ddio_ends *store_ends(const struct store *store)
{
	return &store->ends;
}

int store_end_note(struct store *store, uint64_t boot)
{
	const struct store_change change = { .kind = CHANGE_END, .id = boot };

	if (!store->ends.known)
		return 0;
	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	batch_change(&store->open, &change);
	return 0;
}
