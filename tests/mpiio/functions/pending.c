// SPDX-License-Identifier: GPL-2.0-only
/* Requests in one another's way: those that are freed when they are over, have failed, or wait for ranks that have not come. */
#include "tests/mpiio/functions/functions.h"
#include <dlfcn.h>
#include <malloc.h>

enum { PIECE = 100 };

static bool is_strict(void)
{
	if (!tst.strict)
		tst_skip("only with --ddio");
	return tst.strict;
}

/* One that is over, as its program knows, is freed at once. */
static long kept_by_freed(MPI_File fh, int times)
{
	size_t before = mallinfo2().uordblks;
	unsigned char buf[PIECE] = { 0 };
	MPI_Request r;
	int i, flag;

	for (i = 0; i < times; i++) {
		OK(MPI_File_iwrite_at(fh, (MPI_Offset)PIECE * tst.rank, buf, PIECE, MPI_BYTE, &r));
		for (flag = 0; !flag;)
			if (!OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE)))
				break;
		OK(MPI_Request_free(&r));
	}
	return (long)(mallinfo2().uordblks - before);
}

static void freed_when_over(void)
{
	enum { TIMES = 500, EACH = 500 };
	MPI_File fh;
	long kept;

	if (!is_strict())
		return;
	fh = tst_create(".freedover");
	if (fh == MPI_FILE_NULL)
		return;
	kept_by_freed(fh, 10);
	kept = kept_by_freed(fh, TIMES);
	CHECK(kept < TIMES * EACH, "%d requests that were freed keep %ld bytes", TIMES, kept);
	tst_close(&fh);
}

/* One has failed, and a message has not come: as long as not all are over, that is no error of the call. */
static void failed_in_company(void)
{
	MPI_File fh;
	int to = (tst.rank + 1) % tst.size, from = (tst.rank + tst.size - 1) % tst.size;
	int in = -1, flag = 0, i, rc = MPI_SUCCESS;
	MPI_Request r[2];
	MPI_Status st[2];

	if (!is_strict())
		return;
	fh = tst_create(".ifailed");
	if (fh == MPI_FILE_NULL)
		return;
	MPI_Irecv(&in, 1, MPI_INT, from, 4, MPI_COMM_WORLD, &r[0]);
	OK(MPI_File_iwrite_at(fh, -1, "x", 1, MPI_BYTE, &r[1]));
	for (i = 0; i < 10; i++) {
		OK(MPI_Testall(2, r, &flag, st));
		CHECK(!flag && r[1] != MPI_REQUEST_NULL, "over without the message");
	}
	tst_barrier();
	MPI_Send(&tst.rank, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
	for (flag = 0; !flag;)
		rc = MPI_Testall(2, r, &flag, st);
	CHECK(rc == MPI_ERR_IN_STATUS && in == from, "code %d, the message says %d", rc, in);
	FAILS(st[1].MPI_ERROR, MPI_ERR_ARG);
	OK(st[0].MPI_ERROR);
	tst_close(&fh);
}

/*
 * So many that others are to take part in before they can be over, and one that is this rank's alone, or a smaller group's: it does
 * not wait for them.
 */
enum { CROWD = 60 };

static void begin_crowd(MPI_File fh, int *v, MPI_Request *r)
{
	int i;

	for (i = 0; i < CROWD; i++) {
		v[i] = 1000 * i + tst.rank;
		OK(MPI_File_iwrite_at_all(fh, 4 * ((MPI_Offset)i * tst.size + tst.rank), &v[i], 1,
					  MPI_INT, &r[i]));
	}
}

static void last_of_crowd(MPI_File fh)
{
	int v = -1, of = (tst.rank + 1) % tst.size;

	tst_sync(fh);
	OK(MPI_File_read_at(fh, 4 * ((MPI_Offset)(CROWD - 1) * tst.size + of), &v, 1, MPI_INT,
			    MPI_STATUS_IGNORE));
	CHECK(v == 1000 * (CROWD - 1) + of, "the last integer is %d", v);
}

/* Rank 0 tells the others to come when its own is over. */
static void past_crowd(MPI_File crowd, MPI_File other, bool together)
{
	int v[CROWD], mine = 7, i;
	MPI_Request r[CROWD], one = MPI_REQUEST_NULL;

	if (!tst.rank)
		begin_crowd(crowd, v, r);
	if (together)
		OK(MPI_File_iwrite_at_all(other, 4 * tst.rank, &mine, 1, MPI_INT, &one));
	else if (!tst.rank)
		OK(MPI_File_iwrite_at(other, 0, &mine, 1, MPI_INT, &one));
	OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
	for (i = 1; !tst.rank && i < tst.size; i++)
		MPI_Send(NULL, 0, MPI_BYTE, i, 5, MPI_COMM_WORLD);
	if (tst.rank) {
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		begin_crowd(crowd, v, r);
	}
	OK(MPI_Waitall(CROWD, r, MPI_STATUSES_IGNORE));
	last_of_crowd(crowd);
}

static void behind_crowd(void)
{
	MPI_File crowd, other = MPI_FILE_NULL;
	MPI_Comm comm;
	int rc;

	if (!is_strict())
		return;
	crowd = tst_create(".icrowd");
	if (crowd == MPI_FILE_NULL)
		return;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	rc = MPI_File_open(comm, tst_file(".ibehind"), MPI_MODE_CREATE | MPI_MODE_RDWR,
			   MPI_INFO_NULL, &other);
	if (tst_all(OK(rc))) {
		past_crowd(crowd, other, false);
		past_crowd(crowd, other, true);
		tst_close(&other);
	}
	MPI_Comm_free(&comm);
	tst_close(&crowd);
}

/*
 * The MPI has no memory for a request: a rank's call fails, and it takes part all the same, so that the others hear of it.
 */
static bool refuses;

int PMPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *forget,
			MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
	static int (*next)(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
			   MPI_Grequest_cancel_function *, void *, MPI_Request *);

	if (refuses)
		return MPI_ERR_INTERN;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "PMPI_Grequest_start");
	return next(query, forget, cancel, extra, request);
}

static void no_request(void)
{
	int v = 1000 + tst.rank, got, rc, k;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_File fh;

	if (!is_strict())
		return;
	fh = tst_create(".norequest");
	if (fh == MPI_FILE_NULL)
		return;
	for (k = 0; k < 3; k++) {
		refuses = !tst.rank;
		rc = MPI_File_iwrite_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, &r);
		refuses = false;
		if (tst.rank) {
			OK(rc);
			rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
		FAILS(rc, MPI_ERR_NO_MEM, MPI_ERR_ARG);
		CHECK(r == MPI_REQUEST_NULL, "there is a request");
		OK(MPI_File_iwrite_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		OK(MPI_File_read_at(fh, 4 * tst.rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK(got == v, "%d instead of %d", got, v);
	}
	refuses = true;
	FAILS(MPI_File_iwrite_at(fh, 4 * tst.rank, &v, 1, MPI_INT, &r), MPI_ERR_NO_MEM);
	refuses = false;
	tst_close(&fh);
}

static const struct mpiio_case cases[] = {
	{ "pending/freed_when_over", freed_when_over },
	{ "pending/failed_in_company", failed_in_company },
	{ "pending/behind_crowd", behind_crowd },
	{ "pending/no_request", no_request },
};

void pending_cases(void)
{
	CASES(cases);
}
