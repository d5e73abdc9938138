// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write-behind (hint ddio_write_behind): whatever successive collective calls write is in the file as if each had written
 * it.  MPIs that do not know the hint write at once, which is right, too.
 */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>

#define PIECE 1000

/* A file in which the ranks' pieces take turns, with the hint: from its opening, or from its view if the pieces are small. */
static MPI_File behind_open(const char *suffix, int piece)
{
	MPI_File fh;
	MPI_Info info;
	MPI_Datatype turn;

	tst_remove(tst_file(suffix));
	MPI_Info_create(&info);
	MPI_Info_set(info, "ddio_write_behind", "enable");
	if (!tst_all(OK(MPI_File_open(MPI_COMM_WORLD, tst_file(suffix),
				      MPI_MODE_CREATE | MPI_MODE_RDWR,
				      piece == PIECE ? MPI_INFO_NULL : info, &fh))))
		fh = MPI_FILE_NULL;
	if (fh == MPI_FILE_NULL) {
		MPI_Info_free(&info);
		return fh;
	}
	MPI_Type_contiguous(piece, MPI_BYTE, &turn);
	MPI_Type_create_resized(turn, 0, (MPI_Aint)piece * tst.size, &turn);
	MPI_Type_commit(&turn);
	OK(MPI_File_set_view(fh, (MPI_Offset)piece * tst.rank, MPI_BYTE, turn, "native", info));
	MPI_Type_free(&turn);
	MPI_Info_free(&info);
	return fh;
}

/* What call i of this rank writes: bytes of the file as a whole have one seed. */
static void call_fill(unsigned char *buf, int piece, int i)
{
	tst_fill(buf, (size_t)piece, 77, (uint64_t)piece * (uint64_t)(i * tst.size + tst.rank));
}

static void write_calls(MPI_File fh, int piece, int from, int to)
{
	unsigned char *buf = malloc((size_t)piece);
	int i;

	for (i = from; i < to; i++) {
		call_fill(buf, piece, i);
		OK(MPI_File_write_at_all(fh, (MPI_Offset)piece * i, buf, piece, MPI_BYTE,
					 MPI_STATUS_IGNORE));
		memset(buf, 0xee, (size_t)piece); /* it is the program's again */
	}
	free(buf);
}

/* All ranks look at all bytes. */
static void check_all(MPI_File fh, int piece, int calls, const char *what)
{
	size_t bytes = (size_t)piece * (size_t)calls * (size_t)tst.size;
	unsigned char *buf = malloc(bytes);

	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, buf, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, bytes, 77, 0, what);
	free(buf);
}

/* Many small calls; then what closing writes. */
static void many(void)
{
	MPI_File fh = behind_open(".behind1", PIECE);

	if (fh == MPI_FILE_NULL)
		return;
	write_calls(fh, PIECE, 0, 64);
	tst_close(&fh);
	fh = tst_open(tst_file(".behind1"), MPI_MODE_RDWR); /* so that it can be synced */
	if (fh == MPI_FILE_NULL)
		return;
	check_all(fh, PIECE, 64, "after closing");
	tst_close(&fh);
}

/* IO500's ior-hard: a small call that is no multiple of anything. */
static void hard(void)
{
	MPI_File fh = behind_open(".behind2", 47008);

	if (fh == MPI_FILE_NULL)
		return;
	write_calls(fh, 47008, 0, 20);
	check_all(fh, 47008, 20, "ior-hard");
	tst_close(&fh);
}

/* A process reads what it has written itself, by every kind of call, and learns how far the file reaches. */
static void own(void)
{
	MPI_File fh = behind_open(".behind3", PIECE);
	unsigned char want[PIECE], buf[PIECE];
	MPI_Request request;
	MPI_Offset size = 0, at = 0;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 12; i++) {
		write_calls(fh, PIECE, i, i + 1);
		call_fill(want, PIECE, i);
		memset(buf, 0, PIECE);
		switch (i % 4) {
		case 0:
			OK(MPI_File_read_at(fh, (MPI_Offset)PIECE * i, buf, PIECE, MPI_BYTE,
					    MPI_STATUS_IGNORE));
			break;
		case 1:
			OK(MPI_File_iread_at(fh, (MPI_Offset)PIECE * i, buf, PIECE, MPI_BYTE,
					     &request));
			OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
			break;
		case 2:
			OK(MPI_File_read_at_all(fh, (MPI_Offset)PIECE * i, buf, PIECE, MPI_BYTE,
						MPI_STATUS_IGNORE));
			break;
		default:
			OK(MPI_File_read_at_all_begin(fh, (MPI_Offset)PIECE * i, buf, PIECE,
						      MPI_BYTE));
			OK(MPI_File_read_at_all_end(fh, buf, MPI_STATUS_IGNORE));
			break;
		}
		tst_bytes(buf, want, PIECE, "its own piece");
		OK(MPI_File_get_size(fh, &size));
		at = (MPI_Offset)PIECE * (i * tst.size + tst.rank + 1);
		CHECK(size >= at, "size %lld, but it has written to %lld", (long long)size,
		      (long long)at);
	}
	check_all(fh, PIECE, 12, "all");
	tst_close(&fh);
}

