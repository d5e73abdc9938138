/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio.ko inside: the objects, what owns what, and what may run when.
 *
 * This is the whole picture, and the structures that exist without collectives; those of
 * collectives are in ddio_coll.h.
 *
 * A *context* is an open file.  It names disks, buffers and collectives by id.
 * A *collective* is one block list under way.  It has a *channel* for each disk in
 * its list; a channel has *flights*, as many as the depth: each is one transfer, of
 * one block or, placed, of several neighbours, in one or several bios.
 *
 * Where things run:
 *  - ioctls, in the caller's context, under ctx->lock where they look up or change ids
 *    and never across a wait;
 *  - ddio_chan_run(), in the thread of the context's disk or in a thread that waits or kicks: the
 *    only function that begins flights, delivers blocks and ends channels; below it is
 *    called the channel's work.  It never runs twice at a time for one channel, so what
 *    only it touches needs no lock.  It may sleep until the disk takes a request: what waits behind
 *    it wants the same disk for the same context.  It takes turns after a bounded number of
 *    rounds, of a bounded number of bytes each.  The thread has the control groups of the task
 *    that first submitted for the disk and the nice value of the one that did last;
 *  - ddio_flight_end_io(), in whatever context a bio ends, interrupts included: puts
 *    the flight on chan->landed and makes the work run.  Nothing else.
 *
 * References:
 *  - a collective holds its disks, its pins and its joint's members until its last channel
 *    ends, and drops them before it says so (a process that has learned of the end may
 *    destroy them at once).  It holds its context until it is freed.  A channel that has
 *    not ended holds its collective; so bios never outlive the memory they write to,
 *    whatever process dies and whatever descriptor is closed;
 *  - the context's file holds the context.  On its release all collectives are
 *    cancelled and their ids dropped; what is in flight ends by itself;
 *  - a disk holds its thread.  Where a disk's thread drops the last reference of a disk, the
 *    workqueue ends the disk instead: no such thread waits for another or for itself;
 *  - a context holds the module.  ddio_exit() then destroys the workqueue and waits for RCU,
 *    since the last reference may be dropped by code of the module's own.
 *
 * Locks, outermost first: joint->lock, disk->lock or ctx->lock, coll->lock, ring->lock.  The last
 * two are spinlocks taken in process context only.  The last reference of a collective
 * is not dropped under ctx->lock.
 */
#ifndef DDIO_PRIV_H
#define DDIO_PRIV_H

#include <linux/blkdev.h>
#include <linux/bvec.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/ddio.h>

#include "compat.h"
#include "pieces.h"

struct ddio_coll;
struct ddio_chan;
struct ddio_ctx;
struct ddio_reply;

/*
 * For memory that a process has the module take.  Where its control group is at the limit, or the
 * machine, the call fails; nobody is killed for it.
 */
#define DDIO_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * ddio_charge.c
 */
/**
 * struct ddio_charge - memory that counts against RLIMIT_MEMLOCK; all zero when there is none
 * @user: whose; a reference, or NULL
 * @pages: that count
 */
struct ddio_charge {
	struct user_struct *user;
	u64 pages;
};

/*
 * Adds @bytes, in whole pages, for the caller's user; -ENOMEM if that is beyond the limit.  What a
 * process with CAP_IPC_LOCK takes does not count.
 */
int ddio_charge_add(struct ddio_charge *charge, u64 bytes);
/* Any context that may not be an interrupt's; charges of nothing are fine. */
void ddio_charge_drop(struct ddio_charge *charge);

/*
 * ddio_ctx.c: contexts and ids
 */
enum ddio_obj_type { DDIO_OBJ_DISK = 1, DDIO_OBJ_BUFFER, DDIO_OBJ_COLL };

struct ddio_obj;
struct seq_file;

/**
 * struct ddio_obj_ops - what a type of object does in its own way
 * @type: which
 * @free: the last reference is gone
 * @show: prints one line for debugfs
 * @busy: returns true if the object may not be destroyed now; NULL: it is busy while anybody but
 *	the id has a reference
 * @stop: its context is being closed; NULL: nothing to do
 * @destroyed: DDIO_DESTROY has taken its id away; NULL: nothing to do
 */
struct ddio_obj_ops {
	enum ddio_obj_type type;
	void (*free)(struct ddio_obj *obj);
	void (*show)(struct seq_file *seq, struct ddio_obj *obj);
	bool (*busy)(struct ddio_obj *obj);
	void (*stop)(struct ddio_obj *obj);
	void (*destroyed)(struct ddio_obj *obj);
};

/**
 * struct ddio_obj - what has an id; embedded first in disks, pins and collectives
 * @ref: one of the id's, one of each user's
 * @ops: of its type
 * @id: in the context, or 0
 */
struct ddio_obj {
	struct kref ref;
	const struct ddio_obj_ops *ops;
	u32 id;
};

