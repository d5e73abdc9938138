/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes, for the other entrances. */
#ifndef DDIO_CP_FS_ATTR_H
#define DDIO_CP_FS_ATTR_H

#include "cp/fs/core/core.h"

/* Does what ddio_fs_getattr() does on reactor 0, at once. */
void fsc_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);
/* Returns true if the inode was written here and the name server has not been told, so that @attr are old; reactor 0. */
bool fsc_attr_stale(struct ddio_fs *fs, const struct ddio_fs_attr *attr);

#endif /* DDIO_CP_FS_ATTR_H */
