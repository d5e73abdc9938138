// SPDX-License-Identifier: LGPL-2.1-or-later
/* "name=value,name=value" read into a struct, as a table says. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "env/disk/priv.h"

const struct ddio_engine_option ddio_disk_common_options[] = {
	{
		.name = "fail_after",
		.type = DDIO_OPT_U64,
		.offset = offsetof(struct disk_common, fail_after),
		.min = 0,
		.max = 1e18,
		.help = "requests that work before all others fail with EIO (fault injection)",
	},
	{
		.name = "stream",
		.type = DDIO_OPT_BOOL,
		.offset = offsetof(struct disk_common, stream),
		.help = "collectives give the disk whole lists; default where the engine knows them",
	},
	{
		.name = "scatter",
		.type = DDIO_OPT_BOOL,
		.offset = offsetof(struct disk_common, scatter),
		.help = "collectives move blocks straight between the disk and processes of its "
			"machine; default where the engine can",
	},
	{ .name = NULL },
};

struct parse {
	const struct ddio_disk_spec *spec;
	void *opts;
	char *err;
	size_t err_len;
};

static const struct ddio_engine_option *option_find(const struct ddio_engine_option *options,
						    const char *name)
{
	for (; options && options->name; options++)
		if (!strcmp(options->name, name))
			return options;
	return NULL;
}

static int parse_bad(const struct parse *p, const struct ddio_engine_option *option,
		     const char *value, const char *wanted)
{
	disk_err(p->err, p->err_len, p->spec, "option %s: \"%s\" is not %s", option->name, value,
		 wanted);
	return -EINVAL;
}

static int parse_range(const struct parse *p, const struct ddio_engine_option *option,
		       const char *value, double number)
{
	if (number >= option->min && number <= option->max)
		return 0;
	disk_err(p->err, p->err_len, p->spec, "option %s: %s is out of range, %g to %g",
		 option->name, value, option->min, option->max);
	return -EINVAL;
}

static int parse_bool(const struct parse *p, const struct ddio_engine_option *option,
		      const char *value, void *at)
{
	static const char *const words[] = { "0", "1", "no", "yes", "off", "on", "false", "true" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(value, words[i])) {
			*(bool *)at = i % 2;
			return 0;
		}
	}
	return parse_bad(p, option, value, "yes or no");
}

static int parse_u64(const struct parse *p, const struct ddio_engine_option *option,
		     const char *value, void *at)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		return parse_bad(p, option, value, "a whole number");
	*(uint64_t *)at = number;
	return parse_range(p, option, value, (double)number);
}

static int parse_double(const struct parse *p, const struct ddio_engine_option *option,
			const char *value, void *at)
{
	double number;
	char *end;

	number = strtod(value, &end);
	if (end == value || *end || !isfinite(number))
		return parse_bad(p, option, value, "a number");
	*(double *)at = number;
	return parse_range(p, option, value, number);
}

static int parse_text(const struct parse *p, const char *value, void *at)
{
	char *copy = strdup(value);

	if (!copy) {
		disk_err(p->err, p->err_len, p->spec, "out of memory");
		return -ENOMEM;
	}
	free(*(char **)at);
	*(char **)at = copy;
	return 0;
}

static int parse_value(const struct parse *p, const struct ddio_engine_option *option,
		       const char *value)
{
	void *at = (char *)p->opts + option->offset;

	switch (option->type) {
	case DDIO_OPT_BOOL:
		return parse_bool(p, option, value, at);
	case DDIO_OPT_U64:
		return parse_u64(p, option, value, at);
	case DDIO_OPT_DOUBLE:
		return parse_double(p, option, value, at);
	case DDIO_OPT_TEXT:
		return parse_text(p, value, at);
	}
	return -EINVAL;
}

/* @others: names that belong to somebody else's struct. */
static int parse_one(const struct parse *p, const struct ddio_engine_option *options,
		     const struct ddio_engine_option *others, char *text)
{
	const struct ddio_engine_option *option;
	char *value = strchr(text, '=');

	if (!value || value == text) {
		disk_err(p->err, p->err_len, p->spec, "option \"%s\" is not name=value", text);
		return -EINVAL;
	}
	*value++ = '\0';
	option = option_find(options, text);
	if (option)
		return parse_value(p, option, value);
	if (option_find(others, text))
		return 0;
	disk_err(p->err, p->err_len, p->spec, "unknown option \"%s\"", text);
	return -EINVAL;
}

static int parse_all(const struct parse *p, const struct ddio_engine_option *options,
		     const struct ddio_engine_option *others)
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

int disk_options_parse(const struct ddio_engine_option *options, const struct ddio_disk_spec *spec,
		       void *opts, char *err, size_t err_len)
{
	struct parse p = { .spec = spec, .opts = opts, .err = err, .err_len = err_len };

	return parse_all(&p, options, ddio_disk_common_options);
}

int disk_options_parse_common(const struct ddio_engine_option *options,
			      const struct ddio_disk_spec *spec, struct disk_common *common,
			      char *err, size_t err_len)
{
	struct parse p = { .spec = spec, .opts = common, .err = err, .err_len = err_len };

	return parse_all(&p, ddio_disk_common_options, options);
}

void disk_option_print(FILE *out, const struct ddio_engine_option *option)
{
	switch (option->type) {
	case DDIO_OPT_BOOL:
		fprintf(out, "  %s=yes|no", option->name);
		break;
	case DDIO_OPT_U64:
	case DDIO_OPT_DOUBLE:
		fprintf(out, "  %s=%g..%g", option->name, option->min, option->max);
		break;
	case DDIO_OPT_TEXT:
		fprintf(out, "  %s=TEXT", option->name);
		break;
	}
	fprintf(out, "\t%s\n", option->help);
}
