// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Columns of numbers in as few bits as the least and the greatest of them leave: a byte with the width in bits, the least,
 * and how far each is above it, the lowest bits first; or a byte that says so, and all as they are.
 */
#include <string.h>
#include "query/query.h"

#define COLUMN_RAW 0xff

static uint32_t bits_of(uint64_t v)
{
	return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

static size_t packed_len(uint32_t n, uint32_t width)
{
	return ((size_t)n * width + 7) / 8;
}

static void bounds(const uint64_t *v, uint32_t n, uint64_t *least, uint64_t *greatest)
{
	uint32_t i;

	*least = v[0];
	*greatest = v[0];
	for (i = 1; i < n; i++) {
		*least = v[i] < *least ? v[i] : *least;
		*greatest = v[i] > *greatest ? v[i] : *greatest;
	}
}

static uint8_t *raw_put(uint8_t *to, const uint64_t *v, uint32_t n, uint32_t len)
{
	uint32_t i, k;

	*to++ = COLUMN_RAW;
	for (i = 0; i < n; i++)
		for (k = 0; k < len; k++)
			*to++ = (uint8_t)(v[i] >> 8 * k);
	return to;
}

/* At most 7 bits wait while 64 come. */
static uint8_t *bits_put(uint8_t *to, const uint64_t *v, uint32_t n, uint64_t least, uint32_t width)
{
	unsigned __int128 bits = 0;
	uint32_t i, have = 0;

	for (i = 0; i < n; i++) {
		bits |= (unsigned __int128)(v[i] - least) << have;
		for (have += width; have >= 8; have -= 8, bits >>= 8)
			*to++ = (uint8_t)bits;
	}
	if (have)
		*to++ = (uint8_t)bits;
	return to;
}

size_t ddio_query_column_put(uint8_t *to, const uint64_t *v, uint32_t n, uint32_t len)
{
	uint8_t *from = to, head[QUERY_DELTA_MAX];
	uint64_t least, greatest;
	uint32_t width, head_len;

	bounds(v, n, &least, &greatest);
	width = bits_of(greatest - least);
	head_len = ddio_query_delta_put(head, least);
	if (head_len + packed_len(n, width) >= (size_t)n * len)
		return (size_t)(raw_put(to, v, n, len) - from);
	*to++ = (uint8_t)width;
	memcpy(to, head, head_len);
	return (size_t)(bits_put(to + head_len, v, n, least, width) - from);
}

static size_t raw_get(const uint8_t *from, size_t left, uint64_t *v, uint32_t n, uint32_t len)
{
	uint32_t i, k;

	if (left < (size_t)n * len)
		return 0;
	for (i = 0; i < n; i++) {
		v[i] = 0;
		for (k = 0; k < len; k++)
			v[i] |= (uint64_t)*from++ << 8 * k;
	}
	return 1 + (size_t)n * len;
}

static void bits_get(const uint8_t *from, uint64_t *v, uint32_t n, uint32_t width)
{
	uint64_t mask = width < 64 ? (1ull << width) - 1 : ~0ull;
	unsigned __int128 bits = 0;
	uint32_t i, have = 0;

	for (i = 0; i < n; i++) {
		for (; have < width; have += 8)
			bits |= (unsigned __int128)*from++ << have;
		v[i] = (uint64_t)bits & mask;
		bits >>= width;
		have -= width;
	}
}

/* Adds the least of them; returns false if one has more than @len bytes then. */
static bool rise(uint64_t *v, uint32_t n, uint64_t least, uint32_t len)
{
	uint64_t most = len < 8 ? (1ull << 8 * len) - 1 : ~0ull;
	uint32_t i;

	if (least > most)
		return false;
	for (i = 0; i < n; i++) {
		if (v[i] > most - least)
			return false;
		v[i] += least;
	}
	return true;
}

size_t ddio_query_column_get(const uint8_t *from, size_t left, uint64_t *v, uint32_t n,
			     uint32_t len)
{
	uint32_t width, head_len;
	uint64_t least;

	if (!left)
		return 0;
	width = *from++;
	left--;
	if (width == COLUMN_RAW)
		return raw_get(from, left, v, n, len);
	head_len = width > 64 ? 0 : ddio_query_delta_get(from, left, &least);
	if (!head_len || left - head_len < packed_len(n, width))
		return 0;
	bits_get(from + head_len, v, n, width);
	return rise(v, n, least, len) ? 1 + head_len + packed_len(n, width) : 0;
}

/*
 * Fields
 */
static bool turned(const struct ddio_query_field *f)
{
	return f->flags & DDIO_QUERY_BIG;
}

/* Of signed numbers the order is kept as well: few bits tell those around 0 apart. */
static uint64_t sign_bit(const struct ddio_query_field *f)
{
	return ddio_query_is_signed(f->type) ? 1ull << (8 * ddio_query_field_len(f) - 1) : 0;
}

uint64_t ddio_query_field_bits(const struct ddio_query_field *f, const uint8_t *p)
{
	uint32_t len = ddio_query_field_len(f), i;
	uint64_t v = 0;

	for (i = 0; i < len; i++)
		v |= (uint64_t)p[turned(f) ? len - 1 - i : i] << 8 * i;
	return v ^ sign_bit(f);
}

void ddio_query_field_unbits(const struct ddio_query_field *f, uint64_t v, uint8_t *p)
{
	uint32_t len = ddio_query_field_len(f), i;

	v ^= sign_bit(f);
	for (i = 0; i < len; i++)
		p[turned(f) ? len - 1 - i : i] = (uint8_t)(v >> 8 * i);
}
