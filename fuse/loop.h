/* SPDX-License-Identifier: GPL-2.0-only */
/* What those files share that take requests: loop.c, buffers.c, negotiate.c. */
#ifndef DDIOFS_LOOP_H
#define DDIOFS_LOOP_H

#include "ddiofs.h"

#define REQUEST_BYTES (1u << 20)

/**
 * struct loop_worker - a thread that takes requests, one at a time
 * @taken: a handler owns the message now
 * @init: the message is INIT; @offered: the flags that the kernel offers in it
 */
struct loop_worker {
	struct mount *m;
	struct fuse_buf message;
	bool taken, init;
	uint64_t offered;
};

/* buffers.c: this thread's, while it handles a message. */
extern __thread struct loop_worker *worker_self;

/* Returns memory of an earlier message, or NULL: libfuse allocates then. */
void *message_get(struct mount *m);

/* negotiate.c */
/* Has libfuse read and write through us: 0 or -errno. */
int session_io_set(struct mount *m);
/* Notes what the kernel offers, if the message is INIT. */
void init_look(struct loop_worker *w);
/* Notes a signal, if the message is INTERRUPT. */
void interrupt_look(const struct loop_worker *w);
/* Sets how far the kernel reads ahead of programs. */
void read_ahead_set(const struct mount *m);

#endif /* DDIOFS_LOOP_H */
