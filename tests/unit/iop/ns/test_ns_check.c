// SPDX-License-Identifier: GPL-2.0-only
/* Damages every kind of record of the name space: each is found and repaired. */
#include <fcntl.h>
#include "ut_ns.h"

/**
 * struct ns_hit - damage to a record: put, or (no value) deleted
 */
struct ns_hit {
	int db;
	MDB_val key, value;
};

static int strike(struct lmdb *db, MDB_txn *txn, void *arg)
{
	struct ns_hit *hit = arg;

	if (hit->value.mv_data)
		return mdb_put(txn, db->dbi[hit->db], &hit->key, &hit->value, 0);
	return mdb_del(txn, db->dbi[hit->db], &hit->key, NULL);
}

static void damage(struct nst *t, int db, const void *key, size_t key_len, const void *value,
		   size_t len)
{
	struct ns_hit hit = { db, lmdb_val(key, key_len), lmdb_val(value, len) };

	CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(kv_direct(t->ns->kv, strike, &hit), 0);
}

static int count(struct lmdb *db, MDB_txn *txn, void *arg)
{
	MDB_stat *st = arg;

	return mdb_stat(txn, db->dbi[st->ms_depth], st);
}

/* Returns how many records a database has. */
static uint64_t lmdb_records(struct nst *t, int db)
{
	MDB_stat st = { .ms_depth = (unsigned int)db };

	CU_ASSERT_EQUAL(kv_direct(t->ns->kv, count, &st), 0);
	return st.ms_entries;
}

static const char junk[] = "junk that is no record of anything";

