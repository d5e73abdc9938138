// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages to members about several slots: which pieces they are to send, and which blocks lie, or are to be put, in
 * the buffers that they share.  In each turn of the collective a member gets one of each kind, or a few.
 */
#include <errno.h>
#include "iop/coll/slot/slot.h"

#define BATCH 256 /* entries of one message */

/**
 * struct tell_batch - what one member is asked, and told
 * @most: entries of a message
 */
struct tell_batch {
	struct coll *coll;
	struct coll_member *m;
	uint32_t most, nwant, nat;
	struct ddio_want want[BATCH];
	struct ddio_slot_at at[BATCH];
};

void slot_tell(struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;

	slot->told = 0;
	ddio_list_add(&slot->asking, &coll->asking);
	coll_kick(coll);
}

static int batch_send(struct tell_batch *b, uint32_t opcode, const void *buf, ssize_t len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = b->coll->done.op };

	if (len < 0)
		return (int)len;
	b->coll->done.messages++;
	return ddio_conn_send(b->m->client->conn, &msg, buf, len, NULL, 0, NULL);
}

static int wants_send(struct tell_batch *b)
{
	struct ddio_msg_coll_want x = {
		.op = b->coll->done.op, .handle = b->m->handle, .n = b->nwant, .want = b->want
	};
	uint8_t buf[64 + BATCH * sizeof(b->want[0])];

	if (!b->nwant)
		return 0;
	SLOT_TRACE_MESSAGE(b->coll, DDIO_TRACE_SENT, COLL_WANT, b->m->rank, b->nwant, 0);
	b->nwant = 0;
	return batch_send(b, DDIO_OP_COLL_WANT, buf, ddio_put_coll_want(buf, sizeof(buf), &x));
}

static int slots_send(struct tell_batch *b)
{
	struct ddio_msg_coll_slots x = {
		.op = b->coll->done.op, .handle = b->m->handle, .n = b->nat, .at = b->at
	};
	uint8_t buf[64 + BATCH * sizeof(b->at[0])];

	if (!b->nat)
		return 0;
	SLOT_TRACE_MESSAGE(b->coll, DDIO_TRACE_SENT, COLL_SLOTS, b->m->rank, b->nat, 0);
	b->nat = 0;
	return batch_send(b, DDIO_OP_COLL_SLOTS, buf, ddio_put_coll_slots(buf, sizeof(buf), &x));
}

static int want_add(struct tell_batch *b, const struct coll_slot *slot)
{
	b->want[b->nwant++] = (struct ddio_want){ .block = slot->next.file_block,
						  .disk = slot->disk->disk->number };
	return b->nwant == b->most ? wants_send(b) : 0;
}

static int slot_add(struct tell_batch *b, struct coll_slot *slot, const struct coll_part *part)
{
	bool writes = coll_writes(b->coll), packed = writes && !part->direct;
	const uint8_t *at = packed ? slot_msg(slot) + part->where : slot->buf;

	b->at[b->nat++] = (struct ddio_slot_at){
		.block = writes ? slot->next.file_block : slot->at.file_block,
		.offset = coll_share_offset(b->coll->share, at),
		.disk = slot->disk->disk->number,
		.len = part->len,
		.slot = (uint32_t)(slot - slot->disk->slot),
		.flags = packed ? DDIO_SLOT_PACKED : 0,
	};
	return b->nat == b->most ? slots_send(b) : 0;
}

/* Returns the lowest rank that was not told of everything; slot->told says how far each slot is. */
static uint32_t lowest_rank(const struct coll *coll)
{
	uint32_t rank = COLL_NOBODY;
	struct coll_slot *slot;

	ddio_list_for_each_entry(slot, &coll->asking, asking)
		if (slot->told < slot->nparts && slot->part[slot->told].rank < rank)
			rank = slot->part[slot->told].rank;
	return rank;
}

static int part_add(struct tell_batch *b, struct coll_slot *slot)
{
	const struct coll_part *part = &slot->part[slot->told++];

	if (!part->shared && !coll_writes(b->coll))
		return 0; /* it is sent */
	if (!b->m)
		return -ENOTCONN;
	return part->shared ? slot_add(b, slot, part) : want_add(b, slot);
}

static int tell_rank(struct coll *coll, uint32_t rank)
{
	struct tell_batch b;
	struct coll_slot *slot;
	int err = 0;

	b.coll = coll;
	b.m = coll_group_member(coll->group, rank);
	b.most = coll_req_flag(coll->req, DDIO_COLL_NO_BATCH) ? 1 : BATCH;
	b.nwant = 0;
	b.nat = 0;
	ddio_list_for_each_entry(slot, &coll->asking, asking) {
		if (slot->told == slot->nparts || slot->part[slot->told].rank != rank)
			continue;
		err = part_add(&b, slot);
		if (err)
			return err;
	}
	err = wants_send(&b);
	return err ? err : slots_send(&b);
}

void coll_ask_flush(struct coll *coll)
{
	uint64_t now = ddio_env_now(coll->reactor->env);
	uint32_t rank;
	int err;

	if (ddio_list_empty(&coll->asking))
		return;
	while ((rank = lowest_rank(coll)) != COLL_NOBODY) {
		err = tell_rank(coll, rank);
		if (err == -ENOTCONN) {
			coll_fail_lost(coll, rank);
			return;
		}
		if (err) {
			coll_fail_memory(coll);
			return;
		}
	}
	while (!ddio_list_empty(&coll->asking)) {
		struct coll_slot *slot = ddio_list_first(&coll->asking, struct coll_slot, asking);

		ddio_list_del(&slot->asking);
		slot->asked = now;
	}
}
