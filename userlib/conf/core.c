// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include "conf/priv.h"

int conf_fail(struct conf_parser *parser, int ret, int line, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (parser->ret)
		return parser->ret;
	parser->ret = ret;
	if (!parser->err || !parser->err_len)
		return ret;
	n = snprintf(parser->err, parser->err_len, "%s:%d: ", parser->name, line);
	if (n < 0 || (size_t)n >= parser->err_len)
		return ret;
	va_start(ap, fmt);
	vsnprintf(parser->err + n, parser->err_len - (size_t)n, fmt, ap);
	va_end(ap);
	return ret;
}
