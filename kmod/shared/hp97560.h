/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The timing of an HP 97560 disk drive, as a pure function of the drive's
 * state, a request and the time: nothing here reads a clock, sleeps, allocates
 * or uses floating point, so the same source serves a kernel block device, a
 * daemon and a simulator in virtual time, and any run can be replayed.
 *
 * Time is in nanoseconds from an epoch of the caller's choice, at which sector
 * slot 0 passes under the heads.  On the media it is counted in *sector slots*
 * (below: slots), one sector time each, numbered from that epoch: params.period_ns
 * is a whole number of slots, so the angle never drifts however long the run.
 *
 * Nothing here locks.  Calls that concern one drive, or any of the drives on
 * one bus, must not overlap.
 */
#ifndef DDIO_HP97560_H
#define DDIO_HP97560_H

#include "shim.h"

#define HP97560_SECTOR_BYTES 512
#define HP97560_MAX_REGIONS 8

/* Times beyond this are refused, so that no sum can wrap. */
#define HP97560_TIME_MAX (1ULL << 62)

/**
 * struct hp97560_region - a range of tracks that holds data; the rest are spares
 * @first_cyl: cylinder of the first track
 * @first_head: head of the first track
 * @last_cyl: cylinder of the last track
 * @last_head: head of the last track, which belongs to the region
 * @skew_cyl: cylinder from which the region's cylinder skew counts
 */
struct hp97560_region {
	u32 first_cyl;
	u32 first_head;
	u32 last_cyl;
	u32 last_head;
	u32 skew_cyl;
};

/**
 * struct hp97560_params - everything that the model knows about a drive
 * @cylinders: cylinders of the drive, spares included
 * @heads: tracks per cylinder
 * @track_sectors: sectors per track
 * @regions: where the data lie, ascending; logical addresses run through them
 * @n_regions: entries used in @regions
 * @revolutions: whole revolutions in @period_ns
 * @period_ns: time after which the angle is exactly the same again
 * @track_skew: slots by which a track's sector 0 is later than its neighbour's
 * @cyl_skew: the same from one cylinder to the next, head for head
 * @phase: slot at which the first sector without skew passes, at the epoch
 * @short_seek_max: longest seek, in cylinders, that the short formula describes
 * @short_seek_ns: constant term of the short formula
 * @short_seek_sqrt_ns: its factor of the square root of the distance
 * @long_seek_ns: constant term of the long formula
 * @long_seek_cyl_ns: its factor of the distance
 * @head_switch_ns: to another track of the same cylinder; hidden by a seek
 * @write_settle_ns: added to the movement before a write
 * @overhead_ns: controller's time for a command, before anything moves
 * @bus_sector_ns: one sector over the bus
 * @buffer_sectors: size of the drive's buffer; also how far read-ahead runs.  A
 *	read of more than half of it crosses the bus half a buffer at a time.
 * @dirty_sectors: part of the buffer that may hold unwritten data
 * @write_piece: a write of more sectors crosses the bus so many at a time, each once
 *	there is room for it; at most @dirty_sectors; 0: a quarter of these
 * @read_ahead: go on reading after a read
 * @immediate_report: a write is done when its data are in the buffer
 * @bus_overlap: data cross the bus while the media turn, so that only the last
 *	sector's bus time shows; otherwise a read's data cross once complete, and
 *	a write starts on the media once its data are complete.  It needs a bus that
 *	is no slower than the media.
 */
struct hp97560_params {
	u32 cylinders;
	u32 heads;
	u32 track_sectors;
	struct hp97560_region regions[HP97560_MAX_REGIONS];
	u32 n_regions;
	u32 revolutions;
	u64 period_ns;
	u32 track_skew;
	u32 cyl_skew;
	u32 phase;
	u32 short_seek_max;
	u32 short_seek_ns;
	u32 short_seek_sqrt_ns;
	u32 long_seek_ns;
	u32 long_seek_cyl_ns;
	u32 head_switch_ns;
	u32 write_settle_ns;
	u32 overhead_ns;
	u32 bus_sector_ns;
	u32 buffer_sectors;
	u32 dirty_sectors;
	u32 write_piece;
	bool read_ahead;
	bool immediate_report;
	bool bus_overlap;
};

/**
 * struct hp97560_chs - where a sector lies on the media
 * @cyl: physical cylinder
 * @head: track in the cylinder
 * @sector: sector in the track
 */
struct hp97560_chs {
	u32 cyl;
	u32 head;
	u32 sector;
};

#define HP97560_BUS_SPANS 64

