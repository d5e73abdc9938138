// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a trace of a disk; what parses is replayed through the timing model. */
#include "tools/lab/disk_model/disk_model_trace.c"
#include "tools/lab/disk_model/disk_model_replay.c"

#define REPLAY_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ddio_trace_error error;
	struct ddio_comparison c;
	struct hp97560_params p;
	struct ddio_trace t;

	if (ddio_trace_parse(&t, (const char *)data, size, &error))
		return 0;
	hp97560_params_default(&p);
	ddio_disk_policy(&p, policies[size % 3].name);
	if (t.n <= REPLAY_MAX && !ddio_trace_compare(&c, &t, &p, &error))
		ddio_comparison_release(&c);
	ddio_trace_release(&t);
	return 0;
}
