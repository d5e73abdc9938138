// SPDX-License-Identifier: GPL-2.0-only
/* The name space: names, removal in two steps, identifiers, listing, commits, crashes. */
#include <errno.h>
#include "base/rand.h"
#include "iop/ns_priv.h"
#include "ut_store.h"

/**
 * struct nst - a name space in a directory of its own
 */
struct nst {
	char top[200], dir[260], err[500];
	struct ddio_world *world;
	struct ddio_env *env;
	struct ddio_ns *ns;
};

static int nst_open(struct nst *t)
{
	return ddio_ns_open(t->env, t->dir, "demo", false, &t->ns, t->err, sizeof(t->err));
}

static void nst_begin(struct nst *t)
{
	memset(t, 0, sizeof(*t));
	ut_temp_dir(t->top, sizeof(t->top));
	snprintf(t->dir, sizeof(t->dir), "%s/ns", t->top);
	t->world = ddio_double_new(1);
	t->env = ddio_double_env(t->world, "io0");
	if (nst_open(t))
		abort();
}

static void nst_end(struct nst *t)
{
	ddio_ns_close(t->ns);
	ddio_double_free(t->world);
	ut_remove_tree(t->top);
}

static int nst_reopen(struct nst *t)
{
	ddio_ns_close(t->ns);
	t->ns = NULL;
	return nst_open(t);
}

static int nst_commit(struct nst *t)
{
	struct ut_commit c;

	ut_commit_init(&c, t->env);
	ddio_ns_commit(t->ns, &c.commit);
	return ut_commit_wait(&c);
}

static struct ddio_file_record record(const char *name)
{
	static uint32_t disks[3] = { 2, 0, 5 };
	struct ddio_file_record rec = { .ref.block = 8192, .ndisks = 3, .disks = disks };

	snprintf(rec.name, sizeof(rec.name), "%s", name);
	return rec;
}

/* Return: the new identifier, 0 if it failed. */
static uint64_t create(struct nst *t, const char *name)
{
	struct ddio_file_record rec = record(name);
	int ret = ddio_ns_create(t->ns, &rec);

	return ret ? 0 : rec.ref.id;
}

static uint64_t lookup(struct nst *t, const char *name)
{
	struct ddio_file_record rec;
	uint64_t id = 0;

	if (!ddio_ns_lookup(t->ns, name, 0, &rec))
		id = rec.ref.id;
	ddio_file_record_free(&rec);
	return id;
}

static int mark(struct nst *t, const char *name)
{
	struct ddio_file_record rec;
	int ret = ddio_ns_remove(t->ns, name, &rec);

	ddio_file_record_free(&rec);
	return ret;
}

static void clean(struct nst *t, uint64_t files)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ddio_ns_check(t->ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.objects, files);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
}

static void test_create(void)
{
	struct ddio_file_record rec = record("a"), found;
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), 0);
	CU_ASSERT(rec.ref.id != 0 && rec.ref.seed != 0 && rec.ctime_ns != 0);
	CU_ASSERT_EQUAL(rec.ctime_ns, rec.mtime_ns);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t.ns, "a", 0, &found), 0);
	CU_ASSERT_EQUAL(found.ref.id, rec.ref.id);
	CU_ASSERT_EQUAL(found.ref.seed, rec.ref.seed);
	CU_ASSERT_EQUAL(found.ndisks, 3);
	CU_ASSERT_EQUAL(found.disks[2], 5);
	ddio_file_record_free(&found);
	found = record("a");
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(found.ref.id, 0);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t.ns, NULL, rec.ref.id, &found), 0);
	CU_ASSERT_STRING_EQUAL(found.name, "a");
	CU_ASSERT_EQUAL(found.disks[0], 2);
	CU_ASSERT_EQUAL(found.ctime_ns, rec.ctime_ns);
	ddio_file_record_free(&found);
	clean(&t, 1);
	nst_end(&t);
}

static void test_bad_records(void)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "a\nb", "\x7f" };
	struct ddio_file_record rec;
	char longest[DDIO_MAX_NAME + 1];
	struct nst t;
	size_t i;

	nst_begin(&t);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(create(&t, bad[i]), 0);
	memset(longest, 'x', DDIO_MAX_NAME);
	longest[DDIO_MAX_NAME] = '\0';
	CU_ASSERT_NOT_EQUAL(create(&t, longest), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "sm\xc3\xb8rbr\xc3\xb8"
				       "d"),
			    0);
	rec = record("x");
	memset(rec.name, 'y', sizeof(rec.name));
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ref.block = 1000;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ndisks = 0;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ref.layout = DDIO_LAYOUT_MAX_W;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_NOT_EQUAL(lookup(&t, longest), 0);
	clean(&t, 2);
	nst_end(&t);
}

