/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process sees of a file. */
#ifndef MPIIO_SEEN_H
#define MPIIO_SEEN_H

#include <mpi.h>
#include "mpiio/core/view.h"
#include "mpiio/data/represent.h"

struct mpiio_file;

/**
 * struct mpiio_seen - a view as it was set, and does not change
 * @refs: the file and its accesses: while one of these is under way another thread may set another view
 * @view: of the process
 * @etype: as it was set; this library's own, like @filetype
 * @rep: how data look in the file; NULL: as in memory
 */
struct mpiio_seen {
	unsigned int refs;
	struct mpiio_view view;
	MPI_Datatype etype, filetype;
	const struct mpiio_rep *rep;
};

/* With one reference, of the caller; NULL: no memory. */
struct mpiio_seen *seen_new(const struct mpiio_rep *rep); /* what is seen is the caller's to say */
struct mpiio_seen *seen_of_bytes(void);

struct mpiio_seen *seen_take(struct mpiio_file *f);
void seen_put(struct mpiio_seen *seen); /* or NULL */

/* From now on the file's, with the caller's reference; its pointer is at the beginning. */
void seen_use(struct mpiio_file *f, struct mpiio_seen *seen);

#endif
