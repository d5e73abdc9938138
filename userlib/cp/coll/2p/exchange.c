// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The permutation.  A segment is cut into chunks; for each chunk there is one
 * message between its owner and each member that has bytes in it, with these
 * in the order of the file.  Reading, the owner sends; writing, it receives.
 * Both ends know the chunks, and check that each comes once, in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/2p/priv.h"
#include "cp/coll/starts.h"

/* Returns the bytes of @who in [lo, hi). */
static uint64_t bytes_of(const struct ddio_op *op, uint32_t who, uint64_t lo, uint64_t hi)
{
	return op->writing ? ddio_map_put_size(op->whole, who, lo, hi)
			   : ddio_map_msg_size(op->whole, who, lo, hi);
}

/* Returns where the chunk ends that begins at @at. */
static uint64_t chunk_end(const struct two_phase *tp, const struct tp_segment *seg, uint64_t at)
{
	uint64_t end = seg->base + ((at - seg->base) / tp->chunk + 1) * tp->chunk;

	return end < seg->hi ? end : seg->hi;
}

/*
 * Between the staging memory and a message
 */
struct staging_walk {
	struct two_phase *tp;
	uint8_t *msg;
	uint32_t n;
	uint64_t off, pieces;
	bool single;
};

static uint64_t run_pieces(const struct ddio_map_run *run)
{
	uint64_t pieces = 1;
	uint32_t i;

	for (i = 0; i < run->nlevels; i++)
		pieces *= run->level[i].count;
	return pieces;
}

/* As for an I/O processor: whoever has the file's side of a message finds its pieces, and gathers or deals out several. */
static void charge_pieces(const struct two_phase *tp, uint64_t pieces)
{
	struct ddio_env *env = tp->op->session->env;

	ddio_env_charge(env, DDIO_WORK_PIECES, pieces * ddio_map_ndims(tp->op->whole));
	if (pieces > 1)
		ddio_env_charge(env, DDIO_WORK_GATHER, pieces);
}

static int walk_look(void *arg, const struct ddio_map_run *run)
{
	struct staging_walk *w = arg;

	w->single = !w->n++ && !run->nlevels;
	w->off = run->file_off;
	return w->n > 1;
}

static int walk_pack(void *arg, const struct ddio_map_run *run)
{
	struct staging_walk *w = arg;

	w->pieces += run_pieces(run);
	ddio_map_run_pack(run, w->tp->staging, w->tp->seg.lo, w->msg);
	return 0;
}

static int walk_unpack(void *arg, const struct ddio_map_run *run)
{
	struct staging_walk *w = arg;

	w->pieces += run_pieces(run);
	ddio_map_run_unpack(run, w->tp->staging, w->tp->seg.lo, w->msg);
	return 0;
}

/* Returns where the message lies if it is one piece of the staging memory; else NULL. */
static uint8_t *staging_piece(struct two_phase *tp, uint32_t who, uint64_t lo, uint64_t hi)
{
	struct staging_walk w = { .tp = tp };
	struct ddio_op *op = tp->op;

	ddio_map_runs_of(op->whole, who, lo, hi, op->writing, walk_look, &w);
	if (!w.single)
		return NULL;
	charge_pieces(tp, 1);
	return tp->staging + (w.off - tp->seg.lo);
}

static void staging_pack(struct two_phase *tp, uint32_t who, uint64_t lo, uint64_t hi, uint8_t *msg)
{
	struct staging_walk w = { .tp = tp, .msg = msg };

	ddio_map_runs_of(tp->op->whole, who, lo, hi, false, walk_pack, &w);
	charge_pieces(tp, w.pieces);
}

static void staging_unpack(struct two_phase *tp, uint32_t who, uint64_t lo, uint64_t hi,
			   uint8_t *msg)
{
	struct staging_walk w = { .tp = tp, .msg = msg };

	ddio_map_runs_of(tp->op->whole, who, lo, hi, true, walk_unpack, &w);
	charge_pieces(tp, w.pieces);
}

/*
 * Sending
 */
struct tp_send {
	struct ddio_send send;
	struct two_phase *tp;
	uint8_t data[];
};

static void exchange_check(struct two_phase *tp)
{
	if (tp->stage != TP_EXCHANGE || tp->left || tp->sends || tp->got != tp->due ||
	    tp->pumping || tp->stopping)
		return;
	tp->exchanged(tp);
}

