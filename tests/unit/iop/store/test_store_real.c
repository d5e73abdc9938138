// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/*
 * Store and name space in the real world, where a worker writes the records
 * while the reactor goes on changing and reading; and the LMDB environment
 * beneath: growing, locking, failing.
 */
#include <errno.h>
#include "env/real/real.h"
#include "iop/kv/priv.h"
#include "iop/ns/priv.h"
#include "iop/store/priv.h"
#include "tests/unit/iop/ns/ut_ns_check.h"
#include "ut_store.h"

#define BS 4096u
#define ROUNDS 60
#define SIZE (64 * MIB)

/**
 * struct busy - a reactor's program: rounds of changes, each with a commit that is not waited for
 * @first: the inode made first
 * @left: commits that have not ended; @errors: of them
 */
struct busy {
	struct ut_store t;
	struct ns *ns;
	struct commit commits[2 * ROUNDS];
	struct ddio_post post;
	struct ddio_gate gate;
	uint64_t first;
	int round, left, errors;
};

static void busy_done(struct commit *commit, int err)
{
	struct busy *b = commit->arg;

	b->errors += err != 0;
	if (!--b->left && b->round == ROUNDS)
		ddio_gate_open(b->t.env, &b->gate);
}

static void busy_commit(struct busy *b, struct commit *commit)
{
	commit->done = busy_done;
	commit->arg = b;
}

/* A new object and a new file each time, and a look at an old one, which is loaded. */
static void busy_change(struct busy *b)
{
	struct ddio_msg_fs_make make = { .parent = DDIO_FS_ROOT, .mode = S_IFREG | 0644 };
	struct ddio_msg_fs_setattr size = { .mask = DDIO_FS_SET_SIZE, .size = (uint64_t)b->round };
	struct inode inode;
	bool made;
	struct object *obj = ut_object(&b->t, (uint64_t)b->round + 1, BS, b->round % 3, true);

	b->errors += ut_fill(obj, 0, 100) != 0;
	if (b->round % 4 == 3)
		b->errors += object_punch(obj, 50, UINT64_MAX) != 0;
	object_put(obj);
	snprintf(make.name, sizeof(make.name), "f%d", b->round);
	b->errors += ns_make(b->ns, NULL, &make, NULL, &inode, &made, NULL) != 0 || !made;
	if (!b->round)
		b->first = inode.ino;
	inode_free(&inode);
	obj = ut_object(&b->t, (uint64_t)b->round / 2 + 1, BS, b->round / 2 % 3, false);
	b->errors += !obj || object_blocks(obj) == 0;
	object_put(obj);
	size.ino = b->first;
	b->errors += ns_setattr(b->ns, NULL, &size, &inode) != 0;
	inode_free(&inode);
}

static void busy_round(void *arg)
{
	struct busy *b = arg;
	struct commit *commit = &b->commits[2 * b->round];

	busy_change(b);
	busy_commit(b, &commit[0]);
	busy_commit(b, &commit[1]);
	b->left += 2;
	b->round++;
	store_commit(b->t.store, &commit[0]);
	ns_commit(b->ns, &commit[1]);
	if (b->round < ROUNDS)
		ddio_env_post(b->t.env, &b->post);
}

static void quiet(void *arg, enum ddio_log_level level, const char *line)
{
	(void)level;
	fprintf(arg, "%s\n", line);
}

/* The smallest maps that hold what is there: each has to grow, and again. */
static void shrink(struct lmdb *db)
{
	CU_ASSERT_EQUAL(mdb_env_set_mapsize(db->env, 32 * 1024), 0);
}

static size_t map_of(const struct lmdb *db)
{
	MDB_envinfo info;

	return mdb_env_info(db->env, &info) ? 0 : info.me_mapsize;
}

static const struct ddio_real_opts with_engines = { .log_level = DDIO_LOG_INFO,
						    .engines = ddio_disk_engines };

static void open_all(struct busy *b)
{
	struct ddio_real_opts opts = {
		.log = quiet, .log_arg = stderr, .name = "io0", .engines = ddio_disk_engines
	};
	char dir[300], err[500];
	const struct ns_opts ns = { .dir = dir,
				    .cluster = "demo",
				    .sync = true,
				    .block = BS,
				    .ndisks = 1,
				    .timeout_ns = 1000000000 };

	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &b->t.env), 0);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&b->t), 0);
	snprintf(dir, sizeof(dir), "%s/ns", b->t.top);
	CU_ASSERT_EQUAL_FATAL(ns_open(b->t.env, &ns, &b->ns, err, sizeof(err)), 0);
}

static void close_all(struct busy *b)
{
	ut_store_close(&b->t);
	ns_close(b->ns);
	ddio_real_free(b->t.env);
}

static void test_worker(void)
{
	static struct busy b;
	struct ddio_msg_fsck fsck;
	size_t before[2];

	memset(&b, 0, sizeof(b));
	ut_store_prepare(&b.t, SIZE);
	ddio_sim_free(b.t.world);
	b.t.opts.sync = true;
	open_all(&b);
	shrink(&b.t.store->db);
	shrink(&b.ns->kv->db);
	before[0] = map_of(&b.t.store->db);
	before[1] = map_of(&b.ns->kv->db);
	b.post = (struct ddio_post){ .fn = busy_round, .arg = &b };
	ddio_gate_init(&b.gate);
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(b.t.env), 0);
	ddio_env_post(b.t.env, &b.post);
	CU_ASSERT_EQUAL(ddio_gate_wait(b.t.env, &b.gate, 0), 0);
	ddio_real_join_thread(b.t.env);
	CU_ASSERT_EQUAL(b.errors, 0);
	CU_ASSERT_EQUAL(b.left, 0);
	CU_ASSERT(map_of(&b.t.store->db) > before[0]);
	CU_ASSERT(map_of(&b.ns->kv->db) > before[1]);
	close_all(&b);
	open_all(&b);
	CU_ASSERT_EQUAL(store_objects(b.t.store), ROUNDS);
	CU_ASSERT_EQUAL(ut_store_clean(&b.t),
			SIZE - 4096 - (ROUNDS / 4 * 3 * 100 + ROUNDS / 4 * 50) * BS);
	CU_ASSERT_EQUAL(ut_ns_check(b.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.objects, ROUNDS);
	close_all(&b);
	ut_remove_tree(b.t.top);
}

