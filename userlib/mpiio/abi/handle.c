// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The program's handle of a file of ddio is a real file of the MPI, empty, opened for reading by this process alone:
 * so conversion to Fortran, error handlers, and functions that nobody thought of are the MPI's own, and a write that
 * escapes is an error instead of lost.  It lies in a folder of its own, since Open MPI makes another file beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "mpiio/abi/abi.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpiio_file *_Atomic files; /* changed under the lock */

/* Tickets of closed files, with their error handler as new: opening one costs more than keeping it. */
#define SPARE_MAX 8
static MPI_File spare[SPARE_MAX];
static unsigned int spares;
static _Atomic bool tickets_made; /* there may be some, or: */

/* By which the error handler of MPI_FILE_NULL is called, where that needs a file. */
static MPI_File nobodys;
static bool nobodys_there;

static bool folder_make(char *dir, size_t size, const char *tmp)
{
	return (size_t)snprintf(dir, size, "%s/ddio-mpiio.XXXXXX", tmp) < size && mkdtemp(dir);
}

/*
 * On a communicator that nobody else uses: a program's thread may be in a collective call on MPI_COMM_SELF.  One at a time, since this is
 * such a call, too.
 */
static int file_open(const char *path, MPI_File *ticket)
{
	static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
	static MPI_Comm alone = MPI_COMM_NULL;
	int ret = MPI_SUCCESS;

	pthread_mutex_lock(&opening);
	if (alone == MPI_COMM_NULL)
		ret = PMPI_Comm_dup(MPI_COMM_SELF, &alone);
	if (ret == MPI_SUCCESS)
		ret = real.File_open(alone, path, MPI_MODE_RDONLY, MPI_INFO_NULL, ticket);
	pthread_mutex_unlock(&opening);
	return ret;
}

static int ticket_open(MPI_File *ticket)
{
	const char *tmp = getenv("TMPDIR");
	char dir[256], path[300];
	int fd, ret = MPI_ERR_IO;

	/* A job's TMPDIR may be there on the node that started it only. */
	if (!(tmp && folder_make(dir, sizeof(dir), tmp)) && !folder_make(dir, sizeof(dir), "/tmp"))
		return -EIO; /* not as if the program's file were missing */
	snprintf(path, sizeof(path), "%s/ticket", dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		close(fd);
		ret = file_open(path, ticket);
		unlink(path);
		snprintf(path, sizeof(path), "%s/ticket.locktest.0", dir);
		unlink(path);
	}
	rmdir(dir);
	return ret == MPI_SUCCESS ? 0 : -EIO;
}

static bool spare_take(MPI_File *ticket)
{
	bool took;

	pthread_mutex_lock(&lock);
	took = spares > 0;
	if (took)
		*ticket = spare[--spares];
	pthread_mutex_unlock(&lock);
	return took;
}

static bool spare_give(MPI_File ticket)
{
	bool kept;

	pthread_mutex_lock(&lock);
	kept = spares < SPARE_MAX;
	if (kept)
		spare[spares++] = ticket;
	tickets_made = true;
	pthread_mutex_unlock(&lock);
	return kept;
}

void handle_prepare(void)
{
	MPI_File ticket;

	if ((spare_take(&ticket) || !ticket_open(&ticket)) && !spare_give(ticket))
		real.File_close(&ticket);
}

/*
 * A program that has closed a file twice, or uses it afterwards, must not close, or read, the ticket of the next one that is opened; nor must
 * an error handler close what it was called by for no file.  They get the error of the MPI's.
 */
MPI_File handle_passed(MPI_File fh)
{
	unsigned int i;

	if (!tickets_made)
		return fh;
	pthread_mutex_lock(&lock);
	for (i = 0; i < spares && spare[i] != fh; i++)
		;
	if (i < spares || (nobodys_there && fh == nobodys))
		fh = MPI_FILE_NULL;
	pthread_mutex_unlock(&lock);
	return fh;
}

/* A new file has the error handler that MPI_FILE_NULL has at that moment (MPI 4.0, section 14.7). */
static void errhandler_as_new(MPI_File ticket)
{
	MPI_Errhandler errhandler;

	PMPI_File_get_errhandler(MPI_FILE_NULL, &errhandler);
	PMPI_File_set_errhandler(ticket, errhandler);
	PMPI_Errhandler_free(&errhandler);
}

