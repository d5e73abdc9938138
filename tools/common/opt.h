/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options from tables: parsing, help, completion and the comparison with the
 * manual pages all read the same one.
 */
#ifndef DDIO_OPT_H
#define DDIO_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_type {
	OPT_FLAG,   /* bool, no argument */
	OPT_TEXT,   /* const char *, points into argv */
	OPT_U32,    /* uint32_t */
	OPT_U64,    /* uint64_t */
	OPT_SIZE,   /* uint64_t, with K M G T suffix */
	OPT_DOUBLE, /* double */
	OPT_LIST,   /* char *, the caller's; given again, it is added behind a comma */
};

/**
 * struct opt_spec - one option
 * @name: long name, without dashes; NULL ends a table
 * @letter: short form or 0
 * @type: what @offset is the offset of, in the command's struct of values
 * @arg: name of the argument in help texts
 * @help: one line
 */
struct opt_spec {
	const char *name;
	char letter;
	enum opt_type type;
	size_t offset;
	const char *arg;
	const char *help;
};

/**
 * struct opt_cmd - a program or sub-command
 * @name: "bench"; @args: its positional arguments in help texts; @summary: one line
 * @min_args, @max_args: bounds on positional arguments (-1: any number)
 */
struct opt_cmd {
	const char *program;
	const char *name;
	const char *args;
	const char *summary;
	const struct opt_spec *opts;
	int min_args, max_args;
};

/* Exit codes of every command. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/**
 * opt_parse - read a command line into a struct of values
 * @values: defaults on entry
 * @argc, @argv: argv[0] is the command's name; on return the positional arguments only
 * Return: 0; 1 if --help was asked for and printed; -EINVAL after a message on standard error.
 */
int opt_parse(const struct opt_cmd *cmd, void *values, int *argc, char ***argv);
void opt_help(const struct opt_cmd *cmd, FILE *out);
/* "--name" and "-l" a line, for completion and tests. */
void opt_names(const struct opt_cmd *cmd, FILE *out);
/* "64K", "10MB", "1.5G", powers of two. */
int opt_size(const char *text, uint64_t *bytes);

#endif /* DDIO_OPT_H */
