/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Disk-directed I/O: lists of blocks of several disks, moved in the order that
 * suits the disks, through few buffers, straight to where the data belong.
 *
 * A process opens /dev/ddio and has a *context*.  To it, it adds *disks* (by
 * descriptors of block devices that it holds open: their access mode is the
 * permission) and *buffers* (memory that is pinned for as long as they exist).
 * Then it submits *collectives*: block lists over any of the disks.  A
 * collective is delivered in one of three ways:
 *
 * place
 *	each block has an address of its own in a buffer; DMA goes there.
 * stream
 *	each disk has a few slots in a buffer.  The disk fills one while the process
 *	empties another, or the reverse when writing.
 * scatter
 *	each disk has a few bounce buffers of the module, and the pieces of each
 *	block are copied between these and the memory of the processes that have
 *	joined a *joint*.
 *
 * Every ioctl takes a pointer to a struct whose first member is its size, so
 * that it can grow.  A tail that the kernel does not know must be zero, as must be
 * all members called __reserved.  On failure nothing has changed and the struct
 * is as it was, but for ddio_submit.out_block.
 *
 * Each error has one meaning:
 *
 * - E2BIG: the struct is longer than the kernel knows, and its tail is not zero
 * - EINVAL: an argument is malformed: a size too small, a reserved member not
 *   zero, a misaligned or empty range, an unknown operation or delivery
 * - EOPNOTSUPP: a flag that the kernel does not know
 * - ENOTTY: no such ioctl on such a descriptor
 * - EFAULT: memory that is not there, or that cannot be pinned
 * - ENOENT: no such disk, buffer, collective, ring, slot or member
 * - EBADF: not a descriptor of an open file, or one of the wrong kind
 * - ENOTBLK: a descriptor of something other than a block device
 * - EACCES: the disk or the buffer was not opened or added for this direction, the disk is
 *   read-only, zoned or swaps, or the joint is another process's
 * - ERANGE: a block, slot, run or address outside its disk, block or buffer
 * - EOVERFLOW: a sum that does not fit, or a number beyond its limit
 * - EEXIST: blocks to be written overlap, or the thing to be made exists already
 * - EBUSY: the object is in use, or the ring has no room for so many events
 * - ENOMEM: no memory, or more pinned than the memory-lock limit allows
 * - EPERM: a security module, which may also give another errno, does not let the disk be read or
 *   written
 * - EINTR: a wait ended by a signal that is handled; with SA_RESTART the wait goes on instead
 * - ETIMEDOUT: a wait ended by its deadline
 *
 * and of blocks and collectives, in their status:
 *
 * - EIO and other errors that a disk reports, such as ENOSPC, ENODATA, ENODEV, ETIMEDOUT
 * - ECANCELED: cancelled before it was begun
 * - EOWNERDEAD: a member of the joint has left
 * - EBADMSG: what the disk returned is not what the block's sum is of
 * - ENOBUFS: the ring is full, since the process has not consumed what it has acted on
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, in the caller's time namespace.
 */
#ifndef _UAPI_LINUX_DDIO_H
#define _UAPI_LINUX_DDIO_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DDIO_ABI_VERSION 1

#define DDIO_IOC_TYPE 0xdd

enum {
	DDIO_CMD_BASE = 0x40,
	DDIO_CMD_INFO = DDIO_CMD_BASE,
	DDIO_CMD_DISK_ADD,
	DDIO_CMD_BUFFER_ADD,
	DDIO_CMD_RING_SETUP,
	DDIO_CMD_DESTROY,
	DDIO_CMD_SUBMIT,
	DDIO_CMD_WAIT,
	DDIO_CMD_CANCEL,
	DDIO_CMD_KICK,
	DDIO_CMD_JOINT_CREATE,
	DDIO_CMD_JOINT_JOIN,
	DDIO_CMD_JOINT_WAIT,
};

