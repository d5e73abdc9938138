/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hp97560.ko: disks whose time is that of the HP 97560 and whose data are in
 * memory.  A struct hpd is one of them; it lives as long as its directory in
 * configfs.  While powered it has a block device and a bus.
 *
 * The life of a request: hpd_queue_rq() asks the model when the drive will have
 * done it, moves the data between the request and the store, and inserts it into
 * a list by its due time.  A timer fires when the first of them is due.
 *
 * Locks, outer before inner:
 *   hpd.power_lock   power and settings
 *   hpd_bus_mutex    the list of buses
 *   hpd.io_lock      the store; the order in which commands reach the drive
 *   hpd_bus.lock     the models of a bus and of the drives on it
 *   hpd.lock         what is pending, faults, counts; taken in interrupts
 */
#ifndef HPD_H
#define HPD_H

#include <linux/blk-mq.h>
#include <linux/configfs.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "hp97560.h"

#define HPD_DISK_PREFIX "hp97560_"
#define HPD_NAME_MAX 20
#define HPD_BUS_NAME_MAX 32
#define HPD_BAD_MAX 32
#define HPD_DEVICES_MAX 256
#define HPD_SCALE_ONE 1000000
#define HPD_MAX_SECTORS 32768

/**
 * struct hpd_settings - settings that are fixed while a disk has power
 * @size: in sectors of 512 bytes
 * @block_size: logical block in bytes
 * @queue_depth: requests that it takes at a time
 * @time_scale: real microseconds per second of the drive's time; 0: requests end at once
 * @timeout_ms: time after which a stalled request fails; 0: never
 * @buffer_sectors: the drive's buffer
 * @dirty_sectors: part of it that may hold unwritten data
 * @memory_limit: KiB that the data may take; 0: no limit
 * @read_only: it cannot be written
 * @immediate_report: a write is done when its data are in the drive's buffer
 * @read_ahead: the drive goes on reading after a read
 * @bus_overlap: data cross the bus while the media turn
 * @bus: name; empty for one of its own
 */
struct hpd_settings {
	u32 size;
	u32 block_size;
	u32 queue_depth;
	u32 time_scale;
	u32 timeout_ms;
	u32 buffer_sectors;
	u32 dirty_sectors;
	u32 memory_limit;
	bool read_only;
	bool immediate_report;
	bool read_ahead;
	bool bus_overlap;
	char bus[HPD_BUS_NAME_MAX];
};

/**
 * struct hpd_range - sectors that cannot be read or written
 * @first: the first of them
 * @last: the last
 */
struct hpd_range {
	u64 first;
	u64 last;
};

/**
 * struct hpd_faults - what goes wrong, guarded by hpd.lock
 * @fail_every: one of this many commands fails
 * @fail_after: after this many commands all fail
 * @stall_every: one of this many commands is held
 * @stall_us: time after which a held command ends; 0: only when @stall is set and cleared
 * @failed: commands since @fail_every was set
 * @done: commands since @fail_after was set
 * @stalled: commands since @stall_every was set
 * @status: index of the status that a failing command ends with
 * @stall: nothing ends
 * @n_bad: entries used in @bad
 * @bad: sectors that fail
 */
struct hpd_faults {
	u32 fail_every;
	u32 fail_after;
	u32 stall_every;
	u32 stall_us;
	u32 failed;
	u32 done;
	u32 stalled;
	u32 status;
	bool stall;
	u32 n_bad;
	struct hpd_range bad[HPD_BAD_MAX];
};

/**
 * struct hpd_counts - counts besides the model's, guarded by hpd.lock
 * @discards: discards
 * @discard_sectors: their sectors
 * @zeroes: writes of zeroes, which are among the model's writes, too
 * @zero_sectors: their sectors
 * @fua_writes: writes that ended on the media
 * @errors: commands that failed, for any reason
 * @held: commands that were held
 * @timeouts: stalled commands that timed out
 * @no_space: writes beyond the limit of the memory
 * @no_memory: writes for which there was no memory
 */
struct hpd_counts {
	u64 discards;
	u64 discard_sectors;
	u64 zeroes;
	u64 zero_sectors;
	u64 fua_writes;
	u64 errors;
	u64 held;
	u64 timeouts;
	u64 no_space;
	u64 no_memory;
};

/**
 * struct hpd_store - sparse memory
 * @pages: by number; a page that is missing is zero
 * @used: number of @pages
 * @limit: most of them
 */
struct hpd_store {
	struct xarray pages;
	u64 used;
	u64 limit;
};