/* The problem is found and said; after a repair there is none, also after a restart. */
static void mended(struct nst *t, const char *text, uint64_t files)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_ns_check(t->ns, false, &fsck), 0);
	CU_ASSERT(fsck.problems > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, text));
	if (!strstr(fsck.text, text))
		fprintf(stderr, "'%s' does not say '%s'\n", fsck.text, text);
	CU_ASSERT_EQUAL(ut_ns_check(t->ns, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	nst_clean(t, files);
	CU_ASSERT_EQUAL(nst_reopen(t), 0);
	nst_clean(t, files);
}

/* /d/e/g, /d/f, /f hard link of it */
struct tree {
	struct nst t;
	uint64_t d, e, f, g;
};

static void tree_begin(struct tree *w)
{
	nst_begin(&w->t);
	w->d = nst_mkdir(&w->t, NST_ROOT, "d");
	w->e = nst_mkdir(&w->t, w->d, "e");
	w->f = nst_file(&w->t, w->d, "f");
	w->g = nst_file(&w->t, w->e, "g");
	CU_ASSERT_EQUAL(nst_link(&w->t, w->f, NST_ROOT, "f"), 0);
	CU_ASSERT_EQUAL(nst_commit(&w->t), 0);
}

static void put_inode(struct tree *w, const struct inode *in)
{
	uint8_t key[NS_KEY_LEN], value[1024];
	ssize_t len = ns_inode_put(value, sizeof(value), in);

	ns_key(key, in->ino);
	damage(&w->t, NS_INODES, key, sizeof(key), value, (size_t)len);
}

static void put_name(struct tree *w, uint64_t dir, const char *name, uint64_t ino, uint32_t type,
		     uint64_t cookie)
{
	const struct ns_entry e = { .ino = ino, .type = type, .cookie = cookie };
	uint8_t key[NS_NAME_KEY_MAX], value[NS_ENTRY_MAX];
	size_t len = ns_name_key(key, dir, name);

	damage(&w->t, NS_NAMES, key, len, value, ns_entry_put(value, key, len, &e, false));
}

static void put_order(struct tree *w, uint64_t dir, const char *name, uint64_t ino, uint32_t type,
		      uint64_t cookie)
{
	struct ns_entry e = { .ino = ino, .type = type, .cookie = cookie };
	uint8_t key[NS_ORDER_KEY_LEN], value[NS_ENTRY_MAX];

	snprintf(e.name, sizeof(e.name), "%s", name);
	ns_order_key(key, dir, cookie);
	damage(&w->t, NS_ORDER, key, sizeof(key), value,
	       ns_entry_put(value, key, sizeof(key), &e, true));
}

static void drop_name(struct tree *w, uint64_t dir, const char *name)
{
	uint8_t key[NS_NAME_KEY_MAX];

	damage(&w->t, NS_NAMES, key, ns_name_key(key, dir, name), NULL, 0);
}

static void drop_order(struct tree *w, uint64_t dir, uint64_t cookie)
{
	uint8_t key[NS_ORDER_KEY_LEN];

	ns_order_key(key, dir, cookie);
	damage(&w->t, NS_ORDER, key, sizeof(key), NULL, 0);
}

static uint64_t found(struct tree *w, uint64_t ino)
{
	uint64_t dir = nst_find(&w->t, NST_ROOT, "lost+found");
	char name[32];

	snprintf(name, sizeof(name), "#%d", (int)ino);
	return dir ? nst_find(&w->t, dir, name) : 0;
}

static void test_inodes(void)
{
	uint8_t key[NS_KEY_LEN];
	struct inode in;
	struct tree w;

	/* a file's record is lost: its names go */
	tree_begin(&w);
	ns_key(key, w.f);
	damage(&w.t, NS_INODES, key, sizeof(key), junk, sizeof(junk));
	CU_ASSERT_EQUAL(ns_inode(w.t.ns, w.f, &in), -EUCLEAN);
	mended(&w.t, "is damaged", 1);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.d, "f"), 0);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.e, "g"), w.g);
	nst_end(&w.t);
	/* a directory's: what was in it is found */
	tree_begin(&w);
	ns_key(key, w.d);
	damage(&w.t, NS_INODES, key, sizeof(key), junk, sizeof(junk));
	mended(&w.t, "is damaged", 2);
	CU_ASSERT_EQUAL(found(&w, w.e), w.e);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.e, "g"), w.g);
	CU_ASSERT_EQUAL(nst_find(&w.t, NST_ROOT, "f"), w.f);
	CU_ASSERT_EQUAL(nst_attr(&w.t, w.f).nlink, 1);
	nst_end(&w.t);
	/* the root's */
	tree_begin(&w);
	ns_key(key, NST_ROOT);
	damage(&w.t, NS_INODES, key, sizeof(key), NULL, 0);
	mended(&w.t, "root directory is missing", 2);
	CU_ASSERT_EQUAL(nst_find(&w.t, NST_ROOT, "d"), w.d);
	nst_end(&w.t);
	/* a key that is no number */
	tree_begin(&w);
	damage(&w.t, NS_INODES, "abc", 3, junk, sizeof(junk));
	mended(&w.t, "is damaged", 2);
	nst_end(&w.t);
}

static void test_counts(void)
{
	struct inode in;
	struct tree w;

	tree_begin(&w);
	CU_ASSERT_EQUAL(ns_inode(w.t.ns, w.f, &in), 0);
	in.nlink = 7;
	put_inode(&w, &in);
	inode_free(&in);
	mended(&w.t, "counts 7 links, but has 2", 2);
	CU_ASSERT_EQUAL(nst_attr(&w.t, w.f).nlink, 2);
	CU_ASSERT_EQUAL(ns_inode(w.t.ns, w.d, &in), 0);
	in.nlink = 9;
	put_inode(&w, &in);
	mended(&w.t, "counts 9 links, but has 3", 2);
	in.nlink = 3;
	in.entries = 0;
	put_inode(&w, &in);
	mended(&w.t, "counts 0 entries, but has 2", 2);
	CU_ASSERT_EQUAL(nst_rmdir(&w.t, NST_ROOT, "d"), -ENOTEMPTY);
	in.entries = 2;
	in.cookie = 1;
	put_inode(&w, &in);
	mended(&w.t, "would give two entries the same cookie", 2);
	in.cookie = 10;
	in.parent = w.e;
	put_inode(&w, &in);
	mended(&w.t, "has the wrong parent", 2);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.d, ".."), NST_ROOT);
	inode_free(&in);
	nst_end(&w.t);
}

