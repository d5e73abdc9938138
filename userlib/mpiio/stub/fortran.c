// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fortran's calls with a count of MPI_COUNT_KIND, as MPICH's module mpi_f08 has them since 4.2.  They come to no function in C:
 * MPICH 4.2.1 returns MPI_ERR_INTERN from each, so their own names are exported here.  For a file of ddio the call is made as one with
 * an ordinary count, perhaps of a larger type, by MPICH's function for that, which knows Fortran's arrays and comes to MPI_File_x.
 * For all others it goes on to MPICH's own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/entry.h"
#include "mpiio/stub/fortran.h"

/* All arguments are addresses; at most seven. */
enum { ARGS_MAX = 7 };
typedef void (*f08_fn)(long a, long b, long c, long d, long e, long f, long g);

/* A function, by MPICH's names: with a large count, and with an ordinary one. */
struct f08_call {
	const char *large_name, *small_name;
	f08_fn large, small;
};

static large_take_fn large_take;
static large_done_fn large_done;

void fortran_use(void *backend)
{
	void *take = dlsym(backend, "mpiio_large_take"), *done = dlsym(backend, "mpiio_large_done");

	memcpy(&large_take, &take, sizeof(take));
	memcpy(&large_done, &done, sizeof(done));
}

static f08_fn next_of(f08_fn *found, const char *name)
{
	f08_fn next = __atomic_load_n(found, __ATOMIC_RELAXED);
	void *fn = next ? NULL : dlsym(RTLD_NEXT, name), *lib;

	if (next)
		return next;
	/* It may have been loaded where nobody else sees its names. */
	if (!fn) {
		lib = dlopen("libmpichfort.so.12", RTLD_LAZY | RTLD_NOLOAD);
		fn = lib ? dlsym(lib, name) : NULL;
	}
	if (!fn) {
		fprintf(stderr, "libddio_mpiio: no MPI that has %s is loaded\n", name);
		abort();
	}
	memcpy(&next, &fn, sizeof(fn));
	__atomic_store_n(found, next, __ATOMIC_RELAXED);
	return next;
}

static void make(f08_fn fn, const long *a)
{
	fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* The file is the first argument; the count is followed by what is counted. */
static void f08_make(struct f08_call *call, const long a[ARGS_MAX], unsigned int count)
{
	struct mpiio_large l = { 0 };
	long small[ARGS_MAX];
	const int *fh = (const int *)a[0], *type = (const int *)a[count + 1];

	if (!large_take || !large_take(*fh, *(const int64_t *)a[count], *type, &l))
		return make(next_of(&call->large, call->large_name), a);
	memcpy(small, a, sizeof(small));
	small[count] = (long)&l.count;
	small[count + 1] = (long)&l.type;
	make(next_of(&call->small, call->small_name), small);
	large_done(&l);
}

/* By the form: which argument is the count.  With a place and a status or a request there are seven, else at most six. */
#define F08_AT(name, call) F08_7(name, call, 3)
#define F08_IAT(name, call) F08_7(name, call, 3)
#define F08_BAT(name, call) F08_6(name, call, 3)
#define F08_HERE(name, call) F08_6(name, call, 2)
#define F08_IHERE(name, call) F08_6(name, call, 2)
#define F08_BHERE(name, call) F08_6(name, call, 2)

#define EXPORT __attribute__((visibility("default")))
#define F08_7(name, call, count)                                                         \
	EXPORT void name(long a, long b, long c, long d, long e, long f, long g);        \
	void name(long a, long b, long c, long d, long e, long f, long g)                \
	{                                                                                \
		f08_make(&(call), (const long[ARGS_MAX]){ a, b, c, d, e, f, g }, count); \
	}
#define F08_6(name, call, count)                                                      \
	EXPORT void name(long a, long b, long c, long d, long e, long f);             \
	void name(long a, long b, long c, long d, long e, long f)                     \
	{                                                                             \
		f08_make(&(call), (const long[ARGS_MAX]){ a, b, c, d, e, f }, count); \
	}

#define F08_BY(form, prefix, n)                                                    \
	static struct f08_call prefix##n = { .large_name = #prefix #n "_c_f08ts_", \
					     .small_name = #prefix #n "_f08ts_" }; \
	F08_##form(prefix##n##_c_f08ts_, prefix##n)
#define F08(n, form, write, from, all) F08_BY(form, mpi_file_, n) F08_BY(form, pmpir_file_, n)
DATA_CALLS(F08)
