// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups become records: set aside on the reactor, written by the worker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/key.h"
#include "iop/sums/priv.h"

void sums_sealed_free(struct sums *sums)
{
	free(sums->sealed.v);
	sums->sealed = (struct sums_sealed){ .v = NULL };
}

/* Copies the group as it is to be recorded. */
static void seal_group(struct sums *sums, struct sums_group *group)
{
	struct rec_sums *rec = &sums->sealed.v[sums->sealed.n++];
	uint32_t i;

	*rec = group->rec;
	sums->sealed.doubt &= group->open;
	for (i = 0; i < SUMS_WORDS; i++)
		rec->doubt[i] = rec->have[i] &
				(group->open ? UINT64_MAX : rec->doubt[i] | group->moving[i]);
	memset(group->fresh, 0, sizeof(group->fresh));
	group->sealed = true;
	sums_group_clean(sums, group);
	if (group->open)
		sums_group_busy(sums, group, false);
}

int sums_seal(struct sums *sums)
{
	struct sums_group *group, *tmp;

	sums_sealed_free(sums);
	if (sums->ndue) {
		sums->sealed.v = malloc(sums->ndue * sizeof(*sums->sealed.v));
		if (!sums->sealed.v)
			return -ENOMEM;
	}
	sums->sealed.doubt = true;
	ddio_list_for_each_entry_safe(group, tmp, &sums->due, link)
		seal_group(sums, group);
	sums->seq++;
	return 0;
}

static int put(const struct sums *sums, MDB_txn *txn, const struct rec_sums *rec)
{
	uint8_t key[REC_SUMS_KEY_LEN], value[REC_SUMS_MAX];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, 0);
	uint64_t any = 0;
	uint32_t i;
	int ret;

	rec_sums_key(key, rec->id, rec->number);
	for (i = 0; i < SUMS_WORDS; i++)
		any |= rec->have[i];
	if (!any) {
		ret = mdb_del(txn, sums->db->dbi[sums->which], &k, NULL);
		return ret == MDB_NOTFOUND ? 0 : ret;
	}
	v.mv_size = rec_sums_put(value, rec);
	return mdb_put(txn, sums->db->dbi[sums->which], &k, &v, 0);
}

int sums_apply(const struct sums *sums, MDB_txn *txn, size_t first, size_t end, bool doubt)
{
	struct rec_sums rec;
	int ret = 0;

	for (; first < end && !ret; first++) {
		rec = sums->sealed.v[first];
		if (doubt)
			memcpy(rec.doubt, rec.have, sizeof(rec.doubt));
		ret = put(sums, txn, &rec);
	}
	return ret;
}

void sums_ended(struct sums *sums, int err)
{
	struct sums_group *group;
	size_t i;

	for (i = 0; i < sums->sealed.n; i++) {
		group = sums_find(sums, sums->sealed.v[i].id, sums->sealed.v[i].number);
		/* It may have been forgotten, and another one made. */
		if (!group || !group->sealed)
			continue;
		group->sealed = false;
		if (err)
			sums_group_busy(sums, group, true);
	}
	sums_sealed_free(sums);
	if (!err)
		sums->done = sums->seq - 1;
	sums_shrink(sums);
}

int sums_cut(const struct sums *sums, MDB_txn *txn, uint64_t id, uint32_t bs, uint64_t first,
	     uint64_t end)
{
	uint64_t per = SUMS_GROUP / sums_chunks(bs), from = first / per + (first % per != 0);
	uint8_t key[REC_SUMS_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_sums rec;
	MDB_cursor *cursor;
	int ret = mdb_cursor_open(txn, sums->db->dbi[sums->which], &cursor);

	if (ret)
		return ret;
	while (!ret) {
		rec_sums_key(key, id, from);
		k = lmdb_val(key, sizeof(key));
		ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
		if (ret)
			break;
		/* The key is read even from a record that is damaged. */
		(void)rec_sums_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec);
		if (k.mv_size != sizeof(key) || rec.id != id || rec.number >= end / per)
			break;
		ret = mdb_cursor_del(cursor, 0);
	}
	mdb_cursor_close(cursor);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static int drop(MDB_txn *txn, void *arg)
{
	const struct sums *sums = arg;

	return mdb_drop(txn, sums->db->dbi[sums->which], 0);
}

int sums_drop(struct sums *sums)
{
	MDB_stat stat;
	int ret = lmdb_read_begin(sums->db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_stat(sums->db->read, sums->db->dbi[sums->which], &stat));
	lmdb_read_end(sums->db);
	if (ret || !stat.ms_entries)
		return ret;
	return lmdb_write(sums->db, drop, sums);
}
