// SPDX-License-Identifier: LGPL-2.1-or-later
/* The MPI's own functions, found in its library: by their plain name one would find the stub. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "mpiio/abi/abi.h"

struct mpi_real real;

static void *library;

void *real_find(const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "PMPI_%s", name);
	return dlsym(library, full);
}

/*
 * MPI_Request_get_status_all() and its kin are of MPI 4.1.  For an MPI before that they ask for one request after the other, so
 * that whoever calls them has an answer from each MPI.
 */

/* The place of a status among several; they may all be ignored. */
static MPI_Status *status_at(MPI_Status *statuses, int i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static int ask_Request_get_status_all(int n, const MPI_Request *requests, int *flag,
				      MPI_Status *statuses)
{
	int i, ret = MPI_SUCCESS;

	*flag = 1;
	for (i = 0; i < n && *flag && !ret; i++)
		ret = real.Request_get_status(requests[i], flag, status_at(statuses, i));
	return ret;
}

static int ask_Request_get_status_any(int n, const MPI_Request *requests, int *index, int *flag,
				      MPI_Status *status)
{
	int i, ret = MPI_SUCCESS, active = 0;

	*flag = 0;
	*index = MPI_UNDEFINED;
	for (i = 0; i < n && !*flag && !ret; i++) {
		if (requests[i] == MPI_REQUEST_NULL)
			continue;
		active++;
		ret = real.Request_get_status(requests[i], flag, status);
		if (*flag)
			*index = i;
	}
	/* Of none there is an empty status. */
	return active ? ret : real.Request_get_status(MPI_REQUEST_NULL, flag, status);
}

static int ask_Request_get_status_some(int n, const MPI_Request *requests, int *done, int *indices,
				       MPI_Status *statuses)
{
	int i, flag, ret = MPI_SUCCESS, active = 0;

	*done = 0;
	for (i = 0; i < n && !ret; i++) {
		if (requests[i] == MPI_REQUEST_NULL)
			continue;
		active++;
		ret = real.Request_get_status(requests[i], &flag, status_at(statuses, *done));
		if (!ret && flag)
			indices[(*done)++] = i;
	}
	if (!active)
		*done = MPI_UNDEFINED;
	return ret;
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
