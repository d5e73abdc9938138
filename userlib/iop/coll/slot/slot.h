/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The buffers that a disk's blocks go through, and how blocks get there.
 *
 * Two choices are made once, not at every step: a collective reads or writes (struct slot_ops: read.c,
 * write.c with ask.c), and a disk's blocks move by a request each or as a feed (struct source_ops:
 * by_request.c, feed_read.c, feed_write.c).  What goes past the buffers, straight to members on this
 * machine, is in scatter.c.
 */
#ifndef DDIO_COLL_SLOT_H
#define DDIO_COLL_SLOT_H

#include "iop/coll/core/coll.h"
#include "iop/coll/core/plan.h"
#include "iop/coll/core/trace.h"
#include "iop/coll/slot/set.h"
#include "iop/store/epoch.h"

/*
 * Bytes of buffers that a disk gets by itself, at most so many if they are shared, and all disks of a collective on a reactor; none
 * if the reactor has so many.
 */
#define SLOTS_AUTO_BYTES (1u << 20)
#define SLOTS_SHARED_BYTES (4u << 20)
#define SLOTS_AUTO_ALL (16u << 20)
#define SLOTS_AUTO_HELD (256u << 20)

enum slot_state {
	SLOT_IDLE,
	SLOT_LOCKING,  /* the cache has not granted the block's lock yet */
	SLOT_FEEDING,  /* read: the feed fills it with a block of its own choice */
	SLOT_READING,  /* the disk reads; when writing: the old bytes */
	SLOT_DOUBTING, /* write: the store records that the block may change */
	SLOT_WRITING,
	SLOT_SENDING, /* read: connections hold the buffers */
};

enum ask_state {
	ASK_NONE,
	ASK_TAKEN, /* there is a block, but nobody was asked yet */
	ASK_ASKED, /* members owe pieces */
	ASK_READY, /* all pieces are here */
	ASK_STATES
};

enum owed {
	OWED_ASKED,  /* by the member */
	OWED_COMING, /* a connection receives into the buffer */
	OWED_HERE,
};

/**
 * struct coll_part - one member's bytes of a block
 * @len: of its message
 * @first, @end: the smallest range within the block that has them all
 * @pieces: contiguous ones, for the account
 * @where: when writing: offset in the block buffer (@direct), else in the message buffer
 * @direct: received straight into place
 * @shared: the member copies it by itself, from the block, to its place, or packed to @where
 */
struct coll_part {
	uint32_t rank;
	uint32_t len;
	uint32_t first, end;
	uint32_t pieces;
	uint32_t where;
	enum owed owed;
	bool direct, shared;
	struct iovec iov;
};

/**
 * struct coll_block - a block of a disk's list
 * @block: the number in the object; @file_block: in the file
 * @turn: its place in the order of the list
 * @lo: file offset of its first byte
 * @hole: it had no place when the list was made
 * @sector: its place then, or SPAN_HOLE; of one that moves by a request
 */
struct coll_block {
	uint64_t block, file_block, turn, lo, sector;
	bool hole;
};

/**
 * struct coll_proof - what the messages with pieces of a block say of its bytes
 * @len: how many bytes of it came in contiguous pieces with checksums
 * @sum: the CRC-32C of the block, if that is all of them
 */
struct coll_proof {
	uint32_t len, sum;
};

/**
 * struct coll_slot - a block buffer and a message buffer of a disk, and what happens in them
 * @number: of the block buffer among the disk's, and so of the feed's slot
 * @at: the block in the block buffer, while @state is not IDLE
 * @since: when the state began
 * @offset: write: its byte on the disk; @granted: where the feed writes the slot's block
 * @ask: write: what happens to the pieces of @next, which may arrive while @at is being written
 * @asked: when the members were asked
 * @covered: bytes of the block at hand that somebody wants
 * @held: the lock is
 * @merge: write: the block keeps bytes that nobody sends
 * @checked: read: the block in @buf has been compared with its checksums in this turn
 * @arrived, @proof: write: of @next and @at
 * @part: by rank, of @next (write) or @at (read)
 * @sent: read: parts given to connections; @told: parts that members were asked or told of; @owed: parts
 *	that they have not sent or copied
 * @sends: connections that have not let go yet
 * @sums: that the engine made of the block in @buf when @req moved it; of one that was read they are used once
 * @doubt: the commit that it waits for while it is DOUBTING
 * @asking: in coll->asking until it is in a WANT message
 * @fed: read: the block that the feed has brought, while the slot is not the feed's; else NULL
 */
