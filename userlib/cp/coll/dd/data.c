// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data of disk-directed transfers: received straight into the user's memory
 * where the message is one piece of it, else unpacked; sent likewise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

/* Pieces up to this size are copied to the output queue, which is cheaper than tracking them. */
enum { PIECE_SMALL = 512 };

/**
 * struct dd_wire - what the method keeps with a lane
 * @op: the operation whose block @block, @len bytes, is being received; NULL if it is discarded
 * @end: where the block ends for it: before its end if the file does
 * @direct: it is received into the user's memory, else into @scratch to be unpacked
 * @wants: blocks that were asked for and not sent yet
 */
struct dd_wire {
	struct ddio_op *op;
	uint64_t block, len, end;
	bool direct;
	struct iovec sink;
	uint8_t *scratch;
	size_t scratch_cap;
	struct ddio_list wants;
};

/* A block that an I/O processor asked for. */
struct dd_want {
	struct ddio_list link;
	struct ddio_op *op;
	uint64_t block;
	uint32_t disk;
};

/* NULL: nothing has come on the lane yet. */
static struct dd_wire *wire_find(struct lane *lane)
{
	return *lane_state(lane, &dd_data_lane_user);
}

/* Returns NULL without memory. */
static struct dd_wire *wire_get(struct lane *lane)
{
	void **state = lane_state(lane, &dd_data_lane_user);
	struct dd_wire *wire = *state;

	if (wire)
		return wire;
	wire = calloc(1, sizeof(*wire));
	if (wire)
		ddio_list_init(&wire->wants);
	*state = wire;
	return wire;
}

static void wire_free(void *state)
{
	struct dd_wire *wire = state;

	free(wire->scratch);
	free(wire);
}

/* Returns at least @len bytes; NULL without memory. */
static void *wire_scratch(struct dd_wire *wire, size_t len)
{
	if (len <= wire->scratch_cap)
		return wire->scratch;
	free(wire->scratch);
	wire->scratch = malloc(len);
	wire->scratch_cap = wire->scratch ? len : 0;
	return wire->scratch;
}

bool dd_block_is_here(const struct ddio_op *op, const struct lane *lane, uint64_t block,
		      uint32_t disk)
{
	const struct ddio_file_record *rec = &op->file->rec;
	return rec->disks[block % rec->ndisks] == disk &&
	       op->session->conf->disks[disk].node == lane->node->index &&
	       disk_look(op->session, disk)->reactor == lane->reactor;
}

/*
 * Reading
 */
/*
 * Data may come before the verdict, which says where a read that may be short is cut.  A message is in
 * file order, so one that is cut is the beginning of the whole one.
 */
bool dd_read_len_ok(const struct ddio_op *op, uint64_t len, uint64_t lo, uint64_t *hi)
{
	uint64_t due = ddio_map_msg_size(op->map, op->rank, lo, *hi);

	if (len && len < due && op->flags & DDIO_XFER_SHORT && op->phase == PHASE_AGREEING) {
		*hi = ddio_map_msg_end(op->map, op->rank, lo, *hi, len);
		return true;
	}
	return len && len == due;
}

static int data_sink(struct dd_wire *wire, struct ddio_op *op, uint64_t block, uint64_t len)
{
	uint64_t lo = block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	uint64_t at, run;
	struct dd *dd = op->priv;
	int err;

	if (!dd_read_len_ok(op, len, lo, &hi))
		return -EPROTO;
	err = blockset_add(&dd->seen, block);
	if (err)
		return err == -EEXIST ? -EPROTO : err;
	wire->direct = ddio_memmap_contiguous(op->memmap, lo, hi, false, &at, &run);
	if (wire->direct && run != len)
		return -EPROTO;
	wire->sink.iov_base = wire->direct ? op->buf + at : wire_scratch(wire, len);
	wire->sink.iov_len = len;
	if (!wire->sink.iov_base)
		return -ENOMEM;
	wire->op = op;
	wire->block = block;
	wire->len = len;
	wire->end = hi;
	return 0;
}

static int dd_data_bulk(struct lane *lane, const void *prefix, size_t prefix_len, uint64_t bulk_len,
			struct ddio_sink *sink)
{
	struct dd_wire *wire = wire_get(lane);
	struct ddio_msg_coll_data data;
	struct ddio_op *op;
	int err = ddio_get_coll_data(prefix, prefix_len, &data);

	if (err)
		return err;
	if (!wire)
		return -ENOMEM;
	wire->op = NULL;
	op = dd_find(lane, data.handle, data.op);
	if (!op)
		return 0;
	if (op->writing || memcmp(data.group, op->group->id, sizeof(data.group)) ||
	    !dd_block_is_here(op, lane, data.block, data.disk))
		return -EPROTO;
	err = data_sink(wire, op, data.block, bulk_len);
	if (err)
		return err;
	sink->iov = &wire->sink;
	sink->n = 1;
	return 0;
}

static int dd_data(struct lane *lane, const void *payload, size_t len)
{
	struct dd_wire *wire = wire_find(lane);
	struct ddio_op *op = wire->op;
	struct dd *dd;
	uint64_t lo;

	(void)payload;
	(void)len;
	if (!op)
		return 0;
	wire->op = NULL;
	dd = op->priv;
	lo = wire->block * op->file->rec.ref.block;
	if (!wire->direct) {
		ddio_memmap_unpack(op->memmap, lo, wire->end, wire->scratch, op->buf);
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, wire->len);
	}
	dd->moved += wire->len;
	op->messages++;
	dd_check_end(op);
	return 0;
}

