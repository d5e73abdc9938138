// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/trace/trace.h"

struct iop_trace *trace_new(const struct ddio_msg_trace_ask *want, uint64_t number, uint64_t cap)
{
	struct iop_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->number = number;
	t->want = *want;
	t->cap = (uint32_t)cap;
	t->event = calloc(t->cap, sizeof(*t->event));
	if (t->event)
		return t;
	free(t);
	return NULL;
}

void trace_free(struct iop_trace *t)
{
	if (t)
		free(t->event);
	free(t);
}

uint64_t trace_bytes(const struct iop_trace *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->event);
}

static bool same_or_any(const char *want, const char *is)
{
	return !want[0] || !strcmp(want, is);
}

bool trace_take(struct iop_trace *t, const struct ddio_trace_coll *coll)
{
	const struct ddio_msg_trace_ask *want = &t->want;

	if (t->ncolls >= want->most || t->ncolls >= DDIO_TRACE_COLLS || coll->op < want->op ||
	    !same_or_any(want->job, coll->job) || !same_or_any(want->file, coll->file))
		return false;
	t->coll[t->ncolls++] = *coll;
	return true;
}

int trace_find(const struct iop_trace *t, const uint8_t *group, uint64_t op)
{
	uint32_t i;

	for (i = 0; i < t->ncolls; i++)
		if (t->coll[i].op == op && !memcmp(t->coll[i].group, group, DDIO_GROUP_ID_LEN))
			return (int)i;
	return -1;
}

void trace_add(struct iop_trace *t, const struct ddio_trace_event *event, struct bound *bound)
{
	if (t->n >= t->cap) {
		t->lost++;
		bound->hits++;
		return;
	}
	t->event[t->n++] = *event;
	bound_seen(bound, t->n);
}

int trace_page(const struct iop_trace *t, uint32_t from, struct ddio_msg_trace *page)
{
	uint32_t left = from < t->n ? t->n - from : 0;

	page->ncolls = t->ncolls;
	page->total = t->n;
	page->lost = t->lost;
	page->n = left < DDIO_TRACE_PAGE ? left : DDIO_TRACE_PAGE;
	page->coll = calloc(page->ncolls + 1, sizeof(*page->coll));
	page->event = calloc(page->n + 1, sizeof(*page->event));
	if (!page->coll || !page->event) {
		ddio_trace_free(page);
		return -ENOMEM;
	}
	memcpy(page->coll, t->coll, page->ncolls * sizeof(*page->coll));
	if (page->n)
		memcpy(page->event, t->event + from, page->n * sizeof(*page->event));
	return 0;
}
