// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes of the journals: what was said to be durable is there after a loss of power, which leaves of each journal what
 * its last flush left, and of LMDB what its last commit did.
 */
#include <errno.h>
#include <fcntl.h>
#include "iop/kv/priv.h"
#include "tests/unit/iop/store/ut_store.h"

/*
 * Flushes of each journal, and of LMDB's file; how many flushes of journals are to fail, and commits to find no room; where
 * journals are kept.
 */
static uint32_t flushes[2], commits, failing, full;
static char stable[260];

static void keep_journal(const char *path, int which)
{
	char to[300];

	flushes[which]++;
	snprintf(to, sizeof(to), "%s/journal.%d", stable, which);
	ut_copy_file(path, to);
}

/* Stands in the place of the C library's, for LMDB, too, which may be a library of its own. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
	char link[32], path[300];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	commits += name && !strcmp(name, "/data.mdb");
	if (full && name && !strcmp(name, "/data.mdb")) {
		full--;
		errno = ENOSPC;
		return -1;
	}
	if (!name || strncmp(name, "/journal.", 9))
		return 0;
	if (failing) {
		failing--;
		errno = EIO;
		return -1;
	}
	keep_journal(path, name[9] - '0');
	return 0;
}

struct flush_world {
	char top[200], dir[260], err[500];
	struct ddio_sim *sim;
	struct ddio_env *env;
	struct kv *kv;
	struct committer_ops ops;
	struct commit commit[4];
	uint32_t told[4];
	int status[4];
};

static int open_in(struct flush_world *w, const char *dir, bool sync, struct kv **kv)
{
	const struct kv_opts opts = { .dir = dir, .dbs = { "a" }, .map = 1 << 20, .sync = sync };

	return kv_open(w->env, &opts, kv, w->err, sizeof(w->err));
}

static void begin(struct flush_world *w, bool sync)
{
	memset(w, 0, sizeof(*w));
	ut_temp_dir(w->top, sizeof(w->top));
	snprintf(w->dir, sizeof(w->dir), "%s/kv", w->top);
	snprintf(stable, sizeof(stable), "%s/stable", w->top);
	mkdir(stable, 0700);
	w->sim = ddio_sim_new(1);
	w->env = ddio_sim_env(w->sim, "io0");
	CU_ASSERT_EQUAL_FATAL(open_in(w, w->dir, sync, &w->kv), 0);
	memset(flushes, 0, sizeof(flushes));
	commits = 0;
	failing = 0;
}

static void end(struct flush_world *w)
{
	ddio_sim_run_for(w->sim, 3000000000);
	kv_close(w->kv);
	ddio_sim_free(w->sim);
	ut_remove_tree(w->top);
}

static void put(struct flush_world *w, const char *key)
{
	kv_begin(w->kv);
	CU_ASSERT_EQUAL(kv_put(w->kv, 0, key, strlen(key), "value", 5), 0);
	CU_ASSERT_EQUAL(kv_end(w->kv), 0);
}

static void flushed(struct commit *commit, int err)
{
	struct flush_world *w = commit->arg;
	size_t i = (size_t)(commit - w->commit);

	w->told[i]++;
	w->status[i] = err;
}

/* Asks for a flush, or a commit, as number @i; the answer never comes inside the call. */
static void ask(struct flush_world *w, uint32_t i, void (*fn)(struct kv *kv, struct commit *commit))
{
	w->commit[i] = (struct commit){ .done = flushed, .arg = w };
	w->told[i] = 0;
	fn(w->kv, &w->commit[i]);
	CU_ASSERT_EQUAL(w->told[i], 0);
}

/* Less than the time after which a commit comes by itself. */
static void wait_for(struct flush_world *w, uint32_t i, int status)
{
	ddio_sim_run_for(w->sim, 10000000);
	CU_ASSERT_EQUAL(w->told[i], 1);
	CU_ASSERT_EQUAL(w->status[i], status);
}

