// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which processes the launcher has started on this machine is in /proc: they are its children that have a rank in their environment,
 * and this process's says how many there are.  The launcher is the nearest ancestor that has so many such children, and is not itself a
 * process of a job.  It may have others, by which it has started processes on other machines.  Where there is none nothing is known:
 * behind a wall between containers, or where somebody else has started the processes.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mpiio/stub/siblings.h"

/* A process may be started by a script, and that by another. */
enum { ANCESTORS = 4, SIBLINGS_MAX = 4096 };

/* So many children of a launcher at most are something else. */
enum { STRANGERS_MAX = 256 };

static struct mpiio_siblings noted;

/* How many the launcher says that it has started here; 0: it says nothing. */
static unsigned int local_ranks(void)
{
	static const char *const names[] = { "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE" };
	const char *told = NULL;
	unsigned long n;
	size_t i;

	for (i = 0; !told && i < sizeof(names) / sizeof(names[0]); i++)
		told = getenv(names[i]);
	n = told ? strtoul(told, NULL, 10) : 0;
	return n <= SIBLINGS_MAX ? (unsigned int)n : 0;
}

static int parent_of(int pid)
{
	char path[64], line[512];
	const char *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* The second field is a name in parentheses, which may have some in it. */
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end, ") %*c %d", &parent) != 1)
		parent = 0;
	fclose(f);
	return parent;
}

/* Of one thread: how many there are then, more than @max if they do not fit. */
static unsigned int children_of(const char *path, int *pid, unsigned int n, unsigned int max)
{
	FILE *f = fopen(path, "re");
	int child;

	while (f && n <= max && fscanf(f, "%d", &child) == 1) {
		if (n < max)
			pid[n] = child;
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* Returns how many children it has, more than @max if they do not fit. */
static unsigned int children_find(int parent, int *pid, unsigned int max)
{
	char path[64 + 256];
	struct dirent *thread;
	unsigned int n = 0;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", parent);
	threads = opendir(path);
	while (threads && (thread = readdir(threads))) {
		if (*thread->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.200s/children", parent,
			 thread->d_name);
		n = children_of(path, pid, n, max);
	}
	if (threads)
		closedir(threads);
	return n;
}

static int names_rank(const char *setting)
{
	return !strncmp(setting, "PMI_RANK=", 9) || !strncmp(setting, "PMIX_RANK=", 10) ||
	       !strncmp(setting, "OMPI_COMM_WORLD_RANK=", 21);
}

/* What the environment of a process says of it. */
enum { ENV_UNREAD, ENV_NO_RANK, ENV_RANK, ENV_OTHER_JOB };

static int env_kind(FILE *f)
{
	const char *job = getenv("PMIX_NAMESPACE");
	int kind = ENV_NO_RANK, other = 0;
	char *setting = NULL;
	size_t room = 0;

	while (getdelim(&setting, &room, 0, f) > 0) {
		if (names_rank(setting))
			kind = ENV_RANK;
		if (job && !strncmp(setting, "PMIX_NAMESPACE=", 15))
			other = strcmp(setting + 15, job) != 0;
	}
	free(setting);
	if (ferror(f))
		return ENV_UNREAD;
	return kind == ENV_RANK && other ? ENV_OTHER_JOB : kind;
}

static int kind_of(int pid)
{
	char path[64];
	int kind;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	if (!f)
		return ENV_UNREAD;
	kind = env_kind(f);
	fclose(f);
	return kind;
}

/* Keeps of the processes those of this one's job, and returns how many these are. */
static unsigned int ranks_keep(int *pid, unsigned int n)
{
	unsigned int kept = 0, i;

	for (i = 0; i < n; i++)
		if (kind_of(pid[i]) == ENV_RANK)
			pid[kept++] = pid[i];
	return kept;
}

/* @children: room for so many more. */
static int launcher_is(int pid, int *children, unsigned int n)
{
	unsigned int max = n + STRANGERS_MAX, found = children_find(pid, children, max);

	return found >= n && found <= max && kind_of(pid) == ENV_NO_RANK &&
	       ranks_keep(children, found) == n;
}

void siblings_note(void)
{
	unsigned int n = local_ranks(), i;
	int pid = getpid(), *children;

	if (n < 2 || noted.n)
		return;
	children = calloc(n + STRANGERS_MAX, sizeof(*children));
	for (i = 0; children && i < ANCESTORS; i++) {
		pid = parent_of(pid);
		if (pid <= 1)
			break;
		if (launcher_is(pid, children, n)) {
			noted = (struct mpiio_siblings){ .pid = children, .n = n };
			return;
		}
	}
	free(children);
}

const struct mpiio_siblings *siblings_noted(void)
{
	return &noted;
}
