// SPDX-License-Identifier: LGPL-2.1-or-later
/* Free space in memory: loads it from the records, and takes space back. */
#include <errno.h>
#include <inttypes.h>
#include "base/bug.h"
#include "iop/store/priv.h"

void store_give_back(struct store *store, uint64_t start, uint64_t len)
{
	int ret = ranges_add(&store->free, start, len);

	/* In the records it is free, and so it is free again after the next start. */
	if (ret &&
	    !bug_on(ret != -ENOMEM, "disk %s: %" PRIu64 " bytes at %" PRIu64 " are freed twice",
		    store->label.name, len, start))
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: %" PRIu64 " bytes at %" PRIu64 " cannot be given back: %s",
			     store->label.name, len, start, mdb_strerror(-ret));
}

/* Adds one record of free space; a damaged one is skipped, so that its space is never allocated. */
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
		     "disk %s: a record of free space is damaged; run 'ddio fsck'",
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
