/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two-phase method, as the entrance hands it to the rooms below. */
#ifndef DDIO_CP_2P_H
#define DDIO_CP_2P_H

#include "cp/coll/op.h"

extern const struct mover method_2p;
extern const struct group_user tp_group_user, exchange_group_user;

#endif /* DDIO_CP_2P_H */
