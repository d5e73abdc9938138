/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hints of an MPI_Info (MPI 4.0, section 14.2.8): those that ddio heeds, and all others, which are kept. */
#ifndef MPIIO_HINTS_H
#define MPIIO_HINTS_H

#include "mpiio/abi/abi.h"

#define HINTS_DISKS 1024

/* Spreads a file below a mount that has no data, and is not open, as "striping_unit", "striping_factor", "start_iodevice" have it; else it is as it is. */
void hints_stripe(MPI_Info info, const char *path);
/* Returns true if they ask for how a file is spread. */
bool hints_any(MPI_Info info);

/* The same for a file that does not exist yet; false: they ask for nothing.  @disks: room for HINTS_DISKS. */
bool hints_striping(MPI_Info info, struct ddio_striping *striping, uint32_t *disks);

/* Adds to what a file was given before. */
int hints_take(struct mpiio_file *f, MPI_Info info);

/* Whether a hint is "true", "enable" or "yes"; "false", "disable" or "no". */
bool hints_is_on(const struct mpiio_file *f, const char *key);
bool hints_is_off(const struct mpiio_file *f, const char *key);

#endif
