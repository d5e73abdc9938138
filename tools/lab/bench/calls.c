// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves a process's share by a call for each contiguous chunk, one after the other, as a program does
 * that knows only read and write: those of the papers' traditional file system.
 *
 * ddio_pread() joins the blocks of a disk into one request, which the papers' clients did not do;
 * ddio_read() asks for the file's size each time.  So ddio_pread() is used where no disk has more than
 * one block of the chunk.
 */
#include <errno.h>
#include <string.h>
#include "bench.h"

struct calls {
	struct ddio_file *file;
	struct ddio_transfer t;
	struct ddio_report one, *sum;
	uint8_t *buf;
	struct ddio_extent chunk;
	uint64_t share;	 /* where the chunk lies in the share */
	uint64_t stripe; /* bytes of which no disk has more than a block */
	uint64_t block;
	bool write;
	int err;
};

static void move_plain(struct calls *c)
{
	uint64_t at = c->chunk.offset, len = c->chunk.len;
	uint8_t *buf = c->buf + c->share;
	ssize_t n = c->write ? ddio_pwrite(c->file, buf, len, at)
			     : ddio_pread(c->file, buf, len, at);

	c->err = n < 0 ? (int)n : (uint64_t)n == len ? 0 : -ENODATA;
	c->sum->requests += (at + len - 1) / c->block - at / c->block + 1;
}

static void move_long(struct calls *c)
{
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &c->chunk };

	c->t.part = &part;
	c->t.buf = c->buf + c->share;
	c->err = c->write ? ddio_write(c->file, &c->t) : ddio_read(c->file, &c->t);
	c->sum->requests += c->one.requests;
	c->sum->disk_requests += c->one.disk_requests;
	c->sum->disk_read += c->one.disk_read;
	c->sum->messages += c->one.messages;
	if (c->one.buffers > c->sum->buffers)
		c->sum->buffers = c->one.buffers;
}

/* Moves the chunk collected so far. */
static void flush(struct calls *c)
{
	uint64_t into = c->chunk.offset % c->block;

	if (!c->chunk.len || c->err)
		return;
	if (into + c->chunk.len <= c->stripe)
		move_plain(c);
	else
		move_long(c);
}

static void take(void *arg, uint64_t file_off, uint64_t share_off, uint64_t len)
{
	struct calls *c = arg;

	if (c->chunk.len && c->chunk.offset + c->chunk.len == file_off &&
	    c->share + c->chunk.len == share_off) {
		c->chunk.len += len;
		return;
	}
	flush(c);
	c->chunk = (struct ddio_extent){ .offset = file_off, .len = len };
	c->share = share_off;
}

int bench_calls(struct ddio_file *file, const struct ddio_array *a, uint32_t rank,
		const struct ddio_transfer *t, bool write)
{
	struct calls c = { .file = file, .t = *t, .buf = t->buf, .write = write };
	struct ddio_report unused;
	struct ddio_file_stat st;
	int err = ddio_fstat(file, &st);

	if (err)
		return err;
	c.block = st.block_size;
	c.stripe = c.block * st.ndisks;
	c.sum = t->report ? t->report : &unused;
	memset(c.sum, 0, sizeof(*c.sum));
	c.sum->struct_size = sizeof(*c.sum);
	c.sum->method = DDIO_METHOD_TC;
	c.one.struct_size = sizeof(c.one);
	c.t.report = &c.one;
	bench_share(a, rank, take, &c);
	flush(&c);
	return c.err;
}
