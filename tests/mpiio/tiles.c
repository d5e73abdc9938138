// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi-tile-io's pattern: a dense matrix behind a header, dealt out in tiles that overlap their neighbours, as the parts of a
 * picture on a wall of displays do.  Elements are of several sizes; all processes write the same bytes where they overlap.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/mpiio/tiles.h"

enum { HEADER = 13, WIDTH = 10, HEIGHT = 7, SEED = 5 };

/* One way to run it: bytes of an element, columns and rows that neighbours share, and whether all do it together. */
struct tiles {
	int element, over_x, over_y;
	bool all;
	int procs[2], at[2], size[2], tile[2];
	MPI_Datatype type, view;
};

/* A type of elements; the tile in the matrix; this process's place, row by row. */
static void tiles_make(struct tiles *t)
{
	int place[2], d;

	t->procs[0] = t->procs[1] = 0;
	MPI_Dims_create(tst.size, 2, t->procs);
	t->tile[0] = HEIGHT;
	t->tile[1] = WIDTH;
	place[0] = tst.rank / t->procs[1];
	place[1] = tst.rank % t->procs[1];
	for (d = 0; d < 2; d++) {
		int step = t->tile[d] - (d ? t->over_x : t->over_y);

		t->at[d] = place[d] * step;
		t->size[d] = step * (t->procs[d] - 1) + t->tile[d];
	}
	MPI_Type_contiguous(t->element, MPI_BYTE, &t->type);
	MPI_Type_commit(&t->type);
	MPI_Type_create_subarray(2, t->size, t->tile, t->at, MPI_ORDER_C, t->type, &t->view);
	MPI_Type_commit(&t->view);
}

/* The place in the file of a row of this process's tile. */
static MPI_Offset row_at(const struct tiles *t, int row)
{
	return HEADER + (MPI_Offset)((t->at[0] + row) * t->size[1] + t->at[1]) * t->element;
}

static void tile_written(const struct tiles *t, MPI_File fh, unsigned char *buf)
{
	int row, bytes = WIDTH * t->element;
	MPI_Status status;

	for (row = 0; row < HEIGHT; row++)
		tst_fill(buf + row * bytes, bytes, SEED, row_at(t, row));
	if (t->all)
		OK(MPI_File_write_all(fh, buf, WIDTH * HEIGHT, t->type, &status));
	else
		OK(MPI_File_write(fh, buf, WIDTH * HEIGHT, t->type, &status));
	tst_count(&status, t->type, WIDTH * HEIGHT, "written");
}

static void tile_read(const struct tiles *t, MPI_File fh, unsigned char *buf)
{
	int row, bytes = WIDTH * t->element;
	MPI_Status status;

	memset(buf, 0, HEIGHT * bytes);
	if (t->all)
		OK(MPI_File_read_at_all(fh, 0, buf, WIDTH * HEIGHT, t->type, &status));
	else
		OK(MPI_File_read_at(fh, 0, buf, WIDTH * HEIGHT, t->type, &status));
	tst_count(&status, t->type, WIDTH * HEIGHT, "read");
	for (row = 0; row < HEIGHT; row++)
		tst_same(buf + row * bytes, bytes, SEED, row_at(t, row), "a row of the tile");
}

/* Behind the header lies the whole matrix, and nothing else. */
static void matrix_whole(const struct tiles *t, MPI_File fh)
{
	int bytes = t->size[0] * t->size[1] * t->element;
	unsigned char *whole = malloc(HEADER + bytes);
	MPI_Offset size = -1;

	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == HEADER + bytes, "the file has %lld bytes", (long long)size);
	OK(MPI_File_read_at_all(fh, 0, whole, HEADER + bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_zeros(whole, HEADER, "the header");
	tst_same(whole + HEADER, bytes, SEED, HEADER, "the matrix");
	free(whole);
}

static void tile_io(int element, int over_x, int over_y, bool all)
{
	struct tiles t = { .element = element, .over_x = over_x, .over_y = over_y, .all = all };
	unsigned char *buf = malloc((size_t)WIDTH * HEIGHT * element);
	MPI_File fh = tst_create(".tiles");

	if (fh == MPI_FILE_NULL) {
		free(buf);
		return;
	}
	tiles_make(&t);
	OK(MPI_File_set_view(fh, HEADER, t.type, t.view, "native", MPI_INFO_NULL));
	tile_written(&t, fh, buf);
	tst_sync(fh);
	tile_read(&t, fh, buf);
	matrix_whole(&t, fh);
	tst_close(&fh);
	tst_remove(tst_file(".tiles"));
	MPI_Type_free(&t.view);
	MPI_Type_free(&t.type);
	free(buf);
}

void tiles_apart(void)
{
	static const int elements[] = { 1, 3, 8, 32, 1024 };
	size_t i;

	for (i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		tile_io(elements[i], 0, 0, true);
	tile_io(32, 0, 0, false);
}

void tiles_overlapping(void)
{
	static const int elements[] = { 1, 3, 8, 32, 1024 };
	size_t i;

	for (i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		tile_io(elements[i], 3, 2, true);
		tile_io(elements[i], 0, 1, true);
	}
	tile_io(1, WIDTH - 1, HEIGHT - 1, true);
	tile_io(8, 3, 2, false);
}
