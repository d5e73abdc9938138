// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collective calls of a file that begin with a talk of all its processes: these must be the same calls, of the same file.
 * If they are not, every process hears of it in the call that it is in, with MPI_ERR_NOT_SAME, and all can go on.
 */
#include "mpiio/abi/abi.h"

static struct together_users users;

void together_init(const struct together_users *u)
{
	users = *u;
}

static int64_t what_of(const struct mpiio_file *f, enum mpiio_call call)
{
	return (int64_t)call << 32 | f->number;
}

/* A file that a process has closed is of no further use to the others. */
static void differed(struct mpiio_file *f, const struct mpiio_file *in_call)
{
	users.stop_gathering(f, f == in_call);
	if (f->team->greatest == what_of(f, CALL_CLOSE))
		f->forsaken = true;
}

int file_differs(struct mpiio_file *f)
{
	users.each_of(f->team, differed, f);
	return TEAM_DIFFERS;
}

static int heard(struct mpiio_file *f, int ret)
{
	f->team->talks_of = NULL;
	return ret == TEAM_DIFFERS ? file_differs(f) : ret;
}

/* Others may wait meanwhile in a call of this file that this process has not made. */
static int begins(const struct mpiio_file *f)
{
	if (f->forsaken)
		return TEAM_DIFFERS;
	f->team->talks_of = f->file;
	return 0;
}

int file_max(struct mpiio_file *f, enum mpiio_call call, int64_t *numbers, int n)
{
	int ret = begins(f);

	return ret ? ret : heard(f, team_max(f->team, what_of(f, call), numbers, n));
}

int file_barrier(struct mpiio_file *f, enum mpiio_call call)
{
	return file_max(f, call, NULL, 0);
}

int file_same(struct mpiio_file *f, enum mpiio_call call, int64_t value)
{
	int ret = begins(f);

	return ret ? ret : heard(f, team_same(f->team, what_of(f, call), value));
}

int file_sum(struct mpiio_file *f, uint64_t mine, uint64_t *before, uint64_t *all)
{
	int ret = begins(f);

	return ret ? ret : heard(f, team_sum(f->team, what_of(f, CALL_ORDERED), mine, before, all));
}
