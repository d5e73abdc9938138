/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of ddio bench, and the experiment that they describe. */
#ifndef TOOLS_BENCH_SPEC_H
#define TOOLS_BENCH_SPEC_H

#include "bench.h"

struct bench_values {
	const char *conf, *file, *reference;
	const char *patterns, *records, *methods, *layouts;
	const char *engine, *disk_options;
	const char *output, *csv_file, *plot, *trace;
	uint32_t cps, iops, disks, trials, buffers, reactors, outstanding;
	uint64_t size, block, disk_size, cache, seed, offset;
	bool no_verify, paper, csv, json, quiet, limits, shared_bus, rotate, satf, no_batch, atomic,
		sync, fcfs, late_ahead, calls, alone, until_last;
	bool no_scatter, no_share;
	/* Of --mount. */
	const char *mount, *works;
	uint64_t mount_size, request;
	uint32_t jobs, files, rounds;
	double seconds;
};

#define BENCH_MAX_ROUNDS 100

void bench_defaults(struct bench_values *v);
/* Most compute processes: those of a machine, and those in virtual time. */
#define BENCH_MAX_CPS 4096
#define BENCH_MAX_CPS_VIRTUAL 65536
/* Prints what is wrong. Return: 0, -EINVAL, or what opening the reference said. */
int bench_spec_make(struct bench_values *v, uint32_t max_cps, struct bench_spec *spec);
void bench_spec_free(struct bench_spec *spec);
/* Prints the results as the options say.  Return: 0 or -errno after a message. */
int bench_write(const char *command, const struct bench_values *v, const struct bench_spec *spec,
		const struct bench_shared *sh);
/* Measures this machine's limits and prints them in the format of the results. */
int bench_print_limits(FILE *out, enum bench_format format);

#endif /* TOOLS_BENCH_SPEC_H */
