/* SPDX-License-Identifier: GPL-2.0-only */
/* Local files that are written beside their place, and get their name when they are whole. */
#ifndef TOOLS_SAFE_BESIDE_H
#define TOOLS_SAFE_BESIDE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct beside - a file that is being written
 * @fd: where to; beside_keep() and beside_drop() close it
 * @path: its name to be; of a link the file that it leads to
 * @temp: its name until then; "": a device, a pipe or a file without a name, which is written as it is
 * @replace: take the place of a file that exists
 */
struct beside {
	int fd;
	char path[PATH_MAX], temp[PATH_MAX + 32];
	bool replace;
};

/**
 * beside_open - begin a file
 * @b: receives it
 * @path: its name
 * @replace: a file of that name is replaced, and its permissions are kept; else there must be none
 * @mode: permissions of a new file, without those of the umask
 *
 * Return: 0; -EEXIST; -EISDIR; or another negative errno
 */
int beside_open(struct beside *b, const char *path, bool replace, mode_t mode);
/* Makes the file durable and gives it its name.  If it fails, what there was is there still.  Return: 0 or -errno */
int beside_keep(struct beside *b);
/* Forgets the file: what there was before is there still. */
void beside_drop(struct beside *b);

#endif /* TOOLS_SAFE_BESIDE_H */
