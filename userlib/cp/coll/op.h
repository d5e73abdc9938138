/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collective transfer, or a strided or listed one of a group of one.  Its way:
 *
 *   QUEUED     waits for its turn in the group
 *   PREPARING  the method gets ready: lanes are attached, memory is had
 *   AGREEING   the members agree that they mean the same; rank 0 has checked it
 *              against the file and started it
 *   MOVING     data
 *   STOPPING   something failed: until nothing refers to the user's memory
 *   ENDING     the members agree on the result
 *   OVER       the gate is open
 *
 * Only op.c changes the phase.
 */
#ifndef DDIO_CP_OP_H
#define DDIO_CP_OP_H

#include "cp/file/file.h"
#include "cp/group/group.h"
#include "cp/node/lane.h"
#include "map/map.h"

enum phase {
	DDIO_PHASE_QUEUED,
	DDIO_PHASE_PREPARING,
	DDIO_PHASE_AGREEING,
	DDIO_PHASE_MOVING,
	DDIO_PHASE_STOPPING,
	DDIO_PHASE_ENDING,
	DDIO_PHASE_OVER,
};

/**
 * struct mover - how data are moved
 * @prepare: ends, then or later, in op_prepared()
 * @launch: at rank 0, when all have agreed and before they hear of it; may be NULL
 * @run: ends, then or later, in op_moved() or op_fail()
 * @stop: from AGREEING or MOVING; ends, then or later, in op_stopped()
 * @free: what hangs from op->priv
 */
struct mover {
	void (*prepare)(struct ddio_op *op);
	int (*launch)(struct ddio_op *op, struct error *error);
	void (*run)(struct ddio_op *op);
	void (*stop)(struct ddio_op *op);
	void (*free)(struct ddio_op *op);
};

extern const struct mover method_dd, method_tc, method_2p;

/**
 * struct ddio_op - reactor only between its post and its gate, but for @session_link, which is
 * the application's thread's only
 * @group: NULL until the reactor has chosen one, for an independent transfer
 * @parts: of every member, decoded: at rank 0, and for 2P everywhere; NULL for an array
 * @part, @part_len: this process's description, encoded; @array points to it decoded
 * @map: of the own share; for an array of everybody's
 * @whole: of everybody's, where it is known; may be @map
 * @packed: the memory is the packed share
 * @share: bytes
 * @lo, @hi: bounds of what anybody wants; @lo only where @whole is known
 * @file_size: at the start
 * @failed: of this member; @result: of all
 * @agreed: rank 0 said yes, so there will be an end
 * @rooted: rank 0 is talking to the name space
 * @finishing: @result is known, and only that talk is waited for
 * @fan: the step that rank 0 has to release; NULL if it has failed meanwhile
 * @at: times at which phases began
 * @messages, @steps: for the report
 */
struct ddio_op {
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_session *session;
	struct ddio_list session_link;
	struct ddio_file *file;
	struct ddio_group *group;
	struct ddio_list link;
	struct turn turn;
	enum phase phase;
	const struct mover *m;
	void *priv;
	bool writing, agreed, rooted, finishing;
	uint32_t method, flags, outstanding;
	uint32_t rank, nprocs;
	uint32_t part_kind;
	uint8_t *part;
	size_t part_len;
	struct ddio_part *parts;
	uint32_t nparts;
	struct ddio_map *map, *whole;
	struct ddio_place *place;
	uint8_t *buf;
	bool packed;
	uint64_t share;
	uint64_t lo, hi, file_size;
	struct error failed, result;
	struct fan *fan;
	struct size_job size;
	struct request_set set;
	struct ddio_report *user_report, report;
	uint64_t at[DDIO_PHASE_OVER + 1];
	uint64_t messages, steps;
};

/* Rank and size of what @op belongs to are known before its group is, for a solo. */
static inline bool op_reads_into(const struct ddio_op *op)
{
	return !op->writing &&
	       (op->phase == DDIO_PHASE_AGREEING || op->phase == DDIO_PHASE_MOVING) &&
	       !op->failed.status;
}

static inline bool op_writes_from(const struct ddio_op *op)
{
	return op->writing &&
	       (op->phase == DDIO_PHASE_AGREEING || op->phase == DDIO_PHASE_MOVING) &&
	       !op->failed.status;
}

/* "write of NAME" for messages. */
void op_describe(const struct ddio_op *op, char text[DDIO_MAX_TEXT]);

/*
 * op.c
 */
void op_prepared(struct ddio_op *op);
void op_moved(struct ddio_op *op);
/* The first failure counts.  Harmless in phases in which nothing can be stopped. */
void op_fail(struct ddio_op *op, const struct error *error);
void op_stopped(struct ddio_op *op);
struct ddio_op *op_find(struct ddio_group *group, uint64_t number);
void ops_fail(struct ddio_group *group, const struct error *error);
/* Ends all operations of the session. */
void ops_cancel(struct ddio_session *session);
/* The application's thread: those that were never waited for. */
void ops_free(struct ddio_session *session);

/*
 * transfer.c: from the user's words, in his thread
 */
/* Never NULL but for want of memory: what is wrong is in its @failed. */
struct ddio_op *op_new(struct ddio_file *file, struct ddio_group *group,
		       const struct ddio_transfer *t, bool writing);
void op_submit(struct ddio_op *op);
void op_free(struct ddio_op *op);

/*
 * agreement.c
 */
/* Ends in @op->fan's verdict: op_agreed(). */
void agreement_begin(struct ddio_op *op);
void end_begin(struct ddio_op *op);
/* op.c, called by agreement.c. */
void op_agreed(struct ddio_op *op, const struct error *error);
void op_ended(struct ddio_op *op, const struct error *error);
/* op.c: rank 0 has ended its talk.  False: nobody waits for the result, and @op may be gone. */
bool op_unrooted(struct ddio_op *op);

/*
 * report.c
 */
void report_fill(struct ddio_op *op);

#endif /* DDIO_CP_OP_H */
