/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A back end: MPI's file functions for files of ddio, compiled once for each MPI.  Its own calls of functions that
 * the stub exports go by "real", which are those of the MPI; all others it calls as any program does.
 */
#ifndef MPIIO_ABI_H
#define MPIIO_ABI_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <ddio/ddio.h>
#include "mpiio/abi/behind.h"
#include "mpiio/abi/functions.h"
#include "mpiio/data/fview.h"
#include "mpiio/core/where.h"
#include "mpiio/data/represent.h"
#include "mpiio/team/team.h"

/* Where an access begins. */
enum mpiio_from { FROM_OFFSET, FROM_POINTER, FROM_SHARED };

/* When it is over: at the return, at MPI_Wait(), at the ..._end() of a split collective. */
enum mpiio_ends { ENDS_NOW, ENDS_LATER, ENDS_SPLIT };

/* real.c: the MPI's own. */
#define REAL_FILE(n, params, args) int (*File_##n)(MPI_File fh CALL_LIST params);
/* Whatever follows the file, if anything does. */
#define CALL_LIST(...) , ##__VA_ARGS__
#define REAL_REQUEST(n, params, args) int(*n) params;
struct mpi_real {
	int (*File_open)(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh);
	int (*File_close)(MPI_File *fh);
	int (*File_delete)(const char *name, MPI_Info info);
	int (*Error_string)(int code, char *string, int *len);
	int (*Register_datarep)(const char *name, MPI_Datarep_conversion_function *read,
				MPI_Datarep_conversion_function *write,
				MPI_Datarep_extent_function *extent, void *state);
	FILE_CALLS(REAL_FILE)
	REQUEST_CALLS(REAL_REQUEST)
};
extern struct mpi_real real;
void *real_find(const char *name);
void real_init(void);

struct mpiio_op;

/**
 * struct mpiio_file - an open file of ddio
 * @ticket: what the program holds: a file of the MPI itself, which is empty and read by nobody
 * @team: who opened it; one of its own where threads may be in calls of several files
 * @number: of the team's files, the same on all processes
 * @forsaken: a process has closed it while others made another call
 * @closing: MPI_File_close() is under way, and so an error handler that closes the file has nothing to do
 * @file: the file
 * @where: what to delete at its end, if @amode says so
 * @amode: as it was opened
 * @seen: by this process
 * @pos: individual pointer, in etypes
 * @shared: the shared pointer; in etypes
 * @atomic: MPI_File_set_atomicity()
 * @split: the split collective that is under way
 * @info: hints as the program gave them
 * @spare: for a process that has no memory in a collective call (op.c)
 * @behind: what collective calls have written that is not in the file yet
 * @report: of the last transfer of this process
 * @lock: guards @seen, @pos, @info, @spare, @report: another thread may be in any call that is not collective.  Those that are set
 *	@seen, and read it as it is.
 */
struct mpiio_file {
	MPI_File ticket;
	struct mpiio_team *team;
	uint32_t number;
	_Atomic bool forsaken;
	bool closing;
	struct ddio_file *file;
	struct mpiio_where where;
	int amode;
	struct mpiio_fview *seen;
	uint64_t pos;
	struct ddio_group_counter *shared;
	_Atomic bool atomic;
	bool whole; /* collective writes are found as a whole or not at all: some process has the hint "ddio_atomic" */
	struct mpiio_op *split;
	MPI_Info info;
	struct mpiio_op *spare;
	struct mpiio_behind behind;
	struct ddio_report report;
	pthread_mutex_t lock;
	struct mpiio_file *next;
};

/* What a program is about that calls for all processes; closing is the last. */
enum mpiio_call {
	CALL_GATHERED = 1,
	CALL_SIZE,
	CALL_ALLOCATE,
	CALL_SYNC,
	CALL_VIEW,
	CALL_INFO,
	CALL_SEEK,
	CALL_ATOMICITY,
	CALL_ATOMIC,
	CALL_ORDERED,
	CALL_CLOSE
};

/* What it asks of those that stand upon it: handle_each_of() and behind_stop(). */
struct together_users {
	void (*each_of)(const struct mpiio_team *team,
			void (*each)(struct mpiio_file *f, const struct mpiio_file *arg),
			const struct mpiio_file *arg);
	void (*stop_gathering)(struct mpiio_file *f, bool own_later);
};
void together_init(const struct together_users *users);

