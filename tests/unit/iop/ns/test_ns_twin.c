// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name space against the kernel's: the same random requests in both, the same results, the
 * same tree in the end.  Restarts and commits that fail lie between.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include "base/rand.h"
#include "ut_ns.h"

enum { STEPS = 3000, NAMES = 7 };

#define KERNEL_NOREPLACE 1u
#define KERNEL_EXCHANGE 2u
#define KERNEL_WHITEOUT 4u

struct ns_twin {
	struct nst t;
	char root[300];
	uint64_t rand;
	int bad;
	struct committer_ops ops;
	bool exchange, whiteout; /* the kernel's file system can do it */
};

static uint32_t below(struct ns_twin *w, uint32_t n)
{
	return (uint32_t)ddio_rand_below(&w->rand, n);
}

/* A path of one to four names, few enough to meet each other. */
static void path_draw(struct ns_twin *w, char path[64])
{
	uint32_t depth = 1 + below(w, 4), i;

	path[0] = '\0';
	for (i = 0; i < depth; i++)
		snprintf(path + strlen(path), 8, "%s%c", i ? "/" : "", 'a' + below(w, NAMES));
}

static void kernel_path(const struct ns_twin *w, const char *path, char full[400])
{
	snprintf(full, 400, "%s/%s", w->root, path);
}

/* As a mount would: names one by one, links not followed.  Return: 0 or -errno. */
static int resolve(struct ns_twin *w, const char *path, uint64_t *parent, char name[8])
{
	struct inode in;
	uint64_t dir = NST_ROOT;
	char part[8];
	int ret;

	for (;;) {
		const char *slash = strchr(path, '/');

		if (!slash) {
			*parent = dir;
			snprintf(name, 8, "%s", path);
			return 0;
		}
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		ret = ns_lookup(w->t.ns, dir, part, &in);
		/* links lead nowhere */
		if (!ret && !S_ISDIR(in.mode))
			ret = S_ISLNK(in.mode) ? -ENOENT : -ENOTDIR;
		dir = in.ino;
		inode_free(&in);
		if (ret)
			return ret;
		path = slash + 1;
	}
}

static int said(int ret)
{
	return ret < 0 ? -errno : 0;
}

static int kernel_make(const char *path, uint32_t mode)
{
	int fd;

	if (S_ISDIR(mode))
		return said(mkdir(path, mode & 0777));
	if (S_ISLNK(mode))
		return said(symlink("target", path));
	if (S_ISFIFO(mode))
		return said(mkfifo(path, mode & 0777));
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, mode & 0777);
	if (fd >= 0)
		close(fd);
	return said(fd);
}

static int both_make(struct ns_twin *w, const char *path, int *kernel)
{
	static const uint32_t modes[] = { S_IFREG | 0644, S_IFDIR | 0755, S_IFDIR | 0755,
					  S_IFLNK | 0777, S_IFIFO | 0600 };
	uint32_t mode = modes[below(w, 5)];
	char name[8], full[400];
	uint64_t parent;
	int ret;

	kernel_path(w, path, full);
	*kernel = kernel_make(full, mode);
	ret = resolve(w, path, &parent, name);
	if (ret)
		return ret;
	return nst_make(&w->t, parent, name, mode) ? 0 : -errno;
}

static int both_remove(struct ns_twin *w, const char *path, int *kernel)
{
	bool dir = below(w, 2);
	char name[8], full[400];
	uint64_t parent, left;
	int ret;

	kernel_path(w, path, full);
	*kernel = said(dir ? rmdir(full) : unlink(full));
	ret = resolve(w, path, &parent, name);
	if (ret)
		return ret;
	ret = nst_unlink_as(&w->t, parent, name, dir ? DDIO_FS_UNLINK_DIR : 0, &left);
	if (left)
		CU_ASSERT_EQUAL(ns_gone(w->t.ns, left), 0);
	return ret;
}

