// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names that survive a loss of power. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/name.h"

static char *parent_of(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len ? strndup(path, len) : strdup(".");
}

int env_name_sync(const char *path)
{
	char *parent = parent_of(path);
	int fd = parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret = !parent ? -ENOMEM : fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	free(parent);
	return ret;
}

/* Where others' directories cannot be read, or not be written, somebody else has made what is in them. */
static bool others(int err)
{
	return err == -EACCES || err == -EROFS || err == -EINVAL;
}

/* One that is there may be of a start that was cut off before its name was durable. */
static int make_dir(const char *path, mode_t mode, bool sync)
{
	bool made = !mkdir(path, mode);
	int ret;

	if (!made && errno != EEXIST)
		return -errno;
	ret = sync ? env_name_sync(path) : 0;
	return !made && others(ret) ? 0 : ret;
}

int ddio_env_dirs_make(const char *path, bool sync)
{
	char *copy = strdup(path), *slash;
	int ret = 0;

	if (!copy || !*copy) {
		free(copy);
		return copy ? -ENOENT : -ENOMEM;
	}
	for (slash = strchr(copy + 1, '/'); slash && !ret; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = make_dir(copy, 0755, sync);
		*slash = '/';
	}
	if (!ret)
		ret = make_dir(copy, 0700, sync);
	free(copy);
	return ret;
}
