/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fortran's own names of MPI's file functions. */
#ifndef MPIIO_STUB_FORTRAN_H
#define MPIIO_STUB_FORTRAN_H

/* This is the back end from now on. */
void fortran_use(void *backend);

#endif