/*
 * MPI_Finalize() frees MPI_COMM_SELF first of all.  A program that has left files open has its data in them all the same:
 * what was gathered has been told to be written.
 */
static int finale(MPI_Comm comm, int key, void *value, void *extra)
{
	struct mpiio_file *f;
	int ret;

	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	pthread_mutex_lock(&lock);
	for (f = files; f; f = f->next) {
		ret = behind_own(f);
		if (ret)
			fprintf(stderr, "libddio_mpiio: %s was not closed, and not written: %s\n",
				f->where.path, f->behind.text);
	}
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}

/* Under the lock. */
static void finale_prepare(void)
{
	static int keyval = MPI_KEYVAL_INVALID;

	if (keyval == MPI_KEYVAL_INVALID &&
	    !PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finale, &keyval, NULL))
		PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

int handle_make(struct mpiio_file *f)
{
	int ret = 0;

	if (spare_take(&f->ticket))
		errhandler_as_new(f->ticket);
	else
		ret = ticket_open(&f->ticket);
	if (ret)
		return ret;
	pthread_mutex_lock(&lock);
	finale_prepare();
	f->next = files;
	files = f;
	pthread_mutex_unlock(&lock);
	return 0;
}

void handle_each_of(const struct mpiio_team *team,
		    void (*each)(struct mpiio_file *f, const struct mpiio_file *arg),
		    const struct mpiio_file *arg)
{
	struct mpiio_file *f;

	pthread_mutex_lock(&lock);
	for (f = files; f; f = f->next)
		if (f->team == team)
			each(f, arg);
	pthread_mutex_unlock(&lock);
}

void handle_drop(struct mpiio_file *f)
{
	struct mpiio_file *before;

	pthread_mutex_lock(&lock);
	if (files == f) {
		files = f->next;
	} else {
		for (before = files; before->next != f; before = before->next)
			;
		before->next = f->next;
	}
	pthread_mutex_unlock(&lock);
	if (!spare_give(f->ticket))
		real.File_close(&f->ticket);
}

/* MPICH's C++ functions throw by themselves: to its C functions that handler, which is theirs alone, is an error. */
static bool throws(MPI_File fh)
{
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
	MPI_Errhandler errhandler;
	bool it_does;

	PMPI_File_get_errhandler(fh, &errhandler);
	it_does = errhandler == MPIR_ERRORS_THROW_EXCEPTIONS;
	PMPI_Errhandler_free(&errhandler);
	return it_does;
#else
	(void)fh;
	return false;
#endif
}

void handle_call(MPI_File fh, int code)
{
	if (!throws(fh))
		PMPI_File_call_errhandler(fh, code);
}

#ifdef OPEN_MPI
/* A ticket that is never a program's, with the error handler that MPI_FILE_NULL has now: it may close it, or not return. */
static bool nobodys_get(MPI_File *ticket)
{
	static pthread_mutex_t getting = PTHREAD_MUTEX_INITIALIZER;
	bool there;

	pthread_mutex_lock(&getting);
	there = nobodys_there || spare_take(ticket) || !ticket_open(ticket);
	pthread_mutex_lock(&lock);
	if (there && !nobodys_there)
		nobodys = *ticket;
	nobodys_there = there;
	tickets_made |= there;
	pthread_mutex_unlock(&lock);
	*ticket = nobodys;
	if (there)
		errhandler_as_new(*ticket);
	pthread_mutex_unlock(&getting);
	return there;
}
#endif

/* Open MPI calls the error handler of no file but a real one. */
void handle_call_null(int code)
{
#ifdef OPEN_MPI
	MPI_File ticket;

	if (nobodys_get(&ticket))
		handle_call(ticket, code);
#else
	handle_call(MPI_FILE_NULL, code);
#endif
}

struct mpiio_file *handle_find(MPI_File fh)
{
	struct mpiio_file *f;

	if (!files)
		return NULL;
	pthread_mutex_lock(&lock);
	for (f = files; f && f->ticket != fh; f = f->next)
		;
	pthread_mutex_unlock(&lock);
	return f;
}
