// SPDX-License-Identifier: GPL-2.0-only
/* What programs should not do, or hardly do: it ends, with an error where one is due, and all can go on. */
#include "tests/mpiio/functions/functions.h"
#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The file is as good as before. */
static void still_works(MPI_File fh)
{
	int v = 40 + tst.rank;

	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	v = 0;
	OK(MPI_File_read_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == 40 + tst.rank, "afterwards, %d is read", v);
}

/* A new file, unless the MPI's own need not bear what is done to it. */
static MPI_File hostile_file(const char *suffix)
{
	if (tst.strict)
		return tst_create(suffix);
	tst_skip("only with --ddio");
	return MPI_FILE_NULL;
}

/* Some write where others read. */
static void different_calls(void)
{
	MPI_File fh;
	int v = tst.rank, rc;

	if (tst.size < 2)
		return tst_skip("needs two ranks");
	fh = hostile_file(".roles");
	if (fh == MPI_FILE_NULL)
		return;
	if (tst.rank)
		rc = MPI_File_read_at_all(fh, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE);
	else
		rc = MPI_File_write_at_all(fh, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE);
	CHECK(rc != MPI_SUCCESS, "a read and a write at once succeed");
	still_works(fh);
	tst_close(&fh);
}

/* 4 GiB of room for 100 bytes of a file, of one int's worth of entries. */
static void large_room(void)
{
	size_t room = (size_t)1 << 32;
	MPI_Datatype mb;
	MPI_Status status;
	MPI_Count n = -1;
	MPI_File fh = hostile_file(".room");
	char small[100], *buf;

	if (fh == MPI_FILE_NULL)
		return;
	buf = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	memset(small, 'x', sizeof(small));
	MPI_Type_contiguous(1 << 20, MPI_BYTE, &mb);
	MPI_Type_commit(&mb);
	OK(MPI_File_write_at_all(fh, 0, small, tst.rank ? 0 : 100, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, buf, 1 << 12, mb, &status));
	MPI_Get_elements_x(&status, MPI_BYTE, &n);
	CHECK(n == 100 && buf[99] == 'x' && !buf[100], "all together read %lld", (long long)n);
	OK(MPI_File_read_at(fh, 50, buf, 1 << 12, mb, &status));
	MPI_Get_elements_x(&status, MPI_BYTE, &n);
	CHECK(n == 50, "one reads %lld", (long long)n);
	MPI_Type_free(&mb);
	munmap(buf, room);
	tst_close(&fh);
}

/* Many entries of nothing, and far apart. */
static void much_of_nothing(void)
{
	MPI_File fh = hostile_file(".nothing");
	MPI_Datatype none, far;
	MPI_Offset size = -1;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_contiguous(0, MPI_INT, &none);
	MPI_Type_create_resized(none, 0, (MPI_Aint)1 << 40, &far);
	MPI_Type_commit(&none);
	MPI_Type_commit(&far);
	OK(MPI_File_write_at_all(fh, 0, NULL, INT_MAX, none, &status));
	OK(MPI_File_write_at_all(fh, 0, NULL, INT_MAX, far, &status));
	OK(MPI_File_read_all(fh, NULL, INT_MAX, far, &status));
	OK(MPI_File_write_ordered(fh, NULL, INT_MAX, none, &status));
	OK(MPI_File_write_shared(fh, NULL, INT_MAX, far, &status));
	tst_count(&status, MPI_BYTE, 0, "written");
	OK(MPI_File_sync(fh));
	OK(MPI_File_get_size(fh, &size));
	CHECK(!size, "the file has %lld bytes", (long long)size);
	MPI_Type_free(&none);
	MPI_Type_free(&far);
	still_works(fh);
	tst_close(&fh);
}