/* What a context has done; shown in debugfs. */
struct ddio_ctx_stats {
	atomic64_t collectives;
	atomic64_t blocks;
	atomic64_t read_bytes;
	atomic64_t write_bytes;
	atomic64_t bios;
	atomic64_t merged; /* blocks that shared a flight with the one before */
	atomic64_t errors; /* blocks that failed */
	atomic64_t events;
	atomic64_t kicks;
	atomic64_t works;  /* runs of ddio_chan_work() */
	atomic64_t asleep; /* times a stream's channel found no slot of its own */
	atomic64_t scattered_bytes;
};

/**
 * struct ddio_ctx - an open /dev/ddio
 * @ref: the file's, and one of each collective
 * @lock: @objs, making @ring
 * @link: in the list of all contexts, of ddio_debugfs.c
 * @objs: id to struct ddio_obj
 * @next_id: where the search for a free id continues, so that ids are not reused soon
 * @nr_disks: disks in @objs
 * @ring: NULL until set up; then never changes
 * @wait: woken when a collective ends and when events are posted
 * @ended: collectives that post no DDIO_EVENT_DONE, have an id, ended, and were not waited for yet;
 *	the file polls readable while there are any, or unread events
 * @stats: counters
 * @owner: address space of the process that opened it; a reference
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
	struct ddio_ctx_stats stats;
	struct mm_struct *owner;
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
/*
 * Tells the process @arg, in which the id of @obj stands.  -EFAULT: it does not know it, and the id
 * is gone again.  The caller has a reference of its own.
 */
int ddio_ctx_tell(struct ddio_ctx *ctx, struct ddio_obj *obj, struct ddio_reply *reply,
		  const void *arg);
/*
 * Gives @obj an id by which nobody finds it before ddio_ctx_fill(), which takes over the caller's
 * reference; ddio_ctx_unreserve() gives the id back instead.  ctx->lock is held.
 */
int ddio_ctx_reserve(struct ddio_ctx *ctx, struct ddio_obj *obj);
void ddio_ctx_unreserve(struct ddio_ctx *ctx, struct ddio_obj *obj);
void ddio_ctx_fill(struct ddio_ctx *ctx, struct ddio_obj *obj);
/* Looks up and takes a reference; NULL if there is none of that type.  ctx->lock is held. */
struct ddio_obj *ddio_ctx_get_obj(struct ddio_ctx *ctx, enum ddio_obj_type type, u32 id);
/*
 * Takes the id away, if @obj still has it, and drops its reference; the caller has another.
 * ctx->lock is held.
 */
void ddio_ctx_remove(struct ddio_ctx *ctx, struct ddio_obj *obj);
void ddio_obj_put(struct ddio_obj *obj);
/* ioctl(DDIO_DESTROY) */
int ddio_ctx_destroy(struct ddio_ctx *ctx, u32 id);

/*
 * ddio_ioctl.c: the device's ioctls
 */
long ddio_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/*
 * ddio_core.c; ddio_main.c makes and destroys the workqueue, which ends disks and does nothing else
 */
extern struct workqueue_struct *ddio_wq;
/*
 * Memory whose length the process chooses, for kvfree(); NULL if there is none, rather than
 * having a process killed.
 */
void *ddio_alloc_long(u64 n, size_t size, bool zero);
/* A deadline of an ioctl, which is in the caller's time namespace, as the kernel's. */
u64 ddio_deadline(u64 deadline);

/*
 * What exists now, in all contexts; shown in debugfs, where tests see leaks.  A thing is counted
 * where it is made, and its count dropped last of all where it is freed.
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
 * struct ddio_kdisk - a block device in a context
 * @obj: id, references
 * @file: what the caller's descriptor referred to; keeps the device open
 * @bdev: its device
 * @access: DDIO_ACCESS_*: what the descriptor allows
 * @lock: hiring @worker
 * @worker: the thread that does what the context's collectives have to do for the disk; NULL before
 *	the first one is submitted
 * @charge: for the thread
 * @end: ends the disk where the thread that drops the last reference cannot
 */
struct ddio_kdisk {
	struct ddio_obj obj;
	struct file *file;
	struct block_device *bdev;
	u32 access;
	struct mutex lock;
	struct kthread_worker *worker;
	struct ddio_charge charge;
	struct work_struct end;
};

int ddio_disk_add(struct ddio_ctx *ctx, struct ddio_disk_add *arg, struct ddio_reply *reply);
/*
 * Returns true if the disk may be written to now: it may have become read-only, or swap, since it
 * was opened.  Zones want their blocks in order, which flights do not keep: zoned disks are only
 * read.
 */
bool ddio_disk_may_write(const struct ddio_kdisk *disk);
/*
 * Returns the alignment that memory must have: what the disk asks for, and at least its logical
 * sector, since drivers that work by sectors have moved wrong bytes where one crosses a page.
 */
