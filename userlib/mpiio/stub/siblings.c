// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which processes the launcher has started on this machine is in /proc: they are its children, and the environment says how many
 * there are.  The launcher is the nearest ancestor that has so many children, and is not itself a process of a job.  Where there
 * is none nothing is known: behind a wall between containers, or where somebody else has started the processes.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mpiio/stub/siblings.h"

/* A process may be started by a script, and that by another. */
enum { ANCESTORS = 4, SIBLINGS_MAX = 4096 };

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

/* Returns whether it has @max children. */
static int has_children(int parent, int *pid, unsigned int max)
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
	return n == max;
}

static int names_rank(const char *setting)
{
	return !strncmp(setting, "PMI_RANK=", 9) || !strncmp(setting, "PMIX_RANK=", 10) ||
	       !strncmp(setting, "OMPI_COMM_WORLD_RANK=", 21);
}

/* Of a job: it has a rank in its environment.  One that cannot be read may have. */
static int may_have_rank(int pid)
{
	char path[64], *setting = NULL;
	size_t room = 0;
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	if (!f)
		return 1;
	while (!found && getdelim(&setting, &room, 0, f) > 0)
		found = names_rank(setting);
	found |= ferror(f) != 0;
	free(setting);
	fclose(f);
	return found;
}

static int launcher_is(int pid, int *children, unsigned int n)
{
	return has_children(pid, children, n) && !may_have_rank(pid);
}

void siblings_note(void)
{
	unsigned int n = local_ranks(), i;
	int pid = getpid(), *children;

	if (n < 2 || noted.n)
		return;
	children = calloc(n, sizeof(*children));
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
