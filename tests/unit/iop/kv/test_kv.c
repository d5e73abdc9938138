// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record store against a plain model: reads, walks, changes that are given up, commits
 * that fail, starts from what a crash leaves, with journals torn off anywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include "base/rand.h"
#include "iop/kv/priv.h"
#include "tests/unit/iop/store/ut_store.h"

/* Journals that were flushed so far: bit 0 and 1. */
/* Bits: the journals, their directory, the directory above it. */
enum { JOURNAL_0 = 1, JOURNAL_1 = 2, DIRECTORY = 4, ABOVE = 8 };
static uint32_t flushed;
/* What had been flushed before the directory was, the last time. */
static uint32_t flushed_before;

static int note_flush(int fd)
{
	char link[32], path[300];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (strstr(path, "/journal.0"))
		flushed |= JOURNAL_0;
	if (strstr(path, "/journal.1"))
		flushed |= JOURNAL_1;
	if (n > 3 && !strcmp(path + n - 3, "/kv")) {
		flushed_before = flushed;
		flushed |= DIRECTORY;
	}
	if (strstr(path, "/ddio-ut-") && !strchr(strstr(path, "/ddio-ut-") + 1, '/'))
		flushed |= ABOVE;
	return 0;
}

/* Both stand in the place of the C library's. */
int fsync(int fd)
{
	return note_flush(fd);
}

int fdatasync(int fd)
{
	return note_flush(fd);
}

enum { KEYS = 40, DBS = 2, STEPS = 4000, CRASHES = 60 };

/* values[db][key]: 0: none */
struct kv_model {
	uint32_t values[DBS][KEYS];
};

struct kv_world {
	char top[200], dir[260], copy[260], err[500];
	struct ddio_sim *sim;
	struct ddio_env *env;
	struct kv *kv;
	uint64_t rand;
	struct kv_model now;
	struct kv_model *past; /* by number of the journal's record */
	struct committer_ops ops;
	int failing;
};

static uint32_t below(struct kv_world *w, uint32_t n)
{
	return (uint32_t)ddio_rand_below(&w->rand, n);
}

static int open_in(struct kv_world *w, const char *dir, struct kv **kv)
{
	const struct kv_opts opts = { .dir = dir, .dbs = { "a", "b" }, .map = 1 << 20 };

	return kv_open(w->env, &opts, kv, w->err, sizeof(w->err));
}

static void begin(struct kv_world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->rand = seed;
	ut_temp_dir(w->top, sizeof(w->top));
	snprintf(w->dir, sizeof(w->dir), "%s/kv", w->top);
	snprintf(w->copy, sizeof(w->copy), "%s/copy", w->top);
	w->sim = ddio_sim_new(1);
	w->env = ddio_sim_env(w->sim, "io0");
	w->past = calloc(STEPS + 2, sizeof(*w->past));
	if (!w->past || open_in(w, w->dir, &w->kv))
		abort();
}

/* A commit that is under way ends first. */
static void end(struct kv_world *w)
{
	ddio_sim_run_for(w->sim, 1000000000);
	kv_close(w->kv);
	ddio_sim_free(w->sim);
	ut_remove_tree(w->top);
	free(w->past);
}

/* Keys of different lengths, one a beginning of the other. */
static size_t key_of(uint32_t i, char key[16])
{
	return (size_t)snprintf(key, 16, "%c%.*s", (char)('a' + i / 5), (int)(i % 5), "xxxxx");
}

static size_t value_of(uint32_t v, uint8_t value[600])
{
	size_t len = 4 + v % 500;

	memset(value, (int)v, len);
	memcpy(value, &v, 4);
	return len;
}

static uint32_t value_get(const void *value, size_t len)
{
	uint8_t right[600];
	uint32_t v;

	if (len < 4)
		return UINT32_MAX;
	memcpy(&v, value, 4);
	return value_of(v, right) == len && !memcmp(right, value, len) ? v : UINT32_MAX;
}

