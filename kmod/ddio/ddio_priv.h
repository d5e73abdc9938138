/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio.ko inside: the objects, who owns what, and what may run when.
 *
 * A *context* is an open file.  It names disks, buffers and collectives by id.
 * A *collective* is one block list under way.  It has a *channel* for each disk in
 * its list; a channel has *flights*, as many as the depth: each is one transfer, of
 * one block or, placed, of several neighbours, in one or several bios.
 *
 * Where things run:
 *  - ioctls, in the caller's context, under ctx->lock where they look up or change ids
 *    and never across a wait;
 *  - ddio_chan_work(), on the module's workqueue: the only place that begins
 *    flights, delivers blocks and ends channels.  One channel's work never runs
 *    twice at a time, so what only it touches needs no lock;
 *  - ddio_flight_end_io(), in whatever context a bio ends, interrupts included: puts
 *    the flight on chan->landed and makes the work run.  Nothing else.
 *
 * References:
 *  - a collective holds its disks, its pins, its joint's members until its last channel
 *    ends, and lets them go before it says so (who has learned of the end may destroy
 *    them at once); its context, until it is freed; a channel that has not ended holds
 *    its collective; so bios never outlive the memory they write to, whoever dies or
 *    closes what;
 *  - the context's file holds the context.  On its release all collectives are
 *    cancelled and their ids dropped; what is in flight ends by itself;
 *  - a context holds the module.  ddio_exit() then destroys the workqueue and waits for RCU,
 *    since the last reference may be dropped by code of the module's own.
 *
 * Locks, outermost first: joint->lock, ctx->lock, coll->lock, ring->lock.  The last
 * two are spinlocks taken in process context only.  The last reference of a collective
 * is not dropped under ctx->lock.
 */
#ifndef DDIO_PRIV_H
#define DDIO_PRIV_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/ddio.h>

#include "blocklist.h"
#include "compat.h"
#include "runs.h"

struct ddio_coll;
struct ddio_chan;
struct ddio_ctx;

/* For memory whose length the process chooses: fails rather than having somebody killed. */
#define DDIO_GFP_LONG (GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/*
 * ddio_ctx.c: contexts and ids
 */
enum ddio_obj_type { DDIO_OBJ_DISK = 1, DDIO_OBJ_BUFFER, DDIO_OBJ_COLL };

/**
 * struct ddio_obj - what has an id; embedded first in disks, pins and collectives
 * @ref: one of the id's, one of each user's; freed by the type's function
 * @type: which
 * @id: in the context, or 0
 */
struct ddio_obj {
	struct kref ref;
	enum ddio_obj_type type;
	u32 id;
};

/**
 * struct ddio_ctx_stats - what a context has done; shown in debugfs
 */
struct ddio_ctx_stats {
	atomic64_t collectives;
	atomic64_t blocks;
	atomic64_t read_bytes;
	atomic64_t write_bytes;
	atomic64_t bios;
	atomic64_t merged;	/* blocks that shared a flight with the one before */
	atomic64_t errors;	/* blocks that failed */
	atomic64_t events;
	atomic64_t kicks;
	atomic64_t works;	/* runs of ddio_chan_work() */
	atomic64_t asleep;	/* times a stream's channel found no slot of its own */
	atomic64_t scattered_bytes;
};

/**
 * struct ddio_ctx - an open /dev/ddio
 * @ref: the file's, and one of each collective
 * @lock: @objs, @dead, making @ring
 * @link: in the list of all contexts, of ddio_debugfs.c
 * @objs: id to struct ddio_obj
 * @next_id: where the search for a free id goes on, so that ids are not reused soon
 * @nr_disks: disks in @objs
 * @ring: NULL until set up; then never changes
 * @wait: woken when a collective ends and when events are posted
 * @ended: collectives that post no DDIO_EVENT_DONE, have an id, ended, and were not waited for yet;
 *	the file polls readable while there are any, or unread events
 * @dead: the file is closed
 * @stats: counters
 * @serial: number for debugfs
 * @pid: of the process that opened it, for debugfs
 * @debugfs: directory
 */