#define DDIO_BLOCK_LENGTH_MAX (16U << 20)
#define DDIO_LIST_MAX (1U << 26)
#define DDIO_RUNS_MAX (1U << 24)
#define DDIO_DEPTH_MAX 64
#define DDIO_DEPTH_DEFAULT 2
#define DDIO_DISKS_MAX 1024
#define DDIO_RING_MAX (1U << 20)
#define DDIO_MEMBERS_MAX 65536
#define DDIO_RUN_LEVELS 3
#define DDIO_FOREVER (~0ULL)

/**
 * struct ddio_info - what the module is and allows: ioctl(DDIO_INFO)
 * @size: sizeof(struct ddio_info)
 * @flags: must be 0
 * @out_abi: DDIO_ABI_VERSION; members and flags are added without a change of it
 * @out_deliveries: bit 1 << DDIO_PLACE and so on
 * @out_submit_flags: the DDIO_SUBMIT_* flags known
 * @out_block_length_max: longest block, bytes
 * @out_list_max: most blocks of a list
 * @out_runs_max: most runs of a list
 * @out_depth_max: most blocks in flight on a disk
 * @out_disks_max: most disks of a context
 * @out_ring_max: most events, and most slots, of a ring
 * @out_members_max: most members of a joint
 */
struct ddio_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi;
	__u32 out_deliveries;
	__u32 out_submit_flags;
	__u32 out_block_length_max;
	__u32 out_list_max;
	__u32 out_runs_max;
	__u32 out_depth_max;
	__u32 out_disks_max;
	__u32 out_ring_max;
	__u32 out_members_max;
};
#define DDIO_INFO _IO(DDIO_IOC_TYPE, DDIO_CMD_INFO)

/**
 * struct ddio_disk_add - add a disk to the context: ioctl(DDIO_DISK_ADD)
 * @size: sizeof(struct ddio_disk_add)
 * @flags: must be 0
 * @fd: a block device, open for reading, writing or both, that the context does not have yet.
 *	It may be closed afterwards; the context keeps what it refers to.
 * @out_disk: id of the disk; ids of disks, buffers and collectives are never 0
 * @out_access: DDIO_ACCESS_READ, DDIO_ACCESS_WRITE: what the descriptor allows
 * @out_logical: logical sector, bytes: offsets and lengths are multiples of it
 * @out_bytes: size of the disk
 * @out_physical: physical sector, bytes
 * @out_align: required alignment of memory, bytes; at least @out_logical
 * @out_io_max: longest transfer that the disk takes at once, bytes; longer ones are split
 * @__reserved: must be 0
 */
struct ddio_disk_add {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 out_disk;
	__u32 out_access;
	__u32 out_logical;
	__aligned_u64 out_bytes;
	__u32 out_physical;
	__u32 out_align;
	__u32 out_io_max;
	__u32 __reserved;
};
#define DDIO_ACCESS_READ (1U << 0)
#define DDIO_ACCESS_WRITE (1U << 1)
#define DDIO_DISK_ADD _IO(DDIO_IOC_TYPE, DDIO_CMD_DISK_ADD)

/**
 * struct ddio_buffer_add - pin memory: ioctl(DDIO_BUFFER_ADD)
 * @size: sizeof(struct ddio_buffer_add)
 * @flags: DDIO_BUFFER_READONLY: the memory will only be written to disks; needed for
 *	memory that the process may not write
 * @address: of the memory, any alignment; the blocks in it must be aligned for their disks
 * @length: bytes, at least 1
 * @out_buffer: id of the buffer
 * @out_piece: bytes of the physically contiguous pieces that the module works with: the
 *	page size, or that of a huge page where all of the memory is made of these
 *
 * The pages count against RLIMIT_MEMLOCK, for the user, unless the process has
 * CAP_IPC_LOCK, until the buffer is destroyed and the last transfer in it has ended.
 * They stay the buffer's when the process unmaps or remaps the address.
 */
struct ddio_buffer_add {
	__u32 size;
	__u32 flags;
	__aligned_u64 address;
	__aligned_u64 length;
	__u32 out_buffer;
	__u32 out_piece;
};
#define DDIO_BUFFER_READONLY (1U << 0)
#define DDIO_BUFFER_ADD _IO(DDIO_IOC_TYPE, DDIO_CMD_BUFFER_ADD)

