/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records what happens to a collective, if somebody traces it; else it costs a look at a number. */
#ifndef DDIO_COLL_TRACE_H
#define DDIO_COLL_TRACE_H

#include "iop/coll/core/coll.h"

/* A collective begins: it is recorded if a trace of the reactor wants it. */
void coll_trace_begin(struct coll *coll);
/* It is over. */
void coll_trace_end(const struct coll *coll);
/* @event: without time and collective. */
void coll_trace_add(const struct coll *coll, struct ddio_trace_event event);

#define COLL_TRACE(coll, ...)                                                             \
	do {                                                                              \
		if (__builtin_expect((coll)->traced != 0, 0))                             \
			coll_trace_add((coll), (struct ddio_trace_event){ __VA_ARGS__ }); \
	} while (0)

#endif /* DDIO_COLL_TRACE_H */
