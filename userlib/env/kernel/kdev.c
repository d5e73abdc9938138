// SPDX-License-Identifier: LGPL-2.1-or-later
/* /dev/ddio for programs. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "env/kernel/kdev.h"

static int kdev_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int ddio_kdev_open(struct ddio_kdev *kdev, const char *path)
{
	memset(kdev, 0, sizeof(*kdev));
	kdev->fd = open(path ? path : KDEV_PATH, O_RDWR | O_CLOEXEC);
	return kdev->fd < 0 ? -errno : 0;
}

void ddio_kdev_close(struct ddio_kdev *kdev)
{
	if (kdev->ring)
		munmap(kdev->ring, kdev->length);
	kdev->ring = NULL;
	if (kdev->fd >= 0)
		close(kdev->fd);
	kdev->fd = -1;
}

int kdev_info(struct ddio_kdev *kdev, struct ddio_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return kdev_ioctl(kdev->fd, DDIO_INFO, info);
}

int ddio_kdev_disk_add(struct ddio_kdev *kdev, int fd, struct ddio_disk_add *disk)
{
	memset(disk, 0, sizeof(*disk));
	disk->size = sizeof(*disk);
	disk->fd = fd;
	return kdev_ioctl(kdev->fd, DDIO_DISK_ADD, disk);
}

int ddio_kdev_buffer_add(struct ddio_kdev *kdev, const void *memory, size_t length, uint32_t flags,
			 uint32_t *id)
{
	struct ddio_buffer_add arg = {
		.size = sizeof(arg),
		.flags = flags,
		.address = (uintptr_t)memory,
		.length = length,
	};
	int ret = kdev_ioctl(kdev->fd, DDIO_BUFFER_ADD, &arg);

	if (!ret)
		*id = arg.out_buffer;
	return ret;
}

int ddio_kdev_ring_setup(struct ddio_kdev *kdev, uint32_t events, uint32_t slots)
{
	struct ddio_ring_setup arg = {
		.size = sizeof(arg),
		.events = events,
		.slots = slots,
	};
	void *map;
	int ret;

	ret = kdev_ioctl(kdev->fd, DDIO_RING_SETUP, &arg);
	if (ret)
		return ret;
	map = mmap(NULL, arg.out_length, PROT_READ | PROT_WRITE, MAP_SHARED, kdev->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	kdev->ring = map;
	kdev->length = arg.out_length;
	kdev->nr_events = events;
	kdev->nr_slots = slots;
	kdev->head = kdev->ring->head;
	kdev->event = (struct ddio_event *)((char *)map + kdev->ring->events_offset);
	kdev->slot = (struct ddio_slot *)((char *)map + kdev->ring->slots_offset);
	return 0;
}

int ddio_kdev_destroy(struct ddio_kdev *kdev, uint32_t id)
{
	struct ddio_destroy arg = { .size = sizeof(arg), .id = id };

	return kdev_ioctl(kdev->fd, DDIO_DESTROY, &arg);
}

int ddio_kdev_submit(struct ddio_kdev *kdev, struct ddio_submit *submit)
{
	submit->size = sizeof(*submit);
	return kdev_ioctl(kdev->fd, DDIO_SUBMIT, submit);
}

int ddio_kdev_wait(struct ddio_kdev *kdev, struct ddio_wait *wait)
{
	wait->size = sizeof(*wait);
	return kdev_ioctl(kdev->fd, DDIO_WAIT, wait);
}

int ddio_kdev_finish(struct ddio_kdev *kdev, uint32_t collective, int32_t *status,
		     uint64_t nr_status)
{
	struct ddio_wait arg = {
		.collective = collective,
		.deadline = DDIO_FOREVER,
		.status = (uintptr_t)status,
		.nr_status = status ? nr_status : 0,
	};
	int ret;

	do {
		ret = ddio_kdev_wait(kdev, &arg);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	ret = ddio_kdev_destroy(kdev, collective);
	return arg.out_error ? arg.out_error : ret;
}

int ddio_kdev_cancel(struct ddio_kdev *kdev, uint32_t collective)
{
	struct ddio_cancel arg = { .size = sizeof(arg), .collective = collective };

	return kdev_ioctl(kdev->fd, DDIO_CANCEL, &arg);
}

int ddio_kdev_kick(struct ddio_kdev *kdev, uint32_t collective, uint32_t slot)
{
	struct ddio_kick arg = { .size = sizeof(arg), .collective = collective, .slot = slot };

	return kdev_ioctl(kdev->fd, DDIO_KICK, &arg);
}

int ddio_kdev_joint_create(struct ddio_kdev *kdev, uint32_t members)
{
	struct ddio_joint_create arg = { .size = sizeof(arg), .members = members };
	int ret = kdev_ioctl(kdev->fd, DDIO_JOINT_CREATE, &arg);

	return ret ? ret : arg.out_fd;
}

int ddio_kdev_joint_join(int joint_fd, uint32_t member, const void *memory, size_t length,
			 uint32_t flags)
{
	struct ddio_joint_join arg = {
		.size = sizeof(arg),
		.flags = flags,
		.address = (uintptr_t)memory,
		.length = length,
		.member = member,
	};
	int ret = kdev_ioctl(joint_fd, DDIO_JOINT_JOIN, &arg);

	return ret ? ret : arg.out_fd;
}

int ddio_kdev_joint_wait(int member_fd, uint64_t ended, uint64_t deadline,
			 struct ddio_joint_wait *wait)
{
	struct ddio_joint_wait arg = { .size = sizeof(arg), .ended = ended, .deadline = deadline };
	int ret = kdev_ioctl(member_fd, DDIO_JOINT_WAIT, &arg);

	if (!ret && wait)
		*wait = arg;
	return ret;
}

int ddio_kdev_event_wait(struct ddio_kdev *kdev, int timeout_ms)
{
	struct pollfd pfd = { .fd = kdev->fd, .events = POLLIN };
	int ret;

	if (ddio_kdev_event(kdev))
		return 0;
	ret = poll(&pfd, 1, timeout_ms);
	if (ret < 0)
		return -errno;
	return ret ? 0 : -ETIMEDOUT;
}
