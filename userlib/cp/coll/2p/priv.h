/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside of the two-phase method: two_phase.c has the stages, exchange.c the permutation. */
#ifndef DDIO_CP_EXCHANGE_PRIV_H
#define DDIO_CP_EXCHANGE_PRIV_H

#include "cp/coll/2p/exchange.h"
#include "cp/node/objio.h"
#include "cp/coll/op.h"

enum tp_stage {
	TP_IDLE,
	TP_READ,   /* the own segment, from the disks */
	TP_MIDDLE, /* all say that they are ready to exchange */
	TP_EXCHANGE,
	TP_WRITE, /* the own segment, to the disks */
	TP_OVER,
};

/* Bytes [lo, hi) of the file; @base is the block at which the first begins. */
struct tp_segment {
	uint64_t base, lo, hi;
};

/**
 * struct tp_peer - the exchange with one member
 * @link: by which it is sent, always the same, so that messages stay in order
 * @out: begin of the next chunk to send; @out_end when all are sent
 * @in: every chunk that came began at or after it
 */
struct tp_peer {
	struct link *link;
	uint64_t out, out_end;
	uint64_t in;
};

/**
 * struct two_phase - op->priv
 * @seg: this member's segment of the conforming distribution; @staging holds it
 * @chunk: bytes of the file that one message covers
 * @cursor: of each disk: next byte of the file
 * @asked: MIDDLE was contributed to; @answered: its verdict is there
 * @got, @due: bytes from other members
 * @sends: messages on their way out
 * @left: members to whom something is yet to be sent
 */
struct two_phase {
	struct ddio_op *op;
	enum tp_stage stage;
	struct tp_segment seg;
	uint64_t chunk;
	uint8_t *staging;
	struct tp_peer *peer;
	struct objio io;
	uint64_t *cursor;
	bool io_running, asked, answered, stopping, pumping;
	uint64_t got, due;
	uint32_t sends, left;
	uint64_t requests;
};

static inline struct two_phase *tp_of(const struct ddio_op *op)
{
	return op->m == &method_2p ? op->priv : NULL;
}

/* two_phase.c */
void tp_segment(const struct ddio_op *op, uint32_t rank, struct tp_segment *seg);
void tp_exchanged(struct two_phase *tp);
/* Nothing of the exchange refers to memory any more? */
void tp_stop_check(struct two_phase *tp);
/* What cannot be undone alone: the group is broken with it. */
void tp_broken(struct two_phase *tp, int err, const char *what);

/* exchange.c */
/* Room for every peer's state.  Before MIDDLE. */
int tp_exchange_prepare(struct two_phase *tp);
void tp_exchange_begin(struct two_phase *tp);
void tp_exchange_stop(struct two_phase *tp);

#endif /* DDIO_CP_EXCHANGE_PRIV_H */
