// SPDX-License-Identifier: GPL-2.0-only
/* barrier [TIMES]: what MPI_Barrier() takes on MPI_COMM_WORLD, in us, mean of TIMES (2000) calls one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 2000, i;
	double begun;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	begun = MPI_Wtime();
	for (i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("barrier %.2f\n", (MPI_Wtime() - begun) * 1e6 / (double)n);
	MPI_Finalize();
	return 0;
}
