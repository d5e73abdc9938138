/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the disk-directed method: dd.c has its phases, reach.c who takes part, need.c where, start.c the
 * request, message.c how it is sent, spread.c what members tell nodes themselves, data.c the data, end.c what reactors say in the end.  On one machine I/O processors move the data by
 * themselves (near.c), or share buffers (share.c), from and to which this process copies (copy.c).
 */
#ifndef DDIO_CP_DD_PRIV_H
#define DDIO_CP_DD_PRIV_H

#include "cp/coll/dd/attach.h"
#include "cp/coll/dd/blockset.h"
#include "cp/coll/dd/dd.h"
#include "cp/coll/starts.h"
#include "proto/past/past.h"

/**
 * struct dd_lane - one reactor's part, of @op
 * @expects: in lane->expecting, unless it is alone
 * @owner: it owns disks of the file, so it will say when it is done
 * @asked: its node has disks with something that anybody wants, so the node is asked; @own: if so, by this member; both
 *	known from the verdict on
 * @quiet: it says nothing of a success: this member's bytes do
 * @done: nothing more is expected of it; @told: it has said how it ended
 * @unready: rank 0: its node has not said yet that it is ready; @ready: it has
 * @spread: its node was told what this member spreads
 */
struct dd_lane {
	struct lane *lane;
	struct ddio_op *op;
	struct ddio_list expects;
	bool owner, asked, own, quiet, done, told, unready, ready, spread;
};

/**
 * struct dd - op->priv
 * @nasked: nodes that are asked, once that is known: @reached
 * @ask: places in the stripe at nodes that this member asks, a bit each
 * @need: those, and the places whose disks have something of the share
 * @left: reactors that are not done and will say so; @quiet: those that will not
 * @moved: bytes received, or handed out to be sent; @due: so many are to be, known from the verdict on
 * @seen: blocks for which that is so
 * @sends: pieces of the user's memory that are being sent
 * @stopping: op->m->stop() was called
 * @launched: the I/O processors that this member asks may have been
 * @joining: requests to nodes before the start
 * @membership: of each node: this process's memory in the joint, else NULL
 * @may_scatter: there was such a membership
 * @copied: of @moved, through shared buffers
 * @unready: rank 0: nodes that have not said yet that they are ready
 * @arrival: of one that stays: waits until nodes have it
 * @spread, @nspread: the pieces of the share, once a node has asked for them
 */
struct dd {
	struct ddio_op *op;
	struct attach_job attach;
	struct dd_lane *lanes;
	uint32_t nlanes, nnodes, nasked;
	uint8_t *ask, *need;
	uint32_t left, quiet;
	uint64_t moved, copied, due;
	struct blockset seen;
	uint32_t sends;
	bool stopping, launched, may_scatter, reached;
	struct request_set joining;
	struct ddio_membership **membership;
	uint32_t unready;
	struct dd_arrival *arrival;
	struct ddio_extent *spread;
	uint64_t nspread;
};

/**
 * struct dd_asked - what a node was asked for, or told, on its connection, as a user of lanes keeps it there
 * @past: what both ends remember of it
 * @sent: bytes of all these messages
 */
struct dd_asked {
	struct ddio_past past;
	uint64_t sent;
};

/* An encoded message. */
struct dd_message {
	uint32_t refs;
	size_t len;
	uint8_t data[];
};

/* Has the watchdog watch the lane for the operation. */
static inline void dd_lane_busy(struct dd_lane *dl)
{
	if (ddio_list_empty(&dl->expects))
		ddio_list_add(&dl->expects, &dl->lane->expecting);
}

static inline void dd_lane_unbusy(struct dd_lane *dl)
{
	ddio_list_del(&dl->expects);
}

/* need.c */
/* Finds out what @dd->need is, from the map as it is now: 0 or -ENOMEM. */
int dd_need(struct dd *dd);
/* Does so again after the verdict, if that may have made the share less. */
int dd_need_less(struct dd *dd);
static inline bool dd_place(const uint8_t *places, uint32_t i)
{
	return places[i / 8] >> i % 8 & 1;
}

