// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a program does with /dev/ddio, from the installed interface alone: writes blocks
 * of a disk out of pinned memory, reads them back in another order, and compares, also
 * with what read(2) sees.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ddio.h>

#define BLOCKS 16
#define LENGTH 8192

static void die(const char *what)
{
	fprintf(stderr, "dkms-io: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Block i lies at 3 i + 1 blocks on the disk, and in the buffer at i or, @reverse, from its end. */
static void move(int fd, unsigned int disk, unsigned int buffer, unsigned int op, int reverse)
{
	struct ddio_block block[BLOCKS];
	struct ddio_submit submit = {
		.size = sizeof(submit),
		.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET,
		.op = op,
		.delivery = DDIO_PLACE,
		.blocks = (unsigned long)block,
		.nr_blocks = BLOCKS,
		.joint_fd = -1,
		.deadline = DDIO_FOREVER,
	};
	int i;

	memset(block, 0, sizeof(block));
	for (i = 0; i < BLOCKS; i++) {
		block[i].offset = (3ULL * i + 1) * LENGTH;
		block[i].where = (unsigned long long)(reverse ? BLOCKS - 1 - i : i) * LENGTH;
		block[i].length = LENGTH;
		block[i].disk = disk;
		block[i].buffer = buffer;
	}
	if (ioctl(fd, DDIO_SUBMIT, &submit))
		die("DDIO_SUBMIT");
	errno = -submit.out_error;
	if (submit.out_state != DDIO_ENDED || submit.out_error)
		die("the collective");
}

int main(int argc, char **argv)
{
	struct ddio_disk_add disk = { .size = sizeof(disk) };
	struct ddio_buffer_add buffer = { .size = sizeof(buffer), .length = BLOCKS * LENGTH };
	char *memory, *expected, *plain;
	int fd, i;

	disk.fd = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	if (disk.fd < 0)
		die("a disk is needed");
	fd = open("/dev/ddio", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("/dev/ddio");
	memory = aligned_alloc(4096, BLOCKS * LENGTH);
	expected = malloc(BLOCKS * LENGTH);
	plain = malloc(LENGTH);
	if (!memory || !expected || !plain)
		die("memory");
	for (i = 0; i < BLOCKS * LENGTH; i++)
		memory[i] = expected[i] = (char)(i / LENGTH * 31 + i * 7 + getpid());
	buffer.address = (unsigned long)memory;
	if (ioctl(fd, DDIO_DISK_ADD, &disk))
		die("DDIO_DISK_ADD");
	if (ioctl(fd, DDIO_BUFFER_ADD, &buffer))
		die("DDIO_BUFFER_ADD");
	move(fd, disk.out_disk, buffer.out_buffer, DDIO_WRITE, 0);
	memset(memory, 0, BLOCKS * LENGTH);
	move(fd, disk.out_disk, buffer.out_buffer, DDIO_READ, 1);
	for (i = 0; i < BLOCKS; i++) {
		if (pread(disk.fd, plain, LENGTH, (3LL * i + 1) * LENGTH) != LENGTH)
			die("pread");
		errno = EILSEQ;
		if (memcmp(memory + (BLOCKS - 1 - i) * LENGTH, expected + i * LENGTH, LENGTH) ||
		    memcmp(plain, expected + i * LENGTH, LENGTH))
			die("bytes differ");
	}
	printf("%d blocks written, read back and compared\n", BLOCKS);
	return 0;
}
