// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to a program when another changes the same names and files, on the same mount or on another.
 *
 *	meet replaced A B	a name in A is replaced by rename(2) all the time; opened and cut by its path in B: no error
 *	meet grown A B		what A has written and closed, B maps, splices and copies whole, however small it was
 *	meet handles A B	a handle of a file in A opens it in B, which has never seen its name, and stays good when the kernel has
 *				forgotten the file
 *	meet listed A B		every entry of a directory is renamed in A while B lists it: each comes once, and it ends
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 3000, GROWN = 100000, ENTRIES = 2000 };

static char path[4][4096];

static const char *in(int n, const char *dir, const char *name)
{
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static void die(const char *what)
{
	fprintf(stderr, "meet: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int put(const char *name, size_t len, char c)
{
	char *buf = malloc(len + 1);
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	memset(buf, c, len);
	if (fd < 0 || write(fd, buf, len) != (ssize_t)len || close(fd))
		die(name);
	free(buf);
	return 0;
}

/*
 * Replaced
 */
static void replace_all_the_time(const char *dir)
{
	for (;;) {
		put(in(0, dir, "temp"), 10, 'x');
		if (rename(in(0, dir, "temp"), in(1, dir, "name")))
			die("rename");
	}
}

static int try(int how, const char *name)
{
	struct stat st;
	int fd;

	if (how == 3)
		return truncate(name, 5);
	if (how == 2)
		return stat(name, &st);
	fd = open(name, how ? O_RDWR | O_CREAT : O_RDONLY, 0644);
	return fd < 0 ? -1 : close(fd);
}

static int replaced(const char *a, const char *b)
{
	static const char *const what[] = { "open", "open with O_CREAT", "stat", "truncate" };
	int i, status, bad[4] = { 0 }, all = 0;
	pid_t pid;

	put(in(0, a, "name"), 10, 'x');
	sleep(1);
	pid = fork();
	if (!pid)
		replace_all_the_time(a);
	for (i = 0; i < TRIES; i++)
		bad[i % 4] += try(i % 4, in(2, b, "name")) != 0;
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) {
		printf("the replacing ended before its time\n");
		all = 1;
	}
	for (i = 0; i < 4; i++) {
		all += bad[i];
		if (bad[i])
			printf("%s: %d of %d failed\n", what[i], bad[i], TRIES / 4);
	}
	return all != 0;
}

/*
 * Grown
 */
static bool all_are(const char *p, size_t len, char c)
{
	while (len && *p == c)
		p++, len--;
	return !len;
}

static bool by_map(int fd)
{
	char *p = mmap(NULL, GROWN, PROT_READ, MAP_SHARED, fd, 0);
	bool ok;

	if (p == MAP_FAILED)
		die("mmap");
	ok = all_are(p, GROWN, 'g');
	munmap(p, GROWN);
	return ok;
}

static bool from_pipe(int fd, size_t len)
{
	static char buf[GROWN];
	size_t have = 0;
	ssize_t n;

	while (have < len && (n = read(fd, buf + have, len - have)) > 0)
		have += (size_t)n;
	return have == len && all_are(buf, len, 'g');
}

/* Everything that one call gives, up to a pipe's 64 KB, has to come. */
static bool by_pipe(int fd, bool splices)
{
	size_t want = 32768;
	ssize_t n;
	int p[2];
	bool ok;

	if (pipe(p))
		die("pipe");
	n = splices ? splice(fd, NULL, p[1], NULL, want, 0) : sendfile(p[1], fd, NULL, want);
	close(p[1]);
	ok = n == (ssize_t)want && from_pipe(p[0], want);
	close(p[0]);
	return ok;
}

static bool by_copy(int fd, const char *dir)
{
	int to = open(in(3, dir, "copy"), O_CREAT | O_TRUNC | O_RDWR, 0644);
	ssize_t n = copy_file_range(fd, NULL, to, NULL, GROWN, 0);

	close(to);
	return n == GROWN;
}

static void bus(int sig)
{
	static const char line[] = "mmap: SIGBUS\n";

	(void)sig;
	if (write(1, line, sizeof(line) - 1))
		_exit(1);
}

static int grown(const char *a, const char *b)
{
	static const char *const what[] = { "mmap", "sendfile", "splice", "copy_file_range" };
	int i, fd, bad = 0;
	struct stat st;
	char name[32];
	bool ok;

	signal(SIGBUS, bus);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		put(in(0, a, name), 1, 'g');
		if (stat(in(1, b, name), &st))
			die("stat");
		put(in(0, a, name), GROWN, 'g');
		fd = open(in(1, b, name), O_RDONLY);
		if (fd < 0)
			die("open");
		ok = i % 4 == 0	  ? by_map(fd)
		     : i % 4 == 3 ? by_copy(fd, b)
				  : by_pipe(fd, i % 4 == 2);
		if (!ok)
			printf("%s: not whole\n", what[i % 4]);
		bad += !ok;
		close(fd);
	}
	return bad != 0;
}

/*
 * Listed
 */
static int listed(const char *a, const char *b)
{
	static unsigned char times[ENTRIES];
	int i, n = 0, twice = 0, missing = 0;
	struct dirent *e;
	char name[300], top[32];
	DIR *dir;

	snprintf(top, sizeof(top), "listed.%d", (int)getpid());
	if (mkdir(in(2, a, top), 0755))
		die("mkdir");
	for (i = 0; i < ENTRIES; i++) {
		snprintf(name, sizeof(name), "%s/e%d", top, i);
		put(in(0, a, name), 0, 'x');
	}
	dir = opendir(in(2, b, top));
	if (!dir)
		die("opendir");
	while (n <= 2 * ENTRIES && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		n++;
		i = atoi(e->d_name + 1);
		twice += times[i]++ > 0;
		snprintf(name, sizeof(name), "%s/%.255s", top, e->d_name);
		in(0, a, name);
		snprintf(name, sizeof(name), "%s/f%d.%d", top, i, n);
		if (rename(path[0], in(1, a, name)))
			die("rename");
	}
	closedir(dir);
	for (i = 0; i < ENTRIES; i++)
		missing += !times[i];
	printf("%d entries, %d twice, %d missing\n", n, twice, missing);
	return twice || missing;
}

static bool forget_inodes(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "2", 1) == 1;

	return !close(fd) && done;
}

static int opened_by(const char *dir, struct file_handle *handle, char c)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char got;

	if (at < 0)
		die(dir);
	fd = open_by_handle_at(at, handle, O_RDWR | O_CLOEXEC);
	close(at);
	if (fd < 0 || pread(fd, &got, 1, 0) != 1 || got != c) {
		printf("%s: not opened by its handle: %s\n", dir, strerror(errno));
		return 1;
	}
	return close(fd);
}

static int handles(const char *a, const char *b)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .h.handle_bytes = MAX_HANDLE_SZ };
	int mount;

	put(in(0, a, "handle"), GROWN, 'h');
	if (name_to_handle_at(AT_FDCWD, path[0], &u.h, &mount, 0))
		die("name_to_handle_at");
	if (opened_by(b, &u.h, 'h') || !forget_inodes() || opened_by(a, &u.h, 'h') ||
	    opened_by(b, &u.h, 'h') || rename(path[0], in(1, a, "renamed")) || !forget_inodes() ||
	    opened_by(b, &u.h, 'h'))
		return 1;
	return unlink(path[1]) ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "handles"))
		return handles(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "replaced"))
		return replaced(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "grown"))
		return grown(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "listed"))
		return listed(argv[2], argv[3]);
	fprintf(stderr, "meet replaced|grown|listed|handles A B\n");
	return 2;
}