struct ddio_ctx {
	struct kref ref;
	struct mutex lock;
	struct list_head link;
	struct xarray objs;
	u32 next_id;
	u32 nr_disks;
	struct ddio_kring *ring;
	wait_queue_head_t wait;
	atomic_t ended;
	bool dead;
	struct ddio_ctx_stats stats;
	u64 serial;
	pid_t pid;
	struct dentry *debugfs;
};

struct ddio_ctx *ddio_ctx_new(void);
/* The file is closed: cancels every collective, drops every id. */
void ddio_ctx_close(struct ddio_ctx *ctx);
void ddio_ctx_get(struct ddio_ctx *ctx);
void ddio_ctx_put(struct ddio_ctx *ctx);
/* Gives @obj an id; takes over the caller's reference.  ctx->lock is held. */
int ddio_ctx_add(struct ddio_ctx *ctx, struct ddio_obj *obj);
/* Looks up and takes a reference; NULL if there is none of that type.  ctx->lock is held. */
struct ddio_obj *ddio_ctx_get_obj(struct ddio_ctx *ctx, enum ddio_obj_type type, u32 id);
/*
 * Takes the id away, if @obj still has it, and drops its reference; the caller has another.
 * ctx->lock is held.
 */
void ddio_ctx_remove(struct ddio_ctx *ctx, struct ddio_obj *obj);
/* By type. */
void ddio_obj_put(struct ddio_obj *obj);
/* ioctl(DDIO_DESTROY) */
int ddio_ctx_destroy(struct ddio_ctx *ctx, u32 id);

/*
 * ddio_ioctl.c: dispatch by a table, which has checked the size, flags without meaning and
 * reserved members before it calls, and copies the struct back when that returns 0;
 * ddio_main.c: the misc device, init and exit
 */
long ddio_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long ddio_joint_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long ddio_member_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
extern struct workqueue_struct *ddio_wq;

/**
 * struct ddio_live - what there is now, of all contexts; shown in debugfs, where tests see leaks
 *
 * Who makes a thing counts it, and who frees it does so last of all.
 */
struct ddio_live {
	atomic64_t contexts;
	atomic64_t disks;
	atomic64_t pins;
	atomic64_t pinned_pages;
	atomic64_t rings;
	atomic64_t collectives;
	atomic64_t joints;
	atomic64_t memberships;
};

extern struct ddio_live ddio_live;

/*
 * ddio_disk.c
 */
/**
 * struct ddio_disk - a block device in a context
 * @file: what the caller's descriptor referred to; keeps the device open
 * @bdev: its device
 * @access: DDIO_ACCESS_*
 * @logical: logical sector, bytes
 * @align: alignment that memory must have, bytes
 */
struct ddio_disk {
	struct ddio_obj obj;
	struct file *file;
	struct block_device *bdev;
	u32 access;
	u32 logical;
	u32 align;
};

int ddio_disk_add(struct ddio_ctx *ctx, struct ddio_disk_add *arg);
void ddio_disk_free(struct ddio_disk *disk);
/*
 * Makes what the page cache holds of a range agree with the disk: writes it out before
 * it is read past the cache; and, @writing, throws it away, before and after.
 */
int ddio_disk_sync_cache(struct ddio_disk *disk, u64 from, u64 to, bool writing);

/*
 * ddio_pin.c: pinned memory
 */
/**
 * struct ddio_pin - pinned memory of a process: a buffer, or a member's
 * @mm: whose; its pinned_vm counts @nr_pages
 * @piece: first page of each piece; pieces are of 1 << @shift bytes, but the
 *	first begins and the last ends within
 * @nr_pieces: entries of @piece
 * @shift: of the piece length
 * @first: offset of the memory's first byte in the first piece
 * @length: bytes
 * @nr_pages: pages pinned
 * @writable: the device and the module may write to it
 * @dirty: they did, so the pages are to be marked
 * @vaddr: the kernel's mapping of the memory's first byte, or NULL; see ddio_pin_map()
 */
