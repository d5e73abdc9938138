// SPDX-License-Identifier: GPL-2.0-only
/* ddio: sub-commands in the manner of git. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ddio/ddio.h>
#include "tools/common/cmd.h"

static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);

static const struct opt_spec no_opts[] = { { 0 } };
static const struct opt_cmd opts_help = {
	"ddio", "help", "[COMMAND]", "Show help on a command.", no_opts, 0, 1
};
static const struct opt_cmd opts_completion = { "ddio",
						"completion",
						"bash|options [COMMAND]",
						"Print a completion script for the shell.",
						no_opts,
						1,
						2 };

static const struct {
	const struct opt_cmd *opts;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ &opts_start, cmd_start },   { &opts_stop, cmd_stop },
	{ &opts_mount, cmd_mount },   { &opts_umount, cmd_umount },
	{ &opts_status, cmd_status }, { &opts_import, cmd_import },
	{ &opts_export, cmd_export }, { &opts_ls, cmd_ls },
	{ &opts_stat, cmd_stat },     { &opts_layout, cmd_layout },
	{ &opts_mkdir, cmd_mkdir },   { &opts_rm, cmd_rm },
	{ &opts_fsck, cmd_fsck },     { &opts_bench, cmd_bench },
	{ &opts_sim, cmd_sim },	      { &opts_lu, cmd_lu },
	{ &opts_matrix, cmd_matrix }, { &opts_disk_model, cmd_disk_model },
	{ &opts_help, cmd_help },     { &opts_completion, cmd_completion },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].opts->name, name))
			return (int)i;
	return -ENOENT;
}

static void usage(FILE *out)
{
	size_t i;

	fprintf(out, "Usage: ddio COMMAND [options] [arguments]\n"
		     "Disk-directed I/O: a parallel file system.\n\n");
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-12s %s\n", commands[i].opts->name, commands[i].opts->summary);
	fprintf(out, "\n'ddio COMMAND --help' tells more, 'man ddio' all.\n");
}

static int cmd_help(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		usage(stdout);
		return EXIT_OK;
	}
	i = find(argv[1]);
	if (i < 0) {
		fprintf(stderr, "ddio help: no command '%s'\n", argv[1]);
		return EXIT_USAGE;
	}
	opt_help(commands[i].opts, stdout);
	return EXIT_OK;
}

static void completion_bash(void)
{
	size_t i;

	printf("# bash completion for ddio\n_ddio()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (i = 0; i < NR_COMMANDS; i++)
		printf("%s%s", i ? " " : "", commands[i].opts->name);
	printf("' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (i = 0; i < NR_COMMANDS; i++) {
		const struct opt_spec *o = commands[i].opts->opts;

		printf("\t%s) COMPREPLY=($(compgen -W '--help", commands[i].opts->name);
		for (; o->name; o++)
			printf(" --%s", o->name);
		printf("' -- \"$cur\")) ;;\n");
	}
	printf("\tesac\n\tcase $cur in -*) ;; *) COMPREPLY+=($(compgen -f -- \"$cur\")) ;; esac\n"
	       "}\ncomplete -F _ddio ddio\n");
}

static int cmd_completion(int argc, char **argv)
{
	size_t i;
	int c;

	if (argc >= 2 && !strcmp(argv[1], "bash")) {
		completion_bash();
		return EXIT_OK;
	}
	if (argc >= 2 && !strcmp(argv[1], "options")) {
		if (argc == 2) {
			for (i = 0; i < NR_COMMANDS; i++)
				puts(commands[i].opts->name);
			return EXIT_OK;
		}
		c = find(argv[2]);
		if (c >= 0) {
			opt_names(commands[c].opts, stdout);
			return EXIT_OK;
		}
	}
	fprintf(stderr, "ddio completion: give 'bash', or 'options' and a command\n");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ddio %s (%s)\n", ddio_version(), DDIO_COMMIT);
		return EXIT_OK;
	}
	i = find(argv[1]);
	if (i < 0) {
		fprintf(stderr, "ddio: no command '%s'; 'ddio --help' lists them\n", argv[1]);
		return EXIT_USAGE;
	}
	return commands[i].run(argc - 1, argv + 1);
}
