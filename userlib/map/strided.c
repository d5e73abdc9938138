// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a nested-strided description and turns it into a nest. */
#include <errno.h>
#include "map/parts.h"

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

/* Adds how far the repetitions of @level reach, to either side. */
static int level_reach(const struct ddio_level *level, uint32_t allow, uint64_t *down, uint64_t *up,
		       const char **why)
{
	uint64_t step = level->stride < 0 ? -(uint64_t)level->stride : (uint64_t)level->stride;
	uint64_t *side = level->stride < 0 ? down : up;
	uint64_t reach;

	if (!level->count)
		return fail(why, "strided.level.count is 0", -EINVAL);
	if (level->stride < 0 && !(allow & STRIDED_BACK))
		return fail(why, "strided.level.stride is negative in a file", -EINVAL);
	if (level->count > 1 && !level->stride && !(allow & STRIDED_TWICE))
		return fail(why, "strided.level.stride is 0: a byte is named twice", -EINVAL);
	if (__builtin_mul_overflow(level->count - 1, step, &reach) ||
	    __builtin_add_overflow(*side, reach, side) || *side > INT64_MAX)
		return fail(why, "strided: its last byte is beyond 2^63", -EOVERFLOW);
	return 0;
}

int nest_read(struct nest *nest, const struct ddio_strided *strided, uint32_t allow, uint64_t *span,
	      const char **why)
{
	uint64_t size = strided->len;
	uint64_t down = 0;
	uint64_t up = strided->len;
	bool over = false;
	uint32_t d;
	int rc;

	if (strided->reserved)
		return fail(why, "strided.reserved is not 0", -EINVAL);
	if (strided->nlevels > DDIO_MAX_DIMS)
		return fail(why, "strided.nlevels is above 8", -EINVAL);
	for (d = 0; d < strided->nlevels; d++) {
		const struct ddio_level *level = &strided->level[d];

		rc = level_reach(level, allow, &down, &up, why);
		if (rc)
			return rc;
		over |= __builtin_mul_overflow(size, level->count, &size);
		nest->dim[d].count = level->count;
		nest->dim[d].stride = (uint64_t)level->stride;
	}
	if (over || size > INT64_MAX || __builtin_add_overflow(strided->offset, up, span) ||
	    *span > INT64_MAX)
		return fail(why, "strided: its last byte is beyond 2^63", -EOVERFLOW);
	if (!strided->len)
		return -ENODATA;
	if (down > strided->offset)
		return fail(why, "memory.strided reaches below the buffer", -EINVAL);
	nest->off = strided->offset;
	nest->ndims = d + 1;
	nest->dim[d].count = strided->len;
	nest->dim[d].stride = 1;
	nest_simplify(nest);
	return 0;
}
