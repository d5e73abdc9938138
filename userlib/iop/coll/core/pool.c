// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Buffers that are kept from one collective to the next.  Fresh memory costs a small collective more than its
 * transfer, so the buffers that one has used are kept for the next of the same shape.  Only sizes that are asked
 * for again are kept: the first request that the pool cannot serve empties it, and so does the end of the last
 * group.
 */
#include "iop/coll/core/pool.h"

#define POOL_MOST (64ull << 20) /* bytes on one reactor */

/* Stands in the buffer itself. */
struct spare {
	struct ddio_list link;
	size_t size;
};
_Static_assert(sizeof(struct spare) <= DDIO_MIN_BLOCK, "the smallest buffer");

void *coll_buffer_get(struct reactor *reactor, size_t size)
{
	struct spare *spare;
	void *buf;

	ddio_list_for_each_entry(spare, &reactor->spare, link) {
		if (spare->size != size)
			continue;
		ddio_list_del(&spare->link);
		reactor->spare_bytes -= size;
		return spare;
	}
	coll_buffers_drop(reactor);
	buf = ddio_env_alloc(reactor->env, size);
	if (buf)
		reactor->memory += size;
	return buf;
}

void coll_buffer_put(struct reactor *reactor, void *buf, size_t size)
{
	struct spare *spare = buf;

	if (!buf)
		return;
	if (ddio_list_empty(&reactor->groups) || size > POOL_MOST - reactor->spare_bytes) {
		ddio_env_free(reactor->env, buf, size);
		reactor->memory -= size;
		return;
	}
	spare->size = size;
	ddio_list_push(&spare->link, &reactor->spare);
	reactor->spare_bytes += size;
}

void coll_buffers_drop(struct reactor *reactor)
{
	struct spare *spare, *tmp;

	ddio_list_for_each_entry_safe(spare, tmp, &reactor->spare, link) {
		size_t size = spare->size;

		ddio_list_del(&spare->link);
		ddio_env_free(reactor->env, spare, size);
		reactor->memory -= size;
	}
	reactor->spare_bytes = 0;
}
