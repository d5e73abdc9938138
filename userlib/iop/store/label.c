// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Identifies a disk.  The same label is at the beginning of the disk and in its records, so that a disk
 * and a directory that do not belong together, or not to this place in the cluster, are detected before
 * anything is written.
 *
 * A new pair is made in three steps, each of which can be repeated after a crash: a label marked NEW in the
 * records, the label on the disk, the label in the records.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "iop/store/priv.h"

/* Makes the label that the disk must have, but for the uuid, which is not known in advance. */
static void label_wanted(const struct store *store, const struct store_opts *opts,
			 struct label *label)
{
	memset(label, 0, sizeof(*label));
	label->disk = opts->disk;
	label->size = store->size;
	if (ddio_disk_info(store->disk)->forgets)
		label->flags = LABEL_FORGETS;
	snprintf(label->cluster, sizeof(label->cluster), "%s", opts->cluster);
	snprintf(label->name, sizeof(label->name), "%s", opts->disk_name);
}

static int disk_label_read(struct identity *id)
{
	int ret = ddio_disk_rw_sync(id->store->disk, DDIO_DISK_READ, 0, id->buf, LABEL_SPACE);

	if (ret)
		return refuse(id, ret, "disk %s: cannot read its label: %s", id->opts->disk_name,
			      mdb_strerror(-ret));
	id->on_disk = rec_label_get(id->buf, LABEL_SPACE, &id->disk);
	return 0;
}

int identity_label_write(struct identity *id, const struct label *label)
{
	struct ddio_disk *disk = id->store->disk;
	int ret;

	memset(id->buf, 0, LABEL_SPACE);
	rec_label_put(id->buf, label);
	ret = ddio_disk_rw_sync(disk, DDIO_DISK_WRITE, 0, id->buf, LABEL_SPACE);
	if (!ret)
		ret = ddio_disk_rw_sync(disk, DDIO_DISK_FLUSH, 0, NULL, 0);
	if (ret)
		return refuse(id, ret, "disk %s: cannot write its label: %s", id->opts->disk_name,
			      mdb_strerror(-ret));
	return 0;
}

static int recs_label_read(struct identity *id)
{
	struct lmdb *db = &id->store->db;
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	int ret = lmdb_read_begin(db);

	if (!ret) {
		ret = lmdb_errno(mdb_get(db->read, db->dbi[STORE_META], &k, &v));
		if (!ret)
			id->in_recs = rec_label_get(v.mv_data, v.mv_size, &id->recs);
		else if (ret == -ENOENT)
			id->in_recs = -ENOENT;
		lmdb_read_end(db);
	}
	if (ret && ret != -ENOENT)
		return refuse(id, ret, "%s: cannot read the records: %s", id->opts->dir,
			      mdb_strerror(-ret));
	if (id->in_recs == -EMEDIUMTYPE)
		id->in_recs = -EUCLEAN;
	return 0;
}

int store_put_label(struct store *store, MDB_txn *txn, uint32_t flags)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label = store->label;
	uint8_t buf[LABEL_LEN];
	MDB_stat shared;
	int ret = mdb_stat(txn, store->db.dbi[STORE_SHARED], &shared);

	if (ret)
		return ret;
	label.flags |= flags | (shared.ms_entries ? LABEL_SHARED : 0);
	rec_label_put(buf, &label);
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

/* Writes the empty records of an empty disk. */
static int recs_begin(MDB_txn *txn, void *arg)
{
	struct store *store = arg;
	int i, ret = 0;

	for (i = 0; i < store->db.ndbs && !ret; i++)
		ret = mdb_drop(txn, store->db.dbi[i], 0);
	if (!ret)
		ret = store_put_label(store, txn, LABEL_NEW);
	if (!ret)
		ret = life_put(store, txn);
	if (!ret)
		ret = store_put_free(store, txn, LABEL_SPACE, store->size - LABEL_SPACE);
	return ret;
}

static int recs_ready(MDB_txn *txn, void *arg)
{
	return store_put_label(arg, txn, 0);
}

