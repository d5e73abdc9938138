// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing: the members are asked for their pieces of a block as soon as a slot
 * has it, so ahead of the disk; what they send is received straight into the
 * block where that is contiguous, else into the slot's message buffer.  When all
 * of it is here, and it is the block's turn in the disk's order, the block is
 * locked in the cache, what nobody sends is taken from there or from the disk,
 * and it is written.
 *
 * A block that is not wholly covered keeps what it had, whatever the size of the
 * file was when the request was made: somebody else may have written the rest
 * since.  Its pieces all go to the message buffer, since the old bytes come later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll.h"

#define WANT_BATCH 256 /* entries of one message */

/*
 * Asking
 */
static int place_parts(struct ddio_slot *slot)
{
	uint32_t used = 0, i;
	uint8_t *msg;

	for (i = 0; i < slot->nparts; i++) {
		struct ddio_coll_part *part = &slot->part[i];

		part->direct = !slot->merge && part->end - part->first == part->len;
		part->owed = DDIO_OWED_ASKED;
		part->iov.iov_len = part->len;
		if (part->direct) {
			part->iov.iov_base = slot->buf + part->first;
			continue;
		}
		msg = ddio_slot_msg(slot);
		if (!msg)
			return -ENOMEM;
		part->where = used;
		part->iov.iov_base = msg + used;
		used += part->len;
	}
	return 0;
}

int ddio_slot_write_ask(struct ddio_slot *slot)
{
	struct ddio_coll *coll = slot->disk->coll;
	int err;

	err = ddio_slot_divide(slot);
	if (err)
		return err;
	slot->merge = slot->covered < coll->block_size;
	err = place_parts(slot);
	if (err)
		return err;
	slot->owed = slot->nparts;
	ddio_slot_enter(slot, DDIO_SLOT_ASKING);
	ddio_list_add(&slot->asking, &coll->asking);
	ddio_coll_kick(coll);
	return 0;
}