static void check_gets(struct kv_world *w, struct kv *kv, const struct kv_model *m)
{
	uint32_t db, i, bad = 0;
	char key[16];

	(void)w;
	for (db = 0; db < DBS; db++) {
		for (i = 0; i < KEYS; i++) {
			const void *value;
			size_t len, n = key_of(i, key);
			int ret = kv_get(kv, (uint8_t)db, key, n, &value, &len);
			uint32_t v = ret == -ENOENT ? 0 : ret ? UINT32_MAX : value_get(value, len);

			bad += v != m->values[db][i];
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
}

/* The keys of a database in order, from a random place on. */
static void check_walk(struct kv_world *w, struct kv *kv, const struct kv_model *m)
{
	uint32_t db = below(w, DBS), i, expected = 0, seen = 0, bad = 0;
	char from[16], key[16], last[16] = "";
	size_t from_len = key_of(below(w, KEYS), from), last_len = 0;
	struct kv_cursor c;
	int ret;

	for (i = 0; i < KEYS; i++)
		if (m->values[db][i] && kv_compare(key, key_of(i, key), from, from_len) >= 0)
			expected++;
	for (ret = kv_first(&c, kv, (uint8_t)db, from, from_len); !ret; ret = kv_next(&c)) {
		for (i = 0; i < KEYS; i++)
			if (key_of(i, key) == c.key_len && !memcmp(key, c.key, c.key_len))
				break;
		bad += i == KEYS || value_get(c.value, c.len) != m->values[db][i];
		bad += seen && kv_compare(c.key, c.key_len, last, last_len) <= 0;
		last_len = c.key_len < sizeof(last) ? c.key_len : 0;
		memcpy(last, c.key, last_len);
		seen++;
	}
	kv_cursor_close(&c);
	CU_ASSERT_EQUAL(ret, -ENOENT);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(seen, expected);
}

static void change(struct kv_world *w)
{
	struct kv_model next = w->now;
	uint32_t n = 1 + below(w, 5), db, i, v;
	uint8_t value[600];
	char key[16];
	size_t len;
	int ret;

	kv_begin(w->kv);
	while (n--) {
		db = below(w, DBS);
		i = below(w, KEYS);
		v = below(w, 3) ? 1 + below(w, 100000) : 0;
		len = key_of(i, key);
		if (v)
			ret = kv_put(w->kv, (uint8_t)db, key, len, value, value_of(v, value));
		else
			ret = kv_del(w->kv, (uint8_t)db, key, len);
		CU_ASSERT_EQUAL(ret, 0);
		next.values[db][i] = v;
	}
	check_walk(w, w->kv, &next);
	if (!below(w, 5)) {
		kv_abort(w->kv);
		return;
	}
	CU_ASSERT_EQUAL(kv_end(w->kv), 0);
	w->now = next;
	w->past[w->kv->journal.seq] = next;
}

static int apply_or_fail(MDB_txn *txn, void *ctx)
{
	struct kv *kv = ctx;
	int ret = kv_committer_ops.apply(txn, ctx);

	/* which journal it is does not matter: now and then */
	return ret ? ret : kv->sealing % 3 == 1 ? EIO : 0;
}

static void let_some_fail(struct kv_world *w)
{
	w->ops = kv_committer_ops;
	w->ops.apply = apply_or_fail;
	if (below(w, 2))
		w->ops.parts = NULL;
	w->kv->committer.ops = &w->ops;
}

static void copy_files(struct kv_world *w)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	char from[300], to[300];
	size_t i;

	ut_remove_tree(w->copy);
	mkdir(w->copy, 0700);
	for (i = 0; i < 3; i++) {
		snprintf(from, sizeof(from), "%s/%s", w->dir, files[i]);
		snprintf(to, sizeof(to), "%s/%s", w->copy, files[i]);
		ut_copy_file(from, to);
	}
}

/* What a copy holds is one of the states after the last commit, the last one if nothing is torn. */
static void crash(struct kv_world *w, bool tear)
{
	uint64_t committed = w->kv->committed, seq = w->kv->journal.seq;
	struct kv *kv;
	uint32_t size = (uint32_t)w->kv->journal.size[w->kv->journal.at];
	char path[300];

	copy_files(w);
	snprintf(path, sizeof(path), "%s/journal.%d", w->copy, w->kv->journal.at);
	if (tear && size)
		CU_ASSERT_EQUAL(truncate(path, below(w, size)), 0);
	/* There may be zeros for it. */
	if (tear && size && below(w, 2))
		CU_ASSERT_EQUAL(truncate(path, KV_JOURNAL_KEEP), 0);
	CU_ASSERT_EQUAL_FATAL(open_in(w, w->copy, &kv), 0);
	CU_ASSERT(kv->committed >= committed && kv->committed <= seq);
	CU_ASSERT(tear || kv->committed == seq);
	if (kv->committed <= seq)
		check_gets(w, kv, &w->past[kv->committed]);
	kv_close(kv);
}

static void reopen(struct kv_world *w)
{
	ddio_sim_run_for(w->sim, 1000000); /* a commit that is under way ends */
	kv_close(w->kv);
	w->kv = NULL;
	CU_ASSERT_EQUAL_FATAL(open_in(w, w->dir, &w->kv), 0);
	check_gets(w, w->kv, &w->now);
}

static void random_life(bool failing, uint64_t seed)
{
	struct kv_world w;
	int i;

	begin(&w, seed);
	if (failing)
		let_some_fail(&w);
	for (i = 0; i < STEPS; i++) {
		change(&w);
		if (!below(&w, 20))
			check_gets(&w, w.kv, &w.now);
		if (!below(&w, 8))
			check_walk(&w, w.kv, &w.now);
		if (!below(&w, 10))
			kv_commit(w.kv, NULL);
		if (!below(&w, 10))
			ddio_sim_run_for(w.sim, below(&w, 2) ? 1000 : 2000000000);
		if (!below(&w, STEPS / CRASHES))
			crash(&w, below(&w, 2));
		if (!failing && !below(&w, 300))
			reopen(&w);
	}
	w.kv->committer.ops = &kv_committer_ops;
	reopen(&w);
	end(&w);
}

static void test_random(void)
{
	random_life(false, 11);
	if (ut_stride(2) == 1)
		random_life(false, 12);
}

static void test_failing_commits(void)
{
	random_life(true, 21);
	if (ut_stride(2) == 1)
		random_life(true, 22);
}

/* A commit comes by itself, and empties its journal. */
static void test_by_itself(void)
{
	struct kv_world w;

	begin(&w, 5);
	change(&w);
	while (!w.kv->journal.seq)
		change(&w);
	CU_ASSERT_FALSE(kv_clean(w.kv));
	ddio_sim_run_for(w.sim, 2 * KV_COMMIT_NS);
	CU_ASSERT_TRUE(kv_clean(w.kv));
	CU_ASSERT_EQUAL(w.kv->committed, w.kv->journal.seq);
	CU_ASSERT_EQUAL(w.kv->journal.size[0] + w.kv->journal.size[1], 0);
	check_gets(&w, w.kv, &w.now);
	end(&w);
}

/* Much that comes at once does not stay in memory. */
static void test_much(void)
{
	static uint8_t value[60000];
	struct kv_world w;
	uint32_t i, full = 0;

	begin(&w, 6);
	for (i = 0; i < 3000; i++) {
		kv_begin(w.kv);
		CU_ASSERT_EQUAL(kv_put(w.kv, 0, &i, 4, value, sizeof(value)), 0);
		CU_ASSERT_EQUAL(kv_end(w.kv), 0);
		if (kv_full(w.kv)) {
			full++;
			ddio_sim_run_for(w.sim, 1000000000);
		}
	}
	CU_ASSERT(full > 1);
	CU_ASSERT(w.kv->active.bytes < KV_FULL_BYTES + sizeof(value) + 200);
	end(&w);
}

static void test_refused(void)
{
	static uint8_t key[KV_KEY_MAX + 1];
	struct kv_world w;

	begin(&w, 7);
	CU_ASSERT_EQUAL(kv_put(w.kv, 0, "a", 1, "b", 1), -EINVAL); /* not within a change */
	kv_begin(w.kv);
	CU_ASSERT_EQUAL(kv_put(w.kv, 2, "a", 1, "b", 1), -EINVAL); /* the store's own */
	CU_ASSERT_EQUAL(kv_put(w.kv, 0, key, sizeof(key), "b", 1), -EINVAL);
	CU_ASSERT_EQUAL(kv_put(w.kv, 0, key, 0, "b", 1), -EINVAL);
	CU_ASSERT_EQUAL(kv_del(w.kv, 2, "a", 1), -EINVAL);
	kv_abort(w.kv);
	end(&w);
}

/* Removes it, whether it is there or not. */
static void remove_key(struct kv_world *w, uint32_t i)
{
	char key[16];
	size_t len = key_of(i, key);

	kv_begin(w->kv);
	CU_ASSERT_EQUAL(kv_del(w->kv, 0, key, len), 0);
	CU_ASSERT_EQUAL(kv_end(w->kv), 0);
	w->now.values[0][i] = 0;
}

/*
 * If the journal cannot be written, a change that adds something is refused and leaves no trace; one that does not is
 * made, and to be answered when it has been committed.
 */
static void test_journal_fails(void)
{
	struct kv_world w;
	int fd[2], i;

	begin(&w, 8);
	change(&w);
	for (i = 0; i < 2; i++) {
		fd[i] = w.kv->journal.fd[i];
		w.kv->journal.fd[i] = open("/dev/full", O_RDWR);
	}
	kv_begin(w.kv);
	kv_adds(w.kv);
	CU_ASSERT_EQUAL(kv_put(w.kv, 0, "new", 3, "b", 1), 0);
	CU_ASSERT_EQUAL(kv_end(w.kv), -ENOSPC);
	CU_ASSERT_EQUAL(kv_full(w.kv), false);
	check_gets(&w, w.kv, &w.now);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.sim, "file system is full"), true);
	remove_key(&w, 3);
	CU_ASSERT_EQUAL(kv_full(w.kv), true);
	/* Those that follow wait for it, too. */
	remove_key(&w, 5);
	CU_ASSERT_EQUAL(kv_full(w.kv), true);
	ddio_sim_run_for(w.sim, 10000000);
	CU_ASSERT_EQUAL(kv_full(w.kv), false);
	check_gets(&w, w.kv, &w.now);
	for (i = 0; i < 2; i++) {
		close(w.kv->journal.fd[i]);
		w.kv->journal.fd[i] = fd[i];
	}
	change(&w);
	reopen(&w);
	end(&w);
}

