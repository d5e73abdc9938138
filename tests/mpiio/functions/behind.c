// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write-behind: whatever successive collective calls write is in the file as if each had written it.  MPIs that write at
 * once are right, too.
 */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 1000

/* The ranks' pieces take turns. */
void turns_view(MPI_File fh, int piece)
{
	MPI_Datatype bytes, turn;

	MPI_Type_contiguous(piece, MPI_BYTE, &bytes);
	MPI_Type_create_resized(bytes, 0, (MPI_Aint)piece * tst.size, &turn);
	MPI_Type_commit(&turn);
	OK(MPI_File_set_view(fh, (MPI_Offset)piece * tst.rank, MPI_BYTE, turn, "native",
			     MPI_INFO_NULL));
	MPI_Type_free(&bytes);
	MPI_Type_free(&turn);
}

static MPI_File behind_open(const char *suffix, int piece)
{
	MPI_File fh = tst_create(suffix);

	if (fh != MPI_FILE_NULL)
		turns_view(fh, piece);
	return fh;
}

/* The first calls go to the file, so that it is seen that they are small. */
static void begin_gathering(MPI_File fh)
{
	int i;

	for (i = 0; i < 2; i++)
		OK(MPI_File_write_at_all(fh, 0, "", 0, MPI_BYTE, MPI_STATUS_IGNORE));
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

/* IO500's ior-hard: a small call that is no multiple of anything.  What it costs is counted apart from looking at it. */
#define HARD_PIECE 47008
#define HARD_CALLS 60

static void hard_write(void)
{
	MPI_File fh = behind_open(".hard", HARD_PIECE);

	if (fh == MPI_FILE_NULL)
		return;
	write_calls(fh, HARD_PIECE, 0, HARD_CALLS);
	tst_sync(fh);
	tst_close(&fh);
}

static void hard_read(void)
{
	MPI_File fh = tst_open(tst_file(".hard"), MPI_MODE_RDWR);

	MPI_Offset size = 0, at, end;
	unsigned char *buf;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_size(fh, &size));
	CHECK(size && size % (HARD_PIECE * HARD_CALLS) == 0, "it has %lld bytes", (long long)size);
	buf = malloc(HARD_PIECE);
	end = size / tst.size * (tst.rank + 1);
	for (at = size / tst.size * tst.rank; at < end; at += HARD_PIECE) {
		int n = end - at < HARD_PIECE ? (int)(end - at) : HARD_PIECE;

		OK(MPI_File_read_at(fh, at, buf, n, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_same(buf, (size_t)n, 77, (uint64_t)at, "ior-hard");
	}
	free(buf);
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
	MPI_File fh = tst_create(".behind6");
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

/* Bytes that a later call of another rank writes are the later one's.  The standard leaves it open; programs do not. */
static void order(void)
{
	MPI_File fh;
	unsigned char buf[PIECE];
	int i;

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	fh = tst_create(".behind8");
	if (fh == MPI_FILE_NULL)
		return;
	begin_gathering(fh);
	for (i = 0; i < 30; i++) {
		memset(buf, i, PIECE);
		OK(MPI_File_write_at_all(fh, 10 * i, buf, tst.rank == i % tst.size ? PIECE : 0,
					 MPI_BYTE, MPI_STATUS_IGNORE));
	}
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, buf, 300, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < 300; i++)
		CHECK(buf[i] == i / 10, "byte %d is of call %d", i, buf[i]);
	tst_close(&fh);
}

/* Without another call it is in the file some seconds later, for one that has opened it apart from the others. */
static void due(void)
{
	MPI_File fh, own = MPI_FILE_NULL;
	unsigned char want[PIECE], buf[PIECE];
	double from = MPI_Wtime();
	MPI_Offset at = (MPI_Offset)PIECE * (2 * tst.size + tst.rank);

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	fh = behind_open(".behind9", PIECE);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_open(MPI_COMM_SELF, tst_file(".behind9"), MPI_MODE_RDONLY, MPI_INFO_NULL,
			 &own));
	write_calls(fh, PIECE, 0, 3);
	call_fill(want, PIECE, 2);
	OK(MPI_File_read_at(own, at, buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(memcmp(buf, want, PIECE), "the third call was not gathered");
	do {
		usleep(100000);
		OK(MPI_File_read_at(own, at, buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
	} while (memcmp(buf, want, PIECE) && MPI_Wtime() - from < 60);
	tst_bytes(buf, want, PIECE, "a while later");
	OK(MPI_File_close(&own));
	write_calls(fh, PIECE, 3, 5);
	check_all(fh, PIECE, 5, "due");
	tst_close(&fh);
}

/* With the hint each call has written when it returns. */
static void off(void)
{
	MPI_File fh;
	MPI_Info info;
	MPI_Offset size = 0;
	int i;

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	tst_remove(tst_file(".behind10"));
	MPI_Info_create(&info);
	MPI_Info_set(info, "ddio_write_behind", "false");
	OK(MPI_File_open(MPI_COMM_WORLD, tst_file(".behind10"), MPI_MODE_CREATE | MPI_MODE_RDWR,
			 info, &fh));
	MPI_Info_free(&info);
	turns_view(fh, PIECE);
	for (i = 0; i < 8; i++) {
		write_calls(fh, PIECE, i, i + 1);
		tst_barrier();
		OK(MPI_File_get_size(fh, &size));
		CHECK(size >= (MPI_Offset)PIECE * (i + 1) * tst.size, "size %lld after call %d",
		      (long long)size, i);
	}
	tst_close(&fh);
}

/*
 * The last rank's write goes where no file reaches.  All hear of it, once, by the call that writes what was gathered; by
 * MPI_File_close() at the latest.
 */
static void refused(void)
{
	MPI_Offset nowhere = (MPI_Offset)1 << 62;
	MPI_File fh;
	char c = 'x';
	bool last = tst.rank == tst.size - 1;
	int i, j, rc;

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	for (i = 0; i < 4; i++) {
		fh = tst_create(".behind11");
		if (fh == MPI_FILE_NULL)
			return;
		begin_gathering(fh);
		OK(MPI_File_write_at_all(fh, tst.rank, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
		OK(MPI_File_write_at_all(fh, last ? nowhere : 10, &c, 1, MPI_BYTE,
					 MPI_STATUS_IGNORE));
		if (i == 1 && last) /* what it looks for cannot be there */
			FAILS(MPI_File_read_at(fh, 0, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE),
			      MPI_ERR_NO_SPACE, MPI_ERR_ARG, MPI_ERR_IO);
		for (j = rc = 0; i == 2 && !rc && j < 300; j++)
			rc = MPI_File_write_at_all(fh, tst.rank, &c, 1, MPI_BYTE,
						   MPI_STATUS_IGNORE);
		if (i < 2)
			rc = MPI_File_sync(fh);
		else if (i == 3)
			rc = MPI_File_close(&fh);
		CHECK(rc != MPI_SUCCESS, "way %d: nobody was told", i);
		if (i == 3)
			continue;
		OK(MPI_File_sync(fh));
		tst_close(&fh);
	}
}

/* Whatever calls come between, each rank finds what it wrote, and in the end all find all: against a copy in memory. */
#define MIXED_CALLS 64
#define MIXED_PIECE 5000
struct mixed {
	MPI_File fh;
	unsigned char model[MIXED_CALLS * MIXED_PIECE], buf[MIXED_CALLS * MIXED_PIECE];
	struct mpiio_rand common, mine;
};

static void mixed_step(struct mixed *m)
{
	int what = (int)tst_rand(&m->common, 16);
	int piece = (int)tst_rand(&m->mine, MIXED_CALLS),
	    len = (int)tst_rand(&m->mine, MIXED_PIECE);
	MPI_Offset at = (MPI_Offset)piece * MIXED_PIECE, size;
	MPI_Request r;

	if (what == 6) /* large */
		len = (int)(sizeof(m->model) - (size_t)at);
	if (what < 9 || what == 15)
		tst_fill(m->model + at, (size_t)len, tst_rand(&m->mine, 1000), 0);
	memcpy(m->buf, m->model + at, (size_t)len);
	if (what < 7) {
		OK(MPI_File_write_at_all(m->fh, at, m->buf, len, MPI_BYTE, MPI_STATUS_IGNORE));
	} else if (what == 7) {
		OK(MPI_File_write_at(m->fh, at, m->buf, len, MPI_BYTE, MPI_STATUS_IGNORE));
	} else if (what == 8) {
		OK(MPI_File_iwrite_at(m->fh, at, m->buf, len, MPI_BYTE, &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (what == 15) {
		OK(MPI_File_write_at_all_begin(m->fh, at, m->buf, len, MPI_BYTE));
		OK(MPI_File_write_at_all_end(m->fh, m->buf, MPI_STATUS_IGNORE));
	} else if (what == 9) {
		OK(MPI_File_sync(m->fh));
	} else if (what == 10) {
		turns_view(m->fh, MIXED_PIECE);
	} else if (what == 11) {
		OK(MPI_File_seek(m->fh, 0, MPI_SEEK_END));
		OK(MPI_File_get_size(m->fh, &size));
	} else {
		memset(m->buf, 0xaa, (size_t)len);
		if (what == 12) {
			OK(MPI_File_read_at(m->fh, at, m->buf, len, MPI_BYTE, MPI_STATUS_IGNORE));
		} else if (what == 13) {
			OK(MPI_File_read_at_all(m->fh, at, m->buf, len, MPI_BYTE,
						MPI_STATUS_IGNORE));
		} else {
			OK(MPI_File_iread_at(m->fh, at, m->buf, len, MPI_BYTE, &r));
			OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		}
		tst_bytes(m->buf, m->model + at, (size_t)len, "what it wrote itself");
	}
}

static void mixed(void)
{
	struct mixed *m = calloc(1, sizeof(*m));
	int i;

	m->common.state = 5;
	m->mine.state = 100 + (uint64_t)tst.rank;
	m->fh = behind_open(".behind12", MIXED_PIECE);
	if (m->fh != MPI_FILE_NULL) {
		OK(MPI_File_write_at_all(m->fh, 0, m->model, sizeof(m->model), MPI_BYTE,
					 MPI_STATUS_IGNORE));
		for (i = 0; i < 1500; i++)
			mixed_step(m);
		tst_sync(m->fh);
		OK(MPI_File_read_at_all(m->fh, 0, m->buf, sizeof(m->buf), MPI_BYTE,
					MPI_STATUS_IGNORE));
		tst_bytes(m->buf, m->model, sizeof(m->buf), "in the end");
		tst_close(&m->fh);
	}
	free(m);
}

void behind_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "behind/many", many },
		{ "behind/hard-written", hard_write },
		{ "behind/hard-read", hard_read },
		{ "behind/own", own },
		{ "behind/again", again },
		{ "behind/scattered", scattered },
		{ "behind/uneven", uneven },
		{ "behind/changes", changes },
		{ "behind/order", order },
		{ "behind/due", due },
		{ "behind/off", off },
		{ "behind/refused", refused },
		{ "behind/mixed", mixed },
	};

	CASES(cases);
}