static void test_names(void)
{
	uint8_t key[NS_NAME_KEY_MAX];
	struct tree w;

	tree_begin(&w);
	put_name(&w, w.d, "ghost", 9999, S_IFREG, 50);
	mended(&w.t, "'ghost' has no inode", 2);
	put_name(&w, 9999, "nowhere", w.f, S_IFREG, 50);
	mended(&w.t, "directory of the name 'nowhere' does not exist", 2);
	put_name(&w, w.f, "infile", w.g, S_IFREG, 50);
	mended(&w.t, "directory of the name 'infile' does not exist", 2);
	put_name(&w, w.e, "second", w.d, S_IFDIR, 50);
	mended(&w.t, "has a second name", 2);
	damage(&w.t, NS_NAMES, key, ns_name_key(key, w.d, "f"), junk, sizeof(junk));
	mended(&w.t, "entry 'f' is damaged", 2);
	CU_ASSERT_EQUAL(nst_attr(&w.t, w.f).nlink, 1);
	put_name(&w, w.e, "g", w.g, S_IFDIR, NS_COOKIE);
	mended(&w.t, "another type", 2);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.e, "g"), w.g);
	nst_end(&w.t);
}

static void test_order(void)
{
	uint8_t key[NS_ORDER_KEY_LEN];
	struct tree w;

	tree_begin(&w);
	drop_order(&w, w.e, NS_COOKIE);
	mended(&w.t, "'g' has no record by cookie", 2);
	put_order(&w, w.d, "ghost", w.f, S_IFREG, 77);
	mended(&w.t, "'ghost' has a record by cookie", 2);
	ns_order_key(key, w.d, NS_COOKIE);
	damage(&w.t, NS_ORDER, key, sizeof(key), junk, sizeof(junk));
	mended(&w.t, "'e' has no record by cookie", 2);
	damage(&w.t, NS_ORDER, "abc", 3, junk, sizeof(junk));
	mended(&w.t, "entry by cookie is damaged", 2);
	/* two names of one place */
	put_name(&w, NST_ROOT, "twin", w.g, S_IFREG, NS_COOKIE);
	mended(&w.t, "'twin' has no record by cookie", 2);
	CU_ASSERT_EQUAL(nst_attr(&w.t, w.g).nlink, 2);
	nst_end(&w.t);
}

static void test_lost(void)
{
	struct tree w;
	uint64_t lost;

	tree_begin(&w);
	drop_name(&w, w.e, "g");
	mended(&w.t, "'g' has a record by cookie", 2);
	CU_ASSERT_EQUAL(found(&w, w.g), w.g);
	lost = nst_find(&w.t, NST_ROOT, "lost+found");
	CU_ASSERT(lost > w.g);
	CU_ASSERT_EQUAL(nst_attr(&w.t, NST_ROOT).nlink, 4);
	/* a directory, into the one that is there */
	drop_name(&w, w.d, "e");
	drop_order(&w, w.d, NS_COOKIE);
	mended(&w.t, "has no name", 2);
	CU_ASSERT_EQUAL(found(&w, w.e), w.e);
	CU_ASSERT_EQUAL(nst_find(&w.t, w.e, ".."), lost);
	CU_ASSERT_EQUAL(nst_find(&w.t, NST_ROOT, "lost+found"), lost);
	CU_ASSERT_NOT_EQUAL(nst_file(&w.t, w.e, "new"), 0);
	nst_clean(&w.t, 3);
	nst_end(&w.t);
}

static void test_circle(void)
{
	struct inode in;
	struct tree w;

	/* d is in e, which is in d */
	tree_begin(&w);
	drop_name(&w, NST_ROOT, "d");
	drop_order(&w, NST_ROOT, NS_COOKIE);
	put_name(&w, w.e, "back", w.d, S_IFDIR, 40);
	put_order(&w, w.e, "back", w.d, S_IFDIR, 40);
	CU_ASSERT_EQUAL(ns_inode(w.t.ns, w.d, &in), 0);
	in.parent = w.e;
	put_inode(&w, &in);
	inode_free(&in);
	mended(&w.t, "lies within itself", 2);
	CU_ASSERT(found(&w, w.d) == w.d || found(&w, w.e) == w.e);
	nst_end(&w.t);
}

