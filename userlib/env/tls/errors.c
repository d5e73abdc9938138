// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenSSL has a queue of errors for each thread, and clears it as it likes.  The thread may be the program's own, which has
 * not looked at its errors yet: so they are kept meanwhile.  There are hardly ever any.
 */
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include "env/tls/priv.h"

const char tls_bad_record[] = "a record has been changed on its way, or is none";

int tls_fail(struct tls_stream *s, int err, const char *why)
{
	s->err = err;
	snprintf(s->why, sizeof(s->why), "%s", why);
	return err;
}

#define ERRORS 16 /* that OpenSSL remembers */

/**
 * struct tls_errors - what a thread's queue had, the oldest first
 */
struct tls_errors {
	int n;
	struct tls_error {
		unsigned long code;
		int line;
		char file[128], func[128], data[256];
	} at[ERRORS];
};

struct tls_errors *tls_errors_take(void)
{
	const char *file, *func, *data;
	struct tls_errors *own;
	struct tls_error *e;
	int flags;

	if (!ERR_peek_error())
		return NULL;
	own = calloc(1, sizeof(*own));
	while (own && own->n < ERRORS) {
		e = &own->at[own->n];
		e->code = ERR_get_error_all(&file, &e->line, &func, &data, &flags);
		if (!e->code)
			break;
		snprintf(e->file, sizeof(e->file), "%s", file);
		snprintf(e->func, sizeof(e->func), "%s", func);
		snprintf(e->data, sizeof(e->data), "%s", flags & ERR_TXT_STRING ? data : "");
		own->n++;
	}
	return own;
}

void tls_errors_put(struct tls_errors *own)
{
	const struct tls_error *e;
	int i;

	ERR_clear_error();
	for (i = 0; own && i < own->n; i++) {
		e = &own->at[i];
		ERR_new();
		ERR_set_debug(e->file, e->line, e->func);
		if (e->data[0])
			ERR_set_error(ERR_GET_LIB(e->code), ERR_GET_REASON(e->code), "%s", e->data);
		else
			ERR_set_error(ERR_GET_LIB(e->code), ERR_GET_REASON(e->code), NULL);
	}
	free(own);
}
