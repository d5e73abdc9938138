// SPDX-License-Identifier: GPL-2.0-only
/* Atomic mode: each call's data are there as a whole or not at all. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/mpiio/functions/functions.h"

static void mode(void)
{
	MPI_File fh = tst_create(".amode");
	int flag = -1;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_atomicity(fh, &flag));
	CHECK(!flag, "a new file is in atomic mode");
	OK(MPI_File_set_atomicity(fh, 1));
	OK(MPI_File_get_atomicity(fh, &flag));
	CHECK(flag == 1, "told to be atomic, it is not");
	OK(MPI_File_set_atomicity(fh, 0));
	OK(MPI_File_get_atomicity(fh, &flag));
	CHECK(!flag, "told not to be atomic, it is");
	tst_close(&fh);
}

/* In atomic mode data are visible to the other ranks without a sync. */
static void visible(void)
{
	MPI_File fh = tst_create(".avis");
	int v = 10 + tst.rank, next = (tst.rank + 1) % tst.size;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_atomicity(fh, 1));
	OK(MPI_File_write_at(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_barrier();
	v = -1;
	OK(MPI_File_read_at(fh, 4 * next, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == 10 + next, "read %d of rank %d", v, next);
	tst_close(&fh);
}

static MPI_File atomic_file(const char *suffix)
{
	MPI_File fh;

	if (!tst.strict && TST_OPEN_MPI) {
		tst_skip("Open MPI's own mixes what ranks write");
		return MPI_FILE_NULL;
	}
	fh = tst_create(suffix);
	if (fh != MPI_FILE_NULL)
		OK(MPI_File_set_atomicity(fh, 1));
	return fh;
}

/* All bytes of a buffer are the same. */
static void one_only(const unsigned char *buf, int n, const char *what)
{
	int i;

	for (i = 1; i < n; i++) {
		if (buf[i] == buf[0])
			continue;
		tst_fail("%s: byte %d is of %d, byte 0 of %d", what, i, buf[i], buf[0]);
		return;
	}
}

/* All ranks write the same pieces, with holes between, together or each alone. */
static void overlapping(const char *suffix, bool together)
{
	enum { PIECES = 200, PIECE = 40, ALL = PIECES * PIECE };
	MPI_File fh = atomic_file(suffix);
	MPI_Datatype pieces;
	unsigned char *buf = malloc(ALL);
	int turn;

	if (fh == MPI_FILE_NULL)
		goto out;
	MPI_Type_vector(PIECES, PIECE, 3 * PIECE, MPI_BYTE, &pieces);
	MPI_Type_commit(&pieces);
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
	for (turn = 0; turn < 4; turn++) {
		memset(buf, 1 + tst.rank + tst.size * turn, ALL);
		if (together)
			OK(MPI_File_write_at_all(fh, 0, buf, ALL, MPI_BYTE, MPI_STATUS_IGNORE));
		else
			OK(MPI_File_write_at(fh, 0, buf, ALL, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_barrier();
		OK(MPI_File_read_at(fh, 0, buf, ALL, MPI_BYTE, MPI_STATUS_IGNORE));
		one_only(buf, ALL, together ? "together" : "alone");
		CHECK(buf[0] > tst.size * turn && buf[0] <= tst.size * (turn + 1),
		      "turn %d left %d", turn, buf[0]);
		tst_barrier();
	}
	MPI_Type_free(&pieces);
	tst_close(&fh);
out:
	free(buf);
}

static void overlapping_alone(void)
{
	overlapping(".aalone", false);
}

static void overlapping_together(void)
{
	overlapping(".atogether", true);
}

/* Rank 0 writes one thing after another, the others read: never a mixture. */
static void readers(void)
{
	enum { N = 20000, TURNS = 30 };
	MPI_File fh = atomic_file(".aread");
	unsigned char *buf = calloc(1, N);
	int turn;

	if (fh == MPI_FILE_NULL)
		goto out;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 77, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_barrier();
	for (turn = 1; turn <= TURNS; turn++) {
		memset(buf, turn, N);
		if (!tst.rank) {
			OK(MPI_File_write_at(fh, 77, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
			continue;
		}
		OK(MPI_File_read_at(fh, 77, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
		one_only(buf, N, "read while it was written");
	}
	tst_close(&fh);
out:
	free(buf);
}

/*
 * Rank 0 locks bytes by fcntl(), as programs do that know no MPI: an access in atomic mode waits until it gives them up, and
 * what it writes is there after what was written meanwhile.
 */
static void fcntl_locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100 };
	char theirs[40], ours[40], back[40] = "";
	MPI_File fh;
	int fd = -1;

	if (!tst.strict || tst.size == 1 || *tst_file("") != '/')
		return tst_skip("only with --ddio, two ranks, and a path");
	fh = atomic_file(".afcntl");
	if (fh == MPI_FILE_NULL)
		return;
	memset(theirs, 'A', sizeof(theirs));
	memset(ours, 'B', sizeof(ours));
	if (!tst.rank) {
		fd = open(tst_file(".afcntl"), O_RDWR);
		CHECK(fd >= 0 && !fcntl(fd, F_SETLK, &lock), "cannot lock");
	}
	tst_barrier();
	if (tst.rank == 1)
		OK(MPI_File_write_at(fh, 50, ours, sizeof(ours), MPI_BYTE, MPI_STATUS_IGNORE));
	if (!tst.rank) {
		usleep(300000); /* so that a write that does not wait is over */
		CHECK(pwrite(fd, theirs, sizeof(theirs), 50) == sizeof(theirs), "cannot write");
		CHECK(!fsync(fd), "cannot sync");
		close(fd);
	}
	tst_barrier();
	OK(MPI_File_read_at_all(fh, 50, back, sizeof(back), MPI_BYTE, MPI_STATUS_IGNORE));
	tst_bytes(back, ours, sizeof(ours), "behind a lock");
	tst_close(&fh);
}

/* Ranks differ in the flag: an error on all. */
static void differ(void)
{
	MPI_File fh;

	if (!tst.strict || tst.size == 1) {
		tst_skip("only with --ddio and two ranks");
		return;
	}
	fh = tst_create(".adiffer");
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_set_atomicity(fh, tst.rank > 0), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
	tst_close(&fh);
}

void atomic_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "atomic/mode", mode },
		{ "atomic/visible", visible },
		{ "atomic/overlapping_alone", overlapping_alone },
		{ "atomic/overlapping_together", overlapping_together },
		{ "atomic/readers", readers },
		{ "atomic/fcntl_locks", fcntl_locks },
		{ "atomic/differ", differ },
	};

	CASES(cases);
}
