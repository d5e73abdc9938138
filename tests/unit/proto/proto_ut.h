/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of codecs: encoding any message, and judging one. */
#ifndef DDIO_TEST_PROTO_UT_H
#define DDIO_TEST_PROTO_UT_H

#include <endian.h>
#include <errno.h>
#include "tests/fuzz/codecs.h"
#include "tests/unit/lib/ut.h"

/* Encode into memory of exactly the right length, so that a sanitizer sees every byte beyond. */
static inline uint8_t *encode(const struct codec *c, const void *x, size_t *len)
{
	ssize_t n = c->put(NULL, 0, x);
	uint8_t *buf;

	if (n <= 0)
		return NULL;
	buf = malloc(n);
	if (!buf || c->put(buf, n, x) != n) {
		free(buf);
		return NULL;
	}
	*len = n;
	return buf;
}

/* Encode @x with @name's codec and say what decoding makes of it. */
static inline int judge(const char *name, const void *x)
{
	const struct codec *c = codec_find(name);
	union any_message out;
	size_t len = 0;
	uint8_t *buf = encode(c, x, &len);
	int err;

	if (!buf)
		return 1;
	err = c->get(buf, len, &out);
	if (!err)
		c->free(&out);
	free(buf);
	return err;
}

#endif /* DDIO_TEST_PROTO_UT_H */
