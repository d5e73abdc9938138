// SPDX-License-Identifier: GPL-2.0-only
/* Requests of files: each call, each way to complete one, and in company of messages. */
#include "tests/mpiio/functions/functions.h"
#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>

enum { PART = 600, PIECES = 6, PIECE = PART / PIECES };

static MPI_Offset base(void)
{
	return (MPI_Offset)PART * tst.rank;
}

static MPI_File filled(const char *suffix, uint64_t seed)
{
	MPI_File fh = tst_create(suffix);
	unsigned char buf[PART];
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return fh;
	tst_fill(buf, PART, seed, base());
	OK(MPI_File_iwrite_at(fh, base(), buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	tst_sync(fh);
	return fh;
}

static void at(void)
{
	MPI_File fh = tst_create(".iat");
	unsigned char buf[PART];
	MPI_Offset where = -1;
	MPI_Status status;
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 41, base());
	OK(MPI_File_iwrite_at(fh, base(), buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, &status));
	CHECK(r == MPI_REQUEST_NULL, "the request is not MPI_REQUEST_NULL after MPI_Wait");
	tst_count(&status, MPI_BYTE, PART, "iwrite_at");
	memset(buf, 0, PART);
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_BYTE, PART, "iread_at");
	tst_same(buf, PART, 41, base(), "iread_at");
	OK(MPI_File_get_position(fh, &where));
	CHECK(where == 0, "explicit offsets moved the pointer to %lld", (long long)where);
	tst_close(&fh);
}

/* The pointer moves when the call returns. */
static void pointer(void)
{
	MPI_File fh = tst_create(".iptr");
	unsigned char buf[PART];
	MPI_Request r[PIECES];
	MPI_Offset where = -1;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 42, base());
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	for (i = 0; i < PIECES; i++)
		OK(MPI_File_iwrite(fh, buf + PIECE * i, PIECE, MPI_BYTE, &r[i]));
	OK(MPI_File_get_position(fh, &where));
	CHECK(where == base() + PART, "the pointer is at %lld", (long long)where);
	OK(MPI_Waitall(PIECES, r, MPI_STATUSES_IGNORE));
	memset(buf, 0, PART);
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	for (i = 0; i < PIECES; i++)
		OK(MPI_File_iread(fh, buf + PIECE * i, PIECE, MPI_BYTE, &r[i]));
	OK(MPI_File_get_position(fh, &where));
	CHECK(where == base() + PART, "then the pointer is at %lld", (long long)where);
	OK(MPI_Waitall(PIECES, r, MPI_STATUSES_IGNORE));
	tst_same(buf, PART, 42, base(), "iread");
	tst_close(&fh);
}

/* Collective ones: MPI 3.1. */
static void at_all(void)
{
	MPI_File fh = tst_create(".iatall");
	unsigned char buf[PART];
	MPI_Offset at = (MPI_Offset)PART * (tst.size - 1 - tst.rank);
	MPI_Status status;
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 43, base());
	OK(MPI_File_iwrite_at_all(fh, base(), buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_BYTE, PART, "iwrite_at_all");
	tst_sync(fh);
	OK(MPI_File_iread_at_all(fh, at, buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_BYTE, PART, "iread_at_all");
	tst_same(buf, PART, 43, at, "iread_at_all");
	tst_close(&fh);
}

static void all(void)
{
	MPI_File fh = tst_create(".iall");
	unsigned char buf[PART];
	MPI_Offset where = -1;
	MPI_Status status;
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 44, base());
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	OK(MPI_File_iwrite_all(fh, buf, PART, MPI_BYTE, &r));
	OK(MPI_File_get_position(fh, &where));
	OK(MPI_Wait(&r, &status));
	CHECK(where == base() + PART, "the pointer is at %lld", (long long)where);
	tst_count(&status, MPI_BYTE, PART, "iwrite_all");
	OK(MPI_File_seek(fh, base(), MPI_SEEK_SET));
	memset(buf, 0, PART);
	OK(MPI_File_iread_all(fh, buf, PART, MPI_BYTE, &r));
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_BYTE, PART, "iread_all");
	tst_same(buf, PART, 44, base(), "iread_all");
	tst_close(&fh);
}

