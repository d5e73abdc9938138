/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for disk requests in few large chunks, for engines that have to make memory
 * known to the kernel: each chunk once, however many buffers are in it.
 */
#ifndef DDIO_ARENA_H
#define DDIO_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/list.h"

/**
 * struct arena_chunk - memory in one piece
 * @link: in the arena
 * @mem: page-aligned
 * @len: bytes
 * @free: pages that are nobody's
 * @hint: page at which the search for free ones begins
 * @id: the engine's name for it, or 0
 * @used: a bit for each page
 */
struct arena_chunk {
	struct ddio_list link;
	uint8_t *mem;
	size_t len;
	size_t free;
	size_t hint;
	uint32_t id;
	uint64_t used[];
};

/**
 * struct arena_ops - what is done with each chunk, or NULL in the arena
 * @add: a new one; if it fails, the chunk is not used
 * @remove: one that is empty; false: it has to stay
 */
struct arena_ops {
	int (*add)(void *ctx, struct arena_chunk *chunk);
	bool (*remove)(void *ctx, struct arena_chunk *chunk);
};

struct arena {
	const struct arena_ops *ops;
	void *ctx;
	struct ddio_list chunks;
	size_t total;
};

/* The first chunk is made with the first buffer. */
struct arena *arena_new(void);
/* Whatever is still in it. */
void arena_free(struct arena *arena);
/* Zeroed whole pages, or NULL. */
void *arena_get(struct arena *arena, size_t len);
/* False: the buffer is not the arena's. */
bool arena_put(struct arena *arena, void *buf, size_t len);
/* The chunk that has all of it, or NULL. */
struct arena_chunk *arena_find(const struct arena *arena, const void *buf, size_t len);

#endif /* DDIO_ARENA_H */
