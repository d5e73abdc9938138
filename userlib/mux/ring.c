// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes of a stream that have come and were not read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mux/priv.h"

#define RING_LEAST 4096u

/* Returns the places of @len bytes from byte @at on. */
static int ring_places(const struct mux_ring *ring, uint32_t at, uint32_t len,
		       struct iovec places[2])
{
	uint32_t from = at & (ring->cap - 1), first = ring->cap - from;

	if (!len)
		return 0;
	first = first < len ? first : len;
	places[0] = (struct iovec){ ring->buf + from, first };
	if (first == len)
		return 1;
	places[1] = (struct iovec){ ring->buf, len - first };
	return 2;
}

static int ring_grow(struct mux_ring *ring, uint32_t need)
{
	uint32_t cap = ring->cap ? ring->cap : RING_LEAST;
	struct iovec old[2];
	uint8_t *buf;
	size_t at = 0;
	int i, n;

	while (cap < need)
		cap *= 2;
	if (cap == ring->cap)
		return 0;
	buf = malloc(cap);
	if (!buf)
		return -ENOMEM;
	n = mux_ring_look(ring, ring->used, old);
	for (i = 0; i < n; at += old[i++].iov_len)
		memcpy(buf + at, old[i].iov_base, old[i].iov_len);
	free(ring->buf);
	ring->buf = buf;
	ring->cap = cap;
	ring->head = 0;
	return 0;
}

int mux_ring_room(struct mux_ring *ring, uint32_t len, struct iovec places[2])
{
	int err = ring_grow(ring, ring->used + len);

	return err ? err : ring_places(ring, ring->head + ring->used, len, places);
}

int mux_ring_look(const struct mux_ring *ring, uint32_t len, struct iovec places[2])
{
	return ring_places(ring, ring->head, len < ring->used ? len : ring->used, places);
}

void mux_ring_drop(struct mux_ring *ring, uint32_t len, bool keep)
{
	ring->head += len;
	ring->used -= len;
	if (!ring->used && !keep)
		mux_ring_free(ring);
}

void mux_ring_free(struct mux_ring *ring)
{
	free(ring->buf);
	*ring = (struct mux_ring){ 0 };
}
