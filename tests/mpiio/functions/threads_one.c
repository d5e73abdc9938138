// SPDX-License-Identifier: GPL-2.0-only
/*
 * MPI_THREAD_MULTIPLE: what one thread of a rank does with a file while another is in a collective call of it, or opens and
 * closes others.
 */
#include "tests/mpiio/functions/threads.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { VIEWS = 60, OPENS = 3, HELD = 6, PLACES = 200, GATHERED = 40, CLOSES = 10, WAITED = 40 };
enum { SPLITS = 100, HINTS = 1000, ROUNDS = 40, ASKED = 20, OWN = 20 };

static _Atomic bool over;

/* Each thread with a communicator of its own, which it makes and frees, too: the orders of both differ on the ranks. */
static void open_some(struct crossing *w, MPI_Comm comm)
{
	MPI_File fh[HELD];
	char name[1100];
	int i, v;

	for (i = 0; i < HELD; i++) {
		snprintf(name, sizeof(name), "%s.held%d.%d", tst.path, w->number, i);
		thread_note(w, MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
					     MPI_INFO_NULL, &fh[i]));
		v = 100 * i + tst.rank;
		if (fh[i] != MPI_FILE_NULL)
			thread_note(w, MPI_File_write_at_all(fh[i], 4 * tst.rank, &v, 1, MPI_INT,
							     MPI_STATUS_IGNORE));
	}
	for (i = 0; i < HELD; i++) {
		if (fh[i] == MPI_FILE_NULL)
			continue;
		v = -1;
		thread_note(w, MPI_File_read_at_all(fh[i], 4 * tst.rank, &v, 1, MPI_INT,
						    MPI_STATUS_IGNORE));
		w->wrong += v != 100 * i + tst.rank;
		thread_note(w, MPI_File_close(&fh[i]));
	}
}

static void *opens(void *arg)
{
	struct crossing *w = arg;
	MPI_Comm comm;
	int i;

	for (i = 0; i < OPENS; i++) {
		thread_note(w, MPI_Comm_dup(w->comm, &comm));
		open_some(w, comm);
		thread_note(w, MPI_Comm_free(&comm));
	}
	return NULL;
}

/* The first case with threads: when it runs alone, their calls are the process's first ones. */
static void two_communicators(void)
{
	struct crossing w[THREADS] = { { 0 } };
	int i;

	if (!threads_are_there())
		return;
	for (i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &w[i].comm);
	threads_run(w, opens);
	for (i = 0; i < THREADS; i++)
		MPI_Comm_free(&w[i].comm);
}

/* Views of ints that are at every second place of the file, from the first or from the second: their values tell which. */
static void *views(void *arg)
{
	struct crossing *w = arg;
	MPI_Datatype type;
	int i;

	for (i = 0; i < VIEWS; i++) {
		MPI_Type_create_resized(MPI_INT, 0, 8, &type);
		MPI_Type_commit(&type);
		thread_note(w, MPI_File_set_view(w->fh, i % 2 ? 4 : 0, MPI_INT, type, "native",
						 MPI_INFO_NULL));
		MPI_Type_free(&type);
	}
	over = true;
	return NULL;
}

/* As if the two had been one after the other: a read sees one view or the other. */
static void *looks(void *arg)
{
	struct crossing *w = arg;
	int v[PLACES], i;

	while (!over) {
		MPI_Datatype etype, filetype;
		MPI_Offset disp = -1, byte = -1;
		char rep[MPI_MAX_DATAREP_STRING];

		memset(v, 0, sizeof(v));
		thread_note(w, MPI_File_read_at(w->fh, 0, v, PLACES, MPI_INT, MPI_STATUS_IGNORE));
		for (i = 0; i < PLACES; i++)
			w->wrong += v[i] != 2 * i + v[0] || v[0] < 1 || v[0] > 2;
		thread_note(w, MPI_File_get_byte_offset(w->fh, 10, &byte));
		w->wrong += byte != 80 && byte != 84;
		thread_note(w, MPI_File_get_view(w->fh, &disp, &etype, &filetype, rep));
		w->wrong += disp != 0 && disp != 4;
		if (filetype != MPI_INT && filetype != MPI_BYTE)
			MPI_Type_free(&filetype);
	}
	return NULL;
}

