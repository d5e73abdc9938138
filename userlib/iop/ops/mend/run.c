// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A run: blocks that follow one another in the object are locked in the cache, so that nobody else reads or writes them; read, as
 * they lie; compared with their checksums; written to their new place, in one piece; and only then that is theirs.  What
 * does not match, or cannot be read, stays where it is.  Locks are not waited for: whoever has one goes first.
 */
#include <errno.h>
#include <string.h>
#include "iop/ops/mend/priv.h"

static uint32_t block_size(const struct mend_job *job)
{
	return job->req->obj.file.block;
}

uint64_t mend_run_most(const struct mend_job *job, uint32_t bs)
{
	const struct pace *p = &job->m->pace;
	uint64_t n = (p->shared && p->yields ? MEND_RUN_SHARED : MEND_RUN) / bs;

	if (job->single || !n)
		return 1;
	return n < MEND_BLOCKS ? n : MEND_BLOCKS;
}

/* The run is over.  Blocks of the cache are as good as before. */
static void run_unlock(struct mend_job *job)
{
	if (job->moves)
		(void)store_move_end(&job->move, 0, NULL);
	job->moves = false;
	while (job->n)
		cache_unlock(job->req->disk->cache, &job->lock[--job->n], false);
}

/* The run has ended: @done of its blocks were moved, and as many are passed over, or @pass. */
static void run_over(struct mend_job *job, uint64_t done, uint64_t pass)
{
	uint64_t len = done * block_size(job);

	run_unlock(job);
	job->got.moved += len;
	job->m->moved += len;
	job->rest = pace_rest(&job->m->pace, 2 * len, job->ops);
	job->ops = 0;
	pass = pass > done ? pass : done;
	job->mend.at = job->mend.first + pass;
	job->single -= job->single && pass;
	job->patience = pass ? 0 : job->patience;
	mend_turn(job);
}

static void never_granted(struct block_lock *lock)
{
	(void)lock;
}

/* Locks as many of the blocks as are free, from the first one on. */
static void run_lock(struct mend_job *job)
{
	for (job->n = 0; job->n < job->mend.count; job->n++) {
		struct block_lock *lock = &job->lock[job->n];

		*lock = (struct block_lock){ .obj = job->req->object,
					     .block = job->mend.first + job->n,
					     .part = true,
					     .granted = never_granted };
		if (cache_lock(job->req->disk->cache, lock))
			continue;
		cache_lock_cancel(job->req->disk->cache, lock);
		return;
	}
}

static int buf_get(struct mend_job *job, size_t len)
{
	if (len <= job->cap)
		return 0;
	mend_buf_free(job);
	job->buf = ddio_env_alloc(mend_env(job), len);
	if (!job->buf)
		return -ENOMEM;
	job->cap = len;
	job->req->reactor->memory += len;
	return 0;
}

/* Returns how many blocks from the first on, at most @most, match their checksums. */
static uint32_t run_matching(struct mend_job *job, uint32_t most)
{
	uint32_t bs = block_size(job), i;

	for (i = 0; i < most; i++)
		if (object_check(job->req->object, job->mend.first + i, job->buf + (size_t)i * bs))
			break;
	return i;
}

static uint64_t io_ops(const struct mend_job *job, const struct queue_req *req)
{
	return pace_ops(&job->m->pace, req->len);
}

/*
 * A collective that has begun meanwhile has made its list, and a check of records may be a repair: nothing moves under
 * them.
 */
static void run_written(struct queue_req *req, int status)
{
	struct mend_job *job = ddio_container_of(req, struct mend_io, req)->job;
	uint32_t good = status || !mend_may(job) ? 0 : run_matching(job, job->good);
	int err = store_move_end(&job->move, good, job->buf);

	job->moves = false;
	job->ops += io_ops(job, req);
	if (status || (err && err != -ESTALE)) {
		run_unlock(job);
		mend_fail(job, status ? status : err, "moving blocks");
	} else if (!good || err) {
		run_unlock(job);
		mend_later(job);
	} else {
		run_over(job, good, 0);
	}
}

static void run_write(struct mend_job *job)
{
	struct mend_io *io = &job->io[0];

	io->job = job;
	io->req = (struct queue_req){ .op = DDIO_DISK_WRITE,
				      .offset = job->move.place.start,
				      .len = (uint64_t)job->good * block_size(job),
				      .buf = job->buf,
				      .done = run_written };
	queue_push(&job->m->queue, &io->req);
	queue_commit(&job->m->queue);
}

/* All reads have ended. */
static void run_here(struct mend_job *job)
{
	if (job->err && job->good > 1) {
		/* One by one it shows which. */
		job->single = job->good;
		run_over(job, 0, 0);
		return;
	}
	job->good = job->err ? 0 : run_matching(job, job->good);
	if (job->good) {
		run_write(job);
	} else {
		job->got.bad++;
		run_over(job, 0, 1);
	}
}

static void run_read(struct queue_req *req, int status)
{
	struct mend_job *job = ddio_container_of(req, struct mend_io, req)->job;

	job->ops += io_ops(job, req);
	if (status && !job->err)
		job->err = status;
	if (!--job->pending)
		run_here(job);
}

/* Reads the blocks, those that lie together at once. */
static void run_begin(struct mend_job *job)
{
	uint64_t start, run;
	uint32_t bs = block_size(job), i;
	bool written;

	job->err = 0;
	job->good = job->n;
	pace_begin(&job->m->pace);
	for (i = 0; i < job->n; i += (uint32_t)run) {
		struct mend_io *io = &job->io[job->pending++];

		/* That they have places was seen under the locks. */
		object_lookup(job->req->object, job->mend.first + i, &start, &run, &written);
		run = run < job->n - i ? run : job->n - i;
		*io = (struct mend_io){ .job = job };
		io->req = (struct queue_req){ .op = DDIO_DISK_READ,
					      .offset = start,
					      .len = run * bs,
					      .buf = job->buf + (size_t)i * bs,
					      .done = run_read };
		queue_push(&job->m->queue, &io->req);
	}
	queue_commit(&job->m->queue);
}

void mend_run(struct mend_job *job)
{
	uint32_t bs = block_size(job);
	int err;

	run_lock(job);
	if (!job->n) {
		mend_later(job);
		return;
	}
	err = store_move_begin(&job->move, job->req->object, job->mend.first, job->n,
			       job->mend.start);
	job->moves = !err;
	if (!err)
		err = buf_get(job, job->n * (size_t)bs > MEND_RUN ? job->n * (size_t)bs : MEND_RUN);
	if (!err) {
		run_begin(job);
		return;
	}
	run_unlock(job);
	/* The place, or a block, may not be what it was. */
	if (err == -ESTALE || err == -EAGAIN)
		mend_later(job);
	else
		mend_fail(job, err, "moving blocks");
}

void mend_buf_free(struct mend_job *job)
{
	if (job->buf)
		ddio_env_free(mend_env(job), job->buf, job->cap);
	job->req->reactor->memory -= job->cap;
	job->buf = NULL;
	job->cap = 0;
}