/**
 * struct ddio_ring_setup - make the context's ring: ioctl(DDIO_RING_SETUP)
 * @size: sizeof(struct ddio_ring_setup)
 * @flags: must be 0
 * @events: room for events; a power of 2
 * @slots: slots that streams may have at a time, all disks together; 0 if there are none
 * @out_length: bytes to mmap() from offset 0 of the context's descriptor, shared
 * @__reserved: must be 0
 *
 * A context has at most one ring, for as long as it lives.
 */
struct ddio_ring_setup {
	__u32 size;
	__u32 flags;
	__u32 events;
	__u32 slots;
	__aligned_u64 out_length;
	__aligned_u64 __reserved;
};
#define DDIO_RING_SETUP _IO(DDIO_IOC_TYPE, DDIO_CMD_RING_SETUP)

/**
 * struct ddio_event - one entry of the ring
 * @index: of the block in the list as it was submitted; DDIO_EVENT_DONE: blocks that
 *	ended without error
 * @user_data: that of the submission
 * @collective: id
 * @slot: DDIO_EVENT_SLOT: index into the ring's slots.  DDIO_EVENT_BLOCK of a writing collective
 *	with DDIO_SUBMIT_SUMS: CRC-32C of what was written, if @status is 0.  Else 0
 * @status: 0 or a negative errno
 * @kind: DDIO_EVENT_SLOT and so on
 */
struct ddio_event {
	__aligned_u64 index;
	__aligned_u64 user_data;
	__u32 collective;
	__u32 slot;
	__s32 status;
	__u32 kind;
};
/*
 * A stream's slot is the process's.  Reading: it holds a block (or, with a status, nothing).
 * Writing: it wants a block.
 */
#define DDIO_EVENT_SLOT 1
/*
 * A block has ended: every block of a placed collective with DDIO_SUBMIT_EVENTS, and every
 * block of a writing stream.
 */
#define DDIO_EVENT_BLOCK 2
/* A collective with DDIO_SUBMIT_EVENTS, or a stream, has ended: its last event. */
#define DDIO_EVENT_DONE 3

/**
 * struct ddio_slot - one word of a stream's slot for each side
 * @holder: the module stores the collective's id when the slot becomes the process's.  When the
 *	process has emptied a slot (reading) or filled it (writing), it compares the word with
 *	the id that the event told and, if it is the same, replaces it with 0, by one atomic
 *	operation that is a full memory barrier.  If it differs, the slot is no longer that
 *	stream's, and nothing is released.
 * @asleep: the module stores 1 when it will not look at @holder again by itself.
 *	After releasing the slot the process looks here, and calls DDIO_KICK where it finds 1.
 */
struct ddio_slot {
	__u32 holder;
	__u32 asleep;
};

/**
 * struct ddio_ring - the beginning of the mapping
 * @tail: events posted so far, modulo 2^32; stored by the module with release semantics
 * @head: events consumed so far; stored by the process with release semantics
 * @events: room for events
 * @slots: number of slots
 * @events_offset: byte offset of struct ddio_event[@events]; event n is at n % @events
 * @slots_offset: byte offset of struct ddio_slot[@slots]
 * @abi: DDIO_ABI_VERSION
 * @__pad0: keeps what the module stores apart from what the process stores
 * @__pad1: and both from what never changes
 * @__pad2: to the next cache line
 *
 * The module trusts nothing that it reads here: a process that writes nonsense harms only itself.
 */
struct ddio_ring {
	__u32 tail;
	__u32 __pad0[15];
	__u32 head;
	__u32 __pad1[15];
	__u32 events;
	__u32 slots;
	__u32 events_offset;
	__u32 slots_offset;
	__u32 abi;
	__u32 __pad2[11];
};

/**
 * struct ddio_destroy - remove a disk, a buffer or a collective: ioctl(DDIO_DESTROY)
 * @size: sizeof(struct ddio_destroy)
 * @id: of a disk or buffer that no collective uses, or of a collective that has ended
 */
