/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams through memory, for the loop and for the world's table. */
#ifndef DDIO_REAL_MEMORY_H
#define DDIO_REAL_MEMORY_H

#include "env/local/memory.h"
#include "env/real/priv.h"

extern const struct real_memory_ops real_memory;

bool real_memory_possible(const struct ddio_stream *stream);
int real_memory_offer(struct ddio_stream **stream, const char *name,
		      const uint8_t token[MAILBOX_TOKEN]);
void real_memory_use(const struct ddio_env *env, struct ddio_memory_use *use);
int real_memory_take(struct ddio_stream **stream, struct ddio_mailbox *box);

#endif /* DDIO_REAL_MEMORY_H */
