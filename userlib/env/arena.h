/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for disk requests in a few large chunks, for engines that must register memory with the
 * kernel: each chunk is registered once, however many buffers it holds.
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
 * @free: pages that are free
 * @hint: page at which the search for free pages begins
 * @id: the engine's number for it, or 0
 * @used: one bit a page
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
 * struct arena_ops - what the engine does with each chunk; an arena without an engine has none
 * @add: registers a new chunk, which is not used if this fails
 * @remove: unregisters an empty chunk; returns false if the chunk has to stay
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

/* The first chunk is made with the first buffer.  NULL: out of memory. */
struct arena *arena_new(void);
/* Frees the chunks, too, whatever is still in use. */
void arena_free(struct arena *arena);
/* Returns zeroed whole pages, or NULL. */
void *arena_get(struct arena *arena, size_t len);
/* Frees a buffer.  Returns false if the buffer is not the arena's. */
bool arena_put(struct arena *arena, void *buf, size_t len);
/* Returns the chunk that holds all of the buffer, or NULL. */
struct arena_chunk *arena_find(const struct arena *arena, const void *buf, size_t len);

/*
 * Chunks of no arena, whose memory is the caller's: whole pages, as they were left.
 */
/* Return: to be freed with free(), or NULL. */
struct arena_chunk *arena_chunk_of(void *mem, size_t len);
/* Returns pages in a row, or NULL. */
void *arena_chunk_get(struct arena_chunk *chunk, size_t len);
void arena_chunk_put(struct arena_chunk *chunk, const void *buf, size_t len);

#endif /* DDIO_ARENA_H */
