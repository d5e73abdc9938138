// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begins to read a disk, all of it, says "ready" and waits to be killed; for test_load.sh.
 *
 *   inflight DISK place|stream|scatter
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/world.h"

#define BLOCK 4096U
#define BLOCKS 1024U

static int begin(int ctx, uint32_t disk, uint32_t buffer, const unsigned char *memory)
{
	struct ddio_block *block = calloc(BLOCKS, sizeof(*block));
	struct ddio_run run = { .length = BLOCK };
	struct ddio_submit s;
	uint32_t i;

	for (i = 0; i < BLOCKS; i++) {
		block[i].offset = (uint64_t)i * BLOCK;
		block[i].length = BLOCK;
		block[i].disk = disk;
		block[i].buffer = memory ? 1 : buffer;
	}
	kt_submit_init(&s, DDIO_READ, memory ? DDIO_SCATTER : DDIO_PLACE, block, BLOCKS);
	if (memory) {
		s.joint_fd = kt_joint_create(ctx, 1);
		if (kt_joint_join(s.joint_fd, 0, memory, BLOCK, 0) < 0)
			return -1;
		s.runs = kt_ptr(&run);
		s.nr_runs = 1;
	}
	return kt_submit(ctx, &s);
}

static int stream(int ctx, uint32_t disk, uint32_t buffer)
{
	struct ddio_ring *ring;
	uint32_t coll, slot;
	size_t length;
	int err = kt_ring_setup(ctx, 64, 8, &ring, &length);

	return err ? err : kt_stream_begin(ctx, disk, buffer, &coll, &slot);
}

int main(int argc, char **argv)
{
	unsigned char *memory = kt_memory(1 << 20);
	uint32_t disk, buffer;
	int ctx, err;

	if (argc != 3)
		return 2;
	ctx = kt_open();
	err = ctx < 0 ? ctx : kt_disk_open(ctx, argv[1], O_RDWR, &disk);
	if (!err)
		err = kt_buffer_add(ctx, memory, 1 << 20, 0, &buffer);
	if (err) {
		fprintf(stderr, "inflight: %s\n", strerror(-err));
		return 1;
	}
	if (!strcmp(argv[2], "stream"))
		err = stream(ctx, disk, buffer);
	else
		err = begin(ctx, disk, buffer, strcmp(argv[2], "scatter") ? NULL : memory);
	if (err) {
		fprintf(stderr, "inflight: %s\n", strerror(-err));
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
