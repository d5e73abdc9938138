/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of the job on this machine. */
#ifndef MPIIO_TEAM_SIBLINGS_H
#define MPIIO_TEAM_SIBLINGS_H

#include <stdbool.h>

/* @pid: stays; none: they are not known. */
void siblings_know(const int *pid, unsigned int n);
bool siblings_are_known(void);
/* Whether one of them is there no more. */
bool siblings_miss(void);

#endif
