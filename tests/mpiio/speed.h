/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs that measure have in common. */
#ifndef DDIO_TEST_SPEED_H
#define DDIO_TEST_SPEED_H

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, nprocs;

static inline void speed_begin(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
}

/* Hints from the arguments "HINT=VALUE" from @a on. */
static inline MPI_Info speed_hints(int argc, char **argv, int a)
{
	MPI_Info info;

	MPI_Info_create(&info);
	for (; a < argc; a++) {
		char *equals = strchr(argv[a], '=');

		if (equals)
			*equals = '\0';
		MPI_Info_set(info, argv[a], equals ? equals + 1 : "");
	}
	return info;
}

/*
 * The kernel's pages of a file that has been synced go, wherever it lies; what has no file there has none.
 */
static inline void speed_drop_pages(const char *name)
{
	int fd;

	MPI_Barrier(MPI_COMM_WORLD);
	fd = rank ? -1 : open(name, O_RDONLY);
	if (fd >= 0) {
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

/* Each figure is the median of so many calls. */
enum { SPEED_CALLS = 3 };

/* Processes of one machine have one clock. */
static inline double speed_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline int speed_compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Seconds from when the first process begins the call until the last has returned from it, as IOR has it: what an MPI's
 * barrier costs is not counted, which with more processes than processors may be a multiple of the call.  @before may be NULL.
 */
static inline double speed_timed(void (*before)(void *arg), void (*call)(void *arg), void *arg)
{
	double took[SPEED_CALLS], mine[2], most[2];
	int i;

	for (i = 0; i < SPEED_CALLS; i++) {
		if (before)
			before(arg);
		MPI_Barrier(MPI_COMM_WORLD);
		mine[0] = -speed_now();
		call(arg);
		mine[1] = speed_now();
		MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		took[i] = most[1] + most[0];
	}
	qsort(took, SPEED_CALLS, sizeof(*took), speed_compare);
	return took[SPEED_CALLS / 2];
}

static inline void speed_say(const char *pattern, const char *what, double bytes, double seconds)
{
	if (!rank)
		printf("%s %s %.1f\n", pattern, what, bytes / 1e6 / seconds);
	fflush(stdout);
}

#endif /* DDIO_TEST_SPEED_H */
