// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>
#include "mpiio/stub/refuse.h"

#define PREFIX "ddio:"
/* MPI_ERR_OTHER of MPICH and of Open MPI. */
enum { ERR_OTHER_MPICH = 15, ERR_OTHER_OPENMPI = 16 };

static struct {
	const char *soname, *backend;
	void *null_file;
	entry_fn open, del;
} mpi;

static int is_ours(const char *name)
{
	return name && !strncmp(name, PREFIX, strlen(PREFIX));
}

static void say(const char *name)
{
	if (mpi.backend)
		fprintf(stderr,
			"libddio_mpiio: %s is a file of ddio, and there is no back end for %s: install "
			"libddio-mpiio-%s, or build ddio where mpicc.%s is\n",
			name, mpi.soname, mpi.backend, mpi.backend);
	else
		fprintf(stderr,
			"libddio_mpiio: %s is a file of ddio, and there is no back end for this MPI "
			"(see ddio-mpiio(7))\n",
			name);
}

/* Said once; each call fails. */
static long refused(const char *name)
{
	static int said;

	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		say(name);
	return mpi.backend && !strcmp(mpi.backend, "openmpi") ? ERR_OTHER_OPENMPI : ERR_OTHER_MPICH;
}

static long open_looks(long comm, long name, long amode, long info, long fh, long f)
{
	if (!is_ours((const char *)name))
		return mpi.open(comm, name, amode, info, fh, f);
	if (fh)
		*(void **)fh = mpi.null_file;
	return refused((const char *)name);
}

static long delete_looks(long name, long info, long c, long d, long e, long f)
{
	return is_ours((const char *)name) ? refused((const char *)name)
					   : mpi.del(name, info, c, d, e, f);
}

void refuse_names(const char *soname, const char *backend, void *null_file, entry_fn *open,
		  entry_fn *del)
{
	mpi.soname = soname;
	mpi.backend = backend;
	mpi.null_file = null_file;
	mpi.open = *open;
	mpi.del = *del;
	*open = open_looks;
	*del = delete_looks;
}
