/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write-behind of collective calls. */
#ifndef MPIIO_BEHIND_H
#define MPIIO_BEHIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct mpiio_file;
struct mpiio_op;
struct mpiio_access;

#define BEHIND_CALLS 256

/* Bytes of the view that a call wrote, which follow those of the piece before in the buffer; @call of those gathered. */
struct behind_piece {
	uint64_t at, len;
	unsigned int call;
};

/**
 * struct mpiio_behind - what a process has been given to write, and has not written yet
 * @stage: not wanted; calls go to the file as they are; calls are gathered
 * @direct: calls that went to the file since all agreed last, and @again, how many there are before they do so again
 * @calls: that have been gathered, and @window, how many are before they are written
 * @most: bytes of the largest call of this process since all agreed last
 * @err: of a write that this process made by itself, with @text; all hear of it when they agree, this one's program is
 *	@told at once, or by its next call
 * @buf: @len bytes of @n pieces, of which some are of the same place if @twice; room for @room
 * @due: when they go to the file without another call
 * @writer: the thread that sees to that, if it @has_writer; it ends when it is to @stop
 * @lock: of @err, @told, @text, @buf, @len, @twice, @n, @piece, @due, @stop; @wake: @n or @stop has changed.  Nobody holds it
 *	while others have not come yet: another thread may be in a call that is not collective, and they wait for what it does next
 *
 * @stage, @direct, @again, @calls and @window are the same on all processes, and changed in collective calls only.
 */
enum behind_stage { BEHIND_OFF, BEHIND_DIRECT, BEHIND_GATHERS };
struct mpiio_behind {
	_Atomic enum behind_stage stage;
	unsigned int direct, again;
	_Atomic unsigned int calls;
	unsigned int window;
	uint64_t most;
	int err;
	bool told;
	char text[256];
	uint8_t *buf;
	uint64_t len, room;
	bool twice;
	unsigned int n;
	struct behind_piece piece[BEHIND_CALLS];
	struct timespec due;
	pthread_t writer;
	_Atomic bool has_writer;
	bool stop;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

void behind_init(struct mpiio_file *f);
void behind_drop(struct mpiio_file *f);

/*
 * What this process wants, of which the greatest holds: that calls are gathered; that they are not; or that each is found as a
 * whole or not at all, which what was gathered of several is not.
 */
enum { BEHIND_WANTED, BEHIND_UNWANTED, BEHIND_WHOLE };
int64_t behind_says(const struct mpiio_file *f);
/* With nothing gathered: @most of all is known to the caller, or asked of all in behind_agree(), which is collective. */
void behind_choose(struct mpiio_file *f, int64_t most);
int behind_agree(struct mpiio_file *f);
/* All start afresh, each with its own data written: now, or (@own_later) by the caller. */
void behind_stop(struct mpiio_file *f, bool own_later);

/* Whether a call is one that is gathered; then behind_write() does what op_run() does for others. */
bool behind_takes(const struct mpiio_file *f, const struct mpiio_access *a);
void behind_write(struct mpiio_op *op);

/*
 * Writes what was gathered: collectively, which all must call; or this process's own, for a call that is not collective.
 * behind_before() does what an access needs.  0 or a negative errno, which behind_fail() tells the program; the
 * collective ones give the same on all.
 */
int behind_settle(struct mpiio_file *f);
int behind_own(struct mpiio_file *f);
int behind_before(struct mpiio_file *f, const struct mpiio_access *a);
/* Whether each process writes its own before a collective call, by itself. */
bool behind_is_alone(const struct mpiio_file *f, const struct mpiio_access *a);
int behind_fail(struct mpiio_file *f, int err);

#endif
