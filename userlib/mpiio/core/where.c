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

/* Undoes what the kernel does to spaces and the like in the names of mount points. */
static void unescape(char *text)
{
	char *to = text;
	unsigned int c;

	for (; *text; text++)
		if (*text == '\\' && sscanf(text + 1, "%3o", &c) == 1) {
			*to++ = (char)c;
			text += 3;
		} else {
			*to++ = *text;
		}
	*to = 0;
}

/* Returns how many bytes of the path the mount point has, if the path is at or below it; else 0. */
static size_t covers(const char *point, const char *path)
{
	size_t len = strlen(point);

	if (len == 1)
		return 1;
	return !strncmp(point, path, len) && (!path[len] || path[len] == '/') ? len : 0;
}

/* Asks the kernel, and not the mount, which may not answer, whether the path is below one of ddio. */
static bool mount_is_ours(const char *path)
{
	char whole[2 * PATH_MAX], line[3 * PATH_MAX], point[PATH_MAX], type[64];
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	size_t len, longest = 0;
	bool ours = false;

	if (!mounts)
		return false;
	if (*path == '/' || !getcwd(whole, PATH_MAX))
		whole[0] = 0;
	snprintf(whole + strlen(whole), PATH_MAX, "%s%s", *path == '/' ? "" : "/", path);
	while (fgets(line, sizeof(line), mounts)) {
		const char *tail = strstr(line, " - ");

		if (!tail || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
		    sscanf(tail, " - %63s", type) != 1)
			continue;
		unescape(point);
		len = covers(point, whole);
		if (!len || len < longest)
			continue;
		longest = len;
		ours = !strcmp(type, "fuse.ddio");
	}
	fclose(mounts);
	return ours;
}

/* Errors that say that a name, or the attribute, is not there, and not that nobody answered. */
static bool is_answer(int err)
{
	return err == ENOENT || err == ENAMETOOLONG || err == ENOTDIR || err == ENODATA ||
	       err == EOPNOTSUPP || err == EACCES || err == EPERM || err == ELOOP;
}

static int unknown(const char *path, int err)
{
	return !is_answer(err) && mount_is_ours(path) ? -err : 0;
}

/* 1: below a mount of ddio; 0: not; negative errno, if there is no such name, or nobody can tell. */
static int mount_conf(const char *path, struct mpiio_where *w)
{
	struct statfs st;
	ssize_t n;

	if (statfs(path, &st))
		return is_answer(errno) ? -errno : unknown(path, errno);
	if (st.f_type != FUSE_MAGIC)
		return 0;
	n = getxattr(path, "ddio.conf", w->conf, sizeof(w->conf) - 1);
	if (n < 0)
		return unknown(path, errno);
	w->conf[n] = 0;
	return 1;
}

static int below_mount(const char *path, struct mpiio_where *w)
{
	char copy[PATH_MAX];
	int ret = mount_conf(path, w);

	/* What is no name there is not one of the MPI's own, either: Open MPI crashes with long ones. */
	if (ret == -ENOENT || ret == -ENAMETOOLONG || ret == -ENOTDIR) {
		strcpy(copy, path); /* as long as w->path, which holds it */
		ret = mount_conf(dirname(copy), w);
	}
	return ret < 0 && is_answer(-ret) ? 0 : ret;
}

static int path_keep(struct mpiio_where *w, const char *path)
{
	return (size_t)snprintf(w->path, sizeof(w->path), "%s", path) < sizeof(w->path);
}

int where_find(const char *name, struct mpiio_where *w)
{
	int prefixed = !strncmp(name, PREFIX, strlen(PREFIX)), ret;

	if (prefixed)
		name += strlen(PREFIX);
	if (!*name || !path_keep(w, name))
		return prefixed ? *name ? -ENAMETOOLONG : -ENOENT : 0;
	ret = below_mount(w->path, w);
	w->mounted = ret > 0;
	if (ret)
		return ret;
	if (!prefixed)
		return 0;
	w->conf[0] = 0;
	while (*name == '/')
		name++;
	return *name && path_keep(w, name) ? 1 : -ENOENT;
}

const char *where_why(int err)
{
	return is_answer(-err) ? NULL : "the file is below a mount of ddio that does not answer";
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
