// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Conditions as text: comparisons go out as they come, and what joins them waits on a stack until something that binds less
 * tightly comes.  Nothing here calls itself, however deep the parentheses are.
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "query/query.h"

#define WAITING_MAX 128

/* What waits, by how tightly it binds. */
enum waits { WAITS_OPEN, WAITS_OR, WAITS_AND, WAITS_NOT };

/**
 * struct parser - where it is in a condition
 * @p: the next character of @text
 * @n: steps so far
 * @waits: @nwaits of them
 * @wants: a comparison is due, not what joins two
 */
struct parser {
	const char *text, *p;
	const struct ddio_query_field *field;
	uint32_t nfields;
	struct ddio_query_step *step;
	uint32_t n, room;
	enum waits waits[WAITING_MAX];
	uint32_t nwaits;
	bool wants;
	char *err;
	size_t err_len;
};

static int fail(struct parser *ps, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct parser *ps, int err, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (ps->err_len)
		snprintf(ps->err, ps->err_len, "at character %zu: %s",
			 (size_t)(ps->p - ps->text) + 1, why);
	return err;
}

static void blanks(struct parser *ps)
{
	while (isspace((unsigned char)*ps->p))
		ps->p++;
}

static int step_out(struct parser *ps, const struct ddio_query_step *step)
{
	if (ps->n == ps->room)
		return fail(ps, -E2BIG, "the condition has more than %u steps", ps->room);
	ps->step[ps->n++] = *step;
	return 0;
}

static int wait_add(struct parser *ps, enum waits w)
{
	if (ps->nwaits == WAITING_MAX)
		return fail(ps, -E2BIG, "nested too deeply");
	ps->waits[ps->nwaits++] = w;
	return 0;
}

/* Lets out what binds at least as tightly as @w. */
static int wait_out(struct parser *ps, enum waits w)
{
	static const uint32_t op[] = {
		[WAITS_OR] = DDIO_QUERY_OR, [WAITS_AND] = DDIO_QUERY_AND, [WAITS_NOT] = DDIO_QUERY_NOT
	};
	int err = 0;

	while (!err && ps->nwaits && ps->waits[ps->nwaits - 1] >= w)
		err = step_out(ps, &(struct ddio_query_step){ .op = op[ps->waits[--ps->nwaits]] });
	return err;
}

/* Returns the length of the word that comes next, 0 if there is none. */
static size_t word(const struct parser *ps)
{
	const char *p = ps->p;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return 0;
	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
		p++;
	return (size_t)(p - ps->p);
}

static bool is_word(const struct parser *ps, size_t n, const char *name)
{
	return name && strlen(name) == n && !strncmp(ps->p, name, n);
}

static int find_field(struct parser *ps, size_t n, uint32_t *field)
{
	for (*field = 0; *field < ps->nfields; ++*field)
		if (is_word(ps, n, ps->field[*field].name))
			break;
	if (*field == ps->nfields)
		return fail(ps, -EINVAL, "there is no field '%.*s'", (int)(n < 40 ? n : 40), ps->p);
	if (ps->field[*field].type == DDIO_QUERY_BYTES)
		return fail(ps, -EINVAL, "field '%.*s' is no number", (int)(n < 40 ? n : 40),
			    ps->p);
	ps->p += n;
	return 0;
}

static uint32_t comparison(struct parser *ps)
{
	static const struct {
		char text[3];
		uint32_t op;
	} known[] = {
		{ "==", DDIO_QUERY_EQ }, { "!=", DDIO_QUERY_NE }, { "<=", DDIO_QUERY_LE },
		{ ">=", DDIO_QUERY_GE }, { "=", DDIO_QUERY_EQ },  { "<", DDIO_QUERY_LT },
		{ ">", DDIO_QUERY_GT },
	};
	size_t i;

	blanks(ps);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(ps->p, known[i].text, strlen(known[i].text))) {
			ps->p += strlen(known[i].text);
			return known[i].op;
		}
	return 0;
}

