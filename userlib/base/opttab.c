// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/opttab.h"
#include "base/units.h"

#define NS_PER_S 1e9

const struct ddio_opt *ddio_opt_find(const struct ddio_opt *table, const char *name)
{
	for (; table && table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

bool ddio_opt_takes_value(const struct ddio_opt *opt)
{
	return opt->type != OPT_FLAG && opt->type != OPT_UNFLAG && opt->type != OPT_NONE;
}

/*
 * Limits
 */
static double highest(const struct ddio_opt *opt)
{
	if (opt->max > 0)
		return opt->max;
	switch (opt->type) {
	case OPT_U32:
	case OPT_POWER:
		return UINT32_MAX;
	case OPT_SIZE:
		return 0x1p63 - 1024;
	case OPT_SECONDS:
		return 1e9;
	case OPT_DOUBLE:
		return HUGE_VAL;
	default:
		return 0x1p64;
	}
}

static bool in_range(const struct ddio_opt *opt, double v)
{
	return v >= (opt->type == OPT_DOUBLE && opt->max <= 0 ? -HUGE_VAL : opt->min) &&
	       v <= highest(opt);
}

/* Writes one limit in the unit of the option's type. */
static void print_limit(const struct ddio_opt *opt, double v, char *text, size_t len)
{
	if (opt->type == OPT_SIZE || opt->type == OPT_POWER)
		print_size(text, len, (uint64_t)v);
	else if (opt->type == OPT_TIME)
		print_time(text, len, (uint64_t)v);
	else
		snprintf(text, len, v < 1e15 ? "%.15g" : "%g", v);
}

static void print_words(const char *const *words, char *text, size_t len)
{
	size_t at = 0;

	for (text[0] = '\0'; *words && at < len; words++)
		at += (size_t)snprintf(text + at, len - at, "%s%s", at ? ", " : "", *words);
}

static bool is_text(const struct ddio_opt *opt)
{
	return opt->type == OPT_TEXT || opt->type == OPT_STRING || opt->type == OPT_LIST;
}

void ddio_opt_limits(const struct ddio_opt *opt, char *text, size_t len)
{
	char min[40], max[40];

	text[0] = '\0';
	if (!ddio_opt_takes_value(opt))
		return;
	if (opt->type == OPT_BOOL)
		snprintf(text, len, "yes or no");
	else if (opt->type == OPT_WORD)
		print_words(opt->words, text, len);
	else if (is_text(opt))
		snprintf(text, len, "%s", opt->arg ? opt->arg : "text");
	else if (opt->max > 0) {
		print_limit(opt, opt->min, min, sizeof(min));
		print_limit(opt, opt->max, max, sizeof(max));
		snprintf(text, len, "%s%s%s to %s", opt->special ? opt->special : "",
			 opt->special ? " or " : "", min, max);
	} else {
		snprintf(text, len, "%s", opt->arg ? opt->arg : "number");
	}
}

static const char *noun_of(enum opt_type type)
{
	switch (type) {
	case OPT_SIZE:
		return "sizes";
	case OPT_POWER:
		return "powers of two";
	case OPT_TIME:
	case OPT_SECONDS:
		return "times";
	case OPT_U32:
	case OPT_U64:
		return "whole numbers";
	default:
		return "numbers";
	}
}

static const char *units_of(enum opt_type type)
{
	if (type == OPT_SIZE || type == OPT_POWER)
		return ", with K, M, G or T after the number";
	return type == OPT_TIME || type == OPT_SECONDS ? ", with ms, s or m after the number" : "";
}

static int refuse_number(const struct ddio_opt *opt, char *why, size_t len)
{
	char min[40], max[40];

	print_limit(opt, opt->min, min, sizeof(min));
	print_limit(opt, opt->max, max, sizeof(max));
	snprintf(why, len, "allowed are %s%s%s%s%s%s%s%s", opt->special ? "the word " : "",
		 opt->special ? opt->special : "", opt->special ? " and " : "", noun_of(opt->type),
		 opt->max > 0 ? " from " : "", opt->max > 0 ? min : "", opt->max > 0 ? " to " : "",
		 opt->max > 0 ? max : "");
	snprintf(why + strlen(why), len - strlen(why), "%s", units_of(opt->type));
	return -EINVAL;
}

/*
 * Values
 */
static int set_bool(const char *text, bool *at, char *why, size_t len)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcasecmp(words[i], text)) {
			*at = i % 2;
			return 0;
		}
	}
	snprintf(why, len, "allowed are yes and no");
	return -EINVAL;
}