int identity_recs_write(struct identity *id, int (*fn)(MDB_txn *txn, void *arg))
{
	int ret = lmdb_write(&id->store->db, fn, id->store);

	return ret ? refuse(id, ret, "%s: cannot write the records: %s", id->opts->dir,
			    mdb_strerror(-ret))
		   : 0;
}

static int make_new(struct identity *id)
{
	struct store *store = id->store;
	int ret;

	if (store->size < 2 * LABEL_SPACE)
		return refuse(id, -ENOSPC, "disk %s: %" PRIu64 " bytes are too few for a disk",
			      id->opts->disk_name, store->size);
	ddio_env_random(store->env, store->label.uuid, sizeof(store->label.uuid));
	life_first(store);
	ret = identity_recs_write(id, recs_begin);
	if (!ret)
		ret = identity_label_write(id, &store->label);
	return ret ? ret : identity_recs_write(id, recs_ready);
}

/* Only the size differs: one of the two ends that the disk had and has is not where it was. */
static int refuse_size(struct identity *id, const struct label *found, const char *where)
{
	const char *name = id->opts->disk_name;
	uint64_t has = id->store->label.size;

	if (found->size > has)
		return refuse(id, -EMEDIUMTYPE,
			      "%s: the label says %" PRIu64 " bytes, but disk %s has %" PRIu64
			      ": its end is missing; restore all of it from a backup, or correct "
			      "the disk's size in the configuration",
			      where, found->size, name, has);
	return refuse(id, -EMEDIUMTYPE,
		      "%s: the label says %" PRIu64 " bytes, but disk %s has %" PRIu64
		      ": it has become larger; set size = %" PRIu64 " for it in the configuration",
		      where, found->size, name, has, found->size);
}

/* Checks that @found is the label wanted.  @where: "disk d0", "records in DIR". */
static int label_compare(struct identity *id, const struct label *found, const char *where)
{
	const struct label *want = &id->store->label;

	if (!strcmp(found->cluster, want->cluster) && !strcmp(found->name, want->name) &&
	    found->disk == want->disk)
		return found->size == want->size ? 0 : refuse_size(id, found, where);
	return refuse(id, -EMEDIUMTYPE,
		      "%s: found cluster %s, disk %s, number %" PRIu32 ", %" PRIu64
		      " bytes; expected cluster %s, disk %s, number %" PRIu32 ", %" PRIu64 " bytes",
		      where, found->cluster, found->name, found->disk, found->size, want->cluster,
		      want->name, want->disk, want->size);
}

static int refuse_version(struct identity *id, const char *what)
{
	return refuse(
		id, -EPROTONOSUPPORT,
		"disk %s: %s is of another version of ddio, and this one reads version %d only; "
		"copy its files away with the version that made it, then start afresh: fill "
		"the disk's first %d bytes with zeros and remove %s",
		id->opts->disk_name, what, LABEL_VERSION, LABEL_SPACE, id->opts->dir);
}

static int refuse_disk(struct identity *id)
{
	const char *name = id->opts->disk_name;

	switch (id->on_disk) {
	case -EMEDIUMTYPE:
		return refuse(
			id, -EMEDIUMTYPE,
			"disk %s: its first %d bytes hold something that is not ddio's; to use it, "
			"losing all on it, fill them with zeros",
			name, LABEL_SPACE);
	case -EPROTONOSUPPORT:
		return refuse_version(id, "its label");
	default:
		return refuse(id, -EUCLEAN, "disk %s: its label is damaged; %s", name,
			      id->in_recs ? "to start afresh, fill its first 4096 bytes with zeros"
					  : "a start with repair writes it again from the records");
	}
}

/* Labels a blank disk whose records are new; refuses one that has records. */
static int disk_is_blank(struct identity *id)
{
	if (id->recs.flags & LABEL_NEW)
		return make_new(id);
	if (!ddio_disk_info(id->store->disk)->forgets)
		return refuse(
			id, -ENOMEDIUM,
			"disk %s: it is blank, but there are records of it in %s; give it its own "
			"disk, or remove that directory to start afresh",
			id->opts->disk_name, id->opts->dir);
	return refuse(id, -ENOMEDIUM,
		      "disk %s: it keeps its data in memory only, but the records in %s are of a "
		      "disk that lasts; remove that directory to start afresh",
		      id->opts->disk_name, id->opts->dir);
}

