// SPDX-License-Identifier: GPL-2.0-only
/* Loop devices over memory, partitions, and the SCSI debug adapter's disk. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/kt.h"

static struct kt_dev *kt_dev_fail(struct kt_dev *dev, int err)
{
	kt_dev_free(dev);
	errno = -err;
	return NULL;
}

static void kt_loop_undo(struct kt_dev *dev)
{
	int fd = open(dev->path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		ioctl(fd, LOOP_CLR_FD, 0);
		close(fd);
	}
	close(dev->fd);
}

static int kt_loop_attach(struct kt_dev *dev)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int fd, nr, err = 0;

	if (control < 0)
		return -errno;
	nr = ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	if (nr < 0)
		return -errno;
	snprintf(dev->path, sizeof(dev->path), "/dev/loop%d", nr);
	fd = open(dev->path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, LOOP_SET_FD, dev->fd))
		err = -errno;
	close(fd);
	return err;
}

struct kt_dev *kt_dev_loop(uint32_t megabytes)
{
	struct kt_dev *dev = kt_dev_new(kt_loop_undo);
	int err = 0;

	if (!dev)
		return NULL;
	if (access("/dev/loop-control", F_OK))
		kt_modprobe("loop", "");
	dev->fd = memfd_create("kt_loop", MFD_CLOEXEC);
	if (dev->fd < 0 || ftruncate(dev->fd, (off_t)megabytes << 20))
		err = -errno;
	if (!err)
		err = kt_loop_attach(dev);
	if (!err)
		err = kt_dev_probe(dev);
	return err ? kt_dev_fail(dev, err) : dev;
}

static int kt_blkpg(int fd, int op, int nr, uint64_t offset, uint64_t bytes)
{
	struct blkpg_partition part = { .start = offset, .length = bytes, .pno = nr };
	struct blkpg_ioctl_arg arg = { .op = op, .datalen = sizeof(part), .data = &part };

	return ioctl(fd, BLKPG, &arg) ? -errno : 0;
}

static void kt_partition_undo(struct kt_dev *dev)
{
	kt_blkpg(dev->fd, BLKPG_DEL_PARTITION, dev->nr, 0, 0);
	close(dev->fd);
}

struct kt_dev *kt_dev_partition(struct kt_dev *whole, int nr, uint64_t offset, uint64_t bytes)
{
	struct kt_dev *dev = kt_dev_new(kt_partition_undo);
	size_t n = strlen(whole->path);
	int err = 0;

	if (!dev)
		return NULL;
	dev->nr = nr;
	dev->fd = open(whole->path, O_RDWR | O_CLOEXEC);
	if (dev->fd < 0)
		err = -errno;
	if (!err)
		err = kt_blkpg(dev->fd, BLKPG_ADD_PARTITION, nr, offset, bytes);
	snprintf(dev->path, sizeof(dev->path), "%.50s%s%d", whole->path,
		 whole->path[n - 1] >= '0' && whole->path[n - 1] <= '9' ? "p" : "", nr);
	if (!err)
		err = kt_dev_probe(dev);
	return err ? kt_dev_fail(dev, err) : dev;
}

static void kt_scsi_undo(struct kt_dev *dev)
{
	int i;

	(void)dev;
	for (i = 0; i < 100 && !access("/sys/bus/pseudo/drivers/scsi_debug", F_OK); i++) {
		kt_modprobe("-r scsi_debug", "");
		usleep(50000);
	}
}

#define KT_SCSI_GLOB "/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/sd*"

struct kt_dev *kt_dev_scsi_debug(const char *parameters)
{
	struct kt_dev *dev = kt_dev_new(kt_scsi_undo);
	glob_t found;
	int i, err;

	if (!dev)
		return NULL;
	kt_modprobe("sd_mod", "");
	err = kt_modprobe("scsi_debug", parameters);
	for (i = 0; !err && !dev->path[0]; i++) {
		if (!glob(KT_SCSI_GLOB, 0, NULL, &found)) {
			snprintf(dev->name, sizeof(dev->name), "%.47s",
				 strrchr(found.gl_pathv[0], '/') + 1);
			snprintf(dev->path, sizeof(dev->path), "/dev/%s", dev->name);
		}
		globfree(&found);
		if (i > 200)
			err = -ENODEV;
		usleep(20000);
	}
	if (!err)
		err = kt_dev_probe(dev);
	return err ? kt_dev_fail(dev, err) : dev;
}
