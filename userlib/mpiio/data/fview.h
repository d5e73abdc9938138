/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process sees of a file. */
#ifndef MPIIO_FVIEW_H
#define MPIIO_FVIEW_H

#include <mpi.h>
#include <pthread.h>
#include "mpiio/core/view.h"
#include "mpiio/data/represent.h"

/**
 * struct mpiio_fview - a view as it was set, and does not change
 * @refs: the file and its accesses: while one of these is under way another thread may set another view
 * @view: of the process
 * @etype: as it was set; this library's own, like @filetype
 * @rep: how data look in the file; NULL: as in memory
 */
struct mpiio_fview {
	unsigned int refs;
	struct mpiio_view view;
	MPI_Datatype etype, filetype;
	const struct mpiio_rep *rep;
};

/* With one reference, of the caller; NULL: no memory. */
struct mpiio_fview *
fview_new(const struct mpiio_rep *rep); /* what is seen is the caller's to say */
struct mpiio_fview *fview_of_bytes(void);

/* One more, of what is there now: @of is changed under @lock. */
struct mpiio_fview *fview_hold(struct mpiio_fview *const *of, pthread_mutex_t *lock);
void fview_put(struct mpiio_fview *seen); /* or NULL */

#endif
