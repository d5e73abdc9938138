// SPDX-License-Identifier: GPL-2.0-only
/* Inodes, names and attributes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/bug.h"
#include "passfs.h"
#include "passfs_nodes.h"

#define LINUX_DIRENT_BYTES 32768

int ddio_fs_open(const struct ddio_fs_opts *opts, struct ddio_fs **out, char *err, size_t err_len)
{
	struct rlimit files = { 65536, 65536 };
	struct ddio_fs *fs = calloc(1, sizeof(struct passfs));
	int ret = -ENOMEM;

	if (!fs)
		goto failed;
	setrlimit(RLIMIT_NOFILE, &files);
	umask(0);
	pthread_mutex_init(&passfs(fs)->lock, NULL);
	pthread_mutex_init(&passfs(fs)->locks_lock, NULL);
	passfs(fs)->root = open(opts->conf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (passfs(fs)->root < 0) {
		ret = -errno;
		goto failed;
	}
	ret = nodes_init(fs);
	if (!ret)
		ret = answers_begin(fs);
	if (ret)
		goto failed;
	*out = fs;
	return 0;
failed:
	snprintf(err, err_len, "%s: %s", opts->conf, strerror(-ret));
	free(fs);
	return ret;
}

void ddio_fs_close(struct ddio_fs *fs)
{
	locks_end(fs);
	answers_end(fs);
	nodes_free(fs);
	close(passfs(fs)->root);
	free(fs);
}

/*
 * Answers with attributes
 */
static void answer_attr(struct ddio_fs *fs, ddio_fs_done done, void *arg, int fd, int err)
{
	struct answer *a = answer_new(done, arg);

	if (!err)
		err = node_attr(fs, fd, "", &a->attr);
	a->reply.err = err;
	a->reply.attr = &a->attr;
	answer_give(fs, a);
}

static void answer_path(struct ddio_fs *fs, ddio_fs_done done, void *arg, int dir, const char *name,
			int err)
{
	struct answer *a = answer_new(done, arg);

	if (!err)
		err = node_attr(fs, dir, name, &a->attr);
	a->reply.err = err;
	a->reply.attr = &a->attr;
	answer_give(fs, a);
}

static void path_of(int fd, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	int dir = node_open(fs, parent);

	/* For the test of where a report goes. */
	bug_on(!strcmp(name, "passfs: bug"), "asked for \"%s\"", name);
	answer_path(fs, done, arg, dir, name, dir < 0 ? dir : 0);
	if (dir >= 0)
		close(dir);
}

static int make(int dir, const char *name, const struct ddio_fs_new *make)
{
	mode_t old;
	int err;

	old = umask(make->umask);
	switch (make->mode & S_IFMT) {
	case S_IFDIR:
		err = mkdirat(dir, name, make->mode & 07777);
		break;
	case S_IFLNK:
		err = symlinkat(make->target, dir, name);
		break;
	default:
		err = mknodat(dir, name, make->mode, make->rdev);
	}
	err = err ? -errno : 0;
	umask(old);
	return err;
}