static void tp_sent(struct ddio_send *send, int err)
{
	struct tp_send *ts = ddio_container_of(send, struct tp_send, send);
	struct two_phase *tp = ts->tp;

	(void)err;
	free(ts);
	tp->sends--;
	if (tp->stopping)
		tp->exchanged(tp);
	else
		exchange_check(tp);
}

/* Returns where the message lies, after packing it into @ts if it is not in one piece. */
static void *message_take(struct two_phase *tp, struct tp_send *ts, uint32_t who, uint64_t lo,
			  uint64_t hi, uint64_t len, uint8_t *direct)
{
	struct ddio_op *op = tp->op;

	if (direct)
		return direct;
	if (op->writing)
		ddio_memmap_pack(op->memmap, lo, hi, true, ts->data, op->buf);
	else
		staging_pack(tp, who, lo, hi, ts->data);
	ddio_env_charge(op->session->env, DDIO_WORK_COPY, len);
	return ts->data;
}

static uint8_t *message_piece(struct two_phase *tp, uint32_t who, uint64_t lo, uint64_t hi)
{
	struct ddio_op *op = tp->op;
	uint64_t at, len;

	if (!op->writing)
		return staging_piece(tp, who, lo, hi);
	return ddio_memmap_contiguous(op->memmap, lo, hi, true, &at, &len) ? op->buf + at : NULL;
}

static int message_send(struct two_phase *tp, struct link *link, uint64_t lo, uint64_t hi,
			uint64_t len)
{
	struct ddio_op *op = tp->op;
	uint32_t who = op->writing ? op->rank : link->peer->rank;
	struct ddio_msg_exchange ex = {
		.op = op->turn.number, .lo = lo, .hi = hi, .rank = op->rank
	};
	struct ddio_msg msg = { .opcode = DDIO_OP_EXCHANGE, .tag = op->turn.number };
	uint8_t *direct = message_piece(tp, who, lo, hi);
	uint8_t fixed[64];
	struct tp_send *ts;
	struct iovec iov;
	ssize_t n;
	int err;

	memcpy(ex.group, op->group->id, sizeof(ex.group));
	n = ddio_put_exchange(fixed, sizeof(fixed), &ex);
	if (n < 0)
		return (int)n;
	ts = malloc(sizeof(*ts) + (direct ? 0 : len));
	if (!ts)
		return -ENOMEM;
	ts->send.done = tp_sent;
	ts->tp = tp;
	iov.iov_base = message_take(tp, ts, who, lo, hi, len, direct);
	iov.iov_len = len;
	err = ddio_conn_send(link->conn, &msg, fixed, (size_t)n, &iov, 1, &ts->send);
	if (err) {
		free(ts);
		return err;
	}
	tp->sends++;
	op->messages++;
	return 0;
}

/* Sends chunks until the link is full.  Return: 0 or -errno. */
static int peer_pump(struct two_phase *tp, struct link *link)
{
	struct ddio_op *op = tp->op;
	uint32_t rank = link->peer->rank, who = op->writing ? op->rank : rank;
	struct tp_peer *peer = &tp->peer[rank];
	struct tp_segment seg;
	uint64_t hi, len;
	int err;

	tp_segment(op, op->writing ? rank : op->rank, &seg);
	while (peer->out < peer->out_end && ddio_conn_queued(link->conn) < DDIO_CONN_HIGH) {
		hi = chunk_end(tp, &seg, peer->out);
		len = bytes_of(op, who, peer->out, hi);
		if (len) {
			err = message_send(tp, link, peer->out, hi, len);
			if (err)
				return err;
		}
		peer->out = hi;
		if (hi == peer->out_end)
			tp->left--;
	}
	return 0;
}

static void exchange_pump(struct two_phase *tp, uint32_t rank)
{
	struct tp_peer *peer = &tp->peer[rank];
	struct link *link = peer->link;
	int err;

	if (peer->out >= peer->out_end)
		return;
	if (!link) {
		link = peer_link(tp->op->group, rank);
		/* The failure has ended the operation, and freed @tp. */
		if (!link)
			return;
		peer->link = link;
	}
	/* exchange_ready() goes on once it is. */
	if (!link->ready)
		return;
	err = peer_pump(tp, peer->link);
	if (err)
		tp_broken(tp, err, "cannot send to another member");
}

