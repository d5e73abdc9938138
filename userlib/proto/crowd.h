/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Crowds: what members with neighbouring ranks want, as families (map/kin.h). */
#ifndef DDIO_PROTO_CROWD_H
#define DDIO_PROTO_CROWD_H

#include "proto/proto.h"

/* The most entries that the descriptions of all members have together. */
#define DDIO_CROWD_ENTRIES (UINT64_C(1) << 24)

/* Makes a crowd of one member; @part must outlive it.  Return: 0 or -ENOMEM. */
int ddio_crowd_one(struct ddio_crowd *crowd, uint32_t rank, const struct ddio_part *part);

/**
 * ddio_crowd_join - joins encoded crowds, one after the other in any order, whose ranks are neighbours
 * @crowd: result, also to be freed after an error.  It carries if all of them do, and not too much together; the bytes stay in @buf
 *
 * Return: 0, -EPROTO or another error of the codec, -EINVAL: ranks are missing, or there twice, or the
 * kinds differ, -E2BIG: too many entries, -ENOMEM.
 */
int ddio_crowd_join(const void *buf, size_t len, struct ddio_crowd *crowd);

void ddio_crowd_free(struct ddio_crowd *crowd);

/* Has all members of a crowd that may spread their descriptions: the crowd has them no longer. */
void ddio_crowd_spread(struct ddio_crowd *crowd);
/* Returns true if a member may have spread this: one entry of no bytes stands for it. */
bool ddio_part_spread(const struct ddio_part *part);

/* Returns true if an encoded crowd carries members' data. */
bool ddio_crowd_has_data(const void *buf, size_t len);

/* As the functions of messages do: returns the length, or a negative errno. */
ssize_t ddio_put_crowd(void *buf, size_t cap, const struct ddio_crowd *crowd);
int ddio_get_crowd(const void *buf, size_t len, struct ddio_crowd *crowd);

#endif /* DDIO_PROTO_CROWD_H */
