// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lives of a disk.  Each begins with a start of the daemon, has a number that no other one has, and is noted
 * on the disk and in its records, so that one of the two that was put back from a backup is noticed here.  The
 * name space remembers the last life that it was told of, so that both put back together are noticed there.
 * An orderly end has a number, too, so that a copy of one of the two that was taken before it is noticed.
 *
 * What is decided here is decided by iop/life.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "iop/lmdb/correct.h"
#include "iop/store/priv.h"

#define RANDOM_BITS DDIO_LIFE_RANDOM

static uint64_t random_of(const struct store *store)
{
	uint64_t random;

	ddio_env_random(store->env, &random, sizeof(random));
	return random;
}

void life_first(struct store *store)
{
	store->life = (struct rec_life){ .of = { .life = life_after(0, random_of(store)) } };
	store->label.life = store->life.of.life;
}

static int put_life(struct store *store, MDB_txn *txn, const struct rec_life *life)
{
	MDB_val k = lmdb_val(STORE_LIFE_KEY, strlen(STORE_LIFE_KEY)), v;
	uint8_t buf[REC_LIFE_LEN];

	rec_life_put(buf, life);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

int life_put(struct store *store, MDB_txn *txn)
{
	return put_life(store, txn, &store->life);
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

/* That places have several owners is known from the label, too, if the records of them are gone. */
static uint32_t kept_flags(const struct store *store, MDB_txn *txn)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label;

	if (mdb_get(txn, store->db.dbi[STORE_META], &k, &v) ||
	    rec_label_get(v.mv_data, v.mv_size, &label))
		return 0;
	return label.flags & LABEL_SHARED;
}

static int put_all(MDB_txn *txn, void *arg)
{
	int ret = store_put_label(arg, txn, kept_flags(arg, txn));

	return ret ? ret : life_put(arg, txn);
}

/*
 * Begins the next life, or names the end of this one; @label: what the disk has.  Whatever a crash leaves, records and
 * disk fit, and no copy of one that was taken before fits the other once the last step is done.
 */
static int life_write(struct identity *id, uint64_t label, bool ended)
{
	struct store *store = id->store;
	int ret;

	life_begin_next(&store->life.of, label, random_of(store), ended);
	store->label.life = store->life.of.life;
	ret = identity_recs_write(id, put_all);
	if (!ret)
		ret = identity_label_write(id, &store->label);
	life_written(&store->life.of);
	return ret ? ret : identity_recs_write(id, put_all);
}

/* Names which of the two is the older one. */
static int refuse_times(struct identity *id)
{
	uint64_t disk = id->disk.life >> RANDOM_BITS, recs = id->store->life.of.life >> RANDOM_BITS;
	const char *older = disk < recs ? "disk" : disk > recs ? "records" : NULL;

	return refuse(id, -EMEDIUMTYPE,
		      "disk %s: it and its records in %s are of different times (start %" PRIu64
		      " and %" PRIu64
		      "): %s%s put back from a backup; put back the younger one, or "
		      "disk and records of one backup, see ddio-replace(1)",
		      id->opts->disk_name, id->opts->dir, disk, recs, older ? "the " : "one was",
		      older ? (disk < recs ? "disk was" : "records were") : "");
}

int life_begin(struct identity *id)
{
	struct lives *life = &id->store->life.of;
	int ret = life_read(id);

	if (ret && !(ret == -EUCLEAN && id->opts->repair))
		return refuse(id, ret,
			      "disk %s: the record of its life in %s cannot be read; a start with "
			      "repair writes it again from the disk",
			      id->opts->disk_name, id->opts->dir);
	/* With the word "repair" what is left of the two counts. */
	if (ret)
		life_guess(life, id->disk.life);
	if (!life_fits(life, id->disk.life))
		return refuse_times(id);
	return life_write(id, id->disk.life, false);
}

int life_resume(struct identity *id)
{
	struct lives *life = &id->store->life.of;
	int ret = life_read(id);

	if (id->on_disk && ret)
		return refuse(id, -EUCLEAN,
			      "disk %s: its label and the record of its life are damaged",
			      id->opts->disk_name);
	if (id->on_disk)
		return life_write(id, life->life, false);
	return life_begin(id);
}

/* Nothing is served any more. */
void life_end(struct store *store)
{
	const struct store_opts opts = { .dir = store->db.dir, .disk_name = store->label.name };
	char err[400] = "out of memory";
	struct identity id = { .store = store, .opts = &opts, .err = err, .err_len = sizeof(err) };
	int ret = -ENOMEM;

	if (!store->ending || store_dirty(store) || store_stopped(store))
		return;
	id.buf = ddio_env_alloc(store->env, LABEL_SPACE);
	if (id.buf)
		ret = life_write(&id, store->life.of.life, true);
	if (ret)
		ddio_env_log(store->env, DDIO_LOG_WARN, "disk %s: its end is not noted: %s",
			     store->label.name, err);
	ddio_env_free(store->env, id.buf, LABEL_SPACE);
}

void store_identity(const struct store *store, struct ddio_disk_id *id)
{
	const struct lives *life = &store->life.of;

	*id = (struct ddio_disk_id){
		.disk = store->label.disk,
		.flags = (life->known ? DDIO_DISK_KNOWN : 0) |
			 (store->label.flags & LABEL_FORGETS ? DDIO_DISK_FORGETS : 0),
		.life = life->life,
		.n = life->n,
		.names = store->life.names,
		.change = store->life.change,
		.lost = store->life.lost,
	};
	memcpy(id->before, life->before, sizeof(id->before));
	memcpy(id->uuid, store->label.uuid, sizeof(id->uuid));
}

int store_known(struct store *store, uint64_t names, uint64_t change, uint64_t lost)
{
	struct rec_life *life = &store->life;

	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	life->of.known = true;
	life->change = names != life->names || change > life->change ? change : life->change;
	life->names = names;
	if (lost > life->lost)
		life->lost = lost;
	batch_change(&store->open, &(struct store_change){ .kind = CHANGE_LIFE });
	return 0;
}

int store_apply_life(struct store *store, MDB_txn *txn)
{
	return put_life(store, txn, &store->life_sealed);
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

	store->ending = true;
	if (!store->ends.known)
		return 0;
	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	batch_change(&store->open, &change);
	return 0;
}