/*
 * A start empties both journals, and numbers their records from what LMDB holds: unless that is flushed
 * before the first new record, a crash could bring old records back under the new numbers.
 */
static void test_replay_is_flushed(void)
{
	struct kv_opts opts = { .dbs = { "a", "b" }, .map = 1 << 20, .sync = true };
	struct kv_world w;

	begin(&w, 10);
	change(&w);
	opts.dir = w.dir;
	kv_close(w.kv);
	flushed = 0;
	CU_ASSERT_EQUAL_FATAL(kv_open(w.env, &opts, &w.kv, w.err, sizeof(w.err)), 0);
	CU_ASSERT_EQUAL(flushed, JOURNAL_0 | JOURNAL_1 | DIRECTORY | ABOVE);
	check_gets(&w, w.kv, &w.now);
	/* Without sync nothing is flushed at all. */
	flushed = 0;
	reopen(&w);
	CU_ASSERT_EQUAL(flushed, 0);
	end(&w);
}

/* What has been made is found again after a power cut: directories that got a new name are flushed. */
static void test_names_are_flushed(void)
{
	struct kv_opts opts = { .dbs = { "a", "b" }, .map = 1 << 20, .sync = true };
	struct kv_world w;

	begin(&w, 11);
	kv_close(w.kv);
	ut_remove_tree(w.dir);
	opts.dir = w.dir;
	flushed = 0;
	CU_ASSERT_EQUAL_FATAL(kv_open(w.env, &opts, &w.kv, w.err, sizeof(w.err)), 0);
	CU_ASSERT_EQUAL(flushed, JOURNAL_0 | JOURNAL_1 | DIRECTORY | ABOVE);
	/* The journals are made behind LMDB's files, so their names are flushed then. */
	CU_ASSERT_EQUAL(flushed_before & (JOURNAL_0 | JOURNAL_1), JOURNAL_0 | JOURNAL_1);
	end(&w);
}