struct ddio_destroy {
	__u32 size;
	__u32 id;
};
#define DDIO_DESTROY _IO(DDIO_IOC_TYPE, DDIO_CMD_DESTROY)

/**
 * struct ddio_block - one block of a list
 * @offset: on the disk, bytes, a multiple of the logical sector
 * @where: place: byte in the buffer; stream: any number
 * @first_run: scatter: index of its first run
 * @length: bytes, a multiple of the logical sector, at most DDIO_BLOCK_LENGTH_MAX
 * @disk: id
 * @buffer: place: id of the buffer; stream: must be 0
 * @nr_runs: scatter: how many runs it has, may be 0
 * @sum: reading with DDIO_SUBMIT_SUMS: CRC-32C of the block; else must be 0
 * @__reserved: what it was called before there were sums
 *
 * The unions only name for scattered blocks what was there: programs that know @where and @buffer
 * alone see the same layout, and need no change.
 */
struct ddio_block {
	__aligned_u64 offset;
	union {
		__aligned_u64 where;
		__aligned_u64 first_run;
	};
	__u32 length;
	__u32 disk;
	union {
		__u32 buffer;
		__u32 nr_runs;
	};
	union {
		__u32 sum;
		__u32 __reserved;
	};
};

/**
 * struct ddio_run_level - one repetition of a run
 * @count: how often, at least 1
 * @block_stride: bytes from one repetition to the next in the block
 * @memory_stride: the same in the member's memory; may be negative
 */
struct ddio_run_level {
	__u32 count;
	__u32 block_stride;
	__aligned_s64 memory_stride;
};

/**
 * struct ddio_run - nested-strided pieces of a block, and where they lie in a member's memory
 * @memory: byte in the member's memory of the first piece
 * @offset: byte in the block of the first piece
 * @length: bytes of each contiguous piece, at least 1
 * @member: index of the member in the joint
 * @levels: how many of @level are used; the others must be zero
 * @level: repetitions, innermost first
 *
 * All pieces of a run together have at most DDIO_BLOCK_LENGTH_MAX bytes, and all blocks together at
 * most DDIO_RUNS_MAX runs, also where they share some.  Where pieces copied to the same side
 * overlap, it is undefined whose bytes stay.
 */
struct ddio_run {
	__aligned_u64 memory;
	__u32 offset;
	__u32 length;
	__u32 member;
	__u32 levels;
	struct ddio_run_level level[DDIO_RUN_LEVELS];
};

/**
 * struct ddio_submit - hand over a collective: ioctl(DDIO_SUBMIT)
 * @size: sizeof(struct ddio_submit)
 * @flags: DDIO_SUBMIT_*
 * @op: DDIO_READ, DDIO_WRITE, or DDIO_FLUSH.  A flush takes blocks whose @offset, @length,
 *	@where and @buffer are 0, one per disk, and delivery DDIO_PLACE.
 * @delivery: DDIO_PLACE, DDIO_STREAM or DDIO_SCATTER
 * @blocks: pointer to struct ddio_block[@nr_blocks]; read before the call returns
 * @nr_blocks: at least 1, at most DDIO_LIST_MAX
 * @runs: scatter: pointer to struct ddio_run[@nr_runs]; else 0
 * @nr_runs: scatter: at most DDIO_RUNS_MAX; else 0.  Where runs of a writing collective
 *	leave bytes of a block out, zeroes are written.
 * @depth: transfers in flight per disk, and slots of a stream; 0 for DDIO_DEPTH_DEFAULT.  A
 *	transfer is one block; placed neighbours on the disk may share one.
 * @slot_buffer: stream: id of the buffer with the slots; else 0
 * @slot_offset: stream: byte in that buffer of the first slot
 * @slot_length: stream: bytes from one slot to the next; at least the longest block
 * @joint_fd: scatter: a joint; else -1
 * @user_data: comes back in the events
 * @status: pointer to __s32[@nr_blocks], or 0: filled in when the call returns with
 *	@out_state DDIO_ENDED; memory that cannot be written any more by then leaves DDIO_RUNNING
 * @deadline: for DDIO_SUBMIT_WAIT
 * @out_block: when the list is refused: index of the first offending block (of the first
 *	offending run's block; of the later one of two that overlap); else untouched
 * @out_collective: id; 0 if it has ended already and is forgotten
 * @out_first_slot: stream: the ring's slots [@out_first_slot, + disks * depth) are its slots.
 *	Slot k of the n-th disk, counted in the order in which they first occur in the
 *	list, is number n * depth + k, from @slot_offset too.
 * @out_state: DDIO_RUNNING or DDIO_ENDED
 * @out_error: DDIO_ENDED: as in struct ddio_wait
 *
 * Blocks of each disk are moved in ascending order of @offset, or in that of the list with
 * DDIO_SUBMIT_ORDERED.  The blocks of a writing collective must not overlap.
 */