/* More bytes than there are numbers for, on the last rank. */
static void beyond_numbers(void)
{
	MPI_File fh = hostile_file(".beyond");
	MPI_Datatype huge = MPI_DATATYPE_NULL, more = MPI_DATATYPE_NULL;
	bool last = tst.rank == tst.size - 1;
	int v = 0;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_contiguous(INT_MAX, MPI_INT, &huge);
	MPI_Type_contiguous(1 << 20, huge, &more);
	MPI_Type_commit(&more);
	FAILS(MPI_File_read_at_all(fh, 0, &v, last ? INT_MAX : 0, last ? more : MPI_INT,
				   MPI_STATUS_IGNORE),
	      MPI_ERR_TYPE, MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_COUNT);
	FAILS(MPI_File_write_at(fh, 0, &v, INT_MAX, more, MPI_STATUS_IGNORE), MPI_ERR_TYPE,
	      MPI_ERR_ARG, MPI_ERR_IO, MPI_ERR_COUNT, MPI_ERR_NO_SPACE);
	MPI_Type_free(&huge);
	MPI_Type_free(&more);
	still_works(fh);
	tst_close(&fh);
}

/* A child leaves in each way; the parent's files are its own. */
static void forks(void)
{
	MPI_File fh = hostile_file(".fork");
	MPI_Request r;
	int way, status = -1, v = 1;

	if (fh == MPI_FILE_NULL)
		return;
	for (way = 0; way < 3; way++) {
		pid_t child;

		OK(MPI_File_iwrite_at(fh, 4 * (tst.size + tst.rank), &v, 1, MPI_INT, &r));
		child = fork();
		if (!child) {
			if (way == 1)
				execlp("true", "true", (char *)NULL);
			if (way == 2)
				exit(0);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status, "child %d ended with %d", way,
		      status);
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		still_works(fh);
	}
	tst_close(&fh);
}

/* The last type, and a copy of it 4 bytes behind, again and again: 2 to the power of @levels integers. */
static MPI_Datatype doubled(int levels)
{
	MPI_Datatype t, of[2];
	MPI_Aint lb, extent, at[2] = { 0 };
	int i;

	MPI_Type_contiguous(1, MPI_INT, &t);
	for (i = 0; i < levels; i++) {
		of[0] = t;
		MPI_Type_dup(t, &of[1]);
		MPI_Type_get_extent(t, &lb, &extent);
		at[1] = extent + 4;
		MPI_Type_create_struct(2, (const int[]){ 1, 1 }, at, of, &t);
		MPI_Type_free(&of[0]);
		MPI_Type_free(&of[1]);
	}
	MPI_Type_commit(&t);
	return t;
}

static long kilobytes(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_maxrss;
}

/* It is described in memory for its constructors, not for what they make together, as Open MPI's own descriptions are. */
static void types_in_types(void)
{
	MPI_File fh = hostile_file(".types");
	int v[4] = { 1, 2, 3, 4 }, w[4] = { 0 }, i;
	MPI_Datatype t;
	MPI_Offset at;
	long before;

	if (fh == MPI_FILE_NULL)
		return;
	t = doubled(TST_OPEN_MPI ? 12 : 20);
	before = kilobytes();
	OK(MPI_File_set_view(fh, 0, MPI_INT, t, "native", MPI_INFO_NULL));
	CHECK(kilobytes() - before < 65536, "the view took %ld KB", kilobytes() - before);
	for (i = 0; i < 4; i++) {
		OK(MPI_File_get_byte_offset(fh, i, &at));
		CHECK(at == 8 * i, "integer %d is at %lld", i, (long long)at);
	}
	OK(MPI_File_write_at_all(fh, 0, v, tst.rank ? 0 : 4, MPI_INT, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, w, 4, MPI_INT, MPI_STATUS_IGNORE));
	tst_bytes(w, v, sizeof(v), "integers in the type");
	MPI_Type_free(&t);
	still_works(fh);
	tst_close(&fh);
}

/* Each would have room, but not all together: the shared pointer stays. */
static void beyond_together(void)
{
#if MPI_VERSION >= 4
	MPI_File fh;
	MPI_Offset at = -1;
	char c;

	if (tst.size < 2)
		return tst_skip("needs two ranks");
	fh = hostile_file(".together");
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_read_ordered_c(fh, &c, (MPI_Count)1 << 62, MPI_BYTE, MPI_STATUS_IGNORE),
	      MPI_ERR_COUNT);
	OK(MPI_File_get_position_shared(fh, &at));
	CHECK(!at, "the shared pointer is at %lld", (long long)at);
	still_works(fh);
	tst_close(&fh);
