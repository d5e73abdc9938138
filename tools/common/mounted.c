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
	char line[2 * PATH_MAX + 512];
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

const char *cmd_mounted(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX])
{
	char path[PATH_MAX], source[PATH_MAX], rest[PATH_MAX];
	const char *dir = "";

	conf[0] = '\0';
	if (!realpath(name, path) || !mount_find(path, source, rest))
		return name;
	/* The source is "node:/dir", or the path of the configuration. */
	if (source[0] == '/')
		snprintf(conf, PATH_MAX, "%s", source);
	else if (strchr(source, ':'))
		dir = strchr(source, ':') + 1;
	snprintf(out, 2 * PATH_MAX, "%s%s", strcmp(dir, "/") ? dir : "", rest);
	return out[strspn(out, "/")] ? out + strspn(out, "/") : "/";
}
