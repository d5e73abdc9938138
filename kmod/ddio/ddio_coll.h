/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collectives: lists, channels, flights, deliveries, joints.  ddio_priv.h says what the words mean,
 * what holds what and what runs where.
 */
#ifndef DDIO_COLL_H
#define DDIO_COLL_H

#include <linux/bio.h>
#include <linux/kthread.h>
#include <linux/llist.h>

#include "blocklist.h"
#include "ddio_priv.h"
#include "runs.h"

/*
 * ddio_list.c: a block list from the process, checked and sorted
 */
/**
 * struct ddio_span - a disk as a list sees it
 * @from: first byte of the disk that a block has
 * @to: one past the last
 * @bytes: size of the disk, like what follows as it was at the submission
 * @logical: logical sector, bytes
 * @align: alignment that memory must have, bytes
 */
struct ddio_span {
	u64 from;
	u64 to;
	u64 bytes;
	u32 logical;
	u32 align;
};

/**
 * struct ddio_block_list - what a collective is to do
 * @entry: channel by channel, each in the order in which it is to be moved
 * @nr: entries
 * @disk: one for each channel, in the order of first occurrence; references
 * @first: of each channel, its first entry; @first[@nr_disks] is @nr
 * @nr_disks: channels
 * @span: of each channel, its disk and the part of it that the blocks lie in
 * @pin: place: the buffers named; references
 * @nr_pins: entries of @pin
 * @longest: length of the longest block
 * @run: scatter: the runs, as submitted, checked
 * @nr_runs: entries of @run
 * @member: scatter: pin of each member named by a run, else NULL; references; by member's index
 * @nr_members: entries of @member
 * @sum: with DDIO_SUBMIT_SUMS: of each block by its index; else NULL
 * @charge: for all this
 */
struct ddio_block_list {
	struct ddio_entry *entry;
	u64 nr;
	struct ddio_kdisk **disk;
	u64 *first;
	struct ddio_span *span;
	u32 nr_disks;
	struct ddio_pin **pin;
	u32 nr_pins;
	u32 longest;
	struct ddio_run *run;
	u64 nr_runs;
	struct ddio_pin **member;
	u32 nr_members;
	u32 *sum;
	struct ddio_charge charge;
};

/* Fills @list; on failure of a block, @arg->out_block tells which and the list is empty. */
int ddio_list_take(struct ddio_ctx *ctx, struct ddio_submit *arg, struct ddio_block_list *list);
void ddio_list_drop(struct ddio_block_list *list);

/*
 * ddio_coll.c: a collective's life, up to its end
 */
/**
 * struct ddio_coll - a collective
 * @obj: id, references: the id's, one of each channel that has not ended, of waiters
 * @ctx: reference
 * @list: what to do; empty once it has ended
 * @nr_blocks: of the list
 * @op: as submitted
 * @delivery: as submitted
 * @flags: as submitted
 * @depth: as submitted, or the default
 * @user_data: as submitted
 * @ops: of the delivery
 * @chan: one for each disk
 * @nr_chans: how many
 * @running: channels that have not ended
 * @stop: 0, or the error that keeps further blocks from being begun; set once
 * @lock: @error to @bytes, and @ended with the last event
 * @error: status of the first block that failed
 * @error_block: its index
 * @ok_blocks: that ended without error
 * @bytes: of these
 * @status: of each block by its index; 0 until it fails
 * @charge: for @status and @chan
 * @ended: everything is over; see ddio_coll_ended()
 * @wait: woken when it has ended
 * @waited: 0 until it counts in ctx->ended, 1 while it does, 2 once somebody has learned of the end
 * @reserved: events reserved in the ring
 * @first_slot: stream: of the ring
 * @nr_slots: stream: from there on
 * @slots_taken: stream: they are not given back yet
 * @slot_pin: stream: reference; where the slots are
 * @slot_offset: stream: of the first
 * @slot_length: stream: of each
 * @joint: scatter: reference
 * @joint_link: scatter: in joint->colls
 * @begun_ns: for the trace
 * @css: control group of the task that submitted; its transfers count for it; a reference, until
 *	the collective has ended
 * @ioprio: the I/O priority of that task
 */
