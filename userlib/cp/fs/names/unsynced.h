/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of names and attributes that the name server has answered and that are not known to be durable, by inode.
 * If the name server loses some, the next sync of each of these inodes says so, once.  Reactor 0 only.
 *
 * Every sync makes all of them durable.  When there are many, or they have been there for a while, the name server
 * is asked to sync without anybody's wish, so that there are never more than what is changed in that time.
 */
#ifndef DDIO_CP_FS_UNSYNCED_H
#define DDIO_CP_FS_UNSYNCED_H

#include "base/hash.h"
#include "cp/fs/core/core.h"

struct fsc_ask;
struct reply;

/*
 * Who hears of a loss is decided as by the kernel's errseq: each opening of a directory that is older than the loss, and
 * whoever comes first, even later.  So losses, and the first time that somebody is told of one, are numbered events, and
 * an opening knows the last one that it has seen.
 */

/**
 * struct fsc_unsynced - all of them
 * @marks: struct fsc_mark, by inode
 * @order: those that are not known to be durable, the longest unchanged first; @nfresh: how many
 * @told: of the others, those that somebody has been told of, the first of them first; @ntold: how many
 * @forgotten: openings that have seen no later event may have to hear of a mark that was dropped
 * @clock: counts answered changes
 * @unnamed: since the last sync there was a change of an inode whose number is not known, or could not be noted
 * @events: the last event's number; other threads read it
 * @losses: how often the name server has lost something; @told_any: what ddio_fs_sync_names() has said of it
 */
struct fsc_unsynced {
	struct ddio_hash marks;
	struct ddio_list order, told;
	uint64_t nfresh, ntold, forgotten, clock, unnamed;
	uint64_t events;
	uint64_t losses, told_any;
};

void fsc_unsynced_init(struct fsc_unsynced *u);
void fsc_unsynced_free(struct fsc_unsynced *u);
/* A request to change something was answered with success. */
void fsc_unsynced_changed(struct fsc_unsynced *u, const struct fsc_ask *ask,
			  const struct reply *reply);
/* Everything answered up to @clock is durable. */
void fsc_unsynced_durable(struct fsc_unsynced *u, uint64_t clock);
/* Returns true if there is anything that may be lost, answered up to @clock. */
bool fsc_unsynced_any(const struct fsc_unsynced *u, uint64_t clock);
/* Returns true if a change of the inode may not be durable. */
bool fsc_unsynced_has(const struct fsc_unsynced *u, uint64_t ino);
/* All of it may be lost. */
void fsc_unsynced_lost(struct fsc_unsynced *u);
/* So may what was durable, of whatever inode: every opening that there is hears of it. */
void fsc_unsynced_forget(struct fsc_unsynced *u);
/* The inode counts as changed, whether it was or not. */
void fsc_unsynced_add(struct fsc_unsynced *u, uint64_t ino);
/* Returns the last event, for an opening that begins.  Any thread. */
uint64_t fsc_unsynced_now(const struct fsc_unsynced *u);
/*
 * Returns true if a change of the inode may be lost, of any inode (@ino 0), and nobody has been told; with @seen also if
 * an opening that has seen events up to *@seen has not been told.  *@seen becomes the last event.
 */
bool fsc_unsynced_tell(struct fsc_unsynced *u, uint64_t ino, uint64_t *seen);

#endif /* DDIO_CP_FS_UNSYNCED_H */