u32 ddio_disk_align(const struct ddio_kdisk *disk);
/*
 * The disk has a thread from now on: in the caller's control groups, if it had none.  To hire one
 * takes the machine's lock against forks, so it is done once, and for a disk that is used.
 */
int ddio_disk_hire(struct ddio_kdisk *disk);
/* The disk's thread gets the caller's nice value. */
void ddio_disk_submit_as_current(struct ddio_kdisk *disk);
/*
 * Makes the page cache agree with the disk for a range: writes it out before the disk is read
 * past the cache; if @writing, also throws it away.  Called before and after writing.
 */
int ddio_disk_sync_cache(struct ddio_kdisk *disk, u64 from, u64 to, bool writing);

/*
 * ddio_pin.c: pinned memory
 */
/**
 * struct ddio_pin - pinned memory of a process: a buffer, or a member's
 * @obj: id of a buffer, references
 * @mm: the process's; its pinned_vm counts @nr_pages, to be seen
 * @charge: for them
 * @piece: first page of each piece; the memory begins and ends within one
 * @nr_pieces: entries of @piece
 * @at: how long they are, and where in the first one the memory begins
 * @length: bytes
 * @nr_pages: pages pinned
 * @writable: the device and the module may write to it
 * @dirty: they have written, so the pages must be marked
 * @left: a member's: it has left the joint; the module no longer copies to or from the memory
 * @vaddr: the kernel's mapping of the memory's first byte, or NULL; see ddio_pin_map()
 */
struct ddio_pin {
	struct ddio_obj obj;
	struct mm_struct *mm;
	struct ddio_charge charge;
	struct page **piece;
	u64 nr_pieces;
	struct ddio_pieces at;
	u64 length;
	u64 nr_pages;
	bool writable;
	bool dirty;
	bool left;
	void *vaddr;
};

/* Pins memory of the current process, and charges it to its user. */
struct ddio_pin *ddio_pin_new(u64 address, u64 length, bool writable);
/* Sets @bv to the physically contiguous piece at @offset.  Returns its length, at most @length. */
u32 ddio_pin_at(const struct ddio_pin *pin, u64 offset, u32 length, struct bio_vec *bv);
/*
 * Maps all of it for the module's own copying, which cannot write to what is not writable where
 * there is more than one piece; undone when the pin is freed.
 */
int ddio_pin_map(struct ddio_pin *pin);
/*
 * No copy to or from the memory begins any more; waits for the steps of copies that are under
 * way.  The collectives that need the memory have been stopped.
 */
void ddio_pin_leave(struct ddio_pin *pin);
/* ioctl(DDIO_BUFFER_ADD) */
int ddio_buffer_add(struct ddio_ctx *ctx, struct ddio_buffer_add *arg, struct ddio_reply *reply);

/*
 * ddio_ring.c: the ring, which is mapped into the process
 */
/**
 * struct ddio_kring - the module's side of the ring
 * @lock: @tail, @loose, @reserved, @slot_map
 * @shared: the memory; nothing in it is trusted
 * @length: bytes of it
 * @tail: events posted
 * @loose: what @tail was when a reservation was last given back
 * @nr_events: room for events
 * @nr_slots: slots
 * @reserved: events that running collectives may still post
 * @slot_map: slots that are a stream's
 * @charge: for the memory
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
	struct ddio_charge charge;
};

int ddio_ring_setup(struct ddio_ctx *ctx, struct ddio_ring_setup *arg, struct ddio_reply *reply);
void ddio_ring_free(struct ddio_kring *ring);
int ddio_ring_mmap(struct ddio_ctx *ctx, struct vm_area_struct *vma);
/* Returns 0 or -EBUSY: a collective reserves room for all the events it may ever have unread. */
int ddio_ring_reserve(struct ddio_kring *ring, u64 events);
void ddio_ring_unreserve(struct ddio_kring *ring, u64 events);
/* First of @n free slots in a row, or -EBUSY. */
int ddio_ring_slots_get(struct ddio_kring *ring, u32 n, u32 *first);
void ddio_ring_slots_put(struct ddio_kring *ring, u32 first, u32 n);
/*
 * Returns -ENOBUFS, with nothing posted, if the process has not consumed what it should have.  In
 * either case @unreserve events of the reservation end with it: a process that sees a
 * collective's last event finds its room free.
 */
int ddio_ring_post(struct ddio_ctx *ctx, const struct ddio_event *event, u64 unreserve);
bool ddio_ring_readable(const struct ddio_kring *ring);
struct ddio_slot *ddio_ring_slot(const struct ddio_kring *ring, u32 slot);

/*
 * ddio_debugfs.c
 */
void ddio_debugfs_init(void);
void ddio_debugfs_exit(void);
void ddio_debugfs_ctx_add(struct ddio_ctx *ctx);
void ddio_debugfs_ctx_remove(struct ddio_ctx *ctx);
void ddio_debugfs_ctx_forget(struct ddio_ctx *ctx);

#endif /* DDIO_PRIV_H */
