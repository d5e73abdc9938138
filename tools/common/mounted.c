// SPDX-License-Identifier: GPL-2.0-only
/* Turns a path below a mount into the name in the cluster. */
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"

#define FILE_SYSTEM "fuse.ddio"

/* Return: the part of @path below @dir, with its slash in front; NULL if it is not below. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return path;
	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* Finds the innermost mount above @path; the last one mounted hides the others.  Returns whether it is ours. */
static bool mount_find(const char *path, char source[PATH_MAX], char rest[PATH_MAX])
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	/* Each byte of a path may be escaped as four. */
	char line[8 * PATH_MAX + 512];
	const char *at;
	struct mntent m;
	size_t best = 0;
	bool ours = false;

	while (f && getmntent_r(f, &m, line, sizeof(line))) {
		at = below(path, m.mnt_dir);
		if (!at || strlen(m.mnt_dir) < best)
			continue;
		best = strlen(m.mnt_dir);
		ours = !strcmp(m.mnt_type, FILE_SYSTEM);
		snprintf(source, PATH_MAX, "%s", m.mnt_fsname);
		snprintf(rest, PATH_MAX, "%s", at);
	}
	if (f)
		endmntent(f);
	return ours;
}

/* The real path of a file that is not there yet: that of its directory, and its name. */
static bool new_path(const char *name, char path[PATH_MAX])
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	char dir[PATH_MAX], real[PATH_MAX];
	int n;

	if (!*last || last - name >= PATH_MAX)
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(last - name), name);
	if (!realpath(dir[0] ? dir : ".", real))
		return false;
	n = snprintf(path, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "", last);
	return n < PATH_MAX;
}

/* Returns the name in the cluster of what is at @path, or NULL if that is not below a mount. */
static const char *name_at(const char *path, char out[2 * PATH_MAX], char conf[PATH_MAX])
{
	char source[PATH_MAX], rest[PATH_MAX];
	const char *dir = "";

	if (!mount_find(path, source, rest))
		return NULL;
	/* The source is "node:/dir", or the path of the configuration. */
	if (source[0] == '/')
		snprintf(conf, PATH_MAX, "%s", source);
	else if (strchr(source, ':'))
		dir = strchr(source, ':') + 1;
	snprintf(out, 2 * PATH_MAX, "%s%s", strcmp(dir, "/") ? dir : "", rest);
	return out[strspn(out, "/")] ? out + strspn(out, "/") : "/";
}

const char *cmd_mounted(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX])
{
	char path[PATH_MAX];
	const char *found;

	conf[0] = '\0';
	found = realpath(name, path) ? name_at(path, out, conf) : NULL;
	return found ? found : name;
}

const char *cmd_mounted_new(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX])
{
	char path[PATH_MAX];
	const char *found;

	conf[0] = '\0';
	found = realpath(name, path) || new_path(name, path) ? name_at(path, out, conf) : NULL;
	return found ? found : name;
}
