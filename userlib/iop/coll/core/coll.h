/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collective: the request that a node's reactors share, and the collective as it runs on one of them.
 *
 * Who owns what
 *   reactor -> groups, collectives; group -> members; client -> members, too
 *   collective -> its disks; disk -> slots, feed; slot -> two buffers, parts
 *   The request and its map are read only, shared by the node's reactors, and counted.  Nothing else is seen
 *   by more than one reactor.
 *
 * Nothing is freed from inside a call: a collective is freed only by its own turn, which coll_kick() posts, when
 * no disk request, lock, commit or send is under way and no connection receives into its buffers.
 */
#ifndef DDIO_COLL_COLL_H
#define DDIO_COLL_COLL_H

#include <stdatomic.h>
#include "iop/coll/core/group.h"
#include "map/map.h"

#define COLL_MAX_RUNNING 64u /* collectives of one group on one reactor */

struct coll_disk;
struct slot_ops;

/*
 * The request
 */
struct coll_req;

/**
 * struct coll_to - the request on its way to one reactor
 * @takes_part: the reactor owns disks of the file
 * @start: post that begins it; @notice: post that another reactor's part has failed
 */
struct coll_to {
	struct coll_req *req;
	struct reactor *reactor;
	bool takes_part;
	struct ddio_post start, notice;
};

enum req_failed { REQ_FINE, REQ_FAILING, REQ_FAILED };

/**
 * struct coll_req - one collective request at one node
 * @refs: one for each reactor that runs it and for each post under way
 * @failed: enum req_failed; the reactor that moves it from FINE writes @verdict
 * @lo, @hi: bounds of the map
 * @asker: the rank that sent it; @job: whose it is
 * @may_read: its user may read the file
 * @joint, @joined: a reference, and a bit for each rank whose memory is in it; or NULL
 */
struct coll_req {
	atomic_uint refs;
	atomic_uint failed;
	struct verdict verdict;
	struct ddio_msg_coll_start start;
	struct ddio_map *map;
	uint64_t lo, hi;
	uint32_t asker;
	char job[DDIO_MAX_JOB + 1];
	bool may_read;
	struct ddio_joint *joint;
	uint8_t *joined;
	uint32_t nto;
	struct coll_to to[];
};

void coll_req_get(struct coll_req *req);
void coll_req_put(struct coll_req *req);
/* Tells the node's other reactors, unless one of them was first. */
void coll_req_fail(struct coll_req *req, const struct reactor *from, const struct verdict *v);
/* Returns true if another reactor's part has failed; @req->verdict is valid then. */
static inline bool coll_req_failed(struct coll_req *req)
{
	return atomic_load_explicit(&req->failed, memory_order_acquire) == REQ_FAILED;
}

static inline bool coll_req_joined(const struct coll_req *req, uint32_t rank)
{
	return req->joined && req->joined[rank / 8] >> rank % 8 & 1;
}

static inline bool coll_req_flag(const struct coll_req *req, uint32_t flag)
{
	return req->start.flags & flag;
}

/*
 * A running collective
 */
enum coll_state {
	COLL_PLANNING,	 /* the block lists are being made */
	COLL_DOUBTING,	 /* the stores record which blocks may change */
	COLL_RUNNING,	 /* blocks move through the slots */
	COLL_COMMITTING, /* all is written; the stores commit */
	COLL_STOPPING,	 /* failed; disk requests and commits are under way */
	COLL_RELEASING,	 /* failed and told; connections still hold buffers */
	COLL_OVER,	 /* to be freed */
};

/**
 * struct coll - a collective on one reactor
 * @ops: reading, or writing
 * @entered: begins what the new state is for
 * @turn: see coll_kick(); @turning: it is posted
 * @told: COLL_DONE was sent
 * @opened: it uses the file's objects
 * @io: disk requests, granted locks and commits under way; @sends: messages that refer to buffers
 * @asking: slots whose members have to be asked
 * @share: where its buffers are, if members on this machine have it; else NULL
 * @nslots: of all its disks
 * @index, @msgs: scratch by rank: part of the block at hand, its message
 * @took: a bit for each rank: it has a part of a block that was moved through the slots
 * @traced: the number of the trace that records it, or 0
 * @scattered: by rank: bytes that went through the joint; NULL without one
 */
struct coll {
	struct reactor *reactor;
	struct coll_req *req;
	struct coll_group *group;
	const struct slot_ops *ops;
	struct ddio_list link, group_link;
	enum coll_state state;
	void (*entered)(struct coll *coll);
	struct verdict verdict;
	struct ddio_post turn;
	bool turning, told, opened;
	struct ddio_timer timer;
	uint64_t timeout_ns, begin_ns;
	uint64_t io, sends;
	struct ddio_list asking;
	struct coll_share *share;
	uint32_t block_size;
	uint32_t ndisks;
	struct coll_disk *disk;
	uint32_t nslots;
	uint32_t *index;
	void **msgs;
	uint8_t *took;
	uint64_t traced;
	uint64_t *scattered;
	struct ddio_msg_coll_done done;
};

static inline bool coll_writes(const struct coll *coll)
{
	return coll_req_flag(coll->req, DDIO_COLL_WRITE);
}

/* state.c */
/* The one place where the state changes. */
void coll_enter(struct coll *coll, enum coll_state state);
/* Ends the collective; the first failure counts.  Tells the node's other reactors. */
void coll_fail(struct coll *coll, const struct verdict *v);
void coll_fail_here(struct coll *coll, uint32_t status, uint32_t lost, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void coll_fail_memory(struct coll *coll);
/* The member's connection has ended. */
void coll_fail_lost(struct coll *coll, uint32_t rank);
/* Asks for a turn of the collective, which the reactor calls soon. */
void coll_kick(struct coll *coll);
/* Returns the group's collective with that operation number, or NULL. */
struct coll *coll_find(const struct coll_group *group, uint64_t op);

/* tell.c */
/* Sends COLL_DONE to every member. */
void coll_done_send(struct coll_group *group, const struct ddio_msg_coll_done *done,
		    const struct verdict *v);
/* Sends COLL_DONE of the running collective, once, to every member that is to hear of it. */
void coll_tell(struct coll *coll);
void coll_done_send_one(const struct coll_member *m, struct ddio_msg_coll_done *done,
			const struct verdict *v);

#endif /* DDIO_COLL_COLL_H */
