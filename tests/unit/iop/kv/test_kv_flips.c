// SPDX-License-Identifier: GPL-2.0-only
/* One wrong bit in a journal, or in LMDB's file below it: what was answered is there, or the damage is named. */
#include <errno.h>
#include <fcntl.h>
#include "base/rand.h"
#include "iop/kv/priv.h"
#include "iop/lmdb/value.h"
#include "tests/unit/iop/store/ut_store.h"

enum { CHANGES = 60, KEYS = 25, FLIPS = 1000 };

struct kv_flips {
	char top[200], dir[260], copy[260], err[600];
	struct ddio_sim *sim;
	struct ddio_env *env;
	struct kv *kv;
	bool repair;
	uint32_t repaired;
	uint64_t rand;
	uint32_t past[CHANGES + 2][KEYS]; /* 0: none */
};

static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };

static bool intact(const char *db, const MDB_val *key, const MDB_val *value)
{
	(void)db;
	return value_record_intact(key, value);
}

static int open_in(struct kv_flips *w, const char *dir)
{
	const struct kv_opts opts = {
		.dir = dir, .dbs = { "a" }, .map = 1 << 20, .intact = intact, .repair = w->repair
	};

	return kv_open(w->env, &opts, &w->kv, w->err, sizeof(w->err));
}

static size_t value_of(uint32_t v, const char *key, uint8_t value[300])
{
	struct ddio_coder c = value_writing(value, 300, 1);
	uint32_t i;

	for (i = 0; i <= v % 50; i++)
		code_u32(&c, &v);
	value_close(&c, key, strlen(key));
	return c.w.len;
}

static void change(struct kv_flips *w, int n)
{
	uint32_t i = (uint32_t)ddio_rand_below(&w->rand, KEYS);
	uint32_t v = ddio_rand_below(&w->rand, 4) ? 1 + (uint32_t)n * 1000 + i : 0;
	uint8_t value[300];
	char key[16];
	int ret;

	snprintf(key, sizeof(key), "key%u", i);
	memcpy(w->past[n], w->past[n - 1], sizeof(w->past[n]));
	w->past[n][i] = v;
	kv_begin(w->kv);
	if (v)
		ret = kv_put(w->kv, 0, key, strlen(key), value, value_of(v, key, value));
	else
		ret = kv_del(w->kv, 0, key, strlen(key));
	CU_ASSERT_EQUAL(ret, 0);
	CU_ASSERT_EQUAL(kv_end(w->kv), 0);
}

/* Returns true if the store holds what it held after change @n. */
static bool holds(struct kv_flips *w, int n)
{
	uint8_t value[300];
	const void *got;
	char key[16];
	uint32_t i;
	size_t len;
	int ret;

	for (i = 0; i < KEYS; i++) {
		snprintf(key, sizeof(key), "key%u", i);
		ret = kv_get(w->kv, 0, key, strlen(key), &got, &len);
		if (ret != (w->past[n][i] ? 0 : -ENOENT))
			return false;
		if (!ret && (len != value_of(w->past[n][i], key, value) || memcmp(got, value, len)))
			return false;
	}
	return true;
}

static void copy(const struct kv_flips *w)
{
	char from[300], to[300];
	size_t i;

	mkdir(w->copy, 0700);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(from, sizeof(from), "%s/%s", w->dir, files[i]);
		snprintf(to, sizeof(to), "%s/%s", w->copy, files[i]);
		ut_copy_file(from, to);
	}
}

/* A third of the changes is in LMDB, the others are in both journals. */
static void begin(struct kv_flips *w, uint64_t seed)
{
	struct ut_commit c;
	int n;

	memset(w, 0, sizeof(*w));
	w->rand = seed;
	ut_temp_dir(w->top, sizeof(w->top));
	snprintf(w->dir, sizeof(w->dir), "%s/kv", w->top);
	snprintf(w->copy, sizeof(w->copy), "%s/copy", w->top);
	w->sim = ddio_sim_new(1);
	w->env = ddio_sim_env(w->sim, "io0");
	CU_ASSERT_EQUAL_FATAL(open_in(w, w->dir), 0);
	for (n = 1; n <= CHANGES; n++) {
		change(w, n);
		if (n == CHANGES / 3) {
			ut_commit_init(&c, w->env);
			kv_commit(w->kv, &c.commit);
			CU_ASSERT_EQUAL(ut_commit_wait(&c), 0);
		}
		if (n == CHANGES * 2 / 3)
			kv_journal_turn(&w->kv->journal);
	}
	copy(w);
	ddio_sim_run_for(w->sim, 2000000000);
	kv_close(w->kv);
	ut_remove_tree(w->dir);
	rename(w->copy, w->dir);
}

static bool set_aside(const struct kv_flips *w)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/journal.0.damaged", w->copy);
	return !access(path, F_OK);
}

