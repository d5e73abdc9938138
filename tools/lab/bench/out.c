// SPDX-License-Identifier: GPL-2.0-only
/* The results of ddio bench as text, CSV or JSON.  All forms say what ran. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "spec.h"
#include "tools/common/version.h"

static double run_mbps(const struct bench_run *r)
{
	return r->elapsed_ns ? (double)r->bytes / 1048576.0 / ((double)r->elapsed_ns / 1e9) : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

bool bench_cell(const struct bench_spec *spec, const struct bench_shared *sh, uint32_t pattern,
		uint32_t record, uint32_t layout, uint32_t method, struct bench_cell *cell)
{
	double *v = calloc(spec->trials, sizeof(*v));
	const struct bench_run *r;
	uint32_t n = 0;

	if (!v)
		return false;
	*cell = (struct bench_cell){ 0 };
	for (r = sh->runs; r < sh->runs + sh->nruns && n < spec->trials; r++) {
		if (r->pattern != pattern || r->record != record || r->layout != layout ||
		    r->method != method)
			continue;
		if (!n)
			cell->first = r;
		v[n++] = run_mbps(r);
	}
	if (n) {
		qsort(v, n, sizeof(*v), by_value);
		cell->n = n;
		cell->min = v[0];
		cell->max = v[n - 1];
		cell->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	}
	free(v);
	return n > 0;
}

static void print_what(FILE *f, const char *lead, const struct bench_spec *s,
		       const struct bench_shared *sh)
{
	fprintf(f,
		"%sddio %s (%s), %s, engine %s%s%s, time scale %g\n"
		"%s%u compute processes, %u I/O processors x %u disks, %" PRIu64
		" bytes, blocks of %" PRIu64 "\n"
		"%sseed %" PRIu64 ", %u trial%s (median), %s; MB = 2^20; ra counted once\n",
		lead, tool_version, tool_commit, sh->kernel, sh->engine,
		s->engine_options ? " " : "", s->engine_options ? s->engine_options : "", sh->scale,
		lead, s->cps, s->iops, s->disks, s->size, s->block, lead, s->seed, s->trials,
		s->trials == 1 ? "" : "s", s->verify ? "every byte checked" : "bytes not checked");
}

static void text_cell(FILE *f, const struct bench_spec *s, const struct bench_shared *sh,
		      uint32_t pattern, uint32_t record, uint32_t layout, uint32_t method)
{
	double paper = bench_paper(pattern, record, layout, method);
	struct bench_cell c;

	if (!bench_cell(s, sh, pattern, record, layout, method, &c)) {
		fprintf(f, " %16s", "-");
		return;
	}
	fprintf(f, " %9.2f", c.median);
	if (s->paper && paper > 0)
		fprintf(f, " (%4.1f)", paper);
	else
		fprintf(f, "       ");
}

static void text_table(FILE *f, const struct bench_spec *s, const struct bench_shared *sh,
		       uint32_t layout, uint32_t record)
{
	uint32_t p, m;
	char name[8];

	fprintf(f, "\n%s, %u-byte records, MB/s%s\n%-8s", bench_layout_name(layout), record,
		s->paper ? " (published in brackets)" : "", "pattern");
	for (m = 0; m < s->nmethods; m++)
		fprintf(f, " %9s       ", bench_method_name(s->methods[m]));
	fprintf(f, "\n");
	for (p = 0; p < s->npatterns; p++) {
		bench_pattern_name(s->patterns[p], name);
		fprintf(f, "%-8s", name);
		for (m = 0; m < s->nmethods; m++)
			text_cell(f, s, sh, s->patterns[p], record, layout, s->methods[m]);
		fprintf(f, "\n");
	}
}

/* What the disk-directed runs did to the disks: the promises of the design, as counted. */
static void text_counts(FILE *f, const struct bench_spec *s, const struct bench_shared *sh)
{
	uint64_t exact = 0, n = 0, buffers = 0, one = 0, moved;
	const struct bench_run *r;

	for (r = sh->runs; r < sh->runs + sh->nruns; r++) {
		if (r->method != DDIO_METHOD_DD && r->method != DDIO_METHOD_DDS)
			continue;
		n++;
		/* The last block of a share may be partly needed: disks move whole blocks. */
		moved = r->report.disk_read + r->report.disk_written;
		exact += moved >= r->report.bytes_needed &&
			 moved < r->report.bytes_needed + 2 * s->block;
		one += r->report.requests == r->report.iops;
		if (r->report.buffers > buffers)
			buffers = r->report.buffers;
	}
	if (n)
		fprintf(f,
			"\ndisk-directed runs: %" PRIu64
			"; one request an I/O processor in %" PRIu64
			"; disk traffic what was needed, in whole blocks, in %" PRIu64
			"; at most %" PRIu64 " block buffers a disk\n",
			n, one, exact, buffers);
}

static void print_text(FILE *f, const struct bench_spec *s, const struct bench_shared *sh)
{
	uint32_t l, r;

	print_what(f, "", s, sh);
	for (l = 0; l < s->nlayouts; l++)
		for (r = 0; r < s->nrecords; r++)
			text_table(f, s, sh, s->layouts[l], s->records[r]);
	text_counts(f, s, sh);
}