/* together.c: as team_max() and its kin. */
int file_max(struct mpiio_file *f, enum mpiio_call call, int64_t *numbers, int n);
int file_barrier(struct mpiio_file *f, enum mpiio_call call);
int file_same(struct mpiio_file *f, enum mpiio_call call, int64_t value);
int file_sum(struct mpiio_file *f, uint64_t mine, uint64_t *before, uint64_t *all);
int file_differs(struct mpiio_file *f); /* all know that their calls differ: TEAM_DIFFERS */

/*
 * handle.c.  A ticket is opened before a communicator is made: Open MPI makes one at a time, also for a ticket, and with a process
 * that has died that takes for ever.
 */
void handle_prepare(void);
int handle_make(struct mpiio_file *f);
void handle_each_of(const struct mpiio_team *team,
		    void (*each)(struct mpiio_file *f, const struct mpiio_file *arg),
		    const struct mpiio_file *arg);
void handle_drop(struct mpiio_file *f);
struct mpiio_file *handle_find(MPI_File fh);
/* Returns the file that is the MPI's own function's, MPI_FILE_NULL for a ticket that the program has no more. */
MPI_File handle_passed(MPI_File fh);
void handle_call(MPI_File fh, int code);
void handle_call_null(int code); /* the error handler of MPI_FILE_NULL */

/* hints.c */
void report_note(struct mpiio_file *f, const struct ddio_report *report);

/* errors.c: the code alone, 0 for no error. */
int code_class(int class, const char *text);
int code_text(int err, const char *text);

int code_of_file(const struct mpiio_file *f, int err);

/* They call the file's error handler, and return what the function returns. */
int fail_code(const struct mpiio_file *f, int code); /* if it is one */
/* As fail_code() of no file, once nothing is left that a handler that does not return would leave. */
int fail_null(int code);
int fail(const struct mpiio_file *f, int err);
int fail_text(const struct mpiio_file *f, int err, const char *text);
int fail_class(const struct mpiio_file *f, int class, const char *text);
int fail_not_same(const struct mpiio_file *f, int ret, const char *text); /* of file_same() */
bool error_text(int code, char *string, int *len); /* of a code of this library's */

/* access.c */
struct mpiio_access {
	bool write, all;
	enum mpiio_from from;
	enum mpiio_ends ends;
	MPI_Offset offset;
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Status *status;
	MPI_Request *request;
};
int access_run(struct mpiio_file *f, const struct mpiio_access *a);
int access_end(struct mpiio_file *f, bool write, enum mpiio_from from, void *buf,
	       MPI_Status *status);

/* request.c */
int request_make(struct mpiio_op *op, MPI_Request *request); /* takes the op, also in failing */
/* Ends those of the file: the first error's code, of which the program's handler has not heard. */
int requests_settle(const struct mpiio_file *f);

/* shared.c */
int shared_take(struct mpiio_file *f, bool all, uint64_t etypes, uint64_t *at);
int shared_set(struct mpiio_file *f, uint64_t etypes);

/* atomic.c: nobody else's access of the same bytes lies between these two. */
struct mpiio_op;
int atomic_begin(struct mpiio_op *op);
void atomic_end(struct mpiio_op *op);

/* ctl.c: as MPI_File_sync(), when all have come; the code alone. */
int sync_by_root(struct mpiio_file *f);

#define SERVE_FILE(n, params, args) int serve_##n(struct mpiio_file *f CALL_LIST params);
FILE_CALLS(SERVE_FILE)

int serve_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh);
int serve_close(struct mpiio_file *f, MPI_File *fh);
int serve_delete(const char *name, MPI_Info info);

/* datarep.c */
int serve_register(const char *name, MPI_Datarep_conversion_function *read,
		   MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
		   void *state, const void *caller);
int serve_register_c(const char *name, rep_convert_c *read, rep_convert_c *write,
		     MPI_Datarep_extent_function *extent, void *state, const void *caller);

#define SERVE_REQUEST(n, params, args) int serve_##n params;
REQUEST_CALLS(SERVE_REQUEST)

/* Operations under way that MPI_Wait() and its kin complete. */
extern _Atomic unsigned int requests_pending;

#endif
