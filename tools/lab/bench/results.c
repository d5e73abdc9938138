// SPDX-License-Identifier: GPL-2.0-only
/* The results of a benchmark: memory for them, and output. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include "spec.h"
#include "tools/common/cmd.h"

static uint64_t bench_total(const struct bench_spec *spec)
{
	return (uint64_t)spec->nlayouts * spec->trials * spec->nrecords * spec->npatterns *
	       spec->nmethods;
}

static size_t bench_bytes(uint64_t total)
{
	return sizeof(struct bench_shared) + total * sizeof(struct bench_run);
}

struct bench_shared *bench_shared_new(const struct bench_spec *spec)
{
	uint64_t total = bench_total(spec);
	struct bench_shared *sh;
	struct utsname u;

	if (total > BENCH_MAX_RUNS)
		return NULL;
	sh = mmap(NULL, bench_bytes(total), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		  0);
	if (sh == MAP_FAILED)
		return NULL;
	sh->total = total;
	sh->scale = 1.0;
	if (!uname(&u))
		snprintf(sh->kernel, sizeof(sh->kernel), "%s %s", u.sysname, u.release);
	return sh;
}

void bench_shared_free(const struct bench_spec *spec, struct bench_shared *sh)
{
	munmap(sh, bench_bytes(bench_total(spec)));
}

static FILE *open_out(const char *command, const char *path)
{
	FILE *f = path && strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f)
		cmd_fail(command, -errno, "%s", path);
	return f;
}

int bench_write(const char *command, const struct bench_values *v, const struct bench_spec *spec,
		const struct bench_shared *sh)
{
	enum bench_format format = v->csv ? BENCH_CSV : v->json ? BENCH_JSON : BENCH_TEXT;
	FILE *f = open_out(command, v->output);
	int err = 0;

	if (!f)
		return -EIO;
	bench_print(f, format, spec, sh);
	if (v->limits)
		err = bench_print_limits(f, format);
	if (f != stdout && fclose(f))
		err = -errno;
	if (!err && v->csv_file) {
		f = open_out(command, v->csv_file);
		if (!f)
			return -EIO;
		bench_print(f, BENCH_CSV, spec, sh);
		if (fclose(f))
			err = -errno;
	}
	if (!err && v->plot)
		err = bench_plot(v->plot, spec, sh);
	return err;
}
