// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Many records at once: a field is read of all of them, then compared, and each truth is a word with a bit for a record.
 * What eval.c does with one record after the other is the same, and slower.
 */
#include <endian.h>
#include <string.h>
#include "query/query.h"

/**
 * struct query_column - a field of all records, as numbers of its kind
 * @field: which one; UINT32_MAX: none yet
 */
struct query_column {
	uint32_t field;
	union ddio_query_number v[DDIO_QUERY_BATCH];
};

/*
 * Reading
 */
typedef void (*column_read_fn)(const uint8_t *p, size_t stride, uint32_t n,
			       union ddio_query_number *to);

/* Defines a reader: @raw_type as it lies there, @host: made the processor's, @as: the number's member, @type. */
#define COLUMN_READER(name, raw_type, host, as, type)                        \
	static void read_##name(const uint8_t *p, size_t stride, uint32_t n, \
				union ddio_query_number *to)                 \
	{                                                                    \
		raw_type raw;                                                \
		uint32_t i;                                                  \
                                                                             \
		for (i = 0; i < n; i++, p += stride) {                       \
			memcpy(&raw, p, sizeof(raw));                        \
			to[i].as = (type)host(raw);                          \
		}                                                            \
	}

static inline uint8_t same(uint8_t v)
{
	return v;
}

static inline double float_le(uint32_t raw)
{
	float f;

	raw = le32toh(raw);
	memcpy(&f, &raw, sizeof(f));
	return f;
}

static inline double float_be(uint32_t raw)
{
	return float_le(htole32(be32toh(raw)));
}

COLUMN_READER(s8, uint8_t, same, s, int8_t)
COLUMN_READER(u8, uint8_t, same, u, uint8_t)
COLUMN_READER(s16, uint16_t, le16toh, s, int16_t)
COLUMN_READER(s16_big, uint16_t, be16toh, s, int16_t)
COLUMN_READER(u16, uint16_t, le16toh, u, uint16_t)
COLUMN_READER(u16_big, uint16_t, be16toh, u, uint16_t)
COLUMN_READER(s32, uint32_t, le32toh, s, int32_t)
COLUMN_READER(s32_big, uint32_t, be32toh, s, int32_t)
COLUMN_READER(u32, uint32_t, le32toh, u, uint32_t)
COLUMN_READER(u32_big, uint32_t, be32toh, u, uint32_t)
COLUMN_READER(f32, uint32_t, float_le, f, double)
COLUMN_READER(f32_big, uint32_t, float_be, f, double)
/* All others have 64 bits, which are the number's. */
COLUMN_READER(u64, uint64_t, le64toh, u, uint64_t)
COLUMN_READER(u64_big, uint64_t, be64toh, u, uint64_t)

/* By shape->load. */
static const column_read_fn column_readers[] = {
	[DDIO_QUERY_S8 << 1] = read_s8,	  [DDIO_QUERY_S8 << 1 | 1] = read_s8,
	[DDIO_QUERY_S16 << 1] = read_s16, [DDIO_QUERY_S16 << 1 | 1] = read_s16_big,
	[DDIO_QUERY_S32 << 1] = read_s32, [DDIO_QUERY_S32 << 1 | 1] = read_s32_big,
	[DDIO_QUERY_S64 << 1] = read_u64, [DDIO_QUERY_S64 << 1 | 1] = read_u64_big,
	[DDIO_QUERY_U8 << 1] = read_u8,	  [DDIO_QUERY_U8 << 1 | 1] = read_u8,
	[DDIO_QUERY_U16 << 1] = read_u16, [DDIO_QUERY_U16 << 1 | 1] = read_u16_big,
	[DDIO_QUERY_U32 << 1] = read_u32, [DDIO_QUERY_U32 << 1 | 1] = read_u32_big,
	[DDIO_QUERY_U64 << 1] = read_u64, [DDIO_QUERY_U64 << 1 | 1] = read_u64_big,
	[DDIO_QUERY_F32 << 1] = read_f32, [DDIO_QUERY_F32 << 1 | 1] = read_f32_big,
	[DDIO_QUERY_F64 << 1] = read_u64, [DDIO_QUERY_F64 << 1 | 1] = read_u64_big,
};

/*
 * Comparing
 */
/* Defines a comparison of numbers that are member @as, of @type. */
#define COLUMN_COMPARE(name, as, type)                                                            \
	static uint64_t compare_##name(const union ddio_query_number *v, uint32_t n, uint32_t op, \
				       type value)                                                \
	{                                                                                         \
		uint64_t bits = 0;                                                                \
		uint32_t i;                                                                       \
                                                                                                  \
		switch (op) {                                                                     \
		case DDIO_QUERY_EQ:                                                               \
		case DDIO_QUERY_NE:                                                               \
			for (i = 0; i < n; i++)                                                   \
				bits |= (uint64_t)(v[i].as == value) << i;                        \
			return op == DDIO_QUERY_EQ ? bits : ~bits;                                \
		case DDIO_QUERY_LT:                                                               \
			for (i = 0; i < n; i++)                                                   \
				bits |= (uint64_t)(v[i].as < value) << i;                         \
			return bits;                                                              \
		case DDIO_QUERY_LE:                                                               \
			for (i = 0; i < n; i++)                                                   \
				bits |= (uint64_t)(v[i].as <= value) << i;                        \
			return bits;                                                              \
		case DDIO_QUERY_GT:                                                               \
			for (i = 0; i < n; i++)                                                   \
				bits |= (uint64_t)(v[i].as > value) << i;                         \
			return bits;                                                              \
		default:                                                                          \
			for (i = 0; i < n; i++)                                                   \
				bits |= (uint64_t)(v[i].as >= value) << i;                        \
			return bits;                                                              \
		}                                                                                 \
	}

COLUMN_COMPARE(signed, s, int64_t)
COLUMN_COMPARE(unsigned, u, uint64_t)
COLUMN_COMPARE(float, f, double)

static uint64_t column_compare(const struct ddio_query_shape *shape, struct query_column *column,
			       const struct ddio_query_step *step, const uint8_t *span, uint32_t n)
{
	const struct ddio_query *q = shape->q;
	uint32_t type = q->field[step->field].type;

	/* A range is two comparisons of one field. */
	if (column->field != step->field)
		column_readers[shape->load[step->field]](
			span + (q->field[step->field].offset - shape->lo), q->record, n, column->v);
	column->field = step->field;
	if (ddio_query_is_float(type))
		return compare_float(column->v, n, step->op, step->value.f);
	if (ddio_query_is_signed(type))
		return compare_signed(column->v, n, step->op, step->value.s);
	return compare_unsigned(column->v, n, step->op, step->value.u);
}

uint64_t ddio_query_matches_batch(const struct ddio_query_shape *shape, const uint8_t *span,
				  uint32_t n)
{
	const struct ddio_query *q = shape->q;
	uint64_t stack[DDIO_QUERY_DEPTH_MAX + 1] = { ~0ull };
	struct query_column column = { .field = UINT32_MAX };
	uint32_t i, top = 0;

	for (i = 0; i < q->nsteps; i++) {
		const struct ddio_query_step *step = &q->where[i];

		switch (step->op) {
		case DDIO_QUERY_AND:
			top--;
			stack[top] &= stack[top + 1];
			break;
		case DDIO_QUERY_OR:
			top--;
			stack[top] |= stack[top + 1];
			break;
		case DDIO_QUERY_NOT:
			stack[top] = ~stack[top];
			break;
		default:
			stack[++top] = column_compare(shape, &column, step, span, n);
		}
	}
	return stack[top] & (n < 64 ? (1ull << n) - 1 : ~0ull);
}
