// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPI_Request_get_status_all() and its kin are of MPI 4.1.  For an MPI before that they ask for one request after the other, so
 * that whoever calls them has an answer from each MPI.
 */
#include "mpiio/abi/request.h"

/* The place of a status among several; they may all be ignored. */
static MPI_Status *status_at(MPI_Status *statuses, int i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

int ask_Request_get_status_all(int n, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	int i, ret = MPI_SUCCESS;

	*flag = 1;
	for (i = 0; i < n && *flag && !ret; i++)
		ret = real.Request_get_status(requests[i], flag, status_at(statuses, i));
	return ret;
}

int ask_Request_get_status_any(int n, const MPI_Request *requests, int *index, int *flag,
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

int ask_Request_get_status_some(int n, const MPI_Request *requests, int *done, int *indices,
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