/* Several collective requests at once, completed in another order on each rank. */
static void all_at_once(void)
{
	MPI_File fh = tst_create(".ionce");
	unsigned char buf[PIECES][PIECE];
	MPI_Request r[PIECES];
	int i, k;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < PIECES; i++) {
		MPI_Offset at = (MPI_Offset)PIECE * (i * tst.size + tst.rank);

		tst_fill(buf[i], PIECE, 45, at);
		OK(MPI_File_iwrite_at_all(fh, at, buf[i], PIECE, MPI_BYTE, &r[i]));
	}
	for (i = 0; i < PIECES; i++) {
		k = (i + tst.rank) % PIECES;
		OK(MPI_Wait(&r[k], MPI_STATUS_IGNORE));
	}
	tst_sync(fh);
	memset(buf, 0, sizeof(buf));
	OK(MPI_File_read_at_all(fh, base(), buf, PART, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, PART, 45, base(), "contents");
	tst_close(&fh);
}

static void begin_reads(MPI_File fh, unsigned char *buf, MPI_Request *r)
{
	int i;

	memset(buf, 0, PART);
	for (i = 0; i < PIECES; i++)
		OK(MPI_File_iread_at(fh, base() + PIECE * i, buf + PIECE * i, PIECE, MPI_BYTE,
				     &r[i]));
}

static void waits(void)
{
	MPI_File fh = filled(".iwait", 46);
	unsigned char buf[PART];
	MPI_Request r[PIECES];
	MPI_Status st[PIECES];
	int i, k, n, done, index[PIECES];

	if (fh == MPI_FILE_NULL)
		return;
	begin_reads(fh, buf, r);
	OK(MPI_Waitall(PIECES, r, st));
	tst_same(buf, PART, 46, base(), "by Waitall");
	for (i = 0; i < PIECES; i++)
		tst_count(&st[i], MPI_BYTE, PIECE, "by Waitall");
	begin_reads(fh, buf, r);
	for (i = 0; i < PIECES; i++) {
		k = -5;
		OK(MPI_Waitany(PIECES, r, &k, &st[0]));
		CHECK(k >= 0 && k < PIECES, "Waitany's index is %d", k);
		tst_count(&st[0], MPI_BYTE, PIECE, "by Waitany");
	}
	OK(MPI_Waitany(PIECES, r, &k, &st[0]));
	CHECK(k == MPI_UNDEFINED, "of null requests Waitany's index is %d", k);
	tst_same(buf, PART, 46, base(), "by Waitany");
	begin_reads(fh, buf, r);
	for (done = 0; done < PIECES; done += n) {
		n = 0;
		if (!OK(MPI_Waitsome(PIECES, r, &n, index, st)) || n == MPI_UNDEFINED)
			break;
		for (i = 0; i < n; i++)
			tst_count(&st[i], MPI_BYTE, PIECE, "by Waitsome");
	}
	CHECK(done == PIECES, "Waitsome completed %d", done);
	tst_same(buf, PART, 46, base(), "by Waitsome");
	tst_close(&fh);
}

static void tests(void)
{
	MPI_File fh = filled(".itest", 47);
	unsigned char buf[PART];
	MPI_Request r[PIECES];
	MPI_Status st[PIECES];
	int i, k, n, done, index[PIECES], flag = 0;

	if (fh == MPI_FILE_NULL)
		return;
	begin_reads(fh, buf, r);
	/* MPICH's own now and then drops a request twice in MPI_Testall: it aborts, or hangs later. */
	if (!tst.strict && !TST_OPEN_MPI)
		OK(MPI_Waitall(PIECES, r, st));
	while (!flag)
		OK(MPI_Testall(PIECES, r, &flag, st));
	tst_same(buf, PART, 47, base(), "by Testall");
	for (i = 0; i < PIECES; i++)
		CHECK(r[i] == MPI_REQUEST_NULL, "request %d is left", i);
	begin_reads(fh, buf, r);
	for (i = 0; i < PIECES; i++) {
		for (flag = 0; !flag;)
			OK(MPI_Test(&r[i], &flag, &st[i]));
		tst_count(&st[i], MPI_BYTE, PIECE, "by Test");
	}
	tst_same(buf, PART, 47, base(), "by Test");
	begin_reads(fh, buf, r);
	for (i = 0; i < PIECES; i++) {
		for (flag = 0; !flag;)
			OK(MPI_Testany(PIECES, r, &k, &flag, &st[0]));
		tst_count(&st[0], MPI_BYTE, PIECE, "by Testany");
	}
	tst_same(buf, PART, 47, base(), "by Testany");
	begin_reads(fh, buf, r);
	for (done = 0; done < PIECES; done += n) {
		if (!OK(MPI_Testsome(PIECES, r, &n, index, st)) || n == MPI_UNDEFINED)
			break;
	}
	CHECK(done == PIECES, "Testsome completed %d", done);
	tst_same(buf, PART, 47, base(), "by Testsome");
	tst_close(&fh);
}

