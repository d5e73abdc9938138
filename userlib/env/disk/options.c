// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses "name=value,name=value" into a struct by a table of options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/disk/priv.h"

const struct ddio_opt ddio_disk_common_options[] = {
	{
		.name = "fail_after",
		.type = OPT_U64,
		.offset = offsetof(struct disk_common, fail_after),
		.min = 0,
		.max = 1e18,
		.help = "requests that succeed before all others fail with EIO (fault injection)",
	},
	{
		.name = "stream",
		.type = OPT_BOOL,
		.offset = offsetof(struct disk_common, stream),
		.help = "collectives give the disk whole block lists (default: where the engine takes them)",
	},
	{
		.name = "scatter",
		.type = OPT_BOOL,
		.offset = offsetof(struct disk_common, scatter),
		.help = "collectives move blocks directly between the disk and processes of its "
			"machine (default: where the engine can)",
	},
	{ .name = NULL },
};

struct parse {
	const struct ddio_disk_spec *spec;
	void *opts;
	char *err;
	size_t err_len;
};

static int parse_value(const struct parse *p, const struct ddio_opt *option, const char *value)
{
	char why[160];
	int ret = ddio_opt_set(option, value, p->opts, why, sizeof(why));

	if (ret)
		disk_err(p->err, p->err_len, p->spec, "option %s does not take \"%s\": %s",
			 option->name, value, why);
	return ret;
}

/* Parses one option; @others: options of the other struct, which are skipped. */
static int parse_one(const struct parse *p, const struct ddio_opt *options,
		     const struct ddio_opt *others, char *text)
{
	const struct ddio_opt *option;
	char *value = strchr(text, '=');

	if (!value || value == text) {
		disk_err(p->err, p->err_len, p->spec, "option \"%s\" is not name=value", text);
		return -EINVAL;
	}
	*value++ = '\0';
	option = ddio_opt_find(options, text);
	if (option)
		return parse_value(p, option, value);
	if (ddio_opt_find(others, text))
		return 0;
	disk_err(p->err, p->err_len, p->spec, "unknown option \"%s\"", text);
	return -EINVAL;
}

static int parse_all(const struct parse *p, const struct ddio_opt *options,
		     const struct ddio_opt *others)
{
	char *copy, *at, *text;
	int ret = 0;

	if (!p->spec->options || !*p->spec->options)
		return 0;
	copy = strdup(p->spec->options);
	if (!copy) {
		disk_err(p->err, p->err_len, p->spec, "out of memory");
		return -ENOMEM;
	}
	for (at = copy; !ret && (text = strsep(&at, ","));) {
		text += strspn(text, " \t");
		ret = parse_one(p, options, others, text);
	}
	free(copy);
	return ret;
}

int disk_options_parse(const struct ddio_opt *options, const struct ddio_disk_spec *spec,
		       void *opts, char *err, size_t err_len)
{
	struct parse p = { .spec = spec, .opts = opts, .err = err, .err_len = err_len };

	return parse_all(&p, options, ddio_disk_common_options);
}

int disk_options_parse_common(const struct ddio_opt *options, const struct ddio_disk_spec *spec,
			      struct disk_common *common, char *err, size_t err_len)
{
	struct parse p = { .spec = spec, .opts = common, .err = err, .err_len = err_len };

	return parse_all(&p, ddio_disk_common_options, options);
}

void disk_option_print(FILE *out, const struct ddio_opt *option)
{
	char limits[64];

	ddio_opt_limits(option, limits, sizeof(limits));
	fprintf(out, "  %s=%s\t%s\n", option->name, limits, option->help);
}
