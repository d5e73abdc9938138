// SPDX-License-Identifier: GPL-2.0-only
/* Opening the store: who a disk and its records belong to, and what is refused with which words. */
#include <endian.h>
#include <errno.h>
#include "base/crc32c.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define SIZE (4 * MIB)

/* Checks that the error names what was found and what to do. */
static void says(const struct ut_store *t, const char *text)
{
	if (!strstr(t->err, text))
		fprintf(stderr, "'%s' does not say '%s'\n", t->err, text);
	CU_ASSERT_PTR_NOT_NULL(strstr(t->err, text));
	CU_ASSERT_PTR_NOT_NULL(strstr(t->err, "d0"));
	CU_ASSERT_PTR_NULL(strchr(t->err, '\n'));
}

static void disk_poke(struct ut_store *t, uint64_t offset, const void *data, size_t len)
{
	FILE *f = fopen(t->file, "r+b");

	if (!f || fseek(f, (long)offset, SEEK_SET) || fwrite(data, 1, len, f) != len || fclose(f))
		abort();
}

static void disk_wipe(struct ut_store *t)
{
	static const uint8_t zeros[4096];

	disk_poke(t, 0, zeros, sizeof(zeros));
}

/* One object of three blocks, so that there is something to lose. */
static void fill(struct ut_store *t)
{
	struct object *obj = ut_object(t, 1, 512, 0, true);

	CU_ASSERT_EQUAL(ut_fill(obj, 0, 3), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	object_put(obj);
}

static void test_mismatches(void)
{
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	fill(&t);
	ut_store_close(&t);
	t.opts.cluster = "other";
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "found cluster demo, disk d0, number 7");
	says(&t, "expected cluster other");
	t.opts.cluster = "demo";
	t.opts.disk = 8;
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "expected cluster demo, disk d0, number 8");
	t.opts.disk = 7;
	t.opts.disk_name = "d01";
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "expected cluster demo, disk d01");
	t.opts.disk_name = "d0";
	ddio_disk_close(t.disk);
	t.disk = NULL;
	/* Without a size in the configuration the disk has what its file or device has. */
	t.spec.size = 0;
	CU_ASSERT_EQUAL(truncate(t.file, 2 * SIZE), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "the label says 4194304 bytes, but disk d0 has 8388608");
	says(&t, "set size = 4194304");
	ddio_disk_close(t.disk);
	t.disk = NULL;
	CU_ASSERT_EQUAL(truncate(t.file, SIZE / 2), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "the label says 4194304 bytes, but disk d0 has 2097152: its end is missing");
	CU_ASSERT_EQUAL(truncate(t.file, SIZE), 0);
	ddio_disk_close(t.disk);
	t.disk = NULL;
	t.spec.size = SIZE;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	ut_store_end(&t);
}

static void test_one_without_the_other(void)
{
	struct ut_store t;
	char kept[300];

	ut_store_begin(&t, SIZE);
	fill(&t);
	ut_store_close(&t);
	/* Other records: none. */
	snprintf(kept, sizeof(kept), "%s.kept", t.recs);
	CU_ASSERT_EQUAL(rename(t.recs, kept), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), -ENOMEDIUM);
	says(&t, "no records of it");
	says(&t, "zeros to start afresh");
	ut_remove_tree(t.recs);
	CU_ASSERT_EQUAL(rename(kept, t.recs), 0);
	/* Another disk: blank. */
	disk_wipe(&t);
	CU_ASSERT_EQUAL(ut_store_open(&t), -ENOMEDIUM);
	says(&t, "it is blank, but there are records of it");
	/* Both anew, and then with the records of before. */
	CU_ASSERT_EQUAL(rename(t.recs, kept), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 0);
	ut_store_close(&t);
	ut_remove_tree(t.recs);
	CU_ASSERT_EQUAL(rename(kept, t.recs), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "do not belong together");
	ut_store_end(&t);
}