static void put(struct kv_world *w, uint32_t i)
{
	kv_begin(w->kv);
	CU_ASSERT_EQUAL(kv_put(w->kv, 0, "count", 5, &i, sizeof(i)), 0);
	CU_ASSERT_EQUAL(kv_end(w->kv), 0);
}

/*
 * Five changes are in the journal; its byte @at, from the end of the last one if it is negative, changes, or the journal ends
 * there, or has zeros from there on.  The next open must find @want changes, keep the journal if @damaged, and say so.
 */
enum breakage { CHANGE, CUT, ZEROS };

static void break_journal(long at, enum breakage how, uint32_t want, bool damaged)
{
	char path[300], aside[320];
	struct kv_world w;
	const void *value;
	uint32_t i, got;
	struct stat st;
	bool dropped;
	size_t len;
	FILE *f;

	begin(&w, 12);
	for (i = 1; i <= 5; i++)
		put(&w, i);
	snprintf(path, sizeof(path), "%s/journal.%d", w.dir, w.kv->journal.at);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	at += at < 0 ? (long)w.kv->journal.size[w.kv->journal.at] : 0;
	dropped = how != CHANGE || at >= (long)w.kv->journal.size[w.kv->journal.at];
	kv_close(w.kv);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	if (how != CHANGE) {
		CU_ASSERT_EQUAL(truncate(path, at), 0);
		CU_ASSERT_EQUAL(how == CUT || !truncate(path, st.st_size), true);
	} else {
		f = fopen(path, "r+b");
		if (!f || fseek(f, at, SEEK_SET) || fputc('X', f) == EOF || fclose(f))
			abort();
	}
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.dir, &w.kv), 0);
	CU_ASSERT_EQUAL(kv_get(w.kv, 0, "count", 5, &value, &len), 0);
	memcpy(&got, value, sizeof(got));
	CU_ASSERT_EQUAL(got, want);
	CU_ASSERT_EQUAL(stat(aside, &st), damaged ? 0 : -1);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.sim, "run 'ddio fsck'"), damaged);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.sim, "never answered: dropped"), dropped && !damaged);
	/* It goes on behind what was found. */
	put(&w, 9);
	reopen(&w);
	CU_ASSERT_EQUAL(kv_get(w.kv, 0, "count", 5, &value, &len), 0);
	memcpy(&got, value, sizeof(got));
	CU_ASSERT_EQUAL(got, 9);
	end(&w);
}

