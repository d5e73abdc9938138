// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks: block devices that the caller holds open.
 */
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ddio_dispatch.h"
#include "ddio_priv.h"

#define DDIO_INVALIDATE_TRIES 100
#define DDIO_INVALIDATE_SLEEP_US 1000

bool ddio_disk_may_write(const struct ddio_kdisk *disk)
{
	return disk->access & DDIO_ACCESS_WRITE && !bdev_read_only(disk->bdev) &&
	       !bdev_is_zoned(disk->bdev) && !IS_SWAPFILE(disk->file->f_mapping->host);
}

u32 ddio_disk_align(const struct ddio_kdisk *disk)
{
	return max(bdev_dma_alignment(disk->bdev) + 1, bdev_logical_block_size(disk->bdev));
}

static u32 ddio_disk_access(const struct file *file)
{
	return (file->f_mode & FMODE_READ ? DDIO_ACCESS_READ : 0) |
	       (file->f_mode & FMODE_WRITE ? DDIO_ACCESS_WRITE : 0);
}

static void ddio_disk_end(struct ddio_kdisk *disk)
{
	if (disk->worker)
		kthread_destroy_worker(disk->worker);
	ddio_charge_drop(&disk->charge);
	fput(disk->file);
	mutex_destroy(&disk->lock);
	kfree(disk);
	atomic64_dec(&ddio_live.disks);
}

static void ddio_disk_end_work(struct work_struct *work)
{
	ddio_disk_end(container_of(work, struct ddio_kdisk, end));
}

/* A process that destroys the last use of a device finds the device free. */
static void ddio_disk_free(struct ddio_obj *obj)
{
	struct ddio_kdisk *disk = container_of(obj, struct ddio_kdisk, obj);

	if (current->flags & PF_KTHREAD)
		queue_work(ddio_wq, &disk->end);
	else
		ddio_disk_end(disk);
}

static void ddio_disk_show(struct seq_file *seq, struct ddio_obj *obj)
{
	struct ddio_kdisk *disk = container_of(obj, struct ddio_kdisk, obj);

	seq_printf(seq, "%u %pg %s%s logical %u align %u bytes %lld users %u\n", obj->id,
		   disk->bdev, disk->access & DDIO_ACCESS_READ ? "r" : "",
		   ddio_disk_may_write(disk) ? "w" : "", bdev_logical_block_size(disk->bdev),
		   ddio_disk_align(disk), (long long)bdev_nr_bytes(disk->bdev),
		   kref_read(&obj->ref) - 1);
}

static const struct ddio_obj_ops ddio_disk_ops = {
	.type = DDIO_OBJ_DISK,
	.free = ddio_disk_free,
	.show = ddio_disk_show,
};

/* Returns a thread that works in the caller's control groups. */
static struct kthread_worker *ddio_disk_worker(const struct ddio_kdisk *disk)
{
	struct kthread_worker *worker;
	int err;

	worker = kthread_run_worker(KTW_FREEZABLE, "ddio/%pg", disk->bdev);
	if (IS_ERR(worker))
		return worker;
	err = cgroup_attach_task_all(current, worker->task);
	if (!err)
		return worker;
	kthread_destroy_worker(worker);
	return ERR_PTR(err == -EINTR ? err : -ENOMEM);
}

static int ddio_disk_hire_first(struct ddio_kdisk *disk)
{
	struct kthread_worker *worker;
	int err;

	lockdep_assert_held(&disk->lock);
	err = ddio_charge_add(&disk->charge, THREAD_SIZE);
	if (err)
		return err;
	worker = ddio_disk_worker(disk);
	if (!IS_ERR(worker)) {
		/* Pairs with ddio_disk_hire(). */
		smp_store_release(&disk->worker, worker);
		return 0;
	}
	ddio_charge_drop(&disk->charge);
	return PTR_ERR(worker);
}

int ddio_disk_hire(struct ddio_kdisk *disk)
{
	int err = 0;

	/* Pairs with ddio_disk_hire_first(). */
	if (smp_load_acquire(&disk->worker))
		return 0;
	if (mutex_lock_killable(&disk->lock))
		return -EINTR;
	if (!disk->worker)
		err = ddio_disk_hire_first(disk);
	mutex_unlock(&disk->lock);
	return err;
}

void ddio_disk_submit_as_current(struct ddio_kdisk *disk)
{
	if (task_nice(disk->worker->task) != task_nice(current))
		set_user_nice(disk->worker->task, task_nice(current));
}

/* Takes over the reference to @file. */
static struct ddio_kdisk *ddio_disk_new(struct file *file)
{
	struct ddio_kdisk *disk;
	int err = -ENOTBLK;

	if (!S_ISBLK(file_inode(file)->i_mode))
		goto put_file;
	err = -ENOMEM;
	disk = kzalloc(sizeof(*disk), DDIO_GFP);
	if (!disk)
		goto put_file;
	kref_init(&disk->obj.ref);
	disk->obj.ops = &ddio_disk_ops;
	disk->file = file;
	disk->bdev = I_BDEV(file->f_mapping->host);
	disk->access = ddio_disk_access(file);
	mutex_init(&disk->lock);
	INIT_WORK(&disk->end, ddio_disk_end_work);
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
	if (!ddio_disk_may_write(disk))
		arg->out_access &= ~DDIO_ACCESS_WRITE;
	arg->out_logical = bdev_logical_block_size(disk->bdev);
	arg->out_bytes = bdev_nr_bytes(disk->bdev);
	arg->out_physical = bdev_physical_block_size(disk->bdev);
	arg->out_align = ddio_disk_align(disk);
	arg->out_io_max = min_t(u64, (u64)queue_max_sectors(queue) << SECTOR_SHIFT, U32_MAX);
}

/* Returns true if the context has the device already: it has one thread for each. */
static bool ddio_disk_is_there(struct ddio_ctx *ctx, const struct ddio_kdisk *disk)
{
	struct ddio_obj *obj;
	unsigned long id;

	lockdep_assert_held(&ctx->lock);
	xa_for_each(&ctx->objs, id, obj)
		if (obj->ops->type == DDIO_OBJ_DISK &&
		    container_of(obj, struct ddio_kdisk, obj)->bdev == disk->bdev)
			return true;
	return false;
}

int ddio_disk_add(struct ddio_ctx *ctx, struct ddio_disk_add *arg, struct ddio_reply *reply)
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
	if (!(disk->access & DDIO_ACCESS_READ) && !ddio_disk_may_write(disk))
		goto put_disk;
	mutex_lock(&ctx->lock);
	err = ddio_disk_is_there(ctx, disk) ? -EEXIST : ddio_ctx_add(ctx, &disk->obj);
	if (!err) {
		kref_get(&disk->obj.ref);
		ddio_disk_describe(disk, arg);
	}
	mutex_unlock(&ctx->lock);
	if (!err)
		err = ddio_ctx_tell(ctx, &disk->obj, reply, arg);

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
