/* SPDX-License-Identifier: GPL-2.0-only */
/* mpi-tile-io's pattern. */
#ifndef TESTS_MPIIO_TILES_H
#define TESTS_MPIIO_TILES_H

#include "tests/mpiio/common.h"

void tiles_apart(void);
void tiles_overlapping(void);

#endif