static void test_orphans(void)
{
	uint8_t key[NS_KEY_LEN];
	struct inode in;
	struct tree w;

	tree_begin(&w);
	ns_key(key, w.f);
	damage(&w.t, NS_ORPHANS, key, sizeof(key), "x", 1);
	mended(&w.t, "has a name", 2);
	ns_key(key, 9999);
	damage(&w.t, NS_ORPHANS, key, sizeof(key), "x", 1);
	mended(&w.t, "does not exist", 2);
	/* no name, no link, and not noted as an orphan */
	CU_ASSERT_EQUAL(nst_data(&w.t, w.g, 1), 0);
	CU_ASSERT_EQUAL(nst_unlink(&w.t, w.e, "g"), 0);
	nst_clean(&w.t, 2);
	ns_key(key, w.g);
	damage(&w.t, NS_ORPHANS, key, sizeof(key), NULL, 0);
	mended(&w.t, "half removed", 2);
	/* noted, but it counts a link */
	CU_ASSERT_EQUAL(ns_inode(w.t.ns, w.g, &in), 0);
	in.nlink = 1;
	put_inode(&w, &in);
	inode_free(&in);
	mended(&w.t, "half removed", 2);
	CU_ASSERT_EQUAL(ns_gone(w.t.ns, w.g), 0);
	nst_clean(&w.t, 1);
	nst_end(&w.t);
}

static void test_others(void)
{
	static const uint8_t short_mount[3] = { 1, 2, 3 };
	uint8_t key[NS_NAME_KEY_MAX], done[NS_DONE_KEY_LEN] = { 9 };
	struct tree w;

	tree_begin(&w);
	damage(&w.t, NS_XATTRS, key, ns_name_key(key, w.f, "user.a"), junk, sizeof(junk));
	mended(&w.t, "attribute 'user.a' is damaged", 2);
	damage(&w.t, NS_XATTRS, key, ns_name_key(key, 9999, "user.b"), junk, sizeof(junk));
	mended(&w.t, "attribute 'user.b'", 2);
	damage(&w.t, NS_DONE, done, sizeof(done), junk, sizeof(junk));
	mended(&w.t, "result of a mount's request", 2);
	damage(&w.t, NS_MOUNTS, short_mount, sizeof(short_mount), "x", 1);
	mended(&w.t, "record of a mount", 2);
	nst_end(&w.t);
}

static void test_numbers(void)
{
	struct ns_meta meta = { .limit = NS_FIRST, .cluster = "demo" };
	uint8_t value[NS_META_MAX];
	struct ddio_msg_fsck fsck;
	struct tree w;

	tree_begin(&w);
	nst_file(&w.t, NST_ROOT, "new");
	CU_ASSERT_EQUAL(ut_ns_check(w.t.ns, true, &fsck), -EBUSY);
	damage(&w.t, NS_META, NS_META_KEY, 2, value, ns_meta_put(value, &meta));
	mended(&w.t, "would be allocated again", 3);
	damage(&w.t, NS_META, NS_META_KEY, 2, junk, sizeof(junk));
	mended(&w.t, "cluster and inode numbers is damaged", 3);
	damage(&w.t, NS_META, NS_META_KEY, 2, NULL, 0);
	mended(&w.t, "cluster and inode numbers is missing", 3);
	CU_ASSERT(nst_file(&w.t, NST_ROOT, "newer") > w.g);
	nst_end(&w.t);
}

/* A chain of @n directories; returns the last, and the first in @top. */
static uint64_t deep(struct tree *w, uint32_t n, uint64_t *top)
{
	uint64_t at = *top = nst_mkdir(&w->t, NST_ROOT, "top");
	uint32_t i;

	for (i = 1; i < n; i++) {
		at = nst_mkdir(&w->t, at, "x");
		if (!(i % 500))
			CU_ASSERT_EQUAL(nst_commit(&w->t), 0);
	}
	CU_ASSERT_EQUAL(nst_commit(&w->t), 0);
	return at;
}

