// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives as the process asks for them: submitted, waited for, cancelled.
 *
 * ddio_coll_submit() gives back what it took if anything fails before the collective runs.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_io_accounting_ops.h>
#include <linux/uaccess.h>

#include "ddio_coll.h"
#include "ddio_dispatch.h"
#include "ddio_trace.h"

/* Statuses copied to the process at a time. */
#define DDIO_STATUS_CHUNK BIT(18)

static const struct ddio_delivery *ddio_coll_ops(const struct ddio_submit *arg)
{
	static const struct ddio_delivery *const ops[] = {
		[DDIO_PLACE] = &ddio_place,
		[DDIO_STREAM] = &ddio_stream,
		[DDIO_SCATTER] = &ddio_scatter,
	};

	if (arg->op == DDIO_FLUSH)
		return &ddio_flush;
	return ops[array_index_nospec(arg->delivery, ARRAY_SIZE(ops))];
}

/* Checks all that does not need the list.  Unknown flags have been refused before. */
static int ddio_coll_check(const struct ddio_submit *arg)
{
	if (arg->op < DDIO_READ || arg->op > DDIO_FLUSH || arg->delivery > DDIO_SCATTER)
		return -EINVAL;
	if (arg->op == DDIO_FLUSH && arg->delivery != DDIO_PLACE)
		return -EINVAL;
	if (arg->op != DDIO_WRITE && arg->flags & (DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH))
		return -EINVAL;
	if (arg->delivery != DDIO_STREAM &&
	    (arg->slot_buffer || arg->slot_offset || arg->slot_length))
		return -EINVAL;
	if (arg->delivery != DDIO_SCATTER && (arg->runs || arg->nr_runs || arg->joint_fd != -1))
		return -EINVAL;
	if (arg->delivery != DDIO_SCATTER && arg->flags & DDIO_SUBMIT_SUMS)
		return -EINVAL;
	if (arg->depth > DDIO_DEPTH_MAX)
		return -EOVERFLOW;
	return 0;
}

/* Makes room for the blocks' statuses and the channels. */
static int ddio_coll_alloc(struct ddio_coll *coll)
{
	u32 i;
	int err;

	err = ddio_charge_add(&coll->charge, coll->nr_blocks * sizeof(*coll->status) +
						     coll->list.nr_disks * sizeof(*coll->chan));
	if (err)
		return err;
	coll->status = ddio_alloc_long(coll->nr_blocks, sizeof(*coll->status), true);
	coll->chan = ddio_alloc_long(coll->list.nr_disks, sizeof(*coll->chan), true);
	if (!coll->status || !coll->chan)
		return -ENOMEM;
	coll->nr_chans = coll->list.nr_disks;
	for (i = 0; i < coll->nr_chans; i++)
		ddio_chan_init(&coll->chan[i], coll, i);
	return 0;
}

/*
 * Returns the most events that may ever be unread.  With a stream, the process must have read that
 * a slot is its own before it can cause more events; at most, the slot's block then ends, the slot
 * is handed over again, and is taken away with its block.
 */
static u64 ddio_coll_events(const struct ddio_coll *coll)
{
	if (coll->delivery != DDIO_STREAM)
		return coll->nr_blocks + 1;
	if (coll->op == DDIO_READ)
		return min_t(u64, coll->nr_slots, coll->nr_blocks) + 1;
	return min_t(u64, 3ULL * coll->nr_slots, 2 * coll->nr_blocks) + 1;
}

static int ddio_coll_reserve(struct ddio_coll *coll)
{
	/* Pairs with ddio_ring_setup(). */
	struct ddio_kring *ring = smp_load_acquire(&coll->ctx->ring);
	u64 events = ddio_coll_events(coll);
	int err;

	if (!ddio_coll_posts_done(coll))
		return 0;
	if (!ring)
		return -ENOENT;
	err = ddio_ring_reserve(ring, events);
	if (!err)
		coll->reserved = events;
	return err;
}

