/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error on its way to the user: what, and one line that names whom it concerns. */
#ifndef DDIO_CP_ERROR_H
#define DDIO_CP_ERROR_H

#include <stdint.h>
#include "proto/proto.h"

/**
 * struct ddio_error - status 0 is success
 * @status: enum ddio_status
 * @err: the negative errno that the caller sees
 * @text: one line
 */
struct ddio_error {
	uint32_t status;
	int err;
	char text[DDIO_MAX_TEXT];
};

void ddio_error_clear(struct ddio_error *e);
/* From a negative errno. */
void ddio_error_set(struct ddio_error *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* From a status of the wire. */
void ddio_error_status(struct ddio_error *e, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Keep the first one: sets @e only if it is clear. */
void ddio_error_first(struct ddio_error *e, const struct ddio_error *other);
/*
 * Of the errors of several members one must win on all: that of the lowest rank, but a mere
 * cancellation, which is how others' failures are heard of, never over a cause.
 * Return: true if @a, of @rank_a, gives way to @b, of @rank_b.
 */
bool ddio_error_yields(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b);

#endif /* DDIO_CP_ERROR_H */
