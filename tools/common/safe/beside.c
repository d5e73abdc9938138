// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "beside.h"

/* Follows a link, so that the link stays, and the file that it leads to is replaced. */
static int path_set(struct beside *b, const char *path)
{
	char *real = realpath(path, NULL);
	int n = snprintf(b->path, sizeof(b->path), "%s", real ? real : path);

	free(real);
	return n < (int)sizeof(b->path) ? 0 : -ENAMETOOLONG;
}

static int temp_open(struct beside *b, mode_t mode)
{
	const char *slash = strrchr(b->path, '/');
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(b->temp, sizeof(b->temp), "%.*s.ddio-%016" PRIx64,
		 slash ? (int)(slash - b->path) + 1 : 0, b->path, number);
	b->fd = open(b->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (b->fd >= 0)
		return 0;
	b->temp[0] = '\0';
	return -errno;
}

/* What has no name to take is written as it is: a device, a pipe, and where a link of /proc leads, such as /dev/stdout. */
static bool is_written_in_place(const char *path, const struct stat *named)
{
	struct stat st;

	return !S_ISREG(named->st_mode) && (!S_ISLNK(named->st_mode) || !stat(path, &st));
}

int beside_open(struct beside *b, const char *path, bool replace, mode_t mode)
{
	struct stat st;
	bool there;
	int err;

	memset(b, 0, sizeof(*b));
	b->fd = -1;
	b->replace = replace;
	if (!*path)
		return -ENOENT;
	err = path_set(b, path);
	if (err)
		return err;
	there = !lstat(b->path, &st);
	if (there && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (there && !replace)
		return -EEXIST;
	if (there && is_written_in_place(b->path, &st)) {
		b->fd = open(b->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		return b->fd < 0 ? -errno : 0;
	}
	/* Nobody opens it before it has the permissions of the file that it replaces. */
	err = temp_open(b, there ? 0600 : mode);
	if (!err && there && S_ISREG(st.st_mode) && fchmod(b->fd, st.st_mode & 0777))
		err = -errno;
	if (err)
		beside_drop(b);
	return err;
}

/* Not every file system has RENAME_NOREPLACE; a link never takes another's place. */
static int name_new(const struct beside *b)
{
	if (!renameat2(AT_FDCWD, b->temp, AT_FDCWD, b->path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(b->temp, b->path))
		return -errno;
	return unlink(b->temp) ? -errno : 0;
}

int beside_keep(struct beside *b)
{
	int err = b->temp[0] && fsync(b->fd) ? -errno : 0;

	if (close(b->fd) && !err)
		err = -errno;
	b->fd = -1;
	if (!b->temp[0])
		return err;
	if (!err && b->replace)
		err = rename(b->temp, b->path) ? -errno : 0;
	else if (!err)
		err = name_new(b);
	if (err)
		beside_drop(b);
	b->temp[0] = '\0';
	return err;
}

void beside_drop(struct beside *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	if (b->temp[0])
		unlink(b->temp);
	b->temp[0] = '\0';
}
