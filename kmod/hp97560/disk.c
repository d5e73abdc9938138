// SPDX-License-Identifier: GPL-2.0-only
/* A disk, and its block device while it has power. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "hpd.h"

static const struct block_device_operations hpd_fops = {
	.owner = THIS_MODULE,
};

/**
 * hpd_create - make a disk without power, with the default settings
 * Return: the disk, or NULL without memory.
 */
struct hpd *hpd_create(void)
{
	struct hpd *hpd = kzalloc(sizeof(*hpd), GFP_KERNEL);

	if (!hpd)
		return NULL;
	mutex_init(&hpd->power_lock);
	mutex_init(&hpd->io_lock);
	spin_lock_init(&hpd->lock);
	hpd->settings = hpd_defaults;
	hpd->off = true;
	INIT_LIST_HEAD(&hpd->pending);
	ddio_hrtimer_setup(&hpd->timer, hpd_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	hpd_store_init(&hpd->store);
	hpd_faults_init(&hpd->faults);
	return hpd;
}

void hpd_free(struct hpd *hpd)
{
	hpd_store_free(&hpd->store);
	mutex_destroy(&hpd->io_lock);
	mutex_destroy(&hpd->power_lock);
	kfree(hpd);
}

static int settings_check(struct hpd *hpd)
{
	const char *wrong = hpd_settings_check(&hpd->settings);

	if (!wrong)
		return 0;
	pr_notice("%s%s: %s\n", HPD_DISK_PREFIX, config_item_name(&hpd->group.cg_item), wrong);
	return -EINVAL;
}

static int drive_init(struct hpd *hpd)
{
	struct hp97560_params p;
	int err = hpd_settings_params(&hpd->settings, &p);

	if (err)
		return err;
	spin_lock(&hpd->bus->lock);
	hp97560_init(&hpd->model, &p, &hpd->bus->model);
	hpd->generation = hpd->bus->generation;
	spin_unlock(&hpd->bus->lock);
	return 0;
}

static void state_init(struct hpd *hpd)
{
	u64 limit = (u64)hpd->settings.memory_limit << 10 >> PAGE_SHIFT;

	hpd->store.limit = hpd->settings.memory_limit ? limit : U64_MAX;
	spin_lock_irq(&hpd->lock);
	hpd->off = false;
	memset(&hpd->counts, 0, sizeof(hpd->counts));
	hpd_faults_restart(&hpd->faults);
	spin_unlock_irq(&hpd->lock);
}

static int tags_alloc(struct hpd *hpd)
{
	struct blk_mq_tag_set *tags = &hpd->tags;

	memset(tags, 0, sizeof(*tags));
	tags->ops = &hpd_mq_ops;
	tags->cmd_size = sizeof(struct hpd_cmd);
	tags->flags = BLK_MQ_F_BLOCKING | BLK_MQ_F_NO_SCHED_BY_DEFAULT | DDIO_MQ_F_SHOULD_MERGE;
	tags->nr_hw_queues = 1;
	tags->queue_depth = hpd->settings.queue_depth;
	tags->numa_node = NUMA_NO_NODE;
	tags->timeout = msecs_to_jiffies(hpd->settings.timeout_ms);
	return blk_mq_alloc_tag_set(tags);
}

static struct gendisk *disk_alloc(struct hpd *hpd)
{
	struct ddio_disk_limits limits = {
		.block_size = hpd->settings.block_size,
		.max_sectors = HPD_MAX_SECTORS,
		.write_cache = hpd->settings.immediate_report,
	};
	struct gendisk *disk = ddio_disk_alloc(&hpd->tags, &limits, hpd);

	if (IS_ERR(disk))
		return disk;
	disk->fops = &hpd_fops;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "%s%s", HPD_DISK_PREFIX,
		 config_item_name(&hpd->group.cg_item));
	set_capacity(disk, hpd->settings.size);
	set_disk_ro(disk, hpd->settings.read_only);
	return disk;
}

/* Makes every request fail from now on, pending ones included. */
static void requests_fail(struct hpd *hpd)
{
	spin_lock_irq(&hpd->lock);
	hpd->off = true;
	spin_unlock_irq(&hpd->lock);
	hpd_run(hpd);
	hrtimer_cancel(&hpd->timer);
}

/**
 * hpd_power_on - make the block device
 * @hpd: the disk, without power; the caller holds its power_lock
 * Return: 0 or a negative errno, -EINVAL for settings that do not fit together.
 */
int hpd_power_on(struct hpd *hpd)
{
	struct gendisk *disk;
	int err = settings_check(hpd);

	if (err)
		return err;
	hpd->bus = hpd_bus_get(hpd->settings.bus, hpd->settings.time_scale);
	if (IS_ERR(hpd->bus)) {
		err = PTR_ERR(hpd->bus);
		goto no_bus;
	}
	err = drive_init(hpd);
	if (err)
		goto put_bus;
	err = tags_alloc(hpd);
	if (err)
		goto put_bus;
	disk = disk_alloc(hpd);
	if (IS_ERR(disk)) {
		err = PTR_ERR(disk);
		goto free_tags;
	}
	state_init(hpd);
	err = add_disk(disk);
	if (err)
		goto put_disk;
	WRITE_ONCE(hpd->disk, disk);
	return 0;

put_disk:
	requests_fail(hpd);
	put_disk(disk);
free_tags:
	blk_mq_free_tag_set(&hpd->tags);
put_bus:
	hpd_bus_put(hpd->bus);
no_bus:
	hpd->bus = NULL;
	return err;
}

/**
 * hpd_power_off - take the block device away, whoever uses it
 * @hpd: the disk; the caller holds its power_lock, or nobody else knows of it
 *
 * Nothing that waits for the device can hold this up: its requests fail first.
 */
void hpd_power_off(struct hpd *hpd)
{
	if (!hpd->disk)
		return;
	requests_fail(hpd);
	blk_mark_disk_dead(hpd->disk);
	del_gendisk(hpd->disk);
	put_disk(hpd->disk);
	WRITE_ONCE(hpd->disk, NULL);
	blk_mq_free_tag_set(&hpd->tags);
	hpd_bus_put(hpd->bus);
	hpd->bus = NULL;
}
