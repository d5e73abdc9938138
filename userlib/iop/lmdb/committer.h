/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit: one transaction at a time, in the env's worker; whoever asks
 * while it runs shares the next one.
 */
#ifndef DDIO_COMMITTER_H
#define DDIO_COMMITTER_H

#include "env/disk/disk.h"
#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/env.h"

/**
 * struct committer_ops - what is committed
 * @seal: on the reactor: set the changes so far aside; false if there are none
 * @apply: in the worker: write what was set aside, and touch nothing else; may run again
 *	after a failure
 * @ended: on the reactor: it is durable, or (@err) has to go in front of the changes that came
 *	since
 */
struct committer_ops {
	bool (*seal)(void *ctx);
	int (*apply)(MDB_txn *txn, void *ctx);
	void (*ended)(void *ctx, int err);
};

/**
 * struct committer - the state of it
 * @disk: to be flushed before the transaction, or NULL
 * @waiting, @running: struct commit of the next transaction and of this one
 */
struct committer {
	struct ddio_env *env;
	struct lmdb *db;
	struct ddio_disk *disk;
	const struct committer_ops *ops;
	void *ctx;
	struct ddio_list waiting, running;
	struct ddio_disk_req flush;
	struct ddio_offload job;
	struct ddio_post post;
	bool active, any;
	int err;
};

void committer_init(struct committer *c, struct ddio_env *env, struct lmdb *db,
		    struct ddio_disk *disk, const struct committer_ops *ops, void *ctx);
/* @commit may be NULL: then nobody is told. */
void committer_commit(struct committer *c, struct commit *commit);

#endif /* DDIO_COMMITTER_H */