/* A change of this test: its head, that of its operation, key and value. */
enum { RECORD = KV_JOURNAL_HEAD + 8 + 5 + 4 };

static void test_torn_or_damaged(void)
{
	break_journal(-1, CUT, 4, false);
	break_journal(-RECORD + 1, CUT, 4, false);
	break_journal(-20, ZEROS, 4, false);
	break_journal(-RECORD + 1, ZEROS, 4, false);
	/* Bytes beyond the records belong to none. */
	break_journal(5 * RECORD + 100, CHANGE, 5, false);
	/* Whole, but wrong. */
	break_journal(-1, CHANGE, 4, true);
	break_journal(2 * RECORD + KV_JOURNAL_HEAD, CHANGE, 2, true);
	break_journal(RECORD + 9, CHANGE, 1, true);
	/* A length that leads nowhere; that of the last one. */
	break_journal(3 * RECORD + 1, CHANGE, 3, true);
	break_journal(4 * RECORD + 1, CHANGE, 5, false);
}

static uint64_t journal_length(const struct kv_world *w, int which)
{
	struct stat st = { 0 };

	fstat(w->kv->journal.fd[which], &st);
	return (uint64_t)st.st_size;
}

/* Returns where the journal has the last byte that is not zero. */
static uint64_t journal_used(const struct kv_world *w, int which)
{
	static uint8_t buf[2 * KV_JOURNAL_KEEP];
	ssize_t n = pread(w->kv->journal.fd[which], buf, sizeof(buf), 0);

	while (n > 0 && !buf[n - 1])
		n--;
	return n > 0 ? (uint64_t)n : 0;
}

/* A journal is as long as it was after it has been emptied, and only zeros; unless it was long. */
static void test_keeps_its_length(void)
{
	uint64_t len;
	struct kv_world w;
	uint32_t i, at;

	begin(&w, 15);
	put(&w, 1);
	at = (uint32_t)w.kv->journal.at;
	len = journal_length(&w, at);
	CU_ASSERT(len >= 10 * RECORD);
	for (i = 2; i <= 10; i++)
		put(&w, i);
	CU_ASSERT_EQUAL(journal_length(&w, at), len);
	kv_commit(w.kv, NULL);
	ddio_sim_run_for(w.sim, 1000000);
	CU_ASSERT_EQUAL(journal_used(&w, at), 0);
	CU_ASSERT_EQUAL(journal_length(&w, at), len);
	/* One that has room for 256 KB is the longest that stays. */
	for (i = 0; i <= KV_JOURNAL_KEEP / RECORD; i++)
		put(&w, i);
	at = (uint32_t)w.kv->journal.at;
	CU_ASSERT(journal_length(&w, at) > KV_JOURNAL_KEEP);
	kv_commit(w.kv, NULL);
	ddio_sim_run_for(w.sim, 1000000);
	CU_ASSERT_EQUAL(journal_length(&w, at), 0);
	reopen(&w);
	end(&w);
}

