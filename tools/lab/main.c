// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio-lab: measurements and experiments, with all that ddio itself must not carry: the simulator,
 * the I/O processor, the fault tester.  Reached as "ddio bench" and so on.
 */
#include <string.h>
#include "tools/common/commands.h"
#include "tools/common/version.h"
#include "tools/lab/bench/bench.h"
#include "tools/lab/disk_model/disk_model.h"
#include "tools/lab/lu/lu.h"
#include "tools/lab/sim/sim.h"

static const struct subcommand commands[] = {
	{ &opts_bench, cmd_bench },
	{ &opts_sim, cmd_sim },
	{ &opts_lu, cmd_lu },
	{ &opts_matrix, cmd_matrix },
	{ &opts_disk_model, cmd_disk_model },
	{ 0 },
};

static int no_command(const char *name)
{
	fprintf(stderr, "ddio: no command '%s'; 'ddio help' lists them\n", name);
	return EXIT_USAGE;
}

static void usage(FILE *out)
{
	fprintf(out, "Usage: ddio-lab COMMAND [options] [arguments]\n"
		     "Measurements and experiments of ddio; 'ddio COMMAND' runs them, too.\n\n");
	commands_list(commands, COMMANDS_SUMMARIES, out);
}

/* For ddio's help and completion: a list of the commands, or the options of one. */
static int list(const char *what)
{
	const struct subcommand *c = commands_find(commands, what);
	int i;

	if (c) {
		opt_names(c->opts, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < COMMANDS_FORMS; i++) {
		if (!strcmp(what, commands_form_names[i])) {
			commands_list(commands, i, stdout);
			return EXIT_OK;
		}
	}
	return no_command(what);
}

int main(int argc, char **argv)
{
	const struct subcommand *c;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ddio-lab %s (%s)\n", tool_version, tool_commit);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--list") && argc == 3)
		return list(argv[2]);
	c = commands_find(commands, argv[1]);
	return c ? c->run(argc - 1, argv + 1) : no_command(argv[1]);
}
