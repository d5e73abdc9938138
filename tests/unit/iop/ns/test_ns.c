// SPDX-License-Identifier: GPL-2.0-only
/* The name space: making, finding, linking, removing, listing, numbers. */
#include "ut_ns.h"

static void test_make(void)
{
	struct ddio_fs_attr a;
	struct nst t;
	uint64_t f, d;

	nst_begin(&t);
	a = nst_attr(&t, NST_ROOT);
	CU_ASSERT(S_ISDIR(a.mode));
	CU_ASSERT_EQUAL(a.nlink, 2);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT(f >= NS_FIRST);
	a = nst_attr(&t, f);
	CU_ASSERT_EQUAL(a.mode, S_IFREG | 0644);
	CU_ASSERT_EQUAL(a.nlink, 1);
	CU_ASSERT_EQUAL(a.block, 8192);
	CU_ASSERT_EQUAL(a.ndisks, 6);
	CU_ASSERT_EQUAL(a.alloc, 0); /* known, since it never had data */
	CU_ASSERT(a.mtime.tv_sec == a.btime.tv_sec && a.mtime.tv_nsec == a.btime.tv_nsec);
	CU_ASSERT_EQUAL(nst_file(&t, NST_ROOT, "f"), 0);
	CU_ASSERT_EQUAL(errno, EEXIST);
	d = nst_mkdir(&t, NST_ROOT, "d");
	CU_ASSERT_EQUAL(nst_attr(&t, NST_ROOT).nlink, 3);
	CU_ASSERT_EQUAL(nst_attr(&t, NST_ROOT).size, 2);
	CU_ASSERT_NOT_EQUAL(nst_file(&t, d, "f"), 0);
	CU_ASSERT_EQUAL(nst_find(&t, d, ".."), NST_ROOT);
	CU_ASSERT_EQUAL(nst_find(&t, d, "."), d);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, ".."), NST_ROOT);
	CU_ASSERT_EQUAL(nst_file(&t, f, "x"), 0);
	CU_ASSERT_EQUAL(errno, ENOTDIR);
	CU_ASSERT_EQUAL(nst_file(&t, 99999, "x"), 0);
	CU_ASSERT_EQUAL(errno, ESTALE);
	CU_ASSERT_EQUAL(nst_file(&t, NST_ROOT, "."), 0);
	CU_ASSERT_EQUAL(errno, EEXIST);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, "f"), f);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, "d"), d);
	nst_clean(&t, 2);
	CU_ASSERT_EQUAL(ns_inodes(t.ns), 4);
	nst_end(&t);
}

/* Without EXCL a regular file that is there will do, and nothing else. */
static void test_make_or_find(void)
{
	struct ddio_msg_fs_make x = { .parent = NST_ROOT, .mode = S_IFREG | 0600, .name = "f" };
	struct inode in;
	struct nst t;
	uint64_t f;
	bool made;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	nst_mkdir(&t, NST_ROOT, "d");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	CU_ASSERT_EQUAL(in.ino, f);
	CU_ASSERT_EQUAL(in.mode, S_IFREG | 0644);
	CU_ASSERT_FALSE(made);
	inode_free(&in);
	strcpy(x.name, "d");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), -EISDIR);
	inode_free(&in);
	x.mode = S_IFIFO | 0600;
	strcpy(x.name, "f");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), -EEXIST);
	inode_free(&in);
	nst_end(&t);
}

