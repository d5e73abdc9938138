// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates traces: the model under a pattern of requests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rand.h"
#include "tools/lab/disk_model/disk_model.h"

#define SORTED_BATCH 80
#define MIXED_RUN_MAX 8
#define MIXED_READ_PERCENT 67

enum trace_order { RANDOM, SORTED, FORWARD, BACKWARD, MIXED };

struct trace_pattern {
	enum trace_order order;
	enum hp97560_op op;
	uint32_t step; /* blocks from one request to the next */
};

/* In the order of trace_patterns. */
static const struct trace_pattern patterns[] = {
	{ .order = RANDOM, .op = HP97560_READ },
	{ .order = RANDOM, .op = HP97560_WRITE },
	{ .order = SORTED, .op = HP97560_READ },
	{ .order = SORTED, .op = HP97560_WRITE },
	{ .order = FORWARD, .op = HP97560_READ, .step = 1 },
	{ .order = FORWARD, .op = HP97560_WRITE, .step = 1 },
	{ .order = FORWARD, .op = HP97560_READ, .step = 2 },
	{ .order = FORWARD, .op = HP97560_WRITE, .step = 2 },
	{ .order = BACKWARD, .op = HP97560_READ, .step = 1 },
	{ .order = MIXED },
};

const char *const trace_patterns[] = {
	"random-read",
	"random-write",
	"sorted-read",
	"sorted-write",
	"sequential-read",
	"sequential-write",
	"stride-read",
	"stride-write",
	"backward-read",
	"mixed",
	NULL,
};

_Static_assert(sizeof(trace_patterns) / sizeof(trace_patterns[0]) ==
		       sizeof(patterns) / sizeof(patterns[0]) + 1,
	       "a name for each pattern");

static const struct trace_pattern *pattern_find(const char *name)
{
	size_t i;

	for (i = 0; trace_patterns[i]; i++)
		if (!strcmp(trace_patterns[i], name))
			return &patterns[i];
	return NULL;
}

static int request_order(const void *a, const void *b)
{
	uint64_t x = ((const struct trace_request *)a)->lba;
	uint64_t y = ((const struct trace_request *)b)->lba;

	return (x > y) - (x < y);
}

static void fill_random(struct disk_trace *t, enum hp97560_op op, uint64_t blocks, uint64_t *seed)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		t->requests[i].op = op;
		t->requests[i].lba = ddio_rand_below(seed, blocks);
	}
}

static void sort_batches(struct disk_trace *t)
{
	size_t i, n;

	for (i = 0; i < t->n; i += n) {
		n = t->n - i < SORTED_BATCH ? t->n - i : SORTED_BATCH;
		qsort(&t->requests[i], n, sizeof(t->requests[0]), request_order);
	}
}

/* Goes up or down from a random block, chosen so that all fit. */
static int fill_steps(struct disk_trace *t, const struct trace_pattern *pattern, uint64_t blocks,
		      uint64_t *seed)
{
	uint64_t span = (uint64_t)(t->n - 1) * pattern->step + 1;
	uint64_t first;
	size_t i;

	if (span > blocks)
		return -ERANGE;
	first = ddio_rand_below(seed, blocks - span + 1);
	for (i = 0; i < t->n; i++) {
		uint64_t place = pattern->order == BACKWARD ? t->n - 1 - i : i;

		t->requests[i].op = pattern->op;
		t->requests[i].lba = first + place * pattern->step;
	}
	return 0;
}

/* Makes short sequential runs, each of reads or of writes, at random places. */
static int fill_mixed(struct disk_trace *t, uint64_t blocks, uint64_t *seed)
{
	size_t i = 0;

	if (blocks < MIXED_RUN_MAX)
		return -ERANGE;
	while (i < t->n) {
		uint64_t run = 1 + ddio_rand_below(seed, MIXED_RUN_MAX);
		uint64_t lba = ddio_rand_below(seed, blocks - MIXED_RUN_MAX + 1);
		bool read = ddio_rand_below(seed, 100) < MIXED_READ_PERCENT;

		for (; run && i < t->n; run--, i++) {
			t->requests[i].op = read ? HP97560_READ : HP97560_WRITE;
			t->requests[i].lba = lba++;
		}
	}
	return 0;
}

static int trace_fill(struct disk_trace *t, const struct trace_spec *spec,
		      const struct trace_pattern *pattern, uint64_t blocks)
{
	uint64_t seed = spec->seed;

	if (!blocks)
		return -ERANGE;
	if (pattern->order == FORWARD || pattern->order == BACKWARD)
		return fill_steps(t, pattern, blocks, &seed);
	if (pattern->order == MIXED)
		return fill_mixed(t, blocks, &seed);
	fill_random(t, pattern->op, blocks, &seed);
	if (pattern->order == SORTED)
		sort_batches(t);
	return 0;
}

/* Sets the requests' completion times by the model. */
static int trace_time(struct disk_trace *t, const struct trace_spec *spec, struct hp97560_disk *d)
{
	struct hp97560_result r = { 0 };
	size_t i;

	for (i = 0; i < t->n; i++) {
		struct trace_request *q = &t->requests[i];
		int err;

		q->sectors = spec->sectors;
		q->lba *= spec->sectors;
		q->issue_ns = i ? r.done_ns + spec->think_ns : 0;
		err = hp97560_submit(d, q->op, q->lba, q->sectors, q->issue_ns, &r);
		if (err)
			return err;
		q->done_ns = r.done_ns;
	}
	return 0;
}

int trace_generate(struct disk_trace *trace, const struct trace_spec *spec,
		   const struct hp97560_params *p)
{
	const struct trace_pattern *pattern = pattern_find(spec->pattern);
	struct hp97560_disk *d;
	int err = -ENOMEM;

	memset(trace, 0, sizeof(*trace));
	if (!pattern || !spec->count || !spec->sectors)
		return -EINVAL;
	d = malloc(sizeof(*d));
	trace->n = spec->count;
	trace->requests = calloc(trace->n, sizeof(*trace->requests));
	if (!d || !trace->requests)
		goto out;
	hp97560_init(d, p, NULL);
	err = trace_fill(trace, spec, pattern, hp97560_capacity(p) / spec->sectors);
	if (!err)
		err = trace_time(trace, spec, d);
out:
	free(d);
	if (err)
		trace_release(trace);
	return err;
}
