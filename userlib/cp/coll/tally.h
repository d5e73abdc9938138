/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What I/O processors say that a disk-directed transfer took.  They say it to the member that asked them; the members
 * add it up when they agree on the end, so that each of them can report all of it.
 */
#ifndef DDIO_CP_TALLY_H
#define DDIO_CP_TALLY_H

#include <ddio/ddio.h>
#include <stdbool.h>
#include <stddef.h>
#include "proto/proto.h"

/**
 * struct coll_tally - sums over reactors
 * @buffers: the most that a disk had
 */
struct coll_tally {
	uint64_t needed, read, written, requests, buffers;
};

#define TALLY_LEN 40

void tally_add(struct coll_tally *tally, const struct ddio_msg_coll_done *done);
void tally_put(const struct coll_tally *tally, uint8_t buf[TALLY_LEN]);
void tally_get(struct coll_tally *tally, const uint8_t buf[TALLY_LEN]);
/* Returns true if it says anything. */
bool tally_any(const struct coll_tally *tally);
/* Adds up tallies that stand one after the other; false: that is not what there is. */
bool tally_sum(struct coll_tally *tally, const void *gathered, size_t len);
/* Does so on the way to rank 0; see struct step_kind. */
void *tally_join(struct ddio_group *group, const void *gathered, size_t len, size_t *joined);
void tally_report(const struct coll_tally *tally, struct ddio_report *report);

#endif /* DDIO_CP_TALLY_H */
