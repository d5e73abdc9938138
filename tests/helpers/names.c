// SPDX-License-Identifier: GPL-2.0-only
/*
 * names [--seed N] [--steps N] [--keeps MS] LOCAL DIR...: makes the same calls in directories of several mounts, one call after
 * the other, and in a directory of a local file system, and compares what they return and what is there in the end.
 *
 * Files are removed, replaced and made anew on one mount while others know their names, have them open, or work in their
 * directories.  Whatever a kernel may have cached, each call must do what the local file system does.  Three
 * things no mount can know, as ddiofs(8) says, for as long as names are kept, --keeps milliseconds:
 *
 * - that a name is another file's now while the file that had it lives on under another name: such names are left to the
 *   mount that changed them,
 * - that a name is free which it knows (EEXIST, without a request): the call is made again later,
 * - whether a change of attributes means a name or an open file: by an open file that has lost its name elsewhere a moment ago
 *   it is made again later.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { MOUNTS_MAX = 4, HELD = 4, PATHS = 9, LINKS = 2, DIRS = 2, OUT = 1200, CHECK_EVERY = 60 };
/* What ddiofs adds to the time for which the kernel keeps names. */
enum { NAMED_MS = 5200 };

/* Files; links to them, which are never renamed; directories. */
static const char *const paths[PATHS] = { "f0",	   "f1",    "f2", "d0/f0", "d0/f1",
					  "d1/f0", "d1/f1", "l0", "l1" };
static const char *const dirs[DIRS] = { "d0", "d1" };

/**
 * struct names_side - where calls are made: a mount, or its twin, the local directory
 * @held, @in: open files and directories
 */
struct names_side {
	const char *dir;
	int root, held[HELD], in[DIRS];
	bool twin;
};

/**
 * struct names_call - what a step does
 * @to: the second path
 * @held, @dir: which open file, and directory
 * @value: what is written
 */
struct names_call {
	const char *path, *to;
	unsigned int held, dir, value;
};

static struct names_side mounts[MOUNTS_MAX], twins[MOUNTS_MAX];
static unsigned int nmounts;
static uint64_t rnd, keeps_ms = 1000;
/* Until when a name is left to the mount that has changed it. */
static uint64_t unsure[PATHS];
static unsigned int sure_of[PATHS];
static char trace[400];
/* The local file system keeps extended attributes. */
static bool xattrs;

static uint32_t random_below(uint32_t below)
{
	rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(rnd >> 33) % below;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void sleep_ms(uint64_t ms)
{
	nanosleep(&(const struct timespec){ .tv_sec = (time_t)(ms / 1000),
					    .tv_nsec = (long)(ms % 1000 * 1000000) },
		  NULL);
}

/* Until the kernels have forgotten all names. */
static void names_end(void)
{
	sleep_ms(keeps_ms + 200);
}

static int err_of(int ret)
{
	return ret < 0 ? -errno : 0;
}

/* Reads all of a file into @out. */
static int read_all(int fd, char *out)
{
	ssize_t n = pread(fd, out, OUT - 1, 0);

	if (n < 0)
		return -errno;
	out[n] = '\0';
	return 0;
}

/* Writes the value, and closes the file. */
static int put_and_close(int fd, unsigned int value)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "value %u.", value), err = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, (size_t)len, 0) != len || fsync(fd))
		err = -errno;
	return close(fd) && !err ? -errno : err;
}

/*
 * Calls.  Each returns 0 or -errno, and what it has read in @out.
 */
static int call_write(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(openat(s->root, c->path, O_WRONLY | O_CREAT, 0644), c->value);
}

static int call_rewrite(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(openat(s->root, c->path, O_RDWR | O_CREAT | O_TRUNC, 0644), c->value);
}

static int call_update(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(openat(s->root, c->path, O_RDWR | O_TRUNC), c->value);
}

static int call_make(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(openat(s->root, c->path, O_RDWR | O_CREAT | O_EXCL, 0644), c->value);
}

static int call_mknod(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(mknodat(s->root, c->path, S_IFREG | 0600, 0));
}

static int call_read(struct names_side *s, const struct names_call *c, char *out)
{
	int fd = openat(s->root, c->path, O_RDONLY), err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, out);
	close(fd);
	return err;
}

static int call_unlink(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(unlinkat(s->root, c->path, 0));
}

static int call_rename(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(renameat(s->root, c->path, s->root, c->to));
}

