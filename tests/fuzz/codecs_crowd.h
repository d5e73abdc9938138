/* SPDX-License-Identifier: GPL-2.0-only */
/* Crowds of a few members, made in one step. */
#ifndef DDIO_TEST_CODECS_CROWD_H
#define DDIO_TEST_CODECS_CROWD_H

#include <stdlib.h>
#include "proto/crowd.h"

/* As many as are joined at once. */
#define CROWD_OF_MAX 32

/* Joins members, in the order of their ranks from 0 on. */
static inline int crowd_of(struct ddio_crowd *crowd, const struct ddio_part *part, uint32_t n)
{
	struct ddio_crowd one[CROWD_OF_MAX];
	size_t len = 0, at = 0;
	uint8_t *buf;
	uint32_t i;
	int err;

	for (i = 0; i < n; i++) {
		if (ddio_crowd_one(&one[i], i, &part[i]))
			abort();
		len += (size_t)ddio_put_crowd(NULL, 0, &one[i]);
	}
	buf = malloc(len + 1);
	if (!buf)
		abort();
	for (i = 0; i < n; i++) {
		at += (size_t)ddio_put_crowd(buf + at, len - at, &one[i]);
		ddio_crowd_free(&one[i]);
	}
	err = ddio_crowd_join(buf, len, crowd);
	free(buf);
	return err;
}

#endif /* DDIO_TEST_CODECS_CROWD_H */
