/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers that a group shares with the reactor: one memory for reading, which members cannot write to, and one for
 * writing.  No other group ever sees them.
 */
#ifndef DDIO_COLL_SHARE_H
#define DDIO_COLL_SHARE_H

#include "env/local/shared.h"
#include "iop/server/reactor.h"

#define COLL_SHARE_BYTES \
	(64ull << 20)	/* address space of one; memory only for what was in use at once */
#define COLL_SHARES 64u /* on a reactor */
/* Of a member that wants less, the bytes are better sent with the message that tells of them. */
#define COLL_SHARE_MIN (64ull << 10)

/**
 * struct coll_share - buffers of one group for one direction
 * @takers: members that have them
 * @spoiled: somebody may still write to buffers of a collective that has failed: none is given out any more
 * @most: bytes from the beginning that were ever in use
 * @areas: in use, by offset
 */
struct coll_share {
	struct reactor *reactor;
	struct ddio_shared *mem;
	uint32_t takers;
	bool spoiled;
	uint64_t most;
	struct ddio_list areas;
};

/* A range of them that is in use; @len 0: it is none. */
struct share_area {
	struct ddio_list link;
	struct coll_share *share;
	uint64_t at, len;
};

/* Return: 0; -EUSERS: the reactor has as many as it may; another -errno: this is no world for them. */
int coll_share_new(struct reactor *reactor, bool writable, struct coll_share **share);
/* NULL is harmless. */
void coll_share_free(struct coll_share *share);
/* Returns @len bytes, aligned to pages, and fills in @area; NULL: there is no room, or they are spoiled. */
void *coll_share_get(struct coll_share *share, uint64_t len, struct share_area *area);
void coll_share_put(struct share_area *area);
/* Returns where @at, which lies in an area, is for the members. */
uint64_t coll_share_offset(const struct coll_share *share, const void *at);

#endif /* DDIO_COLL_SHARE_H */
