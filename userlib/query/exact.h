/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of floating numbers without any error until they are rounded at the end, so that neither the order of the numbers
 * nor how they are spread over disks and processes matters: a fixed-point number of all bits that a double can have
 * (Neal, "Fast exact summation using small and large superaccumulators", 2015).
 */
#ifndef DDIO_QUERY_EXACT_H
#define DDIO_QUERY_EXACT_H

#include <stdint.h>

#define EXACT_DIGITS 68 /* of 32 bits each; the least significant bit of all is 2^-1074 */
#define EXACT_LEN (4 * EXACT_DIGITS + 4) /* bytes of the encoding */

#define EXACT_PLUS_INF 1u
#define EXACT_MINUS_INF 2u

/**
 * struct query_exact - the sum
 * @digit: of weight 2^(32 i - 1074), each with room for 2^64 numbers before it must be carried
 * @inf: which infinities were added
 */
struct query_exact {
	__int128 digit[EXACT_DIGITS];
	uint32_t inf;
};

/* Adds a number, which is not NaN. */
void exact_add(struct query_exact *e, double v);
/* Returns the sum, rounded to the nearest number, ties to even. */
double exact_sum(struct query_exact *e);
/* Encodes the sum in EXACT_LEN bytes. */
void exact_put(struct query_exact *e, uint8_t *buf);
/* Adds what was encoded: 0 or -EPROTO. */
int exact_merge(struct query_exact *e, const uint8_t *buf);

#endif /* DDIO_QUERY_EXACT_H */
