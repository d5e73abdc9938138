// SPDX-License-Identifier: GPL-2.0-only
/*
 * killed FILE CALL [RANK]: all processes make a collective call again and again, and process RANK kills itself before its
 * fifth, where the others wait for it.  Each of those says "told: " and the text when a call has failed, and ends without
 * the MPI, which would wait for the one that has died.  With "stop" instead of a call all write until an error comes, and
 * rank 0 says "running" when five have been made.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 5, LARGE = 300000, RANKS = 64 };

static int rank, nprocs, round_now, who = -1;
static char buf[LARGE];
static pid_t pids[RANKS];
static const char *path;
static MPI_File fh;

static int write_small(void)
{
	return MPI_File_write_at_all(fh, (MPI_Offset)8 * (round_now % 1000 * nprocs + rank), buf, 8,
				     MPI_BYTE, MPI_STATUS_IGNORE);
}

static int write_large(void)
{
	return MPI_File_write_at_all(fh, (MPI_Offset)LARGE * rank, buf, LARGE, MPI_BYTE,
				     MPI_STATUS_IGNORE);
}

static int read_large(void)
{
	return MPI_File_read_at_all(fh, (MPI_Offset)LARGE * rank, buf, LARGE, MPI_BYTE,
				    MPI_STATUS_IGNORE);
}

static int write_atomic(void)
{
	int ret = round_now ? MPI_SUCCESS : MPI_File_set_atomicity(fh, 1);

	return ret ? ret : write_large();
}

static int write_ordered(void)
{
	return MPI_File_write_ordered(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int write_nonblocking(void)
{
	MPI_Request r;
	int ret = MPI_File_iwrite_at_all(fh, (MPI_Offset)LARGE * rank, buf, LARGE, MPI_BYTE, &r);

	return ret ? ret : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int write_split(void)
{
	int ret = MPI_File_write_at_all_begin(fh, (MPI_Offset)LARGE * rank, buf, LARGE, MPI_BYTE);

	return ret ? ret : MPI_File_write_at_all_end(fh, buf, MPI_STATUS_IGNORE);
}

static int set_view(void)
{
	return MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static int set_size(void)
{
	return MPI_File_set_size(fh, 1000 + round_now);
}

static int preallocate(void)
{
	return MPI_File_preallocate(fh, 1000 + round_now);
}

static int set_atomicity(void)
{
	return MPI_File_set_atomicity(fh, round_now & 1);
}

static int seek_shared(void)
{
	return MPI_File_seek_shared(fh, round_now, MPI_SEEK_SET);
}

static int sync_all(void)
{
	return MPI_File_sync(fh);
}

static int read_ordered(void)
{
	return MPI_File_read_ordered(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int write_shared(void)
{
	return MPI_File_write_shared(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int set_info(void)
{
	return MPI_File_set_info(fh, MPI_INFO_NULL);
}

static void die(void)
{
	if (rank == who && round_now == CALLS - 1)
		raise(SIGKILL);
}

/* It dies with the file open that the others close, and before. */
static int close_it(void)
{
	MPI_File more;
	int ret = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &more);

	if (ret)
		return ret;
	die();
	return MPI_File_close(&more);
}

/* It dies between the beginning and the end. */
static int between(void)
{
	int ret = MPI_File_write_at_all_begin(fh, (MPI_Offset)LARGE * rank, buf, LARGE, MPI_BYTE);

	if (ret)
		return ret;
	die();
	return MPI_File_write_at_all_end(fh, buf, MPI_STATUS_IGNORE);
}

/* As long as another process is there. */
static void outlive_others(void)
{
	int i, there = 1;

	while (there) {
		usleep(100000);
		for (i = there = 0; i < nprocs; i++)
			there += i != rank && !kill(pids[i], 0);
	}
}

/* It leaves a child behind, that has its connections, but for those to the launcher, until the others have ended. */
static int with_child(void)
{
	const char *launcher = getenv("PMI_FD");

	if (rank == who && round_now == CALLS - 2 && !fork()) {
		setsid();
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		if (launcher)
			close(atoi(launcher));
		outlive_others();
		_exit(0);
	}
	return write_large();
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{ "write_small", write_small },
	{ "write_large", write_large },
	{ "read_large", read_large },
	{ "write_atomic", write_atomic },
	{ "write_ordered", write_ordered },
	{ "write_nonblocking", write_nonblocking },
	{ "write_split", write_split },
	{ "set_view", set_view },
	{ "set_size", set_size },
	{ "preallocate", preallocate },
	{ "set_atomicity", set_atomicity },
	{ "seek_shared", seek_shared },
	{ "sync", sync_all },
	{ "read_ordered", read_ordered },
	{ "write_shared", write_shared },
	{ "set_info", set_info },
	{ "close", close_it },
	{ "between", between },
	{ "with_child", with_child },
	{ "stop", write_large },
};
enum { NCALLS = sizeof(calls) / sizeof(calls[0]) };

static void say(const char *what, int code)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len = 0;

	if (code)
		MPI_Error_string(code, text, &len);
	printf("%s%s\n", what, text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int stop, ret = MPI_SUCCESS, i = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	if (nprocs > RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	pids[rank] = getpid();
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, pids, sizeof(pid_t), MPI_BYTE,
		      MPI_COMM_WORLD);
	while (argc > 2 && i < NCALLS && strcmp(argv[2], calls[i].name))
		i++;
	if (argc > 3)
		who = atoi(argv[3]);
	path = argc > 1 ? argv[1] : "";
	stop = argc > 2 && !strcmp(argv[2], "stop");
	if (argc < 3 || i == NCALLS ||
	    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			  &fh))
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_File_set_size(fh, (MPI_Offset)LARGE * nprocs);
	for (; !ret; round_now++) {
		if (calls[i].call != close_it && calls[i].call != between)
			die(); /* these do so themselves */
		if (stop && !rank && round_now == CALLS)
			say("running", 0);
		ret = calls[i].call();
	}
	say("told: ", ret);
	/* What the launcher would take for the end of the job, before the others have been told. */
	sleep(1);
	_exit(0);
}
