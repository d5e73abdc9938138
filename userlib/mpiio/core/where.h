/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file of ddio a name of an MPI program means, if it means one. */
#ifndef MPIIO_WHERE_H
#define MPIIO_WHERE_H

#include <limits.h>
#include <stdint.h>

/**
 * struct mpiio_where - a file of ddio
 * @conf: path of the cluster's configuration; "": the library's default
 * @path: below a mount, the path as the kernel takes it; else the name from the root of the name space
 * @mounted: @path is below a mount
 */
struct mpiio_where {
	char conf[PATH_MAX];
	char path[PATH_MAX];
	int mounted;
};

/**
 * where_find - looks whether a name is a file of ddio
 * @name: "ddio:NAME", or a path
 * @w: receives what was found
 *
 * Costs one system call for a path on anything that is not FUSE.
 *
 * Return: 1: it is; 0: it is not; negative errno: it is said to be, by the prefix, but such a name there cannot be; or it is below a
 * mount of ddio that does not answer.
 */
int where_find(const char *name, struct mpiio_where *w);

/* Returns what an error of where_find() means, or NULL: what the errno says. */
const char *where_why(int err);

/**
 * struct mpiio_way - how a file is come to
 * @dir: number of a directory; 0: not known
 * @name: the file's name in it
 */
struct mpiio_way {
	uint64_t dir;
	char name[NAME_MAX + 1];
};

/**
 * where_way - finds the directory of a file that is open below a mount
 * @fd: the file
 * @path: by which it was opened, where the system does not tell by which it is called now
 * @way: receives what was found
 */
void where_way(int fd, const char *path, struct mpiio_way *way);

#endif