static void test_kinds(void)
{
	struct ddio_msg_fs_make x = { .parent = NST_ROOT, .rdev = 0x103, .uid = 7, .gid = 8 };
	static const uint32_t modes[] = { S_IFCHR | 0600, S_IFBLK | 0600, S_IFIFO | 0600,
					  S_IFSOCK | 0600, S_IFLNK | 0644 };
	struct inode in;
	struct nst t;
	bool made;
	size_t i;

	nst_begin(&t);
	for (i = 0; i < 5; i++) {
		x.mode = modes[i];
		snprintf(x.name, sizeof(x.name), "k%d", (int)i);
		memset(x.target, 'x', i == 4 ? DDIO_FS_TARGET_MAX : 0);
		CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
		CU_ASSERT_EQUAL(in.rdev, i < 2 ? 0x103 : 0);
		CU_ASSERT(in.uid == 7 && in.gid == 8);
		CU_ASSERT_EQUAL(in.stripe.block, 0);
		inode_free(&in);
	}
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ns_lookup(t.ns, NST_ROOT, "k4", &in), 0);
	CU_ASSERT_EQUAL(in.size, DDIO_FS_TARGET_MAX);
	CU_ASSERT_STRING_EQUAL(in.target, x.target);
	CU_ASSERT_EQUAL(in.mode, S_IFLNK | 0777);
	inode_free(&in);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "k0"), 0);
	nst_clean(&t, 0);
	nst_end(&t);
}

static void test_setgid_and_umask(void)
{
	struct ddio_msg_fs_make x = {
		.parent = NST_ROOT, .mode = S_IFDIR | 02777, .gid = 5, .name = "d", .umask = 022
	};
	struct inode in;
	struct nst t;
	bool made;

	nst_begin(&t);
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	CU_ASSERT_EQUAL(in.mode, S_IFDIR | 02755);
	x.parent = in.ino;
	inode_free(&in);
	x.gid = 9;
	x.mode = S_IFDIR | 0777;
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	CU_ASSERT_EQUAL(in.gid, 5);
	CU_ASSERT_EQUAL(in.mode, S_IFDIR | 02755);
	inode_free(&in);
	x.mode = S_IFREG | 0666;
	strcpy(x.name, "f");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	CU_ASSERT_EQUAL(in.gid, 5);
	CU_ASSERT_EQUAL(in.mode, S_IFREG | 0644);
	inode_free(&in);
	nst_end(&t);
}

static void test_links(void)
{
	struct nst t;
	uint64_t f, d, left;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	d = nst_mkdir(&t, NST_ROOT, "d");
	CU_ASSERT_EQUAL(nst_data(&t, f, 10), 0);
	CU_ASSERT_EQUAL(nst_link(&t, f, d, "g"), 0);
	CU_ASSERT_EQUAL(nst_link(&t, f, d, "g"), -EEXIST);
	CU_ASSERT_EQUAL(nst_link(&t, d, NST_ROOT, "e"), -EPERM);
	CU_ASSERT_EQUAL(nst_link(&t, 9999, NST_ROOT, "e"), -ESTALE);
	CU_ASSERT_EQUAL(nst_link(&t, f, f, "e"), -ENOTDIR);
	CU_ASSERT_EQUAL(nst_link(&t, f, 9999, "e"), -ESTALE);
	CU_ASSERT_EQUAL(nst_attr(&t, f).nlink, 2);
	CU_ASSERT_EQUAL(nst_find(&t, d, "g"), f);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "d"), -ENOTEMPTY);
	CU_ASSERT_EQUAL(nst_unlink_as(&t, NST_ROOT, "f", 0, &left), 0);
	CU_ASSERT_EQUAL(left, 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).nlink, 1);
	CU_ASSERT_EQUAL(nst_unlink_as(&t, d, "g", 0, &left), 0);
	CU_ASSERT_EQUAL(left, f);
	CU_ASSERT_EQUAL(nst_attr(&t, f).nlink, 0);
	CU_ASSERT_EQUAL(nst_link(&t, f, d, "again"), -ESTALE);
	nst_clean(&t, 1);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), 0);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), -ESTALE);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "d"), 0);
	nst_clean(&t, 0);
	nst_end(&t);
}

