/* SPDX-License-Identifier: GPL-2.0-only */
/* A program's sub-commands as a table: running one, and listing all for help and completion. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include <stdio.h>
#include "opt.h"

/**
 * struct subcommand - one sub-command
 * @opts: its name and options
 * @run: runs it; argv[0] is its name.  Returns an exit code.
 */
struct subcommand {
	const struct opt_cmd *opts;
	int (*run)(int argc, char **argv);
};

/* Tables end with an entry whose @opts is NULL. */

/* Return: the command of that name, or NULL. */
const struct subcommand *commands_find(const struct subcommand *table, const char *name);

/**
 * commands_list - print the table, a line for each command
 * @form: what a line holds: COMMANDS_SUMMARIES: name and summary, for help; COMMANDS_NAMES: the
 *	name; COMMANDS_OPTIONS: the name and its long options, for completion
 */
enum commands_form { COMMANDS_SUMMARIES, COMMANDS_NAMES, COMMANDS_OPTIONS, COMMANDS_FORMS };
void commands_list(const struct subcommand *table, enum commands_form form, FILE *out);

/* By which ddio asks ddio-lab for a list: "ddio-lab --list FORM". */
extern const char *const commands_form_names[COMMANDS_FORMS];

#endif /* TOOLS_COMMANDS_H */
