/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside mending.  Each request does a part of an object: it moves runs of blocks (run.c) until its time is over or it has to
 * rest; whoever asks goes on with another request.  So one who dies, or gives up, leaves nothing behind.  A disk serves one at a
 * time, and one file until it is done: two would take the places behind each other's blocks.
 */
#ifndef DDIO_MEND_PRIV_H
#define DDIO_MEND_PRIV_H

#include "iop/cache/queue.h"
#include "iop/ops/object.h"
#include "iop/pace/pace.h"
#include "iop/store/mend/mend.h"

#define MEND_BLOCKS 64u		     /* most blocks of a run */
#define MEND_RUN (1u << 20)	     /* and bytes, but for a block that is larger */
#define MEND_RUN_SHARED (128u << 10) /* while others use the disk */

/**
 * struct mend_disk - of one disk
 * @file: whose turn it is, 0: nobody's; @since: since when, @seen: when it was served last
 * @moved: bytes of which the old places are not free yet
 * @job: the request that is being served, or NULL
 * @queue: reads and writes the blocks
 */
struct mend_disk {
	struct iop_disk *disk;
	struct pace pace;
	uint64_t file, since, seen, moved;
	struct mend_job *job;
	struct queue queue;
};

struct mend_job;

/**
 * struct mend_io - a read of blocks that lie together, from @first of the run on; or the write of all
 */
struct mend_io {
	struct queue_req req;
	struct mend_job *job;
	uint32_t first;
};

/**
 * struct mend_job - in the request's data
 * @mend: how far it is
 * @until: no other run begins after that; @patience: others are waited for until then
 * @got: the reply
 * @over: all of the object has been looked at
 * @single: so many blocks are moved one by one, since one of them could not be read
 * @lock, @n: blocks of the run, locked; @good: so many from the first on are to be moved
 * @move, @moves: their new place
 * @io: reads of them, or the write; @pending: under way, @ops: how many there were, @err: how they ended
 * @buf, @cap: their bytes; @rest: what the pace says
 */
struct mend_job {
	struct mend_disk *m;
	struct server_request *req;
	struct store_mend mend;
	uint64_t until, patience;
	struct ddio_msg_mended got;
	bool over;
	uint32_t single, n, good, pending, ops;
	struct block_lock lock[MEND_BLOCKS];
	struct store_move move;
	bool moves;
	struct mend_io io[MEND_BLOCKS];
	int err;
	uint8_t *buf;
	size_t cap;
	uint64_t rest;
	struct ddio_post post;
};

static inline struct ddio_env *mend_env(const struct mend_job *job)
{
	return job->req->reactor->env;
}

/* mend.c */
/* Goes on in the reactor's next turn. */
void mend_turn(struct mend_job *job);
/* Somebody else is in the way: goes on after a moment. */
void mend_later(struct mend_job *job);
/* Nothing more can be done: the reply is an error. */
void mend_fail(struct mend_job *job, int err, const char *what);
/* Returns true if nobody is in the way of moving blocks of the file. */
bool mend_may(const struct mend_job *job);

/* run.c: moves the blocks that job->mend names, and calls one of the functions above. */
void mend_run(struct mend_job *job);
void mend_buf_free(struct mend_job *job);
/* Returns how many blocks of @bs bytes a run has. */
uint64_t mend_run_most(const struct mend_job *job, uint32_t bs);

#endif /* DDIO_MEND_PRIV_H */