static void test_remove(void)
{
	struct ddio_msg_ns_listing out;
	uint64_t f, left, after = 0;
	struct nst t;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	nst_mkdir(&t, NST_ROOT, "d");
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), -EBUSY);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "d"), -EISDIR);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "f"), -ENOTDIR);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "x"), -ENOENT);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "."), -EINVAL);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, ".."), -ENOTEMPTY);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, ".."), -EISDIR);
	/* what never had data is gone at once */
	CU_ASSERT_EQUAL(nst_unlink_as(&t, NST_ROOT, "f", 0, &left), 0);
	CU_ASSERT_EQUAL(left, 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).ino, 0);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	/* its objects have not been removed: clients that ask are told */
	CU_ASSERT_EQUAL(ns_orphans(t.ns, &after, 10, &out), 0);
	CU_ASSERT_EQUAL(after, f);
	CU_ASSERT_EQUAL_FATAL(out.n, 1);
	CU_ASSERT_EQUAL(out.recs[0].ref.id, f);
	CU_ASSERT_EQUAL(out.recs[0].ndisks, 6);
	CU_ASSERT_EQUAL(out.recs[0].dying, 1);
	ddio_ns_listing_free(&out);
	CU_ASSERT_EQUAL(ns_orphans(t.ns, &after, 10, &out), 0);
	CU_ASSERT_EQUAL(out.n, 0);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), 0);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "d"), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, NST_ROOT).nlink, 2);
	nst_clean(&t, 0);
	nst_end(&t);
}

/* Attributes of removed inodes can still be read, except those of a regular file, which is gone. */
static void test_removed(void)
{
	uint64_t d, f, link, first = 0, last = 0;
	struct inode in;
	char name[32];
	struct nst t;
	int i;

	nst_begin(&t);
	d = nst_mkdir(&t, NST_ROOT, "d");
	f = nst_file(&t, NST_ROOT, "f");
	link = nst_make(&t, NST_ROOT, "l", S_IFIFO | 0640);
	CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, "d"), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "l"), 0);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, d, &in), 0);
	CU_ASSERT_EQUAL(in.ino, d);
	CU_ASSERT_EQUAL(in.mode, S_IFDIR | 0755);
	CU_ASSERT_EQUAL(in.nlink, 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, link, &in), 0);
	CU_ASSERT_EQUAL(in.mode, S_IFIFO | 0640);
	CU_ASSERT_EQUAL(in.nlink, 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, f, &in), -ESTALE);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, 12345, &in), -ESTALE);
	CU_ASSERT_EQUAL(ns_inode(t.ns, d, &in), -ESTALE);
	/* The last ones, that is. */
	for (i = 0; i < NS_REMOVED; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		last = nst_mkdir(&t, NST_ROOT, name);
		first = first ? first : last;
		CU_ASSERT_EQUAL(nst_rmdir(&t, NST_ROOT, name), 0);
	}
	CU_ASSERT_EQUAL(ns_getattr(t.ns, d, &in), -ESTALE);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, first, &in), 0);
	CU_ASSERT_EQUAL(ns_getattr(t.ns, last, &in), 0);
	nst_clean(&t, 0);
	nst_end(&t);
}

static uint32_t list_some(struct nst *t, uint64_t dir, uint64_t *cookie, uint32_t max, bool plus,
			  char names[][32], uint32_t at)
{
	const struct ddio_msg_fs_readdir x = {
		.ino = dir, .cookie = *cookie, .max = max, .flags = plus ? DDIO_FS_READDIR_PLUS : 0
	};
	struct ddio_msg_fs_entries out;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(ns_readdir(t->ns, &x, 1 << 20, &out), 0);
	for (i = 0; i < out.n; i++) {
		snprintf(names[at + i], 32, "%s", out.ents[i].name);
		CU_ASSERT(out.ents[i].cookie > *cookie);
		*cookie = out.ents[i].cookie;
		CU_ASSERT_EQUAL(out.ents[i].attr.nlink != 0, plus);
	}
	CU_ASSERT(out.n == max || !out.more);
	free(out.ents);
	return i;
}

