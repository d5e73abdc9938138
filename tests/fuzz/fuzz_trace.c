// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a trace of a disk; what parses is replayed through the timing model. */
#include "tools/lab/disk_model/trace.c"
#include "tools/lab/disk_model/replay.c"

#define REPLAY_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_error error;
	struct comparison c;
	struct hp97560_params p;
	struct disk_trace t;

	if (trace_parse(&t, (const char *)data, size, &error))
		return 0;
	hp97560_params_default(&p);
	disk_policy(&p, policies[size % 3].name);
	if (t.n <= REPLAY_MAX && !trace_compare(&c, &t, &p, &error))
		comparison_release(&c);
	trace_release(&t);
	return 0;
}
