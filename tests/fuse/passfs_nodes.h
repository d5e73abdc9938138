/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode numbers that are never reused, over a file system that reuses its own. */
#ifndef PASSFS_NODES_H
#define PASSFS_NODES_H

#include "passfs.h"

int nodes_init(struct ddio_fs *fs);
void nodes_free(struct ddio_fs *fs);
/* Return a descriptor of the inode (O_PATH), or one to read and write; or -errno. */
int node_open(struct ddio_fs *fs, uint64_t ino);
int node_reopen(struct ddio_fs *fs, uint64_t ino, int flags);
/* Looks up @name in @dir; "" stands for @dir itself. */
int node_attr(struct ddio_fs *fs, int dir, const char *name, struct ddio_fs_attr *attr);

#endif /* PASSFS_NODES_H */
