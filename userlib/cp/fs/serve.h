/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of ddio_fs_serve() with the file system. */
#ifndef DDIO_CP_FS_SERVE_H
#define DDIO_CP_FS_SERVE_H

#include "cp/fs/core/core.h"

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_serve_new(struct ddio_fs *fs);
void fsc_serve_free(struct ddio_fs *fs);
/* The file system ends; reactor 0. */
void fsc_serve_stop(struct ddio_fs *fs);

#endif /* DDIO_CP_FS_SERVE_H */
