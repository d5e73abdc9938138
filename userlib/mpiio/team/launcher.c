// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The launcher is asked while processes wait for others to come, who may be late: after a second, and then so seldom that it has at
 * most ASKED_MOST questions a second from all of them.  With MPI_THREAD_MULTIPLE it is not asked: another thread may wait, too, or be
 * in a call of the MPI that asks the launcher itself.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "mpiio/team/launcher.h"
#include "mpiio/team/launcher_way.h"

enum { ASKED_MOST = 256 };

static const struct launcher_way *const ways[] = { &launcher_pmi, &launcher_pmix };

/**
 * struct launcher - what is asked of it
 * @way: or NULL: it is not one that can be asked
 * @mute: it has not answered, and is asked no more
 * @comm: whose processes are waited for
 * @group: what these are called, once that is known; empty: nothing that all of them would call them
 * @due: when it is asked next; @every: nanoseconds
 */
static struct {
	const struct launcher_way *way;
	bool mute, named;
	MPI_Comm comm;
	char group[32];
	uint64_t due, every;
} launcher;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const struct launcher_way *way_find(void)
{
	int level = MPI_THREAD_MULTIPLE;
	size_t i;

	PMPI_Query_thread(&level);
	if (launcher.mute || level == MPI_THREAD_MULTIPLE)
		return NULL;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i]->find())
			return ways[i];
	return NULL;
}

void launcher_begin(MPI_Comm comm)
{
	const struct launcher_way *way = way_find();
	int rank = 0, size = 1, turns;

	if (!way) /* and where threads may be here nothing is changed */
		return;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	turns = size / ASKED_MOST + 1;
	launcher.way = way;
	launcher.comm = comm;
	launcher.named = false;
	launcher.every = (uint64_t)turns * 1000000000u;
	launcher.due = now_ns() + (uint64_t)(1 + rank % turns) * 1000000000u;
}

/* Translates ranks from one communicator to another; MPI_UNDEFINED where there is none. */
static void translate(MPI_Comm from, int n, const int *ranks, MPI_Comm to, int *there)
{
	MPI_Group a, b;
	int i;

	for (i = 0; i < n; i++)
		there[i] = MPI_UNDEFINED;
	if (PMPI_Comm_group(from, &a))
		return;
	if (!PMPI_Comm_group(to, &b)) {
		PMPI_Group_translate_ranks(a, n, ranks, b, there);
		PMPI_Group_free(&b);
	}
	PMPI_Group_free(&a);
}

/* Whether the rank of this job's processes is one of those that are waited for. */
static bool is_waited_for(int rank)
{
	int there;

	translate(MPI_COMM_WORLD, 1, &rank, launcher.comm, &there);
	return there != MPI_UNDEFINED;
}

/* Returns 0 if some are of another job, in which they have other ranks. */
static uint64_t hash_of(const int *ranks, int n)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int i;

	for (i = 0; i < n; i++) {
		if (ranks[i] == MPI_UNDEFINED)
			return 0;
		hash = (hash ^ (uint64_t)(unsigned int)ranks[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* The ranks of a communicator's processes in the job, in their order, are what all of them know. */
static void group_name(void)
{
	int size = 0, i, *ranks;
	uint64_t hash = 0;

	launcher.named = true;
	PMPI_Comm_size(launcher.comm, &size);
	ranks = calloc((size_t)size + 1, 2 * sizeof(*ranks));
	for (i = 0; ranks && i < size; i++)
		ranks[i] = i;
	if (ranks) {
		translate(launcher.comm, size, ranks, MPI_COMM_WORLD, ranks + size);
		hash = hash_of(ranks + size, size);
	}
	free(ranks);
	launcher.group[0] = '\0';
	if (hash)
		snprintf(launcher.group, sizeof(launcher.group), "%d.%016" PRIx64, size, hash);
}

static const char *group_of(void)
{
	if (!launcher.named)
		group_name();
	return launcher.group[0] ? launcher.group : NULL;
}

bool launcher_misses(void)
{
	uint64_t now = now_ns();
	int ret;

	if (!launcher.way || now < launcher.due)
		return false;
	ret = launcher.way->ask(is_waited_for, group_of());
	launcher.due = now + launcher.every;
	if (ret < 0) {
		launcher.mute = true;
		launcher.way = NULL;
	}
	return ret > 0;
}

void launcher_end(bool missed)
{
	if (!launcher.way)
		return;
	if (missed && launcher.way->tell && group_of())
		launcher.way->tell(group_of());
	launcher.way = NULL;
}

/* Only what this machine's launcher knows is told: a process that has not answered may merely be slow. */
void launcher_tell(MPI_Comm comm)
{
	launcher_begin(comm);
	launcher_end(launcher.way && launcher.way->tell &&
		     launcher.way->ask(is_waited_for, NULL) > 0);
}