/* The label is read and written before the loop runs, by every engine. */
static void test_engines(void)
{
	static const struct {
		const char *name;
		uint64_t size;
	} engines[] = { { "mem", SIZE }, { "aio", SIZE }, { "hp97560", 0 } };
	static struct busy b;
	size_t i;

	for (i = 0; i < 3; i++) {
		memset(&b, 0, sizeof(b));
		ut_store_prepare(&b.t, engines[i].size);
		ddio_sim_free(b.t.world);
		b.t.spec.engine = engines[i].name;
		open_all(&b);
		close_all(&b);
		open_all(&b);
		CU_ASSERT(ut_store_clean(&b.t) > 0);
		close_all(&b);
		CU_ASSERT_EQUAL(truncate(b.t.file, 0), 0);
		CU_ASSERT_EQUAL(truncate(b.t.file, SIZE * 64), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_real_new(&with_engines, &b.t.env), 0);
		CU_ASSERT_EQUAL(ut_store_open(&b.t), -ENOMEDIUM);
		ddio_disk_close(b.t.disk);
		ddio_real_free(b.t.env);
		ut_remove_tree(b.t.top);
	}
}

static struct lmdb_opts lmdb_opts(const char *dir)
{
	return (struct lmdb_opts){ .dir = dir, .dbs = { "a", "b" }, .map = 32 * 1024 };
}

struct filling {
	struct lmdb *db;
	int n;
};

static int fill(MDB_txn *txn, void *arg)
{
	struct filling *f = arg;
	char buf[3000] = "";
	int i, ret = 0;

	for (i = 0; i < f->n && !ret; i++) {
		MDB_val k = lmdb_val(&i, sizeof(i)), v = lmdb_val(buf, sizeof(buf));

		ret = mdb_put(txn, f->db->dbi[0], &k, &v, 0);
	}
	return ret;
}

static void test_lmdb_grows(void)
{
	struct lmdb db, second;
	struct lmdb_opts opts;
	struct filling f = { &db, 1000 };
	char top[200], dir[300], err[300];
	MDB_stat stat;

	ut_temp_dir(top, sizeof(top));
	snprintf(dir, sizeof(dir), "%s/x/y/z", top);
	opts = lmdb_opts(dir);
	CU_ASSERT_EQUAL_FATAL(lmdb_open(&db, &opts, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(lmdb_open(&second, &opts, err, sizeof(err)), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, dir));
	CU_ASSERT_EQUAL(lmdb_write_once(&db, fill, &f), LMDB_FULL);
	CU_ASSERT_EQUAL(lmdb_write(&db, fill, &f), 0);
	CU_ASSERT_EQUAL(lmdb_read_begin(&db), 0);
	CU_ASSERT_EQUAL(mdb_stat(db.read, db.dbi[0], &stat), 0);
	CU_ASSERT_EQUAL(stat.ms_entries, 1000);
	lmdb_read_end(&db);
	lmdb_close(&db);
	/* The next time the map is as large as what is there, whatever was asked for. */
	CU_ASSERT_EQUAL_FATAL(lmdb_open(&db, &opts, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(lmdb_write(&db, fill, &f), 0);
	lmdb_close(&db);
	lmdb_close(&db);
	ut_remove_tree(top);
}

static void test_lmdb_not_ours(void)
{
	struct lmdb db;
	struct lmdb_opts opts;
	char top[200], path[300], err[300];
	FILE *f;

	ut_temp_dir(top, sizeof(top));
	opts = lmdb_opts(top);
	snprintf(path, sizeof(path), "%s/data.mdb", top);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "%09000d", 0);
	fclose(f);
	CU_ASSERT_EQUAL(lmdb_open(&db, &opts, err, sizeof(err)), -EUCLEAN);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, top));
	ut_remove_tree(top);
}

static void test_lmdb_errors(void)
{
	CU_ASSERT_EQUAL(lmdb_errno(0), 0);
	CU_ASSERT_EQUAL(lmdb_errno(MDB_NOTFOUND), -ENOENT);
	CU_ASSERT_EQUAL(lmdb_errno(MDB_CORRUPTED), -EUCLEAN);
	CU_ASSERT_EQUAL(lmdb_errno(MDB_MAP_FULL), LMDB_FULL);
	CU_ASSERT_EQUAL(lmdb_errno(ENOSPC), -ENOSPC);
	CU_ASSERT_EQUAL(lmdb_errno(-EUCLEAN), -EUCLEAN);
	CU_ASSERT_EQUAL(lmdb_errno(MDB_DBS_FULL), -EIO);
}

static const struct ut_case cases[] = {
	{ "commits by a worker", test_worker },
	{ "labels by every engine", test_engines },
	{ "an environment grows", test_lmdb_grows },
	{ "an environment that is none", test_lmdb_not_ours },
	{ "errors", test_lmdb_errors },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "real", cases } };

	return ut_run("store_real", suites, 1);
}