/* Returns a string of those of @keys, of one letter each, that are there after a loss of power. */
static const char *left(struct flush_world *w, const char *keys)
{
	static char found[16];
	char from[300], to[300];
	const void *value;
	struct kv *kv;
	size_t len, n = 0;

	snprintf(from, sizeof(from), "%s/data.mdb", w->dir);
	snprintf(to, sizeof(to), "%s/data.mdb", stable);
	ut_copy_file(from, to);
	CU_ASSERT_EQUAL_FATAL(open_in(w, stable, false, &kv), 0);
	for (; *keys; keys++)
		if (!kv_get(kv, 0, keys, 1, &value, &len))
			found[n++] = *keys;
	found[n] = '\0';
	kv_close(kv);
	return found;
}

/* A flush waits for the journal alone, and covers what was changed before it was asked for. */
static void journal_alone(void)
{
	struct flush_world w;

	begin(&w, true);
	put(&w, "a");
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_EQUAL(flushes[0] + flushes[1], 1);
	CU_ASSERT_EQUAL(commits, 0);
	put(&w, "b");
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "a");
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "ab");
	/* Nothing is left to be flushed. */
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_EQUAL(flushes[0] + flushes[1], 2);
	/* The commit comes by itself all the same. */
	ddio_sim_run_for(w.sim, 2000000000);
	CU_ASSERT(commits > 0);
	CU_ASSERT_EQUAL(kv_clean(w.kv), true);
	end(&w);
}

/* Who comes during a flush shares it, unless something was changed since it began; then the next one. */
static void shared(void)
{
	struct flush_world w;

	begin(&w, true);
	put(&w, "a");
	ask(&w, 0, kv_flush);
	ask(&w, 1, kv_flush);
	put(&w, "b");
	ask(&w, 2, kv_flush);
	ask(&w, 3, kv_flush);
	wait_for(&w, 0, 0);
	wait_for(&w, 1, 0);
	wait_for(&w, 2, 0);
	wait_for(&w, 3, 0);
	CU_ASSERT_EQUAL(flushes[0] + flushes[1], 2);
	CU_ASSERT_EQUAL(commits, 0);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "ab");
	end(&w);
}

static int apply_fails(MDB_txn *txn, void *ctx)
{
	(void)txn;
	(void)ctx;
	return EIO;
}

/* What is being committed is in the other journal, which is flushed as well: the commit may fail. */
static void during_a_commit(void)
{
	struct flush_world w;

	begin(&w, true);
	w.ops = kv_committer_ops;
	w.ops.apply = apply_fails;
	w.ops.parts = NULL;
	w.kv->committer.ops = &w.ops;
	put(&w, "a");
	ask(&w, 0, kv_commit);
	put(&w, "b");
	ask(&w, 1, kv_flush);
	wait_for(&w, 0, -EIO);
	wait_for(&w, 1, 0);
	CU_ASSERT_EQUAL(flushes[0], 1);
	CU_ASSERT_EQUAL(flushes[1], 1);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "ab");
	w.kv->committer.ops = &kv_committer_ops;
	end(&w);
}

/* A journal that could not be flushed may have lost any record, so all is committed, and everybody hears of that alone. */
static void flush_fails(void)
{
	struct flush_world w;
	uint32_t n;

	begin(&w, true);
	put(&w, "a");
	failing = 1;
	ask(&w, 0, kv_flush);
	ask(&w, 1, kv_flush);
	put(&w, "b");
	ask(&w, 2, kv_flush);
	wait_for(&w, 0, 0);
	wait_for(&w, 1, 0);
	wait_for(&w, 2, 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.sim, "a flush of the journals failed"), true);
	CU_ASSERT(commits > 0);
	CU_ASSERT_EQUAL(flushes[0] + flushes[1], 0);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "ab");
	/* The journal is empty now, and as good as a new one. */
	n = commits;
	put(&w, "c");
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_EQUAL(commits, n);
	CU_ASSERT_STRING_EQUAL(left(&w, "abc"), "abc");
	end(&w);
}