struct ddio_coll {
	struct ddio_obj obj;
	struct ddio_ctx *ctx;
	struct ddio_block_list list;
	u64 nr_blocks;
	u32 op;
	u32 delivery;
	u32 flags;
	u32 depth;
	u64 user_data;
	const struct ddio_delivery *ops;
	struct ddio_chan *chan;
	u32 nr_chans;
	atomic_t running;
	int stop;
	spinlock_t lock;
	int error;
	u64 error_block;
	u64 ok_blocks;
	u64 bytes;
	s32 *status;
	struct ddio_charge charge;
	bool ended;
	wait_queue_head_t wait;
	atomic_t waited;
	u64 reserved;
	u32 first_slot;
	u32 nr_slots;
	bool slots_taken;
	struct ddio_pin *slot_pin;
	u64 slot_offset;
	u32 slot_length;
	struct ddio_kjoint *joint;
	struct list_head joint_link;
	u64 begun_ns;
	struct cgroup_subsys_state *css;
	u16 ioprio;
};

static inline struct ddio_coll *ddio_coll_of(struct ddio_obj *obj)
{
	return container_of(obj, struct ddio_coll, obj);
}

/* Returns true if the collective's last event is DDIO_EVENT_DONE. */
static inline bool ddio_coll_posts_done(const struct ddio_coll *coll)
{
	return coll->delivery == DDIO_STREAM || coll->flags & DDIO_SUBMIT_EVENTS;
}

/* Returns a collective with one reference, without a list or channels; NULL: no memory. */
struct ddio_coll *ddio_coll_new(struct ddio_ctx *ctx, const struct ddio_submit *arg,
				const struct ddio_delivery *ops);
/*
 * No further block begins; @error is -ECANCELED, -EOWNERDEAD, -ENOBUFS or a block's.  Any context
 * that may take spinlocks.
 */
void ddio_coll_stop(struct ddio_coll *coll, int error);
/* From a channel's work: a block has ended with @status. */
void ddio_coll_block_done(struct ddio_coll *coll, const struct ddio_entry *entry, int status);
/* The same for a block that was never begun. */
void ddio_coll_block_canceled(struct ddio_coll *coll, const struct ddio_entry *entry, int status);
/* From a channel's work: something other than a block failed. */
void ddio_coll_fail(struct ddio_coll *coll, int error);
/* From a channel's work, last of all: the channel and perhaps the collective is gone afterwards. */
void ddio_coll_chan_ended(struct ddio_coll *coll);
/* Returns true if everything is over and the last event posted. */
bool ddio_coll_ended(struct ddio_coll *coll);
/* Somebody has learned of the end. */
void ddio_coll_learned(struct ddio_coll *coll);
/* Takes the id away. */
void ddio_coll_forget(struct ddio_coll *coll);

/*
 * ddio_submit.c
 */
/* ioctl(DDIO_SUBMIT), ioctl(DDIO_WAIT), ioctl(DDIO_CANCEL) */
int ddio_coll_submit(struct ddio_ctx *ctx, struct ddio_submit *arg, struct ddio_reply *reply);
int ddio_coll_wait(struct ddio_ctx *ctx, struct ddio_wait *arg);
int ddio_coll_cancel(struct ddio_ctx *ctx, u32 id);

/*
 * ddio_chan.c: a disk's share of a collective; ddio_flight.c: its flights
 */
enum ddio_flight_state {
	DDIO_FLIGHT_FREE,     /* nobody's: the channel may begin something with it */
	DDIO_FLIGHT_FILLING,  /* bios read into its memory, or the process or the module fills it */
	DDIO_FLIGHT_READY,    /* full: to be handed over, or to be written */
	DDIO_FLIGHT_DRAINING, /* the process or the module empties it, or bios write from it */
};

