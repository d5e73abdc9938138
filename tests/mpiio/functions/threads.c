// SPDX-License-Identifier: GPL-2.0-only
/* MPI_THREAD_MULTIPLE: two threads of each rank, in calls of two files and of the same. */
#include "tests/mpiio/functions/threads.h"

enum { ROUNDS = 30, RECORDS = 500, REQUESTS = 70 };

void thread_note(struct crossing *w, int rc)
{
	if (rc != MPI_SUCCESS && !w->failed)
		w->failed = rc;
}

void threads_run(struct crossing *w, void *(*body)(void *arg))
{
	int i;

	for (i = 0; i < THREADS; i++) {
		w[i].number = i;
		pthread_create(&w[i].thread, NULL, body ? body : w[i].body, &w[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		OK(w[i].failed);
		CHECK(!w[i].wrong, "%d wrong values in thread %d", w[i].wrong, i);
	}
}

bool threads_are_there(void)
{
	if (!tst.strict || !tst.threads)
		tst_skip("only with --ddio and --threads");
	return tst.strict && tst.threads;
}

/* Every kind of collective call: those that ask disks, and those that only tell each other. */
static void *collectives(void *arg)
{
	struct crossing *w = arg;
	MPI_Offset size = 0;
	int i, v;

	for (i = 0; i < ROUNDS; i++) {
		v = 100 * i + tst.rank + 7 * w->number;
		thread_note(w, MPI_File_write_at_all(w->fh, 4 * tst.rank, &v, 1, MPI_INT,
						     MPI_STATUS_IGNORE));
		thread_note(w, MPI_File_set_size(w->fh, 4 * tst.size + i + w->number));
		thread_note(w, MPI_File_seek_shared(w->fh, 4 * tst.size + i, MPI_SEEK_SET));
		thread_note(w, MPI_File_write_ordered(w->fh, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
		thread_note(w, MPI_File_sync(w->fh));
		v = 0;
		thread_note(w, MPI_File_read_at_all(w->fh, 4 * tst.rank, &v, 1, MPI_INT,
						    MPI_STATUS_IGNORE));
		w->wrong += v != 100 * i + tst.rank + 7 * w->number;
		thread_note(w, MPI_File_get_size(w->fh, &size));
		w->wrong += size != 5 * tst.size + i;
	}
	return NULL;
}

static void two_files(void)
{
	struct crossing w[THREADS] = { { 0 } };
	int i;

	if (!threads_are_there())
		return;
	w[0].fh = tst_create(".two0");
	w[1].fh = tst_create(".two1");
	if (w[0].fh != MPI_FILE_NULL && w[1].fh != MPI_FILE_NULL)
		threads_run(w, collectives);
	for (i = 0; i < THREADS; i++)
		if (w[i].fh != MPI_FILE_NULL)
			tst_close(&w[i].fh);
}

/* As many records as were written, and of each thread as many as it wrote: none took another's place. */
static void *records(void *arg)
{
	struct crossing *w = arg;
	int i, v = w->number;

	for (i = 0; i < RECORDS; i++)
		thread_note(w, MPI_File_write(w->fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	return NULL;
}

static void one_pointer(void)
{
	struct crossing w[THREADS] = { { 0 } };
	int got[THREADS * RECORDS] = { 0 }, of_second = 0, i;
	MPI_Offset where = 0, base = (MPI_Offset)sizeof(got) * tst.rank;
	MPI_File fh;

	if (!threads_are_there())
		return;
	fh = tst_create(".ptr2");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	w[0].fh = w[1].fh = fh;
	threads_run(w, records);
	OK(MPI_File_get_position(fh, &where));
	CHECK(where == base + (MPI_Offset)sizeof(got), "the pointer is at %lld", (long long)where);
	OK(MPI_File_read_at(fh, base, got, THREADS * RECORDS, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < THREADS * RECORDS; i++)
		of_second += got[i];
	CHECK(of_second == RECORDS, "%d records of the second thread, not %d", of_second, RECORDS);
	tst_close(&fh);
}

/* MPI_ERR_IN_STATUS by itself says nothing: the request's own error is noted. */
static void note_several(struct crossing *w, int rc, const MPI_Status *statuses, int n)
{
	int i;

	for (i = 0; rc == MPI_ERR_IN_STATUS && i < n; i++)
		thread_note(w, statuses[i].MPI_ERROR);
	thread_note(w, rc);
}

/* More requests than begin at once, in both modes, completed in each way. */
static void *requests(void *arg)
{
	struct crossing *w = arg;
	MPI_Offset base = 4 * REQUESTS * (MPI_Offset)(THREADS * tst.rank + w->number);
	int v[REQUESTS], i, done = 0;
	MPI_Request r[REQUESTS];
	MPI_Status statuses[REQUESTS];

	for (i = 0; i < REQUESTS; i++) {
		v[i] = 3 * i + w->number;
		thread_note(w, MPI_File_iwrite_at(w->fh, base + 4 * i, &v[i], 1, MPI_INT, &r[i]));
	}
	while (!done)
		note_several(w, MPI_Testall(REQUESTS, r, &done, statuses), statuses, REQUESTS);
	for (i = 0; i < REQUESTS; i++) {
		v[i] = -1;
		thread_note(w, MPI_File_iread_at(w->fh, base + 4 * i, &v[i], 1, MPI_INT, &r[i]));
	}
	for (i = REQUESTS - 1; i >= 0; i--) {
		thread_note(w, MPI_Wait(&r[i], MPI_STATUS_IGNORE));
		w->wrong += v[i] != 3 * i + w->number;
	}
	return NULL;
}

static void many_requests(void)
{
	struct crossing w[THREADS] = { { 0 } };
	MPI_File fh;
	int atomic;

	if (!threads_are_there())
		return;
	fh = tst_create(".req2");
	if (fh == MPI_FILE_NULL)
		return;
	w[0].fh = w[1].fh = fh;
	for (atomic = 0; atomic < 2; atomic++) {
		OK(MPI_File_set_atomicity(fh, atomic));
		threads_run(w, requests);
	}
	tst_close(&fh);
}

static const struct mpiio_case cases[] = {
	{ "threads: collective calls of two files", two_files },
	{ "threads: one pointer", one_pointer },
	{ "threads: many requests", many_requests },
};

void threads_cases(void)
{
	CASES(cases);
}
