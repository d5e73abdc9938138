// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks that go straight between the disk and the memory of members on this machine, past the slots.  They
 * come before all other blocks of the disk's list, in its order, in batches: the next batch begins when the last
 * blocks of the previous one are on their way.
 *
 * A block is scattered if all members that have bytes of it have joined, and if the disk has, or gets, all of
 * it: no hole, nothing newer in the cache and, when writing, no byte that nobody sends.  All other blocks, and
 * those that the disk does not accept, are left to the slots.
 *
 * The blocks of a batch are all locked, each until it has moved.  Only locks that are free at once are
 * taken, so that nothing is waited for under a lock but the disk.
 *
 * When a member leaves the joint meanwhile, no further block begins.  The member has died or gives up; its
 * connection will say which, and who it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/slot/scatter_block.h"

#define BATCH_BLOCKS 128u
#define BATCH_RUNS 16384u

/**
 * struct scatter_batch - a list that the disk has
 * @left: blocks that have not ended; 0 if the disk does not have it
 * @busy: the disk has it
 */
struct scatter_batch {
	struct coll_scatter *scatter;
	struct ddio_disk_scatter *list;
	uint32_t left;
	bool busy;
	struct scatter_block block[BATCH_BLOCKS];
};

/**
 * struct coll_scatter - a disk's part
 * @rest: blocks that are not scattered; @over: what moves them
 * @all: every member has joined
 * @orphaned: a member has left the joint
 */
struct coll_scatter {
	struct coll_disk *cd;
	struct plan rest;
	void (*over)(struct coll_disk *cd);
	bool all, orphaned;
	struct scatter_batch batch[2];
};

static void scatter_go(struct coll_scatter *sc);

static void block_failed(struct coll_disk *cd, const struct coll_block *at, int status)
{
	if (status == -EOWNERDEAD)
		cd->scatter->orphaned = true;
	else if (status == -EBADMSG)
		coll_fail_sum(cd, at);
	else if (status != -ECANCELED)
		coll_fail_disk(cd, at, status, cd->coll->ops->scatter->doing);
}

static void block_ended(void *ctx, uint32_t index, int status)
{
	struct scatter_batch *batch = ctx;
	struct coll_disk *cd = batch->scatter->cd;
	struct scatter_block *b = &batch->block[index];
	uint32_t sum = ddio_disk_scatter_sum(batch->list, index);

	cd->progress_ns = ddio_env_now(cd->coll->reactor->env);
	batch->left--;
	if (status == -EBADMSG)
		object_compared(cd->obj, b->at.block, false);
	status = scatter_block_end(cd, b, status,
				   ddio_disk_scatter_has_sums(batch->list) ? &sum : NULL);
	if (status)
		block_failed(cd, &b->at, status);
	else if (cd->coll->state == COLL_RUNNING && batch->left < cd->nslots)
		scatter_go(batch->scatter);
}

/*
 * Batches
 */
static void batch_ended(void *ctx)
{
	struct scatter_batch *batch = ctx;
	struct coll_scatter *sc = batch->scatter;
	struct coll *coll = sc->cd->coll;
	const struct scatter_ops *ops = coll->ops->scatter;
	uint32_t n = ddio_disk_scatter_blocks(batch->list), i;

	/* Blocks whose end the engine did not report, if there are any. */
	for (i = 0; i < n; i++)
		scatter_block_unlock(sc->cd, &batch->block[i],
				     ops->stale(&batch->block[i].lock, 0));
	batch->busy = false;
	batch->left = 0;
	ddio_disk_scatter_clear(batch->list);
	coll->io--;
	coll_kick(coll);
	if (coll->state == COLL_RUNNING)
		scatter_go(sc);
}

static const struct ddio_disk_scatter_ops batch_ops = { .block = block_ended,
							.ended = batch_ended };

/* Leaves a block to the slots. */
static int rest_add(struct coll_scatter *sc, const struct plan_blocks *placed)
{
	int err = plan_add(&sc->rest, placed);

	if (err)
		coll_fail_memory(sc->cd->coll);
	return err;
}

/* Leaves the blocks of a list that the disk does not accept to the slots. */
static void batch_give_up(struct scatter_batch *batch, const struct plan_blocks *placed)
{
	struct coll_scatter *sc = batch->scatter;
	uint32_t n = ddio_disk_scatter_blocks(batch->list), i;

	ddio_disk_scatter_clear(batch->list);
	for (i = 0; i < n; i++)
		scatter_block_unlock(sc->cd, &batch->block[i], false);
	for (i = 0; i < n; i++)
		if (rest_add(sc, &placed[i]))
			return;
}

/* Fills the batch from the disk's list: 0, or -errno with the collective failed. */
static int batch_fill(struct scatter_batch *batch, struct plan_blocks *taken)
{
	struct coll_scatter *sc = batch->scatter;
	struct plan_blocks placed;
	uint32_t n;

	while ((n = ddio_disk_scatter_blocks(batch->list)) < BATCH_BLOCKS &&
	       ddio_disk_scatter_runs(batch->list) < BATCH_RUNS &&
	       plan_next(&sc->cd->plan, &placed)) {
		if (scatter_block_take(sc->cd, &batch->block[n], batch->list, &placed, sc->all))
			taken[n] = placed;
		else if (rest_add(sc, &placed))
			return -ENOMEM;
	}
	return 0;
}

