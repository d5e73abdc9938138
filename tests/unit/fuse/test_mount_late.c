// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the nodes do not answer: when the kernel is answered, what waits behind them, and who is told what they end
 * with.  Kernel, library and clock are played here; the library answers when it is told to.
 */
/* needs: fuse/again.c fuse/attrs.c fuse/caller.c fuse/data.c fuse/files.c fuse/known.c fuse/late.c fuse/marks.c fuse/owners.c fuse/request.c fuse/seen.c */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/fuse/mount_kernel.h"
#include "tests/unit/lib/ut.h"

enum { INO = 7, OTHER = 8, MAX = 64 };

/**
 * struct library_call - what the library was asked, and has not answered
 * @what: the first letter of the call
 */
struct library_call {
	char what;
	ddio_fs_done done;
	void *arg;
	size_t len;
};

static struct library_call asked[MAX];
static int n, closed;
static struct mount mount;
static struct mount_opts options;
static uint64_t now;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(now / 1000);
	t->tv_nsec = (long)(now % 1000) * 1000000;
	return 0;
}

/*
 * The library
 */
static void ask(char what, size_t len, ddio_fs_done done, void *arg)
{
	CU_ASSERT_FATAL(n < MAX);
	asked[n++] = (struct library_call){ what, done, arg, len };
}

static void reply(ddio_fs_done done, void *arg, int err, uint64_t value)
{
	const struct ddio_fs_attr attr = { .ino = INO, .mode = S_IFREG | 0600, .change = 1 };
	const struct ddio_fs_reply r = { .err = err, .attr = &attr, .value = value };

	done(arg, &r);
}

/* Answers the request that has waited longest, which is of this kind. */
static void library_answers(char what, int err)
{
	struct library_call one = asked[0];

	CU_ASSERT_FATAL(n > 0);
	CU_ASSERT_EQUAL(one.what, what);
	memmove(asked, asked + 1, (size_t)--n * sizeof(*asked));
	reply(one.done, one.arg, err, one.len);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define CALL(name, what, len, ...)                           \
	void name(__VA_ARGS__, ddio_fs_done done, void *arg) \
	{                                                    \
		ask(what, len, done, arg);                   \
	}
CALL(ddio_fs_read, 'r', len, struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset)
CALL(ddio_fs_write, 'w', len, struct ddio_fs_file *file, const void *buf, size_t len,
     uint64_t offset)
CALL(ddio_fs_flush, 'f', 0, struct ddio_fs_file *file)
CALL(ddio_fs_sync, 's', 0, struct ddio_fs_file *file)
CALL(ddio_fs_allocate, 'a', 0, struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len)
CALL(ddio_fs_seek, 'k', 0, struct ddio_fs_file *file, uint64_t offset, int whence)
CALL(ddio_fs_copy, 'c', len, struct ddio_fs_file *from, uint64_t from_offset,
     struct ddio_fs_file *to, uint64_t to_offset, size_t len)
CALL(ddio_fs_setattr, 't', 0, struct ddio_fs *fs, uint64_t ino, uint32_t mask,
     const struct ddio_fs_attr *attr)
CALL(ddio_fs_getxattr, 'x', 0, struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags)
CALL(ddio_fs_listxattr, 'x', 0, struct ddio_fs *fs, uint64_t ino)
CALL(ddio_fs_setxattr, 'x', 0, struct ddio_fs *fs, uint64_t ino, const char *name,
     const void *value, size_t len, uint32_t flags, bool kill_sgid)
CALL(ddio_fs_removexattr, 'x', 0, struct ddio_fs *fs, uint64_t ino, const char *name,
     uint32_t flags)
CALL(ddio_fs_getattr, 'g', 0, struct ddio_fs *fs, uint64_t ino)
CALL(ddio_fs_getattr_within, 'g', 0, struct ddio_fs *fs, uint64_t ino, uint64_t max_age_ns)
CALL(ddio_fs_file_create, 'm', 0, struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
     const struct ddio_fs_new *make, struct ddio_fs_file **file)
CALL(ddio_fs_unlock_owner, 'u', 0, struct ddio_fs_file *file, uint64_t owner)
CALL(ddio_fs_lock_set, 'l', 0, struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
     bool wait, uint64_t *id)

void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg)
{
	*file = (struct ddio_fs_file *)(uintptr_t)ino;
	if (flags & O_TRUNC)
		ask('o', 0, done, arg);
	else
		reply(done, arg, 0, 0);
}

void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	closed++;
	reply(done, arg, 0, 0);
}

void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	ask('p', 0, done, arg);
}