static void remove_steps(struct nst *t, bool durable)
{
	struct ddio_file_record rec;
	uint64_t id = create(t, "a"), next;

	if (durable)
		CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), -EBUSY);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), 0);
	CU_ASSERT_EQUAL(rec.ref.id, id);
	CU_ASSERT_EQUAL(rec.dying, 1);
	CU_ASSERT_EQUAL(rec.ndisks, 3);
	ddio_file_record_free(&rec);
	if (durable) {
		CU_ASSERT_EQUAL(nst_commit(t), 0);
		CU_ASSERT_EQUAL(nst_reopen(t), 0);
	}
	CU_ASSERT_EQUAL(lookup(t, "a"), 0);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t->ns, NULL, id, &rec), -ENOENT);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t->ns, id, 5, true), -ENOENT);
	/* The name is free; asking again finds the removal that is under way. */
	next = create(t, "a");
	CU_ASSERT(next > id);
	CU_ASSERT_EQUAL(lookup(t, "a"), next);
	CU_ASSERT_EQUAL(mark(t, "a"), 0);
	CU_ASSERT_EQUAL(mark(t, "a"), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, next), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), 0);
	CU_ASSERT_EQUAL(rec.ref.id, id);
	ddio_file_record_free(&rec);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), -ENOENT);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), -ENOENT);
	CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(nst_reopen(t), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), -ENOENT);
	clean(t, 0);
}

static void test_remove(void)
{
	struct nst t;

	nst_begin(&t);
	remove_steps(&t, false);
	remove_steps(&t, true);
	nst_end(&t);
}

static uint64_t size_of(struct nst *t, uint64_t id)
{
	struct ddio_file_record rec;
	uint64_t size = UINT64_MAX;

	if (!ddio_ns_lookup(t->ns, NULL, id, &rec))
		size = rec.size;
	ddio_file_record_free(&rec);
	return size;
}

static void test_size(void)
{
	struct nst t;
	uint64_t id;

	nst_begin(&t);
	id = create(&t, "a");
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 5ull << 40, false), 0);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 7, false), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 5ull << 40);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 7, true), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 7);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, DDIO_MAX_FILE + 1, false), -EFBIG);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id + 1, 7, true), -ENOENT);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 7);
	nst_end(&t);
}

/* Identifiers that were handed out do not come again, committed or not. */
static void test_identifiers(void)
{
	uint64_t last = 0, id, i, round;
	struct nst t;
	char name[32];

	nst_begin(&t);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "%d-%d", (int)round, (int)i);
			id = create(&t, name);
			CU_ASSERT(id > last);
			last = id;
		}
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	}
	nst_end(&t);
}

/* Far more files than are reserved at once; the reserve is renewed on the way. */
static void test_reserve(void)
{
	uint64_t last = 0, id, i, refused = 0;
	struct nst t;
	char name[32];

	nst_begin(&t);
	for (i = 0; i < 3 * DDIO_NS_RESERVE; i++) {
		snprintf(name, sizeof(name), "f%06d", (int)i);
		id = create(&t, name);
		CU_ASSERT(id > last);
		last = id;
		if (i % 512 == 511)
			ddio_double_run_for(t.world, 1000000);
	}
	/* Without a moment for it to be renewed it ends. */
	for (i = 0; i < 2 * DDIO_NS_RESERVE && !refused; i++) {
		struct ddio_file_record rec;

		snprintf(name, sizeof(name), "g%06d", (int)i);
		rec = record(name);
		refused = ddio_ns_create(t.ns, &rec) == -EAGAIN;
	}
	CU_ASSERT_EQUAL(refused, 1);
	ddio_double_run_for(t.world, 1000000000);
	CU_ASSERT(create(&t, "h") > last);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	clean(&t, 3 * DDIO_NS_RESERVE + i);
	nst_end(&t);
}

