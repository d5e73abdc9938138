// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: one run with faults, or many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "faults.h"
#include "mounts.h"

static const struct faults_script script = {
	.round = faults_cp_round,
	.end = faults_cp_end,
	.all_met = faults_round_end,
};

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
	ret = spec->mounts ? mounts_begin(f) : 0;
	if (!ret)
		ret = faults_world_new(f);
	if (!ret && !f->mounts)
		faults_fate_begin(f);
	if (!ret)
		ret = faults_world_run(f, f->mounts ? &mounts_script : &script);
	if (ret && !result->why[0])
		faults_violated(f, "the world could not be run: %s", strerror(-ret));
	/* After a violation calls may be in their midst, and would not end. */
	if (!result->why[0])
		faults_world_free(f);
	faults_round_free(f);
	mounts_end(f);
	for (i = 0; i < FAULTS_FILES; i++) {
		free(f->file[i].cell);
		free(f->kept[i]);
	}
	free(f);
	return result->why[0] ? -1 : 0;
}
