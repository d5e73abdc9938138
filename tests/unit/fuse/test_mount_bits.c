// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setuid and setgid bits are cleared before somebody else's bytes get into a file, and if that fails, no bytes
 * get there until it has worked.  Kernel and library are played here; the kernel leaves the clearing to the mount.
 */
/* needs: fuse/again.c fuse/caller.c fuse/data.c fuse/known.c fuse/late.c fuse/marks.c fuse/request.c fuse/seen.c */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/unit/fuse/mount_kernel.h"
#include "tests/unit/lib/ut.h"

enum { INO = 7, UID = 1000, GID = 100, OTHER = 200 };

/**
 * struct one_file - the file
 * @refuses: so many requests to clear bits fail
 * @changed: how often bytes got into it; @unsafe: while it had a setuid bit, or a setgid bit that was to go
 */
struct one_file {
	uint32_t mode, gid;
	int refuses, asked, changed, unsafe;
};

static struct one_file file;
static struct mount mount;
static const struct mount_opts options;

/*
 * The library
 */
static void answer(ddio_fs_done done, void *arg, int err, uint64_t value)
{
	const struct ddio_fs_attr attr = { .ino = INO, .mode = file.mode, .gid = file.gid };
	const struct ddio_fs_reply reply = { .err = err, .value = value, .attr = &attr };

	done(arg, &reply);
}

void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg)
{
	(void)fs;
	CU_ASSERT_EQUAL(ino, INO);
	file.asked++;
	if (file.refuses) {
		file.refuses--;
		answer(done, arg, -EIO, 0);
		return;
	}
	if (mask & DDIO_FS_SET_MODE)
		file.mode = S_IFREG | attr->mode;
	if (mask & DDIO_FS_KILL_SUID)
		file.mode &= ~(uint32_t)(S_ISUID | (file.mode & S_IXGRP ? S_ISGID : 0));
	answer(done, arg, 0, 0);
}

static void change(ddio_fs_done done, void *arg, uint64_t n)
{
	file.changed++;
	file.unsafe += (file.mode & S_ISUID) != 0 || (file.mode & S_ISGID && file.gid != GID);
	answer(done, arg, 0, n);
}

void ddio_fs_write(struct ddio_fs_file *f, const void *buf, size_t len, uint64_t offset,
		   ddio_fs_done done, void *arg)
{
	(void)f;
	(void)buf;
	(void)offset;
	change(done, arg, len);
}