/**
 * struct hp97560_bus - one SCSI bus, shared by any number of drives
 * @free_at_ns: end of the last transfer that was granted
 * @transfers: transfers granted
 * @busy_ns: sum of their durations
 * @waits: transfers that found the bus taken
 * @wait_ns: sum of the time that they waited
 * @lost_gaps: idle gaps given up because @span was full
 * @n: spans in use
 * @span: times at which the bus is taken, ascending, none touching the next
 *
 * A drive's transfer may lie far ahead of now, when its sectors have come round;
 * other drives use the time before it.  Requests are served in the order of
 * their submission, and what was granted is never moved.  The drives of a bus are
 * to be given their commands in the order of time; spans that ended before the
 * latest command was issued are forgotten.
 */
struct hp97560_bus {
	u64 free_at_ns;
	u64 transfers;
	u64 busy_ns;
	u64 waits;
	u64 wait_ns;
	u64 lost_gaps;
	u32 n;
	struct hp97560_span {
		u64 start_ns;
		u64 end_ns;
	} span[HP97560_BUS_SPANS];
};

/**
 * struct hp97560_stats - what a drive has done since hp97560_init()
 * @reads: read commands
 * @writes: write commands
 * @flushes: flush commands
 * @read_sectors: sectors asked for by reads
 * @write_sectors: sectors asked for by writes
 * @seeks: movements of the arm or changes of the head to a command's first sector
 * @seek_ns: time of these, settling included
 * @rotations: waits for the first sector to come round
 * @rotation_ns: time of these
 * @media_ns: time from the first to the last sector of commands, on the media
 * @hits: reads that found their first sector in the buffer, or next off the media
 * @full_hits: reads that found all of it in the buffer
 * @read_ahead_aborts: times that reading ahead was cut short by a command
 * @joins: writes that continued unwritten data
 * @dirty_waits: commands that waited for unwritten data to reach the media
 * @dirty_wait_ns: time of these
 * @queue_waits: commands that waited in the host for the one before
 * @bus_waits: transfers that waited for other drives on the bus
 * @bus_wait_ns: time of these
 */
struct hp97560_stats {
	u64 reads;
	u64 writes;
	u64 flushes;
	u64 read_sectors;
	u64 write_sectors;
	u64 seeks;
	u64 seek_ns;
	u64 rotations;
	u64 rotation_ns;
	u64 media_ns;
	u64 hits;
	u64 full_hits;
	u64 read_ahead_aborts;
	u64 joins;
	u64 dirty_waits;
	u64 dirty_wait_ns;
	u64 queue_waits;
	u64 bus_waits;
	u64 bus_wait_ns;
};

enum hp97560_op {
	HP97560_READ = 0,
	HP97560_WRITE = 1,
	HP97560_FLUSH = 2,
};

/* What passes under the heads, during a command and after it. */
enum hp97560_activity {
	HP97560_IDLE = 0, /* nothing yet: the arm is over cylinder 0, head 0 */
	HP97560_READING = 1,
	HP97560_WRITING = 2,
};

/**
 * struct hp97560_pass - consecutive sectors that pass under the heads one after another
 * @next: the sector that comes next, or @limit
 * @limit: end of the pass
 * @slot: when @next passes; if @next is @limit, when the last sector had passed
 */
struct hp97560_pass {
	u64 next;
	u64 limit;
	u64 slot;
};

/**
 * struct hp97560_disk - one drive; private to the model but for @params and @stats
 * @params: as given to hp97560_init()
 * @stats: counters
 * @capacity: sectors
 * @bus: the bus, @own_bus or one that is shared
 * @own_bus: used where none was given
 * @idle_ns: completion of the last command: the next one arrives no earlier
 * @activity: what @pass is doing
 * @pass: the sequential access that goes on (or has run out)
 * @buffered: first sector of the read buffer, which ends at @pass.next
 */
struct hp97560_disk {
	struct hp97560_params params;
	struct hp97560_stats stats;
	u64 capacity;
	struct hp97560_bus *bus;
	struct hp97560_bus own_bus;
	u64 idle_ns;
	enum hp97560_activity activity;
	struct hp97560_pass pass;
	u64 buffered;
};

/* Flags of a result */
#define HP97560_HIT (1U << 0)	     /* first sector in the buffer or next off the media */
#define HP97560_FULL_HIT (1U << 1)   /* all sectors were in the buffer */
#define HP97560_JOIN (1U << 2)	     /* the write continued unwritten data */
#define HP97560_ABORT (1U << 3)	     /* the command cut reading ahead short */
#define HP97560_DIRTY_WAIT (1U << 4) /* waited for unwritten data */
#define HP97560_BUS_WAIT (1U << 5)   /* waited for other drives on the bus */
#define HP97560_QUEUED (1U << 6)     /* waited in the host for the command before */