static void get_status(void)
{
	MPI_File fh = filled(".istat", 48);
	unsigned char buf[PART];
	MPI_Request r;
	MPI_Status status;
	int flag = 0, tries = tst.strict ? 1 << 30 : 1000;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r));
	/* MPICH's own makes no progress by this call. */
	while (!flag && tries--)
		OK(MPI_Request_get_status(r, &flag, &status));
	CHECK(r != MPI_REQUEST_NULL, "MPI_Request_get_status freed the request");
	if (flag)
		tst_same(buf, PART, 48, base(), "after MPI_Request_get_status");
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_BYTE, PART, "after it");
	tst_close(&fh);
}

/* Of MPI 4.1: an MPI that is older has them from what stands before it. */
struct asking {
	int (*all)(int n, const MPI_Request *r, int *flag, MPI_Status *st);
	int (*any)(int n, const MPI_Request *r, int *index, int *flag, MPI_Status *st);
	int (*some)(int n, const MPI_Request *r, int *done, int *indices, MPI_Status *st);
};

static void find_into(void *slot, const char *name)
{
	void *fn = dlsym(RTLD_DEFAULT, name);

	memcpy(slot, &fn, sizeof(fn));
}

static bool asking_find(struct asking *ask)
{
	find_into(&ask->all, "MPI_Request_get_status_all");
	find_into(&ask->any, "MPI_Request_get_status_any");
	find_into(&ask->some, "MPI_Request_get_status_some");
	return ask->all && ask->any && ask->some;
}

/* Of nothing: it is over, and nobody in particular is. */
static void ask_for_none(const struct asking *ask)
{
	const MPI_Request none[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int flag = 0, index = -1, indices[2];

	OK(ask->all(2, none, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag, "no request is not over");
	OK(ask->any(2, none, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(flag && index == MPI_UNDEFINED, "of none, number %d is over", index);
	OK(ask->some(2, none, &index, indices, MPI_STATUSES_IGNORE));
	CHECK(index == MPI_UNDEFINED, "of none, %d are over", index);
}

/* A message that nobody has sent, a file's request, and none. */
static void ask_for_one(const struct asking *ask, const MPI_Request *r)
{
	int flag = 0, index = -1, done = -1, indices[3] = { -1, -1, -1 };
	MPI_Status st[3];

	while (!flag)
		if (!OK(ask->any(3, r, &index, &flag, st)))
			return;
	CHECK(index == 1, "number %d is over", index);
	tst_count(st, MPI_BYTE, PART, "MPI_Request_get_status_any");
	OK(ask->some(3, r, &done, indices, st));
	CHECK(done == 1 && indices[0] == 1, "%d are over, first %d", done, indices[0]);
	tst_count(st, MPI_BYTE, PART, "MPI_Request_get_status_some");
	OK(ask->all(3, r, &flag, st));
	CHECK(!flag, "a message is here that nobody has sent");
	CHECK(r[1] != MPI_REQUEST_NULL, "the request was freed");
}

static void get_statuses(void)
{
	MPI_File fh = filled(".istats", 48);
	int to = (tst.rank + 1) % tst.size, from = (tst.rank + tst.size - 1) % tst.size;
	int late = 700 + tst.rank, in = -1, flag = 0;
	unsigned char buf[PART];
	struct asking ask;
	MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Status st[3];

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.strict || !asking_find(&ask)) {
		CHECK(!tst.strict, "MPI_Request_get_status_all() or one of its kin is not there");
		tst_skip("only with --ddio");
		tst_close(&fh);
		return;
	}
	MPI_Irecv(&in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &r[0]);
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r[1]));
	ask_for_one(&ask, r);
	tst_same(buf, PART, 48, base(), "after MPI_Request_get_status_any");
	tst_barrier();
	MPI_Send(&late, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r[2]));
	while (!flag && OK(ask.all(3, r, &flag, st)))
		;
	CHECK(in == 700 + from, "the late message says %d", in);
	tst_count(&st[2], MPI_BYTE, PART, "MPI_Request_get_status_all");
	OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
	ask_for_none(&ask);
	tst_close(&fh);
}

