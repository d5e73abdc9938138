// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damages the records of a disk whose daemon does not run.
 *
 *   harm DIR extent|object|free|sums|label crc|drop	the first record: a bit turned, or gone
 *   harm DIR extent overlap		the last one is put where the first one lies
 *   harm DIR extent beyond		the first one's place becomes one beyond the disk
 *   harm DIR extent orphan		the first one becomes one of an object that does not exist
 *   harm DIR free double		space of the first extent is free, too
 *   harm DIR inode drop		DIR is the name space's: the last inode's record is gone
 *
 * DIR: the disk's directory of records.  Prints what it did.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/store/priv.h"

#define VALUE_MAX 2048

/**
 * struct harm - what is to be done
 * @db: which records; @how: as on the command line
 */
struct harm {
	struct lmdb db;
	int which;
	const char *how;
};

static const char *const databases[] = {
	[STORE_META] = "label", [STORE_OBJECTS] = "object", [STORE_EXTENTS] = "extent",
	[STORE_FREE] = "free",	[STORE_SUMS] = "sums",
};

static int record_at(struct harm *h, MDB_txn *txn, int which, MDB_cursor_op op, MDB_val *k,
		     MDB_val *v)
{
	MDB_cursor *cursor;
	int ret = mdb_cursor_open(txn, h->db.dbi[which], &cursor);

	if (ret)
		return ret;
	ret = mdb_cursor_get(cursor, k, v, op);
	mdb_cursor_close(cursor);
	return ret;
}

static int extent_at(struct harm *h, MDB_txn *txn, MDB_cursor_op op, struct rec_extent *rec)
{
	MDB_val k, v;
	int ret = record_at(h, txn, STORE_EXTENTS, op, &k, &v);

	return ret ? ret : rec_extent_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, rec);
}

static int extent_put(struct harm *h, MDB_txn *txn, const struct rec_extent *rec)
{
	uint8_t key[REC_EXTENT_KEY_LEN], value[REC_EXTENT_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_extent_key(key, rec->id, rec->block);
	rec_extent_put(value, rec);
	printf("extent at block %llu of object %llu: %llu blocks at byte %llu\n",
	       (unsigned long long)rec->block, (unsigned long long)rec->id,
	       (unsigned long long)rec->count, (unsigned long long)rec->start);
	return mdb_put(txn, h->db.dbi[STORE_EXTENTS], &k, &v, 0);
}

/* The first record of the kind.  Beside the label there are others. */
static int first_of(struct harm *h, MDB_txn *txn, MDB_val *k, MDB_val *v)
{
	if (h->which != STORE_META)
		return record_at(h, txn, h->which, MDB_FIRST, k, v);
	*k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY));
	return mdb_get(txn, h->db.dbi[STORE_META], k, v);
}

static int harm_crc(struct harm *h, MDB_txn *txn)
{
	uint8_t value[VALUE_MAX];
	MDB_val k, v;
	int ret = first_of(h, txn, &k, &v);

	if (ret || v.mv_size > sizeof(value))
		return ret ? ret : -EMSGSIZE;
	memcpy(value, v.mv_data, v.mv_size);
	value[v.mv_size / 2] ^= 0x10;
	v.mv_data = value;
	printf("a bit of the first %s record\n", databases[h->which]);
	return mdb_put(txn, h->db.dbi[h->which], &k, &v, 0);
}

static int harm_drop(struct harm *h, MDB_txn *txn)
{
	MDB_val k, v;
	int ret = first_of(h, txn, &k, &v);

	printf("the first %s record is dropped\n", databases[h->which]);
	return ret ? ret : mdb_del(txn, h->db.dbi[h->which], &k, NULL);
}

static int harm_extent(struct harm *h, MDB_txn *txn)
{
	struct rec_extent first, last;
	int ret = extent_at(h, txn, MDB_FIRST, &first);

	if (!ret)
		ret = extent_at(h, txn, MDB_LAST, &last);
	if (ret)
		return ret;
	if (!strcmp(h->how, "overlap")) {
		last.start = first.start;
		return extent_put(h, txn, &last);
	}
	if (!strcmp(h->how, "beyond")) {
		first.start = UINT64_C(1) << 50;
		return extent_put(h, txn, &first);
	}
	if (strcmp(h->how, "orphan"))
		return -EINVAL;
	ret = harm_drop(h, txn);
	first.id = last.id + 1000;
	return ret ? ret : extent_put(h, txn, &first);
}

static int harm_free(struct harm *h, MDB_txn *txn)
{
	uint8_t key[REC_KEY_LEN], value[REC_FREE_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));
	struct rec_extent first;
	struct rec_free rec;
	int ret = strcmp(h->how, "double") ? -EINVAL : extent_at(h, txn, MDB_FIRST, &first);

	if (ret)
		return ret;
	rec = (struct rec_free){ .start = first.start, .len = DDIO_MIN_BLOCK };
	rec_key(key, rec.start);
	rec_free_put(value, &rec);
	printf("byte %llu is free\n", (unsigned long long)rec.start);
	return mdb_put(txn, h->db.dbi[STORE_FREE], &k, &v, 0);
}

static int forget_inode(MDB_txn *txn, void *arg)
{
	struct harm *h = arg;
	uint64_t ino;
	MDB_val k, v;
	int ret = record_at(h, txn, 0, MDB_LAST, &k, &v);

	if (ret || !rec_key_get(k.mv_data, k.mv_size, &ino))
		return ret ? ret : EINVAL;
	printf("%llu\n", (unsigned long long)ino);
	return mdb_del(txn, h->db.dbi[0], &k, NULL);
}

static int harm_do(MDB_txn *txn, void *arg)
{
	struct harm *h = arg;

	if (!strcmp(h->how, "crc"))
		return harm_crc(h, txn);
	if (!strcmp(h->how, "drop"))
		return harm_drop(h, txn);
	if (h->which == STORE_EXTENTS)
		return harm_extent(h, txn);
	return h->which == STORE_FREE ? harm_free(h, txn) : -EINVAL;
}

int main(int argc, char **argv)
{
	struct lmdb_opts opts = { .dbs = { "meta", "objects", "extents", "free" },
				  .map = STORE_MAP,
				  .sync = true };
	struct harm h = { .which = -1 };
	bool inodes = argc == 4 && !strcmp(argv[2], "inode");
	char err[500];
	size_t i;
	int ret;

	if (inodes)
		opts = (struct lmdb_opts){ .dbs = { "inodes" }, .map = STORE_MAP, .sync = true };
	for (i = 0; argc >= 4 && i < sizeof(databases) / sizeof(databases[0]); i++)
		if (!strcmp(argv[2], databases[i]))
			h.which = (int)i;
	if (h.which < 0 && !inodes) {
		fprintf(stderr, "usage: harm DIR extent|object|free|label HOW\n");
		return 2;
	}
	opts.dir = argv[1];
	h.how = argv[3];
	ret = lmdb_open(&h.db, &opts, err, sizeof(err));
	if (ret) {
		fprintf(stderr, "harm: %s\n", err);
		return 1;
	}
	ret = lmdb_write(&h.db, inodes ? forget_inode : harm_do, &h);
	lmdb_close(&h.db);
	if (ret)
		fprintf(stderr, "harm: %s %s: %s\n", argv[2], argv[3], mdb_strerror(-ret));
	return ret != 0;
}
