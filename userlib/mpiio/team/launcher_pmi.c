// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPICH's launcher knows which processes of a job have died on any machine, and tells whoever asks for PMI_dead_processes by the
 * connection over which the MPI has asked it at its start: PMI, version 1, a line there and one back.  The MPI itself may use that in
 * any of its calls, to find the address of a process for instance; so a question is over, with its answer, before the next of them.
 */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "mpiio/team/launcher_way.h"

enum { ANSWER_MAX = 2048, ANSWER_MS = 10000 };

/* Of a longer list the launcher may have cut the last number. */
#define LIST_WHOLE 1000

/* @fd: the connection; @answer: as far as it has come */
static struct {
	int fd;
	size_t len;
	char answer[ANSWER_MAX];
} pmi;

/* Its kin have launchers of their own, and some speak PMI in another version. */
static bool is_mpich(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	return !PMPI_Get_library_version(text, &len) && !strncmp(text, "MPICH Version:", 14) &&
	       !strstr(text, "pmi2") && !strstr(text, "pmix");
}

/* Whether there is a connection to a launcher that can be asked. */
static bool pmi_find(void)
{
	const char *fd = getenv("PMI_FD");
	socklen_t len = sizeof(int);
	int kind;

	if (!fd || !getenv("MPI_LOCALNRANKS") || getenv("MPIR_CVAR_PMI_VERSION") || !is_mpich() ||
	    getsockopt(atoi(fd), SOL_SOCKET, SO_TYPE, &kind, &len) || kind != SOCK_STREAM)
		return false;
	pmi.fd = atoi(fd);
	return true;
}

static bool pmi_send(void)
{
	static const char line[] = "cmd=get kvsname=ddio key=PMI_dead_processes\n";

	pmi.len = 0;
	pmi.answer[0] = '\0';
	return send(pmi.fd, line, sizeof(line) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(line) - 1;
}

/* Returns true if all of the answer has come. */
static bool pmi_hear(void)
{
	struct pollfd p = { .fd = pmi.fd, .events = POLLIN };
	ssize_t n;

	while (!strchr(pmi.answer, '\n')) {
		n = poll(&p, 1, ANSWER_MS);
		if (n == 1)
			n = recv(pmi.fd, pmi.answer + pmi.len, ANSWER_MAX - 1 - pmi.len,
				 MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		pmi.len += (size_t)n;
		pmi.answer[pmi.len] = '\0';
	}
	return true;
}

/* @list: ranks with commas between; none: nobody has died. */
static bool names_one(char *list, bool (*concerns)(int rank))
{
	char *end = list, *last = strrchr(list, ',');
	int size = 0;
	long rank;

	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strlen(list) >= LIST_WHOLE && last)
		*last = '\0';
	for (rank = strtol(list, &end, 10); end != list; rank = strtol(list, &end, 10)) {
		if (rank >= 0 && rank < size && concerns((int)rank))
			return true;
		list = end + (*end == ',');
	}
	return false;
}

static int pmi_ask(bool (*concerns)(int rank), const char *group)
{
	char *list;

	(void)group;
	if (!pmi_send() || !pmi_hear())
		return -EIO;
	list = strstr(pmi.answer, " value=");
	if (!list || !strstr(pmi.answer, " rc=0 "))
		return -ENOTSUP;
	return names_one(list + 7, concerns);
}

const struct launcher_way launcher_pmi = { .find = pmi_find, .ask = pmi_ask };
