/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Runs of <linux/ddio.h>: nested-strided pieces of a block and their places in
 * a member's memory.  Pure: no memory of their own, no locks, no waiting.
 */
#ifndef DDIO_RUNS_H
#define DDIO_RUNS_H

#include "shim.h"

#ifdef __KERNEL__
#include <linux/ddio.h>
#else
#include <uapi/linux/ddio.h>
#endif

/* The most bytes that all pieces of a run may have together: it bounds the time of one copy. */
#define DDIO_RUN_BYTES_MAX DDIO_BLOCK_LENGTH_MAX

/**
 * ddio_run_check - check that a run is well-formed and its pieces lie in their block
 *
 * Return: 0; -EINVAL: an empty piece, no repetitions in a level used, anything in one not used,
 * more levels than there are; -EOVERFLOW: a position that does not fit into 64 bits, or more than
 * DDIO_RUN_BYTES_MAX together; -ERANGE: a piece outside of the block
 */
int ddio_run_check(const struct ddio_run *run, u32 block_length);

/**
 * ddio_run_check_memory - check that the pieces of a checked run lie in the member's memory
 *
 * Return: 0; -EOVERFLOW: a position that does not fit into 64 bits; -ERANGE: a piece outside
 */
int ddio_run_check_memory(const struct ddio_run *run, u64 memory_length);

/**
 * ddio_run_bytes - count the bytes of all pieces of a checked run
 */
u64 ddio_run_bytes(const struct ddio_run *run);

/**
 * ddio_run_covers - see whether the pieces of a checked run cover each byte of the block
 *
 * May err in one way only: false for a run that does.
 */
bool ddio_run_covers(const struct ddio_run *run, u32 block_length);

/**
 * ddio_run_window - the part of a checked run that begins in a window of the block
 * @run: of which each repetition on the outermost level belongs to the window that it begins in
 * @from: first byte of the window
 * @to: one past the last
 * @part: a run with these repetitions
 *
 * Return: false if there are none; @part is then undefined
 */
bool ddio_run_window(const struct ddio_run *run, u32 from, u32 to, struct ddio_run *part);

/**
 * ddio_run_part - the next part of a checked run, for a copy in bounded steps
 * @run: whose parts, one after the other, have all of its bytes
 * @at: bytes that the parts before this one have; fewer than ddio_run_bytes()
 * @most: bytes that a part may have, at least 1; the same for all parts of a run
 * @part: the part, a run like others
 *
 * Return: its bytes
 */
u32 ddio_run_part(const struct ddio_run *run, u32 at, u32 most, struct ddio_run *part);

/**
 * ddio_run_scatter - copy the pieces of a checked run from the block to the memory
 */
void ddio_run_scatter(const struct ddio_run *run, const void *block, void *memory);

/**
 * ddio_run_gather - copy the pieces of a checked run from the memory to the block
 */
void ddio_run_gather(const struct ddio_run *run, void *block, const void *memory);

#endif /* DDIO_RUNS_H */
