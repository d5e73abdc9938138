// SPDX-License-Identifier: LGPL-2.1-or-later
/* One record: whether it matches, and what is returned of it. */
#include <endian.h>
#include <string.h>
#include "query/query.h"

static uint64_t load_bytes(const uint8_t *p, uint32_t type, bool big)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (type) {
	case DDIO_QUERY_S8:
	case DDIO_QUERY_U8:
		return *p;
	case DDIO_QUERY_S16:
	case DDIO_QUERY_U16:
		memcpy(&v16, p, 2);
		return big ? be16toh(v16) : le16toh(v16);
	case DDIO_QUERY_S32:
	case DDIO_QUERY_U32:
	case DDIO_QUERY_F32:
		memcpy(&v32, p, 4);
		return big ? be32toh(v32) : le32toh(v32);
	default:
		memcpy(&v64, p, 8);
		return big ? be64toh(v64) : le64toh(v64);
	}
}

static double as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

union ddio_query_number ddio_query_load(const struct ddio_query_shape *shape, uint32_t field,
					const uint8_t *span)
{
	uint32_t type = shape->load[field] >> 1;
	uint64_t raw = load_bytes(span + (shape->q->field[field].offset - shape->lo), type,
				  shape->load[field] & 1);

	switch (type) {
	case DDIO_QUERY_S8:
		return (union ddio_query_number){ .s = (int8_t)raw };
	case DDIO_QUERY_S16:
		return (union ddio_query_number){ .s = (int16_t)raw };
	case DDIO_QUERY_S32:
		return (union ddio_query_number){ .s = (int32_t)raw };
	case DDIO_QUERY_F32:
		return (union ddio_query_number){ .f = as_float((uint32_t)raw) };
	default: /* of 64 bits, or unsigned */
		return (union ddio_query_number){ .u = raw };
	}
}

/* Says how two numbers compare: bit 0 less, bit 1 equal, bit 2 greater, none: one is NaN. */
static unsigned int order(uint32_t type, union ddio_query_number a, union ddio_query_number b)
{
	if (ddio_query_is_float(type))
		return (unsigned int)(a.f < b.f) | (unsigned int)(a.f == b.f) << 1 |
		       (unsigned int)(a.f > b.f) << 2;
	if (ddio_query_is_signed(type))
		return a.s < b.s ? 1 : a.s == b.s ? 2 : 4;
	return a.u < b.u ? 1 : a.u == b.u ? 2 : 4;
}

static bool compare(const struct ddio_query_shape *shape, const struct ddio_query_step *step,
		    const uint8_t *span)
{
	static const uint8_t true_for[] = {
		[DDIO_QUERY_EQ] = 2, [DDIO_QUERY_LT] = 1, [DDIO_QUERY_LE] = 3,
		[DDIO_QUERY_GT] = 4, [DDIO_QUERY_GE] = 6,
	};
	unsigned int is = order(shape->load[step->field] >> 1,
				ddio_query_load(shape, step->field, span), step->value);

	return step->op == DDIO_QUERY_NE ? !(is & 2) : is & true_for[step->op];
}

bool ddio_query_matches(const struct ddio_query_shape *shape, const uint8_t *span)
{
	const struct ddio_query *q = shape->q;
	uint64_t stack = 1; /* the topmost is the lowest bit */
	uint32_t i;

	for (i = 0; i < q->nsteps; i++) {
		const struct ddio_query_step *step = &q->where[i];

		switch (step->op) {
		case DDIO_QUERY_AND:
			stack = (stack >> 1 & ~1ull) | (stack & stack >> 1 & 1);
			break;
		case DDIO_QUERY_OR:
			stack = stack >> 1 | (stack & 1);
			break;
		case DDIO_QUERY_NOT:
			stack ^= 1;
			break;
		default:
			stack = stack << 1 | compare(shape, step, span);
		}
	}
	return stack & 1;
}

void ddio_query_output(const struct ddio_query_shape *shape, const uint8_t *span, uint8_t *to)
{
	const struct ddio_query *q = shape->q;
	uint32_t i, len;

	for (i = 0; i < q->noutput; i++) {
		const struct ddio_query_field *f = &q->field[q->output[i]];

		len = ddio_query_field_len(f);
		memcpy(to, span + (f->offset - shape->lo), len);
		to += len;
	}
}
