/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attributes of directories that came with the replies to changes in them.  A program that changes a
 * directory often asks for its attributes next, so those of the last few directories that were changed
 * here are kept for a moment.
 *
 * Replies may arrive in another order than their requests were carried out: one that waits for a commit
 * is overtaken by the next.  So the attributes with the greatest change count win, and a directory that
 * was dropped does not come back with the reply to a request that was under way then.  What is kept
 * contains every change that was made through this struct ddio_fs and has been answered; changes by
 * others may be missing for as long as it is old.  Reactor 0 only.
 */
#ifndef DDIO_CP_FS_DIRATTR_H
#define DDIO_CP_FS_DIRATTR_H

#include <ddio/fs.h>

struct fsc_ask;

enum { FSC_DIRATTR_SLOTS = 64 };

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_dirattrs_new(struct ddio_fs *fs);
void fsc_dirattrs_free(struct ddio_fs *fs);

/* The request is about to be sent, perhaps once more. */
void fsc_dirattr_sent(struct fsc_ask *ask);
/* The request was answered: drops what it may have changed, unless fsc_dirattr_dir() follows. */
void fsc_dirattr_replied(struct fsc_ask *ask, bool failed);
/* Keeps the directory's attributes from a reply to FS_MAKE or FS_UNLINK; @dir NULL: it has none. */
void fsc_dirattr_dir(struct fsc_ask *ask, const struct ddio_fs_attr *dir);
/* Takes note of attributes of any inode that someone asked for. */
void fsc_dirattr_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr);
/* The connection to the name server was replaced: drops everything. */
void fsc_dirattr_lost(struct ddio_fs *fs);
/* Finds attributes that are less than @max_age old; sets *age to how old they are. */
bool fsc_dirattr_find(struct ddio_fs *fs, uint64_t ino, uint64_t max_age, struct ddio_fs_attr *attr,
		      uint64_t *age);

#endif /* DDIO_CP_FS_DIRATTR_H */
