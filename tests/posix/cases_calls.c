// SPDX-License-Identifier: GPL-2.0-only
/* System calls that few programs make: done right, or refused cleanly. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "posix.h"

#define BYTES 100000

static char said[256];

__attribute__((format(printf, 1, 2))) static const char *say(const char *fmt, ...)
{
	int err = errno;
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	len = strlen(said);
	snprintf(said + len, sizeof(said) - len, " (%s)", px_errno_name(err));
	return said;
}

static char byte_at(size_t i)
{
	return (char)(i * 31 + i / 251 + 1);
}

/* Makes and opens a file of BYTES bytes. */
static int file_make(const char *name)
{
	static char buf[BYTES];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	size_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = byte_at(i);
	return fd >= 0 && write(fd, buf, sizeof(buf)) == (ssize_t)sizeof(buf) ? fd : -1;
}

/* Returns NULL, or a text if the file differs from what file_make() wrote. */
static const char *file_same(const char *name)
{
	static char buf[BYTES + 1];
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	size_t i;

	close(fd);
	if (n != BYTES)
		return say("%s has %zd bytes", name, n);
	for (i = 0; i < BYTES; i++)
		if (buf[i] != byte_at(i))
			return say("%s: byte %zu is wrong", name, i);
	return NULL;
}

static bool refused(void)
{
	return errno == EOPNOTSUPP || errno == EINVAL || errno == ENOTTY;
}

/* Opens a file without a name by O_TMPFILE, unless that fails with EOPNOTSUPP. */
static const char *tmpfile_open(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	struct stat st;

	if (fd < 0)
		return errno == EOPNOTSUPP ? NULL : say("O_TMPFILE");
	if (fstat(fd, &st) || st.st_nlink || write(fd, "abc", 3) != 3)
		return say("a file without a name is none");
	return close(fd) ? say("close") : NULL;
}

static const char *whiteout(void)
{
	struct stat st;

	close(file_make("f"));
	if (renameat2(AT_FDCWD, "f", AT_FDCWD, "g", RENAME_WHITEOUT))
		return errno == EPERM ? file_same("f") : say("RENAME_WHITEOUT");
	if (lstat("f", &st) || !S_ISCHR(st.st_mode) || st.st_rdev)
		return say("what is left is no whiteout");
	return unlink("f") ? say("unlink") : file_same("g");
}

/* Modes of fallocate(2) that move data: refused, and then nothing has changed. */
static const char *falloc_mode(int mode)
{
	int fd = file_make("f");
	struct stat st;

	if (!fallocate(fd, mode, 4096, 8192)) {
		fstat(fd, &st);
		return st.st_size == BYTES + (mode == FALLOC_FL_INSERT_RANGE ? 8192 : -8192)
			       ? NULL
			       : say("the file has %lld bytes", (long long)st.st_size);
	}
	return errno == EOPNOTSUPP ? file_same("f") : say("fallocate");
}

static const char *collapse(void)
{
	return falloc_mode(FALLOC_FL_COLLAPSE_RANGE);
}

static const char *insert(void)
{
	return falloc_mode(FALLOC_FL_INSERT_RANGE);
}

static const char *clone(void)
{
	int from = file_make("f"), to = open("g", O_RDWR | O_CREAT, 0644);
	struct stat st;

	if (!ioctl(to, FICLONE, from))
		return file_same("g");
	if (!refused())
		return say("FICLONE");
	return fstat(to, &st) || st.st_size ? say("it was refused, and did something")
					    : file_same("f");
}

static const char *ioctls(void)
{
	int fd = file_make("f"), flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) && !refused())
		return say("FS_IOC_GETFLAGS");
	if (!ioctl(fd, 0x1234, &flags) || !refused())
		return say("an ioctl that is none");
	return file_same("f");
}

static const char *handles(void)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .h.handle_bytes = MAX_HANDLE_SZ };
	int at = open(".", O_RDONLY | O_DIRECTORY), mount, fd, i;
	char buf[4];

	close(file_make("f"));
	if (name_to_handle_at(AT_FDCWD, "f", &u.h, &mount, 0))
		return say("name_to_handle_at");
	if (rename("f", "g"))
		return say("rename");
	fd = open_by_handle_at(at, &u.h, O_RDONLY);
	if (fd < 0 || read(fd, buf, 4) != 4 || buf[0] != byte_at(0))
		return say("open_by_handle_at");
	close(fd);
	if (unlink("g"))
		return say("unlink");
	/* The kernel tells a mount of the last close behind the back of close(2); until then it is there, and may be opened. */
	for (i = 0; i < 500 && (fd = open_by_handle_at(at, &u.h, O_RDONLY)) >= 0; i++) {
		close(fd);
		usleep(10000);
	}
	return fd < 0 && errno == ESTALE ? NULL : say("the handle of what is gone");
}

