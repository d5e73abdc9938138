// SPDX-License-Identifier: GPL-2.0-only
/*
 * linpack SECONDS [N]: each rank solves a system of N equations (320) of its own, over and over; all meet at 16 barriers in
 * each, as the computation of Kotz and Cai (1995), section 4, did.  Rank 0 prints solutions a second, and how many.
 * Fails if a solution is wrong.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BARRIERS 16
#define MOST 4096

static int n;
static double **row; /* of n coefficients and a right side, so that all unknowns are 1 */

static void make(unsigned int seed)
{
	int i, j;

	for (i = 0; i < n; i++) {
		row[i][n] = 0;
		for (j = 0; j < n; j++) {
			seed = seed * 1103515245u + 12345u;
			row[i][j] = (double)(seed >> 8) / (1 << 24) - 0.5;
			row[i][n] += row[i][j];
		}
	}
}

static void eliminate(int k)
{
	int i, j, pivot = k;
	double *top, m;

	for (i = k + 1; i < n; i++)
		if (fabs(row[i][k]) > fabs(row[pivot][k]))
			pivot = i;
	top = row[pivot];
	row[pivot] = row[k];
	row[k] = top;
	for (i = k + 1; i < n; i++) {
		m = row[i][k] / top[k];
		for (j = k + 1; j <= n; j++)
			row[i][j] -= m * top[j];
	}
}

/* Returns how far the worst unknown is from 1. */
static double substitute(void)
{
	double worst = 0;
	int i, j;

	for (i = n; i--;) {
		for (j = i + 1; j < n; j++)
			row[i][n] -= row[i][j] * row[j][n];
		row[i][n] /= row[i][i];
		if (!(fabs(row[i][n] - 1) <= worst))
			worst = fabs(row[i][n] - 1);
	}
	return worst;
}

static void solve(unsigned int seed)
{
	double off;
	int k;

	make(seed);
	for (k = 0; k < n; k++) {
		if (k % (n / BARRIERS) == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		eliminate(k);
	}
	off = substitute();
	if (!(off < 1e-6)) {
		fprintf(stderr, "linpack: an unknown is off by %g\n", off);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void measure(double seconds, int rank)
{
	double began = MPI_Wtime(), took = 0;
	int more = 1, solved = 0;

	while (more) {
		solve((unsigned int)(rank * 1000003 + ++solved));
		took = MPI_Wtime() - began;
		more = took < seconds;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("%.3f %d\n", solved / took, solved);
}

int main(int argc, char **argv)
{
	double *all;
	int rank, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	n = argc > 2 ? atoi(argv[2]) : 320;
	if (argc < 2 || n < BARRIERS || n > MOST || n % BARRIERS) {
		fprintf(stderr, "usage: linpack SECONDS [N]; N is a multiple of 16\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	all = calloc((size_t)n * (n + 1), sizeof(*all));
	row = calloc(n, sizeof(*row));
	if (!all || !row)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (i = 0; i < n; i++)
		row[i] = all + (size_t)i * (n + 1);
	measure(atof(argv[1]), rank);
	free(row);
	free(all);
	MPI_Finalize();
	return 0;
}
