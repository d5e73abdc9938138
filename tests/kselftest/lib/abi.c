// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls without ceremony. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/kt.h"

uint64_t kt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * KT_SECOND + ts.tv_nsec;
}

int kt_open(void)
{
	int fd = open("/dev/ddio", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kt_call(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int kt_disk_add(int ctx, int fd, uint32_t *id)
{
	struct ddio_disk_add arg = { .size = sizeof(arg), .fd = fd };
	int err = kt_call(ctx, DDIO_DISK_ADD, &arg);

	*id = arg.out_disk;
	return err;
}

int kt_disk_open(int ctx, const char *path, int flags, uint32_t *id)
{
	int fd = open(path, flags | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = kt_disk_add(ctx, fd, id);
	close(fd);
	return err;
}

int kt_buffer_add(int ctx, const void *memory, size_t length, uint32_t flags, uint32_t *id)
{
	struct ddio_buffer_add arg = {
		.size = sizeof(arg),
		.flags = flags,
		.address = kt_ptr(memory),
		.length = length,
	};
	int err = kt_call(ctx, DDIO_BUFFER_ADD, &arg);

	*id = arg.out_buffer;
	return err;
}

int kt_ring_setup(int ctx, uint32_t events, uint32_t slots, struct ddio_ring **ring, size_t *length)
{
	struct ddio_ring_setup arg = { .size = sizeof(arg), .events = events, .slots = slots };
	int err = kt_call(ctx, DDIO_RING_SETUP, &arg);
	void *p;

	if (err)
		return err;
	p = mmap(NULL, arg.out_length, PROT_READ | PROT_WRITE, MAP_SHARED, ctx, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ring = p;
	*length = arg.out_length;
	return 0;
}

int kt_destroy(int ctx, uint32_t id)
{
	struct ddio_destroy arg = { .size = sizeof(arg), .id = id };

	return kt_call(ctx, DDIO_DESTROY, &arg);
}

int kt_cancel(int ctx, uint32_t id)
{
	struct ddio_cancel arg = { .size = sizeof(arg), .collective = id };

	return kt_call(ctx, DDIO_CANCEL, &arg);
}

void kt_submit_init(struct ddio_submit *s, uint32_t op, uint32_t delivery,
		    const struct ddio_block *blocks, uint64_t nr)
{
	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->op = op;
	s->delivery = delivery;
	s->blocks = kt_ptr(blocks);
	s->nr_blocks = nr;
	s->joint_fd = -1;
	s->deadline = DDIO_FOREVER;
}

int kt_submit(int ctx, struct ddio_submit *s)
{
	return kt_call(ctx, DDIO_SUBMIT, s);
}

int kt_wait(int ctx, uint32_t coll, uint64_t deadline, struct ddio_wait *out)
{
	struct ddio_wait arg = { .size = sizeof(arg), .collective = coll, .deadline = deadline };
	int err = kt_call(ctx, DDIO_WAIT, &arg);

	if (err)
		return err;
	if (!out)
		return arg.out_error;
	*out = arg;
	return 0;
}

int kt_wait_status(int ctx, uint32_t coll, int32_t *status, uint64_t nr, struct ddio_wait *out)
{
	struct ddio_wait arg = {
		.size = sizeof(arg),
		.collective = coll,
		.deadline = DDIO_FOREVER,
		.status = kt_ptr(status),
		.nr_status = nr,
	};
	int err = kt_call(ctx, DDIO_WAIT, &arg);

	if (!err && out)
		*out = arg;
	return err;
}
