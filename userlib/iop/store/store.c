// SPDX-License-Identifier: LGPL-2.1-or-later
/* The object store of one disk: opening, closing, what it knows as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/priv.h"

void store_give_back(struct store *store, uint64_t start, uint64_t len)
{
	int ret = ranges_add(&store->free, start, len);

	/* It is free in the records, and so free again after the next start. */
	if (ret)
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: %" PRIu64 " bytes at %" PRIu64 " cannot be given back: %s",
			     store->label.name, len, start, mdb_strerror(-ret));
}

/* One free record; what is damaged is left out, so that it is not given out. */
static int load_free(struct store *store, const MDB_val *key, const MDB_val *val)
{
	struct rec_free rec;
	int ret;

	ret = rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (!ret && (rec.start < LABEL_SPACE || rec.start > store->size ||
		     rec.len > store->size - rec.start))
		ret = -EUCLEAN;
	if (!ret)
		ret = ranges_add(&store->free, rec.start, rec.len);
	if (!ret || ret == -ENOMEM)
		return ret;
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: a record of free space is damaged; check the store",
		     store->label.name);
	return 0;
}

int store_load_free(struct store *store)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret;

	ranges_fini(&store->free);
	ranges_init(&store->free);
	ret = lmdb_read_begin(&store->db);
	if (ret)
		return ret;
	ret = lmdb_errno(mdb_cursor_open(store->db.read, store->db.dbi[STORE_FREE], &cursor));
	if (ret)
		goto end;
	ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		ret = load_free(store, &k, &v);
		if (!ret)
			ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
end:
	lmdb_read_end(&store->db);
	return ret == -ENOENT ? 0 : ret;
}

int store_count(struct store *store)
{
	MDB_stat stat;
	int ret = lmdb_read_begin(&store->db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_stat(store->db.read, store->db.dbi[STORE_OBJECTS], &stat));
	lmdb_read_end(&store->db);
	store->objects = ret ? 0 : stat.ms_entries + store_unrecorded(store);
	return ret;
}

static int open_records(struct store *store, const struct store_opts *opts, char *err,
			size_t err_len)
{
	const struct lmdb_opts db = {
		.dir = opts->dir,
		.dbs = { [STORE_META] = "meta",
			 [STORE_OBJECTS] = "objects",
			 [STORE_EXTENTS] = "extents",
			 [STORE_FREE] = "free" },
		.map = STORE_MAP,
		.sync = opts->sync,
	};
	char why[400];
	int ret = lmdb_open(&store->db, &db, why, sizeof(why));

	if (ret)
		snprintf(err, err_len, "disk %s: %s", opts->disk_name, why);
	return ret;
}

int store_open(struct ddio_env *env, struct ddio_disk *disk, const struct store_opts *opts,
	       struct store **result, char *err, size_t err_len)
{
	const struct ddio_disk_info *info = ddio_disk_info(disk);
	struct store *store = calloc(1, sizeof(*store));
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
	ranges_init(&store->free);
	store_objects_init(store);
	ret = open_records(store, opts, err, err_len);
	if (ret)
		goto free_store;
	ret = store_identify(store, opts, err, err_len);
	if (ret)
		goto close_records;
	ret = store_load_free(store);
	if (!ret)
		ret = store_count(store);
	if (ret) {
		snprintf(err, err_len, "disk %s: cannot read the records in %s: %s",
			 opts->disk_name, opts->dir, mdb_strerror(-ret));
		goto free_space;
	}
	committer_init(&store->committer, env, &store->db, disk, &store_committer_ops, store);
	*result = store;
	return 0;

free_space:
	ranges_fini(&store->free);
close_records:
	lmdb_close(&store->db);
free_store:
	free(store);
	return ret;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->committer.active) {
		/* The worker is at it: rather lose the memory. */
		ddio_env_log(store->env, DDIO_LOG_ERR, "disk %s: closed during a commit",
			     store->label.name);
		return;
	}
	store_objects_fini(store);
	batch_fini(&store->open);
	batch_fini(&store->sealed);
	ranges_fini(&store->free);
	lmdb_close(&store->db);
	free(store);
}

struct ddio_disk *store_disk(const struct store *store)
{
	return store->disk;
}

uint64_t store_free_bytes(const struct store *store)
{
	return store->free.total;
}

uint64_t store_objects(const struct store *store)
{
	return store->objects;
}
