// SPDX-License-Identifier: GPL-2.0-only
/* CRC-32C: what is published of it, and the processor's way against the plain one. */
#include <stdlib.h>
#include "base/crc32c.h"
#include "base/rand.h"
#include "../lib/ut.h"

static void test_published(void)
{
	uint8_t zeros[32] = { 0 };

	/* RFC 3720, B.4, and the usual check value. */
	CU_ASSERT_EQUAL(ddio_crc32c(0, zeros, sizeof(zeros)), 0x8a9136aa);
	CU_ASSERT_EQUAL(ddio_crc32c(0, "123456789", 9), 0xe3069283);
	CU_ASSERT_EQUAL(ddio_crc32c(ddio_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	CU_ASSERT_EQUAL(ddio_crc32c(0, NULL, 0), 0);
	CU_ASSERT_EQUAL(crc32c_portable(0, "123456789", 9), 0xe3069283);
}

/* Every length up to three rounds of the longest lanes, at every place in a word. */
static void test_lengths(void)
{
	enum { LONGEST = 3 * 4080 + 600 };
	uint8_t *bytes = malloc(LONGEST + 8);
	uint64_t state = 16, i;
	uint32_t sum = 0;
	size_t n;

	if (!bytes)
		abort();
	for (i = 0; i < LONGEST + 8; i++)
		bytes[i] = (uint8_t)ddio_rand_next(&state);
	for (n = 0; n < LONGEST; n += ut_stride(37)) {
		sum = crc32c_portable(sum, bytes + n % 8, n);
		CU_ASSERT_EQUAL_FATAL(ddio_crc32c((uint32_t)n, bytes + n % 8, n),
				      crc32c_portable((uint32_t)n, bytes + n % 8, n));
		CU_ASSERT_EQUAL_FATAL(crc32c_lanes((uint32_t)n, bytes + n % 8, n),
				      crc32c_portable((uint32_t)n, bytes + n % 8, n));
		CU_ASSERT_EQUAL_FATAL(crc32c_mixed((uint32_t)n, bytes + n % 8, n),
				      crc32c_portable((uint32_t)n, bytes + n % 8, n));
		CU_ASSERT_EQUAL_FATAL(ddio_crc32c(ddio_crc32c(sum, bytes, n), bytes + n, 8),
				      ddio_crc32c(sum, bytes, n + 8));
	}
	free(bytes);
}

/* About the lengths that are summed in one go, and several of them. */
static void test_long(void)
{
	static const size_t about[] = { 4032, 65472, 65472 + 4032, 2 * 65472,
					3 * 65472 + 5 * 4032 };
	static uint8_t bytes[300000];
	uint64_t state = 28;
	size_t i, n;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)ddio_rand_next(&state);
	for (i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		for (n = about[i] - 9; n < about[i] + 10; n++) {
			uint32_t want = crc32c_portable((uint32_t)n, bytes + n % 8, n);

			CU_ASSERT_EQUAL(crc32c_mixed((uint32_t)n, bytes + n % 8, n), want);
			CU_ASSERT_EQUAL(crc32c_lanes((uint32_t)n, bytes + n % 8, n), want);
			CU_ASSERT_EQUAL(ddio_crc32c((uint32_t)n, bytes + n % 8, n), want);
		}
}

static void test_join(void)
{
	static uint8_t bytes[70000];
	size_t n, len;

	for (n = 0; n < sizeof(bytes); n++)
		bytes[n] = (uint8_t)(n * 2654435761u >> 13);
	for (n = 0; n < sizeof(bytes); n = n * 2 + 1)
		for (len = 0; len <= sizeof(bytes) - n; len = len * 3 + 1)
			CU_ASSERT_EQUAL(ddio_crc32c_join(ddio_crc32c(0, bytes, n),
							 ddio_crc32c(0, bytes + n, len), len),
					ddio_crc32c(0, bytes, n + len));
}

/* Lengths that no memory has: both ways agree, and a step of the sum of two lengths is the two steps. */
static void test_join_far(void)
{
	uint64_t state = 33, len, more;
	uint32_t sum, n;

	for (n = 0; n < 2000; n++) {
		sum = (uint32_t)ddio_rand_next(&state);
		len = ddio_rand_next(&state) >> n % 64;
		more = ddio_rand_next(&state) >> 2;
		CU_ASSERT_EQUAL(ddio_crc32c_join(sum, 0, len), crc32c_join_portable(sum, 0, len));
		CU_ASSERT_EQUAL(ddio_crc32c_join(ddio_crc32c_join(sum, 0, len >> 2), 0, more),
				ddio_crc32c_join(sum, 0, (len >> 2) + more));
	}
}

static const struct ut_case cases[] = {
	{ "published values", test_published },
	{ "every length", test_lengths },
	{ "long ones", test_long },
	{ "two parts", test_join },
	{ "two parts, of any length", test_join_far },
	{ .name = NULL },
};

static const struct ut_suite suites[] = { { "crc32c", cases } };

int main(void)
{
	return ut_run("crc32c", suites, 1);
}
