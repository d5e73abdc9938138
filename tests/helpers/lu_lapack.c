// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a decomposition with LAPACK's.
 *
 *   lu_lapack MATRIX RESULT N    both N x N floats by column
 *
 * LAPACK pivots; each column of the matrix is dominated by its diagonal, so it finds nothing to
 * exchange, and that is checked.  Prints the largest difference beside the largest element, and
 * fails if that is beyond what rounding explains.
 */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static float *load(const char *path, size_t elements)
{
	float *a = malloc(elements * sizeof(*a));
	FILE *f = fopen(path, "r");
	size_t got = a && f ? fread(a, sizeof(*a), elements, f) : 0;

	if (f)
		fclose(f);
	if (got == elements)
		return a;
	fprintf(stderr, "lu_lapack: %s: not %zu floats\n", path, elements);
	free(a);
	return NULL;
}

static double difference(const float *a, const float *b, size_t elements)
{
	double worst = 0, largest = 0, off;
	size_t i;

	for (i = 0; i < elements; i++) {
		off = fabs((double)a[i] - b[i]);
		if (!(off <= worst))
			worst = off;
		if (fabs(a[i]) > largest)
			largest = fabs(a[i]);
	}
	return worst / largest;
}

static int compare(float *a, const float *lu, lapack_int n)
{
	lapack_int *pivot = malloc((size_t)n * sizeof(*pivot)), i, err, moved = 0;
	double off;

	if (!pivot)
		return 1;
	err = LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, a, n, pivot);
	for (i = 0; i < n; i++)
		moved += pivot[i] != i + 1;
	free(pivot);
	off = difference(a, lu, (size_t)n * (size_t)n);
	printf("sgetrf %d, rows exchanged %d, largest difference %.2g of the largest element\n",
	       (int)err, (int)moved, off);
	return err || moved || !(off < 1e-6 * (double)n);
}

int main(int argc, char **argv)
{
	lapack_int n = argc == 4 ? atoi(argv[3]) : 0;
	float *a, *lu;
	int ret = 1;

	if (n < 1 || n > 16384) {
		fprintf(stderr, "usage: lu_lapack MATRIX RESULT N\n");
		return 2;
	}
	a = load(argv[1], (size_t)n * (size_t)n);
	lu = load(argv[2], (size_t)n * (size_t)n);
	if (a && lu)
		ret = compare(a, lu, n);
	free(a);
	free(lu);
	return ret;
}
