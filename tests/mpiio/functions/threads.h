/* SPDX-License-Identifier: GPL-2.0-only */
/* Two threads of each rank. */
#ifndef TESTS_MPIIO_THREADS_H
#define TESTS_MPIIO_THREADS_H

#include "tests/mpiio/functions/functions.h"
#include <pthread.h>

enum { THREADS = 2 };

/* What one of them does, and how that went: complaints go by the main thread. */
struct crossing {
	pthread_t thread;
	MPI_File fh;
	MPI_Comm comm;
	MPI_Request *request;
	void *(*body)(void *arg);
	int number, failed, wrong;
};

/* Skips the case without --ddio and --threads: the MPIs' own do not all bear this. */
bool threads_are_there(void);
/* Runs them, each with its own body if it has one, and complains of what they have noted. */
void threads_run(struct crossing *w, void *(*body)(void *arg));
/* An error that is none of the test's. */
void thread_note(struct crossing *w, int rc);

#endif