/**
 * struct ddio_cursor - how far the copying of a block is
 * @window: the part of the block, by its first byte
 * @run: the block's run
 * @at: bytes of that run, cut to the window, that have been copied
 * @summed: bytes of the block that @sum is of
 * @sum: CRC-32C
 * @begun: it is the flight's block that this is about
 */
struct ddio_cursor {
	u32 window;
	u32 run;
	u32 at;
	u32 summed;
	u32 sum;
	bool begun;
};

/**
 * struct ddio_flight - one transfer, and the memory it goes through
 * @node: in chan->landed
 * @chan: its channel
 * @state: changed only by ddio_flight_set(), which warns if the new state may not follow
 * @slot: 0 to depth - 1
 * @first: the first entry it carries
 * @nr: entries it carries
 * @retry: place: one past the last entry that is to be tried again by itself, or 0
 * @retry_error: place: why these are tried again
 * @bios: bios in the air, and one for the submitter while it submits
 * @error: of the first bio that failed
 * @bounce: scatter: the bounce buffer
 * @link: scatter: in chan->copying
 * @copied: scatter: what of the block has been copied
 * @bio: the first and mostly the only one
 * @vec: its vectors, chan->nr_vecs of them
 */
struct ddio_flight {
	struct llist_node node;
	struct ddio_chan *chan;
	enum ddio_flight_state state;
	u32 slot;
	u64 first;
	u32 nr;
	u64 retry;
	int retry_error;
	atomic_t bios;
	int error;
	void *bounce;
	struct list_head link;
	struct ddio_cursor copied;
	struct bio bio;
	struct bio_vec *vec;
};

enum ddio_chan_phase {
	DDIO_CHAN_NEW,
	DDIO_CHAN_MOVING,
	DDIO_CHAN_FLUSHING,
	DDIO_CHAN_FLUSHED,
};

/**
 * struct ddio_chan - one disk in one collective
 * @coll: its collective; a reference until the channel has ended
 * @disk: the list's
 * @work: runs ddio_chan_work(), in the disk's thread
 * @run: 0, or why @work runs or is to run again: flights that have landed, DDIO_CHAN_POKED,
 *	DDIO_CHAN_BUSY.  A flight's end of I/O counts itself here after it has put the flight
 *	on @landed, and touches nothing afterwards; the channel does not end before all
 *	are counted.
 * @landed: flights whose bios have ended
 * @next: the next entry to begin
 * @end: one past the last
 * @copying: scatter: flights whose blocks are being copied, or are to be; the first one is under
 *	way
 * @in_air: flights that were submitted and not yet counted as landed
 * @held: flights that are the process's (streams)
 * @phase: how far the channel is
 * @asleep: streams: the slots' words say so
 * @index: of the disk in the list
 * @logical: sector of the disk, bytes
 * @charge: for flights, vectors and bounce buffers
 * @nr_vecs: vectors that each flight has
 * @transfer_max: place: longest transfer of several blocks, bytes
 * @free: bit n: flight n is free
 * @blocks: ended without error since they were last added to the counts of collective and context
 * @bytes: the same
 * @bios: the same
 * @merged: the same
 * @works: the same
 * @flight: as many as the depth
 * @vec: their vectors
 */
struct ddio_chan {
	struct ddio_coll *coll;
	struct ddio_kdisk *disk;
	struct kthread_work work;
	atomic_t run;
	struct llist_head landed;
	u64 next;
	u64 end;
	struct list_head copying;
	u32 in_air;
	u32 held;
	enum ddio_chan_phase phase;
	bool asleep;
	u32 index;
	u32 logical;
	struct ddio_charge charge;
	u32 nr_vecs;
	u32 transfer_max;
	u64 free;
	u64 blocks;
	u64 bytes;
	u64 bios;
	u64 merged;
	u64 works;
	struct ddio_flight *flight;
	struct bio_vec *vec;
};

