/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error for the user: what happened, and one line that names what it concerns. */
#ifndef DDIO_CP_ERROR_H
#define DDIO_CP_ERROR_H

#include <stdint.h>
#include "proto/proto.h"

/**
 * struct error - status 0 is success
 * @status: enum ddio_status
 * @err: the negative errno that the caller sees
 * @text: one line
 */
struct error {
	uint32_t status;
	int err;
	char text[DDIO_MAX_TEXT];
};

void error_clear(struct error *e);
/* Sets @e from a negative errno. */
void error_set(struct error *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets @e from a status of the wire. */
void error_status(struct error *e, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets @e only if it is clear: the first error counts. */
void error_first(struct error *e, const struct error *other);
/*
 * Orders the errors of several members, so that the same one wins on all: that of the lowest rank,
 * but never a cancellation, which only says that another member failed, over a cause.
 * Returns true if @a, of @rank_a, gives way to @b, of @rank_b.
 */
bool error_yields(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b);

#endif /* DDIO_CP_ERROR_H */
