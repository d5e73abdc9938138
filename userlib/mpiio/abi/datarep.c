// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPI_Register_datarep() (MPI 4.0, section 14.5.3).  A representation without functions MPICH learns as well, for its own
 * files; one with functions no MPI takes, so only files of ddio have it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include "mpiio/abi/abi.h"

static int register_code(int err)
{
	switch (err) {
	case 0:
		return MPI_SUCCESS;
	case -EEXIST:
		return fail_class(NULL, MPI_ERR_DUP_DATAREP,
				  "there is a data representation of that name");
	case -ENOMEM:
		return fail_text(NULL, err, NULL);
	default:
		return fail_class(NULL, MPI_ERR_ARG,
				  "the name is too long, or no function gives extents");
	}
}

/* MPICH's Fortran library hands functions of Fortran on as they are. */
static bool is_fortran(const void *caller)
{
	const char *name;
	Dl_info in;

	if (!dladdr(caller, &in) || !in.dli_fname)
		return false;
	name = strrchr(in.dli_fname, '/');
	return !strncmp(name ? name + 1 : in.dli_fname, "libmpichfort", 12);
}

/* What stands for no function there is one. */
static bool is_null(const void *fn)
{
	return !fn || fn == dlsym(RTLD_DEFAULT, "mpi_conversion_fn_null_");
}

/* By memcpy, since ISO C has no conversion between kinds of functions and objects. */
static void fortran_function(void *slot, const void *fn)
{
	if (!is_null(fn))
		memcpy(slot, &fn, sizeof(fn));
}

/* @large: they count by MPI_COUNT_KIND. */
static int register_fortran(const char *name, const void *read, const void *write,
			    const void *extent, void *state, bool large)
{
	struct rep_functions fn = { .state = state };

	if (large) {
		fortran_function(&fn.read_fc, read);
		fortran_function(&fn.write_fc, write);
	} else {
		fortran_function(&fn.read_f, read);
		fortran_function(&fn.write_f, write);
	}
	fortran_function(&fn.extent_f, extent);
	return register_code(rep_register(name, &fn));
}

int serve_register(const char *name, MPI_Datarep_conversion_function *read,
		   MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
		   void *state, const void *caller)
{
	struct rep_functions fn = { .read = read, .write = write, .extent = extent, .state = state };
	int ret;

	if (is_fortran(caller))
		return register_fortran(name, (const void *)read, (const void *)write,
					(const void *)extent, state, false);
	ret = rep_register(name, &fn);
	if (!ret && !read && !write)
		real.Register_datarep(name, read, write, extent, state);
	return register_code(ret);
}

int serve_register_c(const char *name, rep_convert_c *read, rep_convert_c *write,
		     MPI_Datarep_extent_function *extent, void *state, const void *caller)
{
	struct rep_functions fn = {
		.read_c = read, .write_c = write, .extent = extent, .state = state
	};

	if (is_fortran(caller))
		return register_fortran(name, (const void *)read, (const void *)write,
					(const void *)extent, state, true);
	return register_code(rep_register(name, &fn));
}
