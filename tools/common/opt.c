// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "opt.h"

#define OPT_MAX 48

int opt_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;
	const char *u;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || errno || !isfinite(v) || v < 0)
		return -EINVAL;
	u = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (u) {
		v *= (double)(1ull << (10 * (u - units + 1)));
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B' || *end == 'b')
		end++;
	if (*end || v >= 9.2e18)
		return -EINVAL;
	*bytes = (uint64_t)v;
	return 0;
}

static int opt_number(const char *text, uint64_t max, uint64_t *v)
{
	char *end;

	errno = 0;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	*v = strtoull(text, &end, 0);
	return errno || *end || *v > max ? -EINVAL : 0;
}

static int opt_append(char **list, const char *text)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", text) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

static int opt_store(const struct opt_spec *o, const char *text, void *values)
{
	void *at = (char *)values + o->offset;
	uint64_t v = 0;
	char *end;
	int err = 0;

	switch (o->type) {
	case OPT_FLAG:
		*(bool *)at = true;
		break;
	case OPT_TEXT:
		*(const char **)at = text;
		break;
	case OPT_U32:
		err = opt_number(text, UINT32_MAX, &v);
		*(uint32_t *)at = (uint32_t)v;
		break;
	case OPT_U64:
		err = opt_number(text, UINT64_MAX, at);
		break;
	case OPT_SIZE:
		err = opt_size(text, at);
		break;
	case OPT_LIST:
		err = opt_append(at, text);
		break;
	case OPT_DOUBLE:
		*(double *)at = strtod(text, &end);
		err = end == text || *end || !isfinite(*(double *)at) ? -EINVAL : 0;
		break;
	}
	return err;
}

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
	const struct opt_spec *o;
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
	const struct opt_spec *o;

	for (o = cmd->opts; o->name; o++) {
		fprintf(out, "--%s\n", o->name);
		if (o->letter)
			fprintf(out, "-%c\n", o->letter);
	}
	fprintf(out, "--help\n-h\n");
}

static void opt_long(const struct opt_cmd *cmd, struct option *lo, char *letters)
{
	const struct opt_spec *o;
	size_t n = 0;

	*letters++ = ':';
	for (o = cmd->opts; o->name && n < OPT_MAX; o++, n++) {
		lo[n] = (struct option){ .name = o->name,
					 .has_arg = o->type != OPT_FLAG,
					 .val = 256 + (int)n };
		if (o->letter) {
			*letters++ = o->letter;
			if (o->type != OPT_FLAG)
				*letters++ = ':';
		}
	}
	lo[n] = (struct option){ .name = "help", .val = 'h' };
	lo[n + 1] = (struct option){ 0 };
	*letters++ = 'h';
	*letters = 0;
}

static const struct opt_spec *opt_find(const struct opt_cmd *cmd, int c)
{
	const struct opt_spec *o;

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
	fprintf(stderr, ": %s%s%s\n", what, arg ? ": " : "", arg ? arg : "");
	fprintf(stderr, "Try '");
	opt_title(cmd, stderr);
	fprintf(stderr, " --help'.\n");
	return -EINVAL;
}

static int opt_one(const struct opt_cmd *cmd, void *values, int c, char **argv)
{
	const struct opt_spec *o;
	char text[96];

	if (c == '?')
		return opt_bad(cmd, "unknown option", argv[optind - 1]);
	if (c == ':')
		return opt_bad(cmd, "this option needs an argument", argv[optind - 1]);
	o = opt_find(cmd, c);
	if (!o)
		return opt_bad(cmd, "unknown option", argv[optind - 1]);
	if (opt_store(o, optarg, values)) {
		snprintf(text, sizeof(text), "--%s does not take", o->name);
		return opt_bad(cmd, text, optarg);
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