static int both_link(struct ns_twin *w, const char *path, int *kernel)
{
	char to[64], name[8], to_name[8], from_full[400], full[400];
	uint64_t parent, to_parent, ino;
	int ret;

	path_draw(w, to);
	kernel_path(w, path, from_full);
	kernel_path(w, to, full);
	*kernel = said(link(from_full, full));
	ret = resolve(w, path, &parent, name);
	if (ret)
		return ret;
	ino = nst_find(&w->t, parent, name);
	if (!ino)
		return -ENOENT;
	ret = resolve(w, to, &to_parent, to_name);
	if (ret)
		return ret;
	/* the kernel looks at the new name first */
	if (nst_find(&w->t, to_parent, to_name))
		return -EEXIST;
	return nst_link(&w->t, ino, to_parent, to_name);
}

static int both_rename(struct ns_twin *w, const char *path, int *kernel)
{
	static const uint32_t all[] = {
		0, 0, 0, DDIO_FS_RENAME_NOREPLACE, DDIO_FS_RENAME_EXCHANGE, DDIO_FS_RENAME_WHITEOUT
	};
	uint32_t flags = all[below(w, w->whiteout ? 6 : w->exchange ? 5 : 3)];
	char to[64], name[8], to_name[8], from_full[400], full[400];
	uint64_t parent, to_parent;
	int ret;

	path_draw(w, to);
	kernel_path(w, path, from_full);
	kernel_path(w, to, full);
	*kernel = said((int)syscall(SYS_renameat2, AT_FDCWD, from_full, AT_FDCWD, full, flags));
	ret = resolve(w, path, &parent, name);
	if (!ret)
		ret = resolve(w, to, &to_parent, to_name);
	return ret ? ret : nst_rename(&w->t, parent, name, to_parent, to_name, flags);
}

static void step(struct ns_twin *w)
{
	static const struct {
		int (*fn)(struct ns_twin *w, const char *path, int *kernel);
		const char *name;
	} kinds[] = { { both_make, "make" },	 { both_make, "make" },
		      { both_remove, "remove" }, { both_rename, "rename" },
		      { both_rename, "rename" }, { both_link, "link" } };
	uint32_t kind = below(w, 6);
	int ours, kernel = 0;
	char path[64];

	path_draw(w, path);
	ours = kinds[kind].fn(w, path, &kernel);
	/* over a directory that it is in: the kernel does not look at what it is */
	if (ours == -EISDIR && kernel == -ENOTEMPTY)
		return;
	if (ours == kernel || w->bad > 5)
		return;
	w->bad++;
	fprintf(stderr, "%s %s: %s, the kernel says %s\n", kinds[kind].name, path, strerror(-ours),
		strerror(-kernel));
	CU_ASSERT_EQUAL(ours, kernel);
}

/* @dir of the name space and the kernel's @path: same names, types, links; entries come once. */
static uint32_t same_tree(struct ns_twin *w, uint64_t dir, const char *path)
{
	struct ddio_msg_fs_readdir x = {
		.ino = dir, .cookie = 2, .max = 3, .flags = DDIO_FS_READDIR_PLUS
	};
	struct ddio_msg_fs_entries out;
	uint32_t n = 0, there = 0, i;
	struct dirent *d;
	struct stat st;
	char full[400];
	DIR *k;

	do {
		CU_ASSERT_EQUAL_FATAL(ns_readdir(w->t.ns, &x, 1 << 20, &out), 0);
		for (i = 0; i < out.n; i++, n++) {
			const struct ddio_fs_attr *a = &out.ents[i].attr;

			snprintf(full, sizeof(full), "%s/%s", path, out.ents[i].name);
			if (lstat(full, &st))
				st.st_mode = 0;
			CU_ASSERT_EQUAL(st.st_mode & S_IFMT, a->mode & S_IFMT);
			CU_ASSERT(S_ISDIR(a->mode) || st.st_nlink == a->nlink);
			if (S_ISDIR(a->mode)) {
				CU_ASSERT_EQUAL(nst_find(&w->t, a->ino, ".."), dir);
				there = same_tree(w, a->ino, full);
				CU_ASSERT_EQUAL(a->size, there);
			}
			x.cookie = out.ents[i].cookie;
		}
		i = out.more;
		free(out.ents);
	} while (i);
	k = opendir(path);
	for (there = 0; k && (d = readdir(k));)
		there += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
	if (k)
		closedir(k);
	CU_ASSERT_EQUAL(n, there);
	return n;
}

