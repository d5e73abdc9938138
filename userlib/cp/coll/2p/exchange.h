/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The permutation of the two-phase method: what links hand to it. */
#ifndef DDIO_CP_EXCHANGE_H
#define DDIO_CP_EXCHANGE_H

#include "cp/group/group.h"

/* The link can take more. */
void exchange_ready(struct link *link);
int exchange_bulk(struct link *link, const void *prefix, size_t prefix_len, uint64_t len,
		  struct ddio_sink *sink);
int exchange_message(struct link *link, const void *prefix);
/* Does an exchange wait for that member? */
bool exchange_needs(struct ddio_group *group, uint32_t rank);

#endif /* DDIO_CP_EXCHANGE_H */
