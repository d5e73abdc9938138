/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Are a node's disks those that the name space remembers?  Asked before the first request to a node whose disks, or
 * whose name space, have begun a new life since they last met.
 */
#ifndef DDIO_CP_IDENTITY_H
#define DDIO_CP_IDENTITY_H

#include "cp/node/lane.h"

/* 0 or -ENOMEM. */
int identity_new(struct cluster_node *node);
/* Takes what the WELCOME of a node's reactor 0 says.  Return: 0, or -ENOMEM with @error. */
int identity_hear(struct lane *lane, const struct ddio_msg_welcome *welcome, struct error *error);
/* Returns true if the lane must wait: it begins, or fails, when name space and node have been asked. */
bool identity_begin(struct lane *lane);
/* The node's lane 0 is lost. */
void identity_cancel(struct cluster_node *node);
void identity_free(struct cluster_node *node);
/* Files with a lower number may have lost what they had on the disk, as far as its node has said. */
uint64_t identity_lost(const struct ddio_session *s, uint32_t disk);

#endif /* DDIO_CP_IDENTITY_H */
