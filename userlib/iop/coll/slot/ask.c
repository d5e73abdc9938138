// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing: asks members for their pieces of blocks, ahead of the disk.
 *
 * A slot asks for its next block while the last one is still being written, unless a large piece is to
 * go straight into the block buffer.  With many members, small messages are the greatest cost of a write: so
 * questions of several slots and disks go to a member in one message, and so do the answers, and a slot waits
 * for the others as long as the disk has enough to do.
 */
#include <errno.h>
#include <string.h>
#include "iop/coll/slot/slot.h"

#define WANT_BATCH 256 /* entries of one message */

/* Pieces of this size or more go straight into the block buffer: copying them would cost more than asking for
 * them ahead gains. */
#define STRAIGHT_MIN (64u << 10)

/*
 * Where the pieces of a block go
 */
static int place_parts(struct coll_slot *slot)
{
	uint32_t used = 0, i;
	uint8_t *msg;

	slot->straight = false;
	for (i = 0; i < slot->nparts; i++) {
		struct coll_part *part = &slot->part[i];

		part->direct = !slot->merge && part->len >= STRAIGHT_MIN &&
			       part->end - part->first == part->len;
		part->owed = OWED_ASKED;
		part->iov.iov_len = part->len;
		if (part->direct) {
			slot->straight = true;
			continue;
		}
		msg = slot_msg(slot);
		if (!msg)
			return -ENOMEM;
		part->where = used;
		part->iov.iov_base = msg + used;
		used += part->len;
	}
	return 0;
}

static int slot_prepare(struct coll_slot *slot)
{
	int err;

	if (slot->ask != ASK_NONE || !slot_take(slot, &slot->next))
		return 0;
	err = slot_divide(slot, &slot->next);
	if (err)
		return err;
	slot->merge = slot->covered < slot->disk->coll->block_size;
	slot->owed = slot->nparts;
	slot->ask = ASK_TAKEN;
	return place_parts(slot);
}

/*
 * Returns true if the disk has enough to do for the next questions to wait for one another: something is on
 * its way, and more than half of the blocks are at the disk, so that it does not run out of work.
 */
static bool can_wait(const struct coll_disk *cd)
{
	uint32_t busy = 0, coming = 0, i;

	if (coll_req_flag(cd->coll->req, DDIO_COLL_NO_BATCH))
		return false;
	for (i = 0; i < cd->nslots; i++) {
		busy += cd->source->busy(&cd->slot[i]);
		coming += cd->slot[i].ask == ASK_ASKED || cd->slot[i].ask == ASK_READY;
	}
	return coming && busy > cd->nslots / 2;
}

static void slot_ask(struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;
	uint32_t i;

	if (slot->ask != ASK_TAKEN ||
	    (slot->straight && (slot->state != SLOT_IDLE || !slot->disk->source->bind(slot))))
		return;
	for (i = 0; slot->straight && i < slot->nparts; i++)
		if (slot->part[i].direct)
			slot->part[i].iov.iov_base = slot->buf + slot->part[i].first;
	slot->ask = ASK_ASKED;
	ddio_list_add(&slot->asking, &coll->asking);
	coll_kick(coll);
}

void coll_ask(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; i < cd->nslots; i++) {
		if (slot_prepare(&cd->slot[i])) {
			coll_fail_memory(cd->coll);
			return;
		}
	}
	if (can_wait(cd))
		return;
	for (i = 0; i < cd->nslots; i++)
		slot_ask(&cd->slot[i]);
}

/*
 * WANT messages
 */
static int want_send(struct coll *coll, uint32_t rank, struct ddio_want *want, uint32_t n)
{
	struct coll_member *m = coll_group_member(coll->group, rank);
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_WANT, .tag = coll->done.op };
	struct ddio_msg_coll_want x = { .op = coll->done.op, .n = n, .want = want };
	uint8_t buf[64 + WANT_BATCH * sizeof(*want)];
	ssize_t len;

	if (!m)
		return -ENOTCONN;
	x.handle = m->handle;
	len = ddio_put_coll_want(buf, sizeof(buf), &x);
	if (len < 0)
		return (int)len;
	coll->done.messages++;
	return ddio_conn_send(m->client->conn, &msg, buf, len, NULL, 0, NULL);
}

static struct ddio_want want_of(const struct coll_slot *slot)
{
	return (struct ddio_want){ .block = slot->next.file_block,
				   .disk = slot->disk->disk->number };
}

/* Returns the lowest rank that was not asked for everything; slot->sent says how far each slot is. */
static uint32_t lowest_rank(const struct coll *coll)
{
	uint32_t rank = COLL_NOBODY;
	struct coll_slot *slot;

	ddio_list_for_each_entry(slot, &coll->asking, asking)
		if (slot->sent < slot->nparts && slot->part[slot->sent].rank < rank)
			rank = slot->part[slot->sent].rank;
	return rank;
}

static int ask_rank(struct coll *coll, uint32_t rank)
{
	uint32_t most = coll_req_flag(coll->req, DDIO_COLL_NO_BATCH) ? 1 : WANT_BATCH, n = 0;
	struct ddio_want want[WANT_BATCH];
	struct coll_slot *slot;
	int err = 0;

	ddio_list_for_each_entry(slot, &coll->asking, asking) {
		if (slot->sent == slot->nparts || slot->part[slot->sent].rank != rank)
			continue;
		slot->sent++;
		want[n++] = want_of(slot);
		if (n < most)
			continue;
		err = want_send(coll, rank, want, n);
		if (err)
			return err;
		n = 0;
	}
	return n ? want_send(coll, rank, want, n) : 0;
}

/* Sends each member one message for all the slots that got a block in this turn. */
void coll_ask_flush(struct coll *coll)
{
	uint64_t now = ddio_env_now(coll->reactor->env);
	uint32_t rank;
	int err;

	if (ddio_list_empty(&coll->asking))
		return;
	while ((rank = lowest_rank(coll)) != COLL_NOBODY) {
		err = ask_rank(coll, rank);
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
