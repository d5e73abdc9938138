// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPICH's launcher knows which processes of a job have died on any machine, and tells whoever asks for PMI_dead_processes by the
 * connection over which the MPI has asked it at its start: PMI, version 1, a line there and one back.  The MPI itself may use that in
 * any of its calls, to find the address of a process for instance; so a question is over, with its answer, before the next of them.
 *
 * It is asked while processes wait for others to come, who may be late: after a second, and then so seldom that the launcher has at
 * most ASKED_MOST questions a second from all of them.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "mpiio/team/launcher.h"

enum { ASKED_MOST = 256, ANSWER_MAX = 2048, ANSWER_MS = 10000 };

/* Of a longer list the launcher may have cut the last number. */
#define LIST_WHOLE 1000

/**
 * struct launcher - what is asked of it
 * @fd: or -1: it is not one that can be asked
 * @comm: whose processes are waited for
 * @due: when it is asked next; @every: nanoseconds
 * @answer: as far as it has come; @mute: it has not answered in time, and is asked no more
 */
static struct {
	int fd;
	MPI_Comm comm;
	uint64_t due, every;
	bool mute;
	size_t len;
	char answer[ANSWER_MAX];
} launcher = { .fd = -1 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Its kin have launchers of their own, and some speak PMI in another version. */
static bool is_mpich(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	return !PMPI_Get_library_version(text, &len) && !strncmp(text, "MPICH Version:", 14) &&
	       !strstr(text, "pmi2") && !strstr(text, "pmix");
}

/* Returns the connection to a launcher that can be asked, or -1. */
static int launcher_find(void)
{
	const char *fd = getenv("PMI_FD");
	int level = MPI_THREAD_MULTIPLE, kind;
	socklen_t len = sizeof(kind);

	PMPI_Query_thread(&level);
	if (launcher.mute || !fd || !getenv("MPI_LOCALNRANKS") || getenv("MPIR_CVAR_PMI_VERSION") ||
	    level == MPI_THREAD_MULTIPLE || !is_mpich() ||
	    getsockopt(atoi(fd), SOL_SOCKET, SO_TYPE, &kind, &len) || kind != SOCK_STREAM)
		return -1;
	return atoi(fd);
}

void launcher_begin(MPI_Comm comm)
{
	int rank = 0, size = 1, turns;

	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	turns = size / ASKED_MOST + 1;
	launcher.fd = launcher_find();
	launcher.comm = comm;
	launcher.every = (uint64_t)turns * 1000000000u;
	launcher.due = now_ns() + (uint64_t)(1 + rank % turns) * 1000000000u;
}

static bool launcher_ask(void)
{
	static const char line[] = "cmd=get kvsname=ddio key=PMI_dead_processes\n";

	launcher.len = 0;
	launcher.answer[0] = '\0';
	return send(launcher.fd, line, sizeof(line) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(line) - 1;
}

/* Returns true if all of the answer has come. */
static bool launcher_hear(void)
{
	struct pollfd p = { .fd = launcher.fd, .events = POLLIN };
	ssize_t n;

	while (!strchr(launcher.answer, '\n')) {
		n = poll(&p, 1, ANSWER_MS);
		if (n == 1)
			n = recv(launcher.fd, launcher.answer + launcher.len,
				 ANSWER_MAX - 1 - launcher.len, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		launcher.len += (size_t)n;
		launcher.answer[launcher.len] = '\0';
	}
	return true;
}

/* Whether the rank of this job's processes is one of those that are waited for. */
static bool is_waited_for(int rank)
{
	MPI_Group world, group;
	int there = MPI_UNDEFINED;

	if (PMPI_Comm_group(MPI_COMM_WORLD, &world))
		return false;
	if (!PMPI_Comm_group(launcher.comm, &group)) {
		PMPI_Group_translate_ranks(world, 1, &rank, group, &there);
		PMPI_Group_free(&group);
	}
	PMPI_Group_free(&world);
	return there != MPI_UNDEFINED;
}

/* @list: ranks with commas between; none: nobody has died. */
static bool names_one(char *list)
{
	char *end = list, *last = strrchr(list, ',');
	int size = 0;
	long rank;

	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strlen(list) >= LIST_WHOLE && last)
		*last = '\0';
	for (rank = strtol(list, &end, 10); end != list; rank = strtol(list, &end, 10)) {
		if (rank >= 0 && rank < size && is_waited_for((int)rank))
			return true;
		list = end + (*end == ',');
	}
	return false;
}

bool launcher_misses(void)
{
	uint64_t now = now_ns();
	char *list;

	if (launcher.fd < 0 || now < launcher.due)
		return false;
	launcher.mute = !launcher_ask() || !launcher_hear();
	launcher.due = now + launcher.every;
	list = launcher.mute ? NULL : strstr(launcher.answer, " value=");
	if (!list || !strstr(launcher.answer, " rc=0 ")) {
		launcher.fd = -1;
		return false;
	}
	return names_one(list + 7);
}

void launcher_end(void)
{
	launcher.fd = -1;
}