struct ddio_pin {
	struct ddio_obj obj;
	struct mm_struct *mm;
	struct page **piece;
	u64 nr_pieces;
	u32 shift;
	u32 first;
	u64 length;
	u64 nr_pages;
	bool writable;
	bool dirty;
	void *vaddr;
};

/* Pins memory of the current process. */
struct ddio_pin *ddio_pin_new(u64 address, u64 length, bool writable);
void ddio_pin_free(struct ddio_pin *pin);
/* The physically contiguous piece at @offset: its length, at most @length, is returned. */
u32 ddio_pin_at(const struct ddio_pin *pin, u64 offset, u32 length, struct bio_vec *bv);
/* Maps all of it for the module's own copying; undone by ddio_pin_free(). */
int ddio_pin_map(struct ddio_pin *pin);
/* ioctl(DDIO_BUFFER_ADD) */
int ddio_buffer_add(struct ddio_ctx *ctx, struct ddio_buffer_add *arg);

/*
 * ddio_ring.c: what is mapped into the process
 */
/**
 * struct ddio_kring - the module's side of the ring
 * @lock: @tail, @loose, @reserved, @slot_map
 * @shared: the memory; nothing in it is believed
 * @length: bytes of it
 * @tail: events posted
 * @loose: what @tail was when a reservation was last given back
 * @nr_events: room for events
 * @nr_slots: slots
 * @reserved: events that running collectives may still post
 * @slot_map: slots that are a stream's
 */
struct ddio_kring {
	spinlock_t lock;
	struct ddio_ring *shared;
	size_t length;
	u32 tail;
	u32 loose;
	u32 nr_events;
	u32 nr_slots;
	u32 reserved;
	unsigned long *slot_map;
};

int ddio_ring_setup(struct ddio_ctx *ctx, struct ddio_ring_setup *arg);
void ddio_ring_free(struct ddio_kring *ring);
int ddio_ring_mmap(struct ddio_ctx *ctx, struct vm_area_struct *vma);
/* 0, or -EBUSY without room: a collective reserves all the events it may ever have unread. */
int ddio_ring_reserve(struct ddio_kring *ring, u64 events);
void ddio_ring_unreserve(struct ddio_kring *ring, u64 events);
/* First of @n free slots in a row, or -EBUSY. */
int ddio_ring_slots_get(struct ddio_kring *ring, u32 n, u32 *first);
void ddio_ring_slots_put(struct ddio_kring *ring, u32 first, u32 n);
/*
 * -ENOBUFS, with nothing posted, if the process has not consumed what it should have.  In either
 * case @unreserve of what was reserved ends with it: who sees a collective's last event
 * finds its room free.
 */
int ddio_ring_post(struct ddio_ctx *ctx, const struct ddio_event *event, u64 unreserve);
bool ddio_ring_readable(const struct ddio_kring *ring);
struct ddio_slot *ddio_ring_slot(const struct ddio_kring *ring, u32 slot);

/*
 * ddio_list.c: a block list from the process, checked and sorted
 */
/* Bytes of a disk, [@from, @to). */
struct ddio_span {
	u64 from;
	u64 to;
};

/**
 * struct ddio_list - what a collective is to do
 * @entry: channel by channel, each in the order in which it is to be moved
 * @nr: entries
 * @disk: one for each channel, in the order of first occurrence; references
 * @first: of each channel, its first entry; @first[@nr_disks] is @nr
 * @nr_disks: channels
 * @span: of each channel, the part of the disk that its blocks lie in
 * @pin: place: the buffers named; references
 * @nr_pins: entries of @pin
 * @longest: length of the longest block
 * @run: scatter: the runs, as submitted, checked
 * @nr_runs: entries of @run
 * @member: scatter: pin of each member named by a run, else NULL; references; by member's index
 * @nr_members: entries of @member
 */
struct ddio_list {
	struct ddio_entry *entry;
	u64 nr;
	struct ddio_disk **disk;
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
};

