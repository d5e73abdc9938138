// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel asks for capabilities before a write if it was given attributes since the last one, and for ACLs: the mount
 * asks the cluster only once for what a file lacks, as long as nothing changes.  Kernel and library are played here.
 */
/* needs: fuse/again.c fuse/attrs.c fuse/caller.c fuse/known.c fuse/late.c fuse/marks.c fuse/request.c fuse/seen.c */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/fuse/mount_kernel.h"
#include "tests/unit/lib/ut.h"

enum { INO = 7, OTHER = 8 };

#define CAPABILITY "security.capability"
#define ACL "system.posix_acl_access"

/**
 * struct one_attribute - the one attribute that files may have
 * @owner: of the files; @has: they have it; @change: of the files; @asked: how often somebody wanted it
 * @hold: the next question is answered by label_answer()
 */
struct one_attribute {
	bool has, hold;
	uint32_t owner;
	uint64_t change;
	int asked;
	ddio_fs_done done;
	void *arg;
};

static struct one_attribute label;
static struct mount mount;
static struct mount_opts options;
/* By how many milliseconds the clock is ahead. */
static int ahead;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, t);

	t->tv_sec += ahead / 1000;
	return ret;
}

/*
 * The library
 */
static void answer(ddio_fs_done done, void *arg, int err)
{
	const struct ddio_fs_attr attr = {
		.ino = INO, .mode = S_IFREG | 0600, .uid = label.owner, .change = label.change
	};
	const struct ddio_fs_reply reply = {
		.err = err, .attr = &attr, .data = err ? NULL : "x", .len = !err
	};

	done(arg, &reply);
}

void ddio_fs_getxattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
		      ddio_fs_done done, void *arg)
{
	(void)fs;
	(void)ino;
	(void)name;
	(void)flags;
	label.asked++;
	if (label.hold) {
		label.done = done;
		label.arg = arg;
	} else {
		answer(done, arg, label.has ? 0 : -ENODATA);
	}
}

void ddio_fs_setxattr(struct ddio_fs *fs, uint64_t ino, const char *name, const void *value,
		      size_t len, uint32_t flags, bool kill_sgid, ddio_fs_done done, void *arg)
{
	(void)fs;
	(void)ino;
	(void)name;
	(void)value;
	(void)len;
	(void)flags;
	(void)kill_sgid;
	label.has = true;
	answer(done, arg, 0);
}

void ddio_fs_getattr_within(struct ddio_fs *fs, uint64_t ino, uint64_t max_age_ns,
			    ddio_fs_done done, void *arg)
{
	(void)fs;
	(void)ino;
	(void)max_age_ns;
	answer(done, arg, 0);
}

void ddio_fs_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	ddio_fs_getattr_within(fs, ino, 0, done, arg);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define UNUSED_CALL(name, ...)                               \
	void name(__VA_ARGS__, ddio_fs_done done, void *arg) \
	{                                                    \
		CU_FAIL("not part of this: " #name);         \
		answer(done, arg, -EIO);                     \
	}
UNUSED_CALL(ddio_fs_setattr, struct ddio_fs *fs, uint64_t ino, uint32_t mask,
	    const struct ddio_fs_attr *attr)
UNUSED_CALL(ddio_fs_listxattr, struct ddio_fs *fs, uint64_t ino)
UNUSED_CALL(ddio_fs_removexattr, struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags)
UNUSED_CALL(ddio_fs_file_close, struct ddio_fs_file *f)
#pragma GCC diagnostic pop

void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	(void)fs;
	CU_FAIL("not part of this: space");
	answer(done, arg, -EIO);
}

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

int fuse_reply_xattr(fuse_req_t req, size_t count)
{
	(void)count;
	return replied(req);
}

int fuse_reply_statfs(fuse_req_t req, const struct statvfs *st)
{
	(void)st;
	return replied(req);
}

int fuse_req_getgroups(fuse_req_t req, int size, gid_t list[])
{
	(void)req;
	(void)size;
	(void)list;
	return 0;
}

void *message_take(void)
{
	return NULL;
}

/*
 * Cases
 */
static void begin(void)
{
	label = (struct one_attribute){ .change = 1 };
	memset(&mount, 0, sizeof(mount));
	options = (struct mount_opts){ .cache = CACHE_AUTO, .attr_timeout = 1, .entry_timeout = 1 };
	mount.o = &options;
	mount.root = DDIO_FS_ROOT;
	mount.again = again_new();
	mount.known = known_new();
	mount.marks = marks_new();
	mount.seen = seen_new();
	pthread_mutex_init(&mount.lock, NULL);
	pthread_cond_init(&mount.idle, NULL);
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
	ahead = 0;
}