/* Gives a new inode the owner and bits that its maker would have given it. */
static int own(int dir, const char *name, const struct ddio_fs_new *make)
{
	struct stat parent;

	if (fstat(dir, &parent))
		return -errno;
	if (fchownat(dir, name, make->uid, parent.st_mode & S_ISGID ? (gid_t)-1 : make->gid,
		     AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISREG(make->mode) && make->mode & (S_ISUID | S_ISGID) &&
	    fchmodat(dir, name, make->mode & 07777 & ~make->umask, 0))
		return -errno;
	return 0;
}

void ddio_fs_make(struct ddio_fs *fs, uint64_t parent, const char *name,
		  const struct ddio_fs_new *new, ddio_fs_done done, void *arg)
{
	int dir = node_open(fs, parent), err = dir < 0 ? dir : 0;

	pthread_mutex_lock(&passfs(fs)->lock);
	if (!err)
		err = make(dir, name, new);
	if (!err)
		err = own(dir, name, new);
	pthread_mutex_unlock(&passfs(fs)->lock);
	answer_path(fs, done, arg, dir, name, err);
	if (dir >= 0)
		close(dir);
}

void ddio_fs_link(struct ddio_fs *fs, uint64_t ino, uint64_t parent, const char *name,
		  ddio_fs_done done, void *arg)
{
	int dir = node_open(fs, parent), fd = node_open(fs, ino), err = 0;

	if (linkat(fd, "", dir, name, AT_EMPTY_PATH))
		err = -errno;
	answer_path(fs, done, arg, dir, name, err);
	close(dir);
	close(fd);
}

static void unlink_at(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
		      ddio_fs_done done, void *arg)
{
	int dir = node_open(fs, parent);

	answer_err(fs, done, arg, unlinkat(dir, name, flags) ? -errno : 0);
	close(dir);
}

void ddio_fs_unlink(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	unlink_at(fs, parent, name, 0, done, arg);
}

void ddio_fs_rmdir(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		   void *arg)
{
	unlink_at(fs, parent, name, AT_REMOVEDIR, done, arg);
}

void ddio_fs_rename(struct ddio_fs *fs, uint64_t parent, const char *name, uint64_t new_parent,
		    const char *new_name, uint32_t flags, ddio_fs_done done, void *arg)
{
	int from = node_open(fs, parent), to = node_open(fs, new_parent);

	answer_err(fs, done, arg, renameat2(from, name, to, new_name, flags) ? -errno : 0);
	close(from);
	close(to);
}

static void answer_data(struct ddio_fs *fs, struct answer *a, ssize_t n)
{
	a->reply.err = n < 0 ? -errno : 0;
	a->reply.data = a->data;
	a->reply.len = n < 0 ? 0 : (size_t)n;
	answer_give(fs, a);
}

void ddio_fs_readlink(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct answer *a = answer_new(done, arg);
	int fd = node_open(fs, ino);

	a->data = calloc(1, 4097);
	answer_data(fs, a, readlinkat(fd, "", a->data, 4096));
	close(fd);
}

/*
 * Directories
 */
struct passfs_listing {
	struct ddio_fs_dirent d[4096];
	char names[4096 * 8];
	size_t used;
};

static bool listing_add(struct ddio_fs *fs, struct passfs_listing *l, size_t n, int dir,
			const struct dirent64 *e, bool plus)
{
	size_t len = strlen(e->d_name) + 1;

	if (len > sizeof(l->names) - l->used)
		return false;
	memcpy(l->names + l->used, e->d_name, len);
	l->d[n] =
		(struct ddio_fs_dirent){ .cookie = (uint64_t)e->d_off, .name = l->names + l->used };
	if (plus && node_attr(fs, dir, e->d_name, &l->d[n].attr))
		l->d[n].attr.ino = 0;
	if (!plus) {
		l->d[n].attr.ino = e->d_ino;
		l->d[n].attr.mode = (uint32_t)DTTOIF(e->d_type);
	}
	l->used += len;
	return true;
}

void ddio_fs_readdir(struct ddio_fs *fs, uint64_t ino, uint64_t cookie, uint32_t max, bool plus,
		     ddio_fs_done done, void *arg)
{
	struct answer *a = answer_new(done, arg);
	struct passfs_listing *l = calloc(1, sizeof(*l));
	char raw[LINUX_DIRENT_BYTES] __attribute__((aligned(8)));
	int dir = node_reopen(fs, ino, O_RDONLY | O_DIRECTORY);
	const struct dirent64 *e;
	long got, at;
	size_t n = 0;

	lseek(dir, (off_t)cookie, SEEK_SET);
	got = syscall(SYS_getdents64, dir, raw, max < 100 ? 4096 : sizeof(raw));
	for (at = 0; at < got && n < max && n < 4096; at += e->d_reclen) {
		e = (const struct dirent64 *)(raw + at);
		if (!listing_add(fs, l, n, dir, e, plus))
			break;
		n += l->d[n].attr.ino != 0;
	}
	a->data = l;
	a->reply.err = got < 0 ? -errno : 0;
	a->reply.data = l->d;
	a->reply.len = n;
	/* Its cookies are in no order, so that no listing can know where it will end. */
	a->reply.value = 1;
	answer_give(fs, a);
	close(dir);
}

void ddio_fs_lookup_within(struct ddio_fs *fs, uint64_t parent, const char *name,
			   uint64_t max_age_ns, ddio_fs_done done, void *arg)
{
	(void)max_age_ns;
	ddio_fs_lookup(fs, parent, name, done, arg);
}

/*
 * Attributes
 */
void ddio_fs_getattr_within(struct ddio_fs *fs, uint64_t ino, uint64_t max_age_ns,
			    ddio_fs_done done, void *arg)
{
	(void)max_age_ns;
	ddio_fs_getattr(fs, ino, done, arg);
}

void ddio_fs_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	int fd = node_open(fs, ino);

	answer_attr(fs, done, arg, fd, fd < 0 ? fd : 0);
	if (fd >= 0)
		close(fd);
}

