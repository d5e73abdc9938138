/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the name space share: one in a directory of its own. */
#ifndef DDIO_UT_NS_H
#define DDIO_UT_NS_H

#include <errno.h>
#include "iop/kv/priv.h"
#include "iop/ns/priv.h"
#include "tests/unit/iop/ns/ut_ns_check.h"
#include "tests/unit/iop/store/ut_store.h"

#define NST_TIMEOUT 30000000000ull
#define NST_ROOT DDIO_FS_ROOT

/**
 * struct nst - a name space in a directory of its own
 */
struct nst {
	bool repair, sync;
	const char *machine;
	char top[200], dir[260], err[500];
	struct ddio_sim *world;
	struct ddio_env *env;
	struct ns *ns;
};

static inline int nst_open(struct nst *t)
{
	const struct ns_opts opts = { .dir = t->dir,
				      .cluster = "demo",
				      .block = 8192,
				      .ndisks = 6,
				      .timeout_ns = NST_TIMEOUT,
				      .machine = t->machine,
				      .sync = t->sync,
				      .repair = t->repair };

	return ns_open(t->env, &opts, &t->ns, t->err, sizeof(t->err));
}

static inline void nst_begin(struct nst *t)
{
	memset(t, 0, sizeof(*t));
	ut_temp_dir(t->top, sizeof(t->top));
	snprintf(t->dir, sizeof(t->dir), "%s/ns", t->top);
	t->world = ddio_sim_new(1);
	t->env = ddio_sim_env(t->world, "io0");
	if (nst_open(t)) {
		fprintf(stderr, "%s\n", t->err);
		abort();
	}
}

static inline void nst_end(struct nst *t)
{
	ns_close(t->ns);
	ddio_sim_free(t->world);
	ut_remove_tree(t->top);
}

static inline int nst_commit(struct nst *t)
{
	struct ut_commit c;

	ut_commit_init(&c, t->env);
	ns_commit(t->ns, &c.commit);
	return ut_commit_wait(&c);
}

/* Commits that are under way end first. */
static inline int nst_reopen(struct nst *t)
{
	ddio_sim_run_for(t->world, 1000000);
	ns_close(t->ns);
	t->ns = NULL;
	return nst_open(t);
}

/* Checks that the reply to a change of a directory has the directory's present attributes. */
static inline void nst_dir_check(struct nst *t, const struct ddio_fs_attr *dir)
{
	struct ddio_fs_attr attr;
	struct inode in;

	if (!ns_inode(t->ns, dir->ino, &in)) {
		inode_attr(&in, &attr);
		CU_ASSERT_EQUAL(memcmp(dir, &attr, sizeof(attr)), 0);
	}
	inode_free(&in);
}

/* Return: the new inode, 0 with errno set if it failed. */
static inline uint64_t nst_make(struct nst *t, uint64_t parent, const char *name, uint32_t mode)
{
	struct ddio_msg_fs_make x = { .parent = parent, .mode = mode, .flags = DDIO_FS_MAKE_EXCL };
	struct ddio_fs_attr dir;
	struct inode in;
	uint64_t ino = 0;
	bool made;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	if (S_ISLNK(mode))
		strcpy(x.target, "target");
	ret = ns_make(t->ns, NULL, &x, NULL, &in, &made, &dir);
	if (!ret)
		ino = in.ino;
	inode_free(&in);
	if (!ret)
		nst_dir_check(t, &dir);
	CU_ASSERT_EQUAL(dir.ino, ret ? 0 : parent);
	errno = -ret;
	return ino;
}

static inline uint64_t nst_file(struct nst *t, uint64_t parent, const char *name)
{
	return nst_make(t, parent, name, S_IFREG | 0644);
}

static inline uint64_t nst_mkdir(struct nst *t, uint64_t parent, const char *name)
{
	return nst_make(t, parent, name, S_IFDIR | 0755);
}

/* Returns 0 if there is none. */
static inline uint64_t nst_find(struct nst *t, uint64_t parent, const char *name)
{
	struct inode in;
	uint64_t ino = 0;

	if (!ns_lookup(t->ns, parent, name, &in))
		ino = in.ino;
	inode_free(&in);
	return ino;
}

static inline struct ddio_fs_attr nst_attr(struct nst *t, uint64_t ino)
{
	struct ddio_fs_attr attr = { .ino = 0 };
	struct inode in;

	if (!ns_inode(t->ns, ino, &in))
		inode_attr(&in, &attr);
	inode_free(&in);
	return attr;
}

/* Notes that the file has, or will have, data. */
static inline int nst_data(struct nst *t, uint64_t ino, uint64_t end)
{
	const struct ddio_msg_fs_wrote x = { .ino = ino,
					     .end = end,
					     .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES };
	struct inode in;
	int ret = ns_wrote(t->ns, NULL, &x, &in);

	inode_free(&in);
	return ret;
}

static inline int nst_link(struct nst *t, uint64_t ino, uint64_t parent, const char *name)
{
	struct ddio_msg_fs_link x = { .ino = ino, .parent = parent };
	struct inode in;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_link(t->ns, NULL, &x, &in);
	inode_free(&in);
	return ret;
}

/* *left: number of what is to be removed, or 0; may be NULL. */
static inline int nst_unlink_as(struct nst *t, uint64_t parent, const char *name, uint32_t flags,
				uint64_t *left)
{
	struct ddio_msg_fs_name x = { .parent = parent, .flags = flags };
	struct ddio_fs_attr dir;
	struct ns_left l;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_unlink(t->ns, NULL, &x, &l, &dir);
	if (!ret)
		nst_dir_check(t, &dir);
	CU_ASSERT_EQUAL(dir.ino, ret ? 0 : parent);
	if (left)
		*left = !ret && l.any ? l.rec.ref.id : 0;
	ddio_file_record_free(&l.rec);
	return ret;
}

static inline int nst_unlink(struct nst *t, uint64_t parent, const char *name)
{
	return nst_unlink_as(t, parent, name, 0, NULL);
}

static inline int nst_rmdir(struct nst *t, uint64_t parent, const char *name)
{
	return nst_unlink_as(t, parent, name, DDIO_FS_UNLINK_DIR, NULL);
}

/**
 * struct nst_ending - the end of a mount
 * @err: 1 until it has ended
 */
struct nst_ending {
	struct ns_end end;
	int err;
};

static inline void nst_ended(struct ns_end *end, int err)
{
	ddio_container_of(end, struct nst_ending, end)->err = err;
}

/* Ends a mount in one turn. */
static inline int nst_mount_end(struct nst *t, struct ns_mount *m)
{
	struct nst_ending e = { .end = { .done = nst_ended }, .err = 1 };

	ns_mount_end(t->ns, m, &e.end);
	return e.err;
}

static inline int nst_rename(struct nst *t, uint64_t parent, const char *name, uint64_t new_parent,
			     const char *new_name, uint32_t flags)
{
	struct ddio_msg_fs_rename x = { .parent = parent,
					.new_parent = new_parent,
					.flags = flags };
	struct ns_left left;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	snprintf(x.new_name, sizeof(x.new_name), "%s", new_name);
	ret = ns_rename(t->ns, NULL, &x, NULL, &left);
	ddio_file_record_free(&left.rec);
	return ret;
}

/* @left: regular files. */
static inline void nst_clean(struct nst *t, uint64_t files)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(ut_ns_check(t->ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.objects, files);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
}

#endif /* DDIO_UT_NS_H */
