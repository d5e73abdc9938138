// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the stub calls: each looks whether the file is one of ddio, and goes on to the MPI's own function if not.
 */
#include <limits.h>
#include "mpiio/abi/abi.h"
#include "mpiio/abi/entry.h"
#include "mpiio/team/siblings.h"

#define CALL_FILE(n, params, args)                             \
	static int call_File_##n(MPI_File fh CALL_LIST params) \
	{                                                      \
		struct mpiio_file *f = handle_find(fh);        \
                                                               \
		if (f)                                         \
			return serve_##n(f CALL_LIST args);    \
		fh = handle_passed(fh);                        \
		return real.File_##n(fh CALL_LIST args);       \
	}
FILE_CALLS(CALL_FILE)

/* Data: their forms, as parameters and as arguments.  C is const for a write. */
#define CONST_0
#define CONST_1 const
#define PARAMS_AT(C, N)                                                           \
	(MPI_File fh, MPI_Offset offset, C void *buf, N count, MPI_Datatype type, \
	 MPI_Status *status)
#define PARAMS_HERE(C, N) (MPI_File fh, C void *buf, N count, MPI_Datatype type, MPI_Status *status)
#define PARAMS_IAT(C, N)                                                          \
	(MPI_File fh, MPI_Offset offset, C void *buf, N count, MPI_Datatype type, \
	 MPI_Request *request)
#define PARAMS_IHERE(C, N) \
	(MPI_File fh, C void *buf, N count, MPI_Datatype type, MPI_Request *request)
#define PARAMS_BAT(C, N) (MPI_File fh, MPI_Offset offset, C void *buf, N count, MPI_Datatype type)
#define PARAMS_BHERE(C, N) (MPI_File fh, C void *buf, N count, MPI_Datatype type)

#define ARGS_AT(N) (fh, offset, buf, (N)count, type, status)
#define ARGS_HERE(N) (fh, buf, (N)count, type, status)
#define ARGS_IAT(N) (fh, offset, buf, (N)count, type, request)
#define ARGS_IHERE(N) (fh, buf, (N)count, type, request)
#define ARGS_BAT(N) (fh, offset, buf, (N)count, type)
#define ARGS_BHERE(N) (fh, buf, (N)count, type)

#define ACCESS_AT .offset = offset, .status = status, .ends = ENDS_NOW
#define ACCESS_HERE .status = status, .ends = ENDS_NOW
#define ACCESS_IAT .offset = offset, .request = request, .ends = ENDS_LATER
#define ACCESS_IHERE .request = request, .ends = ENDS_LATER
#define ACCESS_BAT .offset = offset, .ends = ENDS_SPLIT
#define ACCESS_BHERE .ends = ENDS_SPLIT

#define ACCESS(form, write_, from_, all_)                                                        \
	{                                                                                        \
		.write = write_, .from = from_, .all = all_, .buf = (void *)buf, .count = count, \
		.type = type, ACCESS_##form                                                      \
	}

