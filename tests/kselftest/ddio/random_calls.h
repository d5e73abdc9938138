/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random calls: what fuzz_ioctl.c repeats.
 */
#ifndef KT_RANDOM_CALLS_H
#define KT_RANDOM_CALLS_H

#include <stdint.h>

#include "lib/kt.h"

#define CONTEXTS 4
#define DISKS 4
#define IDS 6
#define FDS 4
#define BLOCKS 48
#define RUNS 16
#define ARENA (4U << 20)
#define GUARD (256U << 10)

enum object_kind { DISK, BUFFER, COLL, KINDS };

/* A context, and what has lately been made in it; used by all threads, without care. */
struct context {
	int fd;
	uint32_t id[KINDS][IDS];
	struct ddio_ring *ring;
	size_t ring_length;
};

/**
 * struct process - what the threads of a process have in common
 * @ctx: contexts, some of which other processes have, too
 * @joint, @member: descriptors
 * @arena: memory for everything
 * @guard: memory that is only ever pinned as read-only
 * @disk: the last one is only ever opened for reading
 */
struct process {
	struct context ctx[CONTEXTS];
	int joint[FDS];
	int member[2 * FDS];
	unsigned char *arena;
	unsigned char *guard;
	struct kt_dev *disk[DISKS];
};

/**
 * struct call_tally - what came of the calls, of all processes
 * @calls: made
 * @well: that succeeded, by command
 * @errnos: how often each errno
 * @changed: calls that failed and changed their struct
 * @strange: errnos that are not of the interface
 */
struct call_tally {
	uint64_t calls;
	uint64_t well[16];
	uint64_t errnos[256];
	uint64_t changed;
	uint64_t strange;
};

/* A thread. */
struct call_worker {
	struct process *process;
	struct call_tally *tally;
	struct kt_rng rng;
	bool sane; /* nothing is to be mutated */
	uint64_t calls;
	struct ddio_block block[BLOCKS];
	struct ddio_run run[RUNS];
	int32_t status[BLOCKS];
};

#define BELOW(n) kt_below(&w->rng, n)
#define ONE_IN(n) (!BELOW(n))

struct context *some_ctx(struct call_worker *w);
/* Returns an id, mostly of something of that kind that was made in the context. */
uint32_t some_id(struct call_worker *w, struct context *ctx, enum object_kind kind);
/* Makes one call, of any kind. */
void some_call(struct call_worker *w);
/* Puts other memory in the place of a ring: as long as it is mapped, its context is not closed. */
void drop_ring(struct context *ctx);
/* Adds what makes a new context useful. */
void first_calls(struct call_worker *w, struct context *ctx);

#endif /* KT_RANDOM_CALLS_H */
