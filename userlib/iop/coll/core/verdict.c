// SPDX-License-Identifier: LGPL-2.1-or-later
/* How a collective ended, or why it cannot start. */
#include <stdarg.h>
#include <stdio.h>
#include "iop/coll/core/verdict.h"

void verdict_set(struct verdict *v, uint32_t status, uint32_t lost, const char *fmt, ...)
{
	va_list ap;

	v->status = status;
	v->lost = lost;
	va_start(ap, fmt);
	vsnprintf(v->text, sizeof(v->text), fmt, ap);
	va_end(ap);
}
