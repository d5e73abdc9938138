/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error on its way to the user: what, and one line that names whom it concerns. */
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
/* From a negative errno. */
void error_set(struct error *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* From a status of the wire. */
void error_status(struct error *e, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Keep the first one: sets @e only if it is clear. */
void error_first(struct error *e, const struct error *other);
/*
 * Of the errors of several members one must win on all: that of the lowest rank, but a mere
 * cancellation, which is how others' failures are heard of, never over a cause.
 * Return: true if @a, of @rank_a, gives way to @b, of @rank_b.
 */
bool error_yields(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b);

#endif /* DDIO_CP_ERROR_H */
