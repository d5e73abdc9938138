// SPDX-License-Identifier: GPL-2.0-only
/* Attributes in /proc, /sys and their like. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/kt.h"

int kt_write(const char *value, const char *path, ...)
{
	char name[256];
	va_list args;
	ssize_t n;
	int fd, err;

	va_start(args, path);
	vsnprintf(name, sizeof(name), path, args);
	va_end(args);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, value, strlen(value));
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

int kt_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int kt_read(char *value, size_t size, const char *path, ...)
{
	char name[256];
	va_list args;
	ssize_t n;
	int fd, err;

	va_start(args, path);
	vsnprintf(name, sizeof(name), path, args);
	va_end(args);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, value, size - 1);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return 0;
}

uint64_t kt_keyed(const char *path, const char *key)
{
	size_t n = strlen(key);
	uint64_t value = ~0ULL;
	char line[256];
	FILE *f = fopen(path, "re");

	if (!f)
		return value;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, n) || !strchr(" :\t", line[n]))
			continue;
		value = strtoull(line + n + 1, NULL, 10);
		break;
	}
	fclose(f);
	return value;
}