/* The last of several calls for the same place counts; an empty call and one that is alone do no harm. */
static void again(void)
{
	MPI_File fh = behind_open(".behind4", PIECE);
	unsigned char wrong[PIECE];
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	memset(wrong, 0x55, PIECE);
	for (i = 0; i < 10; i++) {
		OK(MPI_File_write_at_all(fh, (MPI_Offset)PIECE * i, wrong, PIECE - i, MPI_BYTE,
					 MPI_STATUS_IGNORE));
		OK(MPI_File_write_at_all(fh, (MPI_Offset)PIECE * i, wrong, tst.rank ? PIECE : 0,
					 MPI_BYTE, MPI_STATUS_IGNORE));
		if (i & 1)
			OK(MPI_File_write_at(fh, (MPI_Offset)PIECE * i, wrong, PIECE, MPI_BYTE,
					     MPI_STATUS_IGNORE));
		write_calls(fh, PIECE, i, i + 1);
	}
	check_all(fh, PIECE, 10, "written again");
	tst_close(&fh);
}

/* From memory that is not contiguous, in both directions, by the pointer. */
static void scattered(void)
{
	MPI_File fh = behind_open(".behind5", PIECE);
	unsigned char buf[2 * PIECE], bytes[PIECE];
	MPI_Datatype every;
	MPI_Status status;
	int i, j;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_vector(PIECE, 1, 2, MPI_BYTE, &every);
	MPI_Type_commit(&every);
	for (i = 0; i < 9; i++) {
		call_fill(bytes, PIECE, i);
		memset(buf, 0xdd, sizeof(buf));
		for (j = 0; j < PIECE; j++)
			buf[2 * j] = bytes[j];
		OK(MPI_File_write_all(fh, buf, 1, every, &status));
		tst_count(&status, MPI_BYTE, PIECE, "written");
	}
	MPI_Type_free(&every);
	check_all(fh, PIECE, 9, "from every other byte");
	tst_close(&fh);
}

/* One rank's calls become too large to keep while the others' stay small. */
static void uneven(void)
{
	enum { LARGE = 20 << 20 };
	MPI_File fh = behind_open(".behind6", 1);
	unsigned char *buf = malloc(LARGE);
	int i, len;

	if (fh == MPI_FILE_NULL) {
		free(buf);
		return;
	}
	OK(MPI_File_set_view(fh, (MPI_Offset)tst.rank << 30, MPI_BYTE, MPI_BYTE, "native",
			     MPI_INFO_NULL));
	for (i = 0; i < 4; i++) {
		len = i > 1 && tst.rank == tst.size - 1 ? LARGE : 100;
		tst_fill(buf, (size_t)len, 5, (uint64_t)i * LARGE);
		OK(MPI_File_write_at_all(fh, (MPI_Offset)i * LARGE, buf, len, MPI_BYTE,
					 MPI_STATUS_IGNORE));
	}
	for (i = 0; i < 4; i++) {
		len = i > 1 && tst.rank == tst.size - 1 ? LARGE : 100;
		memset(buf, 0, (size_t)len);
		OK(MPI_File_read_at_all(fh, (MPI_Offset)i * LARGE, buf, len, MPI_BYTE,
					MPI_STATUS_IGNORE));
		tst_same(buf, (size_t)len, 5, (uint64_t)i * LARGE, "uneven");
	}
	free(buf);
	tst_close(&fh);
	tst_remove(tst_file(".behind6"));
}

/* Modes and sizes change in between; the hint is taken back. */
static void changes(void)
{
	MPI_File fh;
	MPI_Info off;
	MPI_Offset size;

	if (!tst.strict) {
		tst_skip("Open MPI's own has other bytes after atomic mode");
		return;
	}
	fh = behind_open(".behind7", PIECE);
	if (fh == MPI_FILE_NULL)
		return;
	write_calls(fh, PIECE, 0, 3);
	OK(MPI_File_set_atomicity(fh, 1));
	write_calls(fh, PIECE, 3, 5);
	OK(MPI_File_set_atomicity(fh, 0));
	write_calls(fh, PIECE, 5, 8);
	MPI_Info_create(&off);
	MPI_Info_set(off, "ddio_write_behind", "disable");
	OK(MPI_File_set_info(fh, off));
	MPI_Info_free(&off);
	write_calls(fh, PIECE, 8, 9);
	tst_barrier();
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == (MPI_Offset)9 * PIECE * tst.size, "size %lld", (long long)size);
	check_all(fh, PIECE, 9, "changes");
	OK(MPI_File_set_size(fh, 0));
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 0, "size %lld after set_size(0)", (long long)size);
	tst_close(&fh);
}

void behind_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "behind/many", many },
		{ "behind/hard", hard },
		{ "behind/own", own },
		{ "behind/again", again },
		{ "behind/scattered", scattered },
		{ "behind/uneven", uneven },
		{ "behind/changes", changes },
	};

	CASES(cases);
}
