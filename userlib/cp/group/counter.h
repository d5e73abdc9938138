/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared counters of a group, as users of groups. */
#ifndef DDIO_CP_COUNTER_H
#define DDIO_CP_COUNTER_H

#include "cp/group/group.h"

extern const struct group_user counter_group_user;

#endif /* DDIO_CP_COUNTER_H */
