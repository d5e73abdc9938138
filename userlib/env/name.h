/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that survive a loss of power.  An fsync of a file makes its bytes durable; its name is durable when the
 * directory has been synced.
 */
#ifndef DDIO_ENV_NAME_H
#define DDIO_ENV_NAME_H

#include <stdbool.h>

/* Makes the name of a file or directory durable.  0 or -errno. */
int env_name_sync(const char *path);

/*
 * Makes a directory, for its owner only, and those above it.  @sync: the names of all of them are durable, also of those
 * that were there: whoever made them may have died before that.  0 or -errno.
 */
int ddio_env_dirs_make(const char *path, bool sync);

#endif /* DDIO_ENV_NAME_H */
