// SPDX-License-Identifier: GPL-2.0-only
/* ddio bench --mount: what a person does in a day, by the commands that a person uses, and small requests. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mount.h"

/* Files in a directory of the tree, and bytes of a file. */
enum { PER_DIR = 50, FILE_BYTES = 3000, SMALL_BYTES = 100, SYNC_BYTES = 4096 };

/* Longer than attributes and names are valid by default. */
static void daily_rest(void)
{
	struct timespec rest = { .tv_sec = 1, .tv_nsec = 500000000 };

	nanosleep(&rest, NULL);
}

/* Runs a command without its output.  Return: seconds, or a negative errno. */
static double command(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	double began = mount_now();
	int err, status;
	pid_t pid;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EIO : mount_now() - began;
}

#define COMMAND(...) command((char *[]){ __VA_ARGS__, NULL })

static int file_make(const char *path)
{
	char bytes[FILE_BYTES];
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644), err = 0;

	memset(bytes, 'd', sizeof(bytes));
	if (fd < 0)
		return -errno;
	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		err = -EIO;
	return close(fd) && !err ? -errno : err;
}

static int files_make(const char *dir, uint32_t n, uint32_t per_dir)
{
	char path[4300];
	uint32_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		snprintf(path, sizeof(path), "%s/d%u", dir, i / per_dir);
		if (!(i % per_dir) && mkdir(path, 0755))
			return -errno;
		snprintf(path, sizeof(path), "%s/d%u/f%u", dir, i / per_dir, i);
		err = file_make(path);
	}
	return err;
}

/**
 * struct daily_tree - files that are copied into a directory that is measured
 * @from: outside of it; @to: inside
 * @tar: the same as an archive
 */
struct daily_tree {
	char from[64], tar[80], to[4200];
};

static int tree_make(struct daily_tree *tree, const struct mount_job *job)
{
	char from[] = "/tmp/ddio-bench.XXXXXX";

	if (!mkdtemp(from))
		return -errno;
	snprintf(tree->from, sizeof(tree->from), "%s", from);
	snprintf(tree->tar, sizeof(tree->tar), "%s.tar", from);
	snprintf(tree->to, sizeof(tree->to), "%s/tree", job->dir);
	return files_make(tree->from, job->files, PER_DIR);
}

/* Return: @rate, or what went wrong in tidying up. */
static double tree_free(struct daily_tree *tree, double rate)
{
	double t = 0;

	/* Otherwise it was never made. */
	if (tree->from[0])
		t = COMMAND("rm", "-rf", tree->from, tree->tar, tree->to);
	return rate >= 0 && t < 0 ? t : rate;
}

static double files_per_second(const struct mount_job *job, double t)
{
	return t < 0 ? t : (double)job->files / t;
}

static double run_unlink_data(const struct mount_job *job)
{
	uint32_t i;
	char path[4200];
	double t = files_make(job->dir, job->files, job->files), began = mount_now();

	for (i = 0; i < job->files && t >= 0; i++) {
		snprintf(path, sizeof(path), "%s/d0/f%u", job->dir, i);
		t = unlink(path) ? -errno : 0;
	}
	if (t >= 0)
		t = mount_now() - began;
	snprintf(path, sizeof(path), "%s/d0", job->dir);
	rmdir(path);
	return files_per_second(job, t);
}

/* Makes a tree, calls @run and tidies up.  @run returns the seconds of what it measures, or -errno. */
static double on_tree(const struct mount_job *job, double (*run)(struct daily_tree *tree))
{
	struct daily_tree tree = { 0 };
	double t = tree_make(&tree, job);

	if (t >= 0)
		t = run(&tree);
	return tree_free(&tree, files_per_second(job, t));
}

static double copy(struct daily_tree *tree)
{
	return COMMAND("cp", "-r", tree->from, tree->to);
}

static double remove_tree(struct daily_tree *tree)
{
	double t = copy(tree);

	return t < 0 ? t : COMMAND("rm", "-rf", tree->to);
}

static double untar(struct daily_tree *tree)
{
	double t = COMMAND("tar", "-C", tree->from, "-cf", tree->tar, ".");

	if (t >= 0)
		t = mkdir(tree->to, 0755) ? -errno : 0;
	return t < 0 ? t : COMMAND("tar", "-C", tree->to, "-xf", tree->tar);
}