/* Messages and files in one array. */
static void in_company(void)
{
	MPI_File fh = filled(".icomp", 49);
	int to = (tst.rank + 1) % tst.size, from = (tst.rank + tst.size - 1) % tst.size;
	int out = 500 + tst.rank, in = -1, late = 600 + tst.rank, late_in = -1;
	unsigned char buf[PART];
	MPI_Request r[5];
	MPI_Status st[5];

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Irecv(&late_in, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &r[0]);
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r[1]));
	r[2] = MPI_REQUEST_NULL;
	MPI_Irecv(&in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r[3]);
	MPI_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r[4]);
	OK(MPI_Waitall(4, r + 1, st + 1));
	CHECK(in == 500 + from, "the message says %d", in);
	tst_count(&st[1], MPI_BYTE, PART, "the file's");
	tst_count(&st[3], MPI_INT, 1, "the message's");
	tst_same(buf, PART, 49, base(), "the file's");
	/* A file's request completes although a message that stands before it has not been sent. */
	OK(MPI_File_iread_at(fh, base(), buf, PART, MPI_BYTE, &r[1]));
	for (in = -1; in != 1;)
		OK(MPI_Waitany(2, r, &in, &st[0]));
	tst_count(&st[0], MPI_BYTE, PART, "Waitany's");
	MPI_Send(&late, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(late_in == 600 + from, "the late message says %d", late_in);
	tst_close(&fh);
}

/* Many in flight, over more than one file. */
static void crowd(void)
{
	enum { N = 64 };
	MPI_File a = tst_create(".crowd1"), b = tst_create(".crowd2");
	int i, v[N], w[N];
	MPI_Request r[2 * N];

	if (a != MPI_FILE_NULL && b != MPI_FILE_NULL) {
		for (i = 0; i < N; i++) {
			MPI_Offset at = 4 * ((MPI_Offset)i * tst.size + tst.rank);

			v[i] = 1000 * i + tst.rank;
			OK(MPI_File_iwrite_at(a, at, &v[i], 1, MPI_INT, &r[2 * i]));
			OK(MPI_File_iwrite_at(b, at, &v[i], 1, MPI_INT, &r[2 * i + 1]));
		}
		OK(MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE));
		memset(w, 0, sizeof(w));
		for (i = 0; i < N; i++)
			OK(MPI_File_iread_at(i % 2 ? a : b,
					     4 * ((MPI_Offset)i * tst.size + tst.rank), &w[i], 1,
					     MPI_INT, &r[i]));
		OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
		for (i = 0; i < N; i++)
			CHECK(w[i] == v[i], "integer %d is %d, not %d", i, w[i], v[i]);
	}
	if (a != MPI_FILE_NULL)
		tst_close(&a);
	if (b != MPI_FILE_NULL)
		tst_close(&b);
}

/* Types in memory and file, and a short count. */
static void types(void)
{
	MPI_File fh = tst_create(".itypes");
	MPI_Datatype mem, every;
	int i, v[40], w[40];
	MPI_Status status;
	MPI_Request r;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_vector(10, 1, 4, MPI_INT, &mem);
	MPI_Type_create_resized(MPI_INT, 0, 4 * tst.size, &every);
	MPI_Type_commit(&mem);
	MPI_Type_commit(&every);
	for (i = 0; i < 40; i++)
		v[i] = 100 * tst.rank + i;
	OK(MPI_File_set_view(fh, 4 * tst.rank, MPI_INT, every, "native", MPI_INFO_NULL));
	OK(MPI_File_iwrite_at(fh, 5, v, 1, mem, &r));
	OK(MPI_Wait(&r, &status));
	tst_count(&status, MPI_INT, 10, "written");
	/* No rank of another's has written beyond its own last integer before it looks for the end. */
	tst_sync(fh);
	memset(w, 0xee, sizeof(w));
	OK(MPI_File_iread_at(fh, 5, w, 1, mem, &r));
	OK(MPI_Wait(&r, &status));
	for (i = 0; i < 40; i++)
		CHECK(w[i] == (i % 4 ? (int)0xeeeeeeee : v[i]), "integer %d is %d", i, w[i]);
	/* MPICH's own counts 10; Open MPI's never returns. */
	if (tst.strict) {
		OK(MPI_File_iread_at(fh, 12, w, 10, MPI_INT, &r));
		OK(MPI_Wait(&r, &status));
		tst_count(&status, MPI_INT, 3, "over the end");
		CHECK(w[2] == v[36], "the last integer is %d", w[2]);
	}
	MPI_Type_free(&mem);
	MPI_Type_free(&every);
	tst_close(&fh);
}

