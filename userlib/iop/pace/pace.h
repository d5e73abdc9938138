/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How fast a disk is worked through in the background: at a rate, or so that others have most of the disk. */
#ifndef DDIO_PACE_H
#define DDIO_PACE_H

#include "iop/server/reactor.h"

/**
 * struct pace - of one who works through a disk, a run after the other
 * @rate: bytes a second, 0: as many as the disk gives; @yields: it steps back for others
 * @begun_ns: when the run began; @free_ns: not before then does the rate allow the next one
 * @ops: requests that the disk had served at the last look; @shared: some were those of others
 */
struct pace {
	struct iop_disk *disk;
	uint64_t rate;
	uint64_t begun_ns, free_ns, ops;
	bool yields, shared;
};

/* What the disk has served so far does not count. */
void pace_reset(struct pace *p);
/* A run begins. */
void pace_begin(struct pace *p);
/* Returns how many requests to the disk @len bytes that lie together are. */
uint64_t pace_ops(const struct pace *p, uint64_t len);
/* A run of @len bytes has ended, by @own requests: returns how long to rest. */
uint64_t pace_rest(struct pace *p, uint64_t len, uint64_t own);

#endif /* DDIO_PACE_H */
