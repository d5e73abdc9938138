// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shortest access time first: the disk gets the block that it can begin soonest, by seek and rotation together,
 * where its engine knows that.  The papers sort by place and leave the rotation to chance.
 *
 * The list is sorted by place, and its spans stay in that order.  The engine is asked only about the first
 * remaining block of each span, and only about spans near the arm's last place: the seek to any other takes
 * longer by itself.
 */
#include <stdlib.h>
#include "iop/coll/core/plan.h"

/* Spans asked about on each side. */
#define NEAR_WINDOW 256u
#define NOWHERE UINT64_MAX

/**
 * struct near - the spans that have blocks left
 * @before, @after: neighbours by place, by index of the span; [n] is the ring's anchor
 * @in: blocks of each span handed out
 * @last: the span that was chosen last, or one before it that is left, or the anchor
 */
struct near {
	uint64_t n, last;
	uint64_t *before, *after;
	uint32_t *in;
};

int plan_near_begin(struct plan *plan)
{
	struct near *near = calloc(1, sizeof(*near));
	uint64_t i, n = plan->n;

	if (!near)
		return -1;
	near->before = malloc((n + 1) * sizeof(*near->before));
	near->after = malloc((n + 1) * sizeof(*near->after));
	near->in = calloc(n + 1, sizeof(*near->in));
	near->n = n;
	near->last = n;
	if (!near->before || !near->after || !near->in) {
		plan_near_free(near);
		return -1;
	}
	for (i = 0; i <= n; i++) {
		near->before[i] = i ? i - 1 : n;
		near->after[i] = i < n ? i + 1 : 0;
	}
	plan->near = near;
	return 0;
}

void plan_near_free(struct near *near)
{
	if (!near)
		return;
	free(near->before);
	free(near->after);
	free(near->in);
	free(near);
}

static uint64_t first_sector(const struct plan *plan, uint64_t span)
{
	const struct plan_span *s = &plan->span[span];

	if (s->sector == SPAN_HOLE)
		return SPAN_HOLE;
	return s->sector + (uint64_t)plan->near->in[span] * s->stride * plan->sectors;
}

struct choice {
	uint64_t span, ns;
	uint64_t asked;
};

static void look_at(const struct plan *plan, uint64_t span, const struct ddio_disk *disk,
		    struct choice *c)
{
	uint64_t sector = first_sector(plan, span), ns = NOWHERE;

	if (sector != SPAN_HOLE)
		ns = ddio_disk_access_ns(disk, sector * SPAN_SECTOR);
	c->asked++;
	if (c->span == NOWHERE || ns < c->ns) {
		c->span = span;
		c->ns = ns;
	}
}

/* Chooses a span; of equal ones, the first on the way up. */
static struct choice choose(const struct plan *plan, const struct ddio_disk *disk)
{
	const struct near *near = plan->near;
	struct choice c = { .span = NOWHERE, .ns = NOWHERE };
	uint64_t i, at;

	if (near->last != near->n)
		look_at(plan, near->last, disk, &c);
	at = near->last;
	for (i = 0; i < NEAR_WINDOW && (at = near->after[at]) != near->n; i++)
		look_at(plan, at, disk, &c);
	at = near->last;
	for (i = 0; i < NEAR_WINDOW && (at = near->before[at]) != near->n; i++)
		look_at(plan, at, disk, &c);
	if (c.span == NOWHERE)
		c.span = near->after[near->n];
	return c;
}

static void span_over(struct near *near, uint64_t span)
{
	near->after[near->before[span]] = near->after[span];
	near->before[near->after[span]] = near->before[span];
	near->last = near->before[span];
}

/**
 * plan_next_near - hand out the block that the disk can begin soonest
 * @plan: plan_near_begin() was called
 * @disk: answers ddio_disk_access_ns()
 * @placed: receives the block, and where it lay when the list was made
 * @asked: how many blocks the disk was asked about
 *
 * Holes come when nothing else is left nearby.
 *
 * Return: false at the end of the list.
 */
bool plan_next_near(struct plan *plan, const struct ddio_disk *disk, struct plan_blocks *placed,
		    uint64_t *asked)
{
	struct near *near = plan->near;
	const struct plan_span *span;
	struct choice c;

	*asked = 0;
	if (!plan->left)
		return false;
	c = choose(plan, disk);
	*asked = c.asked;
	span = &plan->span[c.span];
	*placed = (struct plan_blocks){ .block = span->block +
						 (uint64_t)near->in[c.span] * span->stride,
					.count = 1,
					.sector = first_sector(plan, c.span) };
	plan->left--;
	near->last = c.span;
	if (++near->in[c.span] == span->count)
		span_over(near, c.span);
	return true;
}
