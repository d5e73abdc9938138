/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines: a program's or sub-command's options are a table of base/opttab.h. */
#ifndef TOOLS_OPT_H
#define TOOLS_OPT_H

#include <stdio.h>
#include "base/opttab.h"

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
	const struct ddio_opt *opts;
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

#endif /* TOOLS_OPT_H */