/* Fills @list; on failure of a block, @arg->out_block tells which and the list is empty. */
int ddio_list_take(struct ddio_ctx *ctx, struct ddio_submit *arg, struct ddio_list *list);
void ddio_list_drop(struct ddio_list *list);

/*
 * ddio_coll.c: a collective's life: submit, wait, cancel, end
 */
/**
 * struct ddio_coll - a collective
 * @obj: id, references: the id's, one of each channel that has not ended, of waiters
 * @ctx: reference
 * @list: what to do; empty once it has ended
 * @nr_blocks: of the list
 * @op, @delivery, @flags, @depth, @user_data: as submitted
 * @ops: of the delivery
 * @chan: one for each disk
 * @nr_chans: how many
 * @running: channels that have not ended
 * @stop: 0, or the error that keeps further blocks from being begun; set once
 * @lock: @error to @bytes, and @ended with the last event
 * @error: status of the block that failed first
 * @error_block: its index
 * @ok_blocks, @bytes: that ended without error
 * @status: of each block by its index; 0 until it fails
 * @ended: everything is over; see ddio_coll_ended()
 * @wait: woken when it has ended
 * @waited: 0 until it counts in ctx->ended, 1 while it does, 2 when somebody has learned of the end
 * @reserved: events reserved in the ring
 * @first_slot: stream: of the ring
 * @nr_slots: stream: from there on
 * @slots_taken: stream: they are not given back yet
 * @slot_pin: stream: reference; where the slots are
 * @slot_offset, @slot_length: stream
 * @joint: scatter: reference
 * @joint_link: scatter: in joint->colls
 * @begun_ns: for the trace
 * @css: the submitter's control group, which its transfers count for; a reference
 * @ioprio: his I/O priority
 */
struct ddio_coll {
	struct ddio_obj obj;
	struct ddio_ctx *ctx;
	struct ddio_list list;
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
	struct ddio_joint *joint;
	struct list_head joint_link;
	u64 begun_ns;
	struct cgroup_subsys_state *css;
	u16 ioprio;
};

/* ioctl(DDIO_SUBMIT), ioctl(DDIO_WAIT), ioctl(DDIO_CANCEL) */
int ddio_coll_submit(struct ddio_ctx *ctx, struct ddio_submit *arg);
int ddio_coll_wait(struct ddio_ctx *ctx, struct ddio_wait *arg);
int ddio_coll_cancel(struct ddio_ctx *ctx, u32 id);
/*
 * No further block begins; @error is -ECANCELED, -EOWNERDEAD, -ENOBUFS or a block's.  Any context
 * that may take spinlocks.
 */
void ddio_coll_stop(struct ddio_coll *coll, int error);
/* From a channel's work: a block has ended. */
void ddio_coll_block_done(struct ddio_coll *coll, const struct ddio_entry *entry, int status);
/* The same of one that was never begun. */
void ddio_coll_block_canceled(struct ddio_coll *coll, const struct ddio_entry *entry, int status);
/* From a channel's work: something failed that is not a block. */
void ddio_coll_fail(struct ddio_coll *coll, int error);
/* From a channel's work, last of all: the channel and perhaps the collective is gone afterwards. */
void ddio_coll_chan_ended(struct ddio_coll *coll);
/* Everything is over, and the last event posted. */
bool ddio_coll_ended(struct ddio_coll *coll);
void ddio_coll_free(struct ddio_coll *coll);

/*
 * ddio_chan.c: a disk's share of a collective; ddio_bio.c: its flights
 */
enum ddio_flight_state {
	DDIO_FLIGHT_FREE,     /* nobody's: the channel may begin something with it */
	DDIO_FLIGHT_FILLING,  /* bios read into its memory, or the process or the module fills it */
	DDIO_FLIGHT_READY,    /* full: to be handed over, or to be written */
	DDIO_FLIGHT_DRAINING, /* the process or the module empties it, or bios write from it */
};

