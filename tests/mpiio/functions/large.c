// SPDX-License-Identifier: GPL-2.0-only
/* The functions of MPI 4 that count by MPI_Count: the "_c" names. */
#include "tests/mpiio/functions/functions.h"
#include <string.h>

#if MPI_VERSION >= 4

enum { PART = 500 };

static MPI_Offset base(void)
{
	return (MPI_Offset)PART * tst.rank;
}

/* Each blocking way to write this rank's part, then each to read it. */
static void write_by(MPI_File fh, int way, const void *buf, MPI_Status *status)
{
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	switch (way) {
	case 0:
		OK(MPI_File_write_at_c(fh, base(), buf, PART, MPI_BYTE, status));
		break;
	case 1:
		OK(MPI_File_write_at_all_c(fh, base(), buf, PART, MPI_BYTE, status));
		break;
	case 2:
		OK(MPI_File_write_c(fh, buf, PART, MPI_BYTE, status));
		break;
	case 3:
		OK(MPI_File_write_all_c(fh, buf, PART, MPI_BYTE, status));
		break;
	case 4:
		OK(MPI_File_write_at_all_begin_c(fh, base(), buf, PART, MPI_BYTE));
		OK(MPI_File_write_at_all_end(fh, buf, status));
		break;
	default:
		OK(MPI_File_write_all_begin_c(fh, buf, PART, MPI_BYTE));
		OK(MPI_File_write_all_end(fh, buf, status));
	}
}

static void read_by(MPI_File fh, int way, void *buf, MPI_Status *status)
{
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	switch (way) {
	case 0:
		OK(MPI_File_read_at_c(fh, base(), buf, PART, MPI_BYTE, status));
		break;
	case 1:
		OK(MPI_File_read_at_all_c(fh, base(), buf, PART, MPI_BYTE, status));
		break;
	case 2:
		OK(MPI_File_read_c(fh, buf, PART, MPI_BYTE, status));
		break;
	case 3:
		OK(MPI_File_read_all_c(fh, buf, PART, MPI_BYTE, status));
		break;
	case 4:
		OK(MPI_File_read_at_all_begin_c(fh, base(), buf, PART, MPI_BYTE));
		OK(MPI_File_read_at_all_end(fh, buf, status));
		break;
	default:
		OK(MPI_File_read_all_begin_c(fh, buf, PART, MPI_BYTE));
		OK(MPI_File_read_all_end(fh, buf, status));
	}
}

static void blocking(void)
{
	MPI_File fh = tst_create(".cblock");
	unsigned char buf[PART];
	MPI_Status status;
	int way;

	if (fh == MPI_FILE_NULL)
		return;
	for (way = 0; way < 6; way++) {
		tst_fill(buf, PART, 80 + way, base());
		write_by(fh, way, buf, &status);
		tst_count(&status, MPI_BYTE, PART, "written");
		memset(buf, 0, PART);
		read_by(fh, way, buf, &status);
		tst_count(&status, MPI_BYTE, PART, "read");
		tst_same(buf, PART, 80 + way, base(), "read");
	}
	tst_close(&fh);
}