static const char *statx_fields(void)
{
	struct statx x, again;
	int fd = file_make("f");

	if (statx(AT_FDCWD, "f", AT_STATX_FORCE_SYNC, STATX_ALL, &x))
		return say("statx");
	if ((x.stx_mask & STATX_BASIC_STATS) != STATX_BASIC_STATS || x.stx_size != BYTES ||
	    !S_ISREG(x.stx_mode) || x.stx_nlink != 1)
		return say("mask %x, %llu bytes", x.stx_mask, (unsigned long long)x.stx_size);
	if (pwrite(fd, "x", 1, BYTES) != 1 || statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &again))
		return say("statx of the open file");
	if (again.stx_size != BYTES + 1 || again.stx_ino != x.stx_ino)
		return say("size %llu", (unsigned long long)again.stx_size);
	if (x.stx_mask & STATX_BTIME && (again.stx_btime.tv_sec != x.stx_btime.tv_sec ||
					 again.stx_btime.tv_nsec != x.stx_btime.tv_nsec))
		return say("the time of birth has changed");
	return statx(AT_FDCWD, "f", AT_STATX_DONT_SYNC, STATX_SIZE, &x) ? say("DONT_SYNC") : NULL;
}

static const char *send_file(void)
{
	int from = file_make("f"), to = open("g", O_RDWR | O_CREAT, 0644);
	off_t at = 0;

	while (at < BYTES)
		if (sendfile(to, from, &at, (size_t)(BYTES - at)) <= 0)
			return say("sendfile");
	return file_same("g");
}

static const char *splice_both(void)
{
	int from = file_make("f"), to = open("g", O_RDWR | O_CREAT, 0644), pipes[2];
	loff_t in = 0, out = 0;
	ssize_t n, m;

	if (pipe(pipes))
		return say("pipe");
	while (in < BYTES) {
		n = splice(from, &in, pipes[1], NULL, (size_t)(BYTES - in), SPLICE_F_MOVE);
		if (n <= 0)
			return say("splice from the file");
		for (; n; n -= m) {
			m = splice(pipes[0], NULL, to, &out, (size_t)n, SPLICE_F_MOVE);
			if (m <= 0)
				return say("splice into the file");
		}
	}
	return file_same("g");
}

/* A bound on files' sizes: what is below it is written, what is beyond is EFBIG. */
static const char *bound(void)
{
	struct rlimit limit = { 10000, 10000 };
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	char buf[100] = { 1 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return say("setrlimit");
	if (pwrite(fd, buf, 100, 9990) != 10)
		return say("a write over the bound is not cut");
	if (pwrite(fd, buf, 100, 10000) >= 0 || errno != EFBIG)
		return say("write");
	if (!ftruncate(fd, 10001) || errno != EFBIG)
		return say("ftruncate");
	if (!fallocate(fd, 0, 0, 20000) || errno != EFBIG)
		return say("fallocate");
	return ftruncate(fd, 10000) || lseek(fd, 0, SEEK_END) != 10000 ? say("size") : NULL;
}

/* Writes one byte there; returns 1, 0 after EFBIG, or -1. */
static int far_write(int fd, off_t at)
{
	if (pwrite(fd, "x", 1, at) == 1 && !fsync(fd))
		return 1;
	if (errno != EFBIG)
		return -1;
	/* A late error is reported here too, and to no one with another file. */
	syncfs(fd);
	return 0;
}

/* Where no file can reach: EFBIG, or it can. */
static const char *far(void)
{
	static const off_t places[] = { 1ll << 40, 1ll << 52, 1ll << 62, INT64_MAX - 1 };
	int fd = open("f", O_RDWR | O_CREAT, 0644), can = 1;
	struct stat st;
	size_t i;
	char c;

	for (i = 0; can && i < sizeof(places) / sizeof(places[0]); i++) {
		can = far_write(fd, places[i]);
		if (can < 0)
			return say("write at %llx", (long long)places[i]);
		if (can && (fstat(fd, &st) || st.st_size != places[i] + 1))
			return say("at %llx: %llx bytes", (long long)places[i],
				   (long long)st.st_size);
		if (can && (pread(fd, &c, 1, places[i]) != 1 || c != 'x'))
			return say("read at %llx", (long long)places[i]);
	}
	if (!ftruncate(fd, INT64_MAX))
		return fstat(fd, &st) || st.st_size != INT64_MAX ? say("truncated") : NULL;
	return errno == EFBIG ? NULL : say("truncate");
}

static const char *write_flags(void)
{
	struct iovec iov = { (char[]){ 'x' }, 1 };
	int fd = file_make("f");
	struct stat st;
	char c = 0;

	if (pwritev2(fd, &iov, 1, 0, RWF_APPEND) != 1)
		return say("RWF_APPEND");
	if (fstat(fd, &st) || st.st_size != BYTES + 1 || pread(fd, &c, 1, BYTES) != 1 || c != 'x')
		return say("RWF_APPEND: %lld bytes", (long long)st.st_size);
	if (ftruncate(fd, BYTES))
		return say("ftruncate");
	iov.iov_base = (char[]){ byte_at(7) };
	if (pwritev2(fd, &iov, 1, 7, RWF_DSYNC) != 1 || pwritev2(fd, &iov, 1, 7, RWF_SYNC) != 1)
		return say("RWF_DSYNC");
	iov.iov_base = &c;
	if (preadv2(fd, &iov, 1, 7, RWF_NOWAIT) != 1 && errno != EAGAIN && errno != EOPNOTSUPP)
		return say("RWF_NOWAIT");
	return file_same("f");
}

static const char *advice(void)
{
	static const int all[] = { POSIX_FADV_NORMAL,	POSIX_FADV_SEQUENTIAL, POSIX_FADV_RANDOM,
				   POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED,   POSIX_FADV_NOREUSE };
	int fd = file_make("f");
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		errno = posix_fadvise(fd, 0, 0, all[i]);
		if (errno)
			return say("posix_fadvise %zu", i);
	}
	if (readahead(fd, 0, BYTES))
		return say("readahead");
	if (sync_file_range(fd, 0, 50000, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER))
		return say("sync_file_range");
	return syncfs(fd) ? say("syncfs") : file_same("f");
}

