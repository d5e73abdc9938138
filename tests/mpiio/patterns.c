// SPDX-License-Identifier: GPL-2.0-only
/*
 * patterns [--ddio] FILE: the patterns of well-known programs, small: IOR's segmented, strided and
 * 47,008-byte ones, BTIO's diagonal multi-partitioning, mpi-tile-io's tiles, and matrices dealt out in every way.
 */
#include "tests/mpiio/tiles.h"
#include <stdlib.h>
#include <string.h>

/* Bytes at an offset, by all ranks together. */
static void put(MPI_File fh, MPI_Offset at, unsigned char *buf, int n, uint64_t seed)
{
	MPI_Status status;

	tst_fill(buf, n, seed, at);
	OK(MPI_File_write_at_all(fh, at, buf, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, "written");
}

static void get(MPI_File fh, MPI_Offset at, unsigned char *buf, int n, uint64_t seed)
{
	MPI_Status status;

	memset(buf, 0, n);
	OK(MPI_File_read_at_all(fh, at, buf, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, "read");
	tst_same(buf, n, seed, at, "read");
}

/* Pieces of a size: rank by rank within a turn (strided), or turn by turn within a rank (segmented). */
static void ior(const char *suffix, int piece, int turns, bool segmented)
{
	MPI_File fh = tst_create(suffix);
	unsigned char *buf = malloc(piece);
	int next = (tst.rank + 1) % tst.size, i;
	MPI_Offset size = -1;

	if (fh == MPI_FILE_NULL)
		goto out;
	for (i = 0; i < turns; i++)
		put(fh,
		    (MPI_Offset)piece *
			    (segmented ? tst.rank * turns + i : i * tst.size + tst.rank),
		    buf, piece, 3);
	OK(MPI_File_sync(fh));
	tst_close(&fh);
	fh = tst_open(tst_file(suffix), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		goto out;
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == (MPI_Offset)piece * turns * tst.size, "size is %lld", (long long)size);
	for (i = 0; i < turns; i++)
		get(fh, (MPI_Offset)piece * (segmented ? next * turns + i : i * tst.size + next),
		    buf, piece, 3);
	tst_close(&fh);
	tst_remove(tst_file(suffix));
out:
	free(buf);
}

static void segmented(void)
{
	ior(".segmented", 65536, 8, true);
}

static void strided(void)
{
	ior(".strided", 65536, 8, false);
}

static void small_records(void)
{
	ior(".small", 8, 100, false);
}

static void hard(void)
{
	ior(".hard", 47008, 12, false);
}

/* All pieces of a rank in one call, by a view. */
static void hard_view(void)
{
	enum { PIECE = 47008, TURNS = 8 };
	MPI_File fh = tst_create(".hardview");
	int next = (tst.rank + 1) % tst.size, i;
	unsigned char *buf = malloc(PIECE * TURNS);
	MPI_Datatype t;

	if (fh == MPI_FILE_NULL)
		goto out;
	for (i = 0; i < TURNS; i++)
		tst_fill(buf + i * PIECE, PIECE, 4, (MPI_Offset)PIECE * (i * tst.size + tst.rank));
	MPI_Type_vector(TURNS, PIECE, PIECE * tst.size, MPI_BYTE, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_set_view(fh, (MPI_Offset)PIECE * tst.rank, MPI_BYTE, t, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_write_all(fh, buf, PIECE * TURNS, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_set_view(fh, (MPI_Offset)PIECE * next, MPI_BYTE, t, "native", MPI_INFO_NULL));
	memset(buf, 0, PIECE * TURNS);
	OK(MPI_File_read_all(fh, buf, PIECE * TURNS, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < TURNS; i++)
		tst_same(buf + i * PIECE, PIECE, 4, (MPI_Offset)PIECE * (i * tst.size + next),
			 "piece");
	MPI_Type_free(&t);
	tst_close(&fh);
	tst_remove(tst_file(".hardview"));
out:
	free(buf);
}

/*
 * BTIO: a cube of q x q x q cells of edge "cell" points of 5 doubles, q*q ranks; a rank has q cells, one of
 * each layer, along a diagonal.  With other numbers of ranks those beyond q*q have nothing.
 */
enum { CELL = 6, DOUBLES = 5, STEPS = 3 };

static int cells_edge(void)
{
	int q = 1;

	while ((q + 1) * (q + 1) <= tst.size)
		q++;
	return q;
}

/* The cell of a layer that belongs to a rank of the grid. */
static void cell_start(int rank, int q, int layer, int start[4])
{
	start[0] = CELL * layer;
	start[1] = CELL * ((rank / q + layer) % q);
	start[2] = CELL * ((rank % q + q - layer % q) % q);
	start[3] = 0;
}

/* One file type of q nested subarrays, side by side in the order of the layers. */
static MPI_Datatype diagonal(int rank, int q)
{
	int edge = CELL * q, size[4] = { edge, edge, edge, DOUBLES };
	int cell[4] = { CELL, CELL, CELL, DOUBLES }, start[4], layer, *len;
	MPI_Datatype *cells = calloc(q, sizeof(*cells)), all;
	MPI_Aint *at = calloc(q, sizeof(*at));

	len = calloc(q, sizeof(*len));
	for (layer = 0; layer < q; layer++) {
		len[layer] = 1;
		cell_start(rank, q, layer, start);
		MPI_Type_create_subarray(4, size, cell, start, MPI_ORDER_C, MPI_DOUBLE,
					 &cells[layer]);
	}
	MPI_Type_create_struct(q, len, at, cells, &all);
	MPI_Type_commit(&all);
	for (layer = 0; layer < q; layer++)
		MPI_Type_free(&cells[layer]);
	free(cells);
	free(at);
	free(len);
	return all;
}

/* The value of the k-th double of a rank: its place in the cube, and the step. */
static double bt_value(int rank, int q, int k, int step)
{
	int start[4], edge = CELL * q, in = k % (CELL * CELL * CELL * DOUBLES);
	int x, y, z;

	cell_start(rank, q, k / (CELL * CELL * CELL * DOUBLES), start);
	x = start[0] + in / (CELL * CELL * DOUBLES);
	y = start[1] + in / (CELL * DOUBLES) % CELL;
	z = start[2] + in / DOUBLES % CELL;
	return 1e7 * step + (((double)x * edge + y) * edge + z) * DOUBLES + in % DOUBLES;
}

/* In memory a cell has a border of two points on each side. */
static MPI_Datatype bordered(int q)
{
	int size[5] = { q, CELL + 4, CELL + 4, CELL + 4, DOUBLES };
	int inner[5] = { q, CELL, CELL, CELL, DOUBLES }, start[5] = { 0, 2, 2, 2, 0 };
	MPI_Datatype t;

	MPI_Type_create_subarray(5, size, inner, start, MPI_ORDER_C, MPI_DOUBLE, &t);
	MPI_Type_commit(&t);
	return t;
}

/* Puts the values in their places in memory, or compares them with these. */
static void bt_memory(double *mem, int rank, int q, int step, bool fill)
{
	int k, n = q * CELL * CELL * CELL * DOUBLES, edge = CELL + 4;

	for (k = 0; k < n; k++) {
		int cell = k / (CELL * CELL * CELL * DOUBLES), d = k % DOUBLES, p = k / DOUBLES;
		int z = p % CELL + 2, y = p / CELL % CELL + 2, x = p / CELL / CELL % CELL + 2;
		double *at = mem + ((((cell * edge + x) * edge + y) * edge + z) * DOUBLES + d);

		if (fill)
			*at = bt_value(rank, q, k, step);
		else
			CHECK(*at == bt_value(rank, q, k, step), "step %d, double %d is %g", step,
			      k, *at);
	}
}

static void btio(void)
{
	int q = cells_edge(), works = tst.rank < q * q, step, edge = CELL * q;
	int all = edge * edge * edge * DOUBLES, i, count = works;
	int room = q * (CELL + 4) * (CELL + 4) * (CELL + 4) * DOUBLES;
	double *mem = calloc(room, sizeof(*mem)), *whole = malloc(all * sizeof(*whole));
	MPI_Datatype file = diagonal(works ? tst.rank : 0, q), t = bordered(q);
	MPI_Offset each = (MPI_Offset)q * CELL * CELL * CELL * DOUBLES;
	MPI_File fh = tst_create(".btio");

	if (fh == MPI_FILE_NULL)
		goto out;
	OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, file, "native", MPI_INFO_NULL));
	for (step = 0; step < STEPS; step++) {
		bt_memory(mem, tst.rank, q, step, true);
		OK(MPI_File_write_at_all(fh, each * step, mem, count, t, MPI_STATUS_IGNORE));
	}
	tst_sync(fh);
	for (step = 0; step < STEPS; step++) {
		memset(mem, 0, room * sizeof(*mem));
		OK(MPI_File_read_at_all(fh, each * step, mem, count, t, MPI_STATUS_IGNORE));
		if (works)
			bt_memory(mem, tst.rank, q, step, false);
	}
	OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, (MPI_Offset)all * (STEPS - 1), whole, all, MPI_DOUBLE,
				MPI_STATUS_IGNORE));
	for (i = 0; i < all; i++)
		CHECK(whole[i] == 1e7 * (STEPS - 1) + i, "of the cube, double %d is %g", i,
		      whole[i]);
	tst_close(&fh);
	tst_remove(tst_file(".btio"));
out:
	MPI_Type_free(&file);
	MPI_Type_free(&t);
	free(mem);
	free(whole);
}

/* The papers' matrix: each dimension NONE, BLOCK or CYCLIC; records of one element. */
enum { ROWS = 32, COLS = 24 };

static const int dists[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };

/* A dimension's ranks: those that are left go to the second dimension, if it is dealt out at all. */
static void grid(const int dist[2], int procs[2])
{
	procs[0] = dist[0] == MPI_DISTRIBUTE_NONE ? 1 : 0;
	procs[1] = dist[1] == MPI_DISTRIBUTE_NONE ? 1 : 0;
	if (procs[0] && procs[1])
		return;
	MPI_Dims_create(tst.size, 2, procs);
}

static int owner_in(int dist, int size, int procs, int c)
{
	if (dist == MPI_DISTRIBUTE_NONE)
		return 0;
	return dist == MPI_DISTRIBUTE_BLOCK ? c / ((size + procs - 1) / procs) : c % procs;
}

/* (NONE, NONE) belongs to rank 0 alone. */
static int places(const int dist[2], const int procs[2], int *place)
{
	int i, n = 0, owner;

	for (i = 0; i < ROWS * COLS; i++) {
		owner = owner_in(dist[0], ROWS, procs[0], i / COLS) * procs[1] +
			owner_in(dist[1], COLS, procs[1], i % COLS);
		if (owner == tst.rank)
			place[n++] = i;
	}
	return n;
}

static void set_matrix_view(MPI_File fh, const int dist[2], const int procs[2])
{
	int size[2] = { ROWS, COLS }, ranks = procs[0] * procs[1];
	int arg[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
	MPI_Datatype t;

	MPI_Type_create_darray(ranks, tst.rank % ranks, 2, size, dist, arg, procs, MPI_ORDER_C,
			       MPI_DOUBLE, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, t, "native", MPI_INFO_NULL));
	MPI_Type_free(&t);
}

static void matrix(MPI_File fh, const int dist[2], double base)
{
	int procs[2], place[ROWS * COLS], n, i;
	double v[ROWS * COLS];
	MPI_Status status;

	grid(dist, procs);
	n = places(dist, procs, place);
	set_matrix_view(fh, dist, procs);
	for (i = 0; i < n; i++)
		v[i] = base + place[i];
	OK(MPI_File_write_all(fh, v, n, MPI_DOUBLE, &status));
	tst_count(&status, MPI_DOUBLE, n, "written");
	tst_sync(fh);
	memset(v, 0, sizeof(v));
	OK(MPI_File_read_at_all(fh, 0, v, n, MPI_DOUBLE, &status));
	tst_count(&status, MPI_DOUBLE, n, "read");
	for (i = 0; i < n; i++)
		CHECK(v[i] == base + place[i], "my element %d is %g", i, v[i]);
	OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, 0, v, ROWS * COLS, MPI_DOUBLE, MPI_STATUS_IGNORE));
	for (i = 0; i < ROWS * COLS; i++)
		CHECK(v[i] == base + i, "of (%d, %d), element %d is %g", dist[0], dist[1], i, v[i]);
	tst_barrier();
}

static void papers(void)
{
	MPI_File fh = tst_create(".papers");
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 9; i++)
		matrix(fh, (const int[2]){ dists[i / 3], dists[i % 3] }, 1e6 * i);
	tst_close(&fh);
}

int main(int argc, char **argv)
{
	static const struct mpiio_case cases[] = {
		{ "patterns/segmented", segmented },
		{ "patterns/strided", strided },
		{ "patterns/small_records", small_records },
		{ "patterns/hard", hard },
		{ "patterns/hard_view", hard_view },
		{ "patterns/btio", btio },
		{ "patterns/tiles", tiles_apart },
		{ "patterns/tiles_overlapping", tiles_overlapping },
		{ "patterns/papers", papers },
	};

	tst_begin(argc, argv);
	tst_run(cases, sizeof(cases) / sizeof(cases[0]));
	return tst_finish();
}