/**
 * struct hpd_bus - a bus with powered drives, and their clock
 * @link: in the list of buses, if it has a name
 * @name: empty for a drive's own
 * @users: drives on it
 * @scale: their time_scale
 * @lock: guards what follows, and the models of the drives
 * @epoch: when the model's clock was 0
 * @now_ns: latest time given to a model
 * @generation: how often the clock was restarted
 * @model: grants the bus to the drives
 */
struct hpd_bus {
	struct list_head link;
	char name[HPD_BUS_NAME_MAX];
	unsigned int users;
	u32 scale;
	spinlock_t lock;
	ktime_t epoch;
	u64 now_ns;
	u32 generation;
	struct hp97560_bus model;
};

/**
 * struct hpd - a disk
 * @group: its directory
 * @power_lock: guards @settings, @disk and @bus
 * @settings: fixed while powered
 * @disk: the block device; NULL without power
 * @tags: its requests
 * @bus: the bus; NULL without power
 * @model: the drive
 * @generation: generation of the bus that @model knows
 * @io_lock: see above
 * @store: the data, which stay without power
 * @lock: guards what follows
 * @faults: what goes wrong
 * @counts: what happened
 * @off: every request fails at once
 * @pending: struct hpd_cmd, by due time
 * @timer: fires when the first is due
 */
struct hpd {
	struct config_group group;
	struct mutex power_lock;
	struct hpd_settings settings;
	struct gendisk *disk;
	struct blk_mq_tag_set tags;
	struct hpd_bus *bus;
	struct hp97560_disk model;
	u32 generation;
	struct mutex io_lock;
	struct hpd_store store;
	spinlock_t lock;
	struct hpd_faults faults;
	struct hpd_counts counts;
	bool off;
	struct list_head pending;
	struct hrtimer timer;
};

/**
 * struct hpd_cmd - a request's private part
 * @entry: in hpd.pending
 * @pending: the command is there
 * @held: a fault holds it
 * @status: status that it will end with
 * @due: when it ends; KTIME_MAX: never
 * @drive_due: when the drive is done with it
 */
struct hpd_cmd {
	struct list_head entry;
	bool pending;
	bool held;
	blk_status_t status;
	ktime_t due;
	ktime_t drive_due;
};

/* settings.c */
extern struct hpd_settings hpd_defaults;
void hpd_settings_fill(struct hpd_settings *s);
const char *hpd_settings_check(const struct hpd_settings *s);
int hpd_settings_params(const struct hpd_settings *s, struct hp97560_params *p);
int hpd_number_set(struct hpd_settings *s, size_t offset, u32 v);

/* disk.c */
struct hpd *hpd_create(void);
void hpd_free(struct hpd *hpd);
int hpd_power_on(struct hpd *hpd);
void hpd_power_off(struct hpd *hpd);

/* queue.c */
extern const struct blk_mq_ops hpd_mq_ops;
enum hrtimer_restart hpd_timer(struct hrtimer *timer);
void hpd_run(struct hpd *hpd);
void hpd_stall_end(struct hpd *hpd);

/* bus.c */
struct hpd_bus *hpd_bus_get(const char *name, u32 scale);
void hpd_bus_put(struct hpd_bus *bus);
int hpd_bus_submit(struct hpd *hpd, enum hp97560_op op, u64 sector, u32 sectors, bool fua,
		   ktime_t *due);

/* store.c */
void hpd_store_init(struct hpd_store *store);
void hpd_store_free(struct hpd_store *store);
int hpd_store_read(struct hpd_store *store, u64 pos, void *to, size_t len);
int hpd_store_write(struct hpd_store *store, u64 pos, const void *from, size_t len);
void hpd_store_zero(struct hpd_store *store, u64 pos, u64 len);

/* faults.c */
void hpd_faults_init(struct hpd_faults *faults);
bool hpd_faults_bad(struct hpd_faults *faults, u64 sector, u32 sectors, blk_status_t *status);
bool hpd_faults_hold(struct hpd_faults *faults);
void hpd_faults_restart(struct hpd_faults *faults);
ssize_t hpd_bad_show(struct hpd *hpd, char *page);
int hpd_bad_store(struct hpd *hpd, const char *page);
const char *hpd_status_name(u32 status);
int hpd_status_parse(const char *text, u32 *status);

/* stats.c */
ssize_t hpd_stats_show(struct hpd *hpd, char *page);
void hpd_stats_reset(struct hpd *hpd);

/* config.c */
void hpd_config_init(void);
int hpd_config_add(unsigned int number, const char *bus);
int hpd_config_register(void);
void hpd_config_unregister(void);
void hpd_config_remove(void);

#endif /* HPD_H */
