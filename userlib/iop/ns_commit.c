// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What has changed becomes durable: a seal encodes the files that changed, the
 * worker writes them.  After a failure they count as changed again, and the next
 * seal encodes them as they are then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/ns_priv.h"
#include "iop/store_record.h"
#include "proto/cursor.h"

static int name_write(struct ddio_ns *ns, MDB_txn *txn, const char *name, uint64_t id, bool deleted)
{
	uint8_t key[DDIO_NS_NAME_KEY_MAX];
	uint8_t value[4];
	MDB_val k = ddio_lmdb_val(key, ddio_ns_name_key(key, name, id));
	MDB_val v = ddio_lmdb_val(value, sizeof(value));
	struct ddio_wr w = ddio_wr_begin(value, sizeof(value));
	int ret;

	if (deleted) {
		ret = mdb_del(txn, ns->db.dbi[DDIO_NS_NAMES], &k, NULL);
		return ret == MDB_NOTFOUND ? 0 : ret;
	}
	ddio_wr_u32(&w, ddio_crc32c(0, k.mv_data, k.mv_size));
	return mdb_put(txn, ns->db.dbi[DDIO_NS_NAMES], &k, &v, 0);
}

int ddio_ns_write_file(struct ddio_ns *ns, MDB_txn *txn, const struct ddio_ns_change *change)
{
	uint8_t key[DDIO_NS_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key));
	MDB_val v = ddio_lmdb_val(change->value, change->len);
	int ret;

	ret = name_write(ns, txn, change->name, change->id, !change->value);
	if (ret)
		return ret;
	ddio_ns_key(key, change->id);
	if (change->value)
		return mdb_put(txn, ns->db.dbi[DDIO_NS_FILES], &k, &v, 0);
	ret = mdb_del(txn, ns->db.dbi[DDIO_NS_FILES], &k, NULL);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

int ddio_ns_write_meta(struct ddio_ns *ns, MDB_txn *txn, uint64_t limit)
{
	struct ddio_ns_meta meta = { .limit = limit };
	uint8_t value[DDIO_NS_META_MAX];
	MDB_val k = ddio_lmdb_val(DDIO_NS_META_KEY, strlen(DDIO_NS_META_KEY)), v;

	memcpy(meta.cluster, ns->cluster, sizeof(meta.cluster));
	v = ddio_lmdb_val(value, ddio_ns_meta_put(value, &meta));
	return mdb_put(txn, ns->db.dbi[DDIO_NS_META], &k, &v, 0);
}

static int change_make(struct ddio_ns_change *change, const struct ddio_ns_entry *entry)
{
	change->id = entry->rec.ref.id;
	memcpy(change->name, entry->rec.name, sizeof(change->name));
	change->value = NULL;
	return entry->deleted ? 0 : ddio_ns_file_put(&entry->rec, &change->value, &change->len);
}

static bool reserve_is_low(const struct ddio_ns *ns)
{
	return ns->limit - ns->next < DDIO_NS_RESERVE / 2;
}

static bool ns_seal(void *ctx)
{
	struct ddio_ns *ns = ctx;
	size_t i;

	ns->reserve = reserve_is_low(ns) ? ns->next + DDIO_NS_RESERVE : 0;
	ns->nchanges = 0;
	ns->seal_err = 0;
	if (!ns->ndirty)
		return ns->reserve;
	ns->changes = calloc(ns->ndirty, sizeof(*ns->changes));
	if (!ns->changes)
		ns->seal_err = -ENOMEM;
	for (i = 0; i < ns->by_id.n && !ns->seal_err; i++) {
		struct ddio_ns_entry *entry = ns->by_id.v[i];

		if (!entry->dirty)
			continue;
		ns->seal_err = change_make(&ns->changes[ns->nchanges], entry);
		if (ns->seal_err)
			break;
		ns->nchanges++;
		ns->ndirty--;
		entry->dirty = false;
		entry->sealed = true;
	}
	return true;
}

/* In the worker. */
static int ns_apply(MDB_txn *txn, void *ctx)
{
	struct ddio_ns *ns = ctx;
	size_t i;
	int ret = ns->seal_err;

	for (i = 0; i < ns->nchanges && !ret; i++)
		ret = ddio_ns_write_file(ns, txn, &ns->changes[i]);
	if (!ret && ns->reserve)
		ret = ddio_ns_write_meta(ns, txn, ns->reserve);
	return ret;
}

static void ns_ended(void *ctx, int err)
{
	struct ddio_ns *ns = ctx;
	size_t i;

	for (i = 0; i < ns->nchanges; i++)
		free(ns->changes[i].value);
	free(ns->changes);
	ns->changes = NULL;
	ns->nchanges = 0;
	for (i = 0; i < ns->by_id.n; i++) {
		struct ddio_ns_entry *entry = ns->by_id.v[i];

		if (entry->sealed && err)
			ddio_ns_entry_dirty(ns, entry);
		entry->sealed = false;
	}
	if (err)
		return;
	if (ns->reserve)
		ns->limit = ns->reserve;
	ddio_ns_overlay_clean(ns);
}

const struct ddio_committer_ops ddio_ns_committer_ops = {
	.seal = ns_seal,
	.apply = ns_apply,
	.ended = ns_ended,
};

void ddio_ns_commit(struct ddio_ns *ns, struct ddio_commit *commit)
{
	ddio_committer_commit(&ns->committer, commit);
}
