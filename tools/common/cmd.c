// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ddio/ddio.h>
#include "cmd.h"
#include "tools/common/safe/text.h"

int cmd_fail(const char *command, int err, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	/* Names are in it that others have chosen. */
	fprintf(stderr, "ddio %s: ", command);
	text_put(stderr, n < 0 ? fmt : text);
	if (n >= 0)
		free(text);
	if (err)
		fprintf(stderr, ": %s", strerror(-err));
	fputc('\n', stderr);
	return EXIT_FAILED;
}

/* Returns true if the text has the name at its beginning, or in quotes. */
static bool names(const char *text, const char *name)
{
	const size_t len = strlen(name);
	const char *at;

	if (!len)
		return false;
	if (!strncmp(text, name, len) && text[len] == ':')
		return true;
	for (at = strstr(text, name); at; at = strstr(at + 1, name))
		if (at > text && at[-1] == '"' && at[len] == '"')
			return true;
	return false;
}

int cmd_fail_session(const char *command, struct ddio_session *session, int err, const char *what)
{
	const char *text = ddio_last_error(session);

	if (!text || !*text)
		return cmd_fail(command, err, "%s", what[0] ? what : "\"\"");
	if (names(text, what))
		return cmd_fail(command, 0, "%s", text);
	return cmd_fail(command, 0, "%s: %s", what[0] ? what : "\"\"", text);
}

struct ddio_session *cmd_connect(const char *command, const char *conf)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = conf };
	struct ddio_session *session = NULL;
	int err = ddio_connect(&opts, &session);

	if (err)
		cmd_fail_session(command, NULL, err, "cannot connect");
	return session;
}

const char *cmd_human(uint64_t bytes, char buf[16])
{
	static const char unit[] = " KMGTPE";
	double v = (double)bytes;
	int u = 0;

	while (v >= 1024 && u < 6) {
		v /= 1024;
		u++;
	}
	if (u == 0)
		snprintf(buf, 16, "%u", (unsigned int)bytes);
	else
		snprintf(buf, 16, v < 10 ? "%.2f%c" : v < 100 ? "%.1f%c" : "%.0f%c", v, unit[u]);
	return buf;
}

const char *cmd_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