size_t ddio_fs_read_near(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset)
{
	return 0;
}
#pragma GCC diagnostic pop

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
 * The kernel
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
static int answered(fuse_req_t req)
{
	if (req->early)
		return -ENOENT;
	req->answers++;
	req->err = 0;
	return 0;
}

#define REPLY(name, ...)                      \
	int name(fuse_req_t req, __VA_ARGS__) \
	{                                     \
		return answered(req);         \
	}
REPLY(fuse_reply_buf, const char *buf, size_t size)
REPLY(fuse_reply_write, size_t count)
REPLY(fuse_reply_xattr, size_t count)
REPLY(fuse_reply_statfs, const struct statvfs *st)
REPLY(fuse_reply_lseek, off_t off)

int fuse_req_getgroups(fuse_req_t req, int size, gid_t list[])
{
	return 0;
}
#pragma GCC diagnostic pop

static struct fuse_file_info begin(void)
{
	struct fuse_req req = { .m = &mount };
	struct fuse_file_info fi = { .flags = O_RDWR };

	memset(&mount, 0, sizeof(mount));
	options = (struct mount_opts){ .cache = CACHE_NONE, .noatime = true };
	mount.o = &options;
	mount.root = DDIO_FS_ROOT;
	mount.again = again_new();
	mount.known = known_new();
	mount.marks = marks_new();
	mount.seen = seen_new();
	pthread_mutex_init(&mount.lock, NULL);
	pthread_cond_init(&mount.idle, NULL);
	n = closed = 0;
	now = 1000;
	op_open(&req, INO, &fi);
	fi.fh = req.fh;
	return fi;
}

static void end(struct fuse_file_info *fi)
{
	struct fuse_req req = { .m = &mount };

	op_release(&req, INO, fi);
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_EQUAL(closed, 1);
	CU_ASSERT_EQUAL(mount.under_way, 0);
	CU_ASSERT_EQUAL(mount.late.kept, 0);
	CU_ASSERT_PTR_NULL(mount.late.all);
	late_end(&mount);
	handles_free(&mount);
	again_end(mount.again);
	again_free(mount.again);
	known_free(mount.known);
	marks_free(mount.marks);
	seen_free(mount.seen);
	pthread_cond_destroy(&mount.idle);
	pthread_mutex_destroy(&mount.lock);
}

static void look_at(uint64_t ms)
{
	now = ms;
	late_look(&mount);
}

/* A process that is being killed, as the kernel shows it: it is gone. */
static pid_t dead(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static struct fuse_req by(pid_t pid)
{
	return (struct fuse_req){ .m = &mount, .ctx.pid = pid };
}

/* Somebody who lives waits as long as it takes; whoever is killed does not. */
static void killed(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req live = by(getpid()), kill = by(dead()), stranger = by(0);

	op_fsync(&live, INO, 0, &fi);
	op_getattr(&kill, INO, &fi);
	op_fsync(&stranger, INO, 0, &fi);
	look_at(1200);
	CU_ASSERT_EQUAL(kill.answers, 0);
	look_at(1400);
	CU_ASSERT(kill.answers == 1 && kill.err == EINTR);
	look_at(100000);
	CU_ASSERT_EQUAL(live.answers + stranger.answers, 0);
	late_interrupted(&mount, (uintptr_t)&stranger);
	look_at(100001);
	CU_ASSERT(stranger.answers == 1 && stranger.err == EINTR);
	library_answers('s', 0);
	library_answers('g', 0);
	library_answers('s', 0);
	CU_ASSERT(live.answers == 1 && kill.answers == 1 && stranger.answers == 1);
	end(&fi);
}

/* No descriptor is free to look at threads: one that lives and got no signal is not taken for killed. */
static void unseen(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req live = by(getpid()), told = by(getpid()), kill = by(dead());
	struct rlimit all, none;

	getrlimit(RLIMIT_NOFILE, &all);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = all.rlim_max };
	op_fsync(&live, INO, 0, &fi);
	op_getattr(&kill, INO, &fi);
	op_fsync(&told, INO, 0, &fi);
	late_interrupted(&mount, (uintptr_t)&told);
	setrlimit(RLIMIT_NOFILE, &none);
	look_at(2000);
	setrlimit(RLIMIT_NOFILE, &all);
	CU_ASSERT_EQUAL(live.answers, 0);
	CU_ASSERT(kill.answers == 1 && kill.err == EINTR);
	CU_ASSERT(told.answers == 1 && told.err == EINTR);
	library_answers('s', 0);
	library_answers('g', 0);
	library_answers('s', 0);
	CU_ASSERT(live.answers == 1 && !live.err);
	end(&fi);
}

