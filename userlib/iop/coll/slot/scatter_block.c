// SPDX-License-Identifier: LGPL-2.1-or-later
/* Blocks past the slots, one by one: which may, their runs, their locks, their account. */
#include <errno.h>
#include "iop/coll/slot/scatter_block.h"

#define BLOCK_RUNS 65536u /* of one block; with more it is better packed */

/* Collects the runs of a block; @first is the file offset of its first byte. */
struct scatter_runs {
	struct coll_disk *cd;
	struct ddio_disk_scatter *list;
	uint64_t first, runs;
};

static int run_joined(void *arg, const struct ddio_map_run *run)
{
	const struct coll_req *req = arg;

	return coll_req_joined(req, run->proc) ? 0 : -ENOENT;
}

static int run_add(void *arg, const struct ddio_map_run *run)
{
	struct scatter_runs *sr = arg;
	struct ddio_scatter_run to = {
		.memory = run->share_off,
		.offset = run->file_off - sr->first,
		.len = run->len,
		.member = run->proc,
		.nlevels = run->nlevels,
	};
	uint32_t i;

	if (run->nlevels > sizeof(to.level) / sizeof(to.level[0]))
		return -ERANGE;
	for (i = 0; i < run->nlevels; i++)
		to.level[i] = (struct ddio_scatter_level){
			.count = run->level[i].count,
			.block_stride = run->level[i].file_stride,
			.memory_stride = (int64_t)run->level[i].share_stride,
		};
	sr->runs++;
	return ddio_disk_scatter_run(sr->list, &to);
}

static int run_count(void *arg, const struct ddio_map_run *run)
{
	uint64_t *scattered = arg, bytes = run->len;
	uint32_t i;

	for (i = 0; i < run->nlevels; i++)
		bytes *= run->level[i].count;
	scattered[run->proc] += bytes;
	return 0;
}

static int block_runs(const struct coll_disk *cd, const struct coll_block *at, ddio_map_run_fn fn,
		      void *arg)
{
	const struct coll *coll = cd->coll;

	return ddio_map_runs(coll->req->map, at->lo, at->lo + coll->block_size, coll_writes(coll),
			     fn, arg);
}

/* Returns true if all members that have bytes of the block have joined. */
static bool block_joined(const struct coll_disk *cd, const struct coll_block *at, bool all)
{
	return all || !block_runs(cd, at, run_joined, cd->coll->req);
}

static uint64_t block_covered(const struct coll_disk *cd, const struct coll_block *at)
{
	const struct coll *coll = cd->coll;

	return ddio_map_covered(coll->req->map, at->lo, at->lo + coll->block_size);
}

static void never_granted(struct block_lock *lock)
{
	(void)lock; /* a lock that is not granted at once is withdrawn at once */
}

void scatter_block_unlock(const struct coll_disk *cd, struct scatter_block *b, bool stale)
{
	if (b->begun)
		object_write_end(cd->obj, b->at.block, false, NULL);
	b->begun = false;
	if (b->held)
		cache_unlock(cd->disk->cache, &b->lock, stale);
	b->held = false;
}

/* Returns true if nothing has to be recorded before the block may move. */
static bool block_begin(const struct coll_disk *cd, struct scatter_block *b)
{
	if (cd->coll->ops->scatter->op == DDIO_DISK_READ)
		return true;
	b->begun = !object_write_begin(cd->obj, b->at.block);
	return b->begun;
}

/* Finds where the block is to be read or written. */
static bool block_place(const struct coll_disk *cd, uint64_t block, uint64_t *offset, bool *written)
{
	uint64_t run;

	if (cd->coll->ops->scatter->op == DDIO_DISK_READ)
		return object_lookup(cd->obj, block, offset, &run, written);
	return object_target(cd->obj, block, offset, &run, written);
}

/* Locks the block and finds its place on the disk; returns false, with nothing changed, if it cannot. */
static bool block_lock(const struct coll_disk *cd, struct scatter_block *b, uint64_t *offset)
{
	bool written = false;

	b->lock = (struct block_lock){
		.obj = cd->obj,
		.block = b->at.block,
		.granted = never_granted,
	};
	if (!cache_lock(cd->disk->cache, &b->lock)) {
		cache_lock_cancel(cd->disk->cache, &b->lock);
		return false;
	}
	b->held = true;
	if (!b->lock.status && block_place(cd, b->at.block, offset, &written) &&
	    cd->coll->ops->scatter->fits(&b->lock, written) && block_begin(cd, b))
		return true;
	scatter_block_unlock(cd, b, false);
	return false;
}

/* Adds the block and its runs to the list; returns false, with nothing changed, if it cannot. */
static bool block_list(struct coll_disk *cd, struct ddio_disk_scatter *list,
		       const struct coll_block *at, uint64_t offset)
{
	struct scatter_runs sr = { .cd = cd, .list = list, .first = at->lo };
	uint64_t before = ddio_disk_scatter_runs(list);
	int err;

	if (ddio_disk_scatter_block(list, offset))
		return false;
	err = block_runs(cd, at, run_add, &sr);
	ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_RUNS, sr.runs);
	if (!err && ddio_disk_scatter_runs(list) - before <= BLOCK_RUNS)
		return true;
	ddio_disk_scatter_undo(list);
	return false;
}