/* What is opened has all, or an earlier state and the damaged journals beside it. */
static void check_opened(struct kv_flips *w, const char *file, long bit)
{
	bool whole = holds(w, CHANGES);
	int n = 0;

	while (!whole && n < CHANGES && !holds(w, n))
		n++;
	CU_ASSERT(whole || (n < CHANGES && set_aside(w) && strcmp(file, "data.mdb")));
	if (!whole && (n == CHANGES || !set_aside(w)))
		printf("%s, bit %ld: silently another state\n", file, bit);
}

/* What a start with repair accepts is as it was: a bit of a record is corrected. */
static void flip_repaired(struct kv_flips *w, long bit)
{
	w->repair = true;
	if (!open_in(w, w->copy)) {
		CU_ASSERT(holds(w, CHANGES));
		CU_ASSERT(!kv_lost(w->kv));
		if (!holds(w, CHANGES))
			printf("bit %ld: repaired to another state\n", bit);
		w->repaired++;
		kv_close(w->kv);
	}
	w->repair = false;
}

/* Returns the bytes of LMDB's file, or those of a journal up to the last one that is not zero, and a few more. */
static uint64_t bytes_used(int fd, bool journal)
{
	static uint8_t buf[KV_JOURNAL_KEEP];
	struct stat st;
	ssize_t n;

	CU_ASSERT_FATAL(!fstat(fd, &st) && st.st_size > 0);
	if (!journal)
		return (uint64_t)st.st_size;
	n = pread(fd, buf, sizeof(buf), 0);
	while (n > 0 && !buf[n - 1])
		n--;
	CU_ASSERT_FATAL(n > 0);
	return (uint64_t)n + 32;
}

static void flip(struct kv_flips *w, const char *file)
{
	char path[300];
	uint8_t byte;
	long bit;
	int fd;

	ut_remove_tree(w->copy);
	copy(w);
	snprintf(path, sizeof(path), "%s/%s", w->copy, file);
	fd = open(path, O_RDWR);
	CU_ASSERT_FATAL(fd >= 0);
	bit = (long)ddio_rand_below(&w->rand, bytes_used(fd, *file == 'j') * 8);
	CU_ASSERT_EQUAL(pread(fd, &byte, 1, bit / 8), 1);
	byte ^= (uint8_t)(1 << bit % 8);
	CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, bit / 8), 1);
	close(fd);
	if (!open_in(w, w->copy)) {
		check_opened(w, file, bit);
		kv_close(w->kv);
	} else {
		CU_ASSERT_PTR_NOT_NULL(strstr(w->err, w->copy));
		flip_repaired(w, bit);
	}
}

static void flips(const char *file)
{
	unsigned int n = ut_rounds(FLIPS);
	struct kv_flips w;

	begin(&w, 7);
	while (n--)
		flip(&w, file);
	if (!strcmp(file, "data.mdb") && ut_rounds(FLIPS) == FLIPS)
		CU_ASSERT(w.repaired > 0);
	ddio_sim_free(w.sim);
	ut_remove_tree(w.top);
}

static void test_data(void)
{
	flips("data.mdb");
}

static void test_journal_0(void)
{
	flips("journal.0");
}

static void test_journal_1(void)
{
	flips("journal.1");
}

static int wreck(MDB_txn *txn, void *arg)
{
	struct kv_flips *w = arg;
	MDB_val k = lmdb_val("committed", 9), v;
	uint8_t bytes[64];
	int ret = mdb_get(txn, w->kv->db.dbi[w->kv->own], &k, &v);

	CU_ASSERT_FATAL(!ret && v.mv_size <= sizeof(bytes));
	memcpy(bytes, v.mv_data, v.mv_size);
	bytes[5] ^= 0x11;
	v.mv_data = bytes;
	return mdb_put(txn, w->kv->db.dbi[w->kv->own], &k, &v, 0);
}

/*
 * More than a bit of the number of the last change in LMDB: nobody knows what of the journals would be a step back.  It is
 * refused by name; a repair keeps what has been synced, says that more may be lost, and goes on.
 */
static void test_committed(void)
{
	struct kv_flips w;

	begin(&w, 9);
	copy(&w);
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.copy), 0);
	CU_ASSERT_EQUAL(lmdb_write(&w.kv->db, wreck, &w), 0);
	kv_close(w.kv);
	CU_ASSERT_EQUAL(open_in(&w, w.copy), -EUCLEAN);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.err, "journal"));
	w.repair = true;
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.copy), 0);
	CU_ASSERT(kv_lost(w.kv) && set_aside(&w) && holds(&w, CHANGES));
	w.repair = false;
	change(&w, CHANGES + 1);
	kv_close(w.kv);
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.copy), 0);
	CU_ASSERT(!kv_lost(w.kv) && holds(&w, CHANGES + 1));
	kv_close(w.kv);
	ddio_sim_free(w.sim);
	ut_remove_tree(w.top);
}

static const struct ut_case cases[] = {
	{ "more than a bit of the last change's number", test_committed },
	{ "a bit of LMDB's file", test_data },
	{ "a bit of the first journal", test_journal_0 },
	{ "a bit of the second journal", test_journal_1 },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "wrong bits", cases } };

	return ut_run("test_kv_flips", suites, 1);
}