/* Fills and starts a batch; returns false if there was nothing to start. */
static bool batch_start(struct scatter_batch *batch)
{
	struct plan_blocks taken[BATCH_BLOCKS];
	struct coll *coll = batch->scatter->cd->coll;
	uint32_t n;

	if (batch_fill(batch, taken)) {
		batch_give_up(batch, taken);
		return false;
	}
	n = ddio_disk_scatter_blocks(batch->list);
	if (!n)
		return false;
	if (ddio_disk_scatter_start(batch->list)) {
		batch_give_up(batch, taken);
		return false;
	}
	batch->left = n;
	batch->busy = true;
	batch->scatter->cd->progress_ns = ddio_env_now(coll->reactor->env);
	coll->io++;
	return true;
}

static bool busy(const struct coll_scatter *sc)
{
	return sc->batch[0].busy || sc->batch[1].busy;
}

/* Ends scattering: what is left becomes the disk's list. */
static void scatter_over(struct coll_disk *cd)
{
	struct coll_scatter *sc = cd->scatter;

	plan_free(&cd->plan);
	cd->plan = sc->rest;
	memset(&sc->rest, 0, sizeof(sc->rest));
	plan_rotate(&cd->plan, 0);
	coll_scatter_free(cd);
}

/* Starts batches while there is room and something to start. */
static void scatter_start(struct coll_scatter *sc)
{
	uint32_t depth = sc->cd->nslots, i;

	for (i = 0; i < 2; i++) {
		struct scatter_batch *other = &sc->batch[!i];

		if (sc->orphaned || sc->batch[i].busy || (other->busy && other->left >= depth))
			continue;
		while (sc->cd->plan.left && sc->cd->coll->state == COLL_RUNNING)
			if (batch_start(&sc->batch[i]))
				break;
	}
}

static void scatter_go(struct coll_scatter *sc)
{
	struct coll_disk *cd = sc->cd;
	void (*over)(struct coll_disk * cd);

	scatter_start(sc);
	if (cd->coll->state != COLL_RUNNING || sc->orphaned || busy(sc))
		return;
	over = sc->over;
	scatter_over(cd);
	over(cd);
	coll_kick(cd->coll);
}

/*
 * Life
 */
static bool all_joined(const struct coll_req *req)
{
	uint32_t r;

	for (r = 0; r < req->start.nprocs; r++)
		if (!coll_req_joined(req, r))
			return false;
	return true;
}

static int scatter_new(struct coll_disk *cd)
{
	const struct coll *coll = cd->coll;
	struct ddio_disk_scatter_spec spec = {
		.op = coll->ops->scatter->op,
		.depth = cd->nslots,
		.len = coll->block_size,
		.joint = coll->req->joint,
		.ops = &batch_ops,
	};
	uint32_t i;
	int err;

	cd->scatter = calloc(1, sizeof(*cd->scatter));
	if (!cd->scatter)
		return -ENOMEM;
	cd->scatter->cd = cd;
	cd->scatter->rest.sectors = cd->plan.sectors;
	cd->scatter->all = all_joined(coll->req);
	for (i = 0; i < 2; i++) {
		struct scatter_batch *batch = &cd->scatter->batch[i];

		batch->scatter = cd->scatter;
		spec.ctx = batch;
		err = ddio_disk_scatter_new(cd->disk->disk, &spec, &batch->list);
		if (err) {
			coll_scatter_free(cd);
			return err;
		}
	}
	return 0;
}

bool coll_scatter_begin(struct coll_disk *cd, void (*rest)(struct coll_disk *cd))
{
	struct coll *coll = cd->coll;

	/* Blocks in the order of access time are chosen one by one. */
	if (!coll->req->joint || !cd->nslots || cd->plan.near ||
	    coll_req_flag(coll->req, DDIO_COLL_NO_BATCH) || scatter_new(cd))
		return false;
	cd->scatter->over = rest;
	scatter_start(cd->scatter);
	if (coll->state != COLL_RUNNING || busy(cd->scatter))
		return true;
	scatter_over(cd);
	return false;
}

void coll_scatter_stop(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; cd->scatter && i < 2; i++)
		ddio_disk_scatter_cancel(cd->scatter->batch[i].list);
}

void coll_scatter_free(struct coll_disk *cd)
{
	uint32_t i;

	if (!cd->scatter)
		return;
	for (i = 0; i < 2; i++)
		ddio_disk_scatter_free(cd->scatter->batch[i].list);
	plan_free(&cd->scatter->rest);
	free(cd->scatter);
	cd->scatter = NULL;
}

bool coll_scatter_busy(const struct coll_disk *cd)
{
	return cd->scatter && busy(cd->scatter);
}

bool coll_scatter_orphaned(const struct coll_disk *cd)
{
	return cd->scatter && cd->scatter->orphaned;
}
