// SPDX-License-Identifier: GPL-2.0-only
/* Collective writes that are found as a whole or not at all: the hint "ddio_atomic". */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE = 96, TURNS = 400 };

/* One process asks for it, and all have it. */
static MPI_File whole_open(const char *suffix)
{
	MPI_Info info = MPI_INFO_NULL;
	MPI_File fh = MPI_FILE_NULL;

	tst_remove(tst_file(suffix));
	if (tst.rank == tst.size - 1) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "ddio_atomic", "true");
	}
	OK(MPI_File_open(MPI_COMM_WORLD, tst_file(suffix), MPI_MODE_CREATE | MPI_MODE_RDWR, info,
			 &fh));
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	return fh;
}

static void calls(void)
{
	MPI_File fh = whole_open(".whole1");
	size_t bytes = (size_t)PIECE * TURNS;
	unsigned char *buf = malloc(bytes), *want = malloc(bytes);
	int round;

	if (fh == MPI_FILE_NULL || !buf || !want)
		goto out;
	turns_view(fh, PIECE);
	for (round = 0; round < 3; round++) {
		/* The second one writes a middle part, whose first and last blocks keep what they have of the others. */
		size_t from = round ? bytes / 4 / PIECE * PIECE : 0, n = round ? bytes / 2 : bytes;

		tst_fill(buf, n, (uint64_t)(70 + round), (MPI_Offset)(PIECE * tst.rank));
		memcpy(want + from, buf, n);
		OK(MPI_File_write_at_all(fh, (MPI_Offset)from, buf, (int)n, MPI_BYTE,
					 MPI_STATUS_IGNORE));
		tst_barrier();
		memset(buf, 0, bytes);
		OK(MPI_File_read_at_all(fh, 0, buf, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_bytes(buf, want, bytes, "after an atomic write");
	}
	tst_close(&fh);
out:
	free(buf);
	free(want);
}

/* Of two under way at once the second may be refused; then nothing of it is there. */
static void begun(void)
{
	MPI_File fh = whole_open(".whole2");
	static unsigned char first[PIECE * TURNS], second[PIECE * TURNS], buf[PIECE * TURNS];
	MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int begin, refused = 0, i;

	if (fh == MPI_FILE_NULL)
		return;
	turns_view(fh, PIECE);
	tst_fill(first, sizeof(first), 80, PIECE * tst.rank);
	tst_fill(second, sizeof(second), 81, PIECE * tst.rank);
	OK(MPI_File_iwrite_at_all(fh, 0, first, sizeof(first), MPI_BYTE, &r[0]));
	begin = MPI_File_iwrite_at_all(fh, 0, second, sizeof(second), MPI_BYTE, &r[1]);
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	if (begin != MPI_SUCCESS || MPI_Wait(&r[1], MPI_STATUS_IGNORE) != MPI_SUCCESS)
		refused = 1;
	MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(refused == 0 || refused == tst.size, "refused on %d of %d", refused, tst.size);
	for (i = 0; i < 2; i++) {
		memset(buf, 0, sizeof(buf));
		OK(MPI_File_read_at_all(fh, 0, buf, sizeof(buf), MPI_BYTE, MPI_STATUS_IGNORE));
		tst_bytes(buf, i || !refused ? second : first, sizeof(buf), "of two at once");
		if (!i)
			OK(MPI_File_write_at_all(fh, 0, second, sizeof(second), MPI_BYTE,
						 MPI_STATUS_IGNORE));
		tst_barrier();
	}
	tst_close(&fh);
}

/* The hint can be given later, by a view, and be taken back. */
static void changed(void)
{
	MPI_File fh = tst_create(".whole3");
	unsigned char buf[PIECE], got[PIECE];
	static const char *const hint[] = { "true", "false" };
	MPI_Info info;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 2; i++) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "ddio_atomic", hint[i]);
		if (i)
			OK(MPI_File_set_info(fh, info));
		else
			OK(MPI_File_set_view(fh, (MPI_Offset)PIECE * tst.rank, MPI_BYTE, MPI_BYTE,
					     "native", info));
		MPI_Info_free(&info);
		tst_fill(buf, PIECE, (uint64_t)(90 + i), PIECE * tst.rank);
		OK(MPI_File_write_at_all(fh, 0, buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_sync(fh);
		OK(MPI_File_read_at_all(fh, 0, got, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_bytes(got, buf, PIECE, "with the hint changed");
	}
	tst_close(&fh);
}

void whole_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "whole/calls", calls },
		{ "whole/begun", begun },
		{ "whole/changed", changed },
	};

	CASES(cases);
}
