// SPDX-License-Identifier: GPL-2.0-only
/* ddio lu: the matrix, and the right result. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lu.h"

/*
 * Elements off the diagonal are random, between -1 and 1; those on the diagonal are n, more than the rest of their
 * column together, so that no pivoting is needed.
 */
float lu_element(uint64_t seed, uint32_t n, uint32_t row, uint32_t col)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15ull + ((uint64_t)col << 32 | row);

	if (row == col)
		return (float)n;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return (float)((double)(z >> 11) / (double)(1ull << 52) - 1.0);
}

void lu_matrix(uint64_t seed, uint32_t n, float *a)
{
	uint32_t row, col;

	for (col = 0; col < n; col++)
		for (row = 0; row < n; row++)
			a[(size_t)col * n + row] = lu_element(seed, n, row, col);
}

void lu_update(float *a, const float *mult, float pivot, uint32_t from, uint32_t n)
{
	uint32_t row;

	for (row = from; row < n; row++)
		a[row] -= mult[row] * pivot;
}

static void lu_in_memory(float *a, uint32_t n)
{
	uint32_t i, row, col;
	float *m;

	for (i = 0; i < n; i++) {
		m = a + (size_t)i * n;
		for (row = i + 1; row < n; row++)
			m[row] /= m[i];
		for (col = i + 1; col < n; col++)
			lu_update(a + (size_t)col * n, m, a[(size_t)col * n + i], i + 1, n);
	}
}

/* Computes column @col of L U, in double precision. */
static void product(const float *lu, uint32_t n, uint32_t col, double *out)
{
	const float *u = lu + (size_t)col * n, *l;
	uint32_t k, row;

	memset(out, 0, n * sizeof(*out));
	for (k = 0; k <= col; k++) {
		l = lu + (size_t)k * n;
		out[k] += u[k];
		for (row = k + 1; row < n; row++)
			out[row] += (double)l[row] * u[k];
	}
}

static double residual_of(const struct lu_spec *spec, const float *lu, double *column)
{
	double worst = 0, off;
	uint32_t row, col;

	for (col = 0; col < spec->n; col++) {
		product(lu, spec->n, col, column);
		for (row = 0; row < spec->n; row++) {
			off = fabs(column[row] - lu_element(spec->seed, spec->n, row, col));
			if (!(off <= worst))
				worst = off;
		}
	}
	return worst / spec->n;
}

int lu_check(const struct lu_spec *spec, const float *lu, uint64_t *wrong, double *residual)
{
	size_t i, elements = (size_t)spec->n * spec->n;
	float *a = malloc(elements * sizeof(*a));
	double *column = malloc(spec->n * sizeof(*column));
	int err = a && column ? 0 : -ENOMEM;

	if (!err) {
		lu_matrix(spec->seed, spec->n, a);
		lu_in_memory(a, spec->n);
		*wrong = 0;
		for (i = 0; i < elements; i++)
			*wrong += memcmp(&a[i], &lu[i], sizeof(a[i])) != 0;
		*residual = residual_of(spec, lu, column);
	}
	free(column);
	free(a);
	return err;
}
