// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait [MILLIONS]: what a call of MPI_Wait() and its kin costs a program that has no file of ddio: nanoseconds of processor
 * time, mean of MILLIONS (20) of calls, the least of five such loops.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static MPI_Request none = MPI_REQUEST_NULL, pending, some[4];
static MPI_Status status;
static int flag;

static void test_none(void)
{
	MPI_Test(&none, &flag, &status);
}

static void wait_none(void)
{
	MPI_Wait(&none, &status);
}

static void testall_none(void)
{
	MPI_Testall(4, some, &flag, MPI_STATUSES_IGNORE);
}

static void test_pending(void)
{
	MPI_Test(&pending, &flag, &status);
}

/* Other work on the machine does not count. */
static double processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double loop(void (*call)(void), long n)
{
	double begun = processor_ns();
	long i;

	for (i = 0; i < n; i++)
		call();
	return (processor_ns() - begun) / (double)n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
		int share; /* one loop has so many times fewer calls */
	} calls[] = {
		{ "MPI_Test, of none", test_none, 1 },
		{ "MPI_Wait, of none", wait_none, 1 },
		{ "MPI_Testall, of four that are none", testall_none, 1 },
		{ "MPI_Test, of a receive under way", test_pending, 8 },
	};
	long n = (long)((argc > 1 ? atof(argv[1]) : 20) * 1000000);
	size_t i;
	int k, in;

	MPI_Init(&argc, &argv);
	for (k = 0; k < 4; k++)
		some[k] = MPI_REQUEST_NULL;
	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &pending);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		double least = 1e9, t;

		for (k = 0; k < 5; k++) {
			t = loop(calls[i].call, n / calls[i].share);
			least = t < least ? t : least;
		}
		printf("%s: %.2f\n", calls[i].name, least);
	}
	MPI_Cancel(&pending);
	MPI_Wait(&pending, &status);
	MPI_Finalize();
	return 0;
}