static int kill_special(int fd, const char *path)
{
	struct stat st;
	mode_t mode;

	if (fstat(fd, &st))
		return -errno;
	mode = st.st_mode & ~(mode_t)S_ISUID;
	if (mode & S_IXGRP)
		mode &= ~(mode_t)S_ISGID;
	if (!S_ISREG(st.st_mode) || mode == st.st_mode)
		return 0;
	return chmod(path, mode & 07777) ? -errno : 0;
}

static int set_times(int fd, uint32_t mask, const struct ddio_fs_attr *attr)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } };

	if (mask & DDIO_FS_SET_ATIME)
		t[0] = attr->atime;
	if (mask & DDIO_FS_SET_MTIME)
		t[1] = attr->mtime;
	if (mask & DDIO_FS_SET_ATIME_NOW)
		t[0].tv_nsec = UTIME_NOW;
	if (mask & DDIO_FS_SET_MTIME_NOW)
		t[1].tv_nsec = UTIME_NOW;
	return utimensat(fd, "", t, AT_EMPTY_PATH) ? -errno : 0;
}

static int set_attr(int fd, uint32_t mask, const struct ddio_fs_attr *attr)
{
	char path[64];
	int err = 0;

	path_of(fd, path);
	if (mask & (DDIO_FS_SET_UID | DDIO_FS_SET_GID) &&
	    fchownat(fd, "", mask & DDIO_FS_SET_UID ? attr->uid : (uid_t)-1,
		     mask & DDIO_FS_SET_GID ? attr->gid : (gid_t)-1, AT_EMPTY_PATH))
		return -errno;
	if (mask & DDIO_FS_KILL_SUID)
		err = kill_special(fd, path);
	if (!err && mask & DDIO_FS_SET_MODE && chmod(path, attr->mode & 07777))
		err = -errno;
	if (!err && mask & DDIO_FS_SET_SIZE && truncate(path, (off_t)attr->size))
		err = -errno;
	if (!err && mask & (DDIO_FS_SET_ATIME | DDIO_FS_SET_MTIME | DDIO_FS_SET_ATIME_NOW |
			    DDIO_FS_SET_MTIME_NOW))
		err = set_times(fd, mask, attr);
	return err;
}

void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg)
{
	int fd = node_open(fs, ino), err = fd < 0 ? fd : 0;

	if (!err)
		err = set_attr(fd, mask, attr);
	answer_attr(fs, done, arg, fd, err);
	if (fd >= 0)
		close(fd);
}

void ddio_fs_getxattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
		      ddio_fs_done done, void *arg)
{
	struct answer *a = answer_new(done, arg);
	int fd = node_open(fs, ino);
	char path[64];

	(void)flags;
	path_of(fd, path);
	a->data = malloc(DDIO_FS_XATTR_MAX);
	answer_data(fs, a, getxattr(path, name, a->data, DDIO_FS_XATTR_MAX));
	close(fd);
}

