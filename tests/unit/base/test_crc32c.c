// SPDX-License-Identifier: GPL-2.0-only
/* CRC-32C: what is published of it, and the processor's way against the plain one. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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

/* Copies @n bytes between places @from and @to of their pages; returns whether bytes and sum are right, and nothing beside them changed. */
static bool copy_is_right(const uint8_t *bytes, uint8_t *room, size_t to, size_t n, bool past)
{
	uint32_t sum;
	size_t i;

	memset(room, 0x5a, n + 128);
	sum = ddio_crc32c_copy((uint32_t)n, room + to, bytes, n, past);
	for (i = 0; i < n + 128; i++)
		if (room[i] != (i < to || i >= to + n ? 0x5a : bytes[i - to]))
			return false;
	return sum == crc32c_portable((uint32_t)n, bytes, n);
}

static void test_copy(void)
{
	static const size_t about[] = { 0, 40, 1024, 1024 + 96, 4096, 8192, 65536 };
	static uint8_t bytes[70000], room[70000] __attribute__((aligned(64)));
	uint64_t state = 57;
	size_t i, n;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)ddio_rand_next(&state);
	for (i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		for (n = about[i]; n < about[i] + 100; n += ut_stride(3)) {
			CU_ASSERT(copy_is_right(bytes + n % 33, room, 0, n, true));
			CU_ASSERT(copy_is_right(bytes + n % 33, room, n % 64, n, true));
			CU_ASSERT(copy_is_right(bytes + n % 33, room, 32, n, true));
			CU_ASSERT(copy_is_right(bytes + n % 33, room, n % 64, n, false));
		}
}

/* Another thread writes to what is copied: the sum is of what was stored, whatever that is. */
struct scribbler {
	uint8_t *bytes;
	size_t len;
	_Atomic bool end;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	volatile uint8_t *bytes = s->bytes;
	size_t at = 0;

	while (!s->end) {
		bytes[at]++;
		at = (at + 61) % s->len;
	}
	return NULL;
}

static void test_scribbled(void)
{
	static uint8_t bytes[65536], room[65536] __attribute__((aligned(64)));
	struct scribbler s = { .bytes = bytes, .len = sizeof(bytes) };
	pthread_t thread;
	uint32_t sum;
	int i;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, scribble, &s), 0);
	for (i = 0; i < 300; i++) {
		sum = ddio_crc32c_copy(0, room, bytes, sizeof(bytes), i % 2);
		CU_ASSERT_EQUAL(sum, ddio_crc32c(0, room, sizeof(room)));
	}
	s.end = true;
	pthread_join(thread, NULL);
}

static const struct ut_case cases[] = {
	{ "published values", test_published },
	{ "every length", test_lengths },
	{ "long ones", test_long },
	{ "two parts", test_join },
	{ "two parts, of any length", test_join_far },
	{ "while it is copied", test_copy },
	{ "copied while another changes it", test_scribbled },
	{ .name = NULL },
};

static const struct ut_suite suites[] = { { "crc32c", cases } };

int main(void)
{
	return ut_run("crc32c", suites, 1);
}