static void view_and_reads(void)
{
	struct crossing w[THREADS] = { { .body = views }, { .body = looks } };
	int v[2 * PLACES], i;
	MPI_Datatype type;

	if (!threads_are_there())
		return;
	w[0].fh = w[1].fh = tst_create(".looks");
	if (w[0].fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 2 * PLACES; i++)
		v[i] = i + 1;
	if (!tst.rank)
		OK(MPI_File_write_at(w[0].fh, 0, v, 2 * PLACES, MPI_INT, MPI_STATUS_IGNORE));
	tst_sync(w[0].fh);
	MPI_Type_create_resized(MPI_INT, 0, 8, &type);
	MPI_Type_commit(&type);
	OK(MPI_File_set_view(w[0].fh, 0, MPI_INT, type, "native", MPI_INFO_NULL));
	MPI_Type_free(&type);
	over = false;
	threads_run(w, NULL);
	tst_close(&w[0].fh);
}

/*
 * Small calls have been gathered, and this thread tells all of them to be written: which it can when the last rank comes, too.  That
 * waits for the other thread's word.
 */
static _Atomic bool under_way;

static void *syncs(void *arg)
{
	struct crossing *w = arg;

	under_way = true;
	thread_note(w, MPI_File_sync(w->fh));
	return NULL;
}

