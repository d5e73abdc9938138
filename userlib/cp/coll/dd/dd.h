/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The disk-directed method, as the entrance hands it to the rooms below. */
#ifndef DDIO_CP_DD_H
#define DDIO_CP_DD_H

#include "cp/coll/op.h"

extern const struct mover method_dd;
extern const struct lane_user dd_data_lane_user, dd_attach_lane_user, dd_end_lane_user,
	dd_start_lane_user, dd_spread_lane_user, dd_copy_lane_user;
extern const struct group_user dd_attach_group_user;

#endif /* DDIO_CP_DD_H */
