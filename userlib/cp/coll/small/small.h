/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The method for small transfers: rank 0 moves the data, and the members' tree carries them. */
#ifndef DDIO_CP_SMALL_H
#define DDIO_CP_SMALL_H

#include "cp/coll/op.h"

extern const struct mover method_small;
extern const struct group_user small_group_user;

#endif /* DDIO_CP_SMALL_H */
