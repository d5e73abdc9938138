/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_COLL_VERDICT_H
#define DDIO_COLL_VERDICT_H

#include <stdint.h>
#include "proto/proto.h"

#define COLL_NOBODY UINT32_MAX /* no rank */

/**
 * struct verdict - how a collective ended
 * @status: enum ddio_status
 * @lost: rank that went away or does not answer, or COLL_NOBODY
 */
struct verdict {
	uint32_t status;
	uint32_t lost;
	char text[DDIO_MAX_TEXT];
};

void verdict_set(struct verdict *v, uint32_t status, uint32_t lost, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif /* DDIO_COLL_VERDICT_H */
