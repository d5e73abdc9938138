/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lanes hand to the disk-directed method. */
#ifndef DDIO_CP_DD_H
#define DDIO_CP_DD_H

#include "cp/node/lane.h"

int dd_bulk(struct lane *lane, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
	    struct ddio_sink *sink);
int dd_data(struct lane *lane);
int dd_want(struct lane *lane, const void *payload, size_t len);
int dd_done(struct lane *lane, const void *payload, size_t len);
void dd_drained(struct lane *lane);
void dd_lane_lost(struct lane *lane, const struct error *error);

#endif /* DDIO_CP_DD_H */
