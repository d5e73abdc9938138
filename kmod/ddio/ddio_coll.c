// SPDX-License-Identifier: GPL-2.0-only
/*
 * A collective's life: submitted, waited for, cancelled, ended.
 *
 * It is made by ddio_coll_submit(), which gives it back if anything fails before it runs.
 * From then on its channels hold it, and the last of them to end ends it.
 */
#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ddio_coll.h"
#include "ddio_trace.h"

/* Statuses copied to the process at a time. */
#define DDIO_STATUS_CHUNK BIT(18)

static bool ddio_coll_posts_done(const struct ddio_coll *coll)
{
	return coll->delivery == DDIO_STREAM || coll->flags & DDIO_SUBMIT_EVENTS;
}

/* Channels are there from before anybody knows the collective until it is freed. */
void ddio_coll_stop(struct ddio_coll *coll, int error)
{
	u32 i;

	if (cmpxchg(&coll->stop, 0, error))
		return;
	for (i = 0; i < coll->nr_chans; i++)
		ddio_chan_poke(&coll->chan[i]);
}

static void ddio_coll_set_error(struct ddio_coll *coll, int error, u64 block)
{
	spin_lock(&coll->lock);
	if (!coll->error) {
		coll->error = error;
		coll->error_block = block;
	}
	spin_unlock(&coll->lock);
}

void ddio_coll_fail(struct ddio_coll *coll, int error)
{
	ddio_coll_set_error(coll, error, DDIO_NO_ENTRY);
}

/* The last event, DDIO_EVENT_DONE, ends the reservation in the ring. */
static void ddio_coll_post(struct ddio_coll *coll, u32 kind, u64 index, int status)
{
	struct ddio_event event = {
		.index = index,
		.user_data = coll->user_data,
		.collective = coll->obj.id,
		.status = status,
		.kind = kind,
	};
	bool last = kind == DDIO_EVENT_DONE;
	int err = ddio_ring_post(coll->ctx, &event, last ? coll->reserved : 0);

	if (last)
		coll->reserved = 0;
	if (!err || last)
		return;
	ddio_coll_fail(coll, err);
	ddio_coll_stop(coll, err);
}

static void ddio_coll_block_failed(struct ddio_coll *coll, const struct ddio_entry *entry,
				   int status)
{
	coll->status[entry->index] = status;
	ddio_coll_set_error(coll, status, entry->index);
	atomic64_inc(&coll->ctx->stats.errors);
	if (!(coll->flags & DDIO_SUBMIT_KEEP_GOING))
		ddio_coll_stop(coll, status);
}

void ddio_coll_block_done(struct ddio_coll *coll, const struct ddio_entry *entry, int status)
{
	struct ddio_chan *chan = &coll->chan[entry->chan];

	trace_ddio_block_done(chan, entry, status);
	if (likely(!status)) {
		chan->blocks++;
		chan->bytes += entry->length;
	} else {
		ddio_coll_block_failed(coll, entry, status);
	}
	if (coll->delivery == DDIO_STREAM ? coll->op == DDIO_WRITE
					  : coll->flags & DDIO_SUBMIT_EVENTS)
		ddio_coll_post(coll, DDIO_EVENT_BLOCK, entry->index, status);
}

/* A stream has room in the ring for events of what has had a slot, and not for the others. */
void ddio_coll_block_canceled(struct ddio_coll *coll, const struct ddio_entry *entry, int status)
{
	trace_ddio_block_done(&coll->chan[entry->chan], entry, status);
	ddio_coll_block_failed(coll, entry, status);
	if (coll->delivery != DDIO_STREAM && coll->flags & DDIO_SUBMIT_EVENTS)
		ddio_coll_post(coll, DDIO_EVENT_BLOCK, entry->index, status);
}

/* It counts for poll() until somebody learns that it has ended, who may have been faster. */
static void ddio_coll_count_ended(struct ddio_coll *coll)
{
	if (coll->flags & DDIO_SUBMIT_FORGET || ddio_coll_posts_done(coll))
		return;
	if (!atomic_cmpxchg(&coll->waited, 0, 1))
		atomic_inc(&coll->ctx->ended);
}

static void ddio_coll_forget(struct ddio_coll *coll)
{
	mutex_lock(&coll->ctx->lock);
	ddio_ctx_remove(coll->ctx, &coll->obj);
	mutex_unlock(&coll->ctx->lock);
}

