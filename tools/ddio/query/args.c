// SPDX-License-Identifier: GPL-2.0-only
/* The words of "ddio query" that make a question. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "query/query.h"
#include "args.h"

static int wrong(char *why, size_t len, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int wrong(char *why, size_t len, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return err;
}

void args_init(struct query_args *a)
{
	a->q = (struct ddio_query){ .struct_size = sizeof(a->q),
				    .field = a->field,
				    .where = a->step,
				    .reduce = a->reduce,
				    .output = a->output };
}

void args_free(struct query_args *a)
{
	uint32_t i;

	for (i = 0; i < a->q.nreduce; i++)
		free((void *)a->reduce[i].bound);
	free((void *)a->deal.bound);
}

/*
 * Fields
 */
static const struct {
	const char *name;
	uint32_t type;
} types[] = {
	{ "s8", DDIO_QUERY_S8 },   { "s16", DDIO_QUERY_S16 }, { "s32", DDIO_QUERY_S32 },
	{ "s64", DDIO_QUERY_S64 }, { "u8", DDIO_QUERY_U8 },   { "u16", DDIO_QUERY_U16 },
	{ "u32", DDIO_QUERY_U32 }, { "u64", DDIO_QUERY_U64 }, { "f32", DDIO_QUERY_F32 },
	{ "f64", DDIO_QUERY_F64 },
};

static bool type_read(const char *text, struct ddio_query_field *f)
{
	uint64_t n;
	size_t i, len;

	if (*text == 'b' && !ddio_parse_size(text + 1, &n) && n && n <= DDIO_QUERY_BYTES_MAX) {
		f->type = DDIO_QUERY_BYTES;
		f->len = (uint32_t)n;
		return true;
	}
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		len = strlen(types[i].name);
		if (strncmp(text, types[i].name, len))
			continue;
		f->type = types[i].type;
		f->flags = strcmp(text + len, "be") ? 0 : DDIO_QUERY_BIG;
		if (f->flags || !text[len] || !strcmp(text + len, "le"))
			return true;
	}
	return false;
}

static bool name_ok(const char *name)
{
	const char *p = name;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
		p++;
	return !*p && strcmp(name, "and") && strcmp(name, "or") && strcmp(name, "not");
}

static int field_read(struct query_args *a, char *text, char *why, size_t len)
{
	struct ddio_query_field *f = &a->field[a->q.nfields];
	char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
	uint64_t offset;

	if (a->q.nfields == DDIO_QUERY_FIELDS_MAX)
		return wrong(why, len, -E2BIG, "more than %u fields", DDIO_QUERY_FIELDS_MAX);
	if (!colon)
		return wrong(why, len, -EINVAL, "field '%.40s': NAME=OFFSET:TYPE is expected",
			     text);
	*equals = '\0';
	*colon = '\0';
	if (!name_ok(text))
		return wrong(why, len, -EINVAL,
			     "field '%.40s': a name has letters, digits, '_' and '.'", text);
	if (ddio_parse_size(equals + 1, &offset) || offset > DDIO_QUERY_RECORD_MAX)
		return wrong(why, len, -EINVAL, "field '%.40s': the offset is no number", text);
	if (!type_read(colon + 1, f))
		return wrong(why, len, -EINVAL, "field '%.40s': '%.20s' is no type", text,
			     colon + 1);
	f->name = text;
	f->offset = (uint32_t)offset;
	a->q.nfields++;
	return 0;
}

int args_fields(struct query_args *a, char *list, char *why, size_t len)
{
	char *word, *save = NULL;
	int err = 0;

	for (word = list ? strtok_r(list, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save))
		err = field_read(a, word, why, len);
	return err;
}

static int field_find(const struct query_args *a, const char *name, uint32_t *field, char *why,
		      size_t len)
{
	for (*field = 0; *field < a->q.nfields; ++*field)
		if (!strcmp(a->field[*field].name, name))
			return 0;
	return wrong(why, len, -EINVAL, "there is no field '%.40s'", name);
}

/*
 * What is asked
 */
int args_where(struct query_args *a, const char *text, char *why, size_t len)
{
	char where[200];
	int n = ddio_query_parse(text, a->field, a->q.nfields, a->step, DDIO_QUERY_STEPS_MAX, where,
				 sizeof(where));

	if (n < 0)
		return wrong(why, len, n, "the condition, %s", where);
	a->q.nsteps = (uint32_t)n;
	return 0;
}

