// SPDX-License-Identifier: LGPL-2.1-or-later
/* Differences of numbers of records, seven bits in a byte, the lowest first; all but the last byte have bit 7. */
#include "query/query.h"

uint32_t ddio_query_delta_put(uint8_t *to, uint64_t v)
{
	uint32_t n = 0;

	for (; v > 0x7f; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

uint32_t ddio_query_delta_get(const uint8_t *from, size_t len, uint64_t *v)
{
	uint32_t n;

	*v = 0;
	for (n = 0; n < len && n < QUERY_DELTA_MAX; n++) {
		*v |= (uint64_t)(from[n] & 0x7f) << (7 * n);
		if (!(from[n] & 0x80))
			return n + 1;
	}
	return 0;
}
