// SPDX-License-Identifier: LGPL-2.1-or-later
/* The codec of a node's counters. */
#include <stdlib.h>
#include "proto/codec.h"

/* The counters of a disk in wire order: one list for both directions. */
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

static void wr_disk(struct ddio_wr *w, const struct ddio_disk_status *d)
{
	size_t i;

	ddio_wr_u32(w, d->disk);
	ddio_wr_u32(w, d->reactor);
	ddio_wr_str(w, d->name, sizeof(d->name));
	ddio_wr_str(w, d->engine, sizeof(d->engine));
	for (i = 0; i < NCOUNTERS; i++)
		ddio_wr_u64(w, *counter((struct ddio_disk_status *)d, i));
}

static void rd_disk(struct ddio_rd *r, struct ddio_disk_status *d)
{
	size_t i;

	d->disk = ddio_rd_u32(r);
	d->reactor = ddio_rd_u32(r);
	ddio_rd_str(r, d->name, sizeof(d->name));
	ddio_rd_str(r, d->engine, sizeof(d->engine));
	for (i = 0; i < NCOUNTERS; i++)
		*counter(d, i) = ddio_rd_u64(r);
}

ssize_t ddio_put_status(void *buf, size_t cap, const struct ddio_msg_status *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->node);
	ddio_wr_u32(&w, x->nreactors);
	ddio_wr_u64(&w, x->boot);
	ddio_wr_u64(&w, x->uptime_ns);
	ddio_wr_u64(&w, x->collectives);
	ddio_wr_u64(&w, x->requests);
	ddio_wr_u64(&w, x->connections);
	ddio_wr_u64(&w, x->refused);
	ddio_wr_u64(&w, x->memory_bytes);
	ddio_wr_u32(&w, x->ndisks);
	ddio_wr_u32(&w, 0);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	for (i = 0; i < x->ndisks; i++)
		wr_disk(&w, &x->disks[i]);
	return ddio_wr_end(&w);
}

int ddio_get_status(const void *buf, size_t len, struct ddio_msg_status *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t i;
	int err;

	memset(x, 0, sizeof(*x));
	x->node = ddio_rd_u32(&r);
	x->nreactors = ddio_rd_u32(&r);
	x->boot = ddio_rd_u64(&r);
	x->uptime_ns = ddio_rd_u64(&r);
	x->collectives = ddio_rd_u64(&r);
	x->requests = ddio_rd_u64(&r);
	x->connections = ddio_rd_u64(&r);
	x->refused = ddio_rd_u64(&r);
	x->memory_bytes = ddio_rd_u64(&r);
	x->ndisks = ddio_rd_u32(&r);
	ddio_rd_reserved(&r);
	ddio_rd_str(&r, x->name, sizeof(x->name));
	ddio_rd_check(&r, x->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (ddio_rd_fits(&r, x->ndisks, DISK_MIN))
		x->disks = ddio_rd_alloc(&r, x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks && !r.err; i++)
		rd_disk(&r, &x->disks[i]);
	err = ddio_rd_end(&r);
	if (err)
		ddio_status_free(x);
	return err;
}

void ddio_status_free(struct ddio_msg_status *st)
{
	free(st->disks);
	st->disks = NULL;
	st->ndisks = 0;
}
