// SPDX-License-Identifier: GPL-2.0-only
/* The name space: damaged records are found and mended, and a crash loses nothing committed. */
#include <errno.h>
#include "base/rand.h"
#include "iop/ns_priv.h"
#include "ut_ns.h"

/**
 * struct hit - damage to a record
 */
struct hit {
	struct ddio_ns *ns;
	int db;
	MDB_val key, value;
};

static int strike(MDB_txn *txn, void *arg)
{
	struct hit *hit = arg;
	MDB_val k = hit->key;

	if (hit->value.mv_data)
		return mdb_put(txn, hit->ns->db.dbi[hit->db], &k, &hit->value, 0);
	return mdb_del(txn, hit->ns->db.dbi[hit->db], &k, NULL);
}

static void damage(struct nst *t, int db, MDB_val key, MDB_val value)
{
	struct hit hit = { t->ns, db, key, value };

	CU_ASSERT_EQUAL(ddio_lmdb_write(&t->ns->db, strike, &hit), 0);
}

static void mended(struct nst *t, const char *text, uint64_t files)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ddio_ns_check(t->ns, false, &fsck), 0);
	CU_ASSERT(fsck.problems > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, text));
	if (!strstr(fsck.text, text))
		fprintf(stderr, "'%s' does not say '%s'\n", fsck.text, text);
	CU_ASSERT_EQUAL(ddio_ns_check(t->ns, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	clean(t, files);
	CU_ASSERT_EQUAL(nst_reopen(t), 0);
	clean(t, files);
}

static void test_check(void)
{
	const MDB_val none = { 0, NULL }, junk = ddio_lmdb_val("junk", 4);
	uint8_t key[DDIO_NS_NAME_KEY_MAX], id_key[8];
	struct ddio_file_record rec;
	uint64_t id, twin;
	struct nst t;
	size_t len;

	nst_begin(&t);
	id = create(&t, "a");
	CU_ASSERT_NOT_EQUAL(create(&t, "b"), 0);
	twin = create(&t, "c");
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	/* A name is lost. */
	len = ddio_ns_name_key(key, "a", id);
	damage(&t, DDIO_NS_NAMES, ddio_lmdb_val(key, len), none);
	mended(&t, "not found by its name a", 3);
	CU_ASSERT_EQUAL(lookup(&t, "a"), id);
	/* A name of nothing, and a key that is no name. */
	len = ddio_ns_name_key(key, "ghost", 99);
	damage(&t, DDIO_NS_NAMES, ddio_lmdb_val(key, len), junk);
	damage(&t, DDIO_NS_NAMES, ddio_lmdb_val("xy", 2), junk);
	mended(&t, "is no file's", 3);
	/* Two living files of one name: none is lost. */
	rec = record("a");
	rec.ref.id = twin;
	{
		struct ddio_ns_change change = { .id = twin, .name = "a" };

		CU_ASSERT_EQUAL(ddio_ns_file_put(&rec, &change.value, &change.len), 0);
		ddio_ns_key(id_key, twin);
		damage(&t, DDIO_NS_FILES, ddio_lmdb_val(id_key, 8),
		       ddio_lmdb_val(change.value, change.len));
		len = ddio_ns_name_key(key, "a", twin);
		damage(&t, DDIO_NS_NAMES, ddio_lmdb_val(key, len), junk);
		len = ddio_ns_name_key(key, "c", twin);
		damage(&t, DDIO_NS_NAMES, ddio_lmdb_val(key, len), none);
		free(change.value);
	}
	mended(&t, "more than one", 3);
	CU_ASSERT_EQUAL(lookup(&t, "a"), id);
	CU_ASSERT_EQUAL(lookup(&t, "a~3"), twin);
	/* A file's record is damaged. */
	ddio_ns_key(id_key, twin);
	damage(&t, DDIO_NS_FILES, ddio_lmdb_val(id_key, 8), junk);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t.ns, "a~3", 0, &rec), -EUCLEAN);
	mended(&t, "record of a file is damaged", 2);
	nst_end(&t);
}

static void test_check_identifiers(void)
{
	struct ddio_ns_meta meta = { .limit = 2, .cluster = "demo" };
	uint8_t value[DDIO_NS_META_MAX];
	struct ddio_msg_fsck fsck;
	uint64_t last = 0, i;
	struct nst t;
	char name[8];

	nst_begin(&t);
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "f%d", (int)i);
		last = create(&t, name);
	}
	CU_ASSERT_EQUAL(ddio_ns_check(t.ns, true, &fsck), -EBUSY);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	damage(&t, DDIO_NS_META, ddio_lmdb_val("ns", 2),
	       ddio_lmdb_val(value, ddio_ns_meta_put(value, &meta)));
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	mended(&t, "given out again", 5);
	CU_ASSERT(create(&t, "g") > last);
	nst_end(&t);
}

/* Random life against a plain model; copies at random moments are what a crash leaves. */
#define NAMES 12
struct ns_model {
	uint64_t id[NAMES], size[NAMES];
};

struct ns_life {
	struct nst t;
	struct ns_model now, pending, done;
	struct ut_commit commit;
	bool busy;
	uint64_t rand, max_id;
};

