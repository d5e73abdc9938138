// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ddio: the misc device, loading and unloading.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "ddio_coll.h"
#include "version.h"

static int ddio_open(struct inode *inode, struct file *file)
{
	struct ddio_ctx *ctx = ddio_ctx_new();

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return stream_open(inode, file);
}

static int ddio_release(struct inode *inode, struct file *file)
{
	ddio_ctx_close(file->private_data);
	return 0;
}

static __poll_t ddio_poll(struct file *file, struct poll_table_struct *table)
{
	struct ddio_ctx *ctx = file->private_data;
	struct ddio_kring *ring;

	poll_wait(file, &ctx->wait, table);
	ring = smp_load_acquire(&ctx->ring); /* pairs with ddio_ring_setup() */
	if (atomic_read(&ctx->ended) > 0 || (ring && ddio_ring_readable(ring)))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static int ddio_mmap(struct file *file, struct vm_area_struct *vma)
{
	return ddio_ring_mmap(file->private_data, vma);
}

static const struct file_operations ddio_fops = {
	.owner = THIS_MODULE,
	.open = ddio_open,
	.release = ddio_release,
	.poll = ddio_poll,
	.mmap = ddio_mmap,
	.unlocked_ioctl = ddio_ctx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice ddio_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ddio",
	.fops = &ddio_fops,
	.mode = 0660,
};

static int __init ddio_init(void)
{
	int err;

	ddio_wq = alloc_workqueue("ddio", WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!ddio_wq)
		return -ENOMEM;
	err = ddio_bio_init();
	if (err)
		goto destroy_wq;
	ddio_debugfs_init();
	err = misc_register(&ddio_misc);
	if (err)
		goto exit_debugfs;
	return 0;

exit_debugfs:
	ddio_debugfs_exit();
	ddio_bio_exit();
destroy_wq:
	destroy_workqueue(ddio_wq);
	return err;
}

static void __exit ddio_exit(void)
{
	misc_deregister(&ddio_misc);
	/*
	 * With the last disks go the threads that may have dropped the last reference to the
	 * module.
	 */
	destroy_workqueue(ddio_wq);
	rcu_barrier();
	synchronize_rcu();
	ddio_debugfs_exit();
	ddio_bio_exit();
}

module_init(ddio_init);
module_exit(ddio_exit);

MODULE_DESCRIPTION("Disk-directed I/O: block lists moved in the disks' own order");
MODULE_AUTHOR("The ddio developers");
MODULE_VERSION(DDIO_MODULE_VERSION);
MODULE_LICENSE("GPL");
