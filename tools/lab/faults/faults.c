// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: one run with faults, or many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "faults.h"

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
	va_list ap;

	if (!f->spec.verbose)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "%.6f ", f->world ? faults_now(f) / 1e9 : 0.0);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

int faults_run(const struct faults_spec *spec, struct faults_result *result)
{
	struct faults *f = calloc(1, sizeof(*f));
	uint32_t i;
	int ret;

	memset(result, 0, sizeof(*result));
	if (!f)
		return -1;
	f->spec = *spec;
	f->result = result;
	faults_conf_make(f);
	ret = faults_world_new(f);
	if (!ret) {
		faults_fate_begin(f);
		ret = faults_world_run(f);
	}
	if (ret && !result->why[0])
		faults_violated(f, "the world could not be run: %s", strerror(-ret));
	/* After a violation calls may be in their midst, and would not end. */
	if (!result->why[0])
		faults_world_free(f);
	faults_round_free(f);
	for (i = 0; i < FAULTS_FILES; i++) {
		free(f->file[i].cell);
		free(f->kept[i]);
	}
	free(f);
	return result->why[0] ? -1 : 0;
}
