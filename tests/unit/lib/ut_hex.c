// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "tests/unit/lib/ut.h"
#include "tests/unit/lib/ut_hex.h"

static int hex_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

uint8_t *ut_hex(const char *hex, size_t *len)
{
	size_t digits = 0, i;
	uint8_t *buf;

	for (i = 0; hex[i]; i++)
		digits += hex[i] != ' ';
	*len = digits / 2;
	buf = calloc(1, *len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(buf);
	for (digits = 0, i = 0; hex[i]; i++) {
		if (hex[i] == ' ')
			continue;
		buf[digits / 2] = (uint8_t)(buf[digits / 2] << 4 | hex_digit(hex[i]));
		digits++;
	}
	return buf;
}

void ut_hex_same(const char *what, const void *got, size_t len, const char *hex)
{
	const uint8_t *p = got;
	size_t want_len, i;
	uint8_t *want = ut_hex(hex, &want_len);
	bool same = len == want_len && !memcmp(got, want, len);

	if (!same) {
		printf("%s: ", what);
		for (i = 0; i < len; i++)
			printf("%02x", p[i]);
		printf("\n");
	}
	CU_ASSERT_TRUE(same);
	free(want);
}
