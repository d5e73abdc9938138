/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes that the launcher has started on this machine beside this one. */
#ifndef MPIIO_STUB_SIBLINGS_H
#define MPIIO_STUB_SIBLINGS_H

#include <stddef.h>

/**
 * struct mpiio_siblings - processes by their numbers, this one's among them
 * @pid: of each, or of the process in which the launcher has it started
 * @n: 0: they are not known
 */
struct mpiio_siblings {
	int *pid;
	unsigned int n;
};

/* Looks at the launcher's children, once: when the MPI has started, so that there are all. */
void siblings_note(void);
const struct mpiio_siblings *siblings_noted(void);

#endif
