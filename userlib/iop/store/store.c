// SPDX-License-Identifier: LGPL-2.1-or-later
/* The object store of one disk: opening, closing, what it knows as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/priv.h"

void ddio_store_give_back(struct ddio_store *store, uint64_t start, uint64_t len)
{
	int ret = ddio_ranges_add(&store->free, start, len);

	/* It is free in the records, and so free again after the next start. */
	if (ret)
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: %" PRIu64 " bytes at %" PRIu64 " cannot be given back: %s",
			     store->label.name, len, start, mdb_strerror(-ret));
}

/* One free record; what is damaged is left out, so that it is not given out. */
static int load_free(struct ddio_store *store, const MDB_val *key, const MDB_val *val)
{
	struct ddio_rec_free rec;
	int ret;

	ret = ddio_rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && (rec.start < DDIO_LABEL_SPACE || rec.start > store->size ||
		     rec.len > store->size - rec.start))
		ret = -EUCLEAN;
	if (!ret)
		ret = ddio_ranges_add(&store->free, rec.start, rec.len);
	if (!ret || ret == -ENOMEM)
		return ret;
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: a record of free space is damaged; check the store",
		     store->label.name);
	return 0;
}

int ddio_store_load_free(struct ddio_store *store)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret;

	ddio_ranges_fini(&store->free);
	ddio_ranges_init(&store->free);
	ret = ddio_lmdb_read_begin(&store->db);
	if (ret)
		return ret;
	ret = ddio_lmdb_errno(
		mdb_cursor_open(store->db.read, store->db.dbi[DDIO_DB_FREE], &cursor));
	if (ret)
		goto end;
	ret = ddio_lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		ret = load_free(store, &k, &v);
		if (!ret)
			ret = ddio_lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
end:
	ddio_lmdb_read_end(&store->db);
	return ret == -ENOENT ? 0 : ret;
}

int ddio_store_count(struct ddio_store *store)
{
	MDB_stat stat;
	int ret = ddio_lmdb_read_begin(&store->db);

	if (ret)
		return ret;
	ret = ddio_lmdb_errno(mdb_stat(store->db.read, store->db.dbi[DDIO_DB_OBJECTS], &stat));
	ddio_lmdb_read_end(&store->db);
	store->objects = ret ? 0 : stat.ms_entries + ddio_store_unrecorded(store);
	return ret;
}

static int open_records(struct ddio_store *store, const struct ddio_store_opts *opts, char *err,
			size_t err_len)
{
	const struct ddio_lmdb_opts db = {
		.dir = opts->dir,
		.dbs = { [DDIO_DB_META] = "meta",
			 [DDIO_DB_OBJECTS] = "objects",
			 [DDIO_DB_EXTENTS] = "extents",
			 [DDIO_DB_FREE] = "free" },
		.map = DDIO_STORE_MAP,
		.sync = opts->sync,
	};
	char why[400];
	int ret = ddio_lmdb_open(&store->db, &db, why, sizeof(why));

	if (ret)
		snprintf(err, err_len, "disk %s: %s", opts->disk_name, why);
	return ret;
}

int ddio_store_open(struct ddio_env *env, struct ddio_disk *disk,
		    const struct ddio_store_opts *opts, struct ddio_store **result, char *err,
		    size_t err_len)
{
	const struct ddio_disk_info *info = ddio_disk_info(disk);
	struct ddio_store *store = calloc(1, sizeof(*store));
	int ret;

	*result = NULL;
	if (!store) {
		snprintf(err, err_len, "disk %s: out of memory", opts->disk_name);
		return -ENOMEM;
	}
	store->env = env;
	store->disk = disk;
	store->sector = info->sector;
	store->size = info->size / info->sector * info->sector;
	store->seq = 1;
	ddio_ranges_init(&store->free);
	ddio_store_objects_init(store);
	ret = open_records(store, opts, err, err_len);
	if (ret)
		goto free_store;
	ret = ddio_store_identify(store, opts, err, err_len);
	if (ret)
		goto close_records;
	ret = ddio_store_load_free(store);
	if (!ret)
		ret = ddio_store_count(store);
	if (ret) {
		snprintf(err, err_len, "disk %s: cannot read the records in %s: %s",
			 opts->disk_name, opts->dir, mdb_strerror(-ret));
		goto free_space;
	}
	ddio_committer_init(&store->committer, env, &store->db, disk, &ddio_store_committer_ops,
			    store);
	*result = store;
	return 0;

free_space:
	ddio_ranges_fini(&store->free);
close_records:
	ddio_lmdb_close(&store->db);
free_store:
	free(store);
	return ret;
}

void ddio_store_close(struct ddio_store *store)
{
	if (!store)
		return;
	if (store->committer.active) {
		/* The worker is at it: rather lose the memory. */
		ddio_env_log(store->env, DDIO_LOG_ERR, "disk %s: closed during a commit",
			     store->label.name);
		return;
	}
	ddio_store_objects_fini(store);
	ddio_batch_fini(&store->open);
	ddio_batch_fini(&store->sealed);
	ddio_ranges_fini(&store->free);
	ddio_lmdb_close(&store->db);
	free(store);
}

struct ddio_disk *ddio_store_disk(const struct ddio_store *store)
{
	return store->disk;
}

uint64_t ddio_store_free_bytes(const struct ddio_store *store)
{
	return store->free.total;
}

uint64_t ddio_store_objects(const struct ddio_store *store)
{
	return store->objects;
}
