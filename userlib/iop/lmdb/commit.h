/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit: one transaction at a time, in the env's worker; whoever asks
 * while it runs shares the next one.
 */
#ifndef DDIO_LMDB_COMMIT_H
#define DDIO_LMDB_COMMIT_H

#include "env/env.h"
#include "iop/lmdb/env.h"
#include "iop/store/store.h"

/**
 * struct ddio_committer_ops - what is committed
 * @seal: on the reactor: set the changes so far aside; false if there are none
 * @apply: in the worker: write what was set aside, and touch nothing else; may run again
 *	after a failure
 * @ended: on the reactor: it is durable, or (@err) has to go in front of the changes that came
 *	since
 */
struct ddio_committer_ops {
	bool (*seal)(void *ctx);
	int (*apply)(MDB_txn *txn, void *ctx);
	void (*ended)(void *ctx, int err);
};

/**
 * struct ddio_committer - the state of it
 * @disk: to be flushed before the transaction, or NULL
 * @waiting, @running: struct ddio_commit of the next transaction and of this one
 */
struct ddio_committer {
	struct ddio_env *env;
	struct ddio_lmdb *db;
	struct ddio_disk *disk;
	const struct ddio_committer_ops *ops;
	void *ctx;
	struct ddio_list waiting, running;
	struct ddio_disk_req flush;
	struct ddio_offload job;
	struct ddio_post post;
	bool active, any;
	int err;
};

void ddio_committer_init(struct ddio_committer *c, struct ddio_env *env, struct ddio_lmdb *db,
			 struct ddio_disk *disk, const struct ddio_committer_ops *ops, void *ctx);
/* @commit may be NULL: then nobody is told. */
void ddio_committer_commit(struct ddio_committer *c, struct ddio_commit *commit);

#endif /* DDIO_LMDB_COMMIT_H */