static uint32_t check_steps(struct tree *w, bool repair, struct ddio_msg_fsck *fsck)
{
	struct ns_check *check;
	uint32_t n = 0;

	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w->t.ns, repair, &check), 0);
	while (ns_check_step(check, 1))
		n++;
	CU_ASSERT_EQUAL(ns_check_end(check, fsck), 0);
	return n;
}

/* The way up from a directory is gone in steps, and once, however deep it lies; also if it leads nowhere, or in a circle. */
static void test_deep(void)
{
	enum { DEEP = 3000 };
	uint32_t base, good, lost, circle;
	struct ddio_msg_fsck fsck;
	uint64_t top, last;
	struct tree w;

	tree_begin(&w);
	base = check_steps(&w, false, &fsck);
	last = deep(&w, DEEP, &top);
	good = check_steps(&w, false, &fsck);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	/* Its record, name and record by cookie; up, down and on; two passes more. */
	CU_ASSERT(good - base >= 8 * DEEP && good - base <= 10 * DEEP);
	drop_name(&w, NST_ROOT, "top");
	drop_order(&w, NST_ROOT, NS_COOKIE + 2);
	lost = check_steps(&w, false, &fsck);
	CU_ASSERT(lost <= good && lost + 10 >= good);
	put_name(&w, last, "back", top, S_IFDIR, 40);
	put_order(&w, last, "back", top, S_IFDIR, 40);
	circle = check_steps(&w, false, &fsck);
	CU_ASSERT(circle <= good + 10);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, "lies within itself"));
	mended(&w.t, "lies within itself", 2);
	CU_ASSERT_NOT_EQUAL(nst_find(&w.t, NST_ROOT, "lost+found"), 0);
	nst_end(&w.t);
}

/* So much is repaired in one step at most, and all of it in the end. */
static void test_much(void)
{
	enum { MUCH = 3000, MOST = 1030 };
	uint8_t key[NS_NAME_KEY_MAX];
	struct ddio_msg_fsck fsck;
	struct ns_check *check;
	uint64_t most = 0, now, before = 0;
	struct tree w;
	uint32_t i;

	tree_begin(&w);
	for (i = 0; i < MUCH; i++)
		damage(&w.t, NS_XATTRS, key, ns_name_key(key, 9999 + i, "user.b"), junk,
		       sizeof(junk));
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, true, &check), 0);
	while (ns_check_step(check, 1)) {
		now = lmdb_records(&w.t, NS_XATTRS);
		if (before > now + most)
			most = before - now;
		before = now;
	}
	CU_ASSERT_EQUAL(ns_check_end(check, &fsck), 0);
	CU_ASSERT(most >= 1000 && most <= MOST);
	CU_ASSERT_EQUAL(fsck.problems, MUCH);
	CU_ASSERT_EQUAL(fsck.repaired, MUCH);
	nst_clean(&w.t, 2);
	/* Nobody wants to know. */
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, false, &check), 0);
	ns_check_step(check, 10);
	ns_check_give_up(check);
	CU_ASSERT(!ns_check_step(check, 10));
	CU_ASSERT_EQUAL(ns_check_end(check, NULL), -ECANCELED);
	nst_end(&w.t);
}

/*
 * A check looks at as many records in a step as it is told, at those that there were when it began, and begins again if
 * the map grows; it repairs nothing if something has changed since.
 */
