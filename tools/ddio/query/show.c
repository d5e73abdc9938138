// SPDX-License-Identifier: GPL-2.0-only
/* Answers of "ddio query" as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "query/query.h"
#include "args.h"

uint32_t args_out(const struct query_args *a)
{
	uint32_t i, out = 0;

	for (i = 0; i < a->q.noutput; i++)
		out += ddio_query_field_len(&a->field[a->output[i]]);
	return out;
}

static void show_number(uint32_t type, union ddio_query_number v)
{
	if (type == DDIO_QUERY_F32)
		printf("%.9g", v.f);
	else if (type == DDIO_QUERY_F64)
		printf("%.17g", v.f);
	else if (ddio_query_is_signed(type))
		printf("%" PRId64, v.s);
	else
		printf("%" PRIu64, v.u);
}

/* An integer of 128 bits in decimal. */
static void show_wide(bool is_signed, unsigned __int128 v)
{
	char text[48], *p = text + sizeof(text) - 1;
	bool minus = is_signed && v >> 127;

	*p = '\0';
	if (minus)
		v = -v;
	do {
		*--p = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	printf("%s%s", minus ? "-" : "", p);
}

static void show_histogram(const struct query_args *a, const struct ddio_query_reduce *r,
			   const struct ddio_query_value *v)
{
	const struct ddio_query_field *f = &a->field[r->field];
	uint32_t i;

	for (i = 0; i <= r->nbounds; i++) {
		printf("histogram %s ", f->name);
		if (i)
			show_number(f->type, r->bound[i - 1]);
		else
			printf("below");
		printf(" ");
		if (i < r->nbounds)
			show_number(f->type, r->bound[i]);
		else
			printf("up");
		printf("\t%" PRIu64 "\n", v->bin[i]);
	}
}

void args_show_value(const struct query_args *a, uint32_t i, const struct ddio_query_value *v)
{
	static const char *const names[] = { [DDIO_QUERY_SUM] = "sum",
					     [DDIO_QUERY_MIN] = "min",
					     [DDIO_QUERY_MAX] = "max",
					     [DDIO_QUERY_HISTOGRAM] = "histogram" };
	const struct ddio_query_reduce *r = &a->reduce[i];
	const struct ddio_query_field *f = &a->field[r->field];

	if (v->nans)
		printf("nan %s\t%" PRIu64 "\n", f->name, v->nans);
	if (r->kind == DDIO_QUERY_HISTOGRAM) {
		show_histogram(a, r, v);
		return;
	}
	printf("%s %s\t", names[r->kind], f->name);
	if (!v->count && r->kind != DDIO_QUERY_SUM)
		printf("none");
	else if (r->kind == DDIO_QUERY_SUM && !ddio_query_is_float(f->type))
		show_wide(ddio_query_is_signed(f->type),
			  (unsigned __int128)(uint64_t)v->high << 64 | v->value.u);
	else
		show_number(r->kind == DDIO_QUERY_SUM ? (uint32_t)DDIO_QUERY_F64 : f->type,
			    v->value);
	printf("\n");
}

static void show_bytes(const uint8_t *p, uint32_t n)
{
	while (n--)
		printf("%02x", *p++);
}

void args_show_record(const struct query_args *a, uint64_t record, const uint8_t *fields)
{
	struct ddio_query q = { .record = DDIO_QUERY_RECORD_MAX, .nfields = 1 };
	struct ddio_query_shape shape = { .q = &q };
	uint32_t i;

	printf("%" PRIu64, record);
	for (i = 0; i < a->q.noutput; i++) {
		struct ddio_query_field f = a->field[a->output[i]];
		uint32_t len = ddio_query_field_len(&f);

		printf("\t");
		f.offset = 0;
		q.field = &f;
		shape.load[0] = (uint8_t)(f.type << 1 | f.flags);
		if (f.type == DDIO_QUERY_BYTES)
			show_bytes(fields, len);
		else
			show_number(f.type, ddio_query_load(&shape, 0, fields));
		fields += len;
	}
	printf("\n");
}
