// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files of a mount, between a kernel and a library that are both played here.  The library replies before
 * its call returns, as it may from another thread; the kernel releases a file as soon as it has a reply.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/unit/fuse/mount_kernel.h"
#include "tests/unit/lib/ut.h"

enum { NONE = -1 };

/* What the library's files and file system are here. */
struct library {
	int open, closed, flushed, unlocked;
	int kill_err;
	mode_t mode;
};

static struct library library;
static struct mount mount;
static const struct mount_opts options;

/*
 * The library
 */
static void answer(ddio_fs_done done, void *arg, int err)
{
	const struct ddio_fs_attr attr = { .ino = 7,
					   .mode = S_IFREG | 0600 | library.mode,
					   .change = 1 };
	const struct ddio_fs_reply reply = { .err = err, .attr = &attr };

	done(arg, &reply);
}

void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg)
{
	(void)flags;
	*file = (struct ddio_fs_file *)fs;
	((struct library *)fs)->open += ino != 8;
	answer(done, arg, ino == 8 ? -ENOENT : 0);
}

void ddio_fs_file_create(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
			 const struct ddio_fs_new *make, struct ddio_fs_file **file,
			 ddio_fs_done done, void *arg)
{
	(void)name;
	(void)make;
	ddio_fs_file_open(fs, parent, flags, file, done, arg);
}

void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	((struct library *)file)->closed++;
	answer(done, arg, 0);
}

void ddio_fs_flush(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	((struct library *)file)->flushed++;
	answer(done, arg, 0);
}

void ddio_fs_sync(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	(void)file;
	answer(done, arg, 0);
}

void ddio_fs_unlock_owner(struct ddio_fs_file *file, uint64_t owner, ddio_fs_done done, void *arg)
{
	((struct library *)file)->unlocked += owner != 0;
	answer(done, arg, 0);
}

void ddio_fs_lock_set(struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
		      uint64_t *id, ddio_fs_done done, void *arg)
{
	(void)wait;
	(void)id;
	ddio_fs_unlock_owner(file, lock->owner, done, arg);
}

void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg)
{
	(void)ino;
	(void)attr;
	answer(done, arg, mask & DDIO_FS_KILL_SUID ? ((struct library *)fs)->kill_err : 0);
}

/*
 * What the mount knows of inodes
 */
void seen_attr(struct seen *seen, const struct ddio_fs_attr *attr, bool cached)
{
	(void)seen;
	(void)attr;
	(void)cached;
}

bool seen_size_is(struct seen *seen, uint64_t ino, uint64_t size)
{
	(void)seen;
	(void)ino;
	(void)size;
	return true;
}

bool seen_is_gone(struct seen *seen, uint64_t ino)
{
	(void)seen;
	(void)ino;
	return false;
}

bool seen_open(struct seen *seen, uint64_t ino, uint64_t change, bool *attr_stale)
{
	(void)seen;
	(void)ino;
	*attr_stale = false;
	return change;
}

/*
 * Cases
 */
static void begin(void)
{
	memset(&library, 0, sizeof(library));
	memset(&mount, 0, sizeof(mount));
	mount.o = &options;
	mount.fs = (struct ddio_fs *)&library;
	mount.root = DDIO_FS_ROOT;
	mount.again = again_new();
	mount.known = known_new();
	mount.marks = marks_new();
	pthread_mutex_init(&mount.lock, NULL);
	pthread_cond_init(&mount.idle, NULL);
}

/* Handles still open when the mount ends are freed with it, and nothing else is left. */
static void end(void)
{
	handles_free(&mount);
	again_end(mount.again);
	again_free(mount.again);
	known_free(mount.known);
	marks_free(mount.marks);
	CU_ASSERT_PTR_NULL(mount.handles);
	CU_ASSERT_EQUAL(mount.under_way, 0);
	pthread_cond_destroy(&mount.idle);
	pthread_mutex_destroy(&mount.lock);
}

static uint64_t opened_with(fuse_ino_t ino, int flags, int gone, int err)
{
	struct fuse_file_info fi = { .flags = flags };
	struct fuse_req req = { .m = &mount, .err = NONE, .gone = gone };

	op_open(&req, ino, &fi);
	CU_ASSERT_EQUAL(req.answers, 1);
	CU_ASSERT_EQUAL(req.err, err);
	return req.fh;
}

static uint64_t opened(fuse_ino_t ino, int gone, int err)
{
	return opened_with(ino, O_RDWR, gone, err);
}

static void released(uint64_t fh, bool flock)
{
	struct fuse_file_info fi = { .fh = fh, .flock_release = flock, .lock_owner = 5 };
	struct fuse_req req = { .m = &mount, .err = NONE };

	op_release(&req, 7, &fi);
	CU_ASSERT_EQUAL(req.answers, 1);
	CU_ASSERT_EQUAL(req.err, 0);
	CU_ASSERT_EQUAL(req.requests, 0);
}

/* Without memory the file would stay open, with its locks. */
static void release_without_memory(void)
{
	begin();
	released(opened(7, 0, 0), true);
	CU_ASSERT_EQUAL(library.closed, 1);
	end();
}

