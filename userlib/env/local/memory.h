/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams through memory.  Two processes of one machine that a stream connects may agree to move its bytes through memory
 * that they share.  One offers the memory, by the other's mailbox, and the other takes it.  From then on the stream is
 * another one, which goes on as before, with the same ops, until each end diverts what it writes, and what it reads, at
 * the byte on which they have agreed.
 *
 * Where that is not possible, all of it fails, and the stream stays what it was.
 */
#ifndef DDIO_ENV_MEMORY_H
#define DDIO_ENV_MEMORY_H

#include "env/local/mailbox.h"

/* So many streams of a reactor go through memory at most; those beyond that stay what they are. */
#define ENV_MEMORIES 64u

/**
 * struct ddio_memory_use - the streams of a reactor that go through memory
 * @now: of them; @most: at any time
 * @hits: how often there was no room for one more
 */
struct ddio_memory_use {
	uint64_t now, most, hits;
};

/* In a world where none does, they are zeros. */
void ddio_memory_use(const struct ddio_env *env, struct ddio_memory_use *use);
/* Returns true if both ends of the stream have the same address, and there is room for one more. */
bool ddio_memory_possible(const struct ddio_stream *stream);
/* Return: 0, *@stream being another one; or -errno. */
int ddio_memory_offer(struct ddio_stream **stream, const char *name,
		      const uint8_t token[MAILBOX_TOKEN]);
int ddio_memory_take(struct ddio_stream **stream, struct ddio_mailbox *box);
/* What is written goes through the memory, after @after more bytes. */
void ddio_memory_write(struct ddio_stream *stream, uint64_t after);
/* What is read comes from the memory: all bytes before have been read. */
void ddio_memory_read(struct ddio_stream *stream);

#endif /* DDIO_ENV_MEMORY_H */
