/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of answering questions.  A request whose records are dealt out is one that all members of a group make: it begins when all
 * of them have come, and each gets its own answer.  Each disk answers one request at a time; the others wait, and hold no memory but their
 * own text and room for their answer.  The request under way goes through its blocks in the order of their places with two
 * buffers: one is filled by the disk while the other is looked at.
 *
 *   queue.c   requests come, wait, and end
 *   list.c    the blocks that a request asks about, in the order of their places
 *   slot.c    a block comes into a buffer
 *   scan.c    its records are looked at
 *   items.c   those that match become a part of the answer
 */
#ifndef DDIO_IOP_QUERY_PRIV_H
#define DDIO_IOP_QUERY_PRIV_H

#include "iop/ops/object.h"
#include "iop/query/service.h"
#include "proto/query/query.h"
#include "query/query.h"

#define QUERY_SLOTS 2
#define QUERY_TURN 65536u /* comparisons and reductions before others have their turn */
#define QUERY_ROOM_ALL \
	(4u            \
	 << 20) /* bytes of the answers of all members, if that leaves each one of them QUERY_ROOM_LEAST */
#define QUERY_ROOM_LEAST (64u << 10)
#define QUERY_SHARE 64u /* blocks, after which a request makes room for one that waits */

enum query_state {
	QSLOT_IDLE,
	QSLOT_LOCKING,
	QSLOT_READING,
	QSLOT_READY, /* its block is in the buffer, and not locked any more */
};

/**
 * struct query_place - a block that is asked about
 * @start: where it lies on the disk; UINT64_MAX: nowhere
 * @block: its number in the window
 */
struct query_place {
	uint64_t start;
	uint32_t block;
};

struct iop_query;

/**
 * struct query_sink - somebody who gets an answer
 * @req: NULL: this member has not asked yet
 * @items: so far, @len of @cap bytes in the request's buffer
 * @npending: of the records that wait, those that are this one's
 * @item_at: the block of the last item
 * @last: the record after the last of that, if it is of block @last_at
 */
struct query_sink {
	struct iop_query *query;
	struct server_request *req;
	uint8_t *items;
	uint32_t len, cap;
	uint32_t npending;
	uint32_t item_at, last_at;
	uint64_t last;
};

/**
 * struct query_slot - a buffer
 * @at: the block in it, by its number in the window
 */
struct query_slot {
	struct iop_query *query;
	enum query_state state;
	uint32_t at;
	uint8_t *buf;
	struct block_lock lock;
	struct ddio_disk_req io;
};

/**
 * struct iop_query - one request
 * @link: in queries.waiting or .gathering, or nowhere while it is under way
 * @text: its payload, of @text_len bytes, which @msg points into
 * @sink: @nsinks of them: one, or one for each member; @came: those that have asked
 * @timer: bound on the time until all have
 * @place: @nplaces blocks; those before @next have been taken
 * @did: a bit for each block of the window that is done; @ndid: how many
 * @scanning: the slot whose block is being looked at, or NULL
 * @record: the next record of that; @range: which ones it has
 * @begin: the first that was looked at
 * @pending: records of that that match and are in no item yet: counted from the first whole one, with the sink above; @npending of
 *	them
 * @part, @part_next: the block of which the records before @part_next have been looked at, or DDIO_QUERY_NO_PART
 * @full: an answer has no room for more
 * @left: somebody who asked is gone; @over: answers are going out
 * @ending: no further block is taken
 * @status, @why: it has failed
 */
struct iop_query {
	struct ddio_list link;
	struct queries *queries;
	uint8_t *text;
	size_t text_len;
	struct query_sink *sink;
	uint32_t nsinks, came;
	struct ddio_timer timer;
	struct ddio_msg_query msg;
	struct ddio_query_shape shape;
	struct ddio_query_accs accs;
	struct object *obj;
	struct query_place *place;
	uint32_t nplaces, next;
	uint8_t did[DDIO_QUERY_BLOCKS_MAX / 8];
	uint32_t ndid, disk_reqs;
	uint32_t part;
	uint64_t part_next;
	struct query_slot slot[QUERY_SLOTS];
	struct query_slot *scanning;
	uint64_t record, begin;
	struct ddio_query_range range;
	uint64_t pending[DDIO_QUERY_ITEM_MAX];
	uint32_t npending;
	bool full, ending, left, over;
	uint32_t status;
	char why[DDIO_MAX_TEXT];
};

/**
 * struct queries - of one disk
 * @waiting: struct iop_query; @gathering: those of which members are missing
 * @now: the one under way
 * @turn: of the one under way; @posted: it comes
 */
struct queries {
	struct iop_disk *disk;
	struct ddio_list waiting, gathering;
	struct iop_query *now;
	struct ddio_post turn;
	bool posted;
};

static inline struct ddio_env *query_env(const struct iop_query *query)
{
	return query->queries->disk->reactor->env;
}

static inline uint32_t query_block_size(const struct iop_query *query)
{
	return query->msg.obj.file.block;
}

/* Returns the number in the object of a block of the window. */
static inline uint64_t query_block(const struct iop_query *query, uint32_t i)
{
	return query->msg.obj.offset / query_block_size(query) + i;
}

/* Returns where a block of the window begins in the file. */
static inline uint64_t query_lo(const struct iop_query *query, uint32_t i)
{
	return (query_block(query, i) * query->msg.ndisks + query->msg.stripe) *
	       query_block_size(query);
}

/* queue.c */
/* Has the disk's request go on soon, from the loop. */
void query_kick(struct queries *queries);
/* Keeps the first reason for which the request fails; it takes no further block. */
void query_fail(struct iop_query *query, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* list.c */
/* Makes the list of blocks: 0 or -ENOMEM. */
int query_list(struct iop_query *query);

/* slot.c */
/* Allocates the buffers: 0 or -ENOMEM. */
int query_slots_init(struct iop_query *query);
void query_slots_free(struct iop_query *query);
/* Has idle slots take the next blocks. */
void query_slots_fill(struct iop_query *query);
/* Gives up locks that are waited for.  Returns true if no slot waits for the disk. */
bool query_slots_stop(struct iop_query *query);

/* Returns where the span of a record of the block that is being looked at begins. */
static inline const uint8_t *query_span(const struct iop_query *query, uint64_t record)
{
	const struct query_slot *slot = query->scanning;

	return slot->buf +
	       (ddio_query_at(&query->shape, record) + query->shape.lo - query_lo(query, slot->at));
}

/* items.c */
/* Returns true if each answer has room for a block's fragments, and a record. */
bool query_items_room(const struct iop_query *query);
/* Has a record that matches wait for its item; false: its answer has no room for it. */
bool query_item_add(struct iop_query *query, uint64_t record, uint32_t sink);
/* Makes items of the records that wait. */
void query_items_put(struct iop_query *query);
/* The same at the end of the block, with its fragments. */
void query_items_last(struct iop_query *query);

/* scan.c */
/* Looks at what is in the buffers, for a turn; returns true if there is more. */
bool query_scan(struct iop_query *query);

#endif /* DDIO_IOP_QUERY_PRIV_H */
