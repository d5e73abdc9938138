/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of ddio's where the MPI has no back end. */
#ifndef MPIIO_STUB_REFUSE_H
#define MPIIO_STUB_REFUSE_H

#include <stddef.h>

typedef long (*entry_fn)(long a, long b, long c, long d, long e, long f);

/**
 * refuse_names - have names that begin with "ddio:" fail, which the MPI would take for local files
 * @soname, @backend: of the MPI; NULL: nobody knows which it is
 * @null_file: its MPI_FILE_NULL
 * @open, @del: its MPI_File_open() and MPI_File_delete(), which become those that look at the name first
 */
void refuse_names(const char *soname, const char *backend, void *null_file, entry_fn *open,
		  entry_fn *del);

#endif /* MPIIO_STUB_REFUSE_H */
