/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the collective executor: groups (group.c), the request that a
 * node's reactors share (start.c), a collective running on one reactor
 * (coll.c, watch.c), block lists (plan.c, near.c), and the buffers that a
 * disk's blocks go through (disk.c, read.c, write.c with
 * ask.c and piece.c), block by block or as a stream of the disk's (feed.c); and
 * what goes past these buffers, straight to members on this machine (scatter.c, joint.c).
 *
 * Who owns what
 *   reactor -> groups, collectives; group -> members; client -> members too
 *   collective -> its disks; disk -> slots, stream; slot -> two buffers, parts
 *   The request and its map are read only, shared by the node's reactors, and
 *   counted.  Nothing else is seen by more than one reactor.
 *
 * Nothing is freed from inside a call: a collective is only ever freed by its
 * own turn, coll_kick() posts it, with no disk request, lock, commit or
 * send under way and no sink of a connection in its buffers.
 */
#ifndef DDIO_COLL_COLL_H
#define DDIO_COLL_COLL_H

#include <stdatomic.h>
#include "env/kernel/joint.h"
#include "iop/server/reactor.h"
#include "map/map.h"

#define COLL_MAX_BUFFERS 64u   /* a disk */
#define COLL_MAX_RUNNING 64u   /* collectives of one group on one reactor */
#define COLL_NOBODY UINT32_MAX /* no rank */
#define COLL_EARLY 8u	       /* operations given up before they began, remembered */
#define COLL_CHUNK 1024u       /* members a chunk of a group's table */

/**
 * struct verdict - how a collective ended
 * @status: enum ddio_status
 * @lost: rank that went away or does not answer, or COLL_NOBODY
 */
struct verdict {
	uint32_t status;
	uint32_t lost;
	char text[DDIO_MAX_TEXT];
};

