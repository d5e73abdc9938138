// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that another process replaces between the kernel's lookup and its open, over and over; and one that another
 * mount makes longer.  Kernel and library are played here.  The kernel does what Linux does with ESTALE: it looks
 * the name up once more and opens what it gets, and gives the second ESTALE to the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/fuse/mount_kernel.h"
#include "tests/unit/lib/ut.h"

enum { DIR = 2, FIRST = 100, PID = 17 };

/**
 * struct one_dir - a directory with one name
 * @ino: what it names; each lookup replaces it by the next afterwards, as long as @replacements lasts
 * @size: of every file
 * @open: how often an inode is open; one that is open can be opened again without a name
 */
struct one_dir {
	uint64_t ino, size;
	int replacements, lookups, opens;
	int open[1000];
};

static struct one_dir library;
static struct mount mount;
static struct mount_opts options;
/* By how many milliseconds the clock is ahead. */
static atomic_int ahead;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, t);

	t->tv_nsec += ahead % 1000 * 1000000;
	t->tv_sec += ahead / 1000 + t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
	return ret;
}

/*
 * The library: a file is its number
 */
static void answer(ddio_fs_done done, void *arg, int err, uint64_t ino)
{
	const struct ddio_fs_attr attr = {
		.ino = ino, .mode = S_IFREG | 0600, .change = 1, .size = library.size
	};
	const struct ddio_fs_reply reply = { .err = err, .attr = err ? NULL : &attr };

	done(arg, &reply);
}

void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	uint64_t ino = library.ino;

	(void)fs;
	CU_ASSERT_EQUAL(parent, DIR);
	CU_ASSERT_STRING_EQUAL(name, "name");
	library.lookups++;
	if (library.replacements) {
		library.replacements--;
		library.ino++;
	}
	answer(done, arg, 0, ino);
}

void ddio_fs_lookup_within(struct ddio_fs *fs, uint64_t parent, const char *name,
			   uint64_t max_age_ns, ddio_fs_done done, void *arg)
{
	(void)max_age_ns;
	ddio_fs_lookup(fs, parent, name, done, arg);
}

void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg)
{
	bool there = ino == library.ino || (library.open[ino] && !(flags & DDIO_FS_NAMED));

	(void)fs;
	library.opens++;
	library.open[ino] += there;
	*file = (struct ddio_fs_file *)(uintptr_t)ino;
	answer(done, arg, there ? 0 : -ENOENT, ino);
}

void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	CU_ASSERT(library.open[(uintptr_t)file] > 0);
	library.open[(uintptr_t)file]--;
	answer(done, arg, 0, (uintptr_t)file);
}

