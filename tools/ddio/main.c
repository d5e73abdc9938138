// SPDX-License-Identifier: GPL-2.0-only
/* ddio: finds the sub-command and runs it, here or in ddio-lab. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ddio.h"
#include "tools/ddio/care/care.h"
#include "tools/ddio/transfer/transfer.h"
#include "tools/common/version.h"
#include "tools/trace/trace.h"

static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);

static const struct ddio_opt no_opts[] = { { 0 } };
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

static const struct subcommand commands[] = {
	{ &opts_start, cmd_start },
	{ &opts_stop, cmd_stop },
	{ &opts_mount, cmd_mount },
	{ &opts_umount, cmd_umount },
	{ &opts_status, cmd_status },
	{ &opts_top, cmd_top },
	{ &opts_trace, cmd_trace },
	{ &opts_import, cmd_import },
	{ &opts_export, cmd_export },
	{ &opts_ls, cmd_ls },
	{ &opts_stat, cmd_stat },
	{ &opts_layout, cmd_layout },
	{ &opts_mkdir, cmd_mkdir },
	{ &opts_rm, cmd_rm },
	{ &opts_clone, cmd_clone },
	{ &opts_snap, cmd_snap },
	{ &opts_snaps, cmd_snaps },
	{ &opts_frag, cmd_frag },
	{ &opts_mend, cmd_mend },
	{ &opts_query, cmd_query },
	{ &opts_fsck, cmd_fsck },
	{ &opts_scrub, cmd_scrub },
	{ &opts_replace, cmd_replace },
	{ &opts_key, cmd_key },
	{ &opts_mpi, cmd_mpi },
	{ &opts_help, cmd_help },
	{ &opts_completion, cmd_completion },
	{ 0 },
};

static void usage(FILE *out)
{
	fprintf(out, "Usage: ddio COMMAND [options] [arguments]\n"
		     "Disk-directed I/O: a parallel file system.\n\n");
	commands_list(commands, COMMANDS_SUMMARIES, out);
	fprintf(out, "\nFor measurements and experiments (ddio-lab):\n");
	if (!lab_list(COMMANDS_SUMMARIES, out))
		fprintf(out, "  ddio-lab is not installed\n");
	fprintf(out, "\n'ddio COMMAND --help' shows a command's options, 'man ddio' everything.\n");
}

/* The command of ddio-lab, if there is one of that name: does not return then. */
static int run_lab(char **argv)
{
	int err = lab_exec(argv);

	if (err == -ENOENT)
		fprintf(stderr,
			"ddio: no command '%s' ('ddio help' lists them); ddio-lab is not installed\n",
			argv[0]);
	else
		fprintf(stderr, "ddio: cannot run ddio-lab: %s\n", strerror(-err));
	return EXIT_USAGE;
}

static int cmd_help(int argc, char **argv)
{
	const struct subcommand *c;
	char *help[] = { NULL, (char *)"--help", NULL };

	if (argc < 2 || argv[1][0] == '-') {
		usage(stdout);
		return EXIT_OK;
	}
	c = commands_find(commands, argv[1]);
	if (!c) {
		help[0] = argv[1];
		return run_lab(help);
	}
	opt_help(c->opts, stdout);
	return EXIT_OK;
}

static void list_all(enum commands_form form, FILE *out)
{
	commands_list(commands, form, out);
	fflush(out);
	lab_list(form, out);
}

/* Each line of @text, "name --option ...", becomes a case of the shell's. */
static void completion_cases(char *text)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int n = (int)strcspn(line, " ");

		printf("\t%.*s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", n, line,
		       line + n + (line[n] == ' '));
	}
}

static int list_text(enum commands_form form, char **text)
{
	size_t len;
	FILE *f = open_memstream(text, &len);

	if (!f)
		return -errno;
	list_all(form, f);
	return fclose(f) ? -errno : 0;
}

static int completion_bash(void)
{
	char *names = NULL, *options = NULL, *c;
	int err = list_text(COMMANDS_NAMES, &names);

	if (!err)
		err = list_text(COMMANDS_OPTIONS, &options);
	if (err) {
		cmd_fail("completion", err, "cannot list the commands");
		goto out;
	}
	for (c = names; *c; c++)
		if (*c == '\n')
			*c = ' ';
	printf("# bash completion for ddio\n_ddio()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n"
	       "\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n",
	       names);
	completion_cases(options);
	printf("\tesac\n\tcase $cur in -*) ;; *) COMPREPLY+=($(compgen -f -- \"$cur\")) ;; esac\n"
	       "}\ncomplete -F _ddio ddio\n");
out:
	free(names);
	free(options);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int completion_options(char *name)
{
	const struct subcommand *c = commands_find(commands, name);
	char *list[] = { (char *)"--list", name, NULL };

	if (!c)
		return run_lab(list);
	opt_names(c->opts, stdout);
	return EXIT_OK;
}

static int cmd_completion(int argc, char **argv)
{
	int err = opt_parse(&opts_completion, NULL, &argc, &argv);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (argc == 1 && !strcmp(argv[0], "bash"))
		return completion_bash();
	if (strcmp(argv[0], "options")) {
		fprintf(stderr,
			"ddio completion: give 'bash', or 'options' with or without a command\n");
		return EXIT_USAGE;
	}
	if (argc == 2)
		return completion_options(argv[1]);
	list_all(COMMANDS_NAMES, stdout);
	return EXIT_OK;
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
		printf("ddio %s (%s)\n", tool_version, tool_commit);
		return EXIT_OK;
	}
	c = commands_find(commands, argv[1]);
	return c ? c->run(argc - 1, argv + 1) : run_lab(argv + 1);
}
