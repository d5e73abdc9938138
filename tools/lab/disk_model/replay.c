// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays traces through the timing model and compares.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/lab/disk_model/disk_model.h"

struct policy {
	const char *name;
	bool immediate_report;
	bool bus_overlap;
};

static const struct policy policies[] = {
	{ .name = "default", .immediate_report = true, .bus_overlap = false },
	{ .name = "write-through", .immediate_report = false, .bus_overlap = true },
	{ .name = "immediate-report", .immediate_report = true, .bus_overlap = true },
};

int disk_policy(struct hp97560_params *p, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(policies[i].name, name))
			continue;
		p->immediate_report = policies[i].immediate_report;
		p->bus_overlap = policies[i].bus_overlap;
		return 0;
	}
	return -EINVAL;
}

static int refuse(struct trace_error *error, size_t i, int err, const struct hp97560_disk *d)
{
	error->line = i + 2; /* the header is line 1 */
	if (err == -ERANGE)
		snprintf(error->what, sizeof(error->what),
			 "the request ends beyond the drive's %llu sectors",
			 (unsigned long long)d->capacity);
	else
		snprintf(error->what, sizeof(error->what), "%s", strerror(-err));
	return err;
}

/* Replays in closed loop; stores service times of the trace and of the model, in ms. */
static int replay(struct hp97560_disk *d, const struct disk_trace *trace, double *trace_ms,
		  double *model_ms, struct trace_error *error)
{
	uint64_t done = 0, trace_done = 0;
	struct hp97560_result r;
	size_t i;

	for (i = 0; i < trace->n; i++) {
		const struct trace_request *q = &trace->requests[i];
		uint64_t issue = q->issue_ns + done - trace_done;
		int err;

		if (q->issue_ns < trace_done && trace_done - q->issue_ns > done)
			issue = 0;
		err = hp97560_submit(d, q->op, q->lba, q->sectors, issue, &r);
		if (err)
			return refuse(error, i, err, d);
		trace_ms[i] = (double)(q->done_ns - q->issue_ns) / 1e6;
		model_ms[i] = (double)(r.done_ns - issue) / 1e6;
		trace_done = q->done_ns;
		done = r.done_ns;
	}
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(double *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), ascending);
}

static double median(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Computes figures request by request; needs the times in the trace's order. */
static void compare_pairs(struct comparison *c, double *difference)
{
	size_t i, close = 0;

	for (i = 0; i < c->n; i++) {
		c->trace_mean_ms += c->trace_ms[i] / (double)c->n;
		c->model_mean_ms += c->model_ms[i] / (double)c->n;
		difference[i] = fabs(c->model_ms[i] - c->trace_ms[i]);
		close += difference[i] <= DDIO_CLOSE_MS;
	}
	sort(difference, c->n);
	c->error_mean_ms = c->model_mean_ms - c->trace_mean_ms;
	c->error_median_ms = median(difference, c->n);
	c->close = (double)close / (double)c->n;
}

/* Computes figures of the distributions; leaves the times sorted. */
static void compare_distributions(struct comparison *c)
{
	double sum = 0;
	size_t i;

	sort(c->trace_ms, c->n);
	sort(c->model_ms, c->n);
	for (i = 0; i < c->n; i++) {
		double distance = c->model_ms[i] - c->trace_ms[i];

		sum += distance * distance;
	}
	c->demerit = sqrt(sum / (double)c->n) / c->trace_mean_ms;
}

int trace_compare(struct comparison *c, const struct disk_trace *trace,
		  const struct hp97560_params *p, struct trace_error *error)
{
	struct hp97560_disk *d = malloc(sizeof(*d));
	double *difference = calloc(trace->n, sizeof(*difference));
	int err = -ENOMEM;

	memset(c, 0, sizeof(*c));
	memset(error, 0, sizeof(*error));
	c->n = trace->n;
	c->trace_ms = calloc(c->n, sizeof(*c->trace_ms));
	c->model_ms = calloc(c->n, sizeof(*c->model_ms));
	if (!d || !difference || !c->trace_ms || !c->model_ms)
		goto out;
	hp97560_init(d, p, NULL);
	err = replay(d, trace, c->trace_ms, c->model_ms, error);
	if (err)
		goto out;
	compare_pairs(c, difference);
	compare_distributions(c);
out:
	if (err)
		comparison_release(c);
	free(difference);
	free(d);
	return err;
}

void comparison_release(struct comparison *c)
{
	free(c->trace_ms);
	free(c->model_ms);
	memset(c, 0, sizeof(*c));
}