static void exchange_ready(struct link *link)
{
	struct ddio_group *group = link->peer->group;
	struct ddio_list *ops = group_ops(group);
	struct ddio_op *op, *tmp;

	if (!ops)
		return;
	ddio_list_for_each_entry_safe(op, tmp, ops, link) {
		struct two_phase *tp = tp_of(op);

		if (!tp || tp->stage != TP_EXCHANGE || tp->stopping)
			continue;
		exchange_pump(tp, link->peer->rank);
		if (group->broken.status)
			return;
		/* There may have been nothing left to send. */
		exchange_check(tp);
	}
}

/*
 * Receiving
 */

/**
 * struct exchange_in - what the method keeps with a link
 * @op: whose data of the file's bytes @lo to @hi are being received, NULL if they are discarded
 * @direct: they go straight into place, else into @scratch to be unpacked
 */
struct exchange_in {
	struct ddio_op *op;
	uint64_t lo, hi;
	bool direct;
	struct iovec sink;
	uint8_t *scratch;
	size_t scratch_cap;
};

/* Returns NULL without memory. */
static struct exchange_in *link_in(struct link *link)
{
	void **state = link_state(link, &exchange_group_user);

	if (!*state)
		*state = calloc(1, sizeof(struct exchange_in));
	return *state;
}

static void link_in_free(void *state)
{
	struct exchange_in *in = state;

	free(in->scratch);
	free(in);
}

static int exchange_place(struct two_phase *tp, struct exchange_in *in, uint32_t rank, uint64_t len)
{
	struct ddio_op *op = tp->op;
	uint8_t *direct = NULL;
	uint64_t at, run;

	if (op->writing)
		direct = staging_piece(tp, rank, in->lo, in->hi);
	else if (ddio_memmap_contiguous(op->memmap, in->lo, in->hi, false, &at, &run))
		direct = op->buf + at;
	in->direct = direct;
	if (!direct && len > in->scratch_cap) {
		free(in->scratch);
		in->scratch = malloc(len);
		in->scratch_cap = in->scratch ? len : 0;
		if (!in->scratch)
			return -ENOMEM;
	}
	in->sink.iov_base = direct ? direct : in->scratch;
	in->sink.iov_len = len;
	return 0;
}

static bool exchange_expected(struct two_phase *tp, struct link *link,
			      const struct ddio_msg_exchange *ex, uint64_t len)
{
	struct ddio_op *op = tp->op;
	struct tp_peer *peer = &tp->peer[link->peer->rank];
	struct tp_segment seg;

	tp_segment(op, op->writing ? op->rank : link->peer->rank, &seg);
	if (ex->rank != link->peer->rank || ex->lo < peer->in || ex->lo < seg.lo ||
	    ex->lo >= seg.hi || ex->hi != chunk_end(tp, &seg, ex->lo) ||
	    (ex->lo != seg.lo && (ex->lo - seg.base) % tp->chunk))
		return false;
	peer->in = ex->hi;
	return len &&
	       len == bytes_of(op, op->writing ? link->peer->rank : op->rank, ex->lo, ex->hi);
}

static int exchange_bulk(struct link *link, const void *prefix, size_t prefix_len,
			 uint64_t bulk_len, struct ddio_sink *sink)
{
	struct exchange_in *in = link_in(link);
	struct ddio_group *group = link->peer->group;
	struct ddio_msg_exchange ex;
	struct ddio_op *op;
	struct two_phase *tp;
	int err = ddio_get_exchange(prefix, prefix_len, &ex);

	if (err)
		return err;
	if (!in)
		return -ENOMEM;
	in->op = NULL;
	if (memcmp(ex.group, group->id, sizeof(ex.group)))
		return -EPROTO;
	op = op_find(group, ex.op);
	tp = op ? tp_of(op) : NULL;
	/* For an operation that is over. */
	if (!tp || tp->stopping || (tp->stage != TP_MIDDLE && tp->stage != TP_EXCHANGE))
		return 0;
	if (!exchange_expected(tp, link, &ex, bulk_len))
		return -EPROTO;
	in->lo = ex.lo;
	in->hi = ex.hi;
	err = exchange_place(tp, in, link->peer->rank, bulk_len);
	if (err)
		return err;
	in->op = op;
	sink->iov = &in->sink;
	sink->n = 1;
	return 0;
}

