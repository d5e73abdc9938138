/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reactor records of collectives while somebody traces them: the first few that match, and no more events than it
 * has room for.  Nothing is ever overwritten.
 */
#ifndef DDIO_IOP_TRACE_H
#define DDIO_IOP_TRACE_H

#include "iop/bound/bound.h"
#include "proto/proto.h"

/**
 * struct iop_trace - of one reactor
 * @number: names it among the node's, never 0
 * @want: which collectives, and how many
 * @coll: those that were recorded, or are
 * @event: @n of at most @cap; @lost: more, that were not kept
 */
struct iop_trace {
	uint64_t number;
	struct ddio_msg_trace_ask want;
	struct ddio_trace_coll coll[DDIO_TRACE_COLLS];
	uint32_t ncolls;
	struct ddio_trace_event *event;
	uint32_t n, cap;
	uint64_t lost;
};

/* Returns a trace of at most @cap events, or NULL without memory. */
struct iop_trace *trace_new(const struct ddio_msg_trace_ask *want, uint64_t number, uint64_t cap);
void trace_free(struct iop_trace *t);
/* Returns the bytes that it takes. */
uint64_t trace_bytes(const struct iop_trace *t);
/* Returns true if a collective is to be recorded, which then becomes its last one. */
bool trace_take(struct iop_trace *t, const struct ddio_trace_coll *coll);
/* Returns the index of a collective that it has, or -1. */
int trace_find(const struct iop_trace *t, const uint8_t *group, uint64_t op);
/* Keeps the event if there is room; @bound counts. */
void trace_add(struct iop_trace *t, const struct ddio_trace_event *event, struct bound *bound);
/* Copies what there is from event @from on, allocated: 0 or -ENOMEM.  The caller knows the time and the reactors. */
int trace_page(const struct iop_trace *t, uint32_t from, struct ddio_msg_trace *page);

#endif /* DDIO_IOP_TRACE_H */
