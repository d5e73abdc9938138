// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which file of ddio a name means.  A mount says itself by which configuration it reached its cluster: by an attribute
 * that every file and directory below it has (ddiofs(8)).
 */
#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "mpiio/core/where.h"

#define FUSE_MAGIC 0x65735546
#define PREFIX "ddio:"
/* Digits of a number of 64 bits. */
#define NUMBER_LEN 20

/* 1: below a mount of ddio; 0: not; negative errno. */
static int mount_conf(const char *path, struct mpiio_where *w)
{
	struct statfs st;
	ssize_t n;

	if (statfs(path, &st))
		return -errno;
	if (st.f_type != FUSE_MAGIC)
		return 0;
	n = getxattr(path, "ddio.conf", w->conf, sizeof(w->conf) - 1);
	if (n < 0)
		return 0;
	w->conf[n] = 0;
	return 1;
}

static int below_mount(const char *path, struct mpiio_where *w)
{
	char copy[PATH_MAX];
	int ret = mount_conf(path, w);

	/* What is no name there is not one of the MPI's own, either: Open MPI crashes with long ones. */
	if (ret != -ENOENT && ret != -ENAMETOOLONG && ret != -ENOTDIR)
		return ret > 0;
	strcpy(copy, path); /* as long as w->path, which holds it */
	return mount_conf(dirname(copy), w) > 0;
}

static int path_keep(struct mpiio_where *w, const char *path)
{
	return (size_t)snprintf(w->path, sizeof(w->path), "%s", path) < sizeof(w->path);
}

int where_find(const char *name, struct mpiio_where *w)
{
	int prefixed = !strncmp(name, PREFIX, strlen(PREFIX));

	if (prefixed)
		name += strlen(PREFIX);
	if (!*name || !path_keep(w, name))
		return prefixed ? *name ? -ENAMETOOLONG : -ENOENT : 0;
	w->mounted = below_mount(w->path, w);
	if (w->mounted)
		return 1;
	if (!prefixed)
		return 0;
	w->conf[0] = 0;
	while (*name == '/')
		name++;
	return *name && path_keep(w, name) ? 1 : -ENOENT;
}

/* Other file systems have no such attribute: no way, then. */
static bool way_take(const char *path, struct mpiio_way *way)
{
	char copy[PATH_MAX], number[NUMBER_LEN + 1], *name;
	ssize_t n;

	strcpy(copy, path); /* at most as long */
	name = basename(copy);
	if (strlen(name) > NAME_MAX)
		return false;
	strcpy(way->name, name);
	strcpy(copy, path);
	n = getxattr(dirname(copy), "ddio.ino", number, NUMBER_LEN);
	if (n <= 0)
		return false;
	number[n] = 0;
	way->dir = strtoull(number, NULL, 10);
	return way->dir;
}

void where_way(int fd, const char *path, struct mpiio_way *way)
{
	char link[64], now[PATH_MAX];
	ssize_t n;

	memset(way, 0, sizeof(*way));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, now, sizeof(now) - 1);
	if (n > 0) {
		now[n] = 0;
		if (way_take(now, way))
			return;
	}
	way_take(path, way);
}
