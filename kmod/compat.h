/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differences between the kernels that the modules are built for, 6.1 and
 * later.  No other file checks the kernel's version.
 */
#ifndef DDIO_COMPAT_H
#define DDIO_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/version.h>

/* 6.3: functions change a mapping's flags. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/*
 * Since 6.2, pinning a page for reading makes it the process's own, as pinning for writing does.
 * Before, this must be asked for: otherwise the process would write to another copy.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define DDIO_FOLL_READ (FOLL_WRITE | FOLL_FORCE)
#else
#define DDIO_FOLL_READ 0
#endif

/*
 * Since 6.5 the kernel refuses to pin pages for writing that a file system writes back: it would
 * not learn of what is written later.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
static inline bool ddio_page_is_written_back(struct page *page)
{
	struct address_space *mapping;
	bool is;

	if (PageAnon(page) || PageHuge(page))
		return false;
	/* A locked page keeps its mapping, and the mapping its inode. */
	lock_page(page);
	mapping = page_mapping(page);
	is = mapping && mapping_can_writeback(mapping);
	unlock_page(page);
	return is;
}

static inline bool ddio_pages_may_be_pinned(struct page *const *page, long nr)
{
	long i;

	for (i = 0; i < nr; i++)
		if (ddio_page_is_written_back(page[i]))
			return false;
	return true;
}
#else
static inline bool ddio_pages_may_be_pinned(struct page *const *page, long nr)
{
	return true;
}
#endif

/* 6.14: making a worker and starting it are two things. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define kthread_run_worker kthread_create_worker
#endif

/* 6.13: setting up a timer takes its function. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void ddio_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*fn)(struct hrtimer *), clockid_t clock,
				      enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#else
#define ddio_hrtimer_setup hrtimer_setup
#endif

/* 6.14: requests are merged by default. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define DDIO_MQ_F_SHOULD_MERGE BLK_MQ_F_SHOULD_MERGE
#else
#define DDIO_MQ_F_SHOULD_MERGE 0
#endif

/**
 * struct ddio_disk_limits - what an emulated disk tells the block layer
 * @block_size: logical and physical block, in bytes
 * @max_sectors: of a read, a write or a write of zeroes
 * @write_cache: has a cache that flushes and FUA writes are for
 */
struct ddio_disk_limits {
	unsigned int block_size;
	unsigned int max_sectors;
	bool write_cache;
};

/* The most that a bio can have, in whole blocks of any size. */
#define DDIO_DISCARD_SECTORS round_down(UINT_MAX >> SECTOR_SHIFT, PAGE_SIZE >> SECTOR_SHIFT)

/* 6.9: making a disk takes its limits; 6.11: its features, too. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static inline struct gendisk *ddio_disk_alloc(struct blk_mq_tag_set *set,
					      const struct ddio_disk_limits *l, void *queuedata)
{
	struct queue_limits lim = {
		.logical_block_size = l->block_size,
		.physical_block_size = l->block_size,
		.max_hw_sectors = l->max_sectors,
		.max_segments = USHRT_MAX,
		.max_segment_size = UINT_MAX,
		.max_hw_discard_sectors = DDIO_DISCARD_SECTORS,
		.discard_granularity = l->block_size,
		.max_write_zeroes_sectors = l->max_sectors,
		.features = BLK_FEAT_ROTATIONAL,
	};

	if (l->write_cache)
		lim.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	return blk_mq_alloc_disk(set, &lim, queuedata);
}
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
static inline struct gendisk *ddio_disk_alloc(struct blk_mq_tag_set *set,
					      const struct ddio_disk_limits *l, void *queuedata)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, queuedata);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, l->block_size);
	blk_queue_physical_block_size(q, l->block_size);
	blk_queue_max_hw_sectors(q, l->max_sectors);
	blk_queue_max_segments(q, USHRT_MAX);
	blk_queue_max_segment_size(q, UINT_MAX);
	blk_queue_max_discard_sectors(q, DDIO_DISCARD_SECTORS);
	q->limits.discard_granularity = l->block_size;
	blk_queue_max_write_zeroes_sectors(q, l->max_sectors);
	blk_queue_write_cache(q, l->write_cache, l->write_cache);
	return disk;
}
#else
#error "Kernels 6.9 and 6.10 are not supported: the block layer was in the middle of a change"
#endif

#endif /* DDIO_COMPAT_H */
