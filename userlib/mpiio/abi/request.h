/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests of ddio among those of a program. */
#ifndef MPIIO_REQUEST_H
#define MPIIO_REQUEST_H

#include "mpiio/abi/abi.h"

/* The operation under way that a request is of; NULL: none of ddio's. */
struct mpiio_op *request_find(MPI_Request request);

/* request_complete() would not block. */
bool request_over(struct mpiio_op *op);

/* Tells the MPI that it is over, which it is, or waits for that; the error's code. */
int request_complete(struct mpiio_op *op);
int request_await(struct mpiio_op *op);

/* The program has freed it: it is the library's to end, when its file is closed at the latest. */
void request_abandon(struct mpiio_op *op);

/* A pause between two looks, longer the more there were. */
void request_nap(MPI_Request request, unsigned int *naps);

/* A program has asked for requests, and not all are over: a pause, if it has done nothing else for a while. */
void request_asked(void);

#endif