int ddio_query_read_number(const char *text, uint32_t type, union ddio_query_number *v,
			   const char **end)
{
	locale_t c;
	char *e;

	if (isspace((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	if (ddio_query_is_float(type)) {
		c = newlocale(LC_ALL_MASK, "C", NULL);
		if (!c)
			return -ENOMEM;
		v->f = strtod_l(text, &e, c);
		freelocale(c);
		errno = 0; /* the nearest number is meant */
	} else if (ddio_query_is_signed(type)) {
		v->s = strtoll(text, &e, 0);
	} else {
		v->u = strtoull(text, &e, 0);
		if (*text == '-')
			e = (char *)text;
	}
	*end = e;
	return e == text || errno ? -EINVAL : 0;
}

static int compared(struct parser *ps)
{
	struct ddio_query_step step = { 0 };
	const char *end;
	size_t n = word(ps);
	int err;

	if (!n)
		return fail(ps, -EINVAL, "a field is expected");
	err = find_field(ps, n, &step.field);
	if (err)
		return err;
	step.op = comparison(ps);
	if (!step.op)
		return fail(ps, -EINVAL, "one of = != < <= > >= is expected");
	blanks(ps);
	err = ddio_query_read_number(ps->p, ps->field[step.field].type, &step.value, &end);
	if (err)
		return fail(ps, err, "a number is expected that field '%.40s' can be compared with",
			    ps->field[step.field].name);
	ps->p = end;
	if (isalnum((unsigned char)*end) || *end == '.')
		return fail(ps, -EINVAL, "the number goes on strangely");
	ps->wants = false;
	return step_out(ps, &step);
}

static int close_one(struct parser *ps)
{
	int err = wait_out(ps, WAITS_OR);

	if (!err && !ps->nwaits)
		err = fail(ps, -EINVAL, "there is no ( for this )");
	if (err)
		return err;
	ps->nwaits--;
	ps->p++;
	return 0;
}

/* After a comparison. */
static int join(struct parser *ps)
{
	size_t n = word(ps);
	enum waits w = is_word(ps, n, "or") ? WAITS_OR : WAITS_AND;
	int err;

	if (*ps->p == ')')
		return close_one(ps);
	if (w != WAITS_OR && !is_word(ps, n, "and"))
		return fail(ps, -EINVAL, "'and', 'or' or the end is expected");
	err = wait_out(ps, w);
	ps->p += n;
	ps->wants = true;
	return err ? err : wait_add(ps, w);
}

static int operand(struct parser *ps)
{
	size_t n = word(ps);

	if (*ps->p == '(') {
		ps->p++;
		return wait_add(ps, WAITS_OPEN);
	}
	if (is_word(ps, n, "not")) {
		ps->p += n;
		return wait_add(ps, WAITS_NOT);
	}
	return compared(ps);
}

int ddio_query_parse(const char *text, const struct ddio_query_field *field, uint32_t nfields,
		     struct ddio_query_step *step, uint32_t room, char *err, size_t err_len)
{
	struct parser ps = { .text = text,
			     .p = text,
			     .field = field,
			     .nfields = nfields,
			     .step = step,
			     .room = room,
			     .wants = true,
			     .err = err,
			     .err_len = err_len };
	int ret = 0;

	if (!text || (nfields && !field) || (room && !step) || (err_len && !err))
		return -EINVAL;
	for (blanks(&ps); *ps.p && !ret; blanks(&ps))
		ret = ps.wants ? operand(&ps) : join(&ps);
	if (!ret && ps.wants)
		ret = fail(&ps, -EINVAL, "the condition ends too soon");
	if (!ret)
		ret = wait_out(&ps, WAITS_OR);
	if (!ret && ps.nwaits)
		ret = fail(&ps, -EINVAL, "a ( is not closed");
	return ret ? ret : (int)ps.n;
}