#define DDIO_CHAN_FLIGHTS 0xffff
#define DDIO_CHAN_POKED BIT(16)
#define DDIO_CHAN_BUSY BIT(17)

/**
 * struct ddio_delivery - what tells place, stream and scatter apart
 * @setup: checks and takes what the submission names beyond the list; nothing runs yet.  Called
 *	without locks.  From then on ddio_coll_stop() may come at any time, even before the
 *	channels run.
 * @teardown: gives that back; also after a failed @setup, or without one
 * @ended: called by the last channel, once, when the collective's error is known and before anybody
 *	is told; gives back what others may use again before the collective is destroyed.  NULL:
 *	nothing.
 * @chan_setup: memory for a channel's flights; may be NULL
 * @chan_teardown: gives that back; also after a failed @chan_setup; may be NULL
 * @begin: begins as much as it can, while chan->next < chan->end and no stop: takes entries off
 *	chan->next, gives their flights memory, submits them by ddio_flight_submit()
 * @landed: a flight's transfer has ended with flight->error: delivers; either frees the
 *	flight (state FREE) or hands it to the process; reports each entry by
 *	ddio_coll_block_done()
 * @copy: copies some of what is to be copied, a bounded part; returns true if there is more.  NULL:
 *	nothing is copied.
 * @idle: returns true if the channel may end.  Called when nothing is in the air and nothing is
 *	left to begin (or stop is set).  Also takes back what the process holds.  NULL: it may.
 *
 * All but the first two are called from the channel's work only (or before it first runs).
 */
struct ddio_delivery {
	int (*setup)(struct ddio_coll *coll, struct ddio_submit *arg);
	void (*teardown)(struct ddio_coll *coll);
	void (*ended)(struct ddio_coll *coll);
	int (*chan_setup)(struct ddio_chan *chan);
	void (*chan_teardown)(struct ddio_chan *chan);
	void (*begin)(struct ddio_chan *chan);
	void (*landed)(struct ddio_flight *flight);
	bool (*copy)(struct ddio_chan *chan);
	bool (*idle)(struct ddio_chan *chan);
};

extern const struct ddio_delivery ddio_place, ddio_stream, ddio_scatter, ddio_flush;

void ddio_chan_init(struct ddio_chan *chan, struct ddio_coll *coll, u32 index);
/*
 * Runs the work for the first time: in the disk's thread; or, if @here and the page cache has
 * nothing dirty of the disk, now and in the caller's context until there is nothing to do, a signal
 * comes or @deadline passes.
 */
void ddio_chan_start(struct ddio_chan *chan, bool here, u64 deadline);
/*
 * The work runs in the disk's thread; the caller has found chan->run zero, or is the work.  Any
 * context.
 */
static inline void ddio_chan_queue(struct ddio_chan *chan)
{
	kthread_queue_work(chan->disk->worker, &chan->work);
}

/* Makes the work run, soon and once more if it is running.  Any context. */
static inline void ddio_chan_poke(struct ddio_chan *chan)
{
	if (!atomic_fetch_or(DDIO_CHAN_POKED, &chan->run))
		ddio_chan_queue(chan);
}

/*
 * The same; but if the work does not run already, it runs now, for a few rounds, in the caller's
 * context: no other thread needs to be woken.  Process context, no locks; the caller holds
 * @chan->coll.
 */
void ddio_chan_poke_here(struct ddio_chan *chan);
static inline bool ddio_chan_stopped(const struct ddio_chan *chan)
{
	return READ_ONCE(chan->coll->stop);
}

/* Returns the status of blocks that are not begun because the collective is stopped. */
static inline int ddio_chan_stop_status(const struct ddio_chan *chan)
{
	return READ_ONCE(chan->coll->stop) == -EOWNERDEAD ? -EOWNERDEAD : -ECANCELED;
}

