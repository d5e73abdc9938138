/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Removing the objects of inodes that have neither a name nor an opening any more; reactor 0. */
#ifndef DDIO_CP_FS_REMOVE_H
#define DDIO_CP_FS_REMOVE_H

#include "cp/fs/core/core.h"
#include "cp/node/lane.h"

struct fsc_ask;

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_removals_new(struct ddio_fs *fs);
void fsc_removals_free(struct ddio_fs *fs);

/* Removes one inode, which the reply to @ask has named; takes over @rec. */
void fsc_remove_left(struct fsc_ask *ask, struct ddio_file_record *rec);
/* Removes the inodes that the reply to @ask lists. */
void fsc_remove_listed(struct fsc_ask *ask, const struct reply *reply);
/* Asks the name server for inodes that others have left, if it was not asked lately. */
void fsc_removals_beat(struct ddio_fs *fs);
/* Has the next beat ask: a reply that listed inodes may have been lost. */
void fsc_removals_soon(struct ddio_fs *fs);
/* The file system ends: what has not begun is left to the next mount. */
void fsc_removals_end(struct ddio_fs *fs);
/* Returns true if there is nothing left to remove. */
bool fsc_removals_idle(const struct ddio_fs *fs);

#endif /* DDIO_CP_FS_REMOVE_H */
