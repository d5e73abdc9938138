// SPDX-License-Identifier: GPL-2.0-only
/* Maps of the device mapper with one target, without libraries or udev. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/kt.h"

#define KT_DM_REMOVE_TRIES 100

struct kt_dm_call {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char parameters[232];
};

static int kt_dm_control(void)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		kt_modprobe("dm-mod", "");
		fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int kt_dm_call(struct kt_dm_call *call, unsigned int cmd, const struct kt_dev *dev)
{
	int fd = kt_dm_control();
	int err;

	if (fd < 0)
		return fd;
	call->head.version[0] = DM_VERSION_MAJOR;
	call->head.data_size = sizeof(*call);
	call->head.data_start = offsetof(struct kt_dm_call, target);
	snprintf(call->head.name, sizeof(call->head.name), "%s", dev->name);
	err = ioctl(fd, cmd, call) ? -errno : 0;
	close(fd);
	return err;
}

static int kt_dm_load(struct kt_dev *dev, uint64_t sectors, const char *target,
		      const char *parameters)
{
	struct kt_dm_call call = { .head.target_count = 1, .target.length = sectors };
	char module[64];

	/* The kernel would ask for it by a path that small machines do not have. */
	snprintf(module, sizeof(module), "dm-%s", target);
	kt_modprobe(module, "");
	snprintf(call.target.target_type, sizeof(call.target.target_type), "%s", target);
	snprintf(call.parameters, sizeof(call.parameters), "%s", parameters);
	return kt_dm_call(&call, DM_TABLE_LOAD, dev);
}

static int kt_dm_resume(struct kt_dev *dev)
{
	struct kt_dm_call call = { .head.flags = 0 };

	return kt_dm_call(&call, DM_DEV_SUSPEND, dev);
}

static void kt_dm_undo(struct kt_dev *dev)
{
	int i;

	for (i = 0; i < KT_DM_REMOVE_TRIES; i++) {
		struct kt_dm_call call = { .head.flags = 0 };

		if (kt_dm_call(&call, DM_DEV_REMOVE, dev) != -EBUSY)
			return;
		usleep(20000);
	}
}

int kt_dm_reload(struct kt_dev *dev, uint64_t sectors, const char *target, const char *parameters)
{
	struct kt_dm_call call = {
		.head.flags = DM_SUSPEND_FLAG | DM_NOFLUSH_FLAG | DM_SKIP_LOCKFS_FLAG,
	};
	int err = kt_dm_load(dev, sectors, target, parameters);

	if (!err)
		err = kt_dm_call(&call, DM_DEV_SUSPEND, dev);
	return err ? err : kt_dm_resume(dev);
}

struct kt_dev *kt_dev_dm(uint64_t sectors, const char *target, const char *parameters)
{
	struct kt_dev *dev = kt_dev_new(kt_dm_undo);
	struct kt_dm_call call = { .head.flags = 0 };
	static unsigned int count;
	int err;

	if (!dev)
		return NULL;
	snprintf(dev->name, sizeof(dev->name), "kt-%d-%u", getpid(), count++);
	err = kt_dm_call(&call, DM_DEV_CREATE, dev);
	snprintf(dev->path, sizeof(dev->path), "/dev/dm-%u", minor(call.head.dev));
	if (!err)
		err = kt_dm_load(dev, sectors, target, parameters);
	if (!err)
		err = kt_dm_resume(dev);
	if (!err)
		err = kt_dev_probe(dev);
	if (!err)
		return dev;
	kt_dev_free(dev);
	errno = -err;
	return NULL;
}