/*
 * Writing
 */

/* A piece that is being sent; the bytes of a packed one follow it. */
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
		.op = op_number(op), .block = want->block, .handle = op->rank, .disk = want->disk
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
		ddio_memmap_pack(op->memmap, lo, hi, true, fixed + n, op->buf);
		return lane_send(lane, DDIO_OP_COLL_PIECE, op_number(op), fixed, (size_t)n + len,
				 NULL, 0, NULL);
	}
	direct = ddio_memmap_contiguous(op->memmap, lo, hi, true, &at, &run);
	piece = malloc(sizeof(*piece) + (direct ? 0 : len));
	if (!piece)
		return -ENOMEM;
	piece->send.done = piece_sent;
	piece->op = direct ? op : NULL;
	iov.iov_base = direct ? op->buf + at : piece->data;
	iov.iov_len = len;
	if (!direct) {
		ddio_memmap_pack(op->memmap, lo, hi, true, piece->data, op->buf);
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, len);
	}
	err = lane_send(lane, DDIO_OP_COLL_PIECE, op_number(op), fixed, (size_t)n, &iov, 1,
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
	int err = -EPROTO;

	/* What was asked for before the verdict may be a lower rank's. */
	if (len)
		err = piece_send(lane, op, want, lo, hi, len);
	if (!err) {
		dd->moved += len;
		op->messages++;
		dd_check_end(op);
		return;
	}
	error_set(&error, err, "write of %s: block %llu to node %s (%s): %s", op->file->rec.name,
		  (unsigned long long)want->block, LANE_NAMES(lane), strerror(-err));
	op_fail(op, &error);
}

/* Returns the first block that can be sent: not before the verdict has said whose its bytes are. */
static struct dd_want *want_next(struct dd_wire *wire)
{
	struct dd_want *want;

	ddio_list_for_each_entry(want, &wire->wants, link)
		if (want->op->phase != PHASE_AGREEING || !op_yields(want->op))
			return want;
	return NULL;
}

/* Sends blocks until enough is queued to keep the stream busy. */
static void dd_drained(struct lane *lane)
{
	struct dd_wire *wire = wire_find(lane);
	struct dd_want *want;

	while (wire && lane->state == LANE_READY && ddio_conn_queued(lane->conn) < DDIO_CONN_HIGH &&
	       (want = want_next(wire))) {
		ddio_list_del(&want->link);
		want_serve(lane, want);
		free(want);
	}
}

static int want_take(struct lane *lane, struct ddio_op *op, const struct ddio_want *w)
{
	uint64_t lo = w->block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	struct dd_wire *wire = wire_get(lane);
	struct dd *dd = op->priv;
	struct dd_want *want;
	int err;

	if (!wire)
		return -ENOMEM;
	if (!dd_block_is_here(op, lane, w->block, w->disk) ||
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
	ddio_list_add(&want->link, &wire->wants);
	return 0;
}

static int dd_want(struct lane *lane, const void *payload, size_t len)
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
		dd_drained(lane);
	return err;
}

void dd_data_go(struct ddio_session *session)
{
	const struct cluster_node *node;
	uint32_t i, r;

	for (i = 0; i < session->conf->nnodes; i++) {
		node = node_look(session, i);
		for (r = 0; r < node->nlanes; r++)
			if (node->lanes[r])
				dd_drained(node->lanes[r]);
	}
}

/*
 * Stopping
 */
static void wants_forget(struct dd_wire *wire, const struct ddio_op *op)
{
	struct dd_want *want, *tmp;

	ddio_list_for_each_entry_safe(want, tmp, &wire->wants, link)
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
		struct dd_wire *wire = wire_find(lane);

		if (!wire)
			continue;
		wants_forget(wire, op);
		if (wire->op != op)
			continue;
		wire->op = NULL;
		if (lane->conn)
			ddio_conn_discard(lane->conn);
	}
}

static const void *dd_receiving(struct lane *lane, struct ddio_msg_wrong *place)
{
	const struct dd_wire *wire = wire_find(lane);
	const struct ddio_file_record *rec;

	if (!wire || !wire->op)
		return NULL;
	rec = &wire->op->file->rec;
	place->flags = DDIO_WRONG_PLACE;
	place->disk = rec->disks[wire->block % rec->ndisks];
	place->file = rec->ref.id;
	place->block = wire->block / rec->ndisks;
	return wire->op;
}

static void dd_data_lost(struct lane *lane, const struct error *error)
{
	struct dd_wire *wire = wire_find(lane);

	(void)error;
	if (wire)
		wire->op = NULL;
}

static const struct lane_handler data_handlers[] = {
	{ .opcode = DDIO_OP_COLL_DATA, .bulk = dd_data_bulk, .message = dd_data },
	{ .opcode = DDIO_OP_COLL_WANT, .message = dd_want },
	{ .opcode = 0 },
};

const struct lane_user dd_data_lane_user = {
	.handlers = data_handlers,
	.drained = dd_drained,
	.receiving = dd_receiving,
	.lost = dd_data_lost,
	.free = wire_free,
};
