/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disks whose nodes are on this machine show what they have cached, which any thread may read without a message.
 * What is shown belongs to a connection: it is not looked at any more when that is lost.
 */
#ifndef DDIO_CP_FS_NEAR_H
#define DDIO_CP_FS_NEAR_H

#include "cp/fs/core/core.h"

/* Before anything runs: 0 or -ENOMEM.  Without it nothing is near. */
int fsc_nears_new(struct ddio_fs *fs);
/* When nothing runs any more. */
void fsc_nears_free(struct ddio_fs *fs);
/* Asks the disk's node once to show it; on the reactor @r. */
void fsc_near_ask(struct fsc_reactor *r, uint32_t disk);
/* The lane is about to be closed; on its reactor @r.  What its node shows is looked at no more. */
void fsc_near_losing(struct fsc_reactor *r, const struct lane *lane);
/* Any thread: returns true if it has read all of the file's bytes [@at, @at + @len), which lie within its size. */
bool fsc_near_read(struct ddio_fs *fs, const struct ddio_file_record *rec, uint64_t at, size_t len,
		   uint8_t *buf);

#endif /* DDIO_CP_FS_NEAR_H */
