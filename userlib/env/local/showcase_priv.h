/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What maker and viewers see: a page with the head, lines that say what is shown where, and the blocks.  A block's line
 * is one of SHOW_WAYS in a row, by its key.
 */
#ifndef DDIO_SHOWCASE_PRIV_H
#define DDIO_SHOWCASE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include "env/local/shared.h"
#include "env/local/showcase.h"

#define SHOW_PAGE 4096u
#define SHOW_MAGIC 0x64696f73686f7731ull
#define SHOW_WAYS 4

/**
 * struct show_head - the first page
 * @alive: the maker's thread holds it for as long as it shows anything; its first word changes when the thread
 *	ends, however it ends, and before the process's connections and files are closed
 * @magic: 0 when the maker has ended it
 * @lines: a power of two
 */
struct show_head {
	pthread_mutex_t alive;
	_Atomic uint64_t magic;
	uint64_t lines;
};

/**
 * struct show_line - what is shown
 * @turn: odd while something is
 * @at: where the block begins in the shared memory
 */
struct show_line {
	_Alignas(64) _Atomic uint64_t turn;
	struct ddio_show_key key;
	uint64_t at;
};

static inline struct show_line *show_lines(void *mem)
{
	return (struct show_line *)(void *)((uint8_t *)mem + SHOW_PAGE);
}

static inline uint64_t show_hash(const struct ddio_show_key *key)
{
	uint64_t h = (key->id * UINT64_C(0x9e3779b97f4a7c15)) ^ key->block;

	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 32;
}

static inline bool show_same(const struct ddio_show_key *a, const struct ddio_show_key *b)
{
	return a->id == b->id && a->block == b->block && a->seed == b->seed && a->size == b->size &&
	       a->layout == b->layout;
}

/* Returns the word of the head that changes when the maker's thread is gone. */
static inline int show_alive(const struct show_head *head)
{
	return atomic_load_explicit((const _Atomic int *)(const void *)&head->alive,
				    memory_order_relaxed);
}

#endif /* DDIO_SHOWCASE_PRIV_H */
