// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libddio_mpiio.so: by LD_PRELOAD, or linked before the MPI, it takes the place of MPI's file functions.  It knows no
 * MPI: all their arguments are of integer class and at most six, so each function hands them on, to the back end for the
 * MPI that the program has loaded, or to that MPI itself if there is none.
 *
 * Both names of each function are exported, MPI_x and PMPI_x: some Fortran modules call one, some the other.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/entry.h"
#include "mpiio/stub/fortran.h"
#include "mpiio/stub/refuse.h"
#include "mpiio/stub/siblings.h"

/* The MPIs that there is a back end for, by the name of their library. */
static const struct {
	const char *soname, *backend;
} mpis[] = {
	{ "libmpich.so.12", "mpich" },
	{ "libmpi.so.40", "openmpi" },
};
#define NMPIS (sizeof(mpis) / sizeof(mpis[0]))

#define FIRST(n) static long first_##n(long a, long b, long c, long d, long e, long f);
#define FIRST_FILE(n, params, args) FIRST(File_##n)
#define FIRST_DATA(n, form, write, from, all) FIRST(File_##n) FIRST(File_##n##_c)
#define FIRST_END(n, write, from) FIRST(File_##n)
#define FIRST_REQUEST(n, params, args) FIRST(n)
#define EACH(ALONE, FILE_, DATA, END, REQUEST) \
	ENTRIES_ALONE(ALONE)                   \
	FILE_CALLS(FILE_) DATA_CALLS(DATA) END_CALLS(END) REQUEST_CALLS(REQUEST)
EACH(FIRST, FIRST_FILE, FIRST_DATA, FIRST_END, FIRST_REQUEST)

#define SLOT(n) [ENTRY_##n] = first_##n,
#define SLOT_FILE(n, params, args) SLOT(File_##n)
#define SLOT_DATA(n, form, write, from, all) SLOT(File_##n) SLOT(File_##n##_c)
#define SLOT_END(n, write, from) SLOT(File_##n)
#define SLOT_REQUEST(n, params, args) SLOT(n)
static entry_fn entry[ENTRY_COUNT] = { EACH(SLOT, SLOT_FILE, SLOT_DATA, SLOT_END, SLOT_REQUEST) };

#define NAMED(n) [ENTRY_##n] = "PMPI_" #n,
#define NAMED_FILE(n, params, args) NAMED(File_##n)
#define NAMED_DATA(n, form, write, from, all) \
	[ENTRY_File_##n] = "PMPI_File_" #n, [ENTRY_File_##n##_c] = "PMPI_File_" #n "_c",
#define NAMED_END(n, write, from) NAMED(File_##n)
#define NAMED_REQUEST(n, params, args) NAMED(n)
static const char *const names[ENTRY_COUNT] = { EACH(NAMED, NAMED_FILE, NAMED_DATA, NAMED_END,
						     NAMED_REQUEST) };

/* The MPI that is loaded: by a program that is linked to it, or by Python, where nobody else sees its names. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = strrchr(info->dlpi_name, '/');
	size_t *found = arg, i;

	(void)size;
	for (i = 0; name && i < NMPIS; i++)
		if (!strcmp(name + 1, mpis[i].soname))
			*found = i;
	return *found < NMPIS;
}

static void *backend_open(size_t mpi)
{
	char path[4200];
	Dl_info self;
	void *lib;

	if (!dladdr(mpis, &self) || !strrchr(self.dli_fname, '/'))
		return NULL;
	snprintf(path, sizeof(path), "%.*s/ddio-mpiio/%s.so",
		 (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname,
		 mpis[mpi].backend);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fprintf(stderr, "libddio_mpiio: %s; MPI's own file functions serve\n", dlerror());
	return lib;
}

/* It may wait for them. */
static void tell_siblings(void *lib)
{
	const struct mpiio_siblings *known = siblings_noted();
	void *fn = dlsym(lib, "mpiio_siblings");
	void (*tell)(const int *pid, unsigned int n) = NULL;

	memcpy(&tell, &fn, sizeof(fn));
	if (tell)
		tell(known->pid, known->n);
}

/* Another thread may be in its first call, too, which finds one function or the other. */
static void entry_set(unsigned int i, const void *fn)
{
	entry_fn to = NULL;

	memcpy(&to, &fn, sizeof(fn));
	__atomic_store_n(&entry[i], to, __ATOMIC_RELEASE);
}

static entry_fn entry_get(enum mpiio_entry n)
{
	return __atomic_load_n(&entry[n], __ATOMIC_ACQUIRE);
}

static int use_backend(void *lib)
{
	void **(*table_of)(unsigned int entries) = NULL;
	void **table, *fn = lib ? dlsym(lib, "mpiio_table") : NULL;
	unsigned int i;

	if (!fn)
		return 0;
	memcpy(&table_of, &fn, sizeof(fn));
	table = table_of(ENTRY_COUNT);
	if (!table)
		return 0;
	fortran_use(lib);
	tell_siblings(lib);
	for (i = 0; i < ENTRY_COUNT; i++)
		entry_set(i, table[i]);
	return 1;
}

static void missing(const char *name)
{
	fprintf(stderr, "libddio_mpiio: no MPI that has %s is loaded\n", name);
	abort();
}

/* No back end: everything is the MPI's own, but for names that are ddio's.  @which: in mpis[]; NMPIS: another one. */
static void use_mpi(void *mpi, size_t which)
{
	bool known = which < NMPIS;
	entry_fn open, del;
	unsigned int i;

	for (i = 0; i < ENTRY_COUNT; i++)
		entry_set(i, mpi ? dlsym(mpi, names[i]) : dlsym(RTLD_NEXT, names[i]));
	open = entry_get(ENTRY_File_open);
	del = entry_get(ENTRY_File_delete);
	if (!open || !del)
		return;
	/* Open MPI's is an object of its own, MPICH's is NULL. */
	refuse_names(known ? mpis[which].soname : NULL, known ? mpis[which].backend : NULL,
		     dlsym(mpi ? mpi : RTLD_NEXT, "ompi_mpi_file_null"), &open, &del);
	__atomic_store_n(&entry[ENTRY_File_open], open, __ATOMIC_RELEASE);
	__atomic_store_n(&entry[ENTRY_File_delete], del, __ATOMIC_RELEASE);
}

static void resolve(void)
{
	size_t mpi = NMPIS;

	dl_iterate_phdr(look, &mpi);
	if (mpi < NMPIS && use_backend(backend_open(mpi)))
		return;
	use_mpi(mpi < NMPIS ? dlopen(mpis[mpi].soname, RTLD_LAZY | RTLD_NOLOAD) : NULL, mpi);
}

static entry_fn resolved(enum mpiio_entry n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, resolve);
	if (!entry_get(n))
		missing(names[n]);
	return entry_get(n);
}

