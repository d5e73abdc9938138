// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks: block devices that the caller holds open.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ddio_priv.h"

#define DDIO_INVALIDATE_TRIES 100
#define DDIO_INVALIDATE_SLEEP_US 1000

/* A device that has become read-only, or that swaps, is not written to. */
static u32 ddio_disk_access(struct file *file, struct block_device *bdev)
{
	u32 access = 0;

	if (file->f_mode & FMODE_READ)
		access |= DDIO_ACCESS_READ;
	if ((file->f_mode & FMODE_WRITE) && !bdev_read_only(bdev) &&
	    !IS_SWAPFILE(file->f_mapping->host))
		access |= DDIO_ACCESS_WRITE;
	return access;
}

static void ddio_disk_free(struct ddio_obj *obj)
{
	struct ddio_kdisk *disk = container_of(obj, struct ddio_kdisk, obj);

	fput(disk->file);
	kfree(disk);
	atomic64_dec(&ddio_live.disks);
}

static void ddio_disk_show(struct seq_file *seq, struct ddio_obj *obj)
{
	struct ddio_kdisk *disk = container_of(obj, struct ddio_kdisk, obj);

	seq_printf(seq, "%u %pg %s%s logical %u align %u bytes %lld users %u\n", obj->id,
		   disk->bdev, disk->access & DDIO_ACCESS_READ ? "r" : "",
		   disk->access & DDIO_ACCESS_WRITE ? "w" : "", disk->logical, disk->align,
		   (long long)bdev_nr_bytes(disk->bdev), kref_read(&obj->ref) - 1);
}

static const struct ddio_obj_ops ddio_disk_ops = {
	.type = DDIO_OBJ_DISK,
	.free = ddio_disk_free,
	.show = ddio_disk_show,
};

/* Takes over the reference to @file. */
static struct ddio_kdisk *ddio_disk_new(struct file *file)
{
	struct ddio_kdisk *disk;
	int err = -ENOTBLK;

	if (!S_ISBLK(file_inode(file)->i_mode))
		goto put_file;
	err = -ENOMEM;
	disk = kzalloc(sizeof(*disk), GFP_KERNEL_ACCOUNT);
	if (!disk)
		goto put_file;
	kref_init(&disk->obj.ref);
	disk->obj.ops = &ddio_disk_ops;
	disk->file = file;
	disk->bdev = I_BDEV(file->f_mapping->host);
	disk->access = ddio_disk_access(file, disk->bdev);
	disk->logical = bdev_logical_block_size(disk->bdev);
	disk->align = bdev_dma_alignment(disk->bdev) + 1;
	atomic64_inc(&ddio_live.disks);
	return disk;

put_file:
	fput(file);
	return ERR_PTR(err);
}

static void ddio_disk_describe(const struct ddio_kdisk *disk, struct ddio_disk_add *arg)
{
	struct request_queue *queue = bdev_get_queue(disk->bdev);

	arg->out_disk = disk->obj.id;
	arg->out_access = disk->access;
	arg->out_logical = disk->logical;
	arg->out_bytes = bdev_nr_bytes(disk->bdev);
	arg->out_physical = bdev_physical_block_size(disk->bdev);
	arg->out_align = disk->align;
	arg->out_io_max = min_t(u64, (u64)queue_max_sectors(queue) << SECTOR_SHIFT, U32_MAX);
}

int ddio_disk_add(struct ddio_ctx *ctx, struct ddio_disk_add *arg)
{
	struct ddio_kdisk *disk;
	struct file *file;
	int err;

	file = fget(arg->fd);
	if (!file)
		return -EBADF;
	disk = ddio_disk_new(file);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	err = -EACCES;
	if (!disk->access)
		goto put_disk;
	mutex_lock(&ctx->lock);
	err = ddio_ctx_add(ctx, &disk->obj);
	if (!err)
		ddio_disk_describe(disk, arg);
	mutex_unlock(&ctx->lock);
	if (err)
		goto put_disk;
	return 0;

put_disk:
	ddio_obj_put(&disk->obj);
	return err;
}

/*
 * A page is busy while somebody reads it, as udev does with a disk that has just been closed;
 * that does not last long.
 */
static int ddio_disk_invalidate(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	int tries = DDIO_INVALIDATE_TRIES;
	int err;

	for (;;) {
		err = invalidate_inode_pages2_range(mapping, first, last);
		if (err != -EBUSY || !--tries)
			return err;
		fsleep(DDIO_INVALIDATE_SLEEP_US);
	}
}

int ddio_disk_sync_cache(struct ddio_kdisk *disk, u64 from, u64 to, bool writing)
{
	struct address_space *mapping = disk->file->f_mapping;
	int err;

	if (from >= to || !mapping->nrpages)
		return 0;
	err = filemap_write_and_wait_range(mapping, from, to - 1);
	if (err || !writing)
		return err;
	return ddio_disk_invalidate(mapping, from >> PAGE_SHIFT, (to - 1) >> PAGE_SHIFT);
}
