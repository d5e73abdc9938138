/* SPDX-License-Identifier: GPL-2.0-only */
/* What follows -o, and what a source means. */
#ifndef DDIOFS_OPTIONS_H
#define DDIOFS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cache_mode { CACHE_AUTO, CACHE_NONE, CACHE_ALWAYS };

/**
 * struct mount_opts - a mount, as asked for
 * @conf: configuration; NULL: the library's default
 * @sub: directory of the cluster that is mounted, without a slash in front
 * @timeout: seconds; 0: the configuration's
 * @negative_timeout: for how long the kernel believes that there is no such name
 * @kernel: options for the kernel, each with a comma in front
 */
struct mount_opts {
	const char *source, *dir;
	char *conf, *sub;
	bool hard, ro, noatime, allow_other, no_permissions, debug;
	enum cache_mode cache;
	double timeout, attr_timeout, entry_timeout, negative_timeout;
	bool attr_set, entry_set, negative_set, uid_set, gid_set;
	uint32_t threads, uid, gid;
	char kernel[256];
};

void mount_opts_init(struct mount_opts *o);
void mount_opts_free(struct mount_opts *o);
/* Of a list with commas; later ones hold. Return: 0, -EINVAL with a line in @err. */
int mount_opts_parse(struct mount_opts *o, const char *list, char *err, size_t err_len);
/* "node:/dir", "/path/of/ddio.conf"; after the options. */
int mount_opts_source(struct mount_opts *o, const char *source, char *err, size_t err_len);
/* What follows from other options; last. */
void mount_opts_settle(struct mount_opts *o);
void mount_opts_help(FILE *out);
/* The names, one a line, for the comparison with the manual page. */
void mount_opts_names(FILE *out);

#endif /* DDIOFS_OPTIONS_H */