/* Emptying is not flushed: what a loss of power brings back of it, whole or in part, was committed before. */
static void test_old_records(void)
{
	static uint8_t old[16 * RECORD];
	char path[300];
	struct kv_world w;
	const void *value;
	uint32_t i, got, at;
	size_t len;
	int fd;

	begin(&w, 16);
	for (i = 1; i <= 16; i++)
		put(&w, i);
	at = (uint32_t)w.kv->journal.at;
	CU_ASSERT_EQUAL(pread(w.kv->journal.fd[at], old, sizeof(old), 0), sizeof(old));
	kv_commit(w.kv, NULL);
	ddio_sim_run_for(w.sim, 1000000);
	put(&w, 17);
	kv_commit(w.kv, NULL);
	ddio_sim_run_for(w.sim, 1000000);
	put(&w, 18);
	CU_ASSERT_EQUAL_FATAL(w.kv->journal.at, (int)at);
	put(&w, 19);
	copy_files(&w);
	/* Behind two new records, a part of an old one and whole ones. */
	snprintf(path, sizeof(path), "%s/journal.%u", w.copy, at);
	fd = open(path, O_RDWR);
	CU_ASSERT_EQUAL(pwrite(fd, old + 2 * RECORD + 5, sizeof(old) - 2 * RECORD - 5,
			       2 * RECORD + 5),
			sizeof(old) - 2 * RECORD - 5);
	close(fd);
	kv_close(w.kv);
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.copy, &w.kv), 0);
	CU_ASSERT_EQUAL(kv_get(w.kv, 0, "count", 5, &value, &len), 0);
	memcpy(&got, value, sizeof(got));
	CU_ASSERT_EQUAL(got, 19);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.sim, "run 'ddio fsck'"), false);
	end(&w);
}

/* What a process had said to be done is there after its sudden end. */
static void child(struct kv_world *w, int fd)
{
	uint32_t i;

	for (i = 1;; i++) {
		kv_begin(w->kv);
		kv_put(w->kv, 0, "count", 5, &i, sizeof(i));
		if (kv_end(w->kv) || write(fd, &i, sizeof(i)) != sizeof(i))
			_exit(1);
		if (!(i % 100))
			kv_commit(w->kv, NULL);
		if (!(i % 70))
			ddio_sim_run_for(w->sim, 1000000);
	}
}

static void kill_one(unsigned int after)
{
	uint32_t said = 0, n, count = 0;
	const void *value;
	struct kv_world w;
	int pipe_fd[2];
	size_t len;
	pid_t pid;

	begin(&w, 9);
	kv_close(w.kv);
	w.kv = NULL;
	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fd), 0);
	pid = fork();
	if (!pid) {
		close(pipe_fd[0]);
		if (open_in(&w, w.dir, &w.kv))
			_exit(1);
		child(&w, pipe_fd[1]);
	}
	close(pipe_fd[1]);
	while (read(pipe_fd[0], &n, sizeof(n)) == sizeof(n)) {
		said = n;
		if (said == after)
			kill(pid, SIGKILL);
	}
	close(pipe_fd[0]);
	waitpid(pid, NULL, 0);
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.dir, &w.kv), 0);
	CU_ASSERT_EQUAL(kv_get(w.kv, 0, "count", 5, &value, &len), 0);
	if (len == sizeof(count))
		memcpy(&count, value, len);
	CU_ASSERT(count >= said && count <= said + 1);
	end(&w);
}

static void test_kill(void)
{
	static const unsigned int moments[] = { 1, 50, 101, 175, 333, 1000 };
	size_t i;

	for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		kill_one(moments[i]);
}

static const struct ut_case cases[] = {
	{ "random changes, crashes, torn journals", test_random },
	{ "the same with commits that fail", test_failing_commits },
	{ "a commit comes by itself", test_by_itself },
	{ "memory is bounded", test_much },
	{ "refused", test_refused },
	{ "a journal cannot be written", test_journal_fails },
	{ "a replay is flushed", test_replay_is_flushed },
	{ "names are flushed", test_names_are_flushed },
	{ "a journal torn off, a journal damaged", test_torn_or_damaged },
	{ "a journal keeps its length", test_keeps_its_length },
	{ "old records behind new ones", test_old_records },
	{ "a process is killed", test_kill },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "kv", cases } };

	return ut_run("kv", suites, 1);
}