/* Who sees the last event, and who sees @ended, finds that the other is there. */
static void ddio_coll_say_ended(struct ddio_coll *coll)
{
	spin_lock(&coll->lock);
	if (ddio_coll_posts_done(coll))
		ddio_coll_post(coll, DDIO_EVENT_DONE, coll->ok_blocks, coll->error);
	/* Pairs with ddio_coll_ended(): results are final. */
	smp_store_release(&coll->ended, true);
	spin_unlock(&coll->lock);
}

bool ddio_coll_ended(struct ddio_coll *coll)
{
	bool ended;

	/* Pairs with ddio_coll_say_ended(). */
	if (smp_load_acquire(&coll->ended))
		return true;
	spin_lock(&coll->lock);
	ended = coll->ended;
	spin_unlock(&coll->lock);
	return ended;
}

/* Everything is over: gives back what it holds, then says so. */
static void ddio_coll_end(struct ddio_coll *coll)
{
	struct ddio_ctx *ctx = coll->ctx;

	if (coll->ops->ended)
		coll->ops->ended(coll);
	ddio_list_drop(&coll->list);
	atomic64_inc(&ctx->stats.collectives);
	trace_ddio_complete(coll);
	if (coll->flags & DDIO_SUBMIT_FORGET)
		ddio_coll_forget(coll);
	ddio_coll_say_ended(coll);
	ddio_coll_count_ended(coll);
	wake_up_all(&coll->wait);
	wake_up_all(&ctx->wait);
}

void ddio_coll_chan_ended(struct ddio_coll *coll)
{
	if (atomic_dec_and_test(&coll->running))
		ddio_coll_end(coll);
	ddio_obj_put(&coll->obj);
}

void ddio_coll_free(struct ddio_coll *coll)
{
	u32 i;

	for (i = 0; i < coll->nr_chans; i++)
		ddio_chan_fini(&coll->chan[i]);
	coll->ops->teardown(coll);
	if (coll->reserved)
		ddio_ring_unreserve(coll->ctx->ring, coll->reserved);
	ddio_list_drop(&coll->list);
	kvfree(coll->status);
	kvfree(coll->chan);
	if (coll->css)
		css_put(coll->css);
	ddio_ctx_put(coll->ctx);
	kfree(coll);
	atomic64_dec(&ddio_live.collectives);
}

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

/* What can be said without looking at the list; unknown flags are refused before. */
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
	if (arg->depth > DDIO_DEPTH_MAX)
		return -EOVERFLOW;
	return 0;
}

/* Work items act for the submitter. */
static void ddio_coll_take_submitter(struct ddio_coll *coll)
{
	coll->ioprio = get_current_ioprio();
#ifdef CONFIG_BLK_CGROUP
	coll->css = task_get_css(current, io_cgrp_id);
#endif
}

static struct ddio_coll *ddio_coll_new(struct ddio_ctx *ctx, const struct ddio_submit *arg)
{
	struct ddio_coll *coll = kzalloc(sizeof(*coll), GFP_KERNEL_ACCOUNT);

	if (!coll)
		return NULL;
	kref_init(&coll->obj.ref);
	coll->obj.type = DDIO_OBJ_COLL;
	ddio_ctx_get(ctx);
	coll->ctx = ctx;
	coll->nr_blocks = arg->nr_blocks;
	coll->op = arg->op;
	coll->delivery = arg->delivery;
	coll->flags = arg->flags;
	coll->depth = arg->depth ? arg->depth : DDIO_DEPTH_DEFAULT;
	coll->user_data = arg->user_data;
	coll->ops = ddio_coll_ops(arg);
	spin_lock_init(&coll->lock);
	init_waitqueue_head(&coll->wait);
	coll->error_block = DDIO_NO_ENTRY;
	coll->begun_ns = ktime_get_ns();
	ddio_coll_take_submitter(coll);
	atomic64_inc(&ddio_live.collectives);
	return coll;
}

static int ddio_coll_alloc(struct ddio_coll *coll)
{
	u32 i;

	coll->status = kvcalloc(coll->nr_blocks, sizeof(*coll->status), DDIO_GFP_LONG);
	coll->chan = kvcalloc(coll->list.nr_disks, sizeof(*coll->chan), DDIO_GFP_LONG);
	if (!coll->status || !coll->chan)
		return -ENOMEM;
	coll->nr_chans = coll->list.nr_disks;
	for (i = 0; i < coll->nr_chans; i++)
		ddio_chan_init(&coll->chan[i], coll, i);
	return 0;
}

