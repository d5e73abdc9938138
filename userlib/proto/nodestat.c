// SPDX-License-Identifier: LGPL-2.1-or-later
/* The codecs of a node's counters, of jobs and of scrubs. */
#include <stdlib.h>
#include "proto/codec.h"

/* The counters of a disk, in wire order. */
static const size_t counters[] = {
#define C(field) offsetof(struct ddio_disk_status, field)
	C(size),	 C(free),	 C(reads),	   C(writes),
	C(read_bytes),	 C(write_bytes), C(errors),	   C(cache_hits),
	C(cache_misses), C(prefetches),	 C(prefetch_used), C(prefetch_wasted),
	C(cache_blocks), C(cache_dirty), C(cache_bytes),   C(queue),
	C(max_queue),	 C(seeks),	 C(seek_ns),	   C(rotation_ns),
	C(buffer_hits),	 C(bus_wait_ns), C(busy_ns),	   C(buffers),
	C(max_buffers),	 C(objects),
#undef C
};

#define NCOUNTERS (sizeof(counters) / sizeof(counters[0]))
/* Two numbers, two empty strings, the counters. */
#define DISK_MIN (4 + 4 + 2 + 2 + NCOUNTERS * 8)

static uint64_t *counter(struct ddio_disk_status *d, size_t i)
{
	return (uint64_t *)(void *)((char *)d + counters[i]);
}

static void code_disk(struct ddio_coder *c, struct ddio_disk_status *d)
{
	size_t i;

	code_u32(c, &d->disk);
	code_u32(c, &d->reactor);
	code_str(c, d->name, sizeof(d->name));
	code_str(c, d->engine, sizeof(d->engine));
	for (i = 0; i < NCOUNTERS; i++)
		code_u64(c, counter(d, i));
}

static inline void code_status(struct ddio_coder *c, struct ddio_msg_status *x)
{
	uint32_t i;

	code_u32(c, &x->node);
	code_u32(c, &x->nreactors);
	code_u64(c, &x->boot);
	code_u64(c, &x->uptime_ns);
	code_u64(c, &x->collectives);
	code_u64(c, &x->requests);
	code_u64(c, &x->connections);
	code_u64(c, &x->refused);
	code_u64(c, &x->memory_bytes);
	code_u32(c, &x->ndisks);
	code_padding(c);
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (c->reading)
		x->disks = code_alloc(c, x->ndisks, sizeof(*x->disks), DISK_MIN);
	for (i = 0; i < x->ndisks && coder_ok(c); i++)
		code_disk(c, &x->disks[i]);
}
CODEC_OWNING(status, ddio_msg_status, ddio_status_free)

/* An empty string and four numbers. */
#define BOUND_MIN (2 + 4 * 8)

static inline void code_bounds(struct ddio_coder *c, struct ddio_msg_bounds *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_padding(c);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->bound = code_alloc(c, x->n, sizeof(*x->bound), BOUND_MIN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		struct ddio_bound_status *b = &x->bound[i];

		code_str(c, b->name, sizeof(b->name));
		code_u64(c, &b->limit);
		code_u64(c, &b->now);
		code_u64(c, &b->most);
		code_u64(c, &b->hits);
	}
}

static void release_bounds(struct ddio_msg_bounds *x)
{
	free(x->bound);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(bounds, ddio_msg_bounds, release_bounds)

static inline void code_job(struct ddio_coder *c, struct ddio_msg_job *x)
{
	code_str(c, x->name, sizeof(x->name));
}
CODEC(job, ddio_msg_job)

/* An empty string and seven numbers. */
#define JOB_MIN (2 + 7 * 8)

static void code_job_status(struct ddio_coder *c, struct ddio_job_status *st)
{
	code_str(c, st->name, sizeof(st->name));
	code_u64(c, &st->connections);
	code_u64(c, &st->requests);
	code_u64(c, &st->read_bytes);
	code_u64(c, &st->write_bytes);
	code_u64(c, &st->collectives);
	code_u64(c, &st->coll_read_bytes);
	code_u64(c, &st->coll_write_bytes);
}

static inline void code_jobs(struct ddio_coder *c, struct ddio_msg_jobs *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_padding(c);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->job = code_alloc(c, x->n, sizeof(*x->job), JOB_MIN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_job_status(c, &x->job[i]);
}

static void release_jobs(struct ddio_msg_jobs *x)
{
	free(x->job);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(jobs, ddio_msg_jobs, release_jobs)

#define ASK_FLAGS (DDIO_SCRUB_ASK_BEGIN | DDIO_SCRUB_ASK_END | DDIO_SCRUB_ASK_LACKING)

static inline void code_scrub_ask(struct ddio_coder *c, struct ddio_msg_scrub_ask *x)
{
	code_u32(c, &x->disk);
	code_flags(c, &x->flags, ASK_FLAGS);
	code_u64(c, &x->rate);
}
CODEC(scrub_ask, ddio_msg_scrub_ask)

static inline void code_scrub(struct ddio_coder *c, struct ddio_msg_scrub *x)
{
	code_flags(c, &x->flags, DDIO_SCRUB_RUNS);
	code_padding(c);
	code_u64(c, &x->begun);
	code_u64(c, &x->ended);
	code_u64(c, &x->used);
	code_u64(c, &x->done);
	code_u64(c, &x->bad);
	code_u64(c, &x->unread);
	code_u64(c, &x->given);
	code_u64(c, &x->rate);
}
CODEC(scrub, ddio_msg_scrub)

void ddio_status_free(struct ddio_msg_status *st)
{
	free(st->disks);
	st->disks = NULL;
	st->ndisks = 0;
}
