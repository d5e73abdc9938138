// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "query/exact.h"

#define DIGIT_BITS 32
#define LEAST (-1074) /* exponent of the least significant bit */
#define MANTISSA 53

void exact_add(struct query_exact *e, double v)
{
	uint64_t bits, mantissa;
	unsigned int exponent, shift, i;
	__int128 low, high;

	memcpy(&bits, &v, sizeof(bits));
	exponent = bits >> 52 & 0x7ff;
	mantissa = bits & ((1ull << 52) - 1);
	if (exponent == 0x7ff) {
		e->inf |= bits >> 63 ? EXACT_MINUS_INF : EXACT_PLUS_INF;
		return;
	}
	if (exponent)
		mantissa |= 1ull << 52;
	shift = exponent ? exponent - 1 : 0;
	i = shift / DIGIT_BITS;
	shift %= DIGIT_BITS;
	low = (uint32_t)(mantissa << shift);
	high = mantissa >> (DIGIT_BITS - shift);
	e->digit[i] += bits >> 63 ? -low : low;
	e->digit[i + 1] += bits >> 63 ? -high : high;
}

/* Makes every digit but the last one a number of 32 bits. */
static void carry(struct query_exact *e)
{
	int i;

	for (i = 0; i < EXACT_DIGITS - 1; i++) {
		__int128 up = e->digit[i] >> DIGIT_BITS;

		e->digit[i] -= up * ((__int128)1 << DIGIT_BITS);
		e->digit[i + 1] += up;
	}
}

/* Rounds @m * 2^@exponent, with more behind it if @more. */
static double rounded(unsigned __int128 m, bool more, int exponent)
{
	unsigned __int128 half;
	int bits = 0, cut;

	while (bits < 128 && m >> bits)
		bits++;
	cut = bits - MANTISSA;
	if (cut > 0) {
		unsigned __int128 rest = m & (((unsigned __int128)1 << cut) - 1);

		half = (unsigned __int128)1 << (cut - 1);
		m >>= cut;
		exponent += cut;
		if (rest > half || (rest == half && (more || m & 1)))
			m++;
	}
	return ldexp((double)(uint64_t)m, exponent);
}

/* Of a carried sum that is not negative. */
static double magnitude(const struct query_exact *e)
{
	unsigned __int128 m = 0;
	bool more = false;
	int top = EXACT_DIGITS - 1, low, i;

	while (top > 0 && !e->digit[top])
		top--;
	low = top > 2 ? top - 2 : 0;
	for (i = top; i >= low; i--)
		m = m << DIGIT_BITS | (unsigned __int128)e->digit[i];
	for (i = 0; i < low; i++)
		more |= e->digit[i] != 0;
	return rounded(m, more, LEAST + DIGIT_BITS * low);
}

static double infinite(uint32_t inf)
{
	if (inf == (EXACT_PLUS_INF | EXACT_MINUS_INF))
		return NAN;
	return inf == EXACT_PLUS_INF ? INFINITY : -INFINITY;
}

double exact_sum(struct query_exact *e)
{
	struct query_exact minus;
	int i;

	if (e->inf)
		return infinite(e->inf);
	carry(e);
	if (e->digit[EXACT_DIGITS - 1] >= 0)
		return magnitude(e);
	for (i = 0; i < EXACT_DIGITS; i++)
		minus.digit[i] = -e->digit[i];
	carry(&minus);
	return -magnitude(&minus);
}

void exact_put(struct query_exact *e, uint8_t *buf)
{
	uint32_t digit;
	int i;

	carry(e);
	for (i = 0; i < EXACT_DIGITS; i++) {
		digit = htole32((uint32_t)e->digit[i]);
		memcpy(buf + 4 * i, &digit, 4);
	}
	digit = htole32(e->inf);
	memcpy(buf + 4 * EXACT_DIGITS, &digit, 4);
}

int exact_merge(struct query_exact *e, const uint8_t *buf)
{
	uint32_t digit;
	int i;

	memcpy(&digit, buf + 4 * EXACT_DIGITS, 4);
	digit = le32toh(digit);
	if (digit & ~(EXACT_PLUS_INF | EXACT_MINUS_INF))
		return -EPROTO;
	e->inf |= digit;
	for (i = 0; i < EXACT_DIGITS; i++) {
		memcpy(&digit, buf + 4 * i, 4);
		digit = le32toh(digit);
		e->digit[i] += i < EXACT_DIGITS - 1 ? (__int128)digit : (__int128)(int32_t)digit;
	}
	return 0;
}
