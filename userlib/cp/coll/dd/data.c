// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data of disk-directed transfers: received straight into the user's memory
 * where the message is one piece of it, else unpacked; sent likewise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

/* Pieces up to this size are copied to the output, which is cheaper than to follow them. */
enum { PIECE_SMALL = 512 };

/* Does the block of the file lie on that disk, and the disk at this end of the lane? */
static bool block_place_ok(const struct ddio_op *op, const struct lane *lane, uint64_t block,
			   uint32_t disk)
{
	const struct ddio_file_record *rec = &op->file->rec;
	const struct cluster_disk *place;

	if (rec->disks[block % rec->ndisks] != disk)
		return false;
	place = &op->session->disks[disk];
	return place->node == lane->node->index && place->reactor == lane->reactor;
}

/*
 * Reading
 */
static int data_sink(struct lane *lane, struct ddio_op *op, uint64_t block, uint64_t len)
{
	uint64_t lo = block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	uint64_t at, run;
	struct dd *dd = op->priv;
	int err;

	if (!len || len != ddio_map_msg_size(op->map, op->rank, lo, hi))
		return -EPROTO;
	err = blockset_add(&dd->seen, block);
	if (err)
		return err == -EEXIST ? -EPROTO : err;
	lane->bulk_direct = ddio_place_contiguous(op->place, lo, hi, false, &at, &run);
	if (lane->bulk_direct && run != len)
		return -EPROTO;
	lane->sink.iov_base = lane->bulk_direct ? op->buf + at : lane_scratch(lane, len);
	lane->sink.iov_len = len;
	if (!lane->sink.iov_base)
		return -ENOMEM;
	lane->bulk_op = op;
	lane->bulk_block = block;
	lane->bulk_len = len;
	return 0;
}

int dd_bulk(struct lane *lane, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
	    struct ddio_sink *sink)
{
	struct ddio_msg_coll_data data;
	struct ddio_op *op;
	int err = ddio_get_coll_data(prefix, prefix_len, &data);

	if (err)
		return err;
	lane->bulk_op = NULL;
	op = dd_find(lane, data.handle, data.op);
	if (!op)
		return 0;
	if (op->writing || memcmp(data.group, op->group->id, sizeof(data.group)) ||
	    !block_place_ok(op, lane, data.block, data.disk))
		return -EPROTO;
	err = data_sink(lane, op, data.block, msg->length - prefix_len);
	if (err)
		return err;
	sink->iov = &lane->sink;
	sink->n = 1;
	return 0;
}

int dd_data(struct lane *lane)
{
	struct ddio_op *op = lane->bulk_op;
	struct dd *dd;
	uint64_t lo;

	if (!op)
		return 0;
	lane->bulk_op = NULL;
	dd = op->priv;
	lo = lane->bulk_block * op->file->rec.ref.block;
	if (!lane->bulk_direct) {
		ddio_place_unpack(op->place, lo, lo + op->file->rec.ref.block, lane->scratch,
				  op->buf);
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, lane->bulk_len);
	}
	dd->moved += lane->bulk_len;
	op->messages++;
	return 0;
}

/*
 * Writing
 */

/* A piece on its way; packed ones lie behind it. */
struct dd_piece {
	struct ddio_send send;
	struct ddio_op *op; /* NULL: the bytes are not the user's */
	uint8_t data[];
};

static void piece_sent(struct ddio_send *send, int err)
{
	struct dd_piece *piece = ddio_container_of(send, struct dd_piece, send);
	struct ddio_op *op = piece->op;
	struct dd *dd;

	(void)err;
	free(piece);
	if (!op)
		return;
	dd = op->priv;
	if (--dd->sends)
		return;
	if (dd->stopping)
		op_stopped(op);
	else
		dd_check_end(op);
}