/* A file is released, and others use it, only when the write that nobody waits for is over. */
static void written_behind(void)
{
	struct fuse_file_info fi = begin(), gone = fi;
	struct fuse_req kill = by(dead()), reader = by(1), writer = by(1), cut = by(1),
			sync = by(1);
	struct fuse_req release = by(1), again = by(1), elsewhere = by(1);
	struct stat st = { .st_size = 3 };

	op_open(&again, INO, &gone);
	gone.fh = again.fh;
	op_write(&kill, INO, "abc", 3, 0, &gone);
	look_at(1500);
	CU_ASSERT(kill.answers == 1 && kill.err == EINTR);
	op_release(&release, INO, &gone);
	CU_ASSERT(release.answers == 1 && !closed);
	op_read(&reader, INO, 3, 0, &fi);
	op_write(&writer, INO, "def", 3, 0, &fi);
	op_setattr(&cut, INO, &st, FUSE_SET_ATTR_SIZE, NULL);
	op_fsync(&sync, INO, 0, &fi);
	op_getattr(&elsewhere, OTHER, NULL);
	CU_ASSERT_EQUAL(n, 2);
	library_answers('w', -EIO);
	CU_ASSERT_EQUAL(closed, 1);
	closed = 0;
	library_answers('g', 0);
	library_answers('r', 0);
	library_answers('w', 0);
	library_answers('t', 0);
	library_answers('s', 0);
	CU_ASSERT(reader.answers && writer.answers && cut.answers && elsewhere.answers);
	/* What the killed one ended with is told here, and once. */
	CU_ASSERT(sync.answers == 1 && sync.err == EIO);
	op_fsync(&sync, INO, 0, &fi);
	library_answers('s', 0);
	CU_ASSERT(sync.answers == 2 && !sync.err);
	end(&fi);
}

/* Those that wait and are killed themselves keep their place. */
static void in_order(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req first = by(dead()), second = by(first.ctx.pid), third = by(1);

	op_write(&first, INO, "a", 1, 0, &fi);
	look_at(1500);
	op_write(&second, INO, "b", 1, 0, &fi);
	op_write(&third, INO, "c", 1, 0, &fi);
	look_at(2000);
	CU_ASSERT(second.answers && !third.answers);
	CU_ASSERT_EQUAL(n, 1);
	library_answers('w', 0);
	CU_ASSERT_EQUAL(n, 1);
	library_answers('w', 0);
	CU_ASSERT_EQUAL(n, 1);
	library_answers('w', 0);
	CU_ASSERT(third.answers == 1 && !third.err);
	end(&fi);
}

static void flush(struct fuse_req *req, struct fuse_file_info *fi)
{
	marks_set(mount.marks, INO, MARK_WRITTEN);
	op_flush(req, INO, fi);
}

/* A close is answered in time, all of a thread's together; and goes on. */
static void closes(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req req[20];
	uint64_t begun = now;
	int i;

	for (i = 0; i < 20; i++) {
		req[i] = by(getpid());
		flush(&req[i], &fi);
		while (!req[i].answers && now < begun + 5000)
			look_at(now + 1);
		CU_ASSERT_EQUAL(req[i].err, ETIMEDOUT);
	}
	CU_ASSERT(now >= begun + 1400);
	CU_ASSERT(now < begun + 2000);
	CU_ASSERT_EQUAL(n, 20);
	for (i = 0; i < 20; i++)
		library_answers('f', 0);
	/* One that is answered in time, and one a while later. */
	req[0] = by(getpid());
	flush(&req[0], &fi);
	library_answers('f', 0);
	CU_ASSERT(req[0].answers == 1 && !req[0].err);
	now += 20000;
	req[1] = by(getpid());
	flush(&req[1], &fi);
	look_at(now + 1000);
	CU_ASSERT_EQUAL(req[1].answers, 0);
	library_answers('f', 0);
	CU_ASSERT(req[1].answers == 1 && !req[1].err);
	end(&fi);
}

/* A thread that exits has less patience, and none at its second close. */
static void exits(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req req[2] = { by(dead()), by(req[0].ctx.pid) };

	flush(&req[0], &fi);
	look_at(1200);
	CU_ASSERT_EQUAL(req[0].answers, 0);
	look_at(1400);
	CU_ASSERT_EQUAL(req[0].answers, 1);
	flush(&req[1], &fi);
	look_at(1401);
	CU_ASSERT_EQUAL(req[1].answers, 1);
	library_answers('f', 0);
	library_answers('f', 0);
	end(&fi);
}

