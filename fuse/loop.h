/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by those who take requests: loop.c, buffers.c, negotiate.c. */
#ifndef DDIOFS_LOOP_H
#define DDIOFS_LOOP_H

#include "ddiofs.h"

#define REQUEST_BYTES (1u << 20)

/**
 * struct worker - who takes requests, one at a time
 * @taken: the message belongs to a handler now
 * @init: the message is INIT, which offers @offered
 */
struct worker {
	struct mount *m;
	struct fuse_buf message;
	bool taken, init;
	uint64_t offered;
};

/* This thread's, while it handles a message. */
extern __thread struct worker *worker_self;

/* buffers.c: memory of a message that was handled, or NULL: libfuse makes one. */
void *message_get(struct mount *m);

/* negotiate.c */
int session_io_set(struct mount *m);
void init_look(struct worker *w);
void read_ahead_set(const struct mount *m);

#endif /* DDIOFS_LOOP_H */
