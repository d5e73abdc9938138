// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: what a run says, and why it failed. */
#include <stdio.h>
#include "run.h"

void faults_violated(struct faults *f, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (f->result->why[0])
		return;
	n = snprintf(f->result->why, sizeof(f->result->why), "round %u: ", f->round.number);
	va_start(ap, fmt);
	vsnprintf(f->result->why + n, sizeof(f->result->why) - n, fmt, ap);
	va_end(ap);
	faults_say(f, "VIOLATED: %s", f->result->why);
}

void faults_say(struct faults *f, const char *fmt, ...)
{
	FILE *to = f->spec.story ? stdout : stderr;
	va_list ap;

	if (!f->spec.verbose && !f->spec.story)
		return;
	va_start(ap, fmt);
	fprintf(to, "%.6f ", f->now ? f->now(f) / 1e9 : 0.0);
	vfprintf(to, fmt, ap);
	fputc('\n', to);
	va_end(ap);
}
