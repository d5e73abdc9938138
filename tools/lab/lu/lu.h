/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Out-of-core LU decomposition, the application of TR95-251: a matrix of floats is stored column by
 * column in a file, and the processes hold a slab of it at a time.
 */
#ifndef TOOLS_LU_H
#define TOOLS_LU_H

#include <stdatomic.h>
#include "tools/lab/bench/bench.h"

#define LU_MAX_N 16384

/**
 * struct lu_spec - one decomposition
 * @n: rows and columns
 * @slab: columns that a process holds
 * @cps: processes
 * @method: enum ddio_method; TC reads and writes column by column, each process for itself
 * @layout, @block, @seed: of the file
 * @xfer_flags: of collective transfers
 * @flop_ns: cost of an operation in virtual time
 * @name: of the file
 */
struct lu_spec {
	uint32_t n, slab, cps;
	uint32_t method, layout, xfer_flags;
	uint64_t block, seed;
	double flop_ns;
	const char *name;
};

/**
 * struct lu_shared - what the processes share
 * @failed, @error: the first failure's text
 * @elapsed_ns: from the first barrier to the last
 * @scale: real time for one second of the disks' time
 * @app_read, @app_write: bytes that the application read and wrote
 * @disk_read, @disk_write: bytes of disk traffic
 * @flops: of all processes
 * @wrong: elements that differ from the result of the same operations in memory
 * @residual: the largest element of A - L U, relative to the largest of A
 * @mult: multipliers of two columns, the even and the odd ones', @stride apart
 */
struct lu_shared {
	_Atomic uint32_t failed;
	char error[1024];
	uint64_t elapsed_ns;
	double scale;
	_Atomic uint64_t app_read, app_write, flops;
	uint64_t disk_read, disk_write;
	uint64_t wrong;
	double residual;
	uint64_t bytes;
	uint32_t stride;
	float mult[];
};

/* NULL: out of memory. */
struct lu_shared *lu_shared_new(const struct lu_spec *spec);
void lu_shared_free(struct lu_shared *sh);

/* Runs one process.  Rank 0 leaves the factors in @result if it is not NULL.  Return: the exit code. */
int lu_cp(const struct lu_spec *spec, struct lu_shared *sh, uint32_t rank,
	  const struct bench_world *world, float *result);

/* The matrix: column-major, each column dominated by its diagonal. */
float lu_element(uint64_t seed, uint32_t n, uint32_t row, uint32_t col);
void lu_matrix(uint64_t seed, uint32_t n, float *a);
/* Subtracts m * b[] from a[], over the rows from @from on. */
void lu_update(float *a, const float *mult, float pivot, uint32_t from, uint32_t n);
/* Compares @lu with what the same operations give in memory, and L U with the matrix. */
int lu_check(const struct lu_spec *spec, const float *lu, uint64_t *wrong, double *residual);

struct opt_cmd;
/* ddio lu, ddio matrix. */
int cmd_lu(int argc, char **argv);
int cmd_matrix(int argc, char **argv);
extern const struct opt_cmd opts_lu, opts_matrix;

#endif /* TOOLS_LU_H */
