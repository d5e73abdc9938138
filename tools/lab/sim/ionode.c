// SPDX-License-Identifier: GPL-2.0-only
/* How much time I/O leaves to a computation: see ionode.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "ionode.h"

void ionode_add(struct ionode *node, uint64_t start, uint64_t ns)
{
	struct ionode_span *last = node->n ? &node->busy[node->n - 1] : NULL, *more;

	if (last && last->end >= start) {
		last->end = start + ns > last->end ? start + ns : last->end;
		return;
	}
	if (node->n == node->cap) {
		node->cap = node->cap ? 2 * node->cap : 1024;
		more = realloc(node->busy, node->cap * sizeof(*more));
		if (!more) {
			node->cap = node->n;
			node->err = -ENOMEM;
			return;
		}
		node->busy = more;
	}
	node->busy[node->n++] = (struct ionode_span){ start, start + ns };
}

void ionode_clear(struct ionode *node)
{
	node->n = 0;
	node->err = 0;
}

void ionode_free(struct ionode *node)
{
	free(node->busy);
	*node = (struct ionode){ .busy = NULL };
}

/**
 * struct ionode_walk - a walk along the times of one processor that a computation can use
 * @at: the time reached
 * @i: the next span of work
 */
struct ionode_walk {
	const struct ionode *node;
	uint64_t at, end;
	size_t i;
};

/* Finds the next usable time from @w->at on, at most up to @w->end.  Returns false if none is left. */
static bool walk_gap(struct ionode_walk *w, struct ionode_span *gap)
{
	const struct ionode *node = w->node;

	for (;;) {
		while (w->i < node->n && node->busy[w->i].end <= w->at)
			w->i++;
		gap->start = w->at;
		/* After an interruption the computation takes a moment to resume. */
		if (w->i && node->busy[w->i - 1].end + IONODE_SWITCH_NS > gap->start)
			gap->start = node->busy[w->i - 1].end + IONODE_SWITCH_NS;
		gap->end = w->i < node->n ? node->busy[w->i].start : w->end;
		if (gap->end > w->end)
			gap->end = w->end;
		if (gap->start < gap->end)
			return true;
		if (w->i == node->n || gap->end >= w->end)
			return false;
		w->at = node->busy[w->i].end;
	}
}

/* Walks until @want has been used.  Return: how much was used; less than @want at the end. */
static uint64_t walk_use(struct ionode_walk *w, uint64_t want)
{
	struct ionode_span gap;
	uint64_t used = 0, n;

	while (used < want && walk_gap(w, &gap)) {
		n = gap.end - gap.start < want - used ? gap.end - gap.start : want - used;
		used += n;
		w->at = gap.start + n;
	}
	return used;
}

uint32_t ionode_left(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end)
{
	double used = 0;
	uint32_t i;

	if (!n || end <= begin)
		return 0;
	for (i = 0; i < n; i++) {
		struct ionode_walk w = { .node = &node[i], .at = begin, .end = end };

		used += (double)walk_use(&w, UINT64_MAX);
	}
	return (uint32_t)(100000 * used / ((double)(end - begin) * n));
}

uint32_t ionode_left_barriers(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end)
{
	struct ionode_walk *w = calloc(n, sizeof(*w));
	uint64_t at = begin, latest, used = 0, least;
	uint32_t i;

	if (!w || end <= begin) {
		free(w);
		return 0;
	}
	for (i = 0; i < n; i++)
		w[i] = (struct ionode_walk){ .node = &node[i], .end = end };
	for (least = IONODE_STEP_NS; least == IONODE_STEP_NS; at = latest) {
		latest = at;
		for (i = 0; i < n; i++) {
			uint64_t got;

			w[i].at = at;
			got = walk_use(&w[i], IONODE_STEP_NS);
			least = got < least ? got : least;
			latest = w[i].at > latest ? w[i].at : latest;
		}
		used += least;
	}
	free(w);
	return (uint32_t)(100000 * (double)used / (double)(end - begin));
}