/* Who calls, for MPI_Register_datarep(): MPICH's Fortran library hands on functions of Fortran.  It has five arguments. */
#define REGISTERS(n) (ENTRY_##n == ENTRY_Register_datarep || ENTRY_##n == ENTRY_Register_datarep_c)
#define LAST(n, f) (REGISTERS(n) ? (long)__builtin_return_address(0) : f)
#define EXPORT __attribute__((visibility("default")))
#define STUB(n)                                                               \
	static long first_##n(long a, long b, long c, long d, long e, long f) \
	{                                                                     \
		return resolved(ENTRY_##n)(a, b, c, d, e, f);                 \
	}                                                                     \
                                                                              \
	EXPORT long MPI_##n(long a, long b, long c, long d, long e, long f);  \
	EXPORT long PMPI_##n(long a, long b, long c, long d, long e, long f); \
	long MPI_##n(long a, long b, long c, long d, long e, long f)          \
	{                                                                     \
		return entry_get(ENTRY_##n)(a, b, c, d, e, LAST(n, f));       \
	}                                                                     \
	long PMPI_##n(long a, long b, long c, long d, long e, long f)         \
	{                                                                     \
		return entry_get(ENTRY_##n)(a, b, c, d, e, LAST(n, f));       \
	}
#define STUB_FILE(n, params, args) STUB(File_##n)
#define STUB_DATA(n, form, write, from, all) STUB(File_##n) STUB(File_##n##_c)
#define STUB_END(n, write, from) STUB(File_##n)
#define STUB_REQUEST(n, params, args) STUB(n)
EACH(STUB, STUB_FILE, STUB_DATA, STUB_END, STUB_REQUEST)

/* What comes behind this library: a tool that stands before the MPI, too, or the MPI, also where nobody else sees its names. */
static entry_fn next_of(const char *name)
{
	size_t mpi = NMPIS;
	void *fn = dlsym(RTLD_NEXT, name), *lib;
	entry_fn next = NULL;

	if (!fn) {
		dl_iterate_phdr(look, &mpi);
		lib = mpi < NMPIS ? dlopen(mpis[mpi].soname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		fn = lib ? dlsym(lib, name) : NULL;
	}
	if (!fn)
		missing(name);
	memcpy(&next, &fn, sizeof(fn));
	return next;
}

/* The MPI's own; then the processes of the job are there. */
#define INIT(name)                                           \
	EXPORT long name(long a, long b, long c, long d);    \
	long name(long a, long b, long c, long d)            \
	{                                                    \
		long ret = next_of(#name)(a, b, c, d, 0, 0); \
                                                             \
		siblings_note();                             \
		return ret;                                  \
	}
INIT(MPI_Init)
INIT(PMPI_Init)
INIT(MPI_Init_thread)
INIT(PMPI_Init_thread)