/* Takes all that the collective needs; ddio_coll_free() gives it back, also after a failure. */
static int ddio_coll_prepare(struct ddio_coll *coll, struct ddio_submit *arg)
{
	u32 i;
	int err;

	err = ddio_list_take(coll->ctx, arg, &coll->list);
	for (i = 0; !err && i < coll->list.nr_disks; i++)
		err = ddio_disk_hire(coll->list.disk[i]);
	if (!err)
		err = ddio_coll_alloc(coll);
	if (!err)
		err = coll->ops->setup(coll, arg);
	if (!err)
		err = ddio_coll_reserve(coll);
	for (i = 0; !err && i < coll->nr_chans; i++)
		err = ddio_flights_make(&coll->chan[i]);
	return err;
}

/* Checks that the statuses can be written, before anything is done that cannot be undone. */
static int ddio_coll_check_status(const struct ddio_coll *coll, u64 status)
{
	u64 left = coll->nr_blocks * sizeof(s32), at = status, n;

	for (; status && left; left -= n, at += n) {
		n = min_t(u64, left, DDIO_STATUS_CHUNK * sizeof(s32));
		if (fault_in_safe_writeable(u64_to_user_ptr(at), n))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

static int ddio_coll_copy_status(const struct ddio_coll *coll, u64 status)
{
	s32 __user *to = u64_to_user_ptr(status);
	u64 at, n;

	for (at = 0; status && at < coll->nr_blocks; at += n) {
		n = min_t(u64, coll->nr_blocks - at, DDIO_STATUS_CHUNK);
		if (copy_to_user(to + at, coll->status + at, n * sizeof(*to)))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

/*
 * Gives the collective its id and tells the process of it, as of one that runs: a process that
 * cannot be told has not submitted anything.  The context gets one reference, each channel one, the
 * caller keeps one.  From then on any thread that knows the id may stop it; the joint's members may
 * already.
 */
static int ddio_coll_publish(struct ddio_coll *coll, struct ddio_submit *arg,
			     struct ddio_reply *reply)
{
	struct ddio_ctx *ctx = coll->ctx;
	u32 i;
	int err;

	mutex_lock(&ctx->lock);
	err = ddio_ctx_reserve(ctx, &coll->obj);
	mutex_unlock(&ctx->lock);
	if (err)
		return err;
	arg->out_collective = coll->obj.id;
	arg->out_first_slot = coll->first_slot;
	arg->out_state = DDIO_RUNNING;
	arg->out_error = 0;
	err = ddio_reply_tell(reply, arg);
	for (i = 0; !err && i < coll->nr_chans + 1; i++)
		kref_get(&coll->obj.ref);
	atomic_set(&coll->running, coll->nr_chans);
	mutex_lock(&ctx->lock);
	if (err)
		ddio_ctx_unreserve(ctx, &coll->obj);
	else
		ddio_ctx_fill(ctx, &coll->obj);
	mutex_unlock(&ctx->lock);
	return err;
}

/*
 * The transfers are the caller's, whichever thread makes them.  Reads of a channel that the
 * caller's thread runs are counted by the block layer.
 */
static void ddio_coll_account_io(const struct ddio_coll *coll, bool first_here)
{
	const struct ddio_block_list *list = &coll->list;
	u64 i, bytes = 0;

	for (i = coll->op == DDIO_READ && first_here ? list->first[1] : 0; i < list->nr; i++) {
		bytes += list->entry[i].length;
		if (i % DDIO_STATUS_CHUNK == 0)
			cond_resched();
	}
	if (coll->op == DDIO_READ)
		task_io_account_read(bytes);
	else
		task_io_account_write(bytes);
}

/* Runs the first channel in the caller's thread if that waits anyway. */
static void ddio_coll_start(struct ddio_coll *coll, u64 deadline)
{
	bool waits = coll->flags & DDIO_SUBMIT_WAIT && deadline;
	u32 i;

	trace_ddio_submit(coll);
	ddio_coll_account_io(coll, waits);
	for (i = coll->nr_chans; i-- > 0;)
		ddio_disk_submit_as_current(coll->list.disk[i]);
	for (i = coll->nr_chans; i-- > 0;)
		ddio_chan_start(&coll->chan[i], waits && !i, deadline);
}

/*
 * Returns 0, -ETIMEDOUT or -ERESTARTSYS: a wait that a stop, the freezer or a debugger ends goes on
 * by itself, up to the same deadline.
 */
static int ddio_coll_wait_end(struct ddio_coll *coll, u64 deadline)
{
	ktime_t left = KTIME_MAX;
	int err;

	if (ddio_coll_ended(coll))
		return 0;
	if (deadline <= KTIME_MAX)
		left = ktime_sub(ns_to_ktime(deadline), ktime_get());
	if (left <= 0)
		return -ETIMEDOUT;
	err = wait_event_interruptible_hrtimeout(coll->wait, READ_ONCE(coll->ended), left);
	if (ddio_coll_ended(coll))
		return 0;
	return err == -ETIME ? -ETIMEDOUT : -ERESTARTSYS;
}

/*
 * The collective runs: waits for it, if so asked, and tells of its end.  A process whose memory has
 * gone meanwhile keeps the answer that it has: the collective runs, and can be waited for.
 */
static void ddio_coll_answer(struct ddio_coll *coll, struct ddio_submit *arg, u64 deadline,
			     struct ddio_reply *reply)
{
	if (arg->flags & DDIO_SUBMIT_WAIT)
		ddio_coll_wait_end(coll, deadline);
	if (!ddio_coll_ended(coll) || ddio_coll_copy_status(coll, arg->status))
		return;
	arg->out_state = DDIO_ENDED;
	arg->out_error = coll->error;
	if (coll->flags & DDIO_SUBMIT_FORGET)
		arg->out_collective = 0;
	if (!ddio_reply_tell(reply, arg))
		ddio_coll_learned(coll);
}

int ddio_coll_submit(struct ddio_ctx *ctx, struct ddio_submit *arg, struct ddio_reply *reply)
{
	u64 deadline = ddio_deadline(arg->deadline);
	struct ddio_coll *coll;
	int err;

	err = ddio_coll_check(arg);
	if (err)
		return err;
	coll = ddio_coll_new(ctx, arg, ddio_coll_ops(arg));
	if (!coll)
		return -ENOMEM;
	err = ddio_coll_prepare(coll, arg);
	if (!err)
		err = ddio_coll_check_status(coll, arg->status);
	if (!err)
		err = ddio_coll_publish(coll, arg, reply);
	if (err)
		goto put_coll;
	ddio_coll_start(coll, deadline);
	ddio_coll_answer(coll, arg, deadline, reply);
put_coll:
	ddio_obj_put(&coll->obj);
	return err;
}

static struct ddio_coll *ddio_coll_get(struct ddio_ctx *ctx, u32 id)
{
	struct ddio_obj *obj;

	mutex_lock(&ctx->lock);
	obj = ddio_ctx_get_obj(ctx, DDIO_OBJ_COLL, id);
	mutex_unlock(&ctx->lock);
	return obj ? ddio_coll_of(obj) : NULL;
}

int ddio_coll_wait(struct ddio_ctx *ctx, struct ddio_wait *arg)
{
	struct ddio_coll *coll = ddio_coll_get(ctx, arg->collective);
	int err = -EINVAL;

	if (!coll)
		return -ENOENT;
	if (arg->status ? arg->nr_status != coll->nr_blocks : arg->nr_status)
		goto put_coll;
	err = ddio_coll_wait_end(coll, ddio_deadline(arg->deadline));
	if (!err)
		err = ddio_coll_copy_status(coll, arg->status);
	if (err)
		goto put_coll;
	ddio_coll_learned(coll);
	arg->out_error = coll->error;
	arg->out_block = coll->error_block;
	arg->out_blocks = coll->ok_blocks;
	arg->out_bytes = coll->bytes;
put_coll:
	ddio_obj_put(&coll->obj);
	return err;
}

int ddio_coll_cancel(struct ddio_ctx *ctx, u32 id)
{
	struct ddio_coll *coll = ddio_coll_get(ctx, id);

	if (!coll)
		return -ENOENT;
	ddio_coll_stop(coll, -ECANCELED);
	ddio_obj_put(&coll->obj);
	return 0;
}