static double status(struct daily_tree *tree)
{
	double t = copy(tree);

	if (t >= 0)
		t = COMMAND("git", "-C", tree->to, "init", "-q");
	if (t >= 0)
		t = COMMAND("git", "-C", tree->to, "add", ".");
	daily_rest();
	/* The first one puts what it has found into the index. */
	if (t >= 0)
		t = COMMAND("git", "-C", tree->to, "status");
	daily_rest();
	return t < 0 ? t : COMMAND("git", "-C", tree->to, "status");
}

static double run_copy(const struct mount_job *job)
{
	return on_tree(job, copy);
}

static double run_remove(const struct mount_job *job)
{
	return on_tree(job, remove_tree);
}

static double run_untar(const struct mount_job *job)
{
	return on_tree(job, untar);
}

static double run_status(const struct mount_job *job)
{
	return on_tree(job, status);
}

static double run_list(const struct mount_job *job)
{
	struct daily_tree tree = { 0 };
	double t = tree_make(&tree, job);

	if (t >= 0)
		t = copy(&tree);
	mount_forget(job);
	if (t >= 0)
		t = COMMAND("ls", "-lR", tree.to);
	return tree_free(&tree, files_per_second(job, t));
}

/* Calls @step again and again, with the number of the call, on a new file of @bytes bytes.  Return: calls a second. */
static double again(const struct mount_job *job, int flags, off_t bytes,
		    int (*step)(int fd, uint64_t n))
{
	char path[4200];
	double began, t;
	uint64_t n = 0;
	int fd, err;

	snprintf(path, sizeof(path), "%s/data", job->dir);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		return -errno;
	err = bytes && pwrite(fd, "", 1, bytes - 1) != 1 ? -EIO : 0;
	began = mount_now();
	do {
		if (!err)
			err = step(fd, n++);
		t = mount_now() - began;
	} while (!err && t < job->seconds);
	close(fd);
	if (unlink(path) && !err)
		err = -errno;
	return err ? err : (double)n / t;
}

static int step_stat(int fd, uint64_t n)
{
	const char bytes[SMALL_BYTES] = { 1 };
	struct stat st;

	if (pwrite(fd, bytes, sizeof(bytes), (off_t)(n % 100 * sizeof(bytes))) != sizeof(bytes))
		return -EIO;
	return fstat(fd, &st) ? -errno : 0;
}

static int step_append(int fd, uint64_t n)
{
	const char bytes[SMALL_BYTES] = { 1 };

	(void)n;
	return write(fd, bytes, sizeof(bytes)) == sizeof(bytes) ? 0 : -EIO;
}

static int step_sync(int fd, uint64_t n)
{
	const char bytes[SYNC_BYTES] = { 1 };

	if (pwrite(fd, bytes, sizeof(bytes), (off_t)(n % 100 * sizeof(bytes))) != sizeof(bytes))
		return -EIO;
	return fsync(fd) ? -errno : 0;
}

static double run_stat(const struct mount_job *job)
{
	return again(job, 0, 1 << 20, step_stat);
}

static double run_append(const struct mount_job *job)
{
	return again(job, O_APPEND, 0, step_append);
}

static double run_extend(const struct mount_job *job)
{
	return again(job, 0, 0, step_append);
}

static double run_sync(const struct mount_job *job)
{
	return again(job, 0, 1 << 20, step_sync);
}

const struct mount_work mount_daily_works[] = {
	{ "unlink-data", "/s", run_unlink_data, "daily" },
	{ "copy", "/s", run_copy, "daily" },
	{ "remove-tree", "/s", run_remove, "daily" },
	{ "untar", "/s", run_untar, "daily" },
	{ "git-status", "/s", run_status, "daily" },
	{ "list", "/s", run_list, "daily" },
	{ "write-stat", "/s", run_stat, "daily" },
	{ "append", "/s", run_append, "daily" },
	{ "extend", "/s", run_extend, "daily" },
	{ "write-fsync", "/s", run_sync, "daily" },
	{ 0 },
};