void ddio_fs_unlink(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	(void)fs;
	(void)parent;
	(void)name;
	answer(done, arg, 0, library.ino++);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define UNUSED_CALL(name, ...)                               \
	void name(__VA_ARGS__, ddio_fs_done done, void *arg) \
	{                                                    \
		CU_FAIL("not part of this: " #name);         \
		answer(done, arg, -EIO, 0);                  \
	}
UNUSED_CALL(ddio_fs_file_create, struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
	    const struct ddio_fs_new *make, struct ddio_fs_file **file)
UNUSED_CALL(ddio_fs_flush, struct ddio_fs_file *file)
UNUSED_CALL(ddio_fs_sync, struct ddio_fs_file *file)
UNUSED_CALL(ddio_fs_unlock_owner, struct ddio_fs_file *file, uint64_t owner)
UNUSED_CALL(ddio_fs_lock_set, struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
	    uint64_t *id)
UNUSED_CALL(ddio_fs_setattr, struct ddio_fs *fs, uint64_t ino, uint32_t mask,
	    const struct ddio_fs_attr *attr)
UNUSED_CALL(ddio_fs_getattr, struct ddio_fs *fs, uint64_t ino)
UNUSED_CALL(ddio_fs_make, struct ddio_fs *fs, uint64_t parent, const char *name,
	    const struct ddio_fs_new *make)
UNUSED_CALL(ddio_fs_link, struct ddio_fs *fs, uint64_t ino, uint64_t parent, const char *name)
UNUSED_CALL(ddio_fs_rmdir, struct ddio_fs *fs, uint64_t parent, const char *name)
UNUSED_CALL(ddio_fs_rename, struct ddio_fs *fs, uint64_t parent, const char *name,
	    uint64_t new_parent, const char *new_name, uint32_t flags)
UNUSED_CALL(ddio_fs_readlink, struct ddio_fs *fs, uint64_t ino)
#pragma GCC diagnostic pop

/*
 * Cases
 */
static void begin(int replacements)
{
	memset(&library, 0, sizeof(library));
	memset(&mount, 0, sizeof(mount));
	options = (struct mount_opts){ .cache = CACHE_AUTO, .attr_timeout = 1, .entry_timeout = 1 };
	library.ino = FIRST;
	library.size = 1;
	library.replacements = replacements;
	mount.o = &options;
	mount.root = DDIO_FS_ROOT;
	mount.again = again_new();
	mount.known = known_new();
	mount.marks = marks_new();
	mount.seen = seen_new();
	pthread_mutex_init(&mount.lock, NULL);
	pthread_cond_init(&mount.idle, NULL);
}

/* Nothing stays open. */
static void end(void)
{
	int i, open = 0;

	again_end(mount.again);
	for (i = 0; i < 1000; i++)
		open += library.open[i];
	CU_ASSERT_EQUAL(open, 0);
	CU_ASSERT_EQUAL(mount.under_way, 0);
	handles_free(&mount);
	again_free(mount.again);
	known_free(mount.known);
	marks_free(mount.marks);
	seen_free(mount.seen);
	pthread_cond_destroy(&mount.idle);
	pthread_mutex_destroy(&mount.lock);
}

static int look_up(pid_t pid, uint64_t *ino, uint64_t *size)
{
	struct fuse_req req = { .m = &mount, .ctx.pid = pid };

	op_lookup(&req, DIR, "name");
	CU_ASSERT_EQUAL(req.answers, 1);
	*ino = req.ino;
	*size = req.size;
	return req.err;
}

static int open_ino(pid_t pid, uint64_t ino)
{
	struct fuse_file_info fi = { .flags = O_RDONLY };
	struct fuse_req req = { .m = &mount, .ctx.pid = pid }, end = req;

	op_open(&req, ino, &fi);
	CU_ASSERT_EQUAL(req.answers, 1);
	if (req.err)
		return req.err;
	fi.fh = req.fh;
	op_release(&end, ino, &fi);
	return 0;
}

/* open(2): gets @ino from the cache, or from the library if that is 0.  *@size: as the kernel knows it. */
static int kernel_open(pid_t pid, uint64_t ino, uint64_t *size)
{
	int err = ino ? 0 : look_up(pid, &ino, size);

	if (!err)
		err = open_ino(pid, ino);
	if (err != ESTALE)
		return err;
	err = look_up(pid, &ino, size);
	return err ? err : open_ino(pid, ino);
}

static void replaced(void)
{
	uint64_t size;
	int n;

	for (n = 0; n < 60; n++) {
		begin(n);
		CU_ASSERT_EQUAL(kernel_open(PID, 0, &size), 0);
		/* Every replacement costs a lookup and an attempt, and no more. */
		CU_ASSERT(library.lookups <= n + 2);
		end();
	}
}

/* It is the file that the kernel remembers, long gone. */
static void remembered(void)
{
	uint64_t size;

	begin(0);
	library.ino = FIRST + 5;
	CU_ASSERT_EQUAL(kernel_open(PID, FIRST, &size), 0);
	end();
}

/* Another mount has replaced it, and a program here has the old one open: the name is the new one's. */
static void held(void)
{
	uint64_t ino, size;

	begin(0);
	CU_ASSERT_EQUAL(look_up(PID, &ino, &size), 0);
	library.open[ino] = 1;
	library.ino++;
	/* A thread without a number cannot be told apart from another one. */
	CU_ASSERT_EQUAL(open_ino(0, ino), ESTALE);
	CU_ASSERT_EQUAL(open_ino(0, ino), ESTALE);
	library.opens = 0;
	CU_ASSERT_EQUAL(kernel_open(PID, ino, &size), 0);
	/* The old one, the new one by the lookup, and the new one. */
	CU_ASSERT_EQUAL(library.opens, 3);
	CU_ASSERT_EQUAL(library.open[ino], 1);
	/* Now the kernel has no name of the old one: it is opened by the open file. */
	CU_ASSERT_EQUAL(open_ino(PID, ino), 0);
	CU_ASSERT_EQUAL(open_ino(0, ino), 0);
	library.open[ino] = 0;
	end();
}

/* By /proc/self/fd it is opened once more: the kernel looks nothing up on this mount between the two attempts. */
static void opened_again(void)
{
	uint64_t ino, size;
	int i;

	begin(0);
	CU_ASSERT_EQUAL(look_up(PID, &ino, &size), 0);
	library.open[ino] = 1;
	library.ino++;
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(open_ino(PID, ino), ESTALE);
		CU_ASSERT_EQUAL(open_ino(PID, ino), 0);
	}
	library.open[ino] = 0;
	end();
}

/* The kernel knows of its own removals: what is open is opened at once. */
static void removed_here(void)
{
	struct fuse_req req = { .m = &mount, .ctx.pid = PID };
	uint64_t ino, size;

	begin(0);
	CU_ASSERT_EQUAL(look_up(PID, &ino, &size), 0);
	library.open[ino] = 1;
	op_unlink(&req, DIR, "name");
	CU_ASSERT_EQUAL(req.err, 0);
	CU_ASSERT_EQUAL(open_ino(PID, ino), 0);
	library.open[ino] = 0;
	end();
}

/* What is kept for a thread that does not come back is closed. */
static void not_fetched(void)
{
	uint64_t ino, size;
	int pid;

	begin(0);
	for (pid = 1; pid < 3000; pid++) {
		CU_ASSERT_EQUAL(open_ino(pid, FIRST - 1), ESTALE);
		CU_ASSERT_EQUAL(look_up(pid, &ino, &size), 0);
	}
	CU_ASSERT(library.open[FIRST] > 0 && library.open[FIRST] <= 1024);
	end();
}

/* A thread that looks names up, and never opens what it gets, is helped with the first ones only. */
static void looks_on(void)
{
	uint64_t ino, size;
	int i;

	begin(0);
	CU_ASSERT_EQUAL(open_ino(PID, FIRST - 1), ESTALE);
	library.opens = 0;
	for (i = 0; i < 50; i++) {
		CU_ASSERT_EQUAL(look_up(PID, &ino, &size), 0);
		ahead += 600;
	}
	CU_ASSERT(library.opens <= 2);
	ahead = 0;
	end();
}

/* For a thread without a number the second lookup is made as for any other, but nothing is kept. */
static void unknown_thread(void)
{
	uint64_t ino, size;

	begin(2);
	CU_ASSERT_EQUAL(look_up(0, &ino, &size), 0);
	CU_ASSERT_EQUAL(open_ino(0, ino), ESTALE);
	CU_ASSERT_EQUAL(look_up(0, &ino, &size), 0);
	library.ino++;
	CU_ASSERT_EQUAL(open_ino(0, ino), ESTALE);
	end();
}

/* The kernel learns the size when it opens a file that another mount has made longer or shorter. */
static void outdated(void)
{
	static const uint64_t sizes[] = { 100000, 100000, 7, 0, 1 };
	uint64_t ino, size;
	unsigned int i;

	begin(0);
	CU_ASSERT_EQUAL(look_up(PID, &ino, &size), 0);
	CU_ASSERT_EQUAL(size, 1);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		library.size = sizes[i];
		CU_ASSERT_EQUAL(kernel_open(PID, ino, &size), 0);
		CU_ASSERT_EQUAL(size, sizes[i]);
	}
	/* What a program has written here the kernel knows. */
	library.opens = 0;
	library.size = 50;
	seen_grew(mount.seen, ino, 50);
	CU_ASSERT_EQUAL(kernel_open(PID, ino, &size), 0);
	CU_ASSERT_EQUAL(library.opens, 1);
	end();
}

static const struct ut_case cases[] = {
	{ "replaced", replaced },
	{ "remembered", remembered },
	{ "held", held },
	{ "opened again", opened_again },
	{ "removed here", removed_here },
	{ "not fetched", not_fetched },
	{ "looks on", looks_on },
	{ "unknown thread", unknown_thread },
	{ "outdated", outdated },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount again", cases } };

	return ut_run("mount_again", suites, 1);
}