/* Unaligned direct I/O: EINVAL, or right. */
static const char *direct_unaligned(void)
{
	static char space[9000];
	int fd;

	close(file_make("f"));
	fd = open("f", O_RDWR | O_DIRECT);
	if (fd < 0)
		return errno == EINVAL ? NULL : say("O_DIRECT");
	if (pread(fd, space + 1, 5001, 333) != 5001)
		return errno == EINVAL ? NULL : say("read");
	if (space[1] != byte_at(333) || space[5001] != byte_at(5333))
		return say("another byte");
	if (pwrite(fd, space + 1, 5001, 333) != 5001)
		return say("write");
	return file_same("f");
}

/* The events of this directory, as letters. */
static const char *watched(void)
{
	char buf[8192] __attribute__((aligned(8))), got[64] = "";
	int fd = inotify_init1(IN_NONBLOCK), file;
	ssize_t n, at = 0;

	if (fd < 0 || inotify_add_watch(fd, ".", IN_CREATE | IN_MODIFY | IN_MOVE | IN_DELETE) < 0)
		return say("inotify");
	file = open("f", O_RDWR | O_CREAT, 0644);
	if (write(file, "x", 1) != 1 || close(file) || rename("f", "g") || unlink("g"))
		return say("cannot make events");
	n = read(fd, buf, sizeof(buf));
	while (at < n) {
		const struct inotify_event *e = (void *)(buf + at);

		strcat(got, e->mask & IN_CREATE	      ? "c"
			    : e->mask & IN_MODIFY     ? "m"
			    : e->mask & IN_MOVED_FROM ? "f"
			    : e->mask & IN_MOVED_TO   ? "t"
						      : "d");
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	return strcmp(got, "cmftd") ? say("events \"%s\"", got) : NULL;
}

static const char *lease(void)
{
	int fd;

	close(file_make("f"));
	fd = open("f", O_RDONLY);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return refused() || errno == EAGAIN ? NULL : say("F_SETLEASE");
	if (fcntl(fd, F_GETLEASE) != F_RDLCK)
		return say("F_GETLEASE");
	return fcntl(fd, F_SETLEASE, F_UNLCK) ? say("giving it back") : file_same("f");
}

const struct px_case px_cases_calls[] = { PX_CODE("O_TMPFILE", tmpfile_open),
					  PX_CODE("RENAME_WHITEOUT", whiteout),
					  PX_CODE("FALLOC_FL_COLLAPSE_RANGE", collapse),
					  PX_CODE("FALLOC_FL_INSERT_RANGE", insert),
					  PX_CODE("FICLONE", clone),
					  PX_CODE("ioctl", ioctls),
					  PX_CODE_BY_ROOT("open_by_handle_at", handles),
					  PX_CODE("statx", statx_fields),
					  PX_CODE("sendfile", send_file),
					  PX_CODE("splice", splice_both),
					  PX_CODE("RLIMIT_FSIZE", bound),
					  PX_CODE("far away", far),
					  PX_CODE("pwritev2", write_flags),
					  PX_CODE("advice", advice),
					  PX_CODE("O_DIRECT, unaligned", direct_unaligned),
					  PX_CODE("inotify", watched),
					  PX_CODE("lease", lease),
					  PX_END };