static int want_send(struct ddio_coll *coll, uint32_t rank, struct ddio_want *want, uint32_t n)
{
	struct ddio_member *m = ddio_coll_group_member(coll->group, rank);
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

static struct ddio_want want_of(const struct ddio_slot *slot)
{
	return (struct ddio_want){ .block = slot->file_block, .disk = slot->disk->disk->number };
}

/* The lowest rank that has not been asked for everything; slot->sent says how far each is. */
static uint32_t lowest_rank(const struct ddio_coll *coll)
{
	uint32_t rank = DDIO_COLL_NOBODY;
	struct ddio_slot *slot;

	ddio_list_for_each_entry(slot, &coll->asking, asking)
		if (slot->sent < slot->nparts && slot->part[slot->sent].rank < rank)
			rank = slot->part[slot->sent].rank;
	return rank;
}

static int ask_rank(struct ddio_coll *coll, uint32_t rank)
{
	uint32_t most = ddio_coll_req_flag(coll->req, DDIO_COLL_NO_BATCH) ? 1 : WANT_BATCH, n = 0;
	struct ddio_want want[WANT_BATCH];
	struct ddio_slot *slot;
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

/* One message to each member for all the slots that got a block in this turn. */
void ddio_coll_write_flush(struct ddio_coll *coll)
{
	uint32_t rank;
	int err;

	if (ddio_list_empty(&coll->asking))
		return;
	while ((rank = lowest_rank(coll)) != DDIO_COLL_NOBODY) {
		err = ask_rank(coll, rank);
		if (err == -ENOTCONN) {
			ddio_coll_fail_here(coll, DDIO_ST_MEMBER_LOST, rank,
					    "rank %u has gone away", rank);
			return;
		}
		if (err) {
			ddio_coll_fail_memory(coll);
			return;
		}
	}
	while (!ddio_list_empty(&coll->asking)) {
		struct ddio_slot *slot = ddio_list_first(&coll->asking, struct ddio_slot, asking);

		ddio_list_del(&slot->asking);
		ddio_slot_enter(slot, DDIO_SLOT_ASKING);
	}
}

/*
 * Receiving
 */
void ddio_coll_discard(struct ddio_coll *coll, uint32_t rank)
{
	struct ddio_member *m = ddio_coll_group_member(coll->group, rank);

	if (m)
		ddio_conn_discard(m->client->conn);
}

static struct ddio_slot *find_slot(struct ddio_coll *coll, uint32_t disk, uint64_t file_block)
{
	uint32_t d, s;

	for (d = 0; d < coll->ndisks; d++) {
		struct ddio_coll_disk *cd = &coll->disk[d];

		if (cd->disk->number != disk)
			continue;
		for (s = 0; s < cd->nslots; s++)
			if (cd->slot[s].state == DDIO_SLOT_ASKING &&
			    cd->slot[s].file_block == file_block &&
			    ddio_list_empty(&cd->slot[s].asking))
				return &cd->slot[s];
	}
	return NULL;
}

static struct ddio_coll_part *find_part(struct ddio_slot *slot, uint32_t rank)
{
	uint32_t lo = 0, hi = slot->nparts;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (slot->part[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < slot->nparts && slot->part[lo].rank == rank ? &slot->part[lo] : NULL;
}

/**
 * struct piece - a COLL_PIECE and what it answers
 * @over: the operation is: not an error
 */
struct piece {
	struct ddio_msg_coll_data data;
	struct ddio_member *m;
	struct ddio_coll *coll;
	struct ddio_slot *slot;
	struct ddio_coll_part *part;
	bool over;
};

static int piece_refused(const struct ddio_client *client, const struct piece *p, const char *why)
{
	ddio_env_log(client->reactor->env, DDIO_LOG_WARN,
		     "%s: piece of block %llu for collective %llu: %s",
		     ddio_conn_peer(client->conn), (unsigned long long)p->data.block,
		     (unsigned long long)p->data.op, why);
	return -EPROTO;
}

static int piece_find(struct ddio_client *client, const void *prefix, size_t prefix_len,
		      struct piece *p)
{
	int err = ddio_get_coll_data(prefix, prefix_len, &p->data);

	if (err)
		return err;
	p->m = ddio_coll_client_member(client, p->data.group);
	if (!p->m)
		return piece_refused(client, p, "the sender is no member of the group");
	if (p->data.handle != p->m->rank)
		return piece_refused(client, p, "the sender is another rank");
	if (p->data.op > p->m->group->last_op)
		return piece_refused(client, p, "no such operation has begun");
	p->coll = ddio_coll_find(p->m->group, p->data.op);
	p->over = !p->coll || p->coll->state >= DDIO_COLL_STOPPING;
	if (p->over)
		return 0;
	p->slot = find_slot(p->coll, p->data.disk, p->data.block);
	p->part = p->slot ? find_part(p->slot, p->m->rank) : NULL;
	if (!p->part || !ddio_coll_writes(p->coll))
		return piece_refused(client, p, "it was not asked for");
	return 0;
}

/**
 * ddio_coll_piece_bulk - the beginning of a COLL_PIECE: where does the rest go?
 * @client: the connection
 * @msg: its header
 * @prefix: struct ddio_msg_coll_data, @prefix_len bytes
 * @sink: result; empty if the operation is over
 */
int ddio_coll_piece_bulk(struct ddio_client *client, const struct ddio_msg *msg, const void *prefix,
			 size_t prefix_len, struct ddio_sink *sink)
{
	struct piece p = { 0 };
	int err = piece_find(client, prefix, prefix_len, &p);

	sink->iov = NULL;
	sink->n = 0;
	if (err || p.over)
		return err;
	if (p.part->owed != DDIO_OWED_ASKED)
		return piece_refused(client, &p, "it has come already");
	if (msg->length - prefix_len != p.part->len)
		return piece_refused(client, &p, "it has another length");
	p.part->owed = DDIO_OWED_COMING;
	sink->iov = &p.part->iov;
	sink->n = 1;
	return 0;
}

/* Blocks go to the disk in the order of its list. */
static void disk_go(struct ddio_coll_disk *cd)
{
	uint32_t s = 0;

	while (s < cd->nslots && cd->coll->state == DDIO_COLL_RUNNING) {
		struct ddio_slot *slot = &cd->slot[s++];

		if (slot->state != DDIO_SLOT_READY || slot->turn != cd->turn_go)
			continue;
		cd->turn_go++;
		ddio_slot_lock(slot);
		s = 0;
	}
	ddio_disk_commit(cd->disk->disk);
}

/**
 * ddio_coll_piece - a whole COLL_PIECE has come
 * @client: the connection
 * @msg: its header
 * @prefix: struct ddio_msg_coll_data
 */
int ddio_coll_piece(struct ddio_client *client, const struct ddio_msg *msg, const void *prefix)
{
	size_t prefix_len = ddio_opcode_bulk_prefix(DDIO_OP_COLL_PIECE, false);
	struct piece p = { 0 };
	int err = piece_find(client, prefix, prefix_len, &p);

	(void)msg;
	if (err || p.over)
		return err;
	if (p.part->owed != DDIO_OWED_COMING)
		return piece_refused(client, &p, "it has come already");
	p.part->owed = DDIO_OWED_HERE;
	p.m->piece_ns = ddio_env_now(client->reactor->env);
	p.coll->done.messages++;
	ddio_coll_charge_part(p.coll, DDIO_WORK_MEMGET, p.part);
	if (--p.slot->owed)
		return 0;
	ddio_slot_enter(p.slot, DDIO_SLOT_READY);
	disk_go(p.slot->disk);
	return 0;
}

/*
 * To the disk
 */
static void write_failed(struct ddio_slot *slot, bool stale)
{
	ddio_slot_unlock(slot, stale);
	ddio_slot_enter(slot, DDIO_SLOT_IDLE);
}

/* All of the block is in the two buffers. */
static void write_block(struct ddio_slot *slot)
{
	struct ddio_coll *coll = slot->disk->coll;
	uint8_t *msg = slot->disk->msgs ? ddio_slot_msg(slot) : NULL;
	bool packed = false;
	uint32_t i;

	for (i = 0; i < slot->nparts; i++) {
		if (slot->part[i].direct)
			continue;
		coll->msgs[slot->part[i].rank] = msg + slot->part[i].where;
		packed = true;
	}
	if (packed)
		ddio_map_unpack(coll->req->map, slot->lo, slot->lo + coll->block_size, slot->buf,
				(const void *const *)coll->msgs);
	for (i = 0; i < slot->nparts; i++)
		coll->msgs[slot->part[i].rank] = NULL;
	ddio_slot_submit(slot, DDIO_DISK_WRITE, slot->offset);
}

void ddio_slot_write_locked(struct ddio_slot *slot)
{
	struct ddio_coll_disk *cd = slot->disk;
	struct ddio_coll *coll = cd->coll;
	uint64_t run;
	bool written;

	if (!ddio_object_lookup(cd->obj, slot->block, &slot->offset, &run, &written)) {
		write_failed(slot, false);
		ddio_coll_fail_gone(slot);
		return;
	}
	if (slot->merge && slot->lock.dirty) {
		memcpy(slot->buf, slot->lock.dirty, coll->block_size);
		ddio_env_charge(coll->reactor->env, DDIO_WORK_COPY, coll->block_size);
		coll->done.cache_blocks++;
	} else if (slot->merge && written) {
		ddio_slot_submit(slot, DDIO_DISK_READ, slot->offset);
		return;
	} else if (slot->merge) {
		memset(slot->buf, 0, coll->block_size);
	}
	write_block(slot);
}

void ddio_slot_write_done(struct ddio_slot *slot)
{
	struct ddio_coll_disk *cd = slot->disk;
	bool writing = slot->req.op == DDIO_DISK_WRITE;

	if (slot->req.status) {
		/* What the cache holds dirty is still worth more than what the disk has now. */
		write_failed(slot, writing && !slot->lock.dirty);
		ddio_coll_fail_disk(cd, slot, slot->req.status,
				    writing ? "writing" : "reading the old bytes of");
	} else if (writing) {
		ddio_object_written(cd->obj, slot->block, 1);
		ddio_slot_unlock(slot, true);
		ddio_slot_next(slot);
	} else if (cd->coll->state == DDIO_COLL_RUNNING) {
		write_block(slot);
	} else {
		write_failed(slot, false);
	}
}
