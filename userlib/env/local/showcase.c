// SPDX-License-Identifier: LGPL-2.1-or-later
/* Showing blocks. */
#include <errno.h>
#include <stdlib.h>
#include "env/arena.h"
#include "env/local/showcase_priv.h"

/* For so many bytes of blocks there is a line, within these bounds. */
#define LINE_BYTES 8192
#define LINES_MIN 64
/* What ddio_showcase_show() returns has so many bits of the line's number. */
#define LINE_BITS 16

/**
 * struct ddio_showcase - the maker's side
 * @room: the part of the memory that blocks lie in
 * @next: the way that the next block takes whose lines are all taken
 */
struct ddio_showcase {
	struct ddio_shared *shared;
	struct show_head *head;
	struct show_line *line;
	struct arena_chunk *room;
	uint32_t next;
};

static uint64_t lines_for(size_t bytes)
{
	uint64_t n = LINES_MIN;

	while (n < bytes / LINE_BYTES && n < 1u << LINE_BITS)
		n *= 2;
	return n;
}

static int head_init(struct show_head *head, uint64_t lines)
{
	pthread_mutexattr_t attr;
	int err;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(&head->alive, &attr);
	pthread_mutexattr_destroy(&attr);
	if (!err)
		err = pthread_mutex_lock(&head->alive);
	head->magic = SHOW_MAGIC;
	head->lines = lines;
	return -err;
}

int ddio_showcase_new(struct ddio_env *env, size_t bytes, struct ddio_showcase **showcase)
{
	uint64_t lines = lines_for(bytes);
	size_t before = SHOW_PAGE + lines * sizeof(struct show_line);
	size_t room = (bytes + SHOW_PAGE - 1) / SHOW_PAGE * SHOW_PAGE;
	struct ddio_showcase *s = calloc(1, sizeof(*s));
	int err = s ? ddio_shared_new(env, before + room, false, &s->shared) : -ENOMEM;
	uint8_t *mem;

	if (err) {
		free(s);
		return err;
	}
	mem = ddio_shared_mem(s->shared);
	s->head = (struct show_head *)(void *)mem;
	s->line = show_lines(mem);
	s->room = arena_chunk_of(mem + before, room);
	err = s->room ? head_init(s->head, lines) : -ENOMEM;
	if (err) {
		free(s->room);
		ddio_shared_free(s->shared);
		free(s);
		return err;
	}
	*showcase = s;
	return 0;
}

/* Where its thread has not ended and is not this one, the memory stays mapped: the kernel would look at it. */
void ddio_showcase_free(struct ddio_showcase *s)
{
	if (!s)
		return;
	atomic_store(&s->head->magic, 0);
	/* It is this thread's already, or that of one that has ended. */
	pthread_mutex_trylock(&s->head->alive);
	if (!pthread_mutex_unlock(&s->head->alive))
		ddio_shared_free(s->shared);
	free(s->room);
	free(s);
}

int ddio_showcase_send(struct ddio_env *env, const struct ddio_showcase *s, const char *name,
		       const uint8_t token[MAILBOX_TOKEN])
{
	return ddio_shared_send(env, s->shared, name, token);
}

void *ddio_showcase_get(struct ddio_showcase *s, size_t len)
{
	return arena_chunk_get(s->room, len);
}

bool ddio_showcase_has(const struct ddio_showcase *s, const void *buf)
{
	uintptr_t at = (uintptr_t)buf, mem = (uintptr_t)s->room->mem;

	return at >= mem && at - mem < s->room->len;
}

void ddio_showcase_put(struct ddio_showcase *s, const void *buf, size_t len)
{
	arena_chunk_put(s->room, buf, len);
}

static void line_hide(struct show_line *line)
{
	uint64_t turn = atomic_load_explicit(&line->turn, memory_order_relaxed);

	if (turn & 1)
		atomic_store_explicit(&line->turn, turn + 1, memory_order_relaxed);
	/* What follows changes what was shown. */
	atomic_thread_fence(memory_order_seq_cst);
}

/* Returns a line for the block: a free one of its own, if any. */
static uint64_t line_for(struct ddio_showcase *s, const struct ddio_show_key *key)
{
	uint64_t first = show_hash(key), i, mask = s->head->lines - 1;

	for (i = first; i < first + SHOW_WAYS; i++)
		if (!(atomic_load_explicit(&s->line[i & mask].turn, memory_order_relaxed) & 1))
			return i & mask;
	return (first + s->next++ % SHOW_WAYS) & mask;
}

uint64_t ddio_showcase_show(struct ddio_showcase *s, const struct ddio_show_key *key,
			    const void *buf)
{
	uint64_t i = line_for(s, key), turn;
	struct show_line *line = &s->line[i];

	line_hide(line);
	line->key = *key;
	line->at = (uint64_t)((const uint8_t *)buf - (const uint8_t *)s->head);
	turn = atomic_load_explicit(&line->turn, memory_order_relaxed) + 1;
	atomic_store_explicit(&line->turn, turn, memory_order_release);
	return turn << LINE_BITS | i;
}

static struct show_line *line_of(const struct ddio_showcase *s, uint64_t shown)
{
	struct show_line *line = &s->line[shown & ((1u << LINE_BITS) - 1)];

	return atomic_load_explicit(&line->turn, memory_order_relaxed) == shown >> LINE_BITS ? line
											     : NULL;
}

bool ddio_showcase_shown(const struct ddio_showcase *s, uint64_t shown)
{
	return line_of(s, shown);
}

void ddio_showcase_hide(struct ddio_showcase *s, uint64_t shown)
{
	struct show_line *line = line_of(s, shown);

	if (line)
		line_hide(line);
}
