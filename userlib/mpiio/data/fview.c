// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a process sees of a file: kept as long as an access needs it.  Calls of two threads are made as if one had been before the
 * other (MPI 4.0, section 11.6), so an access has one view, also when a thread sets another meanwhile.
 */
#include <stdlib.h>
#include "mpiio/data/data.h"
#include "mpiio/data/fview.h"

struct mpiio_fview *fview_new(const struct mpiio_rep *rep)
{
	struct mpiio_fview *seen = calloc(1, sizeof(*seen));

	if (seen)
		*seen = (struct mpiio_fview){ .refs = 1,
					      .etype = MPI_DATATYPE_NULL,
					      .filetype = MPI_DATATYPE_NULL,
					      .rep = rep };
	return seen;
}

struct mpiio_fview *fview_of_bytes(void)
{
	struct mpiio_fview *seen = fview_new(NULL);

	if (seen && view_of_bytes(&seen->view)) {
		fview_put(seen);
		return NULL;
	}
	if (seen)
		seen->etype = seen->filetype = MPI_BYTE;
	return seen;
}

struct mpiio_fview *fview_hold(struct mpiio_fview *const *of, pthread_mutex_t *lock)
{
	struct mpiio_fview *seen;

	pthread_mutex_lock(lock);
	seen = *of;
	__atomic_add_fetch(&seen->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(lock);
	return seen;
}

void fview_put(struct mpiio_fview *seen)
{
	if (!seen || __atomic_sub_fetch(&seen->refs, 1, __ATOMIC_ACQ_REL))
		return;
	view_drop(&seen->view);
	type_drop(&seen->etype);
	type_drop(&seen->filetype);
	free(seen);
}
