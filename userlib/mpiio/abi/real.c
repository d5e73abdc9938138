// SPDX-License-Identifier: LGPL-2.1-or-later
/* The MPI's own functions, found in its library: by their plain name one would find the stub. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "mpiio/abi/abi.h"
#include "mpiio/abi/request.h"

struct mpi_real real;

static void *library;

void *real_find(const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "PMPI_%s", name);
	return dlsym(library, full);
}

/* By memcpy, since ISO C has no conversion from objects to functions. */
static void find_into(void *slot, const char *name)
{
	void *fn = real_find(name);

	memcpy(slot, &fn, sizeof(fn));
}

#define FIND_FILE(n, params, args) find_into(&real.File_##n, "File_" #n);
#define FIND_REQUEST(n, params, args) find_into(&real.n, #n);
#define FIND_ASKING(n, params, args) \
	if (!real.n)                 \
		real.n = ask_##n;

void real_init(void)
{
	library = dlopen(MPIIO_SONAME, RTLD_LAZY | RTLD_NOLOAD);
	find_into(&real.File_open, "File_open");
	find_into(&real.File_close, "File_close");
	find_into(&real.File_delete, "File_delete");
	find_into(&real.Error_string, "Error_string");
	find_into(&real.Register_datarep, "Register_datarep");
	FILE_CALLS(FIND_FILE)
	REQUEST_CALLS(FIND_REQUEST)
	ASKING_CALLS(FIND_ASKING)
	talk_init(real.Test);
}
