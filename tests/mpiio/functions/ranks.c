// SPDX-License-Identifier: GPL-2.0-only
/* Ranks that do not do the same in a collective call: all of them get an error, or all go on; nobody hangs. */
#include "tests/mpiio/functions/functions.h"
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

/* What the last rank gives. */
struct odd {
	const char *what;
	int count;
	bool typed; /* by a type that is none */
	MPI_Offset offset;
};

static const struct odd odds[] = {
	{ "a negative count", -1, true, 0 },
	{ "no type", 1, false, 0 },
	{ "a negative offset", 1, true, -4 },
	{ "an offset beyond all files", 1, true, (MPI_Offset)1 << 61 },
};

enum odd_call { READ, WRITE, IREAD, IWRITE, SPLIT, ORDERED, HOW_COUNT };

static int one_call(MPI_File fh, enum odd_call how, const struct odd *o, int *v)
{
	MPI_Datatype type = o->typed ? MPI_INT : MPI_DATATYPE_NULL;
	MPI_Request r = MPI_REQUEST_NULL;
	int rc;

	switch (how) {
	case READ:
		return MPI_File_read_at_all(fh, o->offset, v, o->count, type, MPI_STATUS_IGNORE);
	case WRITE: /* what the others wrote may still be gathered: then they hear later */
		rc = MPI_File_write_at_all(fh, o->offset, v, o->count, type, MPI_STATUS_IGNORE);
		return MPI_File_sync(fh) ? MPI_ERR_OTHER : rc;
	case IREAD:
		rc = MPI_File_iread_at_all(fh, o->offset, v, o->count, type, &r);
		return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
	case IWRITE:
		rc = MPI_File_iwrite_at_all(fh, o->offset, v, o->count, type, &r);
		return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
	case SPLIT:
		rc = MPI_File_read_at_all_begin(fh, o->offset, v, o->count, type);
		return rc ? rc : MPI_File_read_at_all_end(fh, v, MPI_STATUS_IGNORE);
	default:
		return MPI_File_write_ordered(fh, v, o->count, type, MPI_STATUS_IGNORE);
	}
}

/* The ranks before the last do it well, and hear of it all the same; then all can go on. */
static void one_is_wrong(void)
{
	const struct odd well = { "", 1, true, 4 * tst.rank };
	MPI_File fh;
	size_t i;
	int how, v, rc;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".odd");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (i = 0; i < sizeof(odds) / sizeof(odds[0]); i++) {
		for (how = 0; how < HOW_COUNT; how++) {
			if (how == ORDERED && odds[i].offset)
				continue;
			v = 9;
			rc = one_call(fh, how, tst.rank == tst.size - 1 ? &odds[i] : &well, &v);
			CHECK(rc != MPI_SUCCESS, "call %d with %s succeeds", how, odds[i].what);
		}
	}
	v = tst.rank;
	OK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	v = -1;
	OK(MPI_File_read_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == tst.rank, "afterwards, %d is read", v);
	tst_close(&fh);
}

/* All write the same bytes, and end what they began in different orders. */
static void ended_in_any_order(void)
{
	MPI_File fh[2];
	int v[2] = { 7, 8 }, i;
	MPI_Request r[2];

	/* MPICH's own does not bear it. */
	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh[0] = tst_create(".any0");
	fh[1] = tst_create(".any1");
	for (i = 0; i < 2; i++)
		if (fh[i] == MPI_FILE_NULL)
			return;
	for (i = 0; i < 2; i++)
		OK(MPI_File_iwrite_at_all(fh[i], 0, &v[i], 1, MPI_INT, &r[i]));
	for (i = 0; i < 2; i++)
		OK(MPI_Wait(&r[(i + tst.rank) % 2], MPI_STATUS_IGNORE));
	for (i = 0; i < 2; i++) {
		v[i] = 0;
		OK(MPI_File_read_at(fh[i], 0, &v[i], 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK(v[i] == 7 + i, "read %d", v[i]);
		tst_close(&fh[i]);
	}
}

static MPI_File atomic_file(const char *suffix)
{
	MPI_File fh = MPI_FILE_NULL;

	if (tst.strict)
		fh = tst_create(suffix);
	else
		tst_skip("only with --ddio");
	if (fh != MPI_FILE_NULL)
		OK(MPI_File_set_atomicity(fh, 1));
	return fh;
}

/* Rank 0 is in a collective call already when the others still write alone. */
static void late_in_atomic_mode(void)
{
	MPI_File fh = atomic_file(".late");
	struct timespec t = { .tv_nsec = 100000000 };
	MPI_Request r;
	int v = tst.rank, i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 2; i++) {
		if (tst.rank) {
			nanosleep(&t, NULL);
			OK(MPI_File_write_at(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
			OK(MPI_File_iwrite_at(fh, 4 * tst.rank, &v, 1, MPI_INT, &r));
			OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		}
		OK(MPI_File_write_at_all(fh, 4 * (tst.rank + tst.size), &v, 1, MPI_INT,
					 MPI_STATUS_IGNORE));
	}
	tst_close(&fh);
}

/* A type of three ints, of which the second lies before the first byte of the file. */
static MPI_Datatype before_the_file(void)
{
	int lens[3] = { 1, 1, 1 };
	MPI_Aint at[3] = { 0, -4000, 40 };
	MPI_Datatype type;

	MPI_Type_create_hindexed(3, lens, at, MPI_INT, &type);
	MPI_Type_commit(&type);
	return type;
}

/* What fails in atomic mode keeps nobody out afterwards. */
static void failed_in_atomic_mode(void)
{
	MPI_File fh = atomic_file(".afail");
	MPI_Datatype type;
	int v[3] = { 1, 2, 3 }, rc;

	if (fh == MPI_FILE_NULL)
		return;
	type = before_the_file();
	rc = MPI_File_set_view(fh, 0, MPI_INT, type, "native", MPI_INFO_NULL);
	if (rc == MPI_SUCCESS)
		rc = MPI_File_write_at(fh, 0, v, 3, MPI_INT, MPI_STATUS_IGNORE);
	CHECK(rc != MPI_SUCCESS, "bytes before the file were written");
	tst_barrier();
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at(fh, 0, v, 3, MPI_INT, MPI_STATUS_IGNORE));
	MPI_Type_free(&type);
	tst_close(&fh);
}

static const struct mpiio_case cases[] = {
	{ "ranks: one is wrong in a collective call", one_is_wrong },
	{ "ranks: collectives end in any order", ended_in_any_order },
	{ "ranks: some are late, in atomic mode", late_in_atomic_mode },
	{ "ranks: what failed in atomic mode", failed_in_atomic_mode },
};

void ranks_cases(void)
{
	CASES(cases);
}