static bool can_rename(struct ns_twin *w, uint32_t flags)
{
	char a[400], b[400];
	bool can;

	kernel_path(w, "a", a);
	kernel_path(w, "b", b);
	kernel_make(a, S_IFREG | 0600);
	kernel_make(b, S_IFREG | 0600);
	can = !syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, flags);
	unlink(a);
	unlink(b);
	return can;
}

static int apply_or_fail(MDB_txn *txn, void *ctx)
{
	struct kv *kv = ctx;
	int ret = kv_committer_ops.apply(txn, ctx);

	return ret ? ret : kv->sealing % 2 ? EIO : 0;
}

/* What a crash leaves, its journal torn off anywhere: every request is in it wholly or not at all. */
static void crash(struct ns_twin *w)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	struct ddio_msg_fsck fsck;
	struct nst copy = w->t;
	uint32_t size = (uint32_t)w->t.ns->kv->journal.size[w->t.ns->kv->journal.at];
	char from[320], to[320];
	size_t i;

	snprintf(copy.dir, sizeof(copy.dir), "%s/copy", copy.top);
	ut_remove_tree(copy.dir);
	CU_ASSERT_EQUAL_FATAL(mkdir(copy.dir, 0700), 0);
	for (i = 0; i < 3; i++) {
		snprintf(from, sizeof(from), "%s/%s", w->t.dir, files[i]);
		snprintf(to, sizeof(to), "%s/%s", copy.dir, files[i]);
		ut_copy_file(from, to);
	}
	snprintf(to, sizeof(to), "%s/journal.%d", copy.dir, w->t.ns->kv->journal.at);
	if (size)
		CU_ASSERT_EQUAL(truncate(to, below(w, size)), 0);
	CU_ASSERT_EQUAL_FATAL(nst_open(&copy), 0);
	CU_ASSERT_EQUAL(ut_ns_check(copy.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	if (fsck.problems)
		fprintf(stderr, "after a crash: %s\n", fsck.text);
	ns_close(copy.ns);
}

static void twins(uint64_t seed, bool failing)
{
	struct ddio_msg_fsck fsck;
	struct ns_twin w;
	int i;

	_Static_assert(KERNEL_NOREPLACE == DDIO_FS_RENAME_NOREPLACE,
		       "the numbers are the kernel's");
	_Static_assert(KERNEL_WHITEOUT == DDIO_FS_RENAME_WHITEOUT, "the numbers are the kernel's");
	_Static_assert(KERNEL_EXCHANGE == DDIO_FS_RENAME_EXCHANGE, "the numbers are the kernel's");
	memset(&w, 0, sizeof(w));
	nst_begin(&w.t);
	w.rand = seed;
	snprintf(w.root, sizeof(w.root), "%s/kernel", w.t.top);
	CU_ASSERT_EQUAL_FATAL(mkdir(w.root, 0755), 0);
	w.exchange = can_rename(&w, KERNEL_EXCHANGE);
	w.whiteout = w.exchange && can_rename(&w, KERNEL_WHITEOUT);
	w.ops = kv_committer_ops;
	w.ops.apply = apply_or_fail;
	if (failing)
		w.t.ns->kv->committer.ops = &w.ops;
	for (i = 0; i < STEPS; i++) {
		step(&w);
		if (!below(&w, 100))
			ddio_sim_run_for(w.t.world, 2000000000);
		if (!below(&w, 150))
			crash(&w);
		if (!failing && !below(&w, 300))
			CU_ASSERT_EQUAL_FATAL(nst_reopen(&w.t), 0);
	}
	w.t.ns->kv->committer.ops = &kv_committer_ops;
	same_tree(&w, NST_ROOT, w.root);
	CU_ASSERT_EQUAL(nst_commit(&w.t), 0);
	CU_ASSERT_EQUAL(ut_ns_check(w.t.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&w.t), 0);
	same_tree(&w, NST_ROOT, w.root);
	nst_end(&w.t);
}

static void test_twins(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 4; seed++)
		twins(seed, false);
}

static void test_failing_commits(void)
{
	twins(11, true);
	twins(12, true);
}

static const struct ut_case cases[] = {
	{ "random requests", test_twins },
	{ "with commits that fail", test_failing_commits },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "twins", cases } };

	return ut_run("ns_twin", suites, 1);
}
