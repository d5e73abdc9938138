// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
/* Digits beyond these count for their place only. */
#define DIGITS_MAX UINT64_C(1000000000000000000)
#define EXPONENT_MAX 9999

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

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
	{ "p", 1ull << 50 },
	{ "pb", 1ull << 50 },
	{ "pib", 1ull << 50 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", NS_PER_S },	   { "s", NS_PER_S },
	{ "ms", NS_PER_MS },	   { "m", 60 * NS_PER_S },
	{ "min", 60 * NS_PER_S },  { "h", 3600 * NS_PER_S },
	{ "d", 86400 * NS_PER_S }, { NULL, 0 },
};

/**
 * struct decimal - a number as it was written
 * @digits: all of them that matter
 * @exponent: the number is @digits times 10 to the power of this
 * @plain: neither point nor exponent was there
 */
struct decimal {
	unsigned __int128 digits;
	int exponent;
	bool plain;
};

/* Reads digits and returns how many there were. */
static size_t read_digits(const char **at, struct decimal *d, bool fraction)
{
	const char *start = *at;

	for (; isdigit((unsigned char)**at); (*at)++) {
		if (d->digits < DIGITS_MAX * 10)
			d->digits = d->digits * 10 + (unsigned int)(**at - '0');
		else if (d->exponent < EXPONENT_MAX)
			d->exponent++;
		if (fraction && d->exponent > -EXPONENT_MAX)
			d->exponent--;
	}
	return (size_t)(*at - start);
}

/* Reads an "e" with digits after it; without digits the "e" belongs to the unit. */
static void read_exponent(const char **at, struct decimal *d)
{
	const char *p = *at;
	bool minus = false;
	int e = 0;

	if (*p != 'e' && *p != 'E')
		return;
	p++;
	if (*p == '+' || *p == '-')
		minus = *p++ == '-';
	if (!isdigit((unsigned char)*p))
		return;
	for (; isdigit((unsigned char)*p); p++)
		e = e < EXPONENT_MAX ? e * 10 + (*p - '0') : e;
	d->exponent += minus ? -e : e;
	d->plain = false;
	*at = p;
}

static int read_hex(const char **at, struct decimal *d)
{
	const char *p = *at + 2;

	if (!isxdigit((unsigned char)*p))
		return -EINVAL;
	for (; isxdigit((unsigned char)*p); p++) {
		if (d->digits >> 60)
			return -EINVAL;
		d->digits = d->digits * 16 +
			    (unsigned int)(isdigit((unsigned char)*p)
						   ? *p - '0'
						   : tolower((unsigned char)*p) - 'a' + 10);
	}
	*at = p;
	return 0;
}

static int read_decimal(const char **at, struct decimal *d)
{
	size_t n;

	*d = (struct decimal){ .plain = true };
	if ((*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		return read_hex(at, d);
	n = read_digits(at, d, false);
	if (**at == '.') {
		(*at)++;
		d->plain = false;
		n += read_digits(at, d, true);
	}
	if (!n)
		return -EINVAL;
	read_exponent(at, d);
	return 0;
}

/* Returns the number times @factor, rounded down to a whole number. */
static int scale(const struct decimal *d, uint64_t factor, uint64_t *value)
{
	unsigned __int128 v = d->digits * factor;
	int e = d->exponent;

	for (; e < 0 && v; e++)
		v /= 10;
	for (; e > 0 && v && v <= UINT64_MAX; e--)
		v *= 10;
	if (v > UINT64_MAX)
		return -EINVAL;
	*value = (uint64_t)v;
	return 0;
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcasecmp(units->name, name))
			return units;
	return NULL;
}

static int parse(const char *text, const struct unit *units, bool plain, uint64_t *value)
{
	const struct unit *unit;
	struct decimal d;

	if (read_decimal(&text, &d) || (plain && !d.plain))
		return -EINVAL;
	if (!plain)
		text += strspn(text, " \t");
	unit = unit_find(units, text);
	return unit ? scale(&d, unit->factor, value) : -EINVAL;
}

int parse_u64(const char *text, uint64_t *number)
{
	return parse(text, no_units, true, number);
}

int ddio_parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, size_units, false, bytes);
}

int parse_time(const char *text, uint64_t *ns)
{
	return parse(text, time_units, false, ns);
}

void print_size(char *text, size_t len, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	unsigned int unit = 0;

	while (bytes && bytes % 1024 == 0 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, len, "%" PRIu64 "%s", bytes, units[unit]);
}

void print_time(char *text, size_t len, uint64_t ns)
{
	if (ns % NS_PER_S)
		snprintf(text, len, "%" PRIu64 "ms", ns / NS_PER_MS);
	else
		snprintf(text, len, "%" PRIu64 "s", ns / NS_PER_S);
}
