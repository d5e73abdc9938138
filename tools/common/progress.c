// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "progress.h"

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
