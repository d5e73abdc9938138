// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "lock_file.h"

#define TRY_MS 10

int lock_file_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

int lock_file_take(int fd, unsigned int wait_ms)
{
	static const struct timespec pause = { .tv_nsec = TRY_MS * 1000000L };
	/* Counts tries, not time: a suspended machine does not use them up. */
	unsigned int tries = wait_ms / TRY_MS;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || !tries--)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int lock_file_sign(int fd)
{
	return ftruncate(fd, 0) || dprintf(fd, "%ld\n", (long)getpid()) < 0 ? -errno : 0;
}

pid_t lock_file_holder(int fd)
{
	char text[32] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	return (pid_t)strtol(text, NULL, 10);
}
