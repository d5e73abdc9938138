// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of names and addresses. */
#include <ctype.h>
#include <string.h>
#include "conf/priv.h"

bool conf_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > CONF_MAX_NAME || *name == '.' || *name == '-')
		return false;
	for (; *name; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) && !strchr("._-", *name)))
			return false;
	return true;
}

/* Accepts host:port and [v6]:port; whether the host exists shows when it is used. */
bool conf_address_ok(const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *p;
	unsigned long port = 0;

	if (!colon || colon == text || !colon[1] || strlen(text) > 127)
		return false;
	for (p = colon + 1; *p; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		port = port * 10 + (unsigned long)(*p - '0');
		if (port > 65535)
			return false;
	}
	for (p = text; p < colon; p++)
		if (isspace((unsigned char)*p))
			return false;
	if (*text == '[')
		return colon > text + 2 && colon[-1] == ']';
	return !memchr(text, ':', (size_t)(colon - text));
}