static void life_commit(struct ns_life *life, bool begin)
{
	if (life->busy) {
		CU_ASSERT_EQUAL(ut_commit_wait(&life->commit), 0);
		life->done = life->pending;
	}
	life->busy = begin;
	if (!begin)
		return;
	life->pending = life->now;
	ut_commit_init(&life->commit, life->t.env);
	ddio_ns_commit(life->t.ns, &life->commit.commit);
}

static void life_step(struct ns_life *life)
{
	uint64_t i = ddio_rand_below(&life->rand, NAMES), id;
	char name[8];

	snprintf(name, sizeof(name), "n%d", (int)i);
	CU_ASSERT_EQUAL(lookup(&life->t, name), life->now.id[i]);
	switch (ddio_rand_below(&life->rand, 8)) {
	case 0:
		life_commit(life, true);
		break;
	case 1:
		life_commit(life, false);
		break;
	case 2:
		CU_ASSERT_EQUAL(mark(&life->t, name), life->now.id[i] ? 0 : -ENOENT);
		if (life->now.id[i])
			CU_ASSERT_EQUAL(ddio_ns_remove_done(life->t.ns, life->now.id[i]), 0);
		life->now.id[i] = 0;
		life->now.size[i] = 0;
		break;
	case 3:
	case 4:
		id = create(&life->t, name);
		CU_ASSERT_EQUAL(id != 0, life->now.id[i] == 0);
		CU_ASSERT(!id || id > life->max_id);
		life->max_id = id ? id : life->max_id;
		life->now.id[i] = id ? id : life->now.id[i];
		break;
	default:
		if (!life->now.id[i])
			break;
		life->now.size[i] = ddio_rand_below(&life->rand, 1ull << 50);
		CU_ASSERT_EQUAL(
			ddio_ns_set_size(life->t.ns, life->now.id[i], life->now.size[i], true), 0);
	}
}

static bool model_holds(struct nst *t, const struct ns_model *model)
{
	struct ddio_file_record rec;
	bool same = true;
	char name[16];
	int i, ret;

	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ret = ddio_ns_lookup(t->ns, name, 0, &rec);
		same = same && ret == (model->id[i] ? 0 : -ENOENT) && rec.ref.id == model->id[i] &&
		       rec.size == model->size[i];
		ddio_file_record_free(&rec);
	}
	return same;
}

static void life_crash(struct ns_life *life)
{
	struct ddio_msg_fsck fsck;
	struct nst copy = life->t;
	char from[300], to[300];

	ut_temp_dir(copy.top, sizeof(copy.top));
	snprintf(copy.dir, sizeof(copy.dir), "%s/ns", copy.top);
	if (mkdir(copy.dir, 0700))
		abort();
	snprintf(from, sizeof(from), "%s/data.mdb", life->t.dir);
	snprintf(to, sizeof(to), "%s/data.mdb", copy.dir);
	ut_copy_file(from, to);
	CU_ASSERT_EQUAL_FATAL(nst_open(&copy), 0);
	CU_ASSERT_TRUE(model_holds(&copy, &life->done) ||
		       (life->busy && model_holds(&copy, &life->pending)));
	CU_ASSERT_EQUAL(ddio_ns_check(copy.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT(create(&copy, "new") > life->max_id);
	ddio_ns_close(copy.ns);
	ut_remove_tree(copy.top);
}

static void test_crashes(void)
{
	static struct ns_life life;
	uint64_t seed, i;

	for (seed = 1; seed <= 8; seed++) {
		memset(&life, 0, sizeof(life));
		life.rand = seed;
		nst_begin(&life.t);
		for (i = 0; i < 300; i++) {
			life_step(&life);
			if (!ddio_rand_below(&life.rand, 30))
				life_crash(&life);
		}
		life_commit(&life, true);
		life_commit(&life, false);
		CU_ASSERT_EQUAL(nst_reopen(&life.t), 0);
		CU_ASSERT_TRUE(model_holds(&life.t, &life.now));
		nst_end(&life.t);
	}
}

static int broken_apply(MDB_txn *txn, void *ctx)
{
	(void)txn;
	(void)ctx;
	return ENOSPC;
}

/* A commit that fails is told; what it was to write is written by the next one. */
static void test_failed_commit(void)
{
	struct ddio_committer_ops broken = ddio_ns_committer_ops;
	uint64_t id, gone;
	struct nst t;

	nst_begin(&t);
	gone = create(&t, "gone");
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	id = create(&t, "a");
	CU_ASSERT_EQUAL(mark(&t, "gone"), 0);
	broken.apply = broken_apply;
	t.ns->committer.ops = &broken;
	CU_ASSERT_EQUAL(nst_commit(&t), -ENOSPC);
	CU_ASSERT_EQUAL(lookup(&t, "a"), id);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t.ns, gone), 0);
	CU_ASSERT_EQUAL(nst_commit(&t), -ENOSPC);
	clean(&t, 1);
	t.ns->committer.ops = &ddio_ns_committer_ops;
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	clean(&t, 1);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(lookup(&t, "a"), id);
	CU_ASSERT_EQUAL(lookup(&t, "gone"), 0);
	nst_end(&t);
}

static const struct ut_case faults[] = {
	{ "check and repair", test_check },
	{ "check of identifiers", test_check_identifiers },
	{ "crashes", test_crashes },
	{ "failed commit", test_failed_commit },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "faults", faults } };

	return ut_run("ns_faults", suites, 1);
}