/* As editors do: a new file takes the place of the old one. */
static int call_replace(struct names_side *s, const struct names_call *c, char *out)
{
	char name[32];
	int err;

	(void)out;
	snprintf(name, sizeof(name), "t%u", c->value);
	err = put_and_close(openat(s->root, name, O_RDWR | O_CREAT | O_EXCL, 0644), c->value);
	if (!err)
		err = err_of(renameat(s->root, name, s->root, c->path));
	if (err)
		unlinkat(s->root, name, 0);
	return err;
}

static int call_link(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(linkat(s->root, c->path, s->root, c->to, 0));
}

static int call_symlink(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(symlinkat("f0", s->root, c->path));
}

static int call_readlink(struct names_side *s, const struct names_call *c, char *out)
{
	ssize_t n = readlinkat(s->root, c->path, out, 100);

	if (n >= 0)
		out[n] = '\0';
	return err_of((int)n);
}

static int call_chmod(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(fchmodat(s->root, c->path, 0600 | (c->value & 077), 0));
}

static int call_times(struct names_side *s, const struct names_call *c, char *out)
{
	const struct timespec t[2] = { { .tv_sec = c->value }, { .tv_sec = c->value } };

	(void)out;
	return err_of(utimensat(s->root, c->path, t, 0));
}

static const char *whole(const struct names_side *s, const struct names_call *c, char *room)
{
	snprintf(room, OUT, "%s/%s", s->dir, c->path);
	return room;
}

static int call_truncate(struct names_side *s, const struct names_call *c, char *out)
{
	char room[OUT];

	(void)out;
	return err_of(truncate(whole(s, c, room), c->value % 12));
}

static int call_setxattr(struct names_side *s, const struct names_call *c, char *out)
{
	char room[OUT];

	(void)out;
	return err_of(setxattr(whole(s, c, room), "user.value", &c->value, sizeof(c->value), 0));
}

static int call_removexattr(struct names_side *s, const struct names_call *c, char *out)
{
	char room[OUT];

	(void)out;
	return err_of(removexattr(whole(s, c, room), "user.value"));
}

static int call_getxattr(struct names_side *s, const struct names_call *c, char *out)
{
	unsigned int value = 0;
	char room[OUT];
	int err = err_of((int)getxattr(whole(s, c, room), "user.value", &value, sizeof(value)));

	snprintf(out, OUT, "%u", value);
	return err;
}

static int call_listxattr(struct names_side *s, const struct names_call *c, char *out)
{
	char room[OUT], names[OUT];
	ssize_t i, n = listxattr(whole(s, c, room), names, sizeof(names));

	for (i = 0; i < n; i += (ssize_t)strlen(names + i) + 1)
		if (!strncmp(names + i, "user.", 5))
			strcat(out, names + i);
	return err_of((int)n);
}

/* A directory is emptied, removed and made anew. */
static int call_renew(struct names_side *s, const struct names_call *c, char *out)
{
	unsigned int i;
	int err;

	(void)out;
	for (i = 0; i < PATHS; i++)
		if (!strncmp(paths[i], dirs[c->dir], 2))
			unlinkat(s->root, paths[i], 0);
	err = err_of(unlinkat(s->root, dirs[c->dir], AT_REMOVEDIR));
	return err ? err : err_of(mkdirat(s->root, dirs[c->dir], 0755));
}

static int call_list(struct names_side *s, const struct names_call *c, char *out)
{
	int fd = openat(s->root, dirs[c->dir], O_RDONLY | O_DIRECTORY), n = 0, i;
	struct dirent *d;
	char names[8][256];
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir)
		return -ENOMEM;
	for (errno = 0; n < 8 && (d = readdir(dir)) != NULL;)
		snprintf(names[n++], sizeof(names[0]), "%s", d->d_name);
	i = -errno;
	closedir(dir);
	qsort(names, (size_t)n, sizeof(names[0]), (int (*)(const void *, const void *))strcmp);
	while (n-- > 0)
		strcat(strcat(out, names[n]), " ");
	return i;
}

/*
 * Calls by what is open
 */
static int call_hold(struct names_side *s, const struct names_call *c, char *out)
{
	if (s->held[c->held] >= 0)
		close(s->held[c->held]);
	s->held[c->held] = openat(s->root, c->path, O_RDWR);
	return s->held[c->held] < 0 ? -errno : read_all(s->held[c->held], out);
}

static int call_held_write(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(dup(s->held[c->held]), c->value);
}