struct coll_slot {
	struct coll_disk *disk;
	uint32_t number;
	enum slot_state state;
	enum ask_state ask;
	uint64_t since, asked, offset, granted;
	struct coll_block at, next;
	uint32_t covered;
	bool held, merge, checked;
	struct coll_proof arrived, proof;
	uint8_t *buf;
	struct coll_part *part;
	uint32_t nparts, cap, sent, told, owed;
	uint32_t sends;
	struct ddio_send send;
	struct ddio_disk_req req;
	struct ddio_disk_sums sums;
	struct commit doubt;
	struct block_lock lock;
	struct ddio_list asking;
	const struct ddio_disk_block *fed;
};

static inline bool slot_waits_for_disk(enum slot_state state)
{
	return state == SLOT_LOCKING || state == SLOT_FEEDING || state == SLOT_READING ||
	       state == SLOT_DOUBTING || state == SLOT_WRITING;
}

/**
 * struct slot_ops - what a slot does when reading, or when writing
 * @begin: the slots of a disk take their first blocks
 * @locked: the slot's block is locked in the cache
 * @moved: the disk has moved the slot's block; slot->req says what it did
 * @copied: the last member has copied its part of the slot's block
 * @go: something at the disk has ended: begins whatever can begin now, and hands it to the disk
 * @resume: idle slots that were held take their next blocks
 * @feed: gives the disk its whole list, and sets its source: 0, or -errno with nothing changed
 * @scatter: how blocks go past the slots
 */
struct slot_ops {
	void (*begin)(struct coll_disk *cd);
	void (*locked)(struct coll_slot *slot);
	void (*moved)(struct coll_slot *slot);
	void (*copied)(struct coll_slot *slot);
	void (*go)(struct coll_disk *cd);
	void (*resume)(struct coll_disk *cd);
	int (*feed)(struct coll_disk *cd);
	const struct scatter_ops *scatter;
};

extern const struct slot_ops slot_read_ops, slot_write_ops;
extern const struct scatter_ops scatter_read_ops, scatter_write_ops;

/**
 * struct source_ops - how a disk's blocks get into the slots and out of them
 * @next: read: gives the idle slot its next block, if there is one
 * @fresh: read: returns true if the slot's buffer has what the disk holds at @offset; the block is locked
 * @bind: write: makes the slot's block buffer the one that its next block must be written from; returns false
 *	as long as that is not known
 * @take: write: the slot is bound, and its next block becomes the one at hand
 * @busy: write: returns the slots whose block is the disk's to wait for, not the members'
 * @write: write: the block goes to the disk
 */
struct source_ops {
	void (*next)(struct coll_slot *slot);
	bool (*fresh)(const struct coll_slot *slot, uint64_t offset);
	bool (*bind)(struct coll_slot *slot);
	void (*take)(struct coll_slot *slot);
	struct slot_set (*busy)(const struct coll_disk *cd);
	void (*write)(struct coll_slot *slot);
};

extern const struct source_ops by_request;

/**
 * struct feed_grant - write: a slot of the feed that the disk has granted to a block
 * @turn: of the block
 * @offset: where the feed writes it
 * @number: of the slot
 */
struct feed_grant {
	uint64_t turn, offset;
	uint32_t number;
	bool given;
};

/**
 * struct feed - a disk's block list while the disk has all of it
 * @stream: NULL: it does not
 * @given, @came: blocks that it was given, and that it brought or wrote
 * @rest: read: blocks that it was not given, for afterwards; @no_memory: for that
 * @ahead: write: the list again, from where the feed is in it; the spans are the disk's
 * @grant: write: by turn, modulo the number of slots
 */
struct feed {
	struct ddio_disk_stream *stream;
	uint64_t given, came;
	struct plan rest, ahead;
	bool no_memory;
	struct feed_grant *grant;
};

enum plan_pass { PLAN_COUNT, PLAN_PLACE, PLAN_MADE };

/**
 * struct coll_disk - one disk's part of a collective
 * @stripe: its place in the file's stripe
 * @obj: NULL: nothing was ever written
 * @epoch: an atomic write: @obj is the shadow of the file's object, until the collective has ended; @hold: what it waits
 *	for before; @wait, @flush, @timer: for it
 * @planning: how the list is made
 * @scan: file offset from which the list is still to be made
 * @next, @left: blocks before @scan that were found, and that it is still to be made of
 * @extent_end: block up to which the last extent met reaches
 * @whole: write: the blocks met, if they follow one another; else @end is UINT64_MAX
 * @short_blocks: write: blocks that have no place yet; @holes: runs on the list that lie nowhere
 * @doubts: write: it has to be recorded that blocks may change; @doubt_steps: what may still be done for that
 * @source: where blocks come from or go to
 * @working: the slots that are not IDLE; @asks: write: those of each state of asking
 * @straight: write: the slots some of whose next pieces go straight into the block buffer
 * @by_turn: write: which slot has taken the block of a turn, modulo @nslots
 * @turn_next: the turn that the next block taken gets; @turn_go: the turn that may go to the disk
 * @stride: of buffers
 * @bufs: of blocks
 * @msgs: of packed messages, allocated when first needed
 * @buf_area, @msg_area: where they are among the shared buffers; @buf_area.len 0: they are not
 * @scatter: while blocks go straight to members; all others come afterwards
 * @sweep: in the disk's list of collectives that share the sweep of its arm; @held: a slot waits for its turn there
 * @progress_ns: when a request or a lock's wait last ended
 */