/* The columns of CSV and JSON beside the names: one list for both. */
#define RUN_FIELDS(X)                             \
	X(bytes, r->bytes)                        \
	X(elapsed_ns, r->elapsed_ns)              \
	X(bytes_needed, r->report.bytes_needed)   \
	X(disk_read, r->report.disk_read)         \
	X(disk_written, r->report.disk_written)   \
	X(disk_requests, r->report.disk_requests) \
	X(requests, r->report.requests)           \
	X(messages, r->report.messages)           \
	X(buffers, r->report.buffers)             \
	X(sorted, r->report.sorted)               \
	X(iops, r->report.iops)                   \
	X(scattered, r->report.bytes_scattered)   \
	X(shared, r->report.bytes_shared)         \
	X(peak_permille, r->report.peak_share)    \
	X(wait_join_ns, r->report.wait_join_ns)   \
	X(wait_io_ns, r->report.wait_io_ns)       \
	X(wait_end_ns, r->report.wait_end_ns)     \
	X(verified, r->verified)                  \
	X(iop_left, r->left)                      \
	X(iop_left_barriers, r->left_barriers)

static void print_csv(FILE *f, const struct bench_spec *s, const struct bench_shared *sh)
{
	const struct bench_run *r;
	char name[8];

#define HEAD(name, value) fprintf(f, "," #name);
#define CSV(name, value) fprintf(f, ",%" PRIu64, (uint64_t)(value));
	print_what(f, "# ", s, sh);
	fprintf(f, "layout,pattern,record,method,trial,mbps,paper_mbps");
	RUN_FIELDS(HEAD)
	fprintf(f, "\n");
	for (r = sh->runs; r < sh->runs + sh->nruns; r++) {
		bench_pattern_name(r->pattern, name);
		fprintf(f, "%s,%s,%u,%s,%u,%.3f,%.2f", bench_layout_name(r->layout), name,
			r->record, bench_method_name(r->method), r->trial, run_mbps(r),
			bench_paper(r->pattern, r->record, r->layout, r->method));
		RUN_FIELDS(CSV)
		fprintf(f, "\n");
	}
}

/* A JSON string: engine options and names come from the command line. */
static void json_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, "\"%s\":\"", name);
	for (; text && *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < 32)
			fprintf(f, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, f);
	}
	fprintf(f, "\",");
}

static void print_json(FILE *f, const struct bench_spec *s, const struct bench_shared *sh)
{
	const struct bench_run *r;
	char name[8];

#define JSON(name, value) fprintf(f, ",\"" #name "\":%" PRIu64, (uint64_t)(value));
	fprintf(f, "{");
	json_text(f, "version", tool_version);
	json_text(f, "commit", tool_commit);
	json_text(f, "kernel", sh->kernel);
	json_text(f, "engine", sh->engine);
	json_text(f, "engine_options", s->engine_options);
	fprintf(f,
		"\"time_scale\":%g,\"cps\":%u,\"iops\":%u,\"disks\":%u,\"size\":%" PRIu64
		",\"block\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"trials\":%u,\"runs\":[",
		sh->scale, s->cps, s->iops, s->disks, s->size, s->block, s->seed, s->trials);
	for (r = sh->runs; r < sh->runs + sh->nruns; r++) {
		bench_pattern_name(r->pattern, name);
		fprintf(f,
			"%s\n{\"layout\":\"%s\",\"pattern\":\"%s\",\"record\":%u,\"method\":\"%s\","
			"\"trial\":%u,\"mbps\":%.3f,\"paper_mbps\":%.2f",
			r == sh->runs ? "" : ",", bench_layout_name(r->layout), name, r->record,
			bench_method_name(r->method), r->trial, run_mbps(r),
			bench_paper(r->pattern, r->record, r->layout, r->method));
		RUN_FIELDS(JSON)
		fprintf(f, "}");
	}
	fprintf(f, "\n]}\n");
}

void bench_print(FILE *out, enum bench_format format, const struct bench_spec *spec,
		 const struct bench_shared *sh)
{
	switch (format) {
	case BENCH_TEXT:
		print_text(out, spec, sh);
		break;
	case BENCH_CSV:
		print_csv(out, spec, sh);
		break;
	case BENCH_JSON:
		print_json(out, spec, sh);
		break;
	}
}

int bench_print_limits(FILE *out, enum bench_format format)
{
	double copy, tcp;
	int err = bench_limits(&copy, &tcp);

	if (err)
		return err;
	if (format == BENCH_JSON)
		fprintf(out, "{\"memcpy_mbps\":%.0f,\"loopback_tcp_mbps\":%.0f}\n", copy / 1048576,
			tcp / 1048576);
	else
		fprintf(out,
			"%sthis machine: memcpy %.0f MB/s, loopback TCP %.0f MB/s (medians of 5)\n",
			format == BENCH_CSV ? "# " : "\n", copy / 1048576, tcp / 1048576);
	return 0;
}
