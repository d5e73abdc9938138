// SPDX-License-Identifier: GPL-2.0-only
/* Devices of a test: whose they are, and their end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/kt.h"

#define KT_DEVS_MAX 64
#define KT_NODE_WAIT_US 5000000

static struct kt_dev kt_devs[KT_DEVS_MAX];
static pid_t kt_devs_owner;

void kt_devs_begin(void)
{
	kt_devs_owner = getpid();
}

struct kt_dev *kt_dev_new(void (*undo)(struct kt_dev *dev))
{
	size_t i;

	for (i = 0; i < KT_DEVS_MAX; i++)
		if (!kt_devs[i].undo) {
			memset(&kt_devs[i], 0, sizeof(kt_devs[i]));
			kt_devs[i].fd = -1;
			kt_devs[i].undo = undo;
			return &kt_devs[i];
		}
	errno = EMFILE;
	return NULL;
}

void kt_dev_free(struct kt_dev *dev)
{
	void (*undo)(struct kt_dev * dev);

	if (!dev || !dev->undo)
		return;
	undo = dev->undo;
	dev->undo = NULL;
	undo(dev);
}

void kt_devs_free(void)
{
	size_t i;

	if (getpid() != kt_devs_owner)
		return;
	for (i = KT_DEVS_MAX; i > 0; i--)
		kt_dev_free(&kt_devs[i - 1]);
}

int kt_dev_probe(struct kt_dev *dev)
{
	unsigned int waited;
	int fd, logical = 0;
	uint64_t bytes = 0;

	for (waited = 0; access(dev->path, F_OK); waited += 10000) {
		if (waited >= KT_NODE_WAIT_US)
			return -ENODEV;
		usleep(10000);
	}
	fd = open(dev->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, BLKGETSIZE64, &bytes) || ioctl(fd, BLKSSZGET, &logical)) {
		close(fd);
		return -ENOTBLK;
	}
	close(fd);
	dev->bytes = bytes;
	dev->logical = logical;
	return 0;
}

void kt_dev_numbers(const struct kt_dev *dev, char *text, size_t size)
{
	struct stat st;

	if (stat(dev->path, &st))
		memset(&st, 0, sizeof(st));
	snprintf(text, size, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
}