/* Neither the journal nor LMDB can keep it: each who asked hears so, once, and nobody hears 0 before it is kept. */
static void both_fail(void)
{
	struct flush_world w;

	begin(&w, true);
	w.ops = kv_committer_ops;
	w.ops.apply = apply_fails;
	w.kv->committer.ops = &w.ops;
	put(&w, "a");
	failing = 1;
	ask(&w, 0, kv_flush);
	ask(&w, 1, kv_flush);
	wait_for(&w, 0, -EIO);
	wait_for(&w, 1, -EIO);
	/* The next flush of the journal would succeed, and mean nothing. */
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, -EIO);
	CU_ASSERT_STRING_EQUAL(left(&w, "a"), "");
	/* Nor may a commit in parts count on it. */
	CU_ASSERT_EQUAL(kv_write_parts(w.kv, &w.kv->active, w.kv->journal.seq), -EIO);
	w.kv->committer.ops = &kv_committer_ops;
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_STRING_EQUAL(left(&w, "a"), "a");
	end(&w);
}

/* What found no room in a journal is committed. */
static void not_in_a_journal(void)
{
	struct flush_world w;
	int fd[2], i;

	begin(&w, true);
	put(&w, "a");
	put(&w, "b");
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	for (i = 0; i < 2; i++) {
		fd[i] = w.kv->journal.fd[i];
		w.kv->journal.fd[i] = open("/dev/full", O_RDWR);
	}
	w.ops = kv_committer_ops;
	w.ops.apply = apply_fails;
	w.ops.parts = NULL;
	w.kv->committer.ops = &w.ops;
	kv_begin(w.kv);
	CU_ASSERT_EQUAL(kv_del(w.kv, 0, "a", 1), 0);
	CU_ASSERT_EQUAL(kv_end(w.kv), 0);
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, -EIO);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "ab");
	w.kv->committer.ops = &kv_committer_ops;
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_STRING_EQUAL(left(&w, "ab"), "b");
	for (i = 0; i < 2; i++) {
		close(w.kv->journal.fd[i]);
		w.kv->journal.fd[i] = fd[i];
	}
	end(&w);
}

/* A start that finds no room for all that the journals hold in one transaction writes it in several. */
static void replayed_in_parts(void)
{
	static const char *const keys[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
	struct flush_world w;
	const void *value;
	size_t i, len;

	begin(&w, true);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		put(&w, keys[i]);
	ddio_timer_cancel(w.env, &w.kv->timer);
	kv_close(w.kv);
	commits = 0;
	full = 1;
	CU_ASSERT_EQUAL_FATAL(open_in(&w, w.dir, true, &w.kv), 0);
	CU_ASSERT_EQUAL(full, 0);
	CU_ASSERT(commits > 2);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		CU_ASSERT_EQUAL(kv_get(w.kv, 0, keys[i], 1, &value, &len), 0);
	end(&w);
}

/* Without sync nothing is flushed. */
static void without_sync(void)
{
	struct flush_world w;

	begin(&w, false);
	put(&w, "a");
	ask(&w, 0, kv_flush);
	wait_for(&w, 0, 0);
	CU_ASSERT_EQUAL(flushes[0] + flushes[1] + commits, 0);
	end(&w);
}

static const struct ut_case cases[] = {
	{ "the journal alone is flushed", journal_alone },
	{ "a flush is shared", shared },
	{ "replayed in parts", replayed_in_parts },
	{ "during a commit", during_a_commit },
	{ "a flush fails", flush_fails },
	{ "a flush and a commit fail", both_fail },
	{ "not in a journal", not_in_a_journal },
	{ "without sync", without_sync },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "kv flush", cases } };

	return ut_run("kv_flush", suites, 1);
}