int ddio_flights_make(struct ddio_chan *chan);
void ddio_flights_drop(struct ddio_chan *chan);
/* Returns a free flight, or NULL. */
struct ddio_flight *ddio_chan_flight(struct ddio_chan *chan);
void ddio_flight_set(struct ddio_flight *flight, enum ddio_flight_state state);
/*
 * The memory of a transfer, piece by piece: fills in @bv with the piece at @offset of the
 * transfer, of at most @length bytes.  Returns its length.
 */
typedef u32 (*ddio_memory_fn)(const struct ddio_flight *flight, u64 offset, u32 length,
			      struct bio_vec *bv);
/*
 * Submits @flight: @length bytes at @offset of the disk.  Never fails: an error lands like one of
 * the disk's.  The flight is in the air until it lands on chan->landed.
 */
void ddio_flight_submit(struct ddio_flight *flight, u64 offset, u64 length, ddio_memory_fn memory);
/* The same for a flush of the disk's cache. */
void ddio_flight_flush(struct ddio_flight *flight);
int ddio_bio_init(void);
void ddio_bio_exit(void);

/*
 * ddio_stream.c
 */
/* ioctl(DDIO_KICK) */
int ddio_stream_kick(struct ddio_ctx *ctx, const struct ddio_kick *arg);

/*
 * ddio_joint.c: joints and their members; ddio_copy.c: runs
 */
/**
 * struct ddio_kjoint - memory of several processes
 * @ref: of its file, of each membership, of each collective
 * @lock: @member, @colls, @ended, @error
 * @owner: of the context that made it: contexts of the same process submit over it, and no
 *	others; a reference
 * @nr_members: how many may join
 * @member: their pins, NULL where none has joined
 * @charge: for @member
 * @colls: collectives under way
 * @ended: how many have ended
 * @error: that of the last one
 * @wait: woken when one ends
 */
struct ddio_kjoint {
	struct kref ref;
	struct mutex lock;
	struct mm_struct *owner;
	u32 nr_members;
	struct ddio_pin **member;
	struct ddio_charge charge;
	struct list_head colls;
	u64 ended;
	int error;
	wait_queue_head_t wait;
};

/*
 * ioctl(DDIO_JOINT_CREATE): reserves @arg->out_fd and makes its *@file.  The caller copies @arg out
 * and then calls fd_install(); or, where that fails, put_unused_fd() and fput().
 */
int ddio_joint_create(struct ddio_ctx *ctx, struct ddio_joint_create *arg, struct file **file);
/* Returns the joint behind a descriptor, with a reference, or an ERR_PTR(). */
struct ddio_kjoint *ddio_joint_from_fd(int fd);
void ddio_joint_put(struct ddio_kjoint *joint);
/*
 * Makes @list->member, puts a reference there of the pin of each member that a block's run names
 * and that has joined, and lists @coll among those under way.
 */
int ddio_joint_begin(struct ddio_kjoint *joint, struct ddio_coll *coll);
/* The collective is no longer under way; ddio_joint_end() also counts it as ended. */
void ddio_joint_leave(struct ddio_kjoint *joint, struct ddio_coll *coll);
void ddio_joint_end(struct ddio_kjoint *joint, struct ddio_coll *coll);

/*
 * Runs are in kmod/shared/runs.h: ddio_list_take() copies them in, checks that each block's lie in
 * @nr_runs and that all blocks' together are at most DDIO_RUNS_MAX (-EOVERFLOW), and calls
 * ddio_run_check() for each; the setup of ddio_scatter checks their members.
 */
/*
 * From a channel's work: goes on with the copying between the flight's bounce buffer and the
 * memory of the members, until about *@budget bytes are spent.  Returns 0 when the block has been
 * copied, -EAGAIN if there is more, -ECANCELED if the collective is stopped or a member has left,
 * -EBADMSG with nothing copied if the block is not what its sum is of.
 */
int ddio_copy_some(struct ddio_flight *flight, u32 *budget);

#endif /* DDIO_COLL_H */
