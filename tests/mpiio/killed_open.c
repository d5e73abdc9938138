// SPDX-License-Identifier: GPL-2.0-only
/*
 * killed_open FILE RANK STEP: all processes open FILE, the first on its communicator, and process RANK kills itself before
 * the STEP-th thing that it tells the others or connects to; the first is that it has come.  Each of the others says "told: "
 * and the text, and then whether a second attempt fails at once, and ends without the MPI, which would wait for the one that
 * has died.  If there are fewer steps all say "opened".
 *
 * They stay for a second then, or for STAY seconds: a process that has left would tell the others something, too.
 *
 * With STEP "before" it kills itself before it opens anything, after half of the others wait for it, and before the other half.
 * With "outside" it does so, too, but the file is that of the others alone.
 *
 * With "late" it does not die: it comes some seconds after the others, and all say "opened".
 *
 * With "unheard" it kills itself before the second thing, and process UNHEARD never hears that all have come.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNHEARD = 2, LATE_S = 3 };

static volatile int countdown;
static bool lingers, hears_nothing;

static void step(void)
{
	if (!countdown || __atomic_sub_fetch(&countdown, 1, __ATOMIC_RELAXED))
		return;
	/* What it has told the others goes before it. */
	if (lingers)
		usleep(1000000);
	raise(SIGKILL);
}

/* These stand before those of the MPI and the C library, which are the next. */
#define NEXT(name)                                           \
	__typeof__(&name) next;                              \
	void *found = dlsym(RTLD_NEXT, #name);               \
                                                             \
	memcpy(&next, &found, sizeof(next)); /* as in C11 */ \
	step()

int PMPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
		    MPI_Request *request)
{
	static MPI_Request kept;
	static int nothing;
	int rank;

	NEXT(PMPI_Iallreduce);
	if (!hears_nothing)
		return next(in, out, n, type, op, comm, request);
	/* It takes part, and waits for something else. */
	hears_nothing = false;
	next(in, out, n, type, op, comm, &kept);
	MPI_Comm_rank(comm, &rank);
	return MPI_Irecv(&nothing, 1, MPI_INT, rank, 1, comm, request);
}

int PMPI_Ibcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
	NEXT(PMPI_Ibcast);
	return next(buf, n, type, root, comm, request);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *dup, MPI_Request *request)
{
	NEXT(PMPI_Comm_idup);
	return next(comm, dup, request);
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	NEXT(connect);
	return next(fd, addr, len);
}

static int try(MPI_Comm comm, const char *name, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	double begun = MPI_Wtime();
	MPI_File fh;
	int len, ret;

	ret = MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
	if (ret)
		MPI_Error_string(ret, text, &len);
	printf("%s%s (%.0f s)\n", ret ? what : "opened", text, MPI_Wtime() - begun);
	fflush(stdout);
	return ret;
}

/* Of the others some come before that, and some after it. */
static void die_early(int rank, int who)
{
	unsigned int left = rank & 1 ? 3 : 0;

	if (rank == who) {
		/* What it has told the others in the barrier goes before it. */
		usleep(1500000);
		raise(SIGKILL);
	}
	/* MPICH's signal that a process has died wakes it. */
	while (left)
		left = sleep(left);
}

int main(int argc, char **argv)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	int rank, who;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	who = atoi(argv[2]);
	if (!strcmp(argv[3], "outside"))
		MPI_Comm_split(MPI_COMM_WORLD, rank == who, rank, &comm);
	MPI_Barrier(MPI_COMM_WORLD);
	lingers = !strcmp(argv[3], "unheard");
	hears_nothing = lingers && rank == UNHEARD;
	if (!strcmp(argv[3], "late"))
		sleep(rank == who ? LATE_S : 0);
	else if (!lingers && !atoi(argv[3]))
		die_early(rank, who);
	else if (rank == who)
		countdown = lingers ? 2 : atoi(argv[3]);
	if (try(comm, argv[1], "told: ")) {
		countdown = 0;
		try(comm, argv[1], "again: ");
	}
	/* What the launcher would take for the end of the job, before the others have been told. */
	sleep(getenv("STAY") ? (unsigned int)atoi(getenv("STAY")) : 1);
	_exit(0);
}