/* While the kernel may have a name of the file it is not known what is meant. */
#define LATER(call)                                    \
	({                                             \
		int ret_ = call;                       \
                                                       \
		if (ret_ < 0 && errno == ESTALE) {     \
			sleep_ms(keeps_ms + NAMED_MS); \
			ret_ = call;                   \
		}                                      \
		err_of(ret_);                          \
	})

static int call_held_chmod(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return LATER(fchmod(s->held[c->held], 0600 | (c->value & 077)));
}

static int call_held_xattr(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return LATER(fsetxattr(s->held[c->held], "user.value", &c->value, sizeof(c->value), 0));
}

static int call_held_times(struct names_side *s, const struct names_call *c, char *out)
{
	const struct timespec t[2] = { { .tv_sec = c->value }, { .tv_sec = c->value } };

	(void)out;
	return LATER(futimens(s->held[c->held], t));
}

static int call_held_truncate(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return err_of(ftruncate(s->held[c->held], c->value % 12));
}

static int call_held_stat(struct names_side *s, const struct names_call *c, char *out)
{
	struct stat st;

	(void)out;
	return err_of(fstat(s->held[c->held], &st));
}

/* It can be opened once more, with a name or without. */
static int call_reopen(struct names_side *s, const struct names_call *c, char *out)
{
	char path[40];
	int fd, err;

	if (s->held[c->held] < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->held[c->held]);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	err = read_all(fd, out);
	close(fd);
	return err;
}

static int call_enter(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	if (s->in[c->dir] >= 0)
		close(s->in[c->dir]);
	s->in[c->dir] = openat(s->root, dirs[c->dir], O_RDONLY | O_DIRECTORY);
	return s->in[c->dir] < 0 ? -errno : 0;
}

static int call_in_write(struct names_side *s, const struct names_call *c, char *out)
{
	(void)out;
	return put_and_close(openat(s->in[c->dir], "f0", O_WRONLY | O_CREAT, 0644), c->value);
}

static int call_in_mkdir(struct names_side *s, const struct names_call *c, char *out)
{
	int err = err_of(mkdirat(s->in[c->dir], "sub", 0755));

	(void)out;
	return err ? err : err_of(unlinkat(s->in[c->dir], "sub", AT_REMOVEDIR));
}

static int call_in_list(struct names_side *s, const struct names_call *c, char *out)
{
	int fd = openat(s->in[c->dir], ".", O_RDONLY | O_DIRECTORY), n = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		return -errno;
	for (errno = 0; readdir(dir);)
		n++;
	/* The one lists nothing, the other says that it is gone. */
	n = errno == ENOENT ? 0 : n;
	closedir(dir);
	snprintf(out, OUT, "%d", n);
	return 0;
}

/* MOVES: a name may be another living file's afterwards.  NEW: the name must be free.  HELD_ONE, IN: needs something open. */
enum { MOVES = 1, NEW = 2, HELD_ONE = 4, IN = 8, TO_LINK = 16, OFTEN = 32 };