void ddio_fs_setxattr(struct ddio_fs *fs, uint64_t ino, const char *name, const void *value,
		      size_t len, uint32_t flags, bool kill_sgid, ddio_fs_done done, void *arg)
{
	int fd = node_open(fs, ino), err = 0;
	struct stat st;
	char path[64];

	path_of(fd, path);
	if (setxattr(path, name, value, len, (int)(flags & ~DDIO_FS_NAMED)))
		err = -errno;
	if (!err && kill_sgid && !fstat(fd, &st) && chmod(path, st.st_mode & 07777 & ~S_ISGID))
		err = -errno;
	answer_err(fs, done, arg, err);
	close(fd);
}

void ddio_fs_listxattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct answer *a = answer_new(done, arg);
	int fd = node_open(fs, ino);
	char path[64];

	path_of(fd, path);
	a->data = malloc(DDIO_FS_XATTR_MAX);
	answer_data(fs, a, listxattr(path, a->data, DDIO_FS_XATTR_MAX));
	close(fd);
}

void ddio_fs_removexattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
			 ddio_fs_done done, void *arg)
{
	int fd = node_open(fs, ino);
	char path[64];

	(void)flags;
	path_of(fd, path);
	answer_err(fs, done, arg, removexattr(path, name) ? -errno : 0);
	close(fd);
}

void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	struct answer *a = answer_new(done, arg);
	struct ddio_fs_space *space = calloc(1, sizeof(*space));
	struct statvfs st;

	if (!fstatvfs(passfs(fs)->root, &st))
		*space = (struct ddio_fs_space){ .unit = st.f_frsize,
						 .blocks = st.f_blocks,
						 .free = st.f_bfree,
						 .inodes = st.f_files - st.f_ffree };
	a->data = space;
	answer_data(fs, a, sizeof(*space));
}

void ddio_fs_sync_names(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	answer_err(fs, done, arg, syncfs(passfs(fs)->root) ? -errno : 0);
}

void ddio_fs_sync_dir(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	(void)ino;
	ddio_fs_sync_names(fs, done, arg);
}

uint64_t ddio_fs_dir_seen(const struct ddio_fs *fs)
{
	(void)fs;
	return 0;
}

void ddio_fs_sync_opened(struct ddio_fs *fs, uint64_t ino, uint64_t *seen, ddio_fs_done done,
			 void *arg)
{
	(void)seen;
	ddio_fs_sync_dir(fs, ino, done, arg);
}

/*
 * Opening
 */
static void open_answer(struct ddio_fs *fs, uint64_t ino, int fd, struct ddio_fs_file **file,
			ddio_fs_done done, void *arg)
{
	struct passfs_file *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	*f = (struct passfs_file){ .fs = fs, .fd = fd, .ino = ino };
	if (fd < 0)
		free(f);
	else
		*file = (struct ddio_fs_file *)f;
	answer_attr(fs, done, arg, fd, fd < 0 ? fd : 0);
}

void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg)
{
	open_answer(fs, ino, node_reopen(fs, ino, flags), file, done, arg);
}

void ddio_fs_file_create(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
			 const struct ddio_fs_new *new, struct ddio_fs_file **file,
			 ddio_fs_done done, void *arg)
{
	int dir = node_open(fs, parent), err = dir < 0 ? dir : 0;
	struct ddio_fs_attr attr;

	pthread_mutex_lock(&passfs(fs)->lock);
	if (!err)
		err = make(dir, name, new);
	if (!err)
		err = own(dir, name, new);
	pthread_mutex_unlock(&passfs(fs)->lock);
	if (err == -EEXIST && !(flags & O_EXCL))
		err = 0;
	if (!err)
		err = node_attr(fs, dir, name, &attr);
	if (dir >= 0)
		close(dir);
	if (err)
		answer_err(fs, done, arg, err);
	else
		open_answer(fs, attr.ino, node_reopen(fs, attr.ino, flags & ~O_EXCL), file, done,
			    arg);
}
