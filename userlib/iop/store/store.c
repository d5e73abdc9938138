// SPDX-License-Identifier: LGPL-2.1-or-later
/* The object store of one disk: opens and closes it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "iop/lmdb/value.h"
#include "iop/lmdb/room.h"
#include "iop/store/priv.h"

/* The label stands for itself: its key is not part of its CRC. */
static bool record_intact(const void *arg, const char *db, const MDB_val *key, const MDB_val *value)
{
	struct label label;

	(void)arg;
	if (!strcmp(db, "meta") && key->mv_size == strlen(STORE_LABEL_KEY) &&
	    !memcmp(key->mv_data, STORE_LABEL_KEY, key->mv_size))
		return !rec_label_get(value->mv_data, value->mv_size, &label);
	return value_record_intact(key, value);
}

static int open_records(struct store *store, const struct store_opts *opts, char *err,
			size_t err_len)
{
	const struct lmdb_opts db = {
		.dir = opts->dir,
		.dbs = { [STORE_META] = "meta",
			 [STORE_OBJECTS] = "objects",
			 [STORE_EXTENTS] = "extents",
			 [STORE_FREE] = "free",
			 [STORE_SUMS] = "sums",
			 [STORE_PENDING] = "pending",
			 [STORE_SHARED] = "shared" },
		.map = STORE_MAP,
		.sync = opts->sync,
		.intact = record_intact,
	};
	char why[400];
	int ret = lmdb_open(&store->db, &db, why, sizeof(why));

	if (ret) {
		snprintf(err, err_len, "disk %s: %s", opts->disk_name, why);
		return ret;
	}
	lmdb_room_begin(&store->db, opts->reserve);
	if (store->db.records.damaged)
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: %" PRIu64
			     " of its records are damaged, the first is: %s; what they describe "
			     "cannot be read; run 'ddio fsck'",
			     opts->disk_name, store->db.records.damaged, store->db.records.first);
	return 0;
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
	bounds_init(&store->own);
	store->bounds = opts->bounds ? opts->bounds : &store->own;
	ranges_init(&store->free);
	shares_init(&store->shares);
	ddio_list_init(&store->given);
	ddio_list_init(&store->epochs);
	ddio_list_init(&store->holds);
	ddio_list_init(&store->moves);
	store->shadow = REC_SHADOW;
	store_objects_init(store);
	ret = open_records(store, opts, err, err_len);
	if (ret)
		goto free_store;
	ret = store_identify(store, opts, err, err_len);
	if (ret)
		goto close_records;
	sums_init(&store->sums, &store->db, STORE_SUMS, opts->sums);
	ret = opts->sums ? 0 : sums_drop(&store->sums);
	if (!ret)
		ret = store_load_free(store);
	if (!ret)
		ret = store_load_shares(store);
	if (!ret)
		ret = store_count(store);
	if (!ret)
		ret = store_load_pending(store);
	if (ret) {
		snprintf(err, err_len, "disk %s: cannot read the records in %s: %s",
			 opts->disk_name, opts->dir, mdb_strerror(-ret));
		goto free_space;
	}
	store_load_scrub(store);
	store_load_ends(store, opts->sync);
	committer_init(&store->committer, env, &store->db, disk, &store_committer_ops, store);
	*result = store;
	return 0;

free_space:
	store_epochs_fini(store);
	ranges_fini(&store->free);
	shares_fini(&store->shares);
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
	if (bug_on(store->committer.active, "disk %s: closed during a commit", store->label.name))
		return;
	life_end(store);
	store_give_none(store);
	store_epochs_fini(store);
	store_objects_fini(store);
	gones_free(store->gones);
	batch_fini(&store->open);
	batch_fini(&store->sealed);
	sums_fini(&store->sums);
	ranges_fini(&store->free);
	shares_fini(&store->shares);
	lmdb_close(&store->db);
	free(store);
}

struct ddio_disk *store_disk(const struct store *store)
{
	return store->disk;
}

uint64_t store_free_bytes(const struct store *store)
{
	return store->free.total + store->giving;
}

uint64_t store_shared_bytes(const struct store *store)
{
	return store->shares.saved;
}

uint64_t store_sums_bytes(const struct store *store)
{
	return sums_bytes(&store->sums);
}

uint64_t store_mismatches(const struct store *store)
{
	return store->sums.count.bad;
}

struct lmdb_left store_left(const struct store *store)
{
	return lmdb_left(&store->db);
}

uint64_t store_objects(const struct store *store)
{
	return store->objects;
}
