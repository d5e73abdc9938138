// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "commands.h"

const char *const commands_form_names[COMMANDS_FORMS] = {
	[COMMANDS_SUMMARIES] = "summaries",
	[COMMANDS_NAMES] = "names",
	[COMMANDS_OPTIONS] = "options",
};

const struct subcommand *commands_find(const struct subcommand *table, const char *name)
{
	const struct subcommand *c;

	for (c = table; c->opts; c++)
		if (!strcmp(c->opts->name, name))
			return c;
	return NULL;
}

static void print_options(const struct opt_cmd *cmd, FILE *out)
{
	const struct ddio_opt *o;

	fprintf(out, "%s --help", cmd->name);
	for (o = cmd->opts; o->name; o++)
		fprintf(out, " --%s", o->name);
	fputc('\n', out);
}

void commands_list(const struct subcommand *table, enum commands_form form, FILE *out)
{
	const struct subcommand *c;

	for (c = table; c->opts; c++) {
		if (form == COMMANDS_SUMMARIES)
			fprintf(out, "  %-12s %s\n", c->opts->name, c->opts->summary);
		else if (form == COMMANDS_OPTIONS)
			print_options(c->opts, out);
		else
			fprintf(out, "%s\n", c->opts->name);
	}
}