static void test_foreign_disk(void)
{
	struct ut_store t;

	ut_store_prepare(&t, SIZE);
	ut_store_disk(&t);
	disk_poke(&t, 1080, "\x53\xef", 2); /* as ext4 has it */
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	says(&t, "not ddio's");
	disk_wipe(&t);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	ut_store_end(&t);
}

static void test_damaged_label(void)
{
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	fill(&t);
	ut_store_close(&t);
	disk_poke(&t, 44, "D", 1);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EUCLEAN);
	says(&t, "its label is damaged");
	t.opts.repair = true;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	t.opts.repair = false;
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	ut_store_end(&t);
}

static void test_other_version(void)
{
	uint8_t buf[LABEL_LEN];
	struct label label = { .disk = 1 };
	uint32_t crc;

	rec_label_put(buf, &label);
	CU_ASSERT_EQUAL(rec_label_get(buf, sizeof(buf), &label), 0);
	CU_ASSERT_EQUAL(rec_label_get(buf, sizeof(buf) - 1, &label), -EMEDIUMTYPE);
	buf[8] = LABEL_VERSION + 1;
	CU_ASSERT_EQUAL(rec_label_get(buf, sizeof(buf), &label), -EUCLEAN);
	crc = htole32(ddio_crc32c(0, buf, sizeof(buf) - sizeof(crc)));
	memcpy(buf + sizeof(buf) - sizeof(crc), &crc, sizeof(crc));
	CU_ASSERT_EQUAL(rec_label_get(buf, sizeof(buf), &label), -EPROTONOSUPPORT);
}

static int put_version(MDB_txn *txn, void *arg)
{
	struct store *store = arg;
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	uint8_t buf[LABEL_LEN];
	uint32_t crc;

	rec_label_put(buf, &store->label);
	buf[8] = LABEL_VERSION - 1;
	crc = htole32(ddio_crc32c(0, buf, sizeof(buf) - sizeof(crc)));
	memcpy(buf + sizeof(buf) - sizeof(crc), &crc, sizeof(crc));
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

/* A disk, or records, of an earlier version are refused with a text that says what to do; also by a repair. */
static void test_earlier_version(void)
{
	struct ut_store t;
	uint8_t label[LABEL_LEN];
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	int i;

	ut_store_begin(&t, SIZE);
	fill(&t);
	CU_ASSERT_EQUAL_FATAL(lmdb_write(&t.store->db, put_version, t.store), 0);
	CU_ASSERT_EQUAL_FATAL(lmdb_read_begin(&t.store->db), 0);
	CU_ASSERT_EQUAL_FATAL(mdb_get(t.store->db.read, t.store->db.dbi[STORE_META], &k, &v), 0);
	memcpy(label, v.mv_data, sizeof(label));
	lmdb_read_end(&t.store->db);
	ut_store_close(&t);
	for (i = 0; i < 4; i++) {
		t.opts.repair = i % 2;
		if (i == 2)
			disk_poke(&t, 0, label, sizeof(label));
		CU_ASSERT_EQUAL(ut_store_open(&t), -EPROTONOSUPPORT);
		says(&t, i < 2 ? "the label in its records is of another version of ddio"
			       : "its label is of another version of ddio");
		says(&t, "copy its files away with the version that made it");
	}
	ut_store_end(&t);
}

static void test_in_use(void)
{
	struct store *second;
	struct ddio_disk *disk;
	struct ut_store t;
	char err[300];

	ut_store_begin(&t, SIZE);
	t.spec.path = NULL;
	CU_ASSERT_EQUAL_FATAL(ddio_disk_open(t.env, &t.spec, &disk, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(store_open(t.env, disk, &t.opts, &second, t.err, sizeof(t.err)), -EBUSY);
	says(&t, "in use by another process");
	ddio_disk_close(disk);
	ut_store_end(&t);
}

static void test_unusable_directory(void)
{
	struct ut_store t;

	ut_store_prepare(&t, SIZE);
	ut_store_disk(&t);
	snprintf(t.recs, sizeof(t.recs), "%.200s/disk/x", t.top);
	CU_ASSERT_EQUAL(ut_store_open(&t), -ENOTDIR);
	says(&t, "/x");
	ut_store_end(&t);
}

/* A disk in memory begins empty each time, and so do its records. */
static void test_forgetting_disk(void)
{
	struct ut_store t;

	ut_store_prepare(&t, SIZE);
	t.spec.path = NULL;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	fill(&t);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), SIZE - 4096);
	/* Also if it has another size now. */
	ut_store_close(&t);
	t.spec.size = 2 * SIZE;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 2 * SIZE - 4096);
	ut_store_end(&t);
}

