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

static int make_dir(const char *path, bool sync)
{
	if (!mkdir(path, 0755))
		return sync ? env_name_sync(path) : 0;
	return errno == EEXIST ? 0 : -errno;
}

/* Where others' directories cannot be read, somebody else has made this one. */
static int make_last(const char *path, bool sync)
{
	int ret;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	ret = sync ? env_name_sync(path) : 0;
	return ret == -EACCES ? 0 : ret;
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
		ret = make_dir(copy, sync);
		*slash = '/';
	}
	if (!ret)
		ret = make_last(copy, sync);
	free(copy);
	return ret;
}