static void test_steps(void)
{
	uint8_t key[NS_NAME_KEY_MAX];
	struct ddio_msg_fsck fsck;
	struct ns_check *check;
	struct tree w;
	uint32_t all, n;

	tree_begin(&w);
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, false, &check), 0);
	for (all = 0; ns_check_step(check, 1); all++)
		;
	CU_ASSERT_EQUAL(ns_check_end(check, &fsck), 0);
	CU_ASSERT(all > 3 * fsck.objects);
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, false, &check), 0);
	for (n = 0; ns_check_step(check, 3); n++)
		if (n == all / 6) {
			nst_file(&w.t, NST_ROOT, "young");
			CU_ASSERT_EQUAL(nst_commit(&w.t), 0);
		}
	CU_ASSERT_EQUAL(n, all / 3);
	n = (uint32_t)fsck.objects;
	CU_ASSERT_EQUAL(ns_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.objects, n);
	CU_ASSERT_EQUAL(fsck.problems, 0);

	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, false, &check), 0);
	CU_ASSERT(ns_check_step(check, all / 2));
	CU_ASSERT_EQUAL(lmdb_grow(&w.t.ns->kv->db), 0);
	while (ns_check_step(check, all / 2))
		;
	CU_ASSERT_EQUAL(ns_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.objects, n + 1);
	CU_ASSERT_EQUAL(fsck.problems, 0);

	damage(&w.t, NS_XATTRS, key, ns_name_key(key, 9999, "user.b"), junk, sizeof(junk));
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, true, &check), 0);
	CU_ASSERT(ns_check_step(check, all / 2));
	nst_file(&w.t, NST_ROOT, "younger");
	CU_ASSERT_EQUAL(nst_commit(&w.t), 0);
	while (ns_check_step(check, all))
		;
	CU_ASSERT_EQUAL(ns_check_end(check, &fsck), -EBUSY);
	/* Given up. */
	CU_ASSERT_EQUAL_FATAL(ns_check_begin(w.t.ns, true, &check), 0);
	CU_ASSERT(ns_check_step(check, 1));
	CU_ASSERT_EQUAL(ns_check_end(check, NULL), 0);
	mended(&w.t, "attribute 'user.b'", (int)n + 2);
	nst_end(&w.t);
}

/* A start refuses damaged records, and with --repair removes them. */
static void test_start(void)
{
	struct ddio_msg_fsck fsck;
	uint8_t key[NS_KEY_LEN];
	struct nst t;

	nst_begin(&t);
	ns_key(key, nst_file(&t, NST_ROOT, "f"));
	CU_ASSERT_NOT_EQUAL(nst_file(&t, NST_ROOT, "g"), 0);
	damage(&t, NS_INODES, key, sizeof(key), junk, sizeof(junk));
	CU_ASSERT_EQUAL(nst_reopen(&t), -EUCLEAN);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err, "1 records are damaged, the first is: inodes"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err, "--repair"));
	CU_ASSERT_EQUAL(nst_open(&t), -EUCLEAN);
	t.repair = true;
	CU_ASSERT_EQUAL_FATAL(nst_open(&t), 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(t.world, "the damaged record inodes"), true);
	CU_ASSERT_EQUAL(ut_ns_check(t.ns, true, &fsck), 0);
	t.repair = false;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	CU_ASSERT_NOT_EQUAL(nst_find(&t, NST_ROOT, "g"), 0);
	nst_clean(&t, 1);
	nst_end(&t);
}

/* Gives objects of a number a file again; *path: as it was told. */
static int adopt(struct nst *t, uint64_t ino, char path[64])
{
	uint32_t disks[2] = { 0, 1 };
	struct ddio_file_record rec = { .ref = { .id = ino, .seed = 7, .block = 4096 },
					.size = 3 * 4096,
					.ndisks = 2,
					.disks = disks };
	int ret = ns_adopt(t->ns, &rec);

	snprintf(path, 64, "%.63s", ret ? "" : rec.name);
	return ret;
}

static int give_away(struct nst *t, uint64_t ino, uint32_t uid)
{
	const struct ddio_msg_fs_setattr x = { .ino = ino, .mask = DDIO_FS_SET_UID, .uid = uid };
	struct inode in;
	int ret = ns_setattr(t->ns, NULL, &x, &in);

	inode_free(&in);
	return ret;
}

static uint64_t gone_file(struct nst *t)
{
	uint64_t ino = nst_file(t, NST_ROOT, "gone");

	CU_ASSERT_EQUAL(nst_unlink(t, NST_ROOT, "gone"), 0);
	return ino;
}