static void requests(void)
{
	MPI_File fh = tst_create(".creq");
	unsigned char buf[4][PART];
	MPI_Offset far = (MPI_Offset)PART * tst.size;
	MPI_Request r[4];
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 4; i++)
		tst_fill(buf[i], PART, 90, i * far + base());
	OK(MPI_File_iwrite_at_c(fh, base(), buf[0], PART, MPI_BYTE, &r[0]));
	OK(MPI_File_iwrite_at_all_c(fh, far + base(), buf[1], PART, MPI_BYTE, &r[1]));
	OK(MPI_File_seek(fh, 2 * far + base(), MPI_SEEK_SET));
	OK(MPI_File_iwrite_c(fh, buf[2], PART, MPI_BYTE, &r[2]));
	OK(MPI_File_seek(fh, 3 * far + base(), MPI_SEEK_SET));
	OK(MPI_File_iwrite_all_c(fh, buf[3], PART, MPI_BYTE, &r[3]));
	OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
	memset(buf, 0, sizeof(buf));
	OK(MPI_File_iread_at_c(fh, base(), buf[0], PART, MPI_BYTE, &r[0]));
	OK(MPI_File_iread_at_all_c(fh, far + base(), buf[1], PART, MPI_BYTE, &r[1]));
	OK(MPI_File_seek(fh, 2 * far + base(), MPI_SEEK_SET));
	OK(MPI_File_iread_c(fh, buf[2], PART, MPI_BYTE, &r[2]));
	OK(MPI_File_seek(fh, 3 * far + base(), MPI_SEEK_SET));
	OK(MPI_File_iread_all_c(fh, buf[3], PART, MPI_BYTE, &r[3]));
	OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
	for (i = 0; i < 4; i++)
		tst_same(buf[i], PART, 90, i * far + base(), "read");
	tst_close(&fh);
}

static void shared(void)
{
	MPI_File fh = tst_create(".cshared");
	int v = tst.rank, w = -1, sum = 0;
	MPI_Count extent = 0;
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_ordered_c(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered_begin_c(fh, &v, 1, MPI_INT));
	OK(MPI_File_write_ordered_end(fh, &v, MPI_STATUS_IGNORE));
	OK(MPI_File_write_shared_c(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_iwrite_shared_c(fh, &v, 1, MPI_INT, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
	OK(MPI_File_read_ordered_c(fh, &w, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(w == tst.rank, "read_ordered_c brings %d", w);
	OK(MPI_File_read_ordered_begin_c(fh, &w, 1, MPI_INT));
	OK(MPI_File_read_ordered_end(fh, &w, MPI_STATUS_IGNORE));
	CHECK(w == tst.rank, "read_ordered_begin_c brings %d", w);
	OK(MPI_File_read_shared_c(fh, &w, 1, MPI_INT, MPI_STATUS_IGNORE));
	sum += w;
	OK(MPI_File_iread_shared_c(fh, &w, 1, MPI_INT, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	sum += w;
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(sum == tst.size * (tst.size - 1), "the rest adds up to %d", sum);
	OK(MPI_File_get_type_extent_c(fh, MPI_DOUBLE, &extent));
	CHECK(extent == 8, "a double's extent is %lld", (long long)extent);
	tst_close(&fh);
}

/* Types that were made by "_c" constructors; MPICH 4.0's own aborts on one as a file type. */
static void types(void)
{
	MPI_File fh = tst_create(".ctypes");
	MPI_Datatype every, mem;
	int i, v[40], w[20];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.strict) {
		tst_skip("only with --ddio");
		tst_close(&fh);
		return;
	}
	MPI_Type_create_resized_c(MPI_INT, 0, 4 * tst.size, &every);
	MPI_Type_vector_c(20, 1, 2, MPI_INT, &mem);
	MPI_Type_commit(&every);
	MPI_Type_commit(&mem);
	for (i = 0; i < 40; i++)
		v[i] = 1000 * tst.rank + i;
	OK(MPI_File_set_view(fh, 4 * tst.rank, MPI_INT, every, "native", MPI_INFO_NULL));
	OK(MPI_File_write_all(fh, v, 1, mem, &status));
	tst_count(&status, MPI_INT, 20, "written");
	OK(MPI_File_read_at_all(fh, 0, w, 20, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < 20; i++)
		CHECK(w[i] == v[2 * i], "integer %d is %d", i, w[i]);
	MPI_Type_free(&every);
	MPI_Type_free(&mem);
	tst_close(&fh);
}

void large_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "large/blocking", blocking },
		{ "large/requests", requests },
		{ "large/shared", shared },
		{ "large/types", types },
	};

	CASES(cases);
}

#else

void large_cases(void)
{
}

#endif