struct coll_disk {
	struct coll *coll;
	struct iop_disk *disk;
	uint32_t stripe;
	struct object *obj;
	struct store_epoch *epoch;
	enum coll_hold { HOLD_NOT, HOLD_WAITS, HOLD_SHARED, HOLD_AGAIN, HOLD_ALONE } hold;
	struct store_wait wait;
	struct cache_flush flush;
	struct ddio_timer timer;
	struct plan plan;
	const struct planning *planning;
	uint64_t scan, next, left, extent_end, short_blocks, holes;
	struct {
		uint64_t first, end;
	} whole;
	uint32_t doubt_steps;
	enum plan_pass pass;
	bool doubts;
	const struct source_ops *source;
	struct coll_slot *slot;
	uint32_t nslots;
	struct slot_set working, straight, asks[ASK_STATES];
	uint8_t by_turn[COLL_MAX_BUFFERS];
	uint64_t turn_next, turn_go;
	size_t stride;
	uint8_t *bufs;
	uint8_t *msgs;
	struct share_area buf_area, msg_area;
	struct feed feed;
	struct coll_scatter *scatter;
	struct commit commit;
	struct ddio_list sweep;
	bool held;
	uint64_t progress_ns;
};

/* Returns where the slot is among the disk's. */
static inline uint32_t slot_place(const struct coll_slot *slot)
{
	return (uint32_t)(slot - slot->disk->slot);
}

/* disk.c */
/* Makes the slots: 0 or -ENOMEM. */
int coll_disk_buffers(struct coll_disk *cd);
void coll_disk_free(struct coll_disk *cd);
/* Begins to move the blocks of the list. */
void coll_disk_run(struct coll_disk *cd);
/* The collective has failed: begins nothing more, and calls back what can be. */
void coll_disk_stop(struct coll_disk *cd);
/* Returns true if every block was moved. */
bool coll_disk_idle(const struct coll_disk *cd);

/* hold.c: whoever wants the file waits while an atomic write holds it; an atomic write holds it, and has it for itself. */
/* Returns 1 if the file can be used in this turn; 0: the collective gets a turn when that may be so; or -errno. */
int coll_hold(struct coll_disk *cd);
/* Nothing is waited for any more. */
void coll_hold_stop(struct coll_disk *cd);
/* The collective is over: what was written is to be decided, or, after a failure, dropped. */
void coll_hold_end(struct coll_disk *cd);
/* Returns the object that has the old bytes of blocks. */
struct object *coll_old(const struct coll_disk *cd);

/* memory.c */
/* Returns memory for all slots of the disk; @area: where it is among the shared buffers, if it is. */
void *coll_disk_memory(struct coll_disk *cd, struct share_area *area);
/* @buf: NULL is harmless. */
void coll_disk_memory_free(struct coll_disk *cd, void *buf, struct share_area *area);

/* slot.c */
void slot_init(struct coll_disk *cd, struct coll_slot *slot);
void slot_enter(struct coll_slot *slot, enum slot_state state);
/* write: the one place where the state of its next block changes. */
void slot_ask_enter(struct coll_slot *slot, enum ask_state state);
/* Returns the slot with the block whose turn it is to go to the disk, or NULL: no slot has taken that block for writing. */
struct coll_slot *slot_to_go(const struct coll_disk *cd);
/* Takes the next block of the disk's list; false if there is none. */
bool slot_take(struct coll_slot *slot, struct coll_block *block);
/* Fills in @block: number @number of the object. */
void coll_block_set(const struct coll_disk *cd, uint64_t number, struct coll_block *block);
/* Returns the slot's message buffer, or NULL without memory. */
uint8_t *slot_msg(struct coll_slot *slot);
/* Locks the block at hand in the cache; slot_ops.locked() follows, maybe at once. */
void slot_lock(struct coll_slot *slot);
/* @stale: what the cache has of the block is forgotten. */
void slot_unlock(struct coll_slot *slot, bool stale);
/* Unlocks the block and leaves the slot idle. */
void slot_drop(struct coll_slot *slot, bool stale);
/* Submits a request for the block at hand; slot_ops.moved() follows. */
void slot_submit(struct coll_slot *slot, enum ddio_disk_op op, uint64_t offset);
/* The disk has moved the slot's block, by a request or a feed. */
void slot_moved(struct coll_slot *slot, enum ddio_disk_op op, int status);
/* Compares the block that was read with its checksum: true, or false with the slot idle and the collective failed. */
bool slot_checked(struct coll_slot *slot);
/* Counts a request of the disk. */
void coll_disk_account(struct coll_disk *cd);
/* Records that a request begins, or has ended. */
#define SLOT_TRACE_DISK(cd, kind_, slot_, op_, offset_)                                       \
	COLL_TRACE((cd)->coll, .kind = (kind_), .what = (op_) != DDIO_DISK_READ,              \
		   .disk = (cd)->disk->number, .slot = (uint16_t)(slot_), .place = (offset_), \
		   .len = (cd)->coll->block_size)