/* A number that is free gets a file of root's in /lost+found; any other gets none. */
static void test_adopt(void)
{
	char path[64], want[64];
	struct inode in;
	uint64_t ino, dir;
	struct nst t;

	nst_begin(&t);
	ino = gone_file(&t);
	CU_ASSERT_EQUAL(adopt(&t, NS_FIRST - 1, path), -ERANGE);
	CU_ASSERT_EQUAL(adopt(&t, t.ns->next, path), -ERANGE);
	CU_ASSERT_EQUAL(adopt(&t, UINT64_MAX, path), -ERANGE);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, "lost+found"), 0);
	CU_ASSERT_EQUAL_FATAL(adopt(&t, ino, path), 0);
	snprintf(want, sizeof(want), "lost+found/#%d", (int)ino);
	CU_ASSERT_STRING_EQUAL(path, want);
	CU_ASSERT_EQUAL(adopt(&t, ino, path), -EEXIST);
	dir = nst_find(&t, NST_ROOT, "lost+found");
	CU_ASSERT_EQUAL(nst_attr(&t, dir).mode, S_IFDIR | 0700);
	CU_ASSERT_EQUAL(nst_find(&t, dir, want + 11), ino);
	nst_clean(&t, 1);
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	nst_clean(&t, 1);
	CU_ASSERT_EQUAL_FATAL(ns_inode(t.ns, ino, &in), 0);
	CU_ASSERT_EQUAL(in.mode, S_IFREG | 0600);
	CU_ASSERT_EQUAL(in.size, 3 * 4096);
	CU_ASSERT_EQUAL(in.stripe.seed, 7);
	CU_ASSERT_EQUAL(in.stripe.ndisks, 2);
	CU_ASSERT(in.flags & INODE_DATA);
	inode_free(&in);
	/* A number that is some other inode's. */
	CU_ASSERT_EQUAL(adopt(&t, dir, path), -EEXIST);
	/* One that is being removed still has its number. */
	ino = nst_file(&t, NST_ROOT, "going");
	CU_ASSERT_EQUAL(nst_data(&t, ino, 10), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "going"), 0);
	CU_ASSERT_EQUAL(adopt(&t, ino, path), -EEXIST);
	nst_end(&t);
}

/* Names that are taken, and a /lost+found that is a person's. */
static void test_adopt_names(void)
{
	char path[64], name[64];
	uint64_t ino, dir;
	struct nst t;
	int i;

	nst_begin(&t);
	dir = nst_mkdir(&t, NST_ROOT, "lost+found");
	ino = gone_file(&t);
	snprintf(name, sizeof(name), "#%d", (int)ino);
	CU_ASSERT_NOT_EQUAL(nst_mkdir(&t, dir, name), 0);
	CU_ASSERT_EQUAL(adopt(&t, ino, path), 0);
	CU_ASSERT_EQUAL(strncmp(path + 11, name, strlen(name)), 0);
	CU_ASSERT_STRING_EQUAL(path + 11 + strlen(name), ".1");
	CU_ASSERT_EQUAL(nst_find(&t, dir, path + 11), ino);
	ino = gone_file(&t);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), i ? "#%d.%d" : "#%d", (int)ino, i);
		CU_ASSERT_NOT_EQUAL(nst_file(&t, dir, name), 0);
	}
	CU_ASSERT_EQUAL(adopt(&t, ino, path), -EEXIST);
	nst_clean(&t, 11);
	nst_end(&t);
	for (i = 0; i < 2; i++) {
		nst_begin(&t);
		dir = i ? nst_mkdir(&t, NST_ROOT, "lost+found") : 0;
		if (i) {
			CU_ASSERT_EQUAL(give_away(&t, dir, 1000), 0);
		} else {
			CU_ASSERT_NOT_EQUAL(nst_file(&t, NST_ROOT, "lost+found"), 0);
		}
		ino = gone_file(&t);
		snprintf(name, sizeof(name), "#%d", (int)ino);
		CU_ASSERT_EQUAL(adopt(&t, ino, path), 0);
		CU_ASSERT_STRING_EQUAL(path, name);
		CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, name), ino);
		nst_clean(&t, i ? 1 : 2);
		nst_end(&t);
	}
}

