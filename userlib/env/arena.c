// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks grow with the arena, so that there are few of them; a buffer that would fill most of a chunk
 * gets one of its own.  Pages are found first fit, from where the last ones were found.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "env/arena.h"

#define PAGE 4096UL
#define HUGE (2UL << 20)
#define CHUNK_MIN (4UL << 20)
#define CHUNK_MAX (256UL << 20)

static bool page_used(const struct arena_chunk *chunk, size_t page)
{
	return chunk->used[page / 64] >> (page % 64) & 1;
}

static void pages_set(struct arena_chunk *chunk, size_t page, size_t n, bool used)
{
	for (; n--; page++) {
		if (used)
			chunk->used[page / 64] |= 1ULL << (page % 64);
		else
			chunk->used[page / 64] &= ~(1ULL << (page % 64));
	}
}

/* Returns the first of @n free pages in a row within [@from, @to), or @to if there are none. */
static size_t pages_find(const struct arena_chunk *chunk, size_t from, size_t to, size_t n)
{
	size_t run = 0;

	for (; from < to; from++) {
		if (!(from % 64) && chunk->used[from / 64] == ~0ULL) {
			from += 63;
			run = 0;
			continue;
		}
		run = page_used(chunk, from) ? 0 : run + 1;
		if (run == n)
			return from + 1 - n;
	}
	return to;
}

static void *chunk_get(struct arena_chunk *chunk, size_t n)
{
	size_t pages = chunk->len / PAGE, at;

	if (chunk->free < n)
		return NULL;
	at = pages_find(chunk, chunk->hint, pages, n);
	if (at == pages) {
		at = pages_find(chunk, 0, pages, n);
		if (at == pages)
			return NULL;
	}
	pages_set(chunk, at, n, true);
	chunk->free -= n;
	chunk->hint = at + n == pages ? 0 : at + n;
	return chunk->mem + at * PAGE;
}

static size_t pages_of(size_t len)
{
	return len ? (len + PAGE - 1) / PAGE : 1;
}

void *arena_chunk_get(struct arena_chunk *chunk, size_t len)
{
	return len > SIZE_MAX / 2 ? NULL : chunk_get(chunk, pages_of(len));
}

void arena_chunk_put(struct arena_chunk *chunk, const void *buf, size_t len)
{
	pages_set(chunk, (size_t)((const uint8_t *)buf - chunk->mem) / PAGE, pages_of(len), false);
	chunk->free += pages_of(len);
}

struct arena_chunk *arena_chunk_of(void *mem, size_t len)
{
	size_t words = (len / PAGE + 63) / 64;
	struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + words * sizeof(chunk->used[0]));

	if (!chunk)
		return NULL;
	chunk->mem = mem;
	chunk->len = len;
	chunk->free = len / PAGE;
	return chunk;
}

/* Maps memory at a huge page's boundary.  NULL: out of memory. */
static uint8_t *map_huge(size_t len)
{
	uint8_t *map =
		mmap(NULL, len + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (map == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)map % HUGE;
	if (before)
		munmap(map, before);
	munmap(map + before + len, HUGE - before);
	/* Huge pages are only asked for. */
	madvise(map + before, len, MADV_HUGEPAGE);
	return map + before;
}

static void chunk_free(struct arena *arena, struct arena_chunk *chunk)
{
	arena->total -= chunk->len;
	ddio_list_del(&chunk->link);
	munmap(chunk->mem, chunk->len);
	free(chunk);
}

static struct arena_chunk *chunk_new(struct arena *arena, size_t n)
{
	size_t len = arena->total / 2 / HUGE * HUGE, least = (n * PAGE + HUGE - 1) / HUGE * HUGE;
	struct arena_chunk *chunk;

	if (len < CHUNK_MIN)
		len = CHUNK_MIN;
	if (len > CHUNK_MAX)
		len = CHUNK_MAX;
	if (least > len / 2)
		len = least;
	chunk = arena_chunk_of(NULL, len);
	if (!chunk)
		return NULL;
	chunk->mem = map_huge(len);
	if (!chunk->mem) {
		free(chunk);
		return NULL;
	}
	ddio_list_add(&chunk->link, &arena->chunks);
	arena->total += len;
	if (arena->ops && arena->ops->add(arena->ctx, chunk)) {
		chunk_free(arena, chunk);
		return NULL;
	}
	return chunk;
}

struct arena *arena_new(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (arena)
		ddio_list_init(&arena->chunks);
	return arena;
}

void arena_free(struct arena *arena)
{
	struct arena_chunk *chunk, *tmp;

	if (!arena)
		return;
	ddio_list_for_each_entry_safe(chunk, tmp, &arena->chunks, link)
		chunk_free(arena, chunk);
	free(arena);
}

void *arena_get(struct arena *arena, size_t len)
{
	struct arena_chunk *chunk;
	void *buf;

	if (len > SIZE_MAX / 2)
		return NULL;
	ddio_list_for_each_entry(chunk, &arena->chunks, link) {
		buf = chunk_get(chunk, pages_of(len));
		if (buf)
			return memset(buf, 0, len);
	}
	chunk = chunk_new(arena, pages_of(len));
	return chunk ? chunk_get(chunk, pages_of(len)) : NULL;
}

struct arena_chunk *arena_find(const struct arena *arena, const void *buf, size_t len)
{
	uintptr_t at = (uintptr_t)buf;
	struct arena_chunk *chunk;

	ddio_list_for_each_entry(chunk, &arena->chunks, link) {
		uintptr_t mem = (uintptr_t)chunk->mem;

		if (at >= mem && at - mem < chunk->len)
			return len <= chunk->len - (at - mem) ? chunk : NULL;
	}
	return NULL;
}

bool arena_put(struct arena *arena, void *buf, size_t len)
{
	struct arena_chunk *chunk = arena_find(arena, buf, len);

	if (!chunk)
		return false;
	arena_chunk_put(chunk, buf, len);
	/* The first chunk stays, so that light use does not map and unmap one again and again. */
	if (chunk->free == chunk->len / PAGE && arena->chunks.next != &chunk->link &&
	    (!arena->ops || arena->ops->remove(arena->ctx, chunk)))
		chunk_free(arena, chunk);
	return true;
}
