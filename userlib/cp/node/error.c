// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include "cp/node/error.h"

void error_clear(struct error *e)
{
	e->status = DDIO_ST_OK;
	e->err = 0;
	e->text[0] = '\0';
}

void error_set(struct error *e, int err, const char *fmt, ...)
{
	va_list ap;

	e->err = err;
	e->status = ddio_status_from_errno(err);
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void error_status(struct error *e, uint32_t status, const char *fmt, ...)
{
	va_list ap;

	e->status = status;
	e->err = ddio_status_to_errno(status);
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void error_first(struct error *e, const struct error *other)
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

bool error_yields(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b)
{
	if (severity(a) != severity(b))
		return severity(b) > severity(a);
	return severity(b) && rank_b < rank_a;
}
