/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lanes hand to the disk-directed method. */
#ifndef DDIO_CP_DD_H
#define DDIO_CP_DD_H

#include "cp/node/lane.h"

int ddio_dd_bulk(struct ddio_lane *lane, const struct ddio_msg *msg, const void *prefix,
		 size_t prefix_len, struct ddio_sink *sink);
int ddio_dd_data(struct ddio_lane *lane);
int ddio_dd_want(struct ddio_lane *lane, const void *payload, size_t len);
int ddio_dd_done(struct ddio_lane *lane, const void *payload, size_t len);
void ddio_dd_drained(struct ddio_lane *lane);
void ddio_dd_lane_lost(struct ddio_lane *lane, const struct ddio_error *error);

#endif /* DDIO_CP_DD_H */
