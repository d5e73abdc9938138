/* SPDX-License-Identifier: GPL-2.0-only */
/* Mount options and the source. */
#ifndef DDIOFS_OPTIONS_H
#define DDIOFS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cache_mode { CACHE_AUTO, CACHE_NONE, CACHE_ALWAYS };

/**
 * struct mount_opts - the mount that was asked for
 * @conf: path of the configuration; NULL: the library's default
 * @sub: the cluster's directory that is mounted, without a slash in front
 * @cache: enum cache_mode
 * @timeout: seconds; 0: the configuration's
 * @attr_timeout, @entry_timeout, @negative_timeout: seconds for which the kernel caches attributes, names,
 *	and failed lookups
 * @kernel: options for the kernel, each with a comma in front
 */
struct mount_opts {
	const char *source, *dir;
	char *conf, *sub;
	bool hard, ro, noatime, allow_other, no_permissions, no_shared_maps, debug;
	unsigned int cache;
	double timeout, attr_timeout, entry_timeout, negative_timeout;
	bool attr_set, entry_set, negative_set, uid_set, gid_set;
	uint32_t threads, uid, gid;
	char kernel[256];
};

void mount_opts_init(struct mount_opts *o);
void mount_opts_free(struct mount_opts *o);
/* Parses a list with commas; later options win.  Returns 0, or -EINVAL with a line in @err. */
int mount_opts_parse(struct mount_opts *o, const char *list, char *err, size_t err_len);
/* Takes "node:/dir" or "/path/of/ddio.conf"; due after the options. */
int mount_opts_source(struct mount_opts *o, const char *source, char *err, size_t err_len);
/* Sets defaults that follow from other options; due last. */
void mount_opts_settle(struct mount_opts *o);
void mount_opts_help(FILE *out);
/* Prints the names, one a line, to compare them with the manual page. */
void mount_opts_names(FILE *out);

#endif /* DDIOFS_OPTIONS_H */
