// SPDX-License-Identifier: LGPL-2.1-or-later
/* What members compare when they begin a transfer, and how to say that they differ. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/coll/agree.h"

static const char *method_name(uint32_t method)
{
	static const char *const names[] = { "default", "TC", "2P", "DD", "DDs", "default" };

	return method < sizeof(names) / sizeof(names[0]) ? names[method] : "unknown";
}

static const char *part_name(uint32_t kind)
{
	static const char *const names[] = { "nothing", "an array", "a strided description",
					     "a list", "views" };

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

ssize_t agree_put(void *buf, size_t cap, const struct agree *agree)
{
	uint8_t *p = buf;

	if (p && cap >= AGREE_LEN + agree->array_len) {
		bytes_put32(p, agree->writing);
		bytes_put32(p + 4, agree->method);
		bytes_put32(p + 8, agree->flags);
		bytes_put32(p + 12, agree->part);
		bytes_put64(p + 16, agree->file);
		if (agree->array_len)
			memcpy(p + AGREE_LEN, agree->array, agree->array_len);
	}
	return (ssize_t)(AGREE_LEN + agree->array_len);
}

static bool agree_get(const void *buf, size_t len, struct agree *agree)
{
	const uint8_t *p = buf;

	if (len < AGREE_LEN)
		return false;
	agree->writing = bytes_get32(p);
	agree->method = bytes_get32(p + 4);
	agree->flags = bytes_get32(p + 8);
	agree->part = bytes_get32(p + 12);
	agree->file = bytes_get64(p + 16);
	agree->array = p + AGREE_LEN;
	agree->array_len = len - AGREE_LEN;
	return true;
}

#define TELL(...) snprintf(text, DDIO_MAX_TEXT, __VA_ARGS__)

/* Names the first field in which the descriptions differ. */
static void explain_array(uint32_t ra, const struct agree *a, uint32_t rb, const struct agree *b,
			  char text[DDIO_MAX_TEXT])
{
	struct ddio_part pa, pb;
	uint32_t i;

	TELL("ranks %u and %u describe the array differently", ra, rb);
	if (ddio_get_part(a->array, a->array_len, &pa, NULL))
		return;
	if (!ddio_get_part(b->array, b->array_len, &pb, NULL)) {
		const struct ddio_array *x = pa.array, *y = pb.array;

		if (x->ndims != y->ndims)
			TELL("the array has %u dimensions at rank %u, %u at rank %u", x->ndims, ra,
			     y->ndims, rb);
		else if (x->elem_size != y->elem_size)
			TELL("elements have %llu bytes at rank %u, %llu at rank %u",
			     (unsigned long long)x->elem_size, ra, (unsigned long long)y->elem_size,
			     rb);
		else if (x->file_offset != y->file_offset)
			TELL("the array begins at byte %llu at rank %u, at %llu at rank %u",
			     (unsigned long long)x->file_offset, ra,
			     (unsigned long long)y->file_offset, rb);
		for (i = 0; i < x->ndims && x->ndims == y->ndims; i++)
			if (memcmp(&x->dim[i], &y->dim[i], sizeof(x->dim[i])))
				break;
		if (x->ndims == y->ndims && i < x->ndims)
			TELL("ranks %u and %u describe dimension %u of the array differently", ra,
			     rb, i);
		ddio_part_free(&pb);
	}
	ddio_part_free(&pa);
}

/* Returns true if one of them is small, and the other the method for what is not: nobody asked for that. */
static bool default_methods(const struct agree *a, const struct agree *b)
{
	return (a->method == DDIO_METHOD_SMALL && b->method == DDIO_METHOD_DDS) ||
	       (a->method == DDIO_METHOD_DDS && b->method == DDIO_METHOD_SMALL);
}

static bool same_array(const struct agree *a, const struct agree *b)
{
	return a->array_len == b->array_len && !memcmp(a->array, b->array, a->array_len);
}

static void explain_method(uint32_t ra, const struct agree *a, uint32_t rb, const struct agree *b,
			   char text[DDIO_MAX_TEXT])
{
	TELL("rank %u asks for method %s, rank %u for %s", ra, method_name(a->method), rb,
	     method_name(b->method));
}

static void explain_start(uint32_t ra, const struct agree *a, uint32_t rb, const struct agree *b,
			  char text[DDIO_MAX_TEXT])
{
	if (a->writing != b->writing)
		TELL("rank %u %s, rank %u %s", ra, a->writing ? "writes" : "reads", rb,
		     b->writing ? "writes" : "reads");
	else if (a->file != b->file)
		TELL("rank %u means file %llu, rank %u file %llu", ra, (unsigned long long)a->file,
		     rb, (unsigned long long)b->file);
	else if (a->method != b->method && !default_methods(a, b))
		explain_method(ra, a, rb, b, text);
	else if (a->flags != b->flags)
		TELL("rank %u gives flags %#x, rank %u %#x", ra, a->flags, rb, b->flags);
	else if (a->part != b->part)
		TELL("rank %u gives %s, rank %u %s", ra, part_name(a->part), rb,
		     part_name(b->part));
	else if (same_array(a, b))
		explain_method(ra, a, rb, b, text);
	else
		explain_array(ra, a, rb, b, text);
}

void agree_explain(uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b, const void *b,
		   size_t b_len, char text[DDIO_MAX_TEXT])
{
	struct agree x, y;

	if (agree_get(a, a_len, &x) && agree_get(b, b_len, &y))
		explain_start(rank_a, &x, rank_b, &y, text);
}