static const struct {
	const char *name;
	int (*fn)(struct names_side *s, const struct names_call *c, char *out);
	int how;
} calls[] = {
	{ "write", call_write, OFTEN },
	{ "rewrite", call_rewrite, 0 },
	{ "update", call_update, 0 },
	{ "make", call_make, NEW },
	{ "mknod", call_mknod, NEW },
	{ "read", call_read, OFTEN },
	{ "unlink", call_unlink, OFTEN },
	{ "rename", call_rename, MOVES },
	{ "replace", call_replace, OFTEN },
	{ "link", call_link, NEW | TO_LINK },
	{ "symlink", call_symlink, NEW },
	{ "readlink", call_readlink, 0 },
	{ "chmod", call_chmod, OFTEN },
	{ "utimensat", call_times, 0 },
	{ "truncate", call_truncate, 0 },
	{ "setxattr", call_setxattr, 0 },
	{ "removexattr", call_removexattr, 0 },
	{ "getxattr", call_getxattr, 0 },
	{ "listxattr", call_listxattr, 0 },
	{ "renew", call_renew, OFTEN },
	{ "list", call_list, 0 },
	{ "hold", call_hold, OFTEN },
	{ "held write", call_held_write, HELD_ONE },
	{ "held chmod", call_held_chmod, HELD_ONE },
	{ "held setxattr", call_held_xattr, HELD_ONE },
	{ "held utimens", call_held_times, HELD_ONE },
	{ "held truncate", call_held_truncate, HELD_ONE },
	{ "held stat", call_held_stat, HELD_ONE },
	{ "reopen", call_reopen, HELD_ONE },
	{ "enter", call_enter, 0 },
	{ "write inside", call_in_write, IN },
	{ "mkdir inside", call_in_mkdir, IN },
	{ "list inside", call_in_list, IN },
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static unsigned int path_index(const char *path)
{
	unsigned int i;

	for (i = 0; i < PATHS - 1 && strcmp(paths[i], path); i++)
		;
	return i;
}

static bool is_sure(unsigned int m, const char *path)
{
	unsigned int i = path_index(path);

	return sure_of[i] == m || unsure[i] < now_ms();
}

/* Others may know the name as that of a file which has another one. */
static void moved_away(unsigned int m, const char *path)
{
	unsigned int i = path_index(path);

	unsure[i] = now_ms() + keeps_ms + 200;
	sure_of[i] = m;
}

/* Returns true if the name's file will live on without it. */
static bool has_others(const char *path)
{
	struct stat st;

	return !fstatat(twins[0].root, path, &st, AT_SYMLINK_NOFOLLOW) && st.st_nlink > 1;
}

static bool leads_to_unsure(unsigned int m, const char *path)
{
	char to[8];
	ssize_t n = readlinkat(twins[0].root, path, to, sizeof(to));

	return n > 0 && !is_sure(m, "f0");
}

static bool call_chosen(unsigned int m, unsigned int which, struct names_call *c)
{
	int how = calls[which].how;
	unsigned int i;

	if (!xattrs && strstr(calls[which].name, "xattr"))
		return false;

	c->path = paths[random_below(PATHS - (how & (MOVES | TO_LINK | NEW) ? LINKS : 0))];
	c->to = how & TO_LINK ? paths[PATHS - LINKS + random_below(LINKS)]
			      : paths[random_below(PATHS - LINKS)];
	c->held = random_below(HELD);
	c->dir = random_below(DIRS);
	if (how & HELD_ONE)
		return twins[m].held[c->held] >= 0;
	if (how & IN)
		return twins[m].in[c->dir] >= 0;
	for (i = 0; calls[which].fn == call_renew && i < PATHS; i++)
		if (!strncmp(paths[i], dirs[c->dir], 2) && !is_sure(m, paths[i]))
			return false;
	return is_sure(m, c->path) && is_sure(m, c->to) && !leads_to_unsure(m, c->path) &&
	       strcmp(c->path, c->to);
}

static void note_moves(unsigned int m, unsigned int which, const struct names_call *c)
{
	unsigned int i;

	if (calls[which].how & MOVES) {
		moved_away(m, c->path);
		if (has_others(c->to))
			moved_away(m, c->to);
	}
	if ((calls[which].fn == call_unlink || calls[which].fn == call_replace) &&
	    has_others(c->path))
		moved_away(m, c->path);
	for (i = 0; calls[which].fn == call_renew && i < PATHS; i++)
		if (!strncmp(paths[i], dirs[c->dir], 2) && has_others(paths[i]))
			moved_away(m, paths[i]);
}

static bool differs(int want, int got, const char *there, const char *here)
{
	return want != got || (!want && strcmp(there, here));
}

/*
 * What a kernel says without asking: a name that is free exists, what is linked has no name, is no link, attributes are
 * missing; or which of two errors it is.
 */
static bool may_differ(unsigned int which, int want, int got)
{
	if ((want && got) || (calls[which].how & NEW && got == -EEXIST) ||
	    (calls[which].fn == call_readlink && got == -EINVAL))
		return true;
	return calls[which].fn == call_getxattr || calls[which].fn == call_listxattr ||
	       (calls[which].fn == call_link && got == -ENOENT);
}

static bool step(unsigned int n)
{
	char there[OUT] = "", here[OUT] = "";
	unsigned int m = random_below(nmounts), which = random_below(CALLS);
	struct names_call c = { .value = n };
	int want, got;

	if (!(calls[which].how & OFTEN) && random_below(2))
		return true;
	if (!call_chosen(m, which, &c))
		return true;
	note_moves(m, which, &c);
	snprintf(trace, sizeof(trace), "step %u, mount %u: %s of %s (%s, held %u, %s)", n, m,
		 calls[which].name, c.path, c.to, c.held, dirs[c.dir]);
	if (getenv("NAMES_TRACE"))
		puts(trace);
	want = calls[which].fn(&twins[m], &c, there);
	got = calls[which].fn(&mounts[m], &c, here);
	if (differs(want, got, there, here) && may_differ(which, want, got)) {
		names_end();
		here[0] = '\0';
		got = calls[which].fn(&mounts[m], &c, here);
	}
	if (!differs(want, got, there, here))
		return true;
	printf("%s: %s \"%s\", not %s \"%s\"\n", trace, strerror(-got), here, strerror(-want),
	       there);
	return false;
}

/* What there is of a name, by one side. */
static void name_tell(struct names_side *s, const char *path, char *out)
{
	struct names_call c = { .path = path };
	unsigned int value = 0;
	char room[OUT] = "";
	struct stat st;

	if (fstatat(s->root, path, &st, AT_SYMLINK_NOFOLLOW)) {
		snprintf(out, OUT, "%s", strerror(errno));
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		call_readlink(s, &c, room);
		snprintf(out, OUT, "link to %.1000s", room);
		return;
	}
	getxattr(whole(s, &c, out), "user.value", &value, sizeof(value));
	call_read(s, &c, room);
	snprintf(out, OUT, "%o, %lld bytes, %lu names, %u, \"%.1000s\"", st.st_mode,
		 (long long)st.st_size, (unsigned long)st.st_nlink, value, room);
}

static bool same(unsigned int m, const char *what, const char *there, const char *here)
{
	if (!strcmp(there, here))
		return true;
	printf("after %s: mount %u has %s: %s, not %s\n", trace, m, what, here, there);
	return false;
}

/* Everything is the same, once names and attributes have been forgotten. */
static bool check(void)
{
	char there[OUT], here[OUT];
	unsigned int m, i;
	bool good = true;

	names_end();
	for (m = 0; m < nmounts; m++) {
		for (i = 0; i < PATHS; i++) {
			name_tell(&twins[m], paths[i], there);
			name_tell(&mounts[m], paths[i], here);
			good &= same(m, paths[i], there, here);
		}
		for (i = 0; i < HELD; i++) {
			struct names_call c = { .held = i };

			there[0] = here[0] = '\0';
			call_reopen(&twins[m], &c, there);
			call_reopen(&mounts[m], &c, here);
			good &= same(m, "an open file", there, here);
		}
	}
	return good;
}

static bool side_open(struct names_side *s, const char *dir, bool twin)
{
	unsigned int i;

	s->dir = dir;
	s->twin = twin;
	s->root = open(dir, O_RDONLY | O_DIRECTORY);
	for (i = 0; i < HELD; i++)
		s->held[i] = -1;
	for (i = 0; i < DIRS; i++)
		s->in[i] = -1;
	return s->root >= 0;
}

static bool begin(const char *local, char **at)
{
	unsigned int m, i;
	bool good = true;

	for (m = 0; m < nmounts; m++)
		good = good && side_open(&mounts[m], at[m], false) &&
		       side_open(&twins[m], local, true);
	xattrs = !setxattr(local, "user.any", "", 0, 0);
	for (i = 0; good && i < DIRS; i++)
		good = !mkdirat(mounts[0].root, dirs[i], 0755) &&
		       !mkdirat(twins[0].root, dirs[i], 0755);
	return good;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", 1, NULL, 's' },
						 { "steps", 1, NULL, 'n' },
						 { "keeps", 1, NULL, 'k' },
						 { NULL, 0, NULL, 0 } };
	unsigned int steps = 600, n, made = 0;
	uint64_t seed = 1;
	bool good;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			steps = (unsigned int)atoi(optarg);
		else if (opt == 'k')
			keeps_ms = (uint64_t)atoi(optarg);
		else
			return 2;
	}
	rnd = seed * 0x9e3779b97f4a7c15ull;
	umask(0);
	nmounts = (unsigned int)(argc - optind - 1);
	if (argc - optind < 3 || nmounts > MOUNTS_MAX || !begin(argv[optind], argv + optind + 1)) {
		fprintf(stderr,
			"names: a local directory and two of mounts are needed, empty: %s\n",
			strerror(errno));
		return 2;
	}
	for (good = true, n = 1; good && n <= steps; n++, made++) {
		good = step(n);
		if (good && !random_below(25))
			sleep_ms(random_below((uint32_t)keeps_ms));
		if (good && (n % CHECK_EVERY == 0 || n == steps))
			good = check();
	}
	printf("%u steps on %u mounts, seed %llu: %s\n", made, nmounts, (unsigned long long)seed,
	       good ? "as on one" : "WRONG");
	return !good;
}