/**
 * struct hp97560_result - how a command went
 * @done_ns: when the host is told
 * @media_done_ns: when the last sector was read (a full hit: when decoded), or
 *	will be on the media
 * @arrival_ns: when the drive took the command
 * @seek_ns: movement of the arm and the heads to the first sector
 * @rot_ns: from there to the first sector not in the buffer, whatever the cause
 * @xfer_ns: from then to the end of the last one, with the crossings in between
 * @bus_wait_ns: wait for other drives on the bus
 * @flags: HP97560_HIT and the like
 */
struct hp97560_result {
	u64 done_ns;
	u64 media_done_ns;
	u64 arrival_ns;
	u64 seek_ns;
	u64 rot_ns;
	u64 xfer_ns;
	u64 bus_wait_ns;
	u32 flags;
};

/**
 * hp97560_params_default - the drive of the papers
 * @p: filled in
 *
 * Immediate report and read-ahead are on, data cross the bus once complete.
 */
void hp97560_params_default(struct hp97560_params *p);

/**
 * hp97560_params_check - see whether parameters make a drive
 * @p: parameters
 * Return: 0, or -EINVAL where the model could not work with them.
 */
int hp97560_params_check(const struct hp97560_params *p);

/**
 * hp97560_capacity - size of a drive
 * @p: checked parameters
 * Return: sectors.
 */
u64 hp97560_capacity(const struct hp97560_params *p);

/**
 * hp97560_chs_of - where a logical sector lies
 * @p: checked parameters
 * @lba: logical sector
 * @chs: filled in
 * Return: 0, or -ERANGE beyond the capacity.
 */
int hp97560_chs_of(const struct hp97560_params *p, u64 lba, struct hp97560_chs *chs);

/**
 * hp97560_lba_of - which logical sector lies at a cylinder, head and sector
 * @p: checked parameters
 * @chs: cylinder, head and sector
 * @lba: filled in
 * Return: 0, -ERANGE off the media, or -ENOENT in a spare track.
 */
int hp97560_lba_of(const struct hp97560_params *p, const struct hp97560_chs *chs, u64 *lba);

/**
 * hp97560_angle_of - the slot of a revolution in which a sector passes the heads
 * @p: checked parameters
 * @chs: a sector on the media
 * Return: 0 to track_sectors - 1.
 */
u32 hp97560_angle_of(const struct hp97560_params *p, const struct hp97560_chs *chs);

/**
 * hp97560_seek_ns - time of a seek
 * @p: checked parameters
 * @distance: cylinders to cross
 * Return: nanoseconds; 0 for distance 0.
 */
u64 hp97560_seek_ns(const struct hp97560_params *p, u32 distance);

/**
 * hp97560_bus_init - an idle bus, to be shared
 * @bus: filled in
 */
void hp97560_bus_init(struct hp97560_bus *bus);

/**
 * hp97560_bus_grant - take the bus for one transaction
 * @bus: the bus
 * @from_ns: not earlier than this
 * @length_ns: for so long; 0 takes nothing
 *
 * Return: when it starts, at the first gap that is long enough.
 */
u64 hp97560_bus_grant(struct hp97560_bus *bus, u64 from_ns, u64 length_ns);

/**
 * hp97560_init - a drive at rest, arm over cylinder 0 and head 0, buffer empty
 * @d: filled in; no other call needed to be made on it before or afterwards
 * @p: checked parameters; copied
 * @bus: bus to share, which must outlive the drive, or NULL for one of its own.
 *	With NULL the drive holds a pointer to itself: it must not be copied.
 */
void hp97560_init(struct hp97560_disk *d, const struct hp97560_params *p, struct hp97560_bus *bus);

/**
 * hp97560_submit - give the drive one command
 * @d: drive
 * @op: read, write, or flush (write out what was reported early)
 * @lba: first sector; ignored by a flush
 * @sectors: number of sectors; ignored by a flush
 * @now_ns: when the host issues the command.  The drive takes one at a time: before
 *	the completion of the previous one, the command waits in the host.
 * @r: filled in on success
 *
 * Return: 0; -EINVAL for an unknown operation or no sectors; -ERANGE beyond the
 * capacity; -EOVERFLOW for a time beyond HP97560_TIME_MAX.  A command that is
 * refused leaves no trace.
 */
int hp97560_submit(struct hp97560_disk *d, enum hp97560_op op, u64 lba, u32 sectors, u64 now_ns,
		   struct hp97560_result *r);

/**
 * hp97560_position_ns - how far away a sector is
 * @d: drive; unchanged
 * @lba: first sector of a read that might be submitted next
 * @now_ns: when
 *
 * For a queue that serves the shortest access first.
 *
 * Return: nanoseconds from @now_ns until the sector begins to pass the heads, command
 * overhead and any wait for the drive included; if it is in the buffer, until the
 * drive has found it there; U64_MAX beyond the capacity or HP97560_TIME_MAX.
 */
u64 hp97560_position_ns(const struct hp97560_disk *d, u64 lba, u64 now_ns);

#endif /* DDIO_HP97560_H */