static void test_readdir(void)
{
	static char names[300][32];
	uint64_t d, cookie;
	uint32_t n, got, max;
	struct nst t;
	int i;

	nst_begin(&t);
	d = nst_mkdir(&t, NST_ROOT, "d");
	for (i = 0; i < 100; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%02d", (i * 37) % 100);
		CU_ASSERT_NOT_EQUAL(nst_file(&t, d, name), 0);
		if (i == 50)
			CU_ASSERT_EQUAL(nst_commit(&t), 0);
	}
	for (max = 1; max < 120; max += 7) {
		cookie = n = 0;
		do {
			got = list_some(&t, d, &cookie, max, max & 1, names, n);
			n += got;
		} while (got);
		CU_ASSERT_EQUAL(n, 102);
		CU_ASSERT_STRING_EQUAL(names[0], ".");
		CU_ASSERT_STRING_EQUAL(names[1], "..");
		CU_ASSERT_STRING_EQUAL(names[2], "f00");
		CU_ASSERT_STRING_EQUAL(names[3], "f37");
	}
	/* What comes and goes meanwhile does not disturb what stays. */
	cookie = 0;
	n = list_some(&t, d, &cookie, 52, false, names, 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, d, names[51]), 0); /* that the listing stands on */
	CU_ASSERT_EQUAL(nst_unlink(&t, d, names[10]), 0);
	CU_ASSERT_NOT_EQUAL(nst_file(&t, d, "new"), 0);
	CU_ASSERT_EQUAL(nst_rename(&t, d, "f00", d, names[20], 0), 0); /* in place of another */
	n += list_some(&t, d, &cookie, 200, false, names, n);
	CU_ASSERT_EQUAL(n, 103);
	CU_ASSERT_STRING_EQUAL(names[102], "new");
	nst_end(&t);
}

/* Moves an entry in its directory, or out of it and back under another name. */
static void move_entry(struct nst *t, uint64_t d, uint64_t other, const char *name, uint32_t i)
{
	char to[32];

	snprintf(to, sizeof(to), "t%u", i);
	if (i & 1) {
		CU_ASSERT_EQUAL(nst_rename(t, d, name, d, to, 0), 0);
		return;
	}
	CU_ASSERT_EQUAL(nst_rename(t, d, name, other, "x", 0), 0);
	CU_ASSERT_EQUAL(nst_rename(t, other, "x", d, to, 0), 0);
}

static uint64_t last_cookie(struct nst *t, uint64_t dir)
{
	const struct ddio_msg_fs_readdir x = { .ino = dir,
					       .max = 1,
					       .flags = DDIO_FS_READDIR_LAST };
	struct ddio_msg_fs_entries out;
	uint64_t last;

	CU_ASSERT_EQUAL_FATAL(ns_readdir(t->ns, &x, 1 << 20, &out), 0);
	CU_ASSERT_EQUAL_FATAL(out.n, 1);
	CU_ASSERT_EQUAL(out.more, 0);
	CU_ASSERT_EQUAL(out.ents[0].attr.ino, dir);
	last = out.ents[0].cookie;
	free(out.ents);
	return last;
}

/* Every entry is moved when it has been listed: up to the cookie that was the last, each comes once. */
static void test_readdir_ends(void)
{
	static char names[2][32];
	uint64_t d, other, cookie = 2, last;
	uint32_t i, n = 0;
	struct nst t;
	char name[32];

	nst_begin(&t);
	d = nst_mkdir(&t, NST_ROOT, "d");
	other = nst_mkdir(&t, NST_ROOT, "other");
	CU_ASSERT_EQUAL(last_cookie(&t, d), 2);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CU_ASSERT_NOT_EQUAL(nst_file(&t, d, name), 0);
	}
	last = last_cookie(&t, d);
	CU_ASSERT_EQUAL(last, 52);
	while (list_some(&t, d, &cookie, 1, false, names, 0) && cookie <= last) {
		CU_ASSERT_EQUAL(names[0][0], 'f');
		move_entry(&t, d, other, names[0], n++);
	}
	CU_ASSERT_EQUAL(n, 50);
	CU_ASSERT_EQUAL(last_cookie(&t, d), 77);
	nst_clean(&t, 50);
	nst_end(&t);
}

/* Numbers that were handed out do not come again, committed or not. */
static void test_numbers(void)
{
	uint64_t last = 0, id, i, round;
	struct nst t;
	char name[32];

	nst_begin(&t);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "%d-%d", (int)round, (int)i);
			id = nst_file(&t, NST_ROOT, name);
			CU_ASSERT(id > last);
			last = id;
		}
		CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, name), 0);
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	}
	nst_end(&t);
}

