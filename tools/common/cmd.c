// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "cmd.h"

int cmd_fail(const char *command, int err, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "ddio %s: ", command);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (err)
		fprintf(stderr, ": %s", strerror(-err));
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int cmd_fail_session(const char *command, struct ddio_session *session, int err, const char *what)
{
	const char *text = ddio_last_error(session);

	if (!text || !*text)
		return cmd_fail(command, err, "%s", what);
	return cmd_fail(command, 0, "%s: %s", what, text);
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

void progress_begin(struct progress *p, const char *what, uint64_t total, bool wanted)
{
	p->what = what;
	p->total = total ? total : 1;
	p->last = UINT64_MAX;
	p->on = wanted && isatty(STDERR_FILENO);
}

void progress_step(struct progress *p, uint64_t now, const char *note)
{
	enum { WIDTH = 30 };
	uint64_t mark = now * 1000 / p->total;
	int fill = (int)(now * WIDTH / p->total);
	char bar[WIDTH + 1];

	if (!p->on || (mark == p->last && !note))
		return;
	p->last = mark;
	memset(bar, ' ', WIDTH);
	memset(bar, '=', (size_t)(fill > WIDTH ? WIDTH : fill));
	bar[WIDTH] = 0;
	fprintf(stderr, "\r%s [%s] %3d%% %-34.34s", p->what, bar,
		(int)(now >= p->total ? 100 : now * 100 / p->total), note ? note : "");
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->on)
		fprintf(stderr, "\r%79s\r", "");
	p->on = false;
}
