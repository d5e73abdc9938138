/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names looked up ahead.  A program that looks at one file of a directory after another, as git status and rm -r do,
 * would ask the name server for each.  After a few such lookups the directory is listed with its attributes, and the
 * lookups that follow are answered from the listing while it is young enough for the caller.
 *
 * What is answered contains every change that was made through this struct ddio_fs and has been answered, and is never
 * older than what someone was told before: a request that may change an inode or a name, or tells an inode's
 * attributes, takes them out of all listings that were asked for before it was sent or answered.  Changes by
 * others may be missing for as long as the listing is old.  What is in use here is always asked for.  Reactor 0 only.
 */
#ifndef DDIO_CP_FS_AHEAD_H
#define DDIO_CP_FS_AHEAD_H

#include <ddio/fs.h>

struct fsc_ask;

enum { FSC_AHEAD_DIRS = 32, FSC_AHEAD_FIRST = 128, FSC_AHEAD_MOST = 512 };

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_ahead_new(struct ddio_fs *fs);
/* Any thread, when nothing runs any more. */
void fsc_ahead_free(struct ddio_fs *fs);

/* Returns what struct fsc_ask.name is for a name; not 0. */
uint64_t fsc_ahead_name(uint64_t dir, const char *name);
/* The request has been sent, or answered. */
void fsc_ahead_note(struct fsc_ask *ask);
/* Takes note of attributes that someone is told. */
void fsc_ahead_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr);
/* The connection to the name server was replaced: drops everything. */
void fsc_ahead_lost(struct ddio_fs *fs);
/* Frees what is too old to be used. */
void fsc_ahead_trim(struct ddio_fs *fs);

/* Finds a name's attributes that are less than @max_age old; sets *age to how old they are. */
bool fsc_ahead_find(struct ddio_fs *fs, uint64_t dir, const char *name, uint64_t max_age,
		    struct ddio_fs_attr *attr, uint64_t *age);
/* A name is about to be looked up at the name server: lists the directory if it was the last of several. */
void fsc_ahead_missed(struct ddio_fs *fs, uint64_t dir);
/* ... and was found. */
void fsc_ahead_looked(struct ddio_fs *fs, uint64_t dir);

#endif /* DDIO_CP_FS_AHEAD_H */
