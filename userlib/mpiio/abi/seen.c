// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a process sees of a file: kept as long as an access needs it.  Calls of two threads are made as if one had been before the
 * other (MPI 4.0, section 11.6), so an access has one view, also when a thread sets another meanwhile.
 */
#include <stdlib.h>
#include "mpiio/abi/abi.h"

struct mpiio_seen *seen_new(const struct mpiio_rep *rep)
{
	struct mpiio_seen *seen = calloc(1, sizeof(*seen));

	if (seen)
		*seen = (struct mpiio_seen){ .refs = 1,
					     .etype = MPI_DATATYPE_NULL,
					     .filetype = MPI_DATATYPE_NULL,
					     .rep = rep };
	return seen;
}

struct mpiio_seen *seen_of_bytes(void)
{
	struct mpiio_seen *seen = seen_new(NULL);

	if (seen && view_of_bytes(&seen->view)) {
		seen_put(seen);
		return NULL;
	}
	if (seen)
		seen->etype = seen->filetype = MPI_BYTE;
	return seen;
}

struct mpiio_seen *seen_take(struct mpiio_file *f)
{
	struct mpiio_seen *seen;

	pthread_mutex_lock(&f->lock);
	seen = f->seen;
	__atomic_add_fetch(&seen->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&f->lock);
	return seen;
}

void seen_put(struct mpiio_seen *seen)
{
	if (!seen || __atomic_sub_fetch(&seen->refs, 1, __ATOMIC_ACQ_REL))
		return;
	view_drop(&seen->view);
	type_drop(&seen->etype);
	type_drop(&seen->filetype);
	free(seen);
}

void seen_use(struct mpiio_file *f, struct mpiio_seen *seen)
{
	struct mpiio_seen *had;

	pthread_mutex_lock(&f->lock);
	had = f->seen;
	f->seen = seen;
	f->pos = 0;
	pthread_mutex_unlock(&f->lock);
	seen_put(had);
}
