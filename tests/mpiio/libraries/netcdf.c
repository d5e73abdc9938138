// SPDX-License-Identifier: GPL-2.0-only
/* netcdf [--ddio] FILE: NetCDF-4 over parallel HDF5, together and each rank alone. */
#include "tests/mpiio/common.h"
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdlib.h>

enum { ROWS = 24, COLS = 10 };

#define NC(call) nc_ok((call), #call)

static void nc_ok(int err, const char *call)
{
	CHECK(err == NC_NOERR, "%.100s: %s", call, nc_strerror(err));
}

static int element(size_t row, size_t col)
{
	return (int)(1000 * row + col);
}

static void write_columns(int nc, int var)
{
	size_t start[2] = { 0, (size_t)COLS * tst.rank }, count[2] = { ROWS, COLS }, i;
	int v[ROWS * COLS];

	for (i = 0; i < ROWS * COLS; i++)
		v[i] = element(i / COLS, start[1] + i % COLS);
	NC(nc_put_vara_int(nc, var, start, count, v));
}

static void verify(int nc, int var)
{
	size_t width = (size_t)COLS * tst.size, start[2] = { tst.rank, 0 }, i, n;
	size_t count[2] = { (ROWS - tst.rank + tst.size - 1) / tst.size, width };
	ptrdiff_t stride[2] = { tst.size, 1 };
	int *v;

	n = count[0] * width;
	v = calloc(n, sizeof(*v));
	NC(nc_get_vars_int(nc, var, start, count, stride, v));
	for (i = 0; i < n; i++)
		CHECK(v[i] == element(tst.rank + i / width * tst.size, i % width),
		      "element %zu is %d", i, v[i]);
	free(v);
}

static void round_trip(int access, bool chunked)
{
	int nc = -1, dim[2], var = -1;
	size_t chunk[2] = { 5, 7 };

	tst_remove(tst_file(".nc4"));
	NC(nc_create_par(tst_file(".nc4"), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL,
			 &nc));
	NC(nc_def_dim(nc, "rows", ROWS, &dim[0]));
	NC(nc_def_dim(nc, "columns", (size_t)COLS * tst.size, &dim[1]));
	NC(nc_def_var(nc, "matrix", NC_INT, 2, dim, &var));
	if (chunked)
		NC(nc_def_var_chunking(nc, var, NC_CHUNKED, chunk));
	NC(nc_enddef(nc));
	NC(nc_var_par_access(nc, var, access));
	write_columns(nc, var);
	NC(nc_close(nc));
	NC(nc_open_par(tst_file(".nc4"), NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc));
	NC(nc_inq_varid(nc, "matrix", &var));
	NC(nc_var_par_access(nc, var, access));
	verify(nc, var);
	NC(nc_close(nc));
}

static void together(void)
{
	round_trip(NC_COLLECTIVE, false);
}

static void alone(void)
{
	round_trip(NC_INDEPENDENT, false);
}

static void chunks(void)
{
	round_trip(NC_COLLECTIVE, true);
}

int main(int argc, char **argv)
{
	static const struct mpiio_case cases[] = { { "netcdf/together", together },
						   { "netcdf/alone", alone },
						   { "netcdf/chunks", chunks } };

	tst_begin(argc, argv);
	tst_run(cases, 3);
	return tst_finish();
}