/* Records a message that a member was sent, or has sent. */
#define SLOT_TRACE_MESSAGE(coll_, kind_, op_, rank_, place_, len_)                 \
	COLL_TRACE(coll_, .kind = (kind_), .what = DDIO_OP_##op_, .rank = (rank_), \
		   .place = (place_), .len = (len_))
/* Copies the block's newer bytes from the cache. */
void slot_copy_cached(struct coll_slot *slot);
/* The disk has failed at a block of the file, or NULL: at all of it. */
void coll_fail_disk(struct coll_disk *cd, const struct coll_block *at, int err, const char *what);
/* The block of the disk does not match its checksum. */
void coll_fail_sum(struct coll_disk *cd, const struct coll_block *at);
/* A block that members sent has changed in memory before it was written. */
void coll_fail_proof(struct coll_disk *cd, const struct coll_block *at);
/* The block at hand was freed by somebody else. */
void coll_fail_gone(struct coll_slot *slot);

/* divide.c */
/* Fills in the parts of a block: 0 or -ENOMEM. */
int slot_divide(struct coll_slot *slot, const struct coll_block *block);
/* Returns true if its bytes follow one another in the block. */
static inline bool slot_part_contiguous(const struct coll_part *part)
{
	return part->end - part->first == part->len;
}

/* Returns the part of a rank, or NULL. */
struct coll_part *slot_part(struct coll_slot *slot, uint32_t rank);
/* Charges one member's part of a block as Memputs or Memgets. */
void coll_charge_part(struct coll *coll, enum ddio_work work, const struct coll_part *part);

/* share.c */
/* Returns true if the member copies its bytes of the disk's blocks by itself. */
bool slot_shares(const struct coll_slot *slot, uint32_t rank);
/* read: marks the parts that members copy by themselves, and counts them as owed. */
void slot_offer(struct coll_slot *slot);
/* Returns true if members were told of the block in the slot, or asked for it, and owe something. */
bool slot_waits(const struct coll_slot *slot);
/* The slot is given up: nobody may use buffers again that somebody may still write to. */
void slot_share_stop(const struct coll_slot *slot);

/* ask.c */
/* Asks for pieces where that is due; the questions go out with the turn. */
void coll_ask(struct coll_disk *cd);

/* tell.c */
/* Has the slot's members asked, or told, in this turn. */
void slot_tell(struct coll_slot *slot);
/* Sends each member one message for all the slots of this turn. */
void coll_ask_flush(struct coll *coll);

/* sweep.c */
/* Takes the disk's part of the collective into the sweep, if its list is sorted and moves by requests. */
void sweep_join(struct coll_disk *cd);
void sweep_leave(struct coll_disk *cd);
/*
 * Returns true if the next block may go to the disk, a read as it is taken, a write when its pieces are here; else the
 * collective gets a turn when it may.
 */
bool sweep_take(struct coll_disk *cd);
/* It goes: it lies at that sector, or nowhere. */
void sweep_taken(struct coll_disk *cd, uint64_t sector);
/* Something of the collective has left the disk. */
void sweep_moved(struct coll_disk *cd);
/* The collective's turn: slots that were held try again. */
void sweep_go_on(struct coll *coll);

/* feed.c */
/* Opens the disk's feed: 0 or -errno. */
int feed_open(struct coll_disk *cd, enum ddio_disk_op op, const struct ddio_disk_stream_ops *ops);
/* The feed has ended; from here on blocks move by requests. */
void feed_over(struct coll_disk *cd);

/* feed_read.c, feed_write.c: see slot_ops.feed */
int feed_read(struct coll_disk *cd);
int feed_write(struct coll_disk *cd);

/* scatter.c */
/* Returns true if blocks are on their way; then @rest is called when nothing more can be scattered. */
bool coll_scatter_begin(struct coll_disk *cd, void (*rest)(struct coll_disk *cd));
void coll_scatter_stop(struct coll_disk *cd);
void coll_scatter_free(struct coll_disk *cd);
/* Returns true if the disk has blocks that are scattered. */
bool coll_scatter_busy(const struct coll_disk *cd);
/* Returns true if a member has left the joint, and its connection has not said so yet. */
bool coll_scatter_orphaned(const struct coll_disk *cd);

#endif /* DDIO_COLL_SLOT_H */