/* But the records of a disk that lasts are not thrown away because the engine was changed. */
static void test_forgetting_disk_spares_records(void)
{
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	fill(&t);
	ut_store_close(&t);
	t.spec.path = NULL;
	CU_ASSERT_EQUAL(ut_store_open(&t), -ENOMEDIUM);
	says(&t, "in memory only");
	ddio_disk_close(t.disk);
	t.disk = NULL;
	t.spec.path = t.file;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	ut_store_end(&t);
}

static int mark_new(MDB_txn *txn, void *arg)
{
	return store_put_label(arg, txn, LABEL_NEW);
}

/* The first start is cut off: before the disk's label was written, or before the records knew. */
static void test_interrupted_first_start(void)
{
	struct ut_store t;
	int wiped;

	for (wiped = 0; wiped < 2; wiped++) {
		ut_store_begin(&t, SIZE);
		CU_ASSERT_EQUAL(lmdb_write(&t.store->db, mark_new, t.store), 0);
		if (wiped)
			disk_wipe(&t);
		CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
		fill(&t);
		CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
		CU_ASSERT_EQUAL(store_objects(t.store), 1);
		ut_store_end(&t);
	}
}

static int damage_label(MDB_txn *txn, void *arg)
{
	struct store *store = arg;
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	uint8_t buf[LABEL_LEN];

	rec_label_put(buf, &store->label);
	buf[100] ^= 1;
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

static void test_damaged_label_of_records(void)
{
	struct ddio_msg_fsck fsck;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	fill(&t);
	CU_ASSERT_EQUAL(lmdb_write(&t.store->db, damage_label, t.store), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, "label"));
	CU_ASSERT_EQUAL(ut_store_reopen(&t), -EUCLEAN);
	says(&t, "the label in its records");
	t.opts.repair = true;
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	ut_store_clean(&t);
	/* A check can mend it too. */
	CU_ASSERT_EQUAL(lmdb_write(&t.store->db, damage_label, t.store), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, 1);
	t.opts.repair = false;
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	ut_store_end(&t);
}

/* A disk that cannot be read or written is refused, not taken for a new one. */
static void test_unreadable_disk(void)
{
	struct ut_store t;

	ut_store_prepare(&t, SIZE);
	ut_store_disk(&t);
	CU_ASSERT_EQUAL(truncate(t.file, 0), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EIO);
	says(&t, "cannot read its label");
	CU_ASSERT_EQUAL(truncate(t.file, SIZE), 0);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	ut_store_end(&t);
}

static void test_too_small(void)
{
	struct ut_store t;

	ut_store_prepare(&t, 4096 + 512);
	CU_ASSERT_EQUAL(ut_store_open(&t), -ENOSPC);
	says(&t, "too few");
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "mismatches", test_mismatches },
	{ "disk without records, records without disk", test_one_without_the_other },
	{ "foreign disk", test_foreign_disk },
	{ "damaged label", test_damaged_label },
	{ "label of another version", test_other_version },
	{ "an earlier version", test_earlier_version },
	{ "in use", test_in_use },
	{ "unusable directory", test_unusable_directory },
	{ "forgetting disk", test_forgetting_disk },
	{ "forgetting disk spares lasting records", test_forgetting_disk_spares_records },
	{ "interrupted first start", test_interrupted_first_start },
	{ "damaged label of the records", test_damaged_label_of_records },
	{ "unreadable disk", test_unreadable_disk },
	{ "too small", test_too_small },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "label", cases } };

	return ut_run("store_label", suites, 1);
}
