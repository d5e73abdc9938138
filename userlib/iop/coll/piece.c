// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pieces of blocks that members send.  They are received straight into the place that the question meant, so
 * each is checked before its first byte arrives: the member was asked for it, has not sent it yet, and it has
 * the length that the distribution demands.
 */
#include <errno.h>
#include "base/crc32c.h"
#include "env/lines.h"
#include "iop/coll/priv.h"

static struct coll_slot *find_slot(struct coll *coll, uint32_t disk, uint64_t file_block)
{
	uint32_t d, s;

	for (d = 0; d < coll->ndisks; d++) {
		struct coll_disk *cd = &coll->disk[d];
		struct slot_set asked = cd->asks[ASK_ASKED];

		if (cd->disk->number != disk)
			continue;
		while ((s = slot_set_take(&asked)) < cd->nslots)
			if (cd->slot[s].next.file_block == file_block &&
			    ddio_list_empty(&cd->slot[s].asking))
				return &cd->slot[s];
	}
	return NULL;
}

/**
 * struct piece - a COLL_PIECE and what it answers
 * @over: the operation is over, which is no error
 */
struct piece {
	struct ddio_msg_coll_data data;
	struct coll_member *m;
	struct coll *coll;
	struct coll_slot *slot;
	struct coll_part *part;
	bool over;
};

static int piece_refused(const struct client *client, const struct piece *p, const char *why)
{
	ddio_env_log_caused(client->reactor->env, DDIO_LOG_WARN,
			    "%s: piece of block %llu for collective %llu: %s",
			    ddio_conn_peer(client->conn), (unsigned long long)p->data.block,
			    (unsigned long long)p->data.op, why);
	return -EPROTO;
}

static int piece_find(struct client *client, const void *prefix, size_t prefix_len, struct piece *p)
{
	int err = ddio_get_coll_data(prefix, prefix_len, &p->data);

	if (err)
		return err;
	p->m = coll_client_member(client, p->data.group);
	if (!p->m)
		return piece_refused(client, p, "the sender is not a member of the group");
	if (p->data.handle != p->m->rank)
		return piece_refused(client, p, "the sender is another rank");
	if (p->data.op > p->m->group->last_op)
		return piece_refused(client, p, "no such operation has begun");
	p->coll = coll_find(p->m->group, p->data.op);
	p->over = !p->coll || p->coll->state >= COLL_STOPPING;
	if (p->over)
		return 0;
	p->slot = find_slot(p->coll, p->data.disk, p->data.block);
	p->part = p->slot ? slot_part(p->slot, p->m->rank) : NULL;
	if (!p->part || p->part->shared || !coll_writes(p->coll))
		return piece_refused(client, p, "it was not asked for");
	return 0;
}

/**
 * coll_piece_bulk - say where the pieces of a COLL_PIECE go
 * @client: the connection
 * @msg: its header
 * @prefix: struct ddio_msg_coll_data, @prefix_len bytes
 * @sink: result; empty if the operation is over
 */
int coll_piece_bulk(struct client *client, const struct ddio_msg *msg, const void *prefix,
		    size_t prefix_len, struct ddio_sink *sink)
{
	struct piece p = { 0 };
	int err = piece_find(client, prefix, prefix_len, &p);

	sink->iov = NULL;
	sink->n = 0;
	if (err || p.over)
		return err;
	if (p.part->owed != OWED_ASKED)
		return piece_refused(client, &p, "it has already arrived");
	if (msg->length - prefix_len != p.part->len)
		return piece_refused(client, &p, "it has the wrong length");
	p.part->owed = OWED_COMING;
	sink->iov = &p.part->iov;
	sink->n = 1;
	return 0;
}

/*
 * Adds what the message says of a piece to what is known of the block.  The sum of a block is that of its parts, each moved over
 * what follows it, whatever the order in which they come.
 */
static void piece_proves(const struct client *client, const struct piece *p)
{
	uint32_t after = p->coll->block_size - p->part->end, sum;

	if (!slot_part_contiguous(p->part) || !ddio_conn_bulk_sum(client->conn, &sum))
		return;
	p->slot->arrived.sum ^= ddio_crc32c_join(sum, 0, after);
	p->slot->arrived.len += p->part->len;
}

/**
 * coll_piece - handle a COLL_PIECE that has arrived completely
 * @client: the connection
 * @msg: its header
 * @prefix: struct ddio_msg_coll_data
 */
int coll_piece(struct client *client, const struct ddio_msg *msg, const void *prefix)
{
	size_t prefix_len = ddio_opcode_bulk_prefix(DDIO_OP_COLL_PIECE, false);
	struct piece p = { 0 };
	int err = piece_find(client, prefix, prefix_len, &p);

	(void)msg;
	if (err || p.over)
		return err;
	if (p.part->owed != OWED_COMING)
		return piece_refused(client, &p, "it has already arrived");
	p.part->owed = OWED_HERE;
	piece_proves(client, &p);
	p.m->piece_ns = ddio_env_now(client->reactor->env);
	p.coll->done.messages++;
	SLOT_TRACE_MESSAGE(p.coll, DDIO_TRACE_CAME, COLL_PIECE, p.m->rank, p.data.block,
			   p.part->len);
	coll_charge_part(p.coll, DDIO_WORK_MEMGET, p.part);
	if (--p.slot->owed)
		return 0;
	slot_ask_enter(p.slot, ASK_READY);
	p.coll->ops->go(p.slot->disk);
	return 0;
}