/* What a close ended with when nobody listened is told by the next. */
static void close_fails(void)
{
	struct fuse_file_info fi = begin(), reads = fi;
	struct fuse_req req = by(getpid()), next = by(1), open = by(1);

	flush(&req, &fi);
	look_at(4000);
	CU_ASSERT_EQUAL(req.err, ETIMEDOUT);
	library_answers('f', -ENOSPC);
	reads.flags = O_RDONLY;
	op_open(&open, INO, &reads);
	reads.fh = open.fh;
	flush(&next, &reads);
	library_answers('f', 0);
	CU_ASSERT(next.answers == 1 && !next.err);
	op_release(&open, INO, &reads);
	closed = 0;
	flush(&next, &fi);
	library_answers('f', 0);
	CU_ASSERT(next.answers == 2 && next.err == ENOSPC);
	flush(&next, &fi);
	library_answers('f', 0);
	CU_ASSERT(next.answers == 3 && !next.err);
	end(&fi);
}

/* Pages are kept, those that come after them at once, until too many are. */
static void pages(void)
{
	struct fuse_file_info fi = begin();
	struct fuse_req req[4] = { by(0), by(0), by(0), by(0) }, close = by(getpid());
	int i;

	fi.writepage = 1;
	op_write(&req[0], INO, "a", 1, 0, &fi);
	look_at(1200);
	CU_ASSERT_EQUAL(req[0].answers, 0);
	look_at(1400);
	CU_ASSERT(req[0].answers == 1 && !req[0].err && req[0].written == 1);
	op_write(&req[1], INO, "b", 1, 0, &fi);
	op_write(&req[2], OTHER, "c", 1, 0, &fi);
	CU_ASSERT(req[1].answers == 1 && req[2].answers == 1);
	/* The second one waits for the first, of the other file none does. */
	CU_ASSERT_EQUAL(n, 2);
	flush(&close, &fi);
	CU_ASSERT_EQUAL(n, 2);
	look_at(4000);
	CU_ASSERT(close.answers == 1 && close.err == ETIMEDOUT);
	mount.late.kept += 256u << 20;
	op_write(&req[3], INO, "d", 1, 0, &fi);
	look_at(5000);
	CU_ASSERT_EQUAL(req[3].answers, 0);
	mount.late.kept -= 256u << 20;
	look_at(6000);
	CU_ASSERT_EQUAL(req[3].answers, 1);
	for (i = 0; i < 3; i++)
		library_answers('w', i ? 0 : -EIO);
	library_answers('f', 0);
	library_answers('w', 0);
	look_at(6500);
	CU_ASSERT(!mount.late.stuck);
	close = by(getpid());
	flush(&close, &fi);
	library_answers('f', 0);
	CU_ASSERT(close.answers == 1 && close.err == EIO);
	fi.writepage = 0;
	end(&fi);
}

/* Whatever else changes or cuts a file, and whatever looks at it. */
static void others(void)
{
	struct fuse_file_info fi = begin(), cut = { .flags = O_RDWR | O_TRUNC };
	struct fuse_req kill[3] = { by(dead()), by(kill[0].ctx.pid), by(kill[0].ctx.pid) };
	struct fuse_req seek = by(1), open = by(1), copy = by(1);

	op_fallocate(&kill[0], INO, 0, 0, 100, &fi);
	look_at(1500);
	CU_ASSERT_EQUAL(kill[0].answers, 1);
	op_lseek(&seek, INO, 0, SEEK_DATA, &fi);
	op_copy(&copy, INO, 0, &fi, OTHER, 0, &fi, 100, 0);
	op_open(&open, INO, &cut);
	CU_ASSERT_EQUAL(n, 1);
	library_answers('a', 0);
	library_answers('k', 0);
	library_answers('c', 0);
	library_answers('o', 0);
	CU_ASSERT(seek.answers && open.answers && copy.answers);
	cut.fh = open.fh;
	op_release(&open, INO, &cut);
	/* Somebody is killed who opens, and cuts: the file is closed again. */
	cut.fh = 0;
	op_open(&kill[1], INO, &cut);
	look_at(2500);
	CU_ASSERT(kill[1].answers == 1 && kill[1].err == EINTR);
	op_read(&seek, INO, 10, 0, &fi);
	CU_ASSERT_EQUAL(n, 1);
	closed = 0;
	library_answers('o', 0);
	CU_ASSERT_EQUAL(closed, 1);
	library_answers('r', 0);
	closed = 0;
	end(&fi);
}

static const struct ut_case cases[] = {
	{ "killed", killed },
	{ "unseen", unseen },
	{ "written behind", written_behind },
	{ "in order", in_order },
	{ "closes", closes },
	{ "exits", exits },
	{ "close fails", close_fails },
	{ "pages", pages },
	{ "others", others },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount late", cases } };

	return ut_run("mount_late", suites, 1);
}