static int piece_send(struct lane *lane, struct ddio_op *op, const struct dd_want *want,
		      uint64_t lo, uint64_t hi, uint64_t len)
{
	struct ddio_msg_coll_data msg = {
		.op = op->turn.number, .block = want->block, .handle = op->rank, .disk = want->disk
	};
	uint8_t fixed[64 + PIECE_SMALL];
	struct dd *dd = op->priv;
	struct dd_piece *piece;
	struct iovec iov;
	uint64_t at, run;
	ssize_t n;
	bool direct;
	int err;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	n = ddio_put_coll_data(fixed, sizeof(fixed) - PIECE_SMALL, &msg);
	if (n < 0)
		return (int)n;
	if (len <= PIECE_SMALL) {
		ddio_place_pack(op->place, lo, hi, true, fixed + n, op->buf);
		return lane_send(lane, DDIO_OP_COLL_PIECE, op->turn.number, fixed, (size_t)n + len,
				 NULL, 0, NULL);
	}
	direct = ddio_place_contiguous(op->place, lo, hi, true, &at, &run);
	piece = malloc(sizeof(*piece) + (direct ? 0 : len));
	if (!piece)
		return -ENOMEM;
	piece->send.done = piece_sent;
	piece->op = direct ? op : NULL;
	iov.iov_base = direct ? op->buf + at : piece->data;
	iov.iov_len = len;
	if (!direct) {
		ddio_place_pack(op->place, lo, hi, true, piece->data, op->buf);
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, len);
	}
	err = lane_send(lane, DDIO_OP_COLL_PIECE, op->turn.number, fixed, (size_t)n, &iov, 1,
			&piece->send);
	if (err)
		free(piece);
	else if (direct)
		dd->sends++;
	return err;
}

static void want_serve(struct lane *lane, const struct dd_want *want)
{
	struct ddio_op *op = want->op;
	struct dd *dd = op->priv;
	uint64_t lo = want->block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	uint64_t len = ddio_map_put_size(op->map, op->rank, lo, hi);
	struct error error;
	int err;

	err = piece_send(lane, op, want, lo, hi, len);
	if (!err) {
		dd->moved += len;
		op->messages++;
		return;
	}
	error_set(&error, err, "write of %s: block %llu to node %s (%s): %s", op->file->rec.name,
		  (unsigned long long)want->block, DDIO_LANE_NAMES(lane), strerror(-err));
	op_fail(op, &error);
}

/* What is queued already is enough to keep the stream busy. */
static void wants_serve(struct lane *lane)
{
	struct dd_want *want;

	while (lane->state == DDIO_LANE_READY && !ddio_list_empty(&lane->wants) &&
	       ddio_conn_queued(lane->conn) < DDIO_CONN_HIGH) {
		want = ddio_list_first(&lane->wants, struct dd_want, link);
		ddio_list_del(&want->link);
		want_serve(lane, want);
		free(want);
	}
}

void dd_drained(struct lane *lane)
{
	wants_serve(lane);
}

static int want_take(struct lane *lane, struct ddio_op *op, const struct ddio_want *w)
{
	uint64_t lo = w->block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	struct dd *dd = op->priv;
	struct dd_want *want;
	int err;

	if (!block_place_ok(op, lane, w->block, w->disk) ||
	    !ddio_map_put_size(op->map, op->rank, lo, hi))
		return -EPROTO;
	err = blockset_add(&dd->seen, w->block);
	if (err)
		return err == -EEXIST ? -EPROTO : err;
	want = malloc(sizeof(*want));
	if (!want)
		return -ENOMEM;
	want->op = op;
	want->block = w->block;
	want->disk = w->disk;
	ddio_list_add(&want->link, &lane->wants);
	return 0;
}

int dd_want(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_msg_coll_want msg;
	struct ddio_op *op;
	uint32_t i;
	int err = ddio_get_coll_want(payload, len, &msg);

	if (err)
		return err;
	op = dd_find(lane, msg.handle, msg.op);
	if (op && !op->writing)
		err = -EPROTO;
	for (i = 0; op && !err && i < msg.n; i++)
		err = want_take(lane, op, &msg.want[i]);
	if (op)
		op->messages++;
	free(msg.want);
	if (!err)
		wants_serve(lane);
	return err;
}

/*
 * Stopping
 */
static void wants_forget(struct lane *lane, const struct ddio_op *op)
{
	struct dd_want *want, *tmp;

	ddio_list_for_each_entry_safe(want, tmp, &lane->wants, link)
		if (want->op == op) {
			ddio_list_del(&want->link);
			free(want);
		}
}

void dd_data_stop(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint32_t i;

	for (i = 0; i < dd->nlanes; i++) {
		struct lane *lane = dd->lanes[i].lane;

		wants_forget(lane, op);
		if (lane->bulk_op != op)
			continue;
		lane->bulk_op = NULL;
		if (lane->conn)
			ddio_conn_discard(lane->conn);
	}
}