/* Finds out about the block's sum; the first of a list decides whether those that follow have one. */
static bool block_sum(const struct coll_disk *cd, const struct coll_block *at,
		      struct ddio_disk_scatter *list, uint32_t *sum)
{
	int has = cd->coll->ops->scatter->summed(cd, at, sum);

	if (has >= 0 && !ddio_disk_scatter_blocks(list))
		ddio_disk_scatter_sums(list, has);
	return has >= 0 && (has > 0) == ddio_disk_scatter_has_sums(list);
}

bool scatter_block_take(struct coll_disk *cd, struct scatter_block *b,
			struct ddio_disk_scatter *list, const struct plan_blocks *placed, bool all)
{
	uint64_t offset;
	uint32_t sum = 0;

	coll_block_set(cd, placed->block, &b->at);
	b->at.hole = placed->sector == SPAN_HOLE;
	if (b->at.hole || !cd->obj || !block_joined(cd, &b->at, all) ||
	    !cd->coll->ops->scatter->may(cd, &b->at) || !block_lock(cd, b, &offset))
		return false;
	b->at.sector = offset / SPAN_SECTOR;
	if (block_sum(cd, &b->at, list, &sum) && block_list(cd, list, &b->at, offset)) {
		ddio_disk_scatter_give_sum(list, sum);
		return true;
	}
	scatter_block_unlock(cd, b, false);
	return false;
}

static void block_account(struct coll_disk *cd, const struct coll_block *at)
{
	struct coll *coll = cd->coll;

	block_runs(cd, at, run_count, coll->scattered);
	coll->done.bytes_needed += block_covered(cd, at);
	coll_disk_account(cd);
	SLOT_TRACE_DISK(cd, DDIO_TRACE_DISK_END, DDIO_TRACE_NO_SLOT, coll->ops->scatter->op,
			at->sector * SPAN_SECTOR);
}

int scatter_block_end(struct coll_disk *cd, struct scatter_block *b, int status,
		      const uint32_t *sum)
{
	const struct scatter_ops *ops = cd->coll->ops->scatter;

	if (!status) {
		block_account(cd, &b->at);
		status = ops->moved(cd, &b->at, sum);
		b->begun = false;
	}
	scatter_block_unlock(cd, b, ops->stale(&b->lock, status));
	return status;
}

/*
 * Reading
 */
static bool read_may(const struct coll_disk *cd, const struct coll_block *at)
{
	return !cache_newer(cd->disk->cache, cd->obj, at->block);
}

static bool read_fits(const struct block_lock *lock, bool written)
{
	return written && !lock->dirty;
}

static int read_summed(const struct coll_disk *cd, const struct coll_block *at, uint32_t *sum)
{
	return object_sum(cd->obj, at->block, sum);
}

static int read_moved(struct coll_disk *cd, const struct coll_block *at, const uint32_t *sum)
{
	if (sum)
		object_compared(cd->obj, at->block, true);
	cd->coll->done.disk_read += cd->coll->block_size;
	return 0;
}

static bool read_stale(const struct block_lock *lock, int status)
{
	(void)lock;
	(void)status;
	return false;
}

const struct scatter_ops scatter_read_ops = {
	.op = DDIO_DISK_READ,
	.doing = "reading",
	.may = read_may,
	.fits = read_fits,
	.summed = read_summed,
	.moved = read_moved,
	.stale = read_stale,
};

/*
 * Writing
 */
static bool write_may(const struct coll_disk *cd, const struct coll_block *at)
{
	return block_covered(cd, at) == cd->coll->block_size;
}

static bool write_fits(const struct block_lock *lock, bool written)
{
	(void)lock;
	(void)written;
	return true;
}

/* A disk that cannot tell the sums writes all the same. */
static int write_summed(const struct coll_disk *cd, const struct coll_block *at, uint32_t *sum)
{
	(void)at;
	*sum = 0;
	return ddio_disk_info(cd->disk->disk)->scatter_sums && object_takes_sum(cd->obj);
}

static int write_moved(struct coll_disk *cd, const struct coll_block *at, const uint32_t *sum)
{
	cd->coll->done.disk_written += cd->coll->block_size;
	return sum ? object_write_told(cd->obj, at->block, *sum)
		   : object_write_end(cd->obj, at->block, true, NULL);
}

/* If it failed, bytes that the cache holds dirty are better than the disk's. */
static bool write_stale(const struct block_lock *lock, int status)
{
	return !status || !lock->dirty;
}

const struct scatter_ops scatter_write_ops = {
	.op = DDIO_DISK_WRITE,
	.doing = "writing",
	.may = write_may,
	.fits = write_fits,
	.summed = write_summed,
	.moved = write_moved,
	.stale = write_stale,
};
