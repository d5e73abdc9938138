// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of LMDB's file: it accepts whatever LMDB writes, and of a file with a wrong bit either says so, or all
 * records are read as they were.
 */
#include <errno.h>
#include <fcntl.h>
#include "base/rand.h"
#include "iop/lmdb/env.h"
#include "iop/lmdb/value.h"
#include "tests/unit/iop/store/ut_store.h"

enum { DBS = 3, KEYS = 300, FLIPS = 1000, VALUE_MAX = 12000 };

struct file_world {
	char top[200], path[300], err[600], found[300];
	struct lmdb_opts opts;
	struct lmdb db;
	uint64_t rand;
	uint32_t values[DBS][KEYS]; /* 0: none; else what the value is made from */
	int steps;
};

static uint32_t below(struct file_world *w, uint32_t n)
{
	return (uint32_t)ddio_rand_below(&w->rand, n);
}

static bool intact(const void *arg, const char *db, const MDB_val *key, const MDB_val *value)
{
	(void)arg;
	(void)db;
	return value_record_intact(key, value);
}

static void begin(struct file_world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->rand = seed;
	ut_temp_dir(w->top, sizeof(w->top));
	snprintf(w->path, sizeof(w->path), "%s/data.mdb", w->top);
	w->opts = (struct lmdb_opts){
		.dir = w->top, .dbs = { "a", "b", "c" }, .map = 1 << 20, .intact = intact
	};
	CU_ASSERT_EQUAL_FATAL(lmdb_open(&w->db, &w->opts, w->err, sizeof(w->err)), 0);
}

static void end(struct file_world *w)
{
	ut_remove_tree(w->top);
}

