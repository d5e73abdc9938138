// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <stdio.h>
#include <unistd.h>
#include "program.h"

const char *program_find(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = { "", "../sbin/" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	size_t i;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return name;
	slash[1] = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		n = snprintf(path, PATH_MAX, "%s%s%s", self, places[i], name);
		if (n < PATH_MAX && !access(path, X_OK))
			return path;
	}
	return name;
}