/**
 * struct ddio_flight - one transfer, and the memory it goes through
 * @node: in chan->landed
 * @chan: whose
 * @state: changed by ddio_flight_set() only, which warns of what may not follow
 * @slot: 0 to depth - 1
 * @first: the first entry it carries
 * @nr: entries it carries
 * @retry: place: one past the last entry that is to be tried again by itself, or 0
 * @retry_error: place: why these are tried again
 * @bios: bios in the air, and one for who submits them
 * @error: of the first bio that failed
 * @bounce: scatter: the bounce buffer
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
 * @coll: whose; a reference until it has ended
 * @disk: the list's
 * @work: runs ddio_chan_work()
 * @run: 0, or why @work runs or is to run again: flights that have landed, DDIO_CHAN_POKED,
 *	DDIO_CHAN_BUSY.  A flight's end of I/O counts itself here after it has put the flight
 *	on @landed, and touches nothing afterwards; the channel does not end before all
 *	are counted.
 * @landed: flights whose bios have ended
 * @next: the next entry to begin
 * @end: one past the last
 * @in_air: flights that were submitted and not yet counted as landed
 * @held: flights that are the process's (streams)
 * @phase: how far it is
 * @asleep: streams: the slots' words say so
 * @index: of the disk in the list
 * @nr_vecs: vectors that each flight has
 * @transfer_max: place: longest transfer of several blocks, bytes
 * @free: bit n: flight n is free
 * @blocks, @bytes, @bios, @merged, @works: since they were last added to the collective's and
 *	the context's
 * @flight: as many as the depth
 * @vec: their vectors
 */
struct ddio_chan {
	struct ddio_coll *coll;
	struct ddio_disk *disk;
	struct work_struct work;
	atomic_t run;
	struct llist_head landed;
	u64 next;
	u64 end;
	u32 in_air;
	u32 held;
	enum ddio_chan_phase phase;
	bool asleep;
	u32 index;
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
 *	without locks.  From then on ddio_coll_stop() may come at any time, before the channels
 *	run too.
 * @teardown: gives it back; also after a failed @setup, or without one
 * @ended: by the last channel, once, when the collective's error is known and before anybody is
 *	told; gives back what others may use again before the collective is destroyed.  NULL:
 *	nothing.
 * @chan_setup: memory for a channel's flights; may be NULL
 * @chan_teardown: gives it back; also after a failed @chan_setup; may be NULL
 * @begin: begins as much as it can, while chan->next < chan->end and no stop: takes entries off
 *	chan->next, gives their flights memory, submits them by ddio_flight_submit()
 * @landed: a flight's transfer has ended with flight->error: delivers; either frees the
 *	flight (state FREE) or hands it to the process; reports each entry by
 *	ddio_coll_block_done()
 * @idle: may the channel end, given that nothing is in the air and (there is nothing left to begin
 *	or stop is set)?  Also takes back what the process holds.  NULL: yes.
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
	bool (*idle)(struct ddio_chan *chan);
};

extern const struct ddio_delivery ddio_place, ddio_stream, ddio_scatter, ddio_flush;

void ddio_chan_init(struct ddio_chan *chan, struct ddio_coll *coll, u32 index);
int ddio_chan_setup(struct ddio_chan *chan);
void ddio_chan_fini(struct ddio_chan *chan);
/*
 * The work runs for the first time: on the workqueue; or, if @here, now and in the caller's context
 * until there is nothing to do or a signal or @deadline comes.
 */
void ddio_chan_start(struct ddio_chan *chan, bool here, u64 deadline);
/* Makes the work run, soon and once more if it is running.  Any context. */
void ddio_chan_poke(struct ddio_chan *chan);
/*
 * The same, but if it does not run already, it runs now, for a few rounds, in the caller's context:
 * no other thread needs to be woken.  Process context, no locks; the caller holds @chan->coll.
 */
void ddio_chan_poke_here(struct ddio_chan *chan);
/* The same for a flight that is on @chan->landed now; @chan may be gone afterwards. */
void ddio_chan_count(struct ddio_chan *chan);
/* A free flight, or NULL. */
struct ddio_flight *ddio_chan_flight(struct ddio_chan *chan);
static inline bool ddio_chan_stopped(const struct ddio_chan *chan)
{
	return READ_ONCE(chan->coll->stop);
}