/*
 * The events that it may ever have unread.  Of a stream, the process must have read that a slot is
 * its own before it can bring about more: then, at most, one slot's block ends, the slot
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

/* Takes everything that it needs; what was taken when that fails, ddio_coll_free() gives back. */
static int ddio_coll_prepare(struct ddio_coll *coll, struct ddio_submit *arg)
{
	u32 i;
	int err;

	err = ddio_list_take(coll->ctx, arg, &coll->list);
	if (!err)
		err = ddio_coll_alloc(coll);
	if (!err)
		err = coll->ops->setup(coll, arg);
	if (!err)
		err = ddio_coll_reserve(coll);
	for (i = 0; !err && i < coll->nr_chans; i++)
		err = ddio_chan_setup(&coll->chan[i]);
	return err;
}

/* The statuses must have somewhere to go, before anything is done that cannot be undone. */
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
 * The id's reference goes to the context, one to each channel, one stays the caller's.  The joint's
 * members may stop it from now on, and anybody who guesses its id.
 */
static int ddio_coll_publish(struct ddio_coll *coll)
{
	u32 i;
	int err;

	for (i = 0; i < coll->nr_chans + 1; i++)
		kref_get(&coll->obj.ref);
	atomic_set(&coll->running, coll->nr_chans);
	mutex_lock(&coll->ctx->lock);
	err = ddio_ctx_add(coll->ctx, &coll->obj);
	mutex_unlock(&coll->ctx->lock);
	if (!err)
		return 0;
	for (i = 0; i < coll->nr_chans + 1; i++)
		ddio_obj_put(&coll->obj);
	return err;
}

/* The first channel runs in the caller's thread, which waits anyway. */
static void ddio_coll_start(struct ddio_coll *coll, const struct ddio_submit *arg)
{
	bool waits = coll->flags & DDIO_SUBMIT_WAIT && arg->deadline;
	u32 i;

	trace_ddio_submit(coll);
	for (i = coll->nr_chans; i-- > 0;)
		ddio_chan_start(&coll->chan[i], waits && !i, arg->deadline);
}

/* 0, -ETIMEDOUT or -EINTR. */
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
	return err == -ETIME ? -ETIMEDOUT : -EINTR;
}

/* Somebody learns of the end. */
static void ddio_coll_learned(struct ddio_coll *coll)
{
	if (atomic_xchg(&coll->waited, 2) == 1)
		atomic_dec(&coll->ctx->ended);
}

/* It runs: waits for it, if so asked, and tells the caller what there is to tell. */
static int ddio_coll_answer(struct ddio_coll *coll, struct ddio_submit *arg)
{
	arg->out_collective = coll->obj.id;
	arg->out_first_slot = coll->first_slot;
	arg->out_state = DDIO_RUNNING;
	arg->out_error = 0;
	if (arg->flags & DDIO_SUBMIT_WAIT)
		ddio_coll_wait_end(coll, arg->deadline);
	if (!ddio_coll_ended(coll))
		return 0;
	arg->out_state = DDIO_ENDED;
	arg->out_error = coll->error;
	if (coll->flags & DDIO_SUBMIT_FORGET)
		arg->out_collective = 0;
	ddio_coll_learned(coll);
	return ddio_coll_copy_status(coll, arg->status);
}

int ddio_coll_submit(struct ddio_ctx *ctx, struct ddio_submit *arg)
{
	struct ddio_coll *coll;
	int err;

	err = ddio_coll_check(arg);
	if (err)
		return err;
	coll = ddio_coll_new(ctx, arg);
	if (!coll)
		return -ENOMEM;
	err = ddio_coll_prepare(coll, arg);
	if (!err)
		err = ddio_coll_check_status(coll, arg->status);
	if (!err)
		err = ddio_coll_publish(coll);
	if (err)
		goto put_coll;
	ddio_coll_start(coll, arg);
	err = ddio_coll_answer(coll, arg);
	if (err)
		ddio_coll_forget(coll);
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
	return obj ? container_of(obj, struct ddio_coll, obj) : NULL;
}

int ddio_coll_wait(struct ddio_ctx *ctx, struct ddio_wait *arg)
{
	struct ddio_coll *coll = ddio_coll_get(ctx, arg->collective);
	int err = -EINVAL;

	if (!coll)
		return -ENOENT;
	if (arg->status ? arg->nr_status != coll->nr_blocks : arg->nr_status)
		goto put_coll;
	err = ddio_coll_wait_end(coll, arg->deadline);
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