void verdict_set(struct verdict *v, uint32_t status, uint32_t lost, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Groups
 */

/**
 * struct coll_member - one rank of a group, on one connection of the reactor
 * @handle: the member's own number for the group
 * @tx_seen, @tx_since: the connection's last progress in sending as the watch saw it, and when
 * @tx_queued: when the watch saw output of the connection waiting last
 * @piece_ns: when its last COLL_PIECE was complete
 * @joined_op: the last operation for which its memory is in the group's joint
 */
struct coll_member {
	struct client *client;
	struct coll_group *group;
	struct ddio_list client_link;
	uint32_t rank;
	uint32_t handle;
	uint64_t tx_seen, tx_since, tx_queued;
	uint64_t piece_ns;
	uint64_t joined_op;
};

/**
 * struct coll_group - a group as one reactor knows it
 * @size: ranks; @n: of them attached
 * @lost: a rank that was attached and whose connection ended, or COLL_NOBODY
 * @running: collectives on @colls
 * @joint: reactor 0: where members on this machine join their memory; NULL until one asked
 * @last_start: highest number of an operation that was asked of this reactor, if it is reactor 0
 * @last_op: highest number of an operation that began here
 * @early: operations that were given up before they were started; a ring
 * @chunk: members by rank; a chunk is allocated with its first member
 */
struct coll_group {
	struct ddio_list link; /* reactor->groups */
	struct reactor *reactor;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t size, n;
	uint32_t lost;
	uint32_t running;
	struct ddio_joint *joint;
	uint64_t last_start, last_op;
	struct ddio_list colls; /* struct coll.group_link */
	struct early {
		uint64_t op;
		uint32_t status, rank;
	} early[COLL_EARLY];
	uint32_t nearly;
	struct coll_member **chunk[];
};

struct coll_group *coll_group_find(struct reactor *reactor, const uint8_t *id);
/* The client's membership in a group, or NULL. */
struct coll_member *coll_client_member(const struct client *client, const uint8_t *id);
/* The attached member of a rank, or NULL. */
struct coll_member *coll_group_member(const struct coll_group *group, uint32_t rank);
/* Frees the group if it has no member and runs nothing. */
void coll_group_release(struct coll_group *group);
/* Was the operation given up before it began? */
const struct early *coll_group_early(const struct coll_group *group, uint64_t op);
/* Missing ranks: the verdict says who. */
bool coll_group_complete(const struct coll_group *group, struct verdict *v);

/*
 * The request
 */
struct coll_req;

/**
 * struct coll_to - the request on its way to one reactor
 * @takes_part: the reactor owns disks of the file
 * @start, @notice: posts: begin; another reactor's part failed
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
 * @refs: one a reactor that runs it and one a post under way
 * @failed: enum req_failed; the reactor that moves it from FINE writes @verdict
 * @lo, @hi: bounds of the map
 * @joint, @joined: a reference, and a bit for each rank whose memory is in it; NULL: there is none
 */
struct coll_req {
	atomic_uint refs;
	atomic_uint failed;
	struct verdict verdict;
	struct ddio_msg_coll_start start;
	struct ddio_map *map;
	uint64_t lo, hi;
	struct ddio_joint *joint;
	uint8_t *joined;
	uint32_t nto;
	struct coll_to to[];
};

void coll_req_put(struct coll_req *req);
/* Tells the node's other reactors, unless one of them was first. */
void coll_req_fail(struct coll_req *req, const struct reactor *from, const struct verdict *v);
/* True, and the verdict in @req->verdict, if another reactor's part has failed. */
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
 * Block lists
 */

/**
 * struct plan_span - blocks of an object at a constant distance, within one extent
 * @block: the first, a number in the object
 * @count: blocks, at least 1
 * @sector: where the first lies on the disk, in units of 512 bytes; SPAN_HOLE: nowhere
 * @stride: distance in blocks; 1 where there is only one
 */
struct plan_span {
	uint64_t block : 54;
	uint64_t count : 10;
	uint64_t sector : 54;
	uint64_t stride : 10;
};
_Static_assert(sizeof(struct plan_span) == 16, "a block list may hold millions of these");

#define SPAN_SECTOR 512u
#define SPAN_HOLE ((1ull << 54) - 1)
#define SPAN_MAX 1023u /* count and stride */

/**
 * struct plan_blocks - neighbouring blocks of an object that lie one behind the other
 * @block: the first; above all that were added before
 * @sector: its place, or SPAN_HOLE
 * @same: in the same extent as what was added before
 */
struct plan_blocks {
	uint64_t block;
	uint64_t count;
	uint64_t sector;
	bool same;
};

/**
 * struct plan - the block list of one disk
 * @sectors: of a block
 * @blocks: in all spans
 * @at, @in: the next block to be handed out: index of a span, and of a block in it
 * @left: blocks not handed out yet
 * @near: they are handed out by shortest access time (near.c), or NULL
 */
struct plan {
	uint32_t sectors;
	struct plan_span *span;
	uint64_t n, cap;
	uint64_t blocks;
	uint64_t at, left;
	uint32_t in;
	struct near *near;
};

int plan_add(struct plan *plan, const struct plan_blocks *placed);
void plan_sort(struct plan *plan);
/* Begin @skip blocks further on; what was skipped comes last. */
void plan_rotate(struct plan *plan, uint64_t skip);
/* The next block, and where it lay when the list was made. */
bool plan_next(struct plan *plan, struct plan_blocks *placed);
void plan_free(struct plan *plan);
/* From here on by shortest access time; -1 without memory.  The list is sorted, nothing is taken. */
int plan_near_begin(struct plan *plan);
bool plan_next_near(struct plan *plan, const struct ddio_disk *disk, struct plan_blocks *placed,
		    uint64_t *asked);
void plan_near_free(struct near *near);

/*
 * A running collective
 */
enum coll_state {
	COLL_PLANNING,	 /* the block lists are being made */
	COLL_RUNNING,	 /* blocks stream through the slots */
	COLL_COMMITTING, /* all is written; the stores commit */
	COLL_STOPPING,	 /* failed; disk requests and commits are under way */
	COLL_RELEASING,	 /* failed and told; connections still hold buffers */
	COLL_OVER,	 /* to be freed */
};

enum slot_state {
	SLOT_IDLE,
	SLOT_LOCKING, /* waits for the cache to let go of the block */
	SLOT_READING, /* the disk reads; when writing: the old bytes */
	SLOT_WRITING,
	SLOT_SENDING, /* read: connections hold the buffers */
};

enum ask_state {
	ASK_NONE,
	ASK_TAKEN, /* there is a block, but nobody was asked yet */
	ASK_ASKED, /* members owe pieces */
	ASK_READY, /* all pieces are here */
};

enum owed {
	OWED_ASKED,  /* by the member */
	OWED_COMING, /* a connection writes to the buffer */
	OWED_HERE,
};

/**
 * struct coll_part - one member's bytes of a block
 * @len: of its message
 * @first, @end: the smallest range within the block that has them all
 * @pieces: contiguous ones, for the account
 * @where: of a write: offset in the block buffer (@direct), else in the message buffer
 * @direct: received straight into place
 */
struct coll_part {
	uint32_t rank;
	uint32_t len;
	uint32_t first, end;
	uint32_t pieces;
	uint32_t where;
	enum owed owed;
	bool direct;
	struct iovec iov;
};

/**
 * struct coll_block - a block of a disk's list
 * @block: the number in the object; @file_block: in the file
 * @turn: its place in the order of the list
 * @lo: file offset of its first byte
 * @hole: the list said that it has no place
 */
struct coll_block {
	uint64_t block, file_block, turn, lo;
	bool hole;
};

/**
 * struct coll_slot - a block buffer and a message buffer of a disk, and what happens in them
 * @number: of the block buffer among the disk's, and so of the slot of its stream
 * @at: the block in the block buffer, while @state is not IDLE
 * @since: begin of the state
 * @offset: write: its byte on the disk; @promised: where the stream writes the slot's block
 * @ask: write: what happens to the pieces of @next, which may come while @at is being written
 * @asked: when the members were asked
 * @covered: bytes of the block at hand that somebody wants
 * @merge: write: the block keeps bytes that nobody sends
 * @straight: write: some of its pieces go straight into the block buffer
 * @part: by rank, of @next (write) or @at (read)
 * @sent: parts asked for, or given to connections; @owed: parts not here
 * @sends: connections that have not let go yet
 * @streamed: read: what the stream has brought, while the slot is not the disk's; else NULL
 */
struct coll_slot {
	struct coll_disk *disk;
	uint32_t number;
	enum slot_state state;
	enum ask_state ask;
	uint64_t since, asked, offset, promised;
	struct coll_block at, next;
	uint32_t covered;
	bool held, merge, straight;
	uint8_t *buf;
	struct coll_part *part;
	uint32_t nparts, cap, sent, owed;
	uint32_t sends;
	struct ddio_send send;
	struct ddio_disk_req req;
	struct block_lock lock;
	struct ddio_list asking; /* coll->asking: not yet in a WANT message */
	const struct ddio_disk_block *streamed;
};

/**
 * struct coll_grant - write: a slot of the stream that the disk has given for a block
 * @turn: of the block
 * @offset: where the stream will write it
 * @number: of the slot
 */
struct coll_grant {
	uint64_t turn, offset;
	uint32_t number;
	bool given;
};

/**
 * struct coll_disk - one disk's part of a collective
 * @stripe: its place in the file's stripe
 * @scan: file offset from which the list is still to be made
 * @extent_end: block up to which the last extent met reaches
 * @short_blocks: write: blocks that have no place yet
 * @turn_next: the turn that the next block taken gets; @turn_go: the turn that may go to the disk
 * @stream: of the disk, or NULL: blocks are requested one by one
 * @list: read: blocks that the stream does not have, for afterwards; write: the list again, from
 *	where the stream has it
 * @given, @came: blocks that the stream was given, and brought or wrote
 * @scatter: while blocks go straight to members; all others come afterwards
 * @no_memory: for @list
 * @grant: write: by turn, modulo @nslots
 */
struct coll_disk {
	struct coll *coll;
	struct iop_disk *disk;
	uint32_t stripe;
	struct object *obj; /* NULL: nothing was ever written */
	struct plan plan;
	uint64_t scan, extent_end, short_blocks;
	enum { PLAN_COUNT, PLAN_PLACE, PLAN_MADE } pass;
	bool opened;
	struct coll_slot *slot;
	uint32_t nslots;
	uint64_t turn_next, turn_go;
	size_t stride; /* of buffers */
	uint8_t *bufs; /* of blocks */
	uint8_t *msgs; /* of packed messages, allocated when first needed */
	struct ddio_disk_stream *stream;
	struct coll_scatter *scatter;
	struct plan list;
	uint64_t given, came;
	bool no_memory;
	struct coll_grant *grant;
	struct commit commit;
	uint64_t progress_ns; /* when a request or a lock's wait ended last */
};

/**
 * struct coll - a collective on one reactor
 * @turn: a turn of its own, see coll_kick()
 * @io: disk requests, granted locks and commits under way; @sends: messages that refer to buffers
 * @asking: slots whose members have to be asked
 * @told: COLL_DONE was sent
 * @index, @msgs: scratch by rank: part of the block at hand, its message
 * @scattered: by rank: bytes that went through the joint; NULL without one
 */
struct coll {
	struct reactor *reactor;
	struct coll_req *req;
	struct coll_group *group;
	struct ddio_list link, group_link;
	enum coll_state state;
	struct verdict verdict;
	struct ddio_post turn;
	bool turning, told;
	struct ddio_timer timer;
	uint64_t timeout_ns, begin_ns;
	uint64_t io, sends;
	struct ddio_list asking;
	uint32_t block_size;
	uint32_t ndisks;
	struct coll_disk *disk;
	uint32_t *index;
	void **msgs;
	uint64_t *scattered;
	struct ddio_msg_coll_done done;
};

static inline bool coll_writes(const struct coll *coll)
{
	return coll_req_flag(coll->req, DDIO_COLL_WRITE);
}

/*
 * Handlers, see struct server_op.
 */
int coll_attach(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_detach(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_start(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_piece_bulk(struct client *client, const struct ddio_msg *msg, const void *prefix,
		    size_t prefix_len, struct ddio_sink *sink);
int coll_piece(struct client *client, const struct ddio_msg *msg, const void *prefix);
int coll_abort(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_joint(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_join(struct client *client, const struct ddio_msg *msg, const void *payload);

/*
 * What the service is told, see struct server_service.
 */
void coll_init(struct reactor *reactor);
/* Ends every collective of the reactor; returns at once. */
void coll_stop(struct reactor *reactor);
bool coll_idle(const struct reactor *reactor);
void coll_exit(struct reactor *reactor);
/* The connection's members are lost; their collectives end with MEMBER_LOST. */
void coll_client_lost(struct client *client);
/* The connection's members have made progress. */
void coll_client_drained(struct client *client);

/* coll.c */
void coll_begin(struct coll_to *to);
/* The one place where the state changes. */
void coll_enter(struct coll *coll, enum coll_state state);
/* Ends it; the first failure counts.  Tells the sibling reactors. */
void coll_fail(struct coll *coll, const struct verdict *v);
void coll_fail_here(struct coll *coll, uint32_t status, uint32_t lost, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A failure of memory. */
void coll_fail_memory(struct coll *coll);
/* A failure of a disk at a block of the file. */
void coll_fail_disk(struct coll_disk *cd, const struct coll_block *at, int err, const char *what);
/* The block was freed by somebody else. */
void coll_fail_gone(struct coll_slot *slot);
void coll_kick(struct coll *coll);
/* COLL_DONE to every member, once. */
void coll_tell(struct coll *coll);
/* @scattered: by rank, or NULL. */
void coll_done_send(struct coll_group *group, const struct ddio_msg_coll_done *done,
		    const uint64_t *scattered, const struct verdict *v);
void coll_done_send_one(const struct coll_member *m, struct ddio_msg_coll_done *done,
			const struct verdict *v);
struct coll *coll_find(const struct coll_group *group, uint64_t op);

/* plan.c: one piece of the work; true when the list of every disk is made, or it failed. */
bool coll_plan(struct coll *coll);

/* watch.c */
void coll_watch_begin(struct coll *coll);
void coll_watch_end(struct coll *coll);

/* pool.c: buffers, kept from one collective to the next */
void *coll_buffer_get(struct reactor *reactor, size_t size);
void coll_buffer_put(struct reactor *reactor, void *buf, size_t size);
void coll_buffers_drop(struct reactor *reactor);

/* disk.c */
int coll_disk_buffers(struct coll_disk *cd);
void coll_disk_free(struct coll_disk *cd);
void coll_disk_run(struct coll_disk *cd);
/* What remains of the list when nothing more can be scattered. */
void coll_disk_rest(struct coll_disk *cd);
void coll_disk_stop(struct coll_disk *cd);
bool coll_disk_idle(const struct coll_disk *cd);
void slot_enter(struct coll_slot *slot, enum slot_state state);
/* The disk's next block; false if there is none. */
bool slot_take(struct coll_slot *slot, struct coll_block *block);
/* Fills in the parts of a block. */
int slot_divide(struct coll_slot *slot, const struct coll_block *block);
/* Fills in @block: number @number of the object. */
void coll_block_set(const struct coll_disk *cd, uint64_t number, struct coll_block *block);
/* The message buffer, or NULL: no memory. */
uint8_t *slot_msg(struct coll_slot *slot);
void slot_lock(struct coll_slot *slot);
void slot_unlock(struct coll_slot *slot, bool stale);
void slot_submit(struct coll_slot *slot, enum ddio_disk_op op, uint64_t offset);
/* What follows when @op has ended, by a request or a stream. */
void slot_moved(struct coll_slot *slot, enum ddio_disk_op op, int status);
/* Accounts for one member's part of a block as Memputs or Memgets. */
void coll_charge_part(struct coll *coll, enum ddio_work work, const struct coll_part *part);

/* read.c: the next block; and what follows when it is locked, read, sent */
void slot_read_next(struct coll_slot *slot);
void slot_read_locked(struct coll_slot *slot);
void slot_read_done(struct coll_slot *slot);
void slot_read_sent(struct coll_slot *slot);

/* ask.c: asks for pieces where that is due; @cd's questions go out with the turn. */
void coll_ask(struct coll_disk *cd);
void coll_ask_flush(struct coll *coll);

/* feed.c */
/* True, and the disk has the list, unless it is to be asked block by block. */
bool feed_begin(struct coll_disk *cd);
/* Read: the slot is the disk's again. */
void feed_next(struct coll_slot *slot);
/* Read: is what the stream brought what the disk holds at @offset?  The block is locked. */
bool feed_fresh(const struct coll_slot *slot, uint64_t offset);
/* Read: does the slot wait for whatever the stream brings next? */
bool feed_waits(const struct coll_slot *slot);
/* Write: sees that the slot's block buffer is the one that its next block is written from; false: the
 * disk has not given one yet.  Without a stream any will do. */
bool feed_bind(struct coll_slot *slot);
/* Write: the slot is bound, and its next block is the one at hand now. */
void feed_take(struct coll_slot *slot);
/* Write: the block goes to the disk, by the stream or a request. */
void feed_write(struct coll_slot *slot);

/* joint.c: before the request is handed out: who has joined */
void coll_req_join(struct coll_req *req, struct coll_group *group);

/* scatter.c */
/* True: blocks are on their way, and coll_disk_rest() will be called. */
bool coll_scatter_begin(struct coll_disk *cd);
void coll_scatter_stop(struct coll_disk *cd);
void coll_scatter_free(struct coll_disk *cd);
/* The disk has blocks that are scattered. */
bool coll_scatter_busy(const struct coll_disk *cd);
/* A member has left the joint, and its connection has not said so yet. */
bool coll_scatter_orphaned(const struct coll_disk *cd);

/* piece.c: what a member's connection is receiving goes nowhere */
void coll_discard(struct coll *coll, uint32_t rank);

/* write.c: whatever can go on with the disk; and what follows when a block is locked, done */
void coll_write_go(struct coll_disk *cd);
void slot_write_locked(struct coll_slot *slot);
void slot_write_done(struct coll_slot *slot);

#endif /* DDIO_COLL_COLL_H */