/* Refuses a disk that has a label but no records. */
static int recs_are_empty(struct identity *id)
{
	return refuse(id, -ENOMEDIUM,
		      "disk %s: it has a label (cluster %s, disk %s, number %" PRIu32
		      "), but there are no records of it in %s; give their directory, or fill the "
		      "disk's first %d bytes with zeros to start afresh, losing all on it",
		      id->opts->disk_name, id->disk.cluster, id->disk.name, id->disk.disk,
		      id->opts->dir, LABEL_SPACE);
}

static int both_there(struct identity *id)
{
	if (memcmp(id->disk.uuid, id->recs.uuid, sizeof(id->disk.uuid)))
		return refuse(id, -EMEDIUMTYPE,
			      "disk %s: it and the records in %s do not belong together (made at "
			      "different times)",
			      id->opts->disk_name, id->opts->dir);
	memcpy(id->store->label.uuid, id->disk.uuid, sizeof(id->disk.uuid));
	return life_begin(id);
}

/* Rewrites the damaged one of the two labels from the other. */
static int repair(struct identity *id)
{
	struct store *store = id->store;

	if (id->on_disk == -EUCLEAN && !id->in_recs) {
		memcpy(store->label.uuid, id->recs.uuid, sizeof(store->label.uuid));
		ddio_env_log(store->env, DDIO_LOG_WARN, "disk %s: its label is written again",
			     store->label.name);
		return life_resume(id);
	}
	memcpy(store->label.uuid, id->disk.uuid, sizeof(store->label.uuid));
	ddio_env_log(store->env, DDIO_LOG_WARN,
		     "disk %s: the label in its records is written again", store->label.name);
	return life_resume(id);
}

static int identify(struct identity *id)
{
	char where[300];
	int ret;

	ret = disk_label_read(id);
	if (!ret)
		ret = recs_label_read(id);
	/* The records describe data that are gone, of this disk or of one that was here before. */
	if (!ret && id->on_disk == -ENOENT && !id->in_recs &&
	    (id->recs.flags & id->store->label.flags & LABEL_FORGETS))
		return make_new(id);
	if (!ret && !id->on_disk) {
		snprintf(where, sizeof(where), "disk %s", id->opts->disk_name);
		ret = label_compare(id, &id->disk, where);
	}
	if (!ret && !id->in_recs) {
		snprintf(where, sizeof(where), "records in %s", id->opts->dir);
		ret = label_compare(id, &id->recs, where);
	}
	if (ret)
		return ret;
	if (id->opts->repair && ((id->on_disk == -EUCLEAN && !id->in_recs) ||
				 (id->in_recs == -EUCLEAN && !id->on_disk)))
		return repair(id);
	if (id->on_disk && id->on_disk != -ENOENT)
		return refuse_disk(id);
	if (id->in_recs == -EPROTONOSUPPORT)
		return refuse_version(id, "the label in its records");
	if (id->in_recs && id->in_recs != -ENOENT)
		return refuse(id, id->in_recs,
			      "disk %s: the label in its records in %s is damaged; a start with "
			      "repair writes it again from the disk",
			      id->opts->disk_name, id->opts->dir);
	if (id->on_disk && id->in_recs)
		return make_new(id);
	if (id->on_disk)
		return disk_is_blank(id);
	return id->in_recs ? recs_are_empty(id) : both_there(id);
}

int store_identify(struct store *store, const struct store_opts *opts, char *err, size_t err_len)
{
	struct identity id = { .store = store, .opts = opts, .err = err, .err_len = err_len };
	int ret;

	label_wanted(store, opts, &store->label);
	id.buf = ddio_env_alloc(store->env, LABEL_SPACE);
	if (!id.buf)
		return refuse(&id, -ENOMEM, "disk %s: out of memory", opts->disk_name);
	ret = identify(&id);
	ddio_env_free(store->env, id.buf, LABEL_SPACE);
	return ret;
}
