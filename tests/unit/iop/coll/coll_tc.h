/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of the traditional path beside collectives, and what the caches hold. */
#ifndef DDIO_TEST_COLL_TC_H
#define DDIO_TEST_COLL_TC_H

#include "tests/unit/iop/coll/coll_op.h"

struct c_io {
	struct cache_io io;
	bool over;
	int status;
};

static void c_done(struct cache_io *io, int status)
{
	struct c_io *c = io->arg;

	c->over = true;
	c->status = status;
	object_put(io->obj);
}

static bool c_over(void *arg)
{
	return ((struct c_io *)arg)->over;
}

/* Submits a request of the traditional path, within a block, without waiting for it. */
static inline void tc_begin(struct coll_world *w, struct w_file *f, struct c_io *c, uint64_t off,
			    void *buf, uint64_t len, bool write)
{
	uint64_t bs = f->rec.ref.block, b = off / bs;
	struct iop_disk *d = &w->disk[f->disks[b % f->rec.ndisks]];

	memset(c, 0, sizeof(*c));
	CU_ASSERT_EQUAL_FATAL(store_get(d->store, &f->rec.ref, true, &c->io.obj), 0);
	c->io.offset = b / f->rec.ndisks * bs + off % bs;
	c->io.len = len;
	c->io.buf = buf;
	c->io.done = c_done;
	c->io.arg = c;
	if (write)
		cache_write(d->cache, &c->io);
	else
		cache_read(d->cache, &c->io);
}

static inline void tc(struct coll_world *w, struct w_file *f, uint64_t off, void *buf, uint64_t len,
		      bool write)
{
	struct c_io c;

	tc_begin(w, f, &c, off, buf, len, write);
	CU_ASSERT(w_until(w, c_over, &c, 60 * SEC));
	CU_ASSERT_EQUAL(c.status, 0);
	if (write)
		memcpy(f->image + off, buf, len);
}

/* Returns the blocks, and the dirty ones among them, of the caches of all disks. */
static inline struct cache_stats cached(struct coll_world *w)
{
	struct cache_stats all = { 0 }, st;
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++) {
		cache_stats(w->disk[i].cache, &st);
		all.blocks += st.blocks;
		all.dirty += st.dirty;
	}
	return all;
}

static void flush_done(struct cache_flush *flush, int status)
{
	CU_ASSERT_EQUAL(status, 0);
	*(bool *)flush->arg = true;
}

static bool flag_set(void *arg)
{
	return *(bool *)arg;
}

static inline void flush_disk(struct coll_world *w, uint32_t disk)
{
	bool over = false;
	struct cache_flush flush = { .done = flush_done, .arg = &over };

	cache_flush(w->disk[disk].cache, &flush);
	CU_ASSERT(w_until(w, flag_set, &over, 60 * SEC));
}

static inline void flush_all(struct coll_world *w)
{
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++)
		flush_disk(w, i);
}

#endif /* DDIO_TEST_COLL_TC_H */
