// SPDX-License-Identifier: LGPL-2.1-or-later
/* The codecs of a node's counters, of jobs, of scrubs and of traces. */
#include <stdlib.h>
#include "proto/codec.h"

/* The counters of a disk, in wire order. */
static const size_t counters[] = {
#define C(field) offsetof(struct ddio_disk_status, field)
	C(size),	 C(free),	   C(reads),
	C(writes),	 C(read_bytes),	   C(write_bytes),
	C(errors),	 C(cache_hits),	   C(cache_misses),
	C(prefetches),	 C(prefetch_used), C(prefetch_wasted),
	C(cache_blocks), C(cache_dirty),   C(cache_bytes),
	C(queue),	 C(max_queue),	   C(seeks),
	C(seek_ns),	 C(rotation_ns),   C(buffer_hits),
	C(bus_wait_ns),	 C(busy_ns),	   C(buffers),
	C(max_buffers),	 C(objects),	   C(scrub_mismatches),
	C(scrub_unread),
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

static inline void code_wrong(struct ddio_coder *c, struct ddio_msg_wrong *x)
{
	code_flags(c, &x->flags, DDIO_WRONG_PLACE);
	code_u32(c, &x->disk);
	code_u64(c, &x->file);
	code_u64(c, &x->block);
	code_u64(c, &x->count);
}
CODEC(wrong, ddio_msg_wrong)

/* An empty string and eight numbers. */
#define JOB_MIN (2 + 8 * 8)

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
	code_u64(c, &st->told);
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

#define TRACE_FLAGS (DDIO_TRACE_WRITE | DDIO_TRACE_ENDED)
/* Identifier, eight numbers of 8 bytes, four of 4, two empty strings. */
#define TRACE_COLL_MIN (DDIO_GROUP_ID_LEN + 8 * 8 + 4 * 4 + 2 * 2)
#define TRACE_EVENT_LEN (2 * 8 + 3 * 4 + 4 * 2)

static inline void code_trace_ask(struct ddio_coder *c, struct ddio_msg_trace_ask *x)
{
	code_u32(c, &x->action);
	code_u32(c, &x->most);
	code_u32(c, &x->reactor);
	code_u32(c, &x->from);
	code_u64(c, &x->op);
	code_str(c, x->job, sizeof(x->job));
	code_str(c, x->file, sizeof(x->file));
	code_check(c, x->action >= DDIO_TRACE_BEGIN && x->action <= DDIO_TRACE_END, -EINVAL);
	code_check(c, x->most <= DDIO_TRACE_COLLS, -EINVAL);
	code_check(c, x->action != DDIO_TRACE_BEGIN || x->most, -EINVAL);
}
CODEC(trace_ask, ddio_msg_trace_ask)

static void code_trace_coll(struct ddio_coder *c, struct ddio_trace_coll *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_u32(c, &x->nprocs);
	code_u32(c, &x->block);
	code_flags(c, &x->flags, TRACE_FLAGS);
	code_u32(c, &x->status);
	code_u64(c, &x->bytes_needed);
	code_u64(c, &x->disk_requests);
	code_u64(c, &x->disk_read);
	code_u64(c, &x->disk_written);
	code_u64(c, &x->messages);
	code_u64(c, &x->wait_disk_ns);
	code_u64(c, &x->wait_members_ns);
	code_str(c, x->job, sizeof(x->job));
	code_str(c, x->file, sizeof(x->file));
}

static void code_trace_event(struct ddio_coder *c, struct ddio_trace_event *x)
{
	code_u64(c, &x->ns);
	code_u64(c, &x->place);
	code_u32(c, &x->len);
	code_u32(c, &x->rank);
	code_u32(c, &x->disk);
	code_u16(c, &x->slot);
	code_u16(c, &x->kind);
	code_u16(c, &x->what);
	code_u16(c, &x->coll);
}

/* Of kinds that this version does not know, only what all have in common is checked. */
static void check_trace_event(struct ddio_coder *c, const struct ddio_trace_event *x,
			      uint32_t ncolls)
{
	code_check(c, x->coll < ncolls, -EINVAL);
	code_check(c, x->kind != DDIO_TRACE_STATE || x->what < DDIO_TRACE_STATES, -EINVAL);
	code_check(c, x->kind != DDIO_TRACE_SLOT || x->what < DDIO_TRACE_SLOTS, -EINVAL);
	code_check(c, x->kind != DDIO_TRACE_ASK || x->what < DDIO_TRACE_PIECES, -EINVAL);
}

static inline void code_trace(struct ddio_coder *c, struct ddio_msg_trace *x)
{
	uint32_t i;

	code_u64(c, &x->now);
	code_u64(c, &x->lost);
	code_u32(c, &x->nreactors);
	code_u32(c, &x->ncolls);
	code_u32(c, &x->total);
	code_u32(c, &x->n);
	code_check(c, x->ncolls <= DDIO_TRACE_COLLS && x->n <= DDIO_TRACE_PAGE, -EMSGSIZE);
	if (c->reading)
		x->coll = code_alloc(c, x->ncolls, sizeof(*x->coll), TRACE_COLL_MIN);
	for (i = 0; i < x->ncolls && coder_ok(c); i++)
		code_trace_coll(c, &x->coll[i]);
	if (c->reading)
		x->event = code_alloc(c, x->n, sizeof(*x->event), TRACE_EVENT_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_trace_event(c, &x->event[i]);
		check_trace_event(c, &x->event[i], x->ncolls);
	}
}

void ddio_trace_free(struct ddio_msg_trace *x)
{
	free(x->coll);
	free(x->event);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(trace, ddio_msg_trace, ddio_trace_free)