/* Without room for another record there is neither a file nor a name, and the objects stay as they are. */
static void test_adopt_no_room(void)
{
	char path[64];
	uint64_t ino, inodes;
	int fd[2], i;
	struct nst t;

	nst_begin(&t);
	ino = gone_file(&t);
	inodes = ns_inodes(t.ns);
	for (i = 0; i < 2; i++) {
		fd[i] = t.ns->kv->journal.fd[i];
		t.ns->kv->journal.fd[i] = open("/dev/full", O_RDWR);
	}
	CU_ASSERT_EQUAL(adopt(&t, ino, path), -ENOSPC);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, "lost+found"), 0);
	CU_ASSERT_EQUAL(ns_inodes(t.ns), inodes);
	for (i = 0; i < 2; i++) {
		close(t.ns->kv->journal.fd[i]);
		t.ns->kv->journal.fd[i] = fd[i];
	}
	nst_clean(&t, 0);
	CU_ASSERT_EQUAL(adopt(&t, ino, path), 0);
	nst_clean(&t, 1);
	nst_end(&t);
}

/* Opens a copy of the records as a crash leaves them that cuts the journal at @size.  Returns the file's inode by its name, or 0. */
static uint64_t adopted_after_crash(const struct nst *t, off_t size, uint64_t ino, const char *name)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	struct ddio_msg_fsck fsck;
	struct nst copy = *t;
	char from[320], to[320];
	uint64_t dir, found;
	struct inode in;
	size_t i;

	snprintf(copy.dir, sizeof(copy.dir), "%s/copy", copy.top);
	ut_remove_tree(copy.dir);
	CU_ASSERT_EQUAL_FATAL(mkdir(copy.dir, 0700), 0);
	for (i = 0; i < 3; i++) {
		snprintf(from, sizeof(from), "%s/%s", t->dir, files[i]);
		snprintf(to, sizeof(to), "%s/%s", copy.dir, files[i]);
		ut_copy_file(from, to);
	}
	snprintf(to, sizeof(to), "%s/journal.%d", copy.dir, t->ns->kv->journal.at);
	CU_ASSERT_EQUAL(truncate(to, size), 0);
	CU_ASSERT_EQUAL_FATAL(nst_open(&copy), 0);
	CU_ASSERT_EQUAL(ut_ns_check(copy.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	dir = nst_find(&copy, NST_ROOT, "lost+found");
	found = dir ? nst_find(&copy, dir, name) : 0;
	CU_ASSERT_EQUAL(!ns_inode(copy.ns, ino, &in), found != 0);
	inode_free(&in);
	ns_close(copy.ns);
	return found;
}

/* A crash at any byte of the journal leaves the inode and its name, or neither. */
static void test_adopt_crash(void)
{
	char path[64];
	uint64_t ino, found = 0;
	off_t before, after, at;
	struct nst t;

	nst_begin(&t);
	ino = gone_file(&t);
	before = (off_t)t.ns->kv->journal.size[t.ns->kv->journal.at];
	CU_ASSERT_EQUAL_FATAL(adopt(&t, ino, path), 0);
	after = (off_t)t.ns->kv->journal.size[t.ns->kv->journal.at];
	CU_ASSERT_FATAL(after > before);
	for (at = before; at < after; at += 1 + (off_t)(ut_stride(16) * 3))
		CU_ASSERT_EQUAL(adopted_after_crash(&t, at, ino, path + 11), 0);
	found = adopted_after_crash(&t, after, ino, path + 11);
	CU_ASSERT_EQUAL(found, ino);
	nst_end(&t);
}

static const struct ut_case cases[] = {
	{ "objects get a file", test_adopt },
	{ "objects get a name", test_adopt_names },
	{ "no room for the name", test_adopt_no_room },
	{ "a crash between inode and name", test_adopt_crash },
	{ "in steps", test_steps },
	{ "deep", test_deep },
	{ "much", test_much },
	{ "inodes", test_inodes },
	{ "counts", test_counts },
	{ "names", test_names },
	{ "order", test_order },
	{ "lost and found", test_lost },
	{ "circle", test_circle },
	{ "orphans", test_orphans },
	{ "others", test_others },
	{ "numbers", test_numbers },
	{ "a start with damaged records", test_start },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "check", cases } };

	return ut_run("ns_check", suites, 1);
}