/* A large count for an MPI that has none goes on if it is small. */
#define CALL_DATA(n, form, write_, from_, all_)                                        \
	typedef int(*n##_fn) PARAMS_##form(CONST_##write_, int);                       \
	typedef int(*n##_c_fn) PARAMS_##form(CONST_##write_, MPI_Count);               \
	static n##_fn real_##n;                                                        \
	static n##_c_fn real_##n##_c;                                                  \
                                                                                       \
	static int call_File_##n PARAMS_##form(CONST_##write_, int)                    \
	{                                                                              \
		struct mpiio_file *f = handle_find(fh);                                \
		struct mpiio_access a = ACCESS(form, write_, from_, all_);             \
                                                                                       \
		if (f)                                                                 \
			return access_run(f, &a);                                      \
		fh = handle_passed(fh);                                                \
		return real_##n ARGS_##form(int);                                      \
	}                                                                              \
                                                                                       \
	static int call_File_##n##_c PARAMS_##form(CONST_##write_, MPI_Count)          \
	{                                                                              \
		struct mpiio_file *f = handle_find(fh);                                \
		struct mpiio_access a = ACCESS(form, write_, from_, all_);             \
                                                                                       \
		if (f)                                                                 \
			return access_run(f, &a);                                      \
		fh = handle_passed(fh);                                                \
		if (real_##n##_c)                                                      \
			return real_##n##_c ARGS_##form(MPI_Count);                    \
		return count > INT_MAX ? count_refuse(fh) : real_##n ARGS_##form(int); \
	}

static int count_refuse(MPI_File fh)
{
	PMPI_File_call_errhandler(fh, MPI_ERR_COUNT);
	return MPI_ERR_COUNT;
}

DATA_CALLS(CALL_DATA)

#define CALL_END(n, write_, from_)                                                          \
	typedef int (*n##_fn)(MPI_File fh, CONST_##write_ void *buf, MPI_Status *status);   \
	static n##_fn real_##n;                                                             \
                                                                                            \
	static int call_File_##n(MPI_File fh, CONST_##write_ void *buf, MPI_Status *status) \
	{                                                                                   \
		struct mpiio_file *f = handle_find(fh);                                     \
                                                                                            \
		return f ? access_end(f, write_, from_, (void *)buf, status)                \
			 : real_##n(handle_passed(fh), buf, status);                        \
	}
END_CALLS(CALL_END)

#define CALL_REQUEST(n, params, args)                                   \
	static int call_##n params                                      \
	{                                                               \
		return requests_pending ? serve_##n args : real.n args; \
	}
REQUEST_CALLS(CALL_REQUEST)

static int call_File_close(MPI_File *fh)
{
	struct mpiio_file *f = fh ? handle_find(*fh) : NULL;

	if (f)
		return serve_close(f, fh);
	if (fh)
		*fh = handle_passed(*fh);
	return real.File_close(fh);
}

/* Its extent may be larger than an MPI_Aint where that is small; here both have 64 bits. */
static int call_File_get_type_extent_c(MPI_File fh, MPI_Datatype type, MPI_Count *extent)
{
	MPI_Aint aint;
	int ret = call_File_get_type_extent(fh, type, &aint);

	if (ret == MPI_SUCCESS)
		*extent = aint;
	return ret;
}

static int call_Error_string(int code, char *string, int *len)
{
	return error_text(code, string, len) ? MPI_SUCCESS : real.Error_string(code, string, len);
}

#define TABLE_ALONE(n) [ENTRY_##n] = (void *)call_##n,
#define TABLE_FILE(n, params, args) [ENTRY_File_##n] = (void *)call_File_##n,
#define TABLE_DATA(n, form, write, from, all) \
	[ENTRY_File_##n] = (void *)call_File_##n, [ENTRY_File_##n##_c] = (void *)call_File_##n##_c,
#define TABLE_END(n, write, from) [ENTRY_File_##n] = (void *)call_File_##n,
#define TABLE_REQUEST(n, params, args) [ENTRY_##n] = (void *)call_##n,

#define call_File_open serve_open
#define call_File_delete serve_delete
#define call_Register_datarep serve_register
#define call_Register_datarep_c serve_register_c
static void *table[ENTRY_COUNT] = { ENTRIES_ALONE(TABLE_ALONE) FILE_CALLS(TABLE_FILE) DATA_CALLS(
	TABLE_DATA) END_CALLS(TABLE_END) REQUEST_CALLS(TABLE_REQUEST) };

#define FIND_DATA(n, form, write, from, all)      \
	real_##n = (n##_fn)real_find("File_" #n); \
	real_##n##_c = (n##_c_fn)real_find("File_" #n "_c");
#define FIND_END(n, write, from) real_##n = (n##_fn)real_find("File_" #n);

/* The only names of a back end that others see. */
__attribute__((visibility("default"))) void **mpiio_table(unsigned int entries);
__attribute__((visibility("default"))) void mpiio_siblings(const int *pid, unsigned int n);
__attribute__((visibility("default"))) bool mpiio_large_take(int fh, int64_t count, int type,
							     struct mpiio_large *l);
__attribute__((visibility("default"))) void mpiio_large_done(struct mpiio_large *l);

void mpiio_siblings(const int *pid, unsigned int n)
{
	siblings_know(pid, n);
}

bool mpiio_large_take(int fh, int64_t count, int type, struct mpiio_large *l)
{
	MPI_Datatype many = MPI_DATATYPE_NULL;

	if (!handle_find(PMPI_File_f2c(fh)))
		return false;
	*l = (struct mpiio_large){ .count = count < 0 ? -1 : (int)count, .type = type };
	if (count <= INT_MAX)
		return true;
	l->made = !type_of_many(count, PMPI_Type_f2c(type), &many);
	l->count = 1;
	l->type = PMPI_Type_c2f(many);
	return true;
}

void mpiio_large_done(struct mpiio_large *l)
{
	MPI_Datatype many = PMPI_Type_f2c(l->type);

	if (l->made)
		PMPI_Type_free(&many);
}

void **mpiio_table(unsigned int entries)
{
	if (entries != ENTRY_COUNT)
		return NULL;
	real_init();
	together_init(&(struct together_users){ .each_of = handle_each_of,
						.stop_gathering = behind_stop });
	DATA_CALLS(FIND_DATA)
	END_CALLS(FIND_END)
	return table;
}
