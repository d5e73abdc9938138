// SPDX-License-Identifier: GPL-2.0-only
/*
 * A collective's life: made, stopped, ended, freed.
 *
 * Its channels report their blocks here; each holds the collective, and the last one to end
 * ends it.
 */
#include <linux/cgroup.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ddio_coll.h"
#include "ddio_trace.h"

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

/* Returns the sum of a block that has been written, or 0. */
static u32 ddio_coll_sum(const struct ddio_coll *coll, u64 index)
{
	return coll->op == DDIO_WRITE && coll->list.sum ? coll->list.sum[index] : 0;
}

/* The last event, DDIO_EVENT_DONE, ends the reservation in the ring. */
static void ddio_coll_post(struct ddio_coll *coll, u32 kind, u64 index, int status)
{
	struct ddio_event event = {
		.index = index,
		.user_data = coll->user_data,
		.collective = coll->obj.id,
		.slot = kind == DDIO_EVENT_BLOCK && !status ? ddio_coll_sum(coll, index) : 0,
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

/* A stream has room in the ring only for the events of blocks that have had a slot. */
void ddio_coll_block_canceled(struct ddio_coll *coll, const struct ddio_entry *entry, int status)
{
	trace_ddio_block_done(&coll->chan[entry->chan], entry, status);
	ddio_coll_block_failed(coll, entry, status);
	if (coll->delivery != DDIO_STREAM && coll->flags & DDIO_SUBMIT_EVENTS)
		ddio_coll_post(coll, DDIO_EVENT_BLOCK, entry->index, status);
}

/* It counts for poll() until somebody learns that it has ended; that may have happened already. */
static void ddio_coll_count_ended(struct ddio_coll *coll)
{
	if (coll->flags & DDIO_SUBMIT_FORGET || ddio_coll_posts_done(coll))
		return;
	if (!atomic_cmpxchg(&coll->waited, 0, 1))
		atomic_inc(&coll->ctx->ended);
}

void ddio_coll_forget(struct ddio_coll *coll)
{
	mutex_lock(&coll->ctx->lock);
	ddio_ctx_remove(coll->ctx, &coll->obj);
	mutex_unlock(&coll->ctx->lock);
}

/* A thread that sees the last event sees @ended as well, and vice versa. */
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

/* A control group that is removed is not kept by what nobody has destroyed yet. */
static void ddio_coll_leave_group(struct ddio_coll *coll)
{
	if (coll->css)
		css_put(coll->css);
	coll->css = NULL;
}

/* Everything is over: gives back what the collective holds, then says so. */
static void ddio_coll_end(struct ddio_coll *coll)
{
	struct ddio_ctx *ctx = coll->ctx;

	if (coll->ops->ended)
		coll->ops->ended(coll);
	ddio_list_drop(&coll->list);
	ddio_coll_leave_group(coll);
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

void ddio_coll_learned(struct ddio_coll *coll)
{
	if (atomic_xchg(&coll->waited, 2) == 1)
		atomic_dec(&coll->ctx->ended);
}

static void ddio_coll_free(struct ddio_obj *obj)
{
	struct ddio_coll *coll = ddio_coll_of(obj);
	u32 i;

	for (i = 0; i < coll->nr_chans; i++)
		ddio_flights_drop(&coll->chan[i]);
	coll->ops->teardown(coll);
	if (coll->reserved)
		ddio_ring_unreserve(coll->ctx->ring, coll->reserved);
	ddio_list_drop(&coll->list);
	kvfree(coll->status);
	kvfree(coll->chan);
	ddio_charge_drop(&coll->charge);
	ddio_coll_leave_group(coll);
	ddio_ctx_put(coll->ctx);
	kfree(coll);
	atomic64_dec(&ddio_live.collectives);
}

static void ddio_coll_show(struct seq_file *seq, struct ddio_obj *obj)
{
	static const char *const op[] = { "?", "read", "write", "flush" };
	static const char *const delivery[] = { "place", "stream", "scatter" };
	struct ddio_coll *coll = ddio_coll_of(obj);

	seq_printf(seq, "%u %s %s %s blocks %llu ok %llu depth %u disks %d stop %d\n", obj->id,
		   op[coll->op], delivery[coll->delivery],
		   ddio_coll_ended(coll) ? "ended" : "running", coll->nr_blocks,
		   READ_ONCE(coll->ok_blocks), coll->depth, atomic_read(&coll->running),
		   READ_ONCE(coll->stop));
}

static bool ddio_coll_busy(struct ddio_obj *obj)
{
	return !ddio_coll_ended(ddio_coll_of(obj));
}

static void ddio_coll_cancel_obj(struct ddio_obj *obj)
{
	ddio_coll_stop(ddio_coll_of(obj), -ECANCELED);
}

static void ddio_coll_destroyed(struct ddio_obj *obj)
{
	ddio_coll_learned(ddio_coll_of(obj));
}

static const struct ddio_obj_ops ddio_coll_obj_ops = {
	.type = DDIO_OBJ_COLL,
	.free = ddio_coll_free,
	.show = ddio_coll_show,
	.busy = ddio_coll_busy,
	.stop = ddio_coll_cancel_obj,
	.destroyed = ddio_coll_destroyed,
};

/* Transfers count for the task that submits. */
static void ddio_coll_take_submitter(struct ddio_coll *coll)
{
	coll->ioprio = get_current_ioprio();
#ifdef CONFIG_BLK_CGROUP
	coll->css = task_get_css(current, io_cgrp_id);
#endif
}

struct ddio_coll *ddio_coll_new(struct ddio_ctx *ctx, const struct ddio_submit *arg,
				const struct ddio_delivery *ops)
{
	struct ddio_coll *coll = kzalloc(sizeof(*coll), DDIO_GFP);

	if (!coll)
		return NULL;
	kref_init(&coll->obj.ref);
	coll->obj.ops = &ddio_coll_obj_ops;
	ddio_ctx_get(ctx);
	coll->ctx = ctx;
	coll->nr_blocks = arg->nr_blocks;
	coll->op = arg->op;
	coll->delivery = arg->delivery;
	coll->flags = arg->flags;
	coll->depth = arg->depth ? arg->depth : DDIO_DEPTH_DEFAULT;
	coll->user_data = arg->user_data;
	coll->ops = ops;
	spin_lock_init(&coll->lock);
	init_waitqueue_head(&coll->wait);
	coll->error_block = DDIO_NO_ENTRY;
	coll->begun_ns = ktime_get_ns();
	ddio_coll_take_submitter(coll);
	atomic64_inc(&ddio_live.collectives);
	return coll;
}