/* All names, page by page. */
static unsigned int list_all(struct nst *t, uint32_t max, char names[][32], unsigned int cap)
{
	struct ddio_msg_ns_listing page;
	char after[DDIO_MAX_NAME + 1] = "";
	unsigned int n = 0, i;
	bool more = true;

	while (more) {
		CU_ASSERT_EQUAL_FATAL(ddio_ns_list(t->ns, after, max, &page), 0);
		CU_ASSERT(page.n <= max);
		CU_ASSERT(page.n > 0 || !page.more);
		for (i = 0; i < page.n && n < cap; i++) {
			snprintf(names[n++], 32, "%.30s%s", page.recs[i].name,
				 page.recs[i].dying ? "!" : "");
			snprintf(after, sizeof(after), "%s", page.recs[i].name);
		}
		more = page.more;
		ddio_ns_listing_free(&page);
	}
	return n;
}

static void test_list(void)
{
	static char names[100][32];
	struct ddio_msg_ns_listing page;
	uint32_t max;
	struct nst t;
	int i;

	nst_begin(&t);
	CU_ASSERT_EQUAL(list_all(&t, 10, names, 100), 0);
	for (i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%02d", (i * 7) % 20);
		CU_ASSERT_NOT_EQUAL(create(&t, name), 0);
		if (i == 11)
			CU_ASSERT_EQUAL(nst_commit(&t), 0);
	}
	/* Of f03 there are three: two dying, one living. */
	CU_ASSERT_EQUAL(mark(&t, "f03"), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "f03"), 0);
	CU_ASSERT_EQUAL(mark(&t, "f03"), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "f03"), 0);
	for (max = 3; max < 30; max++) {
		CU_ASSERT_EQUAL(list_all(&t, max, names, 100), 22);
		CU_ASSERT_STRING_EQUAL(names[0], "f00");
		CU_ASSERT_STRING_EQUAL(names[3], "f03!");
		CU_ASSERT_STRING_EQUAL(names[4], "f03!");
		CU_ASSERT_STRING_EQUAL(names[5], "f03");
		CU_ASSERT_STRING_EQUAL(names[6], "f04");
		CU_ASSERT_STRING_EQUAL(names[21], "f19");
	}
	CU_ASSERT_EQUAL(ddio_ns_list(t.ns, "f18", 10, &page), 0);
	CU_ASSERT_EQUAL(page.n, 1);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(list_all(&t, 5, names, 100), 22);
	clean(&t, 22);
	nst_end(&t);
}

/* Records so long that a page must be cut by its bytes. */
static void test_list_long_records(void)
{
	uint32_t *disks = calloc(DDIO_MAX_DISKS, sizeof(*disks)), i;
	struct ddio_msg_ns_listing page;
	struct ddio_file_record rec;
	static char names[20][32];
	struct nst t;
	char name[8];

	CU_ASSERT_PTR_NOT_NULL_FATAL(disks);
	for (i = 0; i < DDIO_MAX_DISKS; i++)
		disks[i] = i;
	nst_begin(&t);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		rec = record(name);
		rec.ndisks = DDIO_MAX_DISKS;
		rec.disks = disks;
		CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), 0);
	}
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_list(t.ns, "", 20, &page), 0);
	CU_ASSERT(page.n < 10 && page.n > 0 && page.more);
	CU_ASSERT(ddio_put_ns_listing(NULL, 0, &page) <= (ssize_t)DDIO_MAX_SMALL);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(list_all(&t, 20, names, 20), 10);
	nst_end(&t);
	free(disks);
}

static void test_refused(void)
{
	struct ddio_ns *second;
	struct nst t;
	char err[300];

	nst_begin(&t);
	CU_ASSERT_EQUAL(ddio_ns_open(t.env, t.dir, "demo", false, &second, err, sizeof(err)),
			-EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "in use"));
	ddio_ns_close(t.ns);
	t.ns = NULL;
	CU_ASSERT_EQUAL(ddio_ns_open(t.env, t.dir, "prod", false, &second, err, sizeof(err)),
			-EMEDIUMTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "found cluster demo, expected cluster prod"));
	CU_ASSERT_EQUAL(nst_open(&t), 0);
	nst_end(&t);
}

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

static const struct ut_case names[] = {
	{ "create", test_create },
	{ "bad records", test_bad_records },
	{ "remove in two steps", test_remove },
	{ "size", test_size },
	{ "identifiers", test_identifiers },
	{ "reserve of identifiers", test_reserve },
	{ "list", test_list },
	{ "list of long records", test_list_long_records },
	{ "refused", test_refused },
	{ .name = NULL },
};

static const struct ut_case faults[] = {
	{ "check and repair", test_check },
	{ "check of identifiers", test_check_identifiers },
	{ "crashes", test_crashes },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "names", names }, { "faults", faults } };

	return ut_run("ns", suites, 2);
}
