/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write-behind of collective calls. */
#ifndef MPIIO_BEHIND_H
#define MPIIO_BEHIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct mpiio_file;
struct mpiio_op;
struct mpiio_access;

#define BEHIND_CALLS 256

/* Bytes of the view, which follow those of the piece before in the buffer. */
struct behind_piece {
	uint64_t at, len;
};

/**
 * struct mpiio_behind - what a process has been given to write, and has not written yet
 * @stage: of no use now; the next call shows how much a call writes; calls are gathered
 * @calls: that have been gathered, the same on all processes
 * @window: how many are, before they are written, the same on all
 * @most: bytes of the largest call of this process
 * @buf: @len bytes of @n pieces; room for @room
 * @lock: of @buf, @len, @n, @piece
 */
struct mpiio_behind {
	enum { BEHIND_OFF, BEHIND_ASKS, BEHIND_GATHERS } stage;
	unsigned int calls, window;
	uint64_t most;
	uint8_t *buf;
	uint64_t len, room;
	unsigned int n;
	struct behind_piece piece[BEHIND_CALLS];
	pthread_mutex_t lock;
};

void behind_init(struct mpiio_behind *b);
void behind_drop(struct mpiio_behind *b);

/*
 * This process's hint; and, with nothing gathered, whether all have given it: known to the caller, or asked of all in
 * behind_agree(), which is collective.
 */
bool behind_wanted(const struct mpiio_file *f);
void behind_choose(struct mpiio_file *f, bool all_want);
void behind_agree(struct mpiio_file *f);

/* Whether a call is one that is gathered; then behind_write() does what op_run() does for others. */
bool behind_takes(const struct mpiio_op *op);
void behind_write(struct mpiio_op *op);

/*
 * Writes what was gathered: collectively, which all must call; or this process's own, for a call that is not collective.
 * behind_before() does what an access needs.  0 or a negative errno; the collective ones give the same on all.
 */
int behind_settle(struct mpiio_file *f);
int behind_own(struct mpiio_file *f);
int behind_before(struct mpiio_file *f, const struct mpiio_access *a);

#endif