/* When the reserve is used up it is renewed; until that is durable nothing is made. */
static void test_reserve(void)
{
	struct nst t;
	uint64_t id, limit;

	nst_begin(&t);
	limit = t.ns->limit;
	t.ns->next = limit - NS_RESERVE / 2 + 1;
	CU_ASSERT_NOT_EQUAL(nst_file(&t, NST_ROOT, "a"), 0);
	ddio_sim_run_for(t.world, 1000000000);
	CU_ASSERT_EQUAL(t.ns->limit, limit + NS_RESERVE);
	t.ns->next = t.ns->limit - 1;
	id = nst_file(&t, NST_ROOT, "b");
	CU_ASSERT_NOT_EQUAL(id, 0);
	CU_ASSERT_EQUAL(nst_file(&t, NST_ROOT, "c"), 0);
	CU_ASSERT_EQUAL(errno, EAGAIN);
	ddio_sim_run_for(t.world, 1000000000);
	CU_ASSERT_EQUAL(nst_file(&t, NST_ROOT, "c"), id + 1);
	nst_clean(&t, 3);
	nst_end(&t);
}

/* A listing looks at so many names, or inodes, and says where to go on, if it has found nothing to show. */
static void test_listing_steps(void)
{
	enum { LINKS = 3000, LOOKS = 1024 };
	struct ddio_msg_ns_listing out;
	char next[DDIO_MAX_NAME + 1] = "", name[DDIO_MAX_NAME + 1];
	struct nst t;
	uint64_t dir, f, at = 0;
	uint32_t i, steps;

	nst_begin(&t);
	dir = nst_mkdir(&t, NST_ROOT, "d");
	for (i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		nst_make(&t, dir, name, S_IFIFO | 0777);
		if (!(i % 500))
			CU_ASSERT_EQUAL(nst_commit(&t), 0);
	}
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	f = nst_file(&t, dir, "z");
	for (steps = 1;; steps++) {
		CU_ASSERT_EQUAL_FATAL(ns_list(t.ns, NULL, "d", next, 1, &out, next), 0);
		if (out.n || !out.more)
			break;
		ddio_ns_listing_free(&out);
	}
	CU_ASSERT(out.n == 1 && !strcmp(out.recs[0].name, "z") && !out.more);
	CU_ASSERT_EQUAL(steps, LINKS / LOOKS + 1);
	ddio_ns_listing_free(&out);
	for (steps = 1;; steps++) {
		CU_ASSERT_EQUAL_FATAL(ns_list_all(t.ns, at, 1, &out, &at), 0);
		if (out.n || !out.more)
			break;
		ddio_ns_listing_free(&out);
	}
	CU_ASSERT(out.n == 1 && out.recs[0].ref.id == f && !out.more);
	CU_ASSERT_EQUAL(steps, LINKS / LOOKS + 1);
	ddio_ns_listing_free(&out);
	nst_clean(&t, 1);
	nst_end(&t);
}