void ddio_fs_allocate(struct ddio_fs_file *f, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg)
{
	(void)f;
	(void)mode;
	(void)offset;
	(void)len;
	change(done, arg, 0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define UNUSED_CALL(name, ...)                               \
	void name(__VA_ARGS__, ddio_fs_done done, void *arg) \
	{                                                    \
		CU_FAIL("not part of this: " #name);         \
		answer(done, arg, -EIO, 0);                  \
	}
size_t ddio_fs_read_near(struct ddio_fs_file *f, void *buf, size_t len, uint64_t offset)
{
	CU_FAIL("not part of this: ddio_fs_read_near");
	return 0;
}
UNUSED_CALL(ddio_fs_read, struct ddio_fs_file *f, void *buf, size_t len, uint64_t offset)
UNUSED_CALL(ddio_fs_sync, struct ddio_fs_file *f)
UNUSED_CALL(ddio_fs_seek, struct ddio_fs_file *f, uint64_t offset, int whence)
UNUSED_CALL(ddio_fs_copy, struct ddio_fs_file *from, uint64_t from_offset, struct ddio_fs_file *to,
	    uint64_t to_offset, size_t len)
UNUSED_CALL(ddio_fs_file_close, struct ddio_fs_file *f)
#pragma GCC diagnostic pop

/*
 * The kernel, and parts of the mount
 */
static int replied(fuse_req_t req)
{
	req->answers++;
	req->err = 0;
	return 0;
}

int fuse_reply_buf(fuse_req_t req, const char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return replied(req);
}

int fuse_reply_write(fuse_req_t req, size_t count)
{
	(void)count;
	return replied(req);
}

int fuse_reply_lseek(fuse_req_t req, off_t off)
{
	(void)off;
	return replied(req);
}

int fuse_req_getgroups(fuse_req_t req, int size, gid_t list[])
{
	(void)req;
	(void)size;
	list[0] = GID;
	return 1;
}

void *message_take(void)
{
	return NULL;
}

void pages_drop(struct drops *drops, struct request *r, void (*then)(struct request *r))
{
	(void)drops;
	then(r);
}

/*
 * Cases
 */
static struct handle handle;

static void begin(uint32_t mode, uint32_t gid)
{
	memset(&mount, 0, sizeof(mount));
	memset(&handle, 0, sizeof(handle));
	file = (struct one_file){ .mode = S_IFREG | mode, .gid = gid };
	mount.o = &options;
	mount.root = DDIO_FS_ROOT;
	mount.again = again_new();
	mount.known = known_new();
	mount.marks = marks_new();
	mount.seen = seen_new();
	pthread_mutex_init(&mount.lock, NULL);
	pthread_cond_init(&mount.idle, NULL);
	handle.m = &mount;
	atomic_store(&handle.uses, 1);
	handle.direct = true;
	atomic_store(&handle.special, UINT_MAX);
}

static void end(void)
{
	CU_ASSERT_EQUAL(mount.under_way, 0);
	again_end(mount.again);
	again_free(mount.again);
	known_free(mount.known);
	marks_free(mount.marks);
	seen_free(mount.seen);
	pthread_cond_destroy(&mount.idle);
	pthread_mutex_destroy(&mount.lock);
}

/* Writes, or with @fallocate gives space, as a process of another user; returns the error. */
static int touch(bool fallocate)
{
	struct fuse_req req = { .m = &mount, .ctx = { .uid = UID, .gid = OTHER } };
	struct fuse_file_info fi = { .flags = O_RDWR, .fh = (uintptr_t)&handle };

	if (fallocate)
		op_fallocate(&req, INO, 0, 0, 10, &fi);
	else
		op_write(&req, INO, "x", 1, 0, &fi);
	CU_ASSERT_EQUAL(req.answers, 1);
	return req.err;
}

static void cleared_once(void)
{
	int how, i;

	for (how = 0; how < 2; how++) {
		begin(04755, GID);
		for (i = 0; i < 5; i++)
			CU_ASSERT_EQUAL(touch(how), 0);
		CU_ASSERT(file.asked == 1 && file.changed == 5 && !file.unsafe);
		end();
	}
}

/* What could not be cleared is cleared by the next one. */
static void cleared_at_last(void)
{
	int how, i;

	for (how = 0; how < 2; how++) {
		begin(04755, GID);
		file.refuses = 3;
		for (i = 0; i < 3; i++)
			CU_ASSERT_EQUAL(touch(how), EIO);
		CU_ASSERT_EQUAL(file.changed, 0);
		CU_ASSERT_EQUAL(touch(how), 0);
		CU_ASSERT(file.changed == 1 && !file.unsafe);
		end();
	}
}

/* fallocate(2): a setgid bit without group execution goes unless the caller is in the group. */
static void setgid(void)
{
	begin(02644, 300);
	CU_ASSERT_EQUAL(touch(true), 0);
	CU_ASSERT(file.changed == 1 && !file.unsafe && !(file.mode & S_ISGID));
	end();
	begin(02644, GID);
	CU_ASSERT_EQUAL(touch(true), 0);
	CU_ASSERT(file.changed == 1 && file.mode & S_ISGID);
	end();
}

/* Whoever looks at once sees what the name server has. */
static void shown_at_once(void)
{
	int how, i, dropped;

	for (how = 0; how < 2; how++) {
		begin(04755, GID);
		dropped = 0;
		mount.se = (struct fuse_session *)(void *)&dropped;
		for (i = 0; i < 3; i++)
			CU_ASSERT_EQUAL(touch(how), 0);
		CU_ASSERT_EQUAL(dropped, 1);
		end();
	}
}

static const struct ut_case cases[] = {
	{ "cleared once", cleared_once },
	{ "cleared at last", cleared_at_last },
	{ "setgid", setgid },
	{ "shown at once", shown_at_once },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount bits", cases } };

	return ut_run("mount_bits", suites, 1);
}