/* Returns the error that the kernel is told. */
static int ask(uint64_t ino, const char *name)
{
	struct fuse_req req = { .m = &mount };

	op_getxattr(&req, ino, name, 0);
	CU_ASSERT_EQUAL(req.answers, 1);
	return req.err;
}

static void stat_file(void)
{
	struct fuse_req req = { .m = &mount };

	op_getattr(&req, INO, NULL);
	CU_ASSERT(req.answers == 1 && !req.err);
}

static void set(uint64_t ino)
{
	struct fuse_req req = { .m = &mount };

	op_setxattr(&req, ino, CAPABILITY, "x", 1, 0);
	CU_ASSERT(req.answers == 1 && !req.err);
}

/* A write and a stat again and again cost one question; so do ACLs; and other names all of theirs. */
static void asked_once(void)
{
	int i;

	begin();
	for (i = 0; i < 10; i++) {
		stat_file();
		CU_ASSERT_EQUAL(ask(INO, CAPABILITY), ENODATA);
	}
	CU_ASSERT_EQUAL(label.asked, 1);
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(ask(INO, ACL), ENODATA);
	CU_ASSERT_EQUAL(label.asked, 2);
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(ask(INO, "user.x"), ENODATA);
	CU_ASSERT_EQUAL(label.asked, 12);
	CU_ASSERT_EQUAL(ask(OTHER, CAPABILITY), ENODATA);
	CU_ASSERT_EQUAL(label.asked, 13);
	end();
}

/* Another mount has changed the file, and the kernel knows that. */
static void changed_elsewhere(void)
{
	begin();
	stat_file();
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), ENODATA);
	label.has = true;
	label.change = 2;
	stat_file();
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), 0);
	end();
}

static void changed_here(void)
{
	begin();
	stat_file();
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), ENODATA);
	set(INO);
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), 0);
	end();
}

/* It is not told longer than attributes are; without a cache it is not told at all. */
static void gets_old(void)
{
	begin();
	stat_file();
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), ENODATA);
	ahead = 2000;
	label.has = true;
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), 0);
	end();
	begin();
	options.attr_timeout = 0;
	stat_file();
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), ENODATA);
	label.has = true;
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), 0);
	end();
}

/* An answer that was under way while the attribute was set here is not remembered. */
static void overtaken(void)
{
	struct fuse_req req = { .m = &mount };

	begin();
	stat_file();
	label.hold = true;
	op_getxattr(&req, INO, CAPABILITY, 0);
	label.hold = false;
	set(INO);
	answer(label.done, label.arg, -ENODATA);
	CU_ASSERT(req.answers == 1 && req.err == ENODATA);
	CU_ASSERT_EQUAL(ask(INO, CAPABILITY), 0);
	end();
}

/* Returns the error of setting a value, by this user. */
static int set_as(uid_t uid, const char *name)
{
	struct fuse_req req = { .m = &mount, .ctx.uid = uid };

	label.has = false;
	op_setxattr(&req, INO, name, "1", 1, 0);
	CU_ASSERT_EQUAL(req.answers, 1);
	CU_ASSERT_EQUAL(label.has, !req.err);
	return req.err;
}

/* How files are spread is for the owner and root, whoever else may write. */
static void stripes(void)
{
	static const char *const names[] = { "ddio.disks", "ddio.stripe", "ddio.layout" };
	struct fuse_req req = { .m = &mount, .ctx.uid = 8 };
	int i;

	begin();
	label.owner = 7;
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(set_as(8, names[i]), EPERM);
		CU_ASSERT_EQUAL(set_as(7, names[i]), 0);
		CU_ASSERT_EQUAL(set_as(0, names[i]), 0);
		op_removexattr(&req, INO, names[i]);
		CU_ASSERT(req.answers == i + 1 && req.err == EPERM);
	}
	CU_ASSERT_EQUAL(set_as(8, "user.ddio.disks"), 0);
	options.no_permissions = true;
	CU_ASSERT_EQUAL(set_as(8, "ddio.disks"), 0);
	end();
}

static const struct ut_case cases[] = {
	{ "stripes", stripes },
	{ "asked once", asked_once },
	{ "changed elsewhere", changed_elsewhere },
	{ "changed here", changed_here },
	{ "gets old", gets_old },
	{ "overtaken", overtaken },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount xattr", cases } };

	return ut_run("mount_xattr", suites, 1);
}