static void test_paths(void)
{
	struct ddio_msg_fs_make x = { .parent = NST_ROOT, .mode = S_IFLNK | 0777, .name = "l" };
	static const struct {
		const char *path;
		int ret;
	} paths[] = {
		{ "a/b/f", 0 },	      { "/a//b/f", 0 },	    { "a/../a/./b/f", 0 },
		{ "../a/b/f", 0 },    { "a/l/f", 0 },	    { "a/b/f/", 0 },
		{ "a/b/x", -ENOENT }, { "a/x/f", -ENOENT }, { "a/b/f/x", -ENOTDIR },
		{ "loop/f", -ELOOP }, { "abs/b/f", 0 },	    { "a/up/a/b/f", 0 },
	};
	struct inode in;
	uint64_t a, b, f, parent;
	char name[DDIO_MAX_NAME + 1], longest[DDIO_MAX_PATH + 2];
	struct nst t;
	bool made;
	size_t i;

	nst_begin(&t);
	a = nst_mkdir(&t, NST_ROOT, "a");
	b = nst_mkdir(&t, a, "b");
	f = nst_file(&t, b, "f");
	x.parent = a;
	strcpy(x.target, "b");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	strcpy(x.name, "up");
	strcpy(x.target, "..");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	x.parent = NST_ROOT;
	strcpy(x.name, "abs");
	strcpy(x.target, "/a");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	strcpy(x.name, "loop");
	strcpy(x.target, "loop");
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, paths[i].path, &in), paths[i].ret);
		CU_ASSERT(paths[i].ret || in.ino == f);
		inode_free(&in);
	}
	/* As many names as a path can have, but no more through links. */
	memset(longest, 0, sizeof(longest));
	for (i = 0; i + 2 <= DDIO_MAX_PATH; i += 2)
		memcpy(longest + i, "./", 2);
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, longest, &in), 0);
	inode_free(&in);
	strcpy(x.name, "far");
	snprintf(x.target, sizeof(x.target), "%.*s", 2 * 1022, longest);
	CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, "far/far", &in), 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, "far/far/a/b/f", &in), -ELOOP);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_walk_parent(t.ns, NULL, "far/far/a/b/f", &parent, name), -ELOOP);
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, "", &in), 0);
	CU_ASSERT_EQUAL(in.ino, NST_ROOT);
	inode_free(&in);
	CU_ASSERT_EQUAL(ns_walk_parent(t.ns, NULL, "a/l/new", &parent, name), 0);
	CU_ASSERT_EQUAL(parent, b);
	CU_ASSERT_STRING_EQUAL(name, "new");
	CU_ASSERT_EQUAL(ns_walk_parent(t.ns, NULL, "a/x/new", &parent, name), -ENOENT);
	CU_ASSERT_EQUAL(ns_walk_parent(t.ns, NULL, "/", &parent, name), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[DDIO_MAX_NAME + 1] = '\0';
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, longest, &in), -ENAMETOOLONG);
	longest[DDIO_MAX_NAME] = '\0';
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, longest, &in), -ENOENT);
	memset(longest, '/', sizeof(longest));
	longest[DDIO_MAX_PATH + 1] = '\0';
	CU_ASSERT_EQUAL(ns_walk(t.ns, NULL, longest, &in), -ENAMETOOLONG);
	nst_end(&t);
}