static size_t key_of(uint32_t i, char key[200])
{
	return (size_t)snprintf(key, 200, "%04u%.*s", i * 7919 % KEYS, (int)(i % 90),
				"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

/* Most are short, a few have pages of their own. */
static size_t value_of(uint32_t v, const char *key, size_t key_len, uint8_t *value)
{
	size_t len = v % 23 ? v % 120 : v % (VALUE_MAX - 100);
	struct ddio_coder c = value_writing(value, VALUE_MAX, 1);
	uint8_t *fields = coder_ok(&c) ? ddio_wr_room(&c.w, len) : NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(fields);
	memset(fields, (int)v, len);
	value_close(&c, key, key_len);
	return c.w.len;
}

static int change(MDB_txn *txn, void *arg)
{
	static uint8_t value[VALUE_MAX];
	struct file_world *w = arg;
	char key[200];
	int n = w->steps, ret = 0;

	while (n-- && !ret) {
		uint32_t db = below(w, DBS), i = below(w, KEYS);
		uint32_t v = below(w, 3) ? 1 + below(w, 1000000) : 0;
		MDB_val k = lmdb_val(key, key_of(i, key)), val;

		w->values[db][i] = v;
		val = lmdb_val(value, value_of(v, key, k.mv_size, value));
		if (v)
			ret = mdb_put(txn, w->db.dbi[db], &k, &val, 0);
		else
			ret = mdb_del(txn, w->db.dbi[db], &k, NULL);
		ret = ret == MDB_NOTFOUND ? 0 : ret;
	}
	return ret;
}

static void fill(struct file_world *w, int steps)
{
	uint32_t kept[DBS][KEYS];
	uint64_t rand = w->rand;
	int ret;

	memcpy(kept, w->values, sizeof(kept));
	w->steps = steps;
	while ((ret = lmdb_write_once(&w->db, change, w)) == LMDB_FULL) {
		CU_ASSERT_EQUAL(lmdb_grow(&w->db), 0);
		memcpy(w->values, kept, sizeof(kept));
		w->rand = rand;
	}
	CU_ASSERT_EQUAL_FATAL(ret, 0);
}

/* Whatever LMDB has written is accepted, after any transaction. */
static void test_accepted(void)
{
	struct pages_records records = { .intact = intact };
	struct file_world w;
	int seed, i, ret;

	for (seed = 1; seed <= 6; seed++) {
		begin(&w, (uint64_t)seed);
		for (i = 0; i < 150; i++) {
			ret = lmdb_pages_check(w.path, &records, w.found, sizeof(w.found));
			CU_ASSERT_EQUAL(ret, 0);
			if (ret)
				printf("seed %d, transaction %d: %s\n", seed, i, w.found);
			fill(&w, 1 + (int)below(&w, seed & 1 ? 5 : 200));
		}
		CU_ASSERT_EQUAL(records.damaged, 0);
		lmdb_close(&w.db);
		end(&w);
	}
}

/* Returns how many records are not as they were. */
static uint32_t wrong_records(struct file_world *w)
{
	static uint8_t value[VALUE_MAX];
	uint32_t db, i, bad = 0;
	char key[200];

	CU_ASSERT_EQUAL(lmdb_read_begin(&w->db), 0);
	for (db = 0; db < DBS; db++) {
		for (i = 0; i < KEYS; i++) {
			MDB_val k = lmdb_val(key, key_of(i, key)), v;
			int ret = mdb_get(w->db.read, w->db.dbi[db], &k, &v);
			size_t len = value_of(w->values[db][i], key, k.mv_size, value);

			if (!w->values[db][i])
				bad += ret != MDB_NOTFOUND;
			else
				bad += ret || v.mv_size != len || memcmp(v.mv_data, value, len);
		}
	}
	lmdb_read_end(&w->db);
	return bad;
}

static void flip(int fd, uint64_t bit)
{
	uint8_t byte;

	CU_ASSERT_EQUAL(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
	byte ^= (uint8_t)(1 << bit % 8);
	CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

/* Returns 1 if the damage was noticed; the file is left as it was. */
static int flipped(struct file_world *w, int fd, uint64_t bit)
{
	uint32_t wrong;
	int ret;

	flip(fd, bit);
	ret = lmdb_open(&w->db, &w->opts, w->err, sizeof(w->err));
	if (!ret) {
		wrong = wrong_records(w);
		CU_ASSERT(!wrong || w->db.records.damaged);
		if (wrong && !w->db.records.damaged)
			printf("bit %llu: %u records are wrong\n", (unsigned long long)bit, wrong);
		wrong = w->db.records.damaged != 0;
		CU_ASSERT_EQUAL(w->db.records.first[0] != '\0', wrong);
		lmdb_close(&w->db);
	} else {
		wrong = 1;
		CU_ASSERT_EQUAL(ret, -EUCLEAN);
		CU_ASSERT_PTR_NOT_NULL(strstr(w->err, w->top));
		CU_ASSERT_PTR_NOT_NULL(strstr(w->err, "ddiod(8)"));
	}
	flip(fd, bit);
	return (int)wrong;
}

/* @within: only the first bytes of each page, where LMDB's own numbers stand; 0: anywhere. */
static int flips(uint64_t seed, uint32_t within)
{
	struct file_world w;
	struct stat st;
	int fd, i, noticed = 0;

	begin(&w, seed);
	for (i = 0; i < 40; i++)
		fill(&w, 60);
	lmdb_close(&w.db);
	fd = open(w.path, O_RDWR);
	CU_ASSERT_FATAL(fd >= 0 && !fstat(fd, &st));
	for (i = 0; i < (int)ut_rounds(FLIPS); i++) {
		uint64_t bit = below(&w, (uint32_t)st.st_size * 8);

		if (within)
			bit = bit / 32768 * 32768 + below(&w, within * 8);
		noticed += flipped(&w, fd, bit);
	}
	CU_ASSERT_EQUAL_FATAL(lmdb_open(&w.db, &w.opts, w.err, sizeof(w.err)), 0);
	CU_ASSERT_EQUAL(wrong_records(&w), 0);
	lmdb_close(&w.db);
	close(fd);
	end(&w);
	return noticed;
}

static void test_flips(void)
{
	/* Free pages and gaps do not matter. */
	CU_ASSERT(flips(1, 0) > (int)ut_rounds(FLIPS) / 4);
	CU_ASSERT(flips(2, 64) > (int)ut_rounds(FLIPS) / 4);
}

/* Each bit of both meta pages. */
static void test_meta_bits(void)
{
	struct file_world w;
	uint64_t bit;
	int fd, noticed = 0;

	begin(&w, 3);
	fill(&w, 300);
	fill(&w, 300);
	fill(&w, 3);
	lmdb_close(&w.db);
	fd = open(w.path, O_RDWR);
	CU_ASSERT_FATAL(fd >= 0);
	for (bit = 0; bit < 152 * 8; bit += ut_stride(7)) {
		noticed += flipped(&w, fd, bit);
		noticed += flipped(&w, fd, bit + 32768);
	}
	CU_ASSERT(noticed > (int)(152 * 8 / ut_stride(7)));
	close(fd);
	end(&w);
}

static void test_short(void)
{
	struct file_world w;
	struct stat st;
	off_t len;

	begin(&w, 4);
	fill(&w, 500);
	lmdb_close(&w.db);
	CU_ASSERT_EQUAL_FATAL(stat(w.path, &st), 0);
	for (len = st.st_size - 1; len > 0; len -= 1000) {
		CU_ASSERT_EQUAL(truncate(w.path, len), 0);
		CU_ASSERT_EQUAL(lmdb_open(&w.db, &w.opts, w.err, sizeof(w.err)), -EUCLEAN);
	}
	end(&w);
}

static const struct ut_case cases[] = {
	{ "whatever LMDB writes is accepted", test_accepted },
	{ "of a wrong bit, nothing is read wrong", test_flips },
	{ "each bit of the meta pages", test_meta_bits },
	{ "a file cut short", test_short },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "pages of LMDB", cases } };

	return ut_run("test_lmdb_pages", suites, 1);
}
