/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traditional caching, as the entrance hands it to the transfers. */
#ifndef DDIO_CP_TC_H
#define DDIO_CP_TC_H

#include "cp/coll/op.h"

extern const struct mover method_tc;

#endif /* DDIO_CP_TC_H */