static int set_word(const struct ddio_opt *opt, const char *text, unsigned int *at, char *why,
		    size_t len)
{
	char all[200];
	unsigned int i;

	for (i = 0; opt->words[i]; i++) {
		if (!strcmp(opt->words[i], text)) {
			*at = i;
			return 0;
		}
	}
	print_words(opt->words, all, sizeof(all));
	snprintf(why, len, "allowed are %s", all);
	return -EINVAL;
}

/* Returns a copy of @text, appended to what a list already holds. */
static char *copy_of(const char *list, const char *text)
{
	size_t len = (list ? strlen(list) + 1 : 0) + strlen(text) + 1;
	char *copy = malloc(len);

	if (copy)
		snprintf(copy, len, "%s%s%s", list ? list : "", list ? "," : "", text);
	return copy;
}

static int set_text(const struct ddio_opt *opt, const char *text, void *at, char *why, size_t len)
{
	char *copy;

	if (opt->check && !opt->check(text)) {
		snprintf(why, len, "allowed is %s", opt->allowed);
		return -EINVAL;
	}
	if (opt->type == OPT_TEXT) {
		*(const char **)at = text;
		return 0;
	}
	copy = copy_of(opt->type == OPT_LIST ? *(char **)at : NULL, text);
	if (!copy) {
		snprintf(why, len, "out of memory");
		return -ENOMEM;
	}
	free(*(char **)at);
	*(char **)at = copy;
	return 0;
}

static int set_double(const struct ddio_opt *opt, const char *text, double *at, char *why,
		      size_t len)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v) || !in_range(opt, v))
		return refuse_number(opt, why, len);
	*at = v;
	return 0;
}

static int parse_whole(const struct ddio_opt *opt, const char *text, uint64_t *v)
{
	switch (opt->type) {
	case OPT_SIZE:
	case OPT_POWER:
		return ddio_parse_size(text, v);
	case OPT_TIME:
	case OPT_SECONDS:
		return parse_time(text, v);
	default:
		return parse_u64(text, v);
	}
}

static int set_whole(const struct ddio_opt *opt, const char *text, void *at, char *why, size_t len)
{
	uint64_t v;

	if (opt->special && !strcasecmp(opt->special, text)) {
		*(uint64_t *)at = UINT64_MAX;
		return 0;
	}
	if (parse_whole(opt, text, &v) ||
	    !in_range(opt, opt->type == OPT_SECONDS ? (double)v / NS_PER_S : (double)v) ||
	    (opt->type == OPT_POWER && v & (v - 1)))
		return refuse_number(opt, why, len);
	if (opt->type == OPT_SECONDS)
		*(double *)at = (double)v / NS_PER_S;
	else if (opt->type == OPT_U32 || opt->type == OPT_POWER)
		*(uint32_t *)at = (uint32_t)v;
	else
		*(uint64_t *)at = v;
	return 0;
}

static int set_value(const struct ddio_opt *opt, const char *text, void *at, char *why, size_t len)
{
	switch (opt->type) {
	case OPT_FLAG:
	case OPT_UNFLAG:
		*(bool *)at = opt->type == OPT_FLAG;
		return 0;
	case OPT_NONE:
		return 0;
	case OPT_BOOL:
		return set_bool(text, at, why, len);
	case OPT_WORD:
		return set_word(opt, text, at, why, len);
	case OPT_TEXT:
	case OPT_STRING:
	case OPT_LIST:
		return set_text(opt, text, at, why, len);
	case OPT_DOUBLE:
		return set_double(opt, text, at, why, len);
	default:
		return set_whole(opt, text, at, why, len);
	}
}

int ddio_opt_set(const struct ddio_opt *opt, const char *text, void *values, char *why,
		 size_t why_len)
{
	int err = set_value(opt, text, (char *)values + opt->offset, why, why_len);

	if (!err && opt->given)
		*(bool *)((char *)values + opt->given) = true;
	return err;
}
