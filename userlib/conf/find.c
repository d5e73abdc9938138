// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which file is the configuration. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conf/conf.h"

#define CONF_LOCAL "ddio-cluster/ddio.conf" /* as ddio start makes it */
#define CONF_SYSTEM "/etc/ddio/ddio.conf"

/* What nobody else can have put there: the current directory may be anybody's. */
static bool is_own(const char *path)
{
	struct stat st;

	return path && !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int ddio_conf_find(const char *given, char path[DDIO_CONF_PATH], char *err, size_t err_len)
{
	const char *named = given ? given : getenv("DDIO_CONF");
	bool is_named = named && named[0];
	/* Links are followed before the file is looked at, and not once more afterwards. */
	char *local = is_named ? NULL : realpath(CONF_LOCAL, NULL);
	int n = 0;

	if (is_named) {
		n = snprintf(path, DDIO_CONF_PATH, "%s", named);
	} else if (is_own(local)) {
		n = snprintf(path, DDIO_CONF_PATH, "%s", local);
	} else if (!access(CONF_SYSTEM, F_OK)) {
		n = snprintf(path, DDIO_CONF_PATH, "%s", CONF_SYSTEM);
	} else {
		snprintf(
			err, err_len,
			"no cluster's configuration: $DDIO_CONF is not set, and neither %s in this "
			"directory (a file that you alone can write) nor %s is there; 'ddio start' makes "
			"the former, see ddio.conf(5)",
			CONF_LOCAL, CONF_SYSTEM);
		n = -ENOENT;
	}
	free(local);
	if (n < 0)
		return n;
	if (n >= DDIO_CONF_PATH) {
		snprintf(err, err_len, "the configuration's path is too long");
		return -ENAMETOOLONG;
	}
	return 0;
}
