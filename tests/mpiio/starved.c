// SPDX-License-Identifier: GPL-2.0-only
/*
 * starved [--ddio] FILE: on the last rank each allocation that the library in front of the MPI makes in a call fails, one
 * after the other.  All ranks get an error, or none does, none waits for the others, and the same call succeeds next time.
 * With the MPI's own functions no allocation fails.
 */
#include "tests/mpiio/common.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's, which those below stand before. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

/* The code of the back end; the allocation that fails, counted down; and whether it came to that. */
static uintptr_t code_from, code_to;
static volatile long countdown;
static volatile bool starved;

static bool starve(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	if (!countdown || at < code_from || at >= code_to || --countdown)
		return false;
	starved = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return starve(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return starve(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return starve(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	return starve(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n * size);
}

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i;

	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "/ddio-mpiio/"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		code_from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		code_to = code_from + info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

#define INTS 24
static MPI_File fh;
static int ints[4 * INTS];

/* A type of several constructors, new each time: the library keeps what it knows of one. */
static MPI_Datatype nested(void)
{
	int lens[3] = { 1, 2, 1 }, places[3] = { 0, 2, 5 };
	MPI_Aint at[2] = { 0, 64 };
	MPI_Datatype list, pair[2], type;

	MPI_Type_indexed(3, lens, places, MPI_INT, &list);
	pair[0] = pair[1] = list;
	MPI_Type_create_struct(2, (const int[]){ 1, 2 }, at, pair, &type);
	MPI_Type_free(&list);
	MPI_Type_commit(&type);
	return type;
}

static int call_open(void)
{
	MPI_Comm comm;
	int rc;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	fh = MPI_FILE_NULL;
	rc = MPI_File_open(comm, tst_file(".starved"), MPI_MODE_CREATE | MPI_MODE_RDWR,
			   MPI_INFO_NULL, &fh);
	if (rc == MPI_SUCCESS)
		rc = MPI_File_close(&fh);
	MPI_Comm_free(&comm);
	return rc;
}

static int call_view(void)
{
	MPI_Datatype type = nested();
	int rc = MPI_File_set_view(fh, 0, MPI_INT, type, "native", MPI_INFO_NULL);

	MPI_Type_free(&type);
	return rc;
}

/* Two elements of such a type in memory: by each kind of call. */
static int data_call(int how, MPI_Datatype type)
{
	MPI_Request r;
	int rc;

	switch (how) {
	case 0:
		return MPI_File_read_at_all(fh, 0, ints, 2, type, MPI_STATUS_IGNORE);
	case 1: /* what the others wrote may still be gathered: then they hear later */
		rc = MPI_File_write_at_all(fh, 0, ints, 2, type, MPI_STATUS_IGNORE);
		return MPI_File_sync(fh) ? MPI_ERR_OTHER : rc;
	case 2:
		rc = MPI_File_iread_at_all(fh, 0, ints, 2, type, &r);
		return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
	case 3:
		rc = MPI_File_iwrite_at_all(fh, 0, ints, 2, type, &r);
		return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
	case 4:
		rc = MPI_File_write_at_all_begin(fh, 0, ints, 2, type);
		return rc ? rc : MPI_File_write_at_all_end(fh, ints, MPI_STATUS_IGNORE);
	case 5:
		return MPI_File_read_ordered(fh, ints, 2, type, MPI_STATUS_IGNORE);
	default:
		rc = MPI_File_write_all(fh, ints, 2, type, MPI_STATUS_IGNORE);
		return MPI_File_sync(fh) ? MPI_ERR_OTHER : rc;
	}
}

static int how_now;

static int call_data(void)
{
	MPI_Datatype type = nested();
	int rc = data_call(how_now, type);

	MPI_Type_free(&type);
	return rc;
}

/* Whether an allocation failed on the last rank: then it was the n-th. */
static bool starve_nth(int (*call)(void), long n, const char *what)
{
	int rc, failed, least, most, any;

	starved = false;
	countdown = tst.rank == tst.size - 1 ? n : 0;
	rc = call();
	countdown = 0;
	failed = rc != MPI_SUCCESS;
	MPI_Allreduce(&failed, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&failed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	CHECK(least == most, "%s, allocation %ld: an error on some ranks only", what, n);
	any = starved;
	MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	CHECK(any || !most, "%s, allocation %ld: an error without a cause", what, n);
	rc = call();
	CHECK(rc == MPI_SUCCESS, "%s, allocation %ld: the next call fails, too", what, n);
	return any;
}

static void starve_all(int (*call)(void), const char *what)
{
	long n = 1;

	OK(call()); /* what is made once */
	while (n < 1000 && starve_nth(call, n, what))
		n++;
	CHECK(n > 1 || !tst.strict, "%s: no allocation failed", what);
	if (!tst.rank)
		printf("# %s: %ld allocations\n", what, n - 1);
}

static void opened(void)
{
	starve_all(call_open, "open");
}

static void viewed(void)
{
	fh = tst_create(".starved");
	if (fh == MPI_FILE_NULL)
		return;
	starve_all(call_view, "set_view");
	tst_close(&fh);
}

static void moved(const char *datarep, int from)
{
	static const char *const names[] = { "read_at_all",   "write_at_all", "iread_at_all",
					     "iwrite_at_all", "split",	      "read_ordered",
					     "write_all" };

	fh = tst_create(".starved");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(ints) * tst.rank, MPI_INT, MPI_INT,
			     (char *)datarep, MPI_INFO_NULL));
	for (how_now = from; how_now < 7; how_now++)
		starve_all(call_data, names[how_now]);
	tst_close(&fh);
}

static void native(void)
{
	moved("native", 0);
}

static void external(void)
{
	if (!tst.strict)
		return tst_skip("only with --ddio");
	moved("external32", 0);
}

int main(int argc, char **argv)
{
	static const struct mpiio_case cases[] = {
		{ "starved/open", opened },
		{ "starved/view", viewed },
		{ "starved/native", native },
		{ "starved/external32", external },
	};

	tst_begin(argc, argv);
	/* The first file loads the back end. */
	fh = tst_create(".starved");
	if (fh != MPI_FILE_NULL)
		tst_close(&fh);
	dl_iterate_phdr(find_code, NULL);
	tst_run(cases, sizeof(cases) / sizeof(cases[0]));
	return tst_finish();
}
