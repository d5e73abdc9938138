/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collective transfer, or a strided or listed one of a group of one.  It goes
 * through these phases:
 *
 *   QUEUED     waits for its turn in the group
 *   PREPARING  the method prepares: attaches lanes, allocates memory
 *   AGREEING   the members agree that they mean the same transfer; rank 0 has
 *              checked it against the file and started it
 *   MOVING     data
 *   STOPPING   something failed: until nothing refers to the user's memory
 *   ENDING     the members agree on the result
 *   OVER       the gate is open
 *
 * Only op.c changes the phase.
 */
#ifndef DDIO_CP_OP_H
#define DDIO_CP_OP_H

#include "cp/coll/tally.h"
#include "cp/epoch/epoch.h"
#include "cp/group/group.h"
#include "cp/hold/check.h"
#include "cp/node/lane.h"
#include "map/map.h"
#include "proto/crowd.h"

enum phase {
	PHASE_QUEUED,
	PHASE_PREPARING,
	PHASE_AGREEING,
	PHASE_MOVING,
	PHASE_STOPPING,
	PHASE_ENDING,
	PHASE_OVER,
};

/**
 * struct mover - a method: how data are moved
 * @agree: takes the place of the agreement and all that follows; ends, at once or later, in op_settled().  NULL: they
 *	take place; then there are also:
 * @prepare: ends, at once or later, in op_prepared()
 * @launch: at rank 0, when all have agreed and before they are told; may be NULL
 * @run: ends, at once or later, in op_moved() or op_fail()
 * @stop: from AGREEING or MOVING; ends, at once or later, in op_stopped()
 * @adopt: rank 0, of the small method: takes over an operation whose data have come with the agreement on the start, at its root.
 *	Returns false if it cannot
 * @told: the verdict of that agreement, of an operation that was adopted; ends in op_settled()
 * @report: fills in the method's own numbers at the end; may be NULL
 * @free: frees op->priv
 */
struct mover {
	void (*prepare)(struct ddio_op *op);
	void (*agree)(struct ddio_op *op);
	int (*launch)(struct ddio_op *op, struct error *error);
	void (*run)(struct ddio_op *op);
	void (*stop)(struct ddio_op *op);
	bool (*adopt)(struct ddio_op *op, struct fan *fan);
	void (*told)(struct ddio_op *op, const struct error *verdict, const void *data, size_t len);
	void (*report)(struct ddio_op *op);
	void (*free)(struct ddio_op *op);
};

/**
 * struct transfers - what a session has of them
 * @methods: by enum ddio_method
 * @ops: every operation that was not waited for
 * @told_unpinned: the log says that memory cannot be pinned
 * @share_min: bytes of a share for which buffers are shared
 * @spread_min: bytes that the descriptions of members with neighbouring ranks have at most, else they are spread
 * @ask_alone: so many I/O processors at most are all asked by rank 0
 * @tell: I/O processors tell all members that had something there that it is over; the same on all members
 */
struct transfers {
	const struct mover *const *methods;
	struct ddio_list ops;
	bool told_unpinned, tell;
	uint64_t share_min, spread_min;
	uint32_t ask_alone;
};

/**
 * struct ddio_op - reactor only between its post and its gate, and again from op_give_up() on
 * @group: NULL until the reactor has chosen one, for an independent transfer
 * @priv: the method's
 * @may_spread: @part says that this member may spread it
 * @may_carry: its data may go with the agreement on the start; @carried: they do
 * @gathered: rank 0 has read all descriptions, with @gather_err
 * @part, @part_len: this process's description, encoded: an array, or a crowd of one
 * @crowd: of all members: at rank 0, and for 2P everywhere; empty for an array
 * @map: of this process's share; for an array, of all shares
 * @whole: of all shares, where it is known; may be @map
 * @packed: the memory is the packed share
 * @share: bytes
 * @lo, @hi: bounds of what anybody wants, from the verdict on
 * @file_size: at the start
 * @clipped: the read was cut there; known where @whole is
 * @failed: of this member; @result: of all
 * @hold: waits for what the name server says of the session's locks
 * @in_file_order: in that of the file's collectives with DDIO_XFER_FILE_ORDER, and not in the group's
 * @by_turn, @name: in tables of the group's, see struct ops
 * @number: by which nodes know it; 0: not known yet.  @started: rank 0 has had nodes asked for it; @dealt: members ask, each its own
 * @aside: it is in the group's order, and waits for the end of the group's epoch there
 * @stays: nodes may keep it until the end of the group's epoch, and do not all have it yet; see stays.c.  @arriving: rank 0: nor as far as
 *	other members know
 * @agreed: rank 0 said yes, so there will be an end; @warned: the neighbours know that it has failed
 * @rooted: rank 0 has an exchange with the name server under way
 * @sized: rank 0 has had what it asked for at the start, with @sized_error, and waits until those before it have been started
 * @finishing: @result is known, and only that exchange is waited for
 * @fan: the step that rank 0 has to release; NULL if it has failed meanwhile
 * @epoch: of an atomic write, at rank 0; @epoch_number: everywhere, from the verdict on
 * @within: the epoch of several files that it belongs to, see epochs_enter(); 0: none.  @entered: it may
 * @at: times at which phases began
 * @messages, @steps: for the report
 * @tally: what this member was told as the one that asked; at the end, of all
 */
