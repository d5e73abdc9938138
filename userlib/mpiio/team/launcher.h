/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the launcher knows of processes that have died, on whichever machine. */
#ifndef MPIIO_TEAM_LAUNCHER_H
#define MPIIO_TEAM_LAUNCHER_H

#include <mpi.h>
#include <stdbool.h>

/* Around a wait for processes of @comm; between the two launcher_misses() says whether one of them has died. */
void launcher_begin(MPI_Comm comm);
bool launcher_misses(void);

/* @missed: one of them has died, which those that wait on other machines may not know yet. */
void launcher_end(bool missed);

/* One of @comm's processes has not answered: others may still wait on other machines, and know of no death. */
void launcher_tell(MPI_Comm comm);

#endif
