// SPDX-License-Identifier: GPL-2.0-only
/* pnetcdf [--ddio] FILE: PnetCDF's variables, fixed and of records, blocking and gathered. */
#include "tests/mpiio/common.h"
#include <pnetcdf.h>
#include <stdlib.h>

enum { ROWS = 24, COLS = 10, RECORDS = 4 };

#define NC(call) nc_ok((call), #call)

static void nc_ok(int err, const char *call)
{
	CHECK(err == NC_NOERR, "%.100s: %s", call, ncmpi_strerror(err));
}

static int element(MPI_Offset row, MPI_Offset col)
{
	return (int)(1000 * row + col);
}

/* A block of columns of "rows" rows. */
static void by_columns(int nc, int var, MPI_Offset rows,
		       int (*put)(int, int, const MPI_Offset *, const MPI_Offset *, const int *))
{
	MPI_Offset start[2] = { 0, (MPI_Offset)COLS * tst.rank }, count[2] = { rows, COLS }, i;
	int *v = malloc(rows * COLS * sizeof(*v));

	for (i = 0; i < rows * COLS; i++)
		v[i] = element(i / COLS, start[1] + i % COLS);
	NC(put(nc, var, start, count, v));
	free(v);
}

/* Every so many rows, read together or each alone. */
static void verify(int nc, int var, MPI_Offset rows, bool together)
{
	MPI_Offset width = (MPI_Offset)COLS * tst.size, start[2] = { tst.rank, 0 }, i;
	MPI_Offset count[2] = { (rows - tst.rank + tst.size - 1) / tst.size, width };
	MPI_Offset stride[2] = { tst.size, 1 };
	int *v;

	if (rows <= tst.rank) {
		count[0] = 0;
		start[0] = 0;
	}
	v = calloc(count[0] * width + 1, sizeof(*v));
	if (together)
		NC(ncmpi_get_vars_int_all(nc, var, start, count, stride, v));
	else
		NC(ncmpi_get_vars_int(nc, var, start, count, stride, v));
	for (i = 0; i < count[0] * width; i++)
		CHECK(v[i] == element(tst.rank + i / width * tst.size, i % width),
		      "element %lld is %d", (long long)i, v[i]);
	free(v);
}

/* Returns the file, or a number below zero. */
static int create(int format, int var[2])
{
	int nc = -1, dim[3];

	tst_remove(tst_file(".nc"));
	NC(ncmpi_create(MPI_COMM_WORLD, tst_file(".nc"), NC_CLOBBER | format, MPI_INFO_NULL, &nc));
	NC(ncmpi_def_dim(nc, "records", NC_UNLIMITED, &dim[0]));
	NC(ncmpi_def_dim(nc, "rows", ROWS, &dim[1]));
	NC(ncmpi_def_dim(nc, "columns", (MPI_Offset)COLS * tst.size, &dim[2]));
	NC(ncmpi_def_var(nc, "fixed", NC_INT, 2, dim + 1, &var[0]));
	dim[1] = dim[2];
	NC(ncmpi_def_var(nc, "growing", NC_INT, 2, dim, &var[1]));
	NC(ncmpi_put_att_text(nc, NC_GLOBAL, "title", 5, "a try"));
	NC(ncmpi_enddef(nc));
	return nc;
}

static void verify_file(void)
{
	int nc = -1, var[2] = { 0, 0 };
	char title[6] = "";

	NC(ncmpi_open(MPI_COMM_WORLD, tst_file(".nc"), NC_NOWRITE, MPI_INFO_NULL, &nc));
	NC(ncmpi_inq_varid(nc, "fixed", &var[0]));
	NC(ncmpi_inq_varid(nc, "growing", &var[1]));
	NC(ncmpi_get_att_text(nc, NC_GLOBAL, "title", title));
	CHECK(title[0] == 'a' && title[4] == 'y', "the title is %.5s", title);
	verify(nc, var[0], ROWS, true);
	verify(nc, var[1], RECORDS, true);
	NC(ncmpi_begin_indep_data(nc));
	verify(nc, var[0], ROWS, false);
	NC(ncmpi_end_indep_data(nc));
	NC(ncmpi_close(nc));
}

static void together(int format)
{
	int var[2], nc = create(format, var);

	by_columns(nc, var[0], ROWS, ncmpi_put_vara_int_all);
	by_columns(nc, var[1], RECORDS, ncmpi_put_vara_int_all);
	NC(ncmpi_close(nc));
	verify_file();
}

static void classic(void)
{
	together(NC_64BIT_OFFSET);
}

static void data64(void)
{
	together(NC_64BIT_DATA);
}

static void alone(void)
{
	int var[2], nc = create(NC_64BIT_DATA, var);

	NC(ncmpi_begin_indep_data(nc));
	by_columns(nc, var[0], ROWS, ncmpi_put_vara_int);
	NC(ncmpi_end_indep_data(nc));
	by_columns(nc, var[1], RECORDS, ncmpi_put_vara_int_all);
	NC(ncmpi_close(nc));
	verify_file();
}

/* Requests of both variables, done as one. */
static void gathered(void)
{
	int var[2], nc = create(NC_64BIT_DATA, var), request[2], status[2], k;
	MPI_Offset rows[2] = { ROWS, RECORDS }, start[2] = { 0, (MPI_Offset)COLS * tst.rank }, i;
	int *v[2];

	for (k = 0; k < 2; k++) {
		MPI_Offset count[2] = { rows[k], COLS };

		v[k] = malloc(rows[k] * COLS * sizeof(int));
		for (i = 0; i < rows[k] * COLS; i++)
			v[k][i] = element(i / COLS, start[1] + i % COLS);
		NC(ncmpi_iput_vara_int(nc, var[k], start, count, v[k], &request[k]));
	}
	NC(ncmpi_wait_all(nc, 2, request, status));
	for (k = 0; k < 2; k++) {
		CHECK(status[k] == NC_NOERR, "request %d: %s", k, ncmpi_strerror(status[k]));
		free(v[k]);
	}
	NC(ncmpi_close(nc));
	verify_file();
}

int main(int argc, char **argv)
{
	static const struct mpiio_case cases[] = { { "pnetcdf/classic", classic },
						   { "pnetcdf/data64", data64 },
						   { "pnetcdf/alone", alone },
						   { "pnetcdf/gathered", gathered } };

	tst_begin(argc, argv);
	tst_run(cases, 4);
	return tst_finish();
}