static int exchange_message(struct link *link, const void *payload, size_t len)
{
	struct exchange_in *in = link_in(link);
	struct ddio_op *op = in->op;
	struct two_phase *tp;

	(void)payload;
	(void)len;
	if (!op)
		return 0;
	in->op = NULL;
	tp = tp_of(op);
	if (!in->direct) {
		if (op->writing)
			staging_unpack(tp, link->peer->rank, in->lo, in->hi, in->scratch);
		else
			ddio_memmap_unpack(op->memmap, in->lo, in->hi, in->scratch, op->buf);
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, in->sink.iov_len);
	}
	tp->got += in->sink.iov_len;
	op->messages++;
	exchange_check(tp);
	return 0;
}

static bool exchange_needs(struct ddio_group *group, uint32_t rank)
{
	struct ddio_list *ops = group_ops(group);
	struct ddio_op *op;

	(void)rank;
	if (!ops)
		return false;
	ddio_list_for_each_entry(op, ops, link) {
		const struct two_phase *tp = tp_of(op);

		if (tp && !tp->stopping && (tp->stage == TP_MIDDLE || tp->stage == TP_EXCHANGE))
			return true;
	}
	return false;
}

static const struct link_handler exchange_handlers[] = {
	{ .opcode = DDIO_OP_EXCHANGE, .bulk = exchange_bulk, .message = exchange_message },
	{ .opcode = 0 },
};

const struct group_user exchange_group_user = {
	.handlers = exchange_handlers,
	.ready = exchange_ready,
	.drained = exchange_ready,
	.needs = exchange_needs,
	.free_link = link_in_free,
};

/*
 * Begin and end
 */
int tp_exchange_prepare(struct two_phase *tp)
{
	struct ddio_op *op = tp->op;
	struct tp_segment seg;
	uint32_t r;

	tp->peer = calloc(op->nprocs, sizeof(*tp->peer));
	if (!tp->peer)
		return -ENOMEM;
	for (r = 0; r < op->nprocs; r++) {
		if (r == op->rank)
			continue;
		tp_segment(op, op->writing ? r : op->rank, &seg);
		tp->peer[r].out = seg.lo;
		tp->peer[r].out_end = seg.hi;
		tp->left += seg.lo < seg.hi;
		tp_segment(op, op->writing ? op->rank : r, &seg);
		tp->due += bytes_of(op, op->writing ? r : op->rank, seg.lo, seg.hi);
	}
	return 0;
}

/* Moves the bytes that this member would send to itself. */
static int exchange_own(struct two_phase *tp)
{
	struct ddio_op *op = tp->op;
	uint64_t at, hi, len;
	uint8_t *msg = malloc(tp->chunk);

	if (!msg)
		return -ENOMEM;
	for (at = tp->seg.lo; at < tp->seg.hi; at = hi) {
		hi = chunk_end(tp, &tp->seg, at);
		len = bytes_of(op, op->rank, at, hi);
		if (!len)
			continue;
		if (op->writing) {
			ddio_memmap_pack(op->memmap, at, hi, true, msg, op->buf);
			staging_unpack(tp, op->rank, at, hi, msg);
		} else {
			staging_pack(tp, op->rank, at, hi, msg);
			ddio_memmap_unpack(op->memmap, at, hi, msg, op->buf);
		}
		ddio_env_charge(op->session->env, DDIO_WORK_COPY, 2 * len);
	}
	free(msg);
	return 0;
}

void tp_exchange_begin(struct two_phase *tp, void (*exchanged)(struct two_phase *tp))
{
	struct ddio_group *group = tp->op->group;
	uint32_t k;
	int err;

	tp->exchanged = exchanged;
	tp->stage = TP_EXCHANGE;
	tp->pumping = true;
	err = exchange_own(tp);
	if (err)
		tp_broken(tp, err, "the exchange");
	/* Each member begins with another one.  A group that breaks takes the operation with it. */
	for (k = 1; k < group->size && !group->broken.status; k++)
		exchange_pump(tp, (group->rank + k) % group->size);
	if (group->broken.status)
		return;
	tp->pumping = false;
	exchange_check(tp);
}

void tp_exchange_stop(struct two_phase *tp)
{
	struct ddio_hash_walk walk;
	struct peer *peer;

	ddio_hash_for_each(peer, &walk, &tp->op->group->peers, node) {
		struct link *links[2] = { &peer->out, &peer->in };
		struct exchange_in *in;
		int i;

		for (i = 0; i < 2; i++) {
			in = *link_state(links[i], &exchange_group_user);
			if (!in || in->op != tp->op)
				continue;
			in->op = NULL;
			if (links[i]->conn)
				ddio_conn_discard(links[i]->conn);
		}
	}
}
