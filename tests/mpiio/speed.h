/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs that measure have in common. */
#ifndef DDIO_TEST_SPEED_H
#define DDIO_TEST_SPEED_H

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
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

static inline void speed_say(const char *pattern, const char *what, double bytes, double seconds)
{
	if (!rank)
		printf("%s %s %.1f\n", pattern, what, bytes / 1e6 / seconds);
}

#endif /* DDIO_TEST_SPEED_H */
