/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: a collective is submitted, a block has ended, a slot changes hands, a
 * collective has ended.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ddio

#if !defined(DDIO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DDIO_TRACE_H

#include <linux/tracepoint.h>

#include "ddio_coll.h"

/* clang-format does not know the kernel's style for trace events. */
/* clang-format off */
#define ddio_show_op(op)                                                                       \
	__print_symbolic(op, { DDIO_READ, "read" }, { DDIO_WRITE, "write" },                   \
			 { DDIO_FLUSH, "flush" })
#define ddio_show_delivery(delivery)                                                           \
	__print_symbolic(delivery, { DDIO_PLACE, "place" }, { DDIO_STREAM, "stream" },         \
			 { DDIO_SCATTER, "scatter" })

TRACE_EVENT(ddio_submit,
	TP_PROTO(const struct ddio_coll *coll),
	TP_ARGS(coll),
	TP_STRUCT__entry(
		__field(u64, ctx)
		__field(u32, coll)
		__field(u32, op)
		__field(u32, delivery)
		__field(u32, flags)
		__field(u32, disks)
		__field(u32, depth)
		__field(u64, blocks)
	),
	TP_fast_assign(
		__entry->ctx = coll->ctx->serial;
		__entry->coll = coll->obj.id;
		__entry->op = coll->op;
		__entry->delivery = coll->delivery;
		__entry->flags = coll->flags;
		__entry->disks = coll->nr_chans;
		__entry->depth = coll->depth;
		__entry->blocks = coll->nr_blocks;
	),
	TP_printk("context %llu collective %u: %s %s, %llu blocks, %u disks, depth %u, flags %#x",
		  __entry->ctx, __entry->coll, ddio_show_delivery(__entry->delivery),
		  ddio_show_op(__entry->op), __entry->blocks, __entry->disks, __entry->depth,
		  __entry->flags)
);

TRACE_EVENT(ddio_block_done,
	TP_PROTO(const struct ddio_chan *chan, const struct ddio_entry *block, int status),
	TP_ARGS(chan, block, status),
	TP_STRUCT__entry(
		__field(u64, ctx)
		__field(u64, offset)
		__field(u32, coll)
		__field(dev_t, dev)
		__field(u32, index)
		__field(u32, length)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->ctx = chan->coll->ctx->serial;
		__entry->offset = block->offset;
		__entry->coll = chan->coll->obj.id;
		__entry->dev = chan->disk->bdev->bd_dev;
		__entry->index = block->index;
		__entry->length = block->length;
		__entry->status = status;
	),
	TP_printk("context %llu collective %u disk %d:%d block %u: %llu + %u, status %d",
		  __entry->ctx, __entry->coll, MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->index, __entry->offset, __entry->length, __entry->status)
);

TRACE_EVENT(ddio_slot,
	TP_PROTO(const struct ddio_chan *chan, const struct ddio_flight *flight, bool handed_over),
	TP_ARGS(chan, flight, handed_over),
	TP_STRUCT__entry(
		__field(u64, ctx)
		__field(u32, coll)
		__field(u32, slot)
		__field(u32, index)
		__field(bool, handed_over)
	),
	TP_fast_assign(
		__entry->ctx = chan->coll->ctx->serial;
		__entry->coll = chan->coll->obj.id;
		__entry->slot = chan->coll->first_slot + chan->index * chan->coll->depth +
				flight->slot;
		__entry->index = chan->coll->list.entry[flight->first].index;
		__entry->handed_over = handed_over;
	),
	TP_printk("context %llu collective %u slot %u block %u: %s", __entry->ctx, __entry->coll,
		  __entry->slot, __entry->index,
		  __entry->handed_over ? "handed over" : "taken back")
);

TRACE_EVENT(ddio_complete,
	TP_PROTO(const struct ddio_coll *coll),
	TP_ARGS(coll),
	TP_STRUCT__entry(
		__field(u64, ctx)
		__field(u64, ok_blocks)
		__field(u64, blocks)
		__field(u64, bytes)
		__field(u64, ns)
		__field(u32, coll)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->ctx = coll->ctx->serial;
		__entry->ok_blocks = coll->ok_blocks;
		__entry->blocks = coll->nr_blocks;
		__entry->bytes = coll->bytes;
		__entry->ns = ktime_get_ns() - coll->begun_ns;
		__entry->coll = coll->obj.id;
		__entry->error = coll->error;
	),
	TP_printk("context %llu collective %u: %llu of %llu blocks, %llu bytes, %llu ns, error %d",
		  __entry->ctx, __entry->coll, __entry->ok_blocks, __entry->blocks,
		  __entry->bytes, __entry->ns, __entry->error)
);

#endif /* DDIO_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ddio_trace
#include <trace/define_trace.h>
