/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The beginning and the end of a file system, for sessions that exist already: tests, simulations. */
#ifndef DDIO_CP_FS_FS_H
#define DDIO_CP_FS_FS_H

#include "cp/fs/core/core.h"

#define FSC_REACTORS_MAX 64u

/* ddio_fs_open() over @n sessions, each with a reactor of its own.  Blocks.  Returns 0 or -errno. */
int ddio_fsc_new(struct ddio_session **sessions, uint32_t n, const struct ddio_fs_opts *opts,
		 struct ddio_fs **fs, char *err, size_t err_len);

#endif /* DDIO_CP_FS_FS_H */
