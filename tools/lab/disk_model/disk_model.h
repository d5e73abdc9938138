/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of a disk, their replay through the timing model, and the figures that
 * the model must reach.
 */
#ifndef TOOLS_DISK_MODEL_H
#define TOOLS_DISK_MODEL_H

#include <stdio.h>
#include "hp97560.h"

/**
 * struct trace_request - one request of a trace
 * @issue_ns: when the host issued it
 * @done_ns: when the host was told of its completion
 * @lba: first sector
 * @sectors: number of sectors
 * @op: HP97560_READ or HP97560_WRITE
 */
struct trace_request {
	uint64_t issue_ns;
	uint64_t done_ns;
	uint64_t lba;
	uint32_t sectors;
	enum hp97560_op op;
};

/**
 * struct disk_trace - a trace in memory
 * @requests: in the order of issue; from malloc()
 * @n: how many
 */
struct disk_trace {
	struct trace_request *requests;
	size_t n;
};

/**
 * struct trace_error - what was wrong with a trace
 * @line: line number from 1; 0 where it is the file as a whole
 * @what: the error in words
 */
struct trace_error {
	size_t line;
	char what[120];
};

/**
 * trace_parse - read a trace from memory
 * @trace: filled in on success; release it by trace_release()
 * @text: the file; need not end with a zero
 * @length: its length
 * @error: filled in on failure
 * Return: 0; -EINVAL for malformed text; -ENOMEM.
 */
int trace_parse(struct disk_trace *trace, const char *text, size_t length,
		struct trace_error *error);

/**
 * trace_load - read a trace from a file
 * @trace: as in trace_parse()
 * @path: file
 * @error: as in trace_parse()
 * Return: as trace_parse(), or what opening and reading the file returned.
 */
int trace_load(struct disk_trace *trace, const char *path, struct trace_error *error);

/* trace_write - print a trace in the form that trace_parse() reads */
void trace_write(const struct disk_trace *trace, FILE *out);

/* trace_release - free what a trace holds */
void trace_release(struct disk_trace *trace);

/**
 * struct comparison - a trace beside the model
 * @n: requests
 * @trace_ms: their service times in the trace, ascending; from malloc()
 * @model_ms: those of the model, ascending
 * @trace_mean_ms: mean service time in the trace
 * @model_mean_ms: mean service time in the model
 * @error_mean_ms: mean of model minus trace, request by request
 * @error_median_ms: median of the absolute differences
 * @demerit: root mean square of the horizontal distance between the two cumulative
 *	distributions of service times, as a share of the trace's mean
 * @close: share of the requests whose times differ by DDIO_CLOSE_MS at most
 */
struct comparison {
	size_t n;
	double *trace_ms;
	double *model_ms;
	double trace_mean_ms;
	double model_mean_ms;
	double error_mean_ms;
	double error_median_ms;
	double demerit;
	double close;
};

#define DDIO_CLOSE_MS 0.02

/**
 * trace_compare - replay a trace through the model
 * @c: filled in on success, to be given to comparison_release()
 * @trace: not empty
 * @p: parameters of the drive
 * @error: filled in where the model refuses a request
 *
 * The replay keeps the host's think times: a request is issued as long after the
 * model's completion of the one before as it was in the trace.
 *
 * Return: 0; -ERANGE for a request beyond the drive; -EOVERFLOW for absurd times; -ENOMEM.
 */
int trace_compare(struct comparison *c, const struct disk_trace *trace,
		  const struct hp97560_params *p, struct trace_error *error);

/* comparison_release - free what a comparison holds */
void comparison_release(struct comparison *c);

/**
 * comparison_plot - draw the cumulative distributions with gnuplot
 * @c: comparisons
 * @names: their names, for the key
 * @n: how many
 * @path: PNG file to be written
 * Return: 0, or a negative errno after a message on standard error.
 */
int comparison_plot(const struct comparison *c, const char *const *names, size_t n,
		    const char *path);

/**
 * disk_policy - set the policies by name
 * @p: changed
 * @name: one of "default", "write-through", "immediate-report"
 * Return: 0, or -EINVAL for an unknown name.
 */
int disk_policy(struct hp97560_params *p, const char *name);

/**
 * struct trace_spec - a trace to be generated
 * @pattern: name of a pattern
 * @count: requests
 * @sectors: sectors of each
 * @think_ns: host's time between requests
 * @seed: of the pseudo-random choices
 */
struct trace_spec {
	const char *pattern;
	uint32_t count;
	uint32_t sectors;
	uint64_t think_ns;
	uint64_t seed;
};

/* The names of the patterns; ends with NULL. */
extern const char *const trace_patterns[];

/**
 * trace_generate - generate a trace, with the model's completion times
 * @trace: filled in on success; release it by trace_release()
 * @spec: what to make
 * @p: parameters of the drive
 * Return: 0; -EINVAL for an unknown pattern or an empty request; -ERANGE where the pattern does
 * not fit on the drive; -ENOMEM.
 */
int trace_generate(struct disk_trace *trace, const struct trace_spec *spec,
		   const struct hp97560_params *p);

/**
 * struct disk_figure - a known figure of the drive, which the model must reach
 * @name: one word, for the command's output and the tests
 * @what: in words
 * @unit: ms or MB/s
 * @expected: the value
 * @tolerance: share of it by which the model may differ
 * @papers: what the papers report, in words, or NULL
 * @measure: gets it from the model, in virtual time
 */
struct disk_figure {
	const char *name;
	const char *what;
	const char *unit;
	double expected;
	double tolerance;
	const char *papers;
	double (*measure)(void);
};

/* The figures; ends with a NULL name. */
extern const struct disk_figure disk_figures[];

struct opt_cmd;
/* ddio disk-model. */
int cmd_disk_model(int argc, char **argv);
extern const struct opt_cmd opts_disk_model;

#endif /* TOOLS_DISK_MODEL_H */