static int reduce_add(struct query_args *a, uint32_t kind, const char *name,
		      struct ddio_query_reduce **r, char *why, size_t len)
{
	if (a->q.nreduce == DDIO_QUERY_REDUCE_MAX)
		return wrong(why, len, -E2BIG, "more than %u sums, extremes and histograms",
			     DDIO_QUERY_REDUCE_MAX);
	*r = &a->reduce[a->q.nreduce];
	(*r)->kind = kind;
	if (field_find(a, name, &(*r)->field, why, len))
		return -EINVAL;
	if (a->field[(*r)->field].type == DDIO_QUERY_BYTES)
		return wrong(why, len, -EINVAL, "field '%.40s' is no number", name);
	a->q.nreduce++;
	return 0;
}

int args_reduce(struct query_args *a, uint32_t kind, char *list, char *why, size_t len)
{
	struct ddio_query_reduce *r;
	char *word, *save = NULL;
	int err = 0;

	for (word = list ? strtok_r(list, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save))
		err = reduce_add(a, kind, word, &r, why, len);
	return err;
}

static int bound_add(const struct query_args *a, struct ddio_query_reduce *r, const char *text,
		     char *why, size_t len)
{
	union ddio_query_number *bound = (union ddio_query_number *)r->bound;
	const char *end;

	if (!bound)
		bound = calloc(DDIO_QUERY_BOUNDS_MAX, sizeof(*bound));
	if (!bound)
		return wrong(why, len, -ENOMEM, "out of memory");
	r->bound = bound;
	if (r->nbounds == DDIO_QUERY_BOUNDS_MAX)
		return wrong(why, len, -E2BIG, "a histogram of more than %u bounds",
			     DDIO_QUERY_BOUNDS_MAX);
	if (ddio_query_read_number(text, a->field[r->field].type, &bound[r->nbounds], &end) || *end)
		return wrong(why, len, -EINVAL, "'%.40s' is no bound for field '%.40s'", text,
			     a->field[r->field].name);
	r->nbounds++;
	return 0;
}

int args_histograms(struct query_args *a, char *list, char *why, size_t len)
{
	struct ddio_query_reduce *r = NULL;
	char *word, *colon, *save = NULL;
	int err = 0;

	for (word = list ? strtok_r(list, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		colon = strchr(word, ':');
		if (colon) {
			*colon = '\0';
			err = reduce_add(a, DDIO_QUERY_HISTOGRAM, word, &r, why, len);
			word = colon + 1;
		}
		if (!err && !r)
			err = wrong(why, len, -EINVAL, "histogram: NAME:BOUND,... is expected");
		if (!err)
			err = bound_add(a, r, word, why, len);
	}
	return err;
}

int args_deal(struct query_args *a, char *text, char *why, size_t len)
{
	struct ddio_query_reduce range = { .kind = DDIO_QUERY_HISTOGRAM };
	char *colon = strchr(text, ':'), *word, *save = NULL;
	int err = 0;

	a->deal = (struct ddio_query_deal){ .struct_size = sizeof(a->deal) };
	if (!strcmp(text, "number"))
		return 0;
	a->deal.kind = colon ? DDIO_QUERY_BY_RANGE : DDIO_QUERY_BY_HASH;
	if (colon)
		*colon++ = '\0';
	err = field_find(a, text, &a->deal.field, why, len);
	if (!err && a->field[a->deal.field].type == DDIO_QUERY_BYTES)
		err = wrong(why, len, -EINVAL, "field '%.40s' is no number", text);
	range.field = a->deal.field;
	for (word = err || !colon ? NULL : strtok_r(colon, ",", &save); word && !err;
	     word = strtok_r(NULL, ",", &save))
		err = bound_add(a, &range, word, why, len);
	a->deal.nbounds = range.nbounds;
	a->deal.bound = range.bound;
	return err;
}

int args_print(struct query_args *a, char *list, char *why, size_t len)
{
	char *word, *save = NULL;
	int err = 0;

	for (word = list ? strtok_r(list, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		if (a->q.noutput == DDIO_QUERY_FIELDS_MAX)
			return wrong(why, len, -E2BIG, "more than %u fields are to be printed",
				     DDIO_QUERY_FIELDS_MAX);
		err = field_find(a, word, &a->output[a->q.noutput++], why, len);
	}
	return err;
}