/* A type may be freed while its request is under way. */
static void freed_type(void)
{
	MPI_File fh = tst_create(".ifreed");
	unsigned char buf[PART], back[PART / 2];
	MPI_Datatype t;
	MPI_Request r;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 50, 0);
	MPI_Type_vector(PART / 2, 1, 2, MPI_BYTE, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_iwrite_at(fh, PART / 2 * tst.rank, buf, 1, t, &r));
	MPI_Type_free(&t);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at(fh, PART / 2 * tst.rank, back, PART / 2, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < PART / 2; i++)
		CHECK(back[i] == tst_byte(50, 2 * i), "byte %d is 0x%02x", i, back[i]);
	tst_close(&fh);
}

/* MPI_Request_free() does not wait: the next rank makes its call only when this one has gone on. */
static void freed_request(void)
{
	MPI_File fh = tst_create(".freedreq");
	unsigned char buf[3][PART], back[PART];
	MPI_Request r;
	int i, go = 0;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 3; i++) {
		MPI_Offset at = (MPI_Offset)(i * tst.size + tst.rank) * PART;

		tst_fill(buf[i], PART, 60, (uint64_t)at);
		if (tst.rank)
			MPI_Recv(&go, 1, MPI_INT, tst.rank - 1, i, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		OK(MPI_File_iwrite_at_all(fh, at, buf[i], PART, MPI_BYTE, &r));
		OK(MPI_Request_free(&r));
		CHECK(r == MPI_REQUEST_NULL, "the request is still there");
		if (tst.rank + 1 < tst.size)
			MPI_Send(&go, 1, MPI_INT, tst.rank + 1, i, MPI_COMM_WORLD);
	}
	tst_close(&fh); /* which ends them */
	fh = tst_open(tst_file(".freedreq"), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 3; i++) {
		OK(MPI_File_read_at(fh, (MPI_Offset)(i * tst.size + tst.rank) * PART, back, PART,
				    MPI_BYTE, MPI_STATUS_IGNORE));
		tst_bytes(back, buf[i], PART, "what a freed request wrote");
	}
	tst_close(&fh);
}

/* Of patient.so, where it is loaded. */
long patient_naps(void) __attribute__((weak));

/* How often this thread has slept, other than where patient.so makes it sleep. */
static long sleeps(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw - (patient_naps ? patient_naps() : 0);
}

/*
 * A program that does nothing but ask leaves the processor to those that move its data: the request is not over before the other
 * ranks are told to come, and that is when this one has slept.
 */
enum { SLEEPS = 50, LOOKS = 2000000 };

static void ask(MPI_Request *r)
{
	long before = sleeps();
	int flag = 0, looks;

	for (looks = 0; looks < LOOKS && sleeps() - before < SLEEPS && !flag; looks++)
		switch (looks % 3) {
		case 0:
			OK(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
			break;
		case 1:
			OK(MPI_Testall(1, r, &flag, MPI_STATUS_IGNORE));
			break;
		case 2:
			OK(MPI_Request_get_status(*r, &flag, MPI_STATUS_IGNORE));
			break;
		}
	CHECK(!flag, "it was over before the others came");
	CHECK(sleeps() - before >= SLEEPS, "%d looks, and it slept %ld times", looks,
	      sleeps() - before);
}

static void asks(void)
{
	MPI_File fh = tst_create(".iask");
	unsigned char buf[PART];
	MPI_Request r;
	int rank;

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.strict || tst.size == 1) {
		tst_skip("only with --ddio and several ranks");
		tst_close(&fh);
		return;
	}
	if (tst.rank)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	tst_fill(buf, PART, 47, base());
	OK(MPI_File_iwrite_at_all(fh, base(), buf, PART, MPI_BYTE, &r));
	if (!tst.rank)
		ask(&r);
	for (rank = 1; !tst.rank && rank < tst.size; rank++)
		MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	tst_close(&fh);
}

void nonblocking_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "nonblocking/at", at },
		{ "nonblocking/pointer", pointer },
		{ "nonblocking/at_all", at_all },
		{ "nonblocking/all", all },
		{ "nonblocking/all_at_once", all_at_once },
		{ "nonblocking/wait", waits },
		{ "nonblocking/test", tests },
		{ "nonblocking/asks", asks },
		{ "nonblocking/get_status", get_status },
		{ "nonblocking/get_statuses", get_statuses },
		{ "nonblocking/in_company", in_company },
		{ "nonblocking/crowd", crowd },
		{ "nonblocking/types", types },
		{ "nonblocking/freed_type", freed_type },
		{ "nonblocking/freed_request", freed_request },
	};

	CASES(cases);
}