struct ddio_submit {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 delivery;
	__aligned_u64 blocks;
	__aligned_u64 nr_blocks;
	__aligned_u64 runs;
	__aligned_u64 nr_runs;
	__u32 depth;
	__u32 slot_buffer;
	__aligned_u64 slot_offset;
	__u32 slot_length;
	__s32 joint_fd;
	__aligned_u64 user_data;
	__aligned_u64 status;
	__aligned_u64 deadline;
	__aligned_u64 out_block;
	__u32 out_collective;
	__u32 out_first_slot;
	__u32 out_state;
	__s32 out_error;
};
/* The caller's order, not that of the sectors. */
#define DDIO_SUBMIT_ORDERED (1U << 0)
/*
 * Wait for the end.  The call succeeds even if a signal or the deadline ends the wait: see
 * @out_state.
 */
#define DDIO_SUBMIT_WAIT (1U << 1)
/* Post DDIO_EVENT_BLOCK for each block and DDIO_EVENT_DONE.  Streams post theirs anyway. */
#define DDIO_SUBMIT_EVENTS (1U << 2)
/* Forget the collective when it has ended: there is nothing to wait for or to destroy. */
#define DDIO_SUBMIT_FORGET (1U << 3)
/* Writing: every block is on the medium when it ends. */
#define DDIO_SUBMIT_FUA (1U << 4)
/* Writing: flush each disk's cache after its last block, before the collective ends. */
#define DDIO_SUBMIT_FLUSH (1U << 5)
/* Keep going after a block's error; else what has not begun is cancelled. */
#define DDIO_SUBMIT_KEEP_GOING (1U << 6)
/*
 * Scatter.  Reading: each block is compared with its sum before any byte of it is copied to a
 * member, and fails with EBADMSG if it differs.  Writing: the event of each block tells its sum as
 * it was written.
 */
#define DDIO_SUBMIT_SUMS (1U << 7)

#define DDIO_READ 1
#define DDIO_WRITE 2
#define DDIO_FLUSH 3

#define DDIO_PLACE 0
#define DDIO_STREAM 1
#define DDIO_SCATTER 2

#define DDIO_RUNNING 1
#define DDIO_ENDED 2

#define DDIO_SUBMIT _IO(DDIO_IOC_TYPE, DDIO_CMD_SUBMIT)

/**
 * struct ddio_wait - wait for the end of a collective: ioctl(DDIO_WAIT)
 * @size: sizeof(struct ddio_wait)
 * @flags: must be 0
 * @collective: id
 * @out_error: 0, or the status of the block that failed first, or that of a flush
 * @deadline: 0: do not wait; DDIO_FOREVER: wait without a limit
 * @status: pointer to __s32[@nr_status], or 0
 * @nr_status: the list's length, or 0
 * @out_block: index of the block that failed first; ~0 if none did
 * @out_blocks: blocks that ended without error
 * @out_bytes: their lengths
 */
struct ddio_wait {
	__u32 size;
	__u32 flags;
	__u32 collective;
	__s32 out_error;
	__aligned_u64 deadline;
	__aligned_u64 status;
	__aligned_u64 nr_status;
	__aligned_u64 out_block;
	__aligned_u64 out_blocks;
	__aligned_u64 out_bytes;
};
#define DDIO_WAIT _IO(DDIO_IOC_TYPE, DDIO_CMD_WAIT)