static void opens_and_closes(void)
{
	struct fuse_file_info fi = { .lock_owner = 3 };
	struct fuse_req req = { .m = &mount, .err = NONE };

	begin();
	fi.fh = opened(7, 0, 0);
	op_flush(&req, 7, &fi);
	op_fsync(&req, 7, 0, &fi);
	CU_ASSERT_EQUAL(req.answers, 2);
	released(fi.fh, false);
	CU_ASSERT_PTR_NULL(mount.handles);
	CU_ASSERT_EQUAL(library.closed, 1);
	end();
}

/* Closing a file asks only for what was done to it. */
static void flushes_what_was_done(void)
{
	struct fuse_file_info fi = { .lock_owner = 3 };
	struct fuse_req req = { .m = &mount, .err = NONE };

	begin();
	fi.fh = opened(7, 0, 0);
	op_flush(&req, 7, &fi);
	CU_ASSERT_EQUAL(library.flushed + library.unlocked, 0);
	marks_set(mount.marks, 7, MARK_WRITTEN);
	op_flush(&req, 7, &fi);
	CU_ASSERT_EQUAL(library.flushed, 1);
	CU_ASSERT_EQUAL(library.unlocked, 0);
	marks_set(mount.marks, 7, MARK_LOCKED);
	op_flush(&req, 7, &fi);
	CU_ASSERT_EQUAL(library.flushed, 2);
	CU_ASSERT_EQUAL(library.unlocked, 1);
	CU_ASSERT_EQUAL(req.answers, 3);
	CU_ASSERT(!marks_has(mount.marks, 8, MARK_WRITTEN | MARK_LOCKED));
	released(fi.fh, false);
	end();
}

/* A release first unlocks the owners that are left, and flock(2)'s lock. */
static void locks_go(void)
{
	uint64_t fh;

	begin();
	fh = opened(7, 0, 0);
	CU_ASSERT_EQUAL(owners_add((struct handle *)(uintptr_t)fh, 11), 0);
	CU_ASSERT_EQUAL(owners_add((struct handle *)(uintptr_t)fh, 12), 0);
	released(fh, true);
	CU_ASSERT_EQUAL(library.unlocked, 3);
	CU_ASSERT_EQUAL(library.closed, 1);
	end();
}

static void nobody_takes_it(void)
{
	struct fuse_file_info fi = { .flags = O_RDWR };
	struct fuse_req req = { .m = &mount, .err = NONE, .gone = 1 };

	begin();
	opened(8, 0, ESTALE);
	CU_ASSERT_EQUAL(library.closed, 0);
	opened(7, 1, 0);
	CU_ASSERT_EQUAL(library.closed, 1);
	op_create(&req, 7, "name", 0600, &fi);
	CU_ASSERT_EQUAL(library.closed, 2);
	CU_ASSERT_PTR_NULL(mount.handles);
	end();
}

/* A file whose content goes but whose setuid bit cannot be cleared is not opened. */
static void keeps_no_bits(void)
{
	begin();
	mount.killpriv = true;
	library.mode = S_ISUID;
	library.kill_err = -EIO;
	opened_with(7, O_RDWR | O_TRUNC, 0, EIO);
	CU_ASSERT_EQUAL(library.open, 1);
	CU_ASSERT_EQUAL(library.closed, 1);
	CU_ASSERT_PTR_NULL(mount.handles);
	library.kill_err = 0;
	released(opened_with(7, O_RDWR | O_TRUNC, 0, 0), false);
	CU_ASSERT_EQUAL(library.closed, 2);
	end();
}

/* Files are closed in another order than they were opened, and not all of them. */
static void ends_with_open_files(void)
{
	uint64_t fh[5];
	int i;

	begin();
	for (i = 0; i < 5; i++)
		fh[i] = opened(7, 0, 0);
	CU_ASSERT_EQUAL(owners_add((struct handle *)(uintptr_t)fh[4], 11), 0);
	released(fh[2], false);
	released(fh[0], false);
	CU_ASSERT_EQUAL(library.closed, 2);
	end();
	CU_ASSERT_EQUAL(library.open, 5);
}

/* Returns how long attributes of this age may still be cached, of one second. */
static double believed(uint64_t age_ns)
{
	const struct mount_opts second = { .attr_timeout = 1 };
	const struct ddio_fs_attr attr = { .ino = 5, .mode = S_IFDIR | 0755 };
	const struct ddio_fs_reply reply = { .attr = &attr, .age_ns = age_ns };
	struct fuse_req req = { .m = &mount, .err = NONE };

	mount.o = &second;
	request_done_attr(request_new(&req, 5), &reply);
	mount.o = &options;
	CU_ASSERT(req.answers == 1 && !req.err);
	return req.timeout;
}

static void old_attributes(void)
{
	begin();
	CU_ASSERT_EQUAL(believed(0), 1);
	CU_ASSERT_EQUAL(believed(250000000), 0.75);
	CU_ASSERT_EQUAL(believed(1000000000), 0);
	CU_ASSERT_EQUAL(believed(UINT64_MAX), 0);
	end();
}

static const struct ut_case cases[] = {
	{ "opens and closes", opens_and_closes },
	{ "flushes what was done", flushes_what_was_done },
	{ "locks go", locks_go },
	{ "a release needs no memory", release_without_memory },
	{ "nobody takes it", nobody_takes_it },
	{ "keeps no bits", keeps_no_bits },
	{ "ends with open files", ends_with_open_files },
	{ "old attributes", old_attributes },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount files", cases } };

	return ut_run("mount_files", suites, 1);
}