/* All names of the root, page by page. */
static unsigned int list_all(struct nst *t, uint32_t max, char names[][32], unsigned int cap)
{
	struct ddio_msg_ns_listing page;
	char after[DDIO_MAX_NAME + 1] = "", next[DDIO_MAX_NAME + 1];
	unsigned int n = 0, i;
	bool more = true;

	while (more) {
		CU_ASSERT_EQUAL_FATAL(ns_list(t->ns, NULL, "", after, max, &page, next), 0);
		CU_ASSERT(page.n <= max);
		CU_ASSERT(page.n > 0 || !page.more);
		for (i = 0; i < page.n && n < cap; i++) {
			snprintf(names[n++], 32, "%.31s", page.recs[i].name);
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
	char next[DDIO_MAX_NAME + 1];
	uint64_t made;
	uint32_t max;
	struct nst t;
	int i;

	nst_begin(&t);
	CU_ASSERT_EQUAL(list_all(&t, 10, names, 100), 0);
	for (i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%02d", (i * 7) % 20);
		made = i % 5 == 4   ? nst_mkdir(&t, NST_ROOT, name)
		       : i % 5 == 3 ? nst_make(&t, NST_ROOT, name, S_IFLNK | 0777)
				    : nst_file(&t, NST_ROOT, name);
		CU_ASSERT_NOT_EQUAL(made, 0);
		if (i == 11)
			CU_ASSERT_EQUAL(nst_commit(&t), 0);
	}
	for (max = 1; max < 30; max++) {
		CU_ASSERT_EQUAL(list_all(&t, max, names, 100), 16); /* links are not shown */
		CU_ASSERT_STRING_EQUAL(names[0], "f00");
		CU_ASSERT_STRING_EQUAL(names[15], "f19");
		CU_ASSERT_STRING_EQUAL(names[6], "f08/");
	}
	CU_ASSERT_EQUAL(ns_list(t.ns, NULL, "", "f18", 10, &page, next), 0);
	CU_ASSERT_EQUAL(page.n, 1);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(ns_list(t.ns, NULL, "f08", "", 10, &page, next), 0);
	CU_ASSERT_EQUAL(page.n, 0);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(ns_list(t.ns, NULL, "f00", "", 10, &page, next), -ENOTDIR);
	CU_ASSERT_EQUAL(ns_list(t.ns, NULL, "none", "", 10, &page, next), -ENOENT);
	nst_end(&t);
}

/* Records so long that a page must be cut by its bytes. */
static void test_list_long_records(void)
{
	uint32_t *disks = calloc(DDIO_MAX_DISKS, sizeof(*disks)), i;
	struct ddio_msg_fs_make x = { .parent = NST_ROOT, .mode = S_IFREG | 0644 };
	struct stripe stripe = { .seed = 1, .block = 512, .ndisks = DDIO_MAX_DISKS };
	struct ddio_msg_ns_listing page;
	char next[DDIO_MAX_NAME + 1];
	uint64_t id;
	static char names[20][32];
	struct inode in;
	struct nst t;
	bool made;

	CU_ASSERT_PTR_NOT_NULL_FATAL(disks);
	for (i = 0; i < DDIO_MAX_DISKS; i++)
		disks[i] = DDIO_MAX_DISKS - i;
	stripe.disks = disks;
	nst_begin(&t);
	for (i = 0; i < 10; i++) {
		snprintf(x.name, sizeof(x.name), "f%u", i);
		CU_ASSERT_EQUAL(ns_make(t.ns, NULL, &x, &stripe, &in, &made, NULL), 0);
		inode_free(&in);
	}
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ns_list(t.ns, NULL, "", "", 20, &page, next), 0);
	CU_ASSERT(page.n < 10 && page.n > 0 && page.more);
	CU_ASSERT(ddio_put_ns_listing(NULL, 0, &page) <= (ssize_t)DDIO_MAX_SMALL);
	CU_ASSERT_EQUAL(page.recs[0].disks[5], DDIO_MAX_DISKS - 5);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(list_all(&t, 20, names, 20), 10);
	CU_ASSERT_EQUAL(ns_list_all(t.ns, 0, 20, &page, &id), 0);
	CU_ASSERT(page.n < 10 && page.n > 0 && page.more);
	CU_ASSERT(ddio_put_ns_listing(NULL, 0, &page) <= (ssize_t)DDIO_MAX_SMALL);
	ddio_ns_listing_free(&page);
	nst_end(&t);
	free(disks);
}

static void test_refused(void)
{
	struct ns_opts opts = { .cluster = "demo", .block = 512, .ndisks = 1 };
	struct ns *second;
	struct nst t;
	char err[300];

	nst_begin(&t);
	opts.dir = t.dir;
	CU_ASSERT_EQUAL(ns_open(t.env, &opts, &second, err, sizeof(err)), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "in use"));
	ns_close(t.ns);
	t.ns = NULL;
	opts.cluster = "prod";
	CU_ASSERT_EQUAL(ns_open(t.env, &opts, &second, err, sizeof(err)), -EMEDIUMTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "found cluster demo, expected cluster prod"));
	CU_ASSERT_EQUAL(nst_open(&t), 0);
	nst_end(&t);
}

static const struct ut_case names[] = {
	{ "make", test_make },
	{ "make or find", test_make_or_find },
	{ "all kinds", test_kinds },
	{ "setgid directories and umask", test_setgid_and_umask },
	{ "links", test_links },
	{ "remove", test_remove },
	{ "removed and open", test_removed },
	{ "listing of a directory", test_readdir },
	{ "a listing that ends", test_readdir_ends },
	{ "numbers", test_numbers },
	{ "reserve of numbers", test_reserve },
	{ "paths", test_paths },
	{ "listing in steps", test_listing_steps },
	{ "list", test_list },
	{ "list of long records", test_list_long_records },
	{ "refused", test_refused },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "names", names } };

	return ut_run("ns", suites, 1);
}