#else
	tst_skip("no large counts");
#endif
}

static int handled;

/* MPI's error handlers are variadic. */
static void close_it(MPI_File *fh, int *code, ...)
{
	MPI_File mine = *fh;

	(void)code;
	handled++;
	MPI_File_close(&mine);
}

static void fails_in(int way, MPI_File fh)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int v[2] = { 0 };

	switch (way) {
	case 0:
		FAILS(MPI_File_read_at_all(fh, 0, v, -1, MPI_INT, MPI_STATUS_IGNORE),
		      MPI_ERR_COUNT);
		break;
	case 1:
		FAILS(MPI_File_write(fh, v, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
		break;
	case 2:
		OK(MPI_File_iread_at_all(fh, 0, v, -1, MPI_INT, &r));
		FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
		break;
	default:
		OK(MPI_File_read_all_begin(fh, v, -1, MPI_INT));
		FAILS(MPI_File_read_all_end(fh, v, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	}
}

/* The error handler closes the file, whichever call it comes from. */
static void handler_closes(void)
{
	MPI_Errhandler handler;
	int way;

	MPI_File_create_errhandler(close_it, &handler);
	for (way = 0; way < 4; way++) {
		MPI_File fh = hostile_file(".handler");

		if (fh == MPI_FILE_NULL)
			break;
		MPI_File_set_errhandler(fh, handler);
		handled = 0;
		fails_in(way, fh);
		CHECK(handled == 1, "way %d: the handler was called %d times", way, handled);
	}
	MPI_Errhandler_free(&handler);
}

/* All but rank 0 fail in two transfers whose requests they free before rank 0 has come, so not before they are over. */
static void fail_unseen(MPI_File fh, int *v)
{
	MPI_Request r[2];
	int i;

	if (!tst.rank)
		tst_barrier();
	for (i = 0; i < 2; i++) {
		OK(MPI_File_iread_at_all(fh, 0, v, tst.rank ? -1 : 1, MPI_INT, &r[i]));
		if (tst.rank)
			OK(MPI_Request_free(&r[i]));
	}
	if (tst.rank)
		tst_barrier();
	for (i = 0; !tst.rank && i < 2; i++)
		FAILS(MPI_Wait(&r[i], MPI_STATUS_IGNORE), MPI_ERR_COUNT, MPI_ERR_ARG);
}

/* What rank 0 closes, the others' handler does, in closing, in a view, or in other transfers, each of which goes on to its end. */
static void unseen_close(int way, MPI_File fh)
{
	MPI_Request r;
	int v = 0;

	if (way == 1)
		OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	while (way == 2 && tst.rank && !handled) {
		OK(MPI_File_iread_at(fh, 0, &v, 1, MPI_INT, &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	if (!tst.rank)
		OK(MPI_File_close(&fh));
	else if (way == 0)
		FAILS(MPI_File_close(&fh), MPI_ERR_COUNT);
}

static void handler_closes_later(void)
{
	MPI_Errhandler handler;
	int way, v[2];

	if (tst.size < 2)
		return tst_skip("needs two ranks");
	MPI_File_create_errhandler(close_it, &handler);
	for (way = 0; way < 3; way++) {
		MPI_File fh = hostile_file(".unseen");

		if (fh == MPI_FILE_NULL)
			break;
		handled = 0;
		if (tst.rank)
			MPI_File_set_errhandler(fh, handler);
		fail_unseen(fh, v);
		unseen_close(way, fh);
		if (!tst.rank)
			CHECK(!handled, "way %d: it was called on rank 0", way);
		else if (way < 2)
			CHECK(handled == 1, "way %d: it was called %d times", way, handled);
		else
			CHECK(handled >= 1, "way %d: it was not called", way);
	}
	MPI_Errhandler_free(&handler);
}

/* A file that is closed is none any more, and the next one is not harmed by what is done to it. */
static void closed_twice(void)
{
	MPI_File fh, gone, next;
	int v = tst.rank, back = -1;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = gone = tst_create(".gone");
	if (fh == MPI_FILE_NULL)
		return;
	tst_close(&fh);
	FAILS(MPI_File_read_at(gone, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
	FAILS(MPI_File_seek(gone, 0, MPI_SEEK_SET), MPI_ERR_FILE);
	FAILS(MPI_File_close(&gone), MPI_ERR_FILE);
	next = tst_create(".next");
	if (next == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at_all(next, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(next, 4 * tst.rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(back == tst.rank, "read %d", back);
	tst_close(&next);
}

static void open_none(MPI_Errhandler handler)
{
	MPI_Errhandler before;
	MPI_File fh;

	MPI_File_get_errhandler(MPI_FILE_NULL, &before);
	MPI_File_set_errhandler(MPI_FILE_NULL, handler);
	FAILS(MPI_File_open(MPI_COMM_WORLD, tst_file(".nowhere"), MPI_MODE_RDONLY, MPI_INFO_NULL,
			    &fh),
	      MPI_ERR_NO_SUCH_FILE);
	MPI_File_set_errhandler(MPI_FILE_NULL, before);
}

static int refused;

/* What it is given is no file of the program's, and closing it an error, of which no handler is to hear again. */
static void close_none(MPI_File *fh, int *code, ...)
{
	MPI_File mine = *fh;

	(void)code;
	handled++;
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	refused += MPI_File_close(&mine) != MPI_SUCCESS;
}

/* An open fails, and its error handler closes. */
static void handler_closes_none(void)
{
	MPI_Errhandler handler;
	MPI_File fh;
	int i, v = 0;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	MPI_File_create_errhandler(close_none, &handler);
	handled = refused = 0;
	for (i = 0; i < 4; i++) {
		open_none(handler);
		fh = tst_create(".after");
		if (fh == MPI_FILE_NULL)
			break;
		OK(MPI_File_write_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		tst_close(&fh);
	}
	CHECK(handled == 4 && refused == 4, "the handler was called %d times, and refused %d times",
	      handled, refused);
	MPI_Errhandler_free(&handler);
}

static jmp_buf out_of_open;
static MPI_Errhandler seen_in_handler;

/* It does not return, as one of C++ that throws. */
static void leave_it(MPI_File *fh, int *code, ...)
{
	(void)fh;
	(void)code;
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &seen_in_handler);
	longjmp(out_of_open, 1);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void open_and_leave(const char *name, int amode)
{
	MPI_File fh;

	if (setjmp(out_of_open))
		return;
	MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &fh);
	tst_fail("the error handler of MPI_FILE_NULL was not called");
}

/* The communicator is as it was, and nothing is left of the file. */
static void handler_leaves_open(void)
{
	MPI_Errhandler handler, mine, others, before;
	const char *none = tst_file(".nowhere");
	int i, fds;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	MPI_File_create_errhandler(leave_it, &handler);
	MPI_File_get_errhandler(MPI_FILE_NULL, &before);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_File_set_errhandler(MPI_FILE_NULL, handler);
	open_and_leave(none, MPI_MODE_RDONLY);
	fds = descriptors();
	for (i = 0; i < 20; i++) {
		open_and_leave(none, MPI_MODE_RDONLY);
		CHECK(seen_in_handler == MPI_ERRORS_ARE_FATAL,
		      "in the handler the communicator has another error handler");
	}
	CHECK(descriptors() <= fds, "%d descriptors are left", descriptors() - fds);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &others);
	CHECK(others == MPI_ERRORS_ARE_FATAL, "the communicator has another error handler");
	MPI_File_set_errhandler(MPI_FILE_NULL, before);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
	MPI_Errhandler_free(&handler);
}

static const struct mpiio_case cases[] = {
	{ "hostile/different calls", different_calls },
	{ "hostile/large room", large_room },
	{ "hostile/much of nothing", much_of_nothing },
	{ "hostile/beyond numbers", beyond_numbers },
	{ "hostile/beyond numbers together", beyond_together },
	{ "hostile/types in types", types_in_types },
	{ "hostile/forks", forks },
	{ "hostile/handler closes", handler_closes },
	{ "hostile/handler closes later", handler_closes_later },
	{ "hostile/handler closes none", handler_closes_none },
	{ "hostile/handler leaves open", handler_leaves_open },
	{ "hostile/closed twice", closed_twice },
};

void hostile_cases(void)
{
	CASES(cases);
}
