// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "opt.h"
#include "tools/common/safe/text.h"

#define OPT_MAX 64

static void opt_title(const struct opt_cmd *cmd, FILE *out)
{
	fprintf(out, "%s%s%s", cmd->program, cmd->name ? " " : "", cmd->name ? cmd->name : "");
}

static void opt_usage(const struct opt_cmd *cmd, FILE *out)
{
	fprintf(out, "Usage: ");
	opt_title(cmd, out);
	fprintf(out, " [options]%s%s\n", cmd->args ? " " : "", cmd->args ? cmd->args : "");
}

void opt_help(const struct opt_cmd *cmd, FILE *out)
{
	const struct ddio_opt *o;
	char left[64];

	opt_usage(cmd, out);
	fprintf(out, "%s\n\n", cmd->summary);
	for (o = cmd->opts; o->name; o++) {
		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
		if (o->letter)
			fprintf(out, "  -%c, %-26s %s\n", o->letter, left, o->help);
		else
			fprintf(out, "      %-26s %s\n", left, o->help);
	}
	fprintf(out, "  -h, %-26s %s\n", "--help", "show this");
}

void opt_names(const struct opt_cmd *cmd, FILE *out)
{
	const struct ddio_opt *o;

	for (o = cmd->opts; o->name; o++) {
		fprintf(out, "--%s\n", o->name);
		if (o->letter)
			fprintf(out, "-%c\n", o->letter);
	}
	fprintf(out, "--help\n-h\n");
}

static void opt_long(const struct opt_cmd *cmd, struct option *lo, char *letters)
{
	const struct ddio_opt *o;
	size_t n = 0;

	*letters++ = ':';
	for (o = cmd->opts; o->name && n < OPT_MAX; o++, n++) {
		lo[n] = (struct option){ .name = o->name,
					 .has_arg = ddio_opt_takes_value(o),
					 .val = 256 + (int)n };
		if (o->letter) {
			*letters++ = o->letter;
			if (ddio_opt_takes_value(o))
				*letters++ = ':';
		}
	}
	lo[n] = (struct option){ .name = "help", .val = 'h' };
	lo[n + 1] = (struct option){ 0 };
	*letters++ = 'h';
	*letters = 0;
}

static const struct ddio_opt *opt_find(const struct opt_cmd *cmd, int c)
{
	const struct ddio_opt *o;

	if (c >= 256)
		return &cmd->opts[c - 256];
	for (o = cmd->opts; o->name; o++)
		if (o->letter == c)
			return o;
	return NULL;
}

static int opt_bad(const struct opt_cmd *cmd, const char *what, const char *arg)
{
	opt_title(cmd, stderr);
	fputs(": ", stderr);
	text_put(stderr, what);
	fputs(arg ? ": " : "", stderr);
	text_put(stderr, arg ? arg : "");
	fputc('\n', stderr);
	fprintf(stderr, "Try '");
	opt_title(cmd, stderr);
	fprintf(stderr, " --help'.\n");
	return -EINVAL;
}

static int opt_one(const struct opt_cmd *cmd, void *values, int c, char **argv)
{
	const struct ddio_opt *o;
	char text[96], why[160];

	if (c == '?')
		return opt_bad(cmd, "unknown option", argv[optind - 1]);
	if (c == ':')
		return opt_bad(cmd, "this option needs an argument", argv[optind - 1]);
	o = opt_find(cmd, c);
	if (!o)
		return opt_bad(cmd, "unknown option", argv[optind - 1]);
	if (ddio_opt_set(o, optarg, values, why, sizeof(why))) {
		snprintf(text, sizeof(text), "--%s does not take \"%s\"", o->name, optarg);
		return opt_bad(cmd, text, why);
	}
	return 0;
}

int opt_parse(const struct opt_cmd *cmd, void *values, int *argc, char ***argv)
{
	struct option lo[OPT_MAX + 2];
	char letters[2 * OPT_MAX + 4];
	int c, err, left;

	opt_long(cmd, lo, letters);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(*argc, *argv, letters, lo, NULL)) != -1) {
		if (c == 'h') {
			opt_help(cmd, stdout);
			return 1;
		}
		err = opt_one(cmd, values, c, *argv);
		if (err)
			return err;
	}
	left = *argc - optind;
	if (left < cmd->min_args)
		return opt_bad(cmd, "argument missing", cmd->args);
	if (cmd->max_args >= 0 && left > cmd->max_args)
		return opt_bad(cmd, "too many arguments", (*argv)[optind + cmd->max_args]);
	*argv += optind;
	*argc = left;
	return 0;
}
