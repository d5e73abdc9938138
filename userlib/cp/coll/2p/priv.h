/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the two-phase method: two_phase.c has the stages, exchange.c the permutation, segment.c who has what. */
#ifndef DDIO_CP_2P_PRIV_H
#define DDIO_CP_2P_PRIV_H

#include "cp/coll/2p/two_phase.h"
#include "cp/group/peer.h"
#include "cp/node/objio.h"

enum tp_stage {
	TP_IDLE,
	TP_READ,   /* this member's segment, from the disks */
	TP_MIDDLE, /* all say that they are ready to exchange */
	TP_EXCHANGE,
	TP_WRITE, /* this member's segment, to the disks */
	TP_OVER,
};

/* Bytes [lo, hi) of the file; @base is where the block of @lo begins. */
struct tp_segment {
	uint64_t base, lo, hi;
};

/**
 * struct tp_peer - the exchange with one member
 * @link: what is sent goes by it, always the same, so that messages stay in order
 * @out: where the next chunk to send begins; @out_end when all are sent
 * @in: where the last chunk that came ends: the next begins there or later
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
 * @asked: this member has contributed to MIDDLE; @answered: its verdict has come
 * @post: begins the exchange; @posted: it has yet to
 * @got, @due: bytes from other members
 * @sends: messages that are being sent
 * @exchanged: see tp_exchange_begin()
 * @left: members to whom something has yet to be sent
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
	bool io_running, asked, answered, stopping, pumping, posted;
	struct ddio_post post;
	uint64_t got, due;
	uint32_t sends, left;
	void (*exchanged)(struct two_phase *tp);
};

static inline struct two_phase *tp_of(const struct ddio_op *op)
{
	return op->method == DDIO_METHOD_2P ? op->priv : NULL;
}

/* segment.c */
void tp_segment(const struct ddio_op *op, uint32_t rank, struct tp_segment *seg);
/* Fails the operation in a way that the others cannot recover from: breaks the group. */
void tp_broken(struct two_phase *tp, int err, const char *what);

/* exchange.c */
/* Makes room for every peer's state.  Before MIDDLE. */
int tp_exchange_prepare(struct two_phase *tp);
/*
 * Calls @exchanged when everything has been sent and received; or, if the operation is being stopped, whenever
 * a message has been sent.
 */
void tp_exchange_begin(struct two_phase *tp, void (*exchanged)(struct two_phase *tp));
void tp_exchange_stop(struct two_phase *tp);

#endif /* DDIO_CP_2P_PRIV_H */
