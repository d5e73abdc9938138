/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the configuration. */
#ifndef CONF_PRIV_H
#define CONF_PRIV_H

#include <stdarg.h>
#include "base/opttab.h"
#include "conf/conf.h"

#define CONF_MIN_BLOCK 512u
#define CONF_MAX_BLOCK (16u << 20)
#define CONF_MAX_NAME 32
#define CONF_MAX_OPTIONS 24 /* of one kind of section */
#define CONF_MAX_TEXT (64u << 20)
#define CONF_MAX_SECTIONS 65536u

enum conf_security { CONF_SECURITY_NONE, CONF_SECURITY_TLS };

enum conf_kind { CONF_CLUSTER, CONF_NODE, CONF_DISK, CONF_KINDS };

/**
 * struct conf_section - one section as it was read
 * @cluster.security: of enum conf_security, if @cluster.secured
 * @lines: where each option was given, by its index in the table; 0: it was not
 */
struct conf_section {
	enum conf_kind kind;
	int line;
	char *name;
	int lines[CONF_MAX_OPTIONS];
	union {
		struct {
			struct ddio_conf conf;
			char *ns_node;
			unsigned int security;
			bool secured;
		} cluster;
		struct ddio_conf_node node;
		struct {
			struct ddio_conf_disk disk;
			char *node;
		} disk;
	};
};

struct conf_parser {
	const char *name; /* of the file */
	char *err;
	size_t err_len;
	int ret; /* the first error */
	struct conf_section **sections;
	size_t nsections;
	struct conf_section *current;
};

/* table.c: options end with a NULL name. */
extern const char *const conf_brokers[];
extern const struct ddio_opt *const conf_options[CONF_KINDS];
extern const char *const conf_kind_names[CONF_KINDS];
/* Where @name was given (the section's line if it was not). */
int conf_line_of(const struct conf_section *section, const char *name);

/* Records the first error.  Return: @ret. */
int conf_fail(struct conf_parser *parser, int ret, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* value.c: whether a text is a name, or an address. */
bool conf_name_ok(const char *name);
bool conf_address_ok(const char *text);
/* Whether a text lists addresses of machines, or of networks. */
bool conf_nets_ok(const char *text);

/* read.c: parses text into sections. */
int conf_read(struct conf_parser *parser, const char *text, size_t len);

/* check.c: whether a node listens where other machines reach it. */
bool conf_is_reached(const struct ddio_conf *conf);
/* Checks whether the parts fit together. */
int conf_check(struct conf_parser *parser, const struct ddio_conf *conf);

#endif /* CONF_PRIV_H */