static void *reads_and_tells(void *arg)
{
	const struct timespec t = { .tv_nsec = 50000000 };
	struct crossing *w = arg;
	MPI_Offset size;
	int v = -1;

	while (!under_way)
		nanosleep(&t, NULL);
	nanosleep(&t, NULL);
	thread_note(w, MPI_File_read_at(w->fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	w->wrong += v != tst.rank;
	thread_note(w, MPI_File_get_size(w->fh, &size));
	MPI_Send(&v, 1, MPI_INT, tst.size - 1, 77, MPI_COMM_WORLD);
	return NULL;
}

static bool word_has_come(void)
{
	int there = 0;

	MPI_Iprobe(0, 77, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	return there != 0;
}

/* Without the word it comes all the same after a while, so that the test ends. */
static void last_comes(MPI_File fh)
{
	const struct timespec t = { .tv_nsec = 10000000 };
	int i, v;

	for (i = 0; i < 3000 && !word_has_come(); i++)
		nanosleep(&t, NULL);
	CHECK(word_has_come(), "a read waits for what another thread's collective call waits for");
	OK(MPI_File_sync(fh));
	MPI_Recv(&v, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void gathered_and_read(void)
{
	struct crossing w[THREADS] = { { .body = syncs }, { .body = reads_and_tells } };
	MPI_File fh;
	int i;

	if (!threads_are_there())
		return;
	if (tst.size == 1)
		return tst_skip("it wants several ranks");
	fh = tst_create(".gathered");
	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 4; i++)
		OK(MPI_File_write_at_all(fh, 4 * tst.rank, &tst.rank, 1, MPI_INT,
					 MPI_STATUS_IGNORE));
	w[0].fh = w[1].fh = fh;
	under_way = false;
	if (!tst.rank)
		threads_run(w, NULL);
	else if (tst.rank == tst.size - 1)
		last_comes(fh);
	else
		OK(MPI_File_sync(fh));
	tst_close(&fh);
}

/* One gathers, and has it written; the other sees its own file by itself, what it is and what was moved. */
static void *gathers(void *arg)
{
	struct crossing *w = arg;
	int i;

	for (i = 0; i < GATHERED; i++) {
		thread_note(w, MPI_File_write_at_all(w->fh, 4 * (tst.size * i + tst.rank), &i, 1,
						     MPI_INT, MPI_STATUS_IGNORE));
		if (i % 10 == 9)
			thread_note(w, MPI_File_sync(w->fh));
		if (i == GATHERED / 2) {
			thread_note(w, MPI_File_set_atomicity(w->fh, 1));
			thread_note(w, MPI_File_set_atomicity(w->fh, 0));
		}
	}
	over = true;
	return NULL;
}

static void *asks(void *arg)
{
	struct crossing *w = arg;
	MPI_Offset mine = 4 * tst.size * (GATHERED + 1) + 4 * tst.rank, size;
	MPI_Info info;
	int v = 0, got, atomic;

	for (v = 0; !over; v++) {
		thread_note(w, MPI_File_write_at(w->fh, mine, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		thread_note(w, MPI_File_read_at(w->fh, mine, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
		w->wrong += got != v;
		thread_note(w, MPI_File_get_size(w->fh, &size));
		thread_note(w, MPI_File_seek(w->fh, 0, MPI_SEEK_END));
		thread_note(w, MPI_File_get_atomicity(w->fh, &atomic));
		thread_note(w, MPI_File_get_info(w->fh, &info));
		MPI_Info_free(&info);
	}
	return NULL;
}

static void gathering_and_alone(void)
{
	struct crossing w[THREADS] = { { .body = gathers }, { .body = asks } };
	int v, i;

	if (!threads_are_there())
		return;
	w[0].fh = w[1].fh = tst_create(".alone");
	if (w[0].fh == MPI_FILE_NULL)
		return;
	over = false;
	threads_run(w, NULL);
	for (i = 0; i < GATHERED; i++) {
		v = -1;
		OK(MPI_File_read_at(w[0].fh, 4 * (tst.size * i + tst.rank), &v, 1, MPI_INT,
				    MPI_STATUS_IGNORE));
		CHECK(v == i, "%d of call %d", v, i);
	}
	tst_close(&w[0].fh);
}

/* Threads take places by the shared pointer: each record has its own. */
static void *places(void *arg)
{
	struct crossing *w = arg;
	int i, v = 1 + w->number;

	for (i = 0; i < PLACES; i++)
		thread_note(w, MPI_File_write_shared(w->fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	return NULL;
}

static void shared_pointer(void)
{
	struct crossing w[THREADS] = { { .body = places }, { .body = places } };
	int all = THREADS * PLACES * tst.size, i, v[PLACES], of_second = 0, none = 0;
	MPI_Offset where = 0;

	if (!threads_are_there())
		return;
	w[0].fh = w[1].fh = tst_create(".shared2");
	if (w[0].fh == MPI_FILE_NULL)
		return;
	threads_run(w, NULL);
	tst_sync(w[0].fh);
	OK(MPI_File_get_position_shared(w[0].fh, &where));
	CHECK(where == 4 * all, "the pointer is at %lld", (long long)where);
	for (i = 0; i < all; i += PLACES) {
		int k;

		OK(MPI_File_read_at(w[0].fh, 4 * i, v, PLACES, MPI_INT, MPI_STATUS_IGNORE));
		for (k = 0; k < PLACES; k++) {
			of_second += v[k] == 2;
			none += v[k] != 1 && v[k] != 2;
		}
	}
	CHECK(!none && of_second == all / 2, "%d records of the second thread, %d of none",
	      of_second, none);
	tst_close(&w[0].fh);
}

/*
 * One waits for requests of a file that the other closes, which must not be (MPI 4.0, section 14.2.2), but is how programs end that
 * have failed.
 */
static void *waits(void *arg)
{
	struct crossing *w = arg;
	int i;

	for (i = 0; i < WAITED; i++)
		thread_note(w, MPI_Wait(&w->request[i], MPI_STATUS_IGNORE));
	return NULL;
}

static void *closes(void *arg)
{
	struct crossing *w = arg;

	thread_note(w, MPI_File_close(&w->fh));
	return NULL;
}

static void wait_and_close(void)
{
	struct crossing w[THREADS] = { { .body = waits }, { .body = closes } };
	static char buf[(1 << 16) + 1];
	MPI_Request r[WAITED];
	int i, k;

	if (!threads_are_there())
		return;
	for (i = 0; i < CLOSES; i++) {
		w[1].fh = tst_create(".closed2");
		if (w[1].fh == MPI_FILE_NULL)
			return;
		w[0].request = r;
		for (k = 0; k < WAITED; k++)
			OK(MPI_File_iwrite_at(w[1].fh,
					      (MPI_Offset)sizeof(buf) * (tst.size * k + tst.rank),
					      buf, sizeof(buf), MPI_BYTE, &r[k]));
		threads_run(w, NULL);
		CHECK(r[WAITED - 1] == MPI_REQUEST_NULL && w[1].fh == MPI_FILE_NULL, "not ended");
	}
}

/* One has split collectives under way, which a call of one process does not meet. */
static void *splits(void *arg)
{
	struct crossing *w = arg;
	int i;

	for (i = 0; i < SPLITS; i++) {
		thread_note(w, MPI_File_write_at_all_begin(w->fh, 4 * tst.rank, &i, 1, MPI_INT));
		thread_note(w, MPI_File_write_at_all_end(w->fh, &i, MPI_STATUS_IGNORE));
	}
	over = true;
	return NULL;
}

static void *goes_alone(void *arg)
{
	struct crossing *w = arg;
	MPI_Offset mine = 4 * (tst.size + tst.rank);
	MPI_Request r;
	int v, got;

	for (v = 0; !over; v++) {
		got = -1;
		thread_note(w, MPI_File_write_at(w->fh, mine, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		thread_note(w, MPI_File_iread_at(w->fh, mine, &got, 1, MPI_INT, &r));
		thread_note(w, MPI_Wait(&r, MPI_STATUS_IGNORE));
		w->wrong += got != v;
	}
	return NULL;
}

static void split_and_alone(void)
{
	struct crossing w[THREADS] = { { .body = splits }, { .body = goes_alone } };

	if (!threads_are_there())
		return;
	w[0].fh = w[1].fh = tst_create(".split2");
	if (w[0].fh == MPI_FILE_NULL)
		return;
	over = false;
	threads_run(w, NULL);
	tst_close(&w[0].fh);
}

/* A hint is as it was set last, or before: one letter as often as it may be. */
enum { LETTERS = 200 };

static void *sets_hints(void *arg)
{
	struct crossing *w = arg;
	char value[LETTERS + 1] = "";
	MPI_Info info;
	int i;

	for (i = 0; i < HINTS; i++) {
		memset(value, 'a' + i % 26, LETTERS);
		MPI_Info_create(&info);
		MPI_Info_set(info, "letters", value);
		thread_note(w, MPI_File_set_info(w->fh, info));
		MPI_Info_free(&info);
	}
	over = true;
	return NULL;
}

static void *asks_for_hints(void *arg)
{
	struct crossing *w = arg;
	char value[LETTERS + 1];
	MPI_Info info;
	int there;

	while (!over) {
		thread_note(w, MPI_File_get_info(w->fh, &info));
		MPI_Info_get(info, "letters", LETTERS, value, &there);
		w->wrong += there && strspn(value, (const char[]){ *value, 0 }) != LETTERS;
		MPI_Info_free(&info);
	}
	return NULL;
}

static void hints(void)
{
	struct crossing w[THREADS] = { { .body = sets_hints }, { .body = asks_for_hints } };

	if (!threads_are_there())
		return;
	w[0].fh = w[1].fh = tst_create(".hints2");
	if (w[0].fh == MPI_FILE_NULL)
		return;
	over = false;
	threads_run(w, NULL);
	tst_close(&w[0].fh);
}

/*
 * One asks for all requests, of which the last is a message.  The other sees that those of the file are over, before it sends that: of
 * all none are over until then.
 */
static void *asks_for_all(void *arg)
{
	struct crossing *w = arg;
	int flag = 0, i;

	while (!flag)
		thread_note(w, MPI_Testall(ASKED + 1, w->request, &flag, MPI_STATUSES_IGNORE));
	for (i = 0; i <= ASKED; i++)
		w->wrong += w->request[i] != MPI_REQUEST_NULL;
	/* What it left. */
	thread_note(w, MPI_Waitall(ASKED + 1, w->request, MPI_STATUSES_IGNORE));
	return NULL;
}

static void *asks_for_each(void *arg)
{
	struct crossing *w = arg;
	int flag, i;

	for (i = 0; i < ASKED; i++)
		for (flag = 0; !flag;)
			thread_note(w, MPI_Request_get_status(w->request[i], &flag,
							      MPI_STATUS_IGNORE));
	thread_note(w, MPI_Send(NULL, 0, MPI_BYTE, tst.rank, 78, MPI_COMM_WORLD));
	return NULL;
}

/* Not under ThreadSanitizer: each MPI writes a request's status where it is asked for, by both threads. */
static void asked_by_both(void)
{
	struct crossing w[THREADS] = { { .body = asks_for_all }, { .body = asks_for_each } };
	MPI_Request r[ASKED + 1];
	static char buf[1 << 16];
	MPI_File fh;
	int i, k;

	if (!threads_are_there())
		return;
	fh = tst_create(".asked2");
	if (fh == MPI_FILE_NULL)
		return;
	w[0].request = w[1].request = r;
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < ASKED; k++)
			OK(MPI_File_iwrite_at(fh, (MPI_Offset)sizeof(buf) * tst.rank, buf,
					      sizeof(buf), MPI_BYTE, &r[k]));
		MPI_Irecv(NULL, 0, MPI_BYTE, tst.rank, 78, MPI_COMM_WORLD, &r[ASKED]);
		threads_run(w, NULL);
	}
	tst_close(&fh);
}

/*
 * Files that each thread has for itself, on MPI_COMM_SELF as programs do it: calls that wait for nobody need no order, and the MPIs
 * ask for none.  The first ones of a process are those when the case runs alone.
 */
static void *own_files(void *arg)
{
	struct crossing *w = arg;
	char name[1100];
	MPI_File fh;
	int i, v;

	snprintf(name, sizeof(name), "%s.self%d.%d", tst.path, tst.rank, w->number);
	for (i = 0; i < OWN; i++) {
		thread_note(w, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
					     MPI_INFO_NULL, &fh));
		if (fh == MPI_FILE_NULL)
			break;
		thread_note(w, MPI_File_write_at_all(fh, 0, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
		v = -1;
		thread_note(w, MPI_File_read_at_all(fh, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		w->wrong += v != i;
		thread_note(w, MPI_File_close(&fh));
	}
	return NULL;
}

static void each_its_own(void)
{
	struct crossing w[THREADS] = { { 0 } };

	if (threads_are_there())
		threads_run(w, own_files);
}

static const struct mpiio_case cases[] = {
	{ "threads: open and close on two communicators", two_communicators },
	{ "threads: a view is set, and the file read", view_and_reads },
	{ "threads: a read while others are awaited", gathered_and_read },
	{ "threads: gathered calls, and others", gathering_and_alone },
	{ "threads: the shared pointer", shared_pointer },
	{ "threads: a request's file is closed", wait_and_close },
	{ "threads: a split collective, and others", split_and_alone },
	{ "threads: hints", hints },
	{ "threads: files of their own", each_its_own },
	{ "requests: asked for by two threads", asked_by_both },
};

void threads_one_cases(void)
{
	CASES(cases);
}
