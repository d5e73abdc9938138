// SPDX-License-Identifier: LGPL-2.1-or-later
/* Text to values: sizes, times, counts, names, addresses. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "conf/priv.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1ull << 10 },
	{ "kb", 1ull << 10 },
	{ "kib", 1ull << 10 },
	{ "m", 1ull << 20 },
	{ "mb", 1ull << 20 },
	{ "mib", 1ull << 20 },
	{ "g", 1ull << 30 },
	{ "gb", 1ull << 30 },
	{ "gib", 1ull << 30 },
	{ "t", 1ull << 40 },
	{ "tb", 1ull << 40 },
	{ "tib", 1ull << 40 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1000000000 },   { "s", 1000000000 },    { "ms", 1000000 },
	{ "m", 60000000000 }, { "min", 60000000000 }, { NULL, 0 },
};

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcasecmp(units->name, name))
			return units;
	return NULL;
}

/*
 * digits[.digits][blanks][unit], and a whole number of the smallest unit.  The
 * fraction is kept exact: 1.1K is no whole number of bytes, and refused.
 */
static int parse_units(const char *text, const struct unit *units, uint64_t *value)
{
	unsigned __int128 whole = 0, part = 0, scale = 1;
	const struct unit *unit;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++) {
		whole = whole * 10 + (unsigned int)(*text - '0');
		if (whole > UINT64_MAX)
			return -EINVAL;
	}
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -EINVAL;
		for (; isdigit((unsigned char)*text); text++) {
			if (scale > UINT64_MAX / 10)
				return -EINVAL;
			part = part * 10 + (unsigned int)(*text - '0');
			scale *= 10;
		}
	}
	while (*text == ' ' || *text == '\t')
		text++;
	unit = unit_find(units, text);
	if (!unit || part * unit->factor % scale)
		return -EINVAL;
	whole = whole * unit->factor + part * unit->factor / scale;
	if (whole > UINT64_MAX)
		return -EINVAL;
	*value = (uint64_t)whole;
	return 0;
}

int conf_parse_size(const char *text, uint64_t *bytes)
{
	return parse_units(text, size_units, bytes);
}

bool conf_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > DDIO_CONF_MAX_NAME || *name == '.' || *name == '-')
		return false;
	for (; *name; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) && !strchr("._-", *name)))
			return false;
	return true;
}

/* host:port or [v6]:port; whether the host exists is found when it is used. */
static bool address_ok(const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *p;
	unsigned long port = 0;

	if (!colon || colon == text || !colon[1] || strlen(text) > 127)
		return false;
	for (p = colon + 1; *p; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		port = port * 10 + (unsigned long)(*p - '0');
		if (port > 65535)
			return false;
	}
	for (p = text; p < colon; p++)
		if (isspace((unsigned char)*p))
			return false;
	if (*text == '[')
		return colon > text + 2 && colon[-1] == ']';
	return !memchr(text, ':', (size_t)(colon - text));
}

static int set_text(char **slot, const char *value, char *why, size_t why_len)
{
	char *copy = strdup(value);

	if (!copy) {
		snprintf(why, why_len, "out of memory");
		return -ENOMEM;
	}
	free(*slot);
	*slot = copy;
	return 0;
}

static int set_bool(bool *slot, const char *value, char *why, size_t why_len)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(words[i], value)) {
			*slot = i % 2;
			return 0;
		}
	snprintf(why, why_len, "allowed are yes and no");
	return -EINVAL;
}

static int parse_number(const struct conf_option *option, const char *value, uint64_t *number)
{
	static const struct unit none[] = { { "", 1 }, { NULL, 0 } };

	switch (option->type) {
	case DDIO_CONF_COUNT:
		return parse_units(value, none, number);
	case DDIO_CONF_TIME:
		return parse_units(value, time_units, number);
	case DDIO_CONF_CACHE:
		if (!strcasecmp(value, "paper")) {
			*number = DDIO_CONF_CACHE_PAPER;
			return 0;
		}
		return conf_parse_size(value, number);
	default:
		return conf_parse_size(value, number);
	}
}

static void say_allowed(const struct conf_option *option, char *why, size_t why_len)
{
	switch (option->type) {
	case DDIO_CONF_COUNT:
		snprintf(why, why_len, "allowed are numbers from %" PRIu64 " to %" PRIu64,
			 option->min, option->max);
		break;
	case DDIO_CONF_TIME:
		snprintf(why, why_len,
			 "allowed are times from %" PRIu64 "ms to %" PRIu64
			 "s, with ms, s or m behind the number",
			 option->min / 1000000, option->max / 1000000000);
		break;
	case DDIO_CONF_BLOCK:
		snprintf(why, why_len,
			 "allowed are powers of two from %" PRIu64 " to %" PRIu64 " bytes",
			 option->min, option->max);
		break;
	default:
		snprintf(why, why_len,
			 "allowed are%s sizes from %" PRIu64 " to %" PRIu64
			 " bytes, K, M, G or T behind the number",
			 option->type == DDIO_CONF_CACHE ? " the word paper and" : "", option->min,
			 option->max);
	}
}

static int set_number(const struct conf_option *option, const char *value, void *slot, char *why,
		      size_t why_len)
{
	uint64_t number;
	bool paper = option->type == DDIO_CONF_CACHE && !strcasecmp(value, "paper");

	if (parse_number(option, value, &number))
		goto bad;
	if (!paper && (number < option->min || number > option->max))
		goto bad;
	if (option->type == DDIO_CONF_BLOCK && (number & (number - 1)))
		goto bad;
	if (option->type == DDIO_CONF_COUNT || option->type == DDIO_CONF_BLOCK)
		*(uint32_t *)slot = (uint32_t)number;
	else
		*(uint64_t *)slot = number;
	return 0;
bad:
	say_allowed(option, why, why_len);
	return -EINVAL;
}

int conf_value_set(const struct conf_option *option, const char *value, void *section, char *why,
		   size_t why_len)
{
	void *slot = (char *)section + option->offset;

	switch (option->type) {
	case DDIO_CONF_NAME:
		if (!conf_name_ok(value)) {
			snprintf(why, why_len,
				 "allowed are 1 to %d letters, digits, '.', '_' and '-', "
				 "beginning with a letter, digit or '_'",
				 DDIO_CONF_MAX_NAME);
			return -EINVAL;
		}
		return set_text(slot, value, why, why_len);
	case DDIO_CONF_ADDRESS:
		if (!address_ok(value)) {
			snprintf(why, why_len,
				 "allowed is host:port or [address]:port, port 0 to 65535");
			return -EINVAL;
		}
		return set_text(slot, value, why, why_len);
	case DDIO_CONF_TEXT:
		return set_text(slot, value, why, why_len);
	case DDIO_CONF_BOOL:
		return set_bool(slot, value, why, why_len);
	default:
		return set_number(option, value, slot, why, why_len);
	}
}