struct ddio_op {
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_session *session;
	struct ddio_list session_link;
	struct ddio_file *file;
	struct ddio_group *group;
	struct ddio_list link, start_link;
	struct ddio_hash_node by_turn, name;
	struct turn turn;
	uint64_t number;
	enum phase phase;
	const struct mover *m;
	void *priv;
	struct hold_check hold;
	bool writing, in_file_order, started, aside, stays, arriving, entered, dealt, agreed,
		warned, rooted, sized, finishing, clipped, may_spread;
	bool may_carry, carried, gathered;
	int gather_err;
	uint32_t method, flags, outstanding;
	uint32_t rank, nprocs;
	uint32_t part_kind;
	uint8_t *part;
	size_t part_len;
	struct ddio_crowd crowd;
	struct ddio_map *map, *whole;
	struct ddio_memmap *memmap;
	uint8_t *buf;
	bool packed;
	uint64_t share;
	uint64_t lo, hi, file_size;
	struct error failed, result;
	struct fan *fan;
	struct size_job size;
	struct epoch_job epoch;
	uint64_t epoch_number, within;
	struct error sized_error;
	struct request_set set;
	struct ddio_report *user_report, report;
	uint64_t at[PHASE_OVER + 1];
	uint64_t messages, steps;
	struct coll_tally tally;
};

static inline bool op_is_dd(const struct ddio_op *op)
{
	return op->method == DDIO_METHOD_DD || op->method == DDIO_METHOD_DDS;
}

static inline bool op_is_atomic(const struct ddio_op *op)
{
	return op->writing && op->flags & DDIO_XFER_ATOMIC;
}

/* Says "write of NAME", for messages. */
void op_describe(const struct ddio_op *op, char text[DDIO_MAX_TEXT]);

/*
 * op.c
 */
extern const struct group_user op_group_user;

/* @methods: by enum ddio_method, DDIO_METHOD_SMALL the last.  Return: 0 or -ENOMEM. */
int transfers_init(struct ddio_session *session, const struct mover *const *methods);
/* Application's thread: frees also the operations that were never waited for. */
void transfers_free(struct ddio_session *session);

void op_prepared(struct ddio_op *op);
/* The step that is all of the operation has ended. */
void op_settled(struct ddio_op *op, const struct error *result);
void op_moved(struct ddio_op *op);
/* Keeps the first failure; stops the operation if it is moving data. */
void op_fail(struct ddio_op *op, const struct error *error);
void op_stopped(struct ddio_op *op);
/* Returns the group's operations that have begun, and are not over; NULL: there never was one. */
struct ddio_list *group_ops(struct ddio_group *group);
void op_submit(struct ddio_op *op);
/* Application's thread: submits an operation and waits for it.  Returns 0, or -EDEADLK on the reactor, which frees it. */
int op_call(struct ddio_op *op);
/* Application's thread: gives up an operation that is over; the reactor frees it. */
void op_give_up(struct ddio_op *op);

/*
 * agreement.c
 */

/* Returns what every member must mean alike, to be freed; NULL without memory. */
uint8_t *agreement_compare(const struct ddio_op *op, size_t *len);
/* Rank 0, op->whole and op->file_size being known: checks the one against the other.  Return: 0 or @error's errno. */
int agreement_check(struct ddio_op *op, struct error *error);
/* Cuts a read that may be short at the end of the file; every member knows the same one. */
void agreement_clip(struct ddio_op *op);
/* Rank 0: starts an operation whose size is known, which nothing keeps from it. */
void start_decide(struct ddio_op *op);
/* Begins the agreement on the transfer; ends, at once or later, in op_agreed(). */
void agreement_begin(struct ddio_op *op);
/* Joins the members' descriptions on their way to rank 0; see struct step_kind. */
void *agreement_join(struct ddio_group *group, const void *gathered, size_t len, size_t *joined);
/* Returns true if a lower rank may write some of this process's bytes; the verdict says which. */
bool op_yields(const struct ddio_op *op);
/* Begins the agreement on the result; ends, at once or later, in op_ended(). */
void end_begin(struct ddio_op *op);
/* op.c, called by agreement.c. */
void op_agreed(struct ddio_op *op, const struct error *error);
void op_ended(struct ddio_op *op, const struct error *error);
/* op.c: rank 0's exchange has ended.  Returns false if nothing waits for its result: @op may be gone. */
bool op_unrooted(struct ddio_op *op);

/*
 * stays.c
 */
/* All have agreed: returns true if it may stay at nodes until the end of the group's epoch, as all members find. */
bool op_stays(const struct ddio_op *op);
/* Those nodes have it that this member asks; or it has ended. */
void op_has_stayed(struct ddio_op *op);

/*
 * report.c
 */
void report_fill(struct ddio_op *op);
/* Returns how many bytes this process moves, once all have agreed. */
uint64_t op_due(const struct ddio_op *op);

#endif /* DDIO_CP_OP_H */