/* reach.c */
/* Finds out which I/O processors this member asks, should they have something: 0 or -ENOMEM. */
int dd_ask(struct dd *dd);
/* Gives the lanes of reactors that own disks at these places, or at any (NULL), the mark that is returned. */
uint64_t dd_mark_owners(const struct dd *dd, const uint8_t *places);
/* Finds out, once, which nodes are asked, and by whom, from the bounds of what is wanted; returns their number. */
uint32_t dd_reach(struct dd *dd);
/* Has the operation wait for nobody who is not asked. */
void dd_reach_only(struct dd *dd);

/* message.c */
/* Returns room for @len bytes, with one reference, or NULL. */
struct dd_message *dd_message_new(size_t len);
void dd_message_put(struct dd_message *message);
/* Sends it, as what differs from what is in @past unless that is NULL; adds the bytes to *@sent.  After an error @past must be forgotten. */
int dd_message_send(struct lane *lane, uint16_t opcode, uint64_t number, struct dd_message *message,
		    struct ddio_past *past, uint64_t *sent);
/* Returns what @user keeps at the lane, or NULL without memory. */
struct dd_asked *dd_asked_get(struct lane *lane, const struct lane_user *user);
void dd_asked_forget(struct lane *lane, const struct lane_user *user);
void dd_asked_free(void *state);

/* start.c */
/* Sends the request to every node that this member asks.  Return: 0 or -errno with @error. */
int dd_launch(struct ddio_op *op, struct error *error);
/* Of a transfer that stays at nodes: finds out when those have it that this member has asked, for op_has_stayed(). */
void dd_arrive(struct dd *dd);
/* The transfer is over. */
void dd_arrive_forget(struct dd *dd);
/* Sends it to those that know nothing of spread descriptions, when all others are ready. */
int dd_launch_rest(struct ddio_op *op, struct error *error);
/* Returns true if every node that this member is connected to has the feature. */
bool dd_nodes_have(const struct ddio_op *op, uint64_t feature);

/* spread.c */
/* Rank 0 has asked the node, which will say when it is ready. */
void dd_spread_asked(struct dd *dd, struct dd_lane *dl);

/* data.c */
/* Stops sending and receiving data of the operation. */
void dd_data_stop(struct ddio_op *op);
/* Sends what has waited for a verdict; operations may end by it. */
void dd_data_go(struct ddio_session *session);

/* Returns true if the block of the file lies on that disk, and the disk behind that lane. */
bool dd_block_is_here(const struct ddio_op *op, const struct lane *lane, uint64_t block,
		      uint32_t disk);
/*
 * Returns true if this process has @len bytes to read in the block from @lo to @*hi, which is moved to where a
 * file ends within it.
 */
bool dd_read_len_ok(const struct ddio_op *op, uint64_t len, uint64_t lo, uint64_t *hi);

/* share.c */
/* Gets the buffers that I/O processors on this machine share; ends in op_prepared(). */
void dd_share_begin(struct dd *dd);

/* copy.c */
/* Copies what has waited for a verdict. */
void dd_copy_go(struct ddio_session *session);
/* Forgets what waits for the operation. */
void dd_copy_stop(struct ddio_op *op);

/* end.c */
/* Returns the DD operation that a message of a lane is for; NULL if it is over or none. */
struct ddio_op *dd_find(struct lane *lane, uint32_t handle, uint64_t number);
/* Does so also if nothing more is to come for this process, whose part may be over long before others begin. */
struct ddio_op *dd_find_told(struct lane *lane, uint32_t handle, uint64_t number);
/* Ends the moving if all reactors are done, or have moved all there is where they would not say so, and nothing is being sent. */
void dd_check_end(struct ddio_op *op);

/* near.c */
/* Joins the memory to those I/O processors that are on this machine; ends in dd_share_begin(). */
void dd_join_begin(struct dd *dd);
/* Makes the memory this process's alone again. */
void dd_join_end(struct dd *dd);

#endif /* DDIO_CP_DD_PRIV_H */
