// SPDX-License-Identifier: GPL-2.0-only
/* A context with one of everything. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/world.h"

#define KT_STREAM_BLOCKS 64
#define KT_STREAM_BLOCK 4096

void *kt_memory(size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int kt_joint_create(int ctx, uint32_t members)
{
	struct ddio_joint_create arg = { .size = sizeof(arg), .members = members };
	int err = kt_call(ctx, DDIO_JOINT_CREATE, &arg);

	return err ? err : arg.out_fd;
}

int kt_joint_join(int joint, uint32_t member, const void *memory, size_t length, uint32_t flags)
{
	struct ddio_joint_join arg = {
		.size = sizeof(arg),
		.flags = flags,
		.address = kt_ptr(memory),
		.length = length,
		.member = member,
	};
	int err = kt_call(joint, DDIO_JOINT_JOIN, &arg);

	return err ? err : arg.out_fd;
}

int kt_stream_begin(int ctx, uint32_t disk, uint32_t buffer, uint32_t *coll, uint32_t *slot)
{
	struct ddio_block block[KT_STREAM_BLOCKS];
	struct ddio_submit s;
	int i, err;

	memset(block, 0, sizeof(block));
	for (i = 0; i < KT_STREAM_BLOCKS; i++) {
		block[i].disk = disk;
		block[i].offset = (uint64_t)i * KT_STREAM_BLOCK;
		block[i].length = KT_STREAM_BLOCK;
	}
	kt_submit_init(&s, DDIO_READ, DDIO_STREAM, block, KT_STREAM_BLOCKS);
	s.slot_buffer = buffer;
	s.slot_length = KT_STREAM_BLOCK;
	err = kt_submit(ctx, &s);
	*coll = s.out_collective;
	*slot = s.out_first_slot;
	return err;
}

/* For reading only and for writing only: a context has a device once. */
static const struct kt_dev *kt_world_dev[2];

void kt_world_prepare(const struct kt_dev *dev)
{
	int i;

	for (i = 0; i < 2; i++) {
		kt_world_dev[i] = kt_dev_null(&(struct kt_null){ .megabytes = dev->bytes >> 20 });
		if (!kt_world_dev[i])
			kt_skip_all("no null_blk disk: %s", strerror(errno));
	}
}

/* A disk has its thread when something has been submitted for it. */
static int kt_world_hire(int ctx, uint32_t disk)
{
	struct ddio_block block = { .disk = disk };
	struct ddio_submit s;

	kt_submit_init(&s, DDIO_FLUSH, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	s.deadline = DDIO_FOREVER;
	return kt_submit(ctx, &s);
}

static int kt_world_disks(struct kt_world *w, const struct kt_dev *dev_4k)
{
	int err = kt_disk_open(w->ctx, w->dev->path, O_RDWR, &w->disk);

	if (!err)
		err = kt_disk_open(w->ctx, kt_world_dev[0]->path, O_RDONLY, &w->disk_ro);
	if (!err)
		err = kt_disk_open(w->ctx, kt_world_dev[1]->path, O_WRONLY, &w->disk_wo);
	if (!err && dev_4k)
		err = kt_disk_open(w->ctx, dev_4k->path, O_RDWR, &w->disk_4k);
	if (!err && dev_4k)
		err = kt_world_hire(w->ctx, w->disk_4k);
	return err;
}

static int kt_world_buffers(struct kt_world *w)
{
	int err;

	w->memory = kt_memory(KT_WORLD_BUFFER);
	w->member_memory = kt_memory(2 * KT_WORLD_MEMBER);
	if (!w->memory || !w->member_memory)
		return -ENOMEM;
	err = kt_buffer_add(w->ctx, w->memory, KT_WORLD_BUFFER, 0, &w->buffer);
	if (!err)
		err = kt_buffer_add(w->ctx, w->memory, KT_WORLD_BUFFER, DDIO_BUFFER_READONLY,
				    &w->buffer_ro);
	return err;
}

static int kt_world_joint(struct kt_world *w)
{
	w->joint = kt_joint_create(w->ctx, 3);
	if (w->joint < 0)
		return w->joint;
	w->member[0] = kt_joint_join(w->joint, 0, w->member_memory, KT_WORLD_MEMBER, 0);
	if (w->member[0] < 0)
		return w->member[0];
	w->member[1] = kt_joint_join(w->joint, 1, w->member_memory + KT_WORLD_MEMBER,
				     KT_WORLD_MEMBER, DDIO_BUFFER_READONLY);
	return w->member[1] < 0 ? w->member[1] : 0;
}

static int kt_world_collectives(struct kt_world *w)
{
	struct ddio_block block = { .length = 4096, .disk = w->disk, .buffer = w->buffer };
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT;
	err = kt_submit(w->ctx, &s);
	if (err)
		return err;
	if (s.out_state != DDIO_ENDED || s.out_error)
		return -EPROTO;
	w->ended = s.out_collective;
	err = kt_ring_setup(w->ctx, 64, 8, &w->ring, &w->ring_length);
	return err ? err : kt_stream_begin(w->ctx, w->disk, w->buffer, &w->stream, &w->slot);
}

int kt_world_init(struct kt_world *world, const struct kt_dev *dev, const struct kt_dev *dev_4k)
{
	int err;

	memset(world, 0, sizeof(*world));
	world->dev = dev;
	world->joint = world->member[0] = world->member[1] = -1;
	world->ctx = kt_open();
	if (world->ctx < 0)
		return world->ctx;
	err = kt_world_disks(world, dev_4k);
	if (!err)
		err = kt_world_buffers(world);
	if (!err)
		err = kt_world_joint(world);
	if (!err)
		err = kt_world_collectives(world);
	return err;
}

static void kt_world_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void kt_world_fini(struct kt_world *world)
{
	kt_world_close(world->member[0]);
	kt_world_close(world->member[1]);
	kt_world_close(world->joint);
	kt_world_close(world->ctx);
	/* A mapping keeps its context. */
	if (world->ring)
		munmap(world->ring, world->ring_length);
	if (world->memory)
		munmap(world->memory, KT_WORLD_BUFFER);
	if (world->member_memory)
		munmap(world->member_memory, 2 * KT_WORLD_MEMBER);
}
