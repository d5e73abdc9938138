/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit: one transaction at a time, in the env's worker.  Commits requested while one is running
 * share the next one.
 */
#ifndef DDIO_COMMITTER_H
#define DDIO_COMMITTER_H

#include "env/disk/disk.h"
#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/env.h"

/**
 * struct committer_ops - what a commit consists of
 * @seal: on the reactor: sets the changes so far aside; false: there are none
 * @early: returns true if what was set aside says nothing of what has been written to the disk, so that this need
 *	not be flushed first; NULL: it always does
 * @same: returns true if nothing is to be recorded since the last @seal; NULL: never
 * @apply: in the worker: writes what was set aside, and touches nothing else; may run again after a
 *	failure
 * @parts: the same, if there was no room for one transaction: in several, each of a few changes, so that a crash
 *	between them does no harm; it may go on where it failed; NULL: it cannot be done
 * @ended: on the reactor: what was set aside is durable, or (@err) goes back in front of later changes
 */
struct committer_ops {
	bool (*seal)(void *ctx);
	bool (*early)(void *ctx);
	bool (*same)(void *ctx);
	int (*apply)(MDB_txn *txn, void *ctx);
	int (*parts)(void *ctx);
	void (*ended)(void *ctx, int err);
};

/**
 * struct committer - the state of a group commit
 * @disk: flushed before the transaction, or NULL
 * @waiting, @running: struct commit of the next and of the current transaction
 * @again, @repeat: struct commit of those who ask for what the last transaction has made durable, and are told soon
 * @flushed: what ddio_disk_written() said when a commit last had the disk flushed; UINT64_MAX: none has, or one has failed
 *	since
 * @any: the current commit has changes
 * @said: the error of the last commit, which the log has; one that lasts is told once
 * @stopped: 0, or the error of a flush of @disk: no later commit can succeed
 */
struct committer {
	struct ddio_env *env;
	struct lmdb *db;
	struct ddio_disk *disk;
	const struct committer_ops *ops;
	void *ctx;
	struct ddio_list waiting, running, again;
	struct ddio_disk_req flush;
	struct ddio_offload job;
	struct ddio_post post, repeat;
	uint64_t flushed;
	bool active, any;
	int err, said, stopped;
};

void committer_init(struct committer *c, struct ddio_env *env, struct lmdb *db,
		    struct ddio_disk *disk, const struct committer_ops *ops, void *ctx);
/* @commit may be NULL. */
void committer_commit(struct committer *c, struct commit *commit);

#endif /* DDIO_COMMITTER_H */