/**
 * struct ddio_cancel - end a collective soon: ioctl(DDIO_CANCEL)
 * @size: sizeof(struct ddio_cancel)
 * @flags: must be 0
 * @collective: id; cancelling one that has ended does nothing and is no error
 * @__reserved: must be 0
 *
 * Returns at once.  Blocks in flight end by themselves, the others with ECANCELED.
 * Slots that are the process's need not be released.
 */
struct ddio_cancel {
	__u32 size;
	__u32 flags;
	__u32 collective;
	__u32 __reserved;
};
#define DDIO_CANCEL _IO(DDIO_IOC_TYPE, DDIO_CMD_CANCEL)

/**
 * struct ddio_kick - make the module look at released slots: ioctl(DDIO_KICK)
 * @size: sizeof(struct ddio_kick)
 * @flags: must be 0
 * @collective: id of a stream; if it has ended, nothing happens, and that is no error
 * @slot: one of its slots, by the ring's index: the module looks at all slots of its disk
 */
struct ddio_kick {
	__u32 size;
	__u32 flags;
	__u32 collective;
	__u32 slot;
};
#define DDIO_KICK _IO(DDIO_IOC_TYPE, DDIO_CMD_KICK)

/**
 * struct ddio_joint_create - make a joint: ioctl(DDIO_JOINT_CREATE) on a context
 * @size: sizeof(struct ddio_joint_create)
 * @flags: must be 0
 * @members: how many processes may join, 1 to DDIO_MEMBERS_MAX
 * @out_fd: the joint's descriptor, close-on-exec, to be passed to the members; who has it can join,
 *	but only contexts of the process that opened this one submit collectives over the joint
 */
struct ddio_joint_create {
	__u32 size;
	__u32 flags;
	__u32 members;
	__s32 out_fd;
};
#define DDIO_JOINT_CREATE _IO(DDIO_IOC_TYPE, DDIO_CMD_JOINT_CREATE)

/**
 * struct ddio_joint_join - give memory to a joint: ioctl(DDIO_JOINT_JOIN) on a joint
 * @size: sizeof(struct ddio_joint_join)
 * @flags: DDIO_BUFFER_READONLY: the memory is only gathered from, by writing collectives
 * @address: of the memory, any alignment
 * @length: bytes, at least 1; pinned and counted as by DDIO_BUFFER_ADD
 * @member: index, 0 to members - 1
 * @out_fd: a descriptor for the membership, close-on-exec: it ends when all copies of it are
 *	closed.  A collective then under way that needs it ends with EOWNERDEAD, but nothing is
 *	copied to or from the memory any more when that close() returns.  It polls
 *	readable when a collective over the joint has ended since the last DDIO_JOINT_WAIT.
 */
struct ddio_joint_join {
	__u32 size;
	__u32 flags;
	__aligned_u64 address;
	__aligned_u64 length;
	__u32 member;
	__s32 out_fd;
};
#define DDIO_JOINT_JOIN _IO(DDIO_IOC_TYPE, DDIO_CMD_JOINT_JOIN)

/**
 * struct ddio_joint_wait - wait for a collective: ioctl(DDIO_JOINT_WAIT) on a membership
 * @size: sizeof(struct ddio_joint_wait)
 * @flags: must be 0
 * @ended: wait until more than this many collectives over the joint have ended
 * @deadline: as in struct ddio_wait
 * @out_ended: how many have ended
 * @out_error: error of the last one
 * @__reserved: must be 0
 */
struct ddio_joint_wait {
	__u32 size;
	__u32 flags;
	__aligned_u64 ended;
	__aligned_u64 deadline;
	__aligned_u64 out_ended;
	__s32 out_error;
	__u32 __reserved;
};
#define DDIO_JOINT_WAIT _IO(DDIO_IOC_TYPE, DDIO_CMD_JOINT_WAIT)

#endif /* _UAPI_LINUX_DDIO_H */