/* The status of blocks that are not begun because of that. */
static inline int ddio_chan_stop_status(const struct ddio_chan *chan)
{
	return READ_ONCE(chan->coll->stop) == -EOWNERDEAD ? -EOWNERDEAD : -ECANCELED;
}

void ddio_flight_set(struct ddio_flight *flight, enum ddio_flight_state state);
/*
 * The memory of a transfer, piece by piece: fills in @bv with the piece at @offset of the
 * transfer, of at most @length bytes, and returns its length.
 */
typedef u32 (*ddio_memory_fn)(const struct ddio_flight *flight, u64 offset, u32 length,
			      struct bio_vec *bv);
/*
 * Sends off @flight: @length bytes at @offset of the disk.  Never fails: an error lands like one of
 * the disk's.  In the air until it lands on chan->landed.
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
 * struct ddio_joint - memory of several processes
 * @ref: of its file, of each membership, of each collective
 * @lock: @member, @colls, @ended, @error
 * @nr_members: how many may join
 * @member: their pins, NULL where none has joined
 * @colls: collectives under way
 * @ended: how many have ended
 * @error: that of the last
 * @wait: woken when one ends
 */
struct ddio_joint {
	struct kref ref;
	struct mutex lock;
	u32 nr_members;
	struct ddio_pin **member;
	struct list_head colls;
	u64 ended;
	int error;
	wait_queue_head_t wait;
};

/*
 * ioctl(DDIO_JOINT_CREATE), ioctl(DDIO_JOINT_JOIN): @arg->out_fd is reserved and its *@file made.
 * The caller copies @arg out and then calls fd_install(); or, where that fails, put_unused_fd() and
 * fput().
 */
int ddio_joint_create(struct ddio_ctx *ctx, struct ddio_joint_create *arg, struct file **file);
int ddio_joint_join(struct ddio_joint *joint, struct ddio_joint_join *arg, struct file **file);
struct ddio_member;
/* ioctl(DDIO_JOINT_WAIT) */
int ddio_member_wait(struct ddio_member *member, struct ddio_joint_wait *arg);
/* The joint behind a descriptor, with a reference, or an ERR_PTR(). */
struct ddio_joint *ddio_joint_from_fd(int fd);
void ddio_joint_put(struct ddio_joint *joint);
/*
 * Makes @list->member, puts a reference there of the pin of each member that a block's run names
 * and that has joined, and lists @coll among those under way.
 */
int ddio_joint_begin(struct ddio_joint *joint, struct ddio_coll *coll);
/* It is not under way any more; and, ddio_joint_end(), has ended. */
void ddio_joint_leave(struct ddio_joint *joint, struct ddio_coll *coll);
void ddio_joint_end(struct ddio_joint *joint, struct ddio_coll *coll);

/*
 * Runs are in kmod/shared/runs.h: ddio_list_take() copies them in, sees that each block's lie in
 * @nr_runs, that all blocks' together are at most DDIO_RUNS_MAX (-EOVERFLOW), and calls
 * ddio_run_check() for each; their members are checked by ddio_scatter's setup.
 */
/*
 * From a channel's work: between a block in a bounce buffer and the members' memory.  Stops early,
 * and returns false, when the collective is stopped.
 */
bool ddio_copy_scatter(const struct ddio_coll *coll, const struct ddio_entry *entry,
		       const void *block);
bool ddio_copy_gather(const struct ddio_coll *coll, const struct ddio_entry *entry, void *block);

/*
 * ddio_debugfs.c
 */
void ddio_debugfs_init(void);
void ddio_debugfs_exit(void);
void ddio_debugfs_ctx_add(struct ddio_ctx *ctx);
void ddio_debugfs_ctx_remove(struct ddio_ctx *ctx);
void ddio_debugfs_ctx_forget(struct ddio_ctx *ctx);

#endif /* DDIO_PRIV_H */
