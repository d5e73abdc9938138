// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include "cp/node/error.h"

void ddio_error_clear(struct ddio_error *e)
{
	e->status = DDIO_ST_OK;
	e->err = 0;
	e->text[0] = '\0';
}

void ddio_error_set(struct ddio_error *e, int err, const char *fmt, ...)
{
	va_list ap;

	e->err = err;
	e->status = ddio_status_from_errno(err);
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void ddio_error_status(struct ddio_error *e, uint32_t status, const char *fmt, ...)
{
	va_list ap;

	e->status = status;
	e->err = ddio_status_to_errno(status);
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void ddio_error_first(struct ddio_error *e, const struct ddio_error *other)
{
	if (!e->status && other->status)
		*e = *other;
}

static int severity(uint32_t status)
{
	if (status == DDIO_ST_OK)
		return 0;
	return status == DDIO_ST_CANCELLED ? 1 : 2;
}

bool ddio_error_yields(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b)
{
	if (severity(a) != severity(b))
		return severity(b) > severity(a);
	return severity(b) && rank_b < rank_a;
}
