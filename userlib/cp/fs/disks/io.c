// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Moves contiguous bytes between the caller's memory and all disks of a file.  Blocks that follow one
 * another in an object are one request, up to a size that lets several be under way.  Bytes within one
 * block need no allocation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/disks/io.h"
#include "cp/fs/disks/near.h"

/* At most so many bytes in one request, and in all requests at once. */
enum { REQUEST_BYTES = 1 << 20, SPAN_BYTES = 32 << 20 };

static void io_span(struct fsc_io *io);

static void io_spanned(struct fsc_set *set)
{
	struct fsc_io *io = ddio_container_of(set, struct fsc_io, set);

	if (set->req != &io->single)
		free(set->req);
	set->req = NULL;
	io->from = io->upto;
	if (set->error.err || io->from >= io->end)
		io->done(io);
	else
		io_span(io);
}

static void req_begin(struct fsc_io *io, struct fsc_set_req *req, uint32_t i)
{
	req->i = i;
	req->opcode = io->writing ? DDIO_OP_OBJ_WRITE : DDIO_OP_OBJ_READ;
	if (io->reader && !io->writing) {
		req->obj.flags = DDIO_OBJ_STREAM;
		req->obj.stream = io->reader;
	}
	req->iov = &req->one;
	req->niov = 0;
	req->obj.len = 0;
}

/* Adds the wanted bytes of block @b. */
static void req_add(struct fsc_io *io, struct fsc_set_req *req, uint64_t b)
{
	const struct ddio_file_record *rec = io->rec;
	uint64_t bs = rec->ref.block, lo = b * bs, hi = lo + bs;
	struct iovec *last;
	uint8_t *base;

	if (lo < io->from)
		lo = io->from;
	if (hi > io->upto)
		hi = io->upto;
	base = io->buf + (lo - io->at);
	req->obj.len += hi - lo;
	if (!req->niov)
		req->obj.offset = b / rec->ndisks * bs + lo % bs;
	last = req->iov + (req->niov ? req->niov - 1 : 0);
	if (req->niov && (uint8_t *)last->iov_base + last->iov_len == base) {
		last->iov_len += hi - lo;
		return;
	}
	req->iov[req->niov].iov_base = base;
	req->iov[req->niov++].iov_len = hi - lo;
}

static void io_one(struct fsc_io *io, uint64_t b)
{
	struct fsc_set *set = &io->set;

	set->req = &io->single;
	memset(&io->single.retry, 0, sizeof(io->single.retry));
	req_begin(io, &io->single, (uint32_t)(b % io->rec->ndisks));
	req_add(io, &io->single, b);
	fsc_set_begin(set);
	fsc_set_send(set, &io->single);
	fsc_set_end(set);
}

/**
 * struct split - blocks [@first, @last] of a file, dealt to requests
 * @most: blocks in one request
 */
struct split {
	uint64_t first, last, most;
	uint32_t ndisks;
};

/* Returns how many of the blocks lie on the disk of block @first + @d. */
static uint64_t split_blocks(const struct split *s, uint32_t d)
{
	return s->first + d > s->last ? 0 : (s->last - s->first - d) / s->ndisks + 1;
}

/* Allocates the requests and their vectors at once. */
static int io_alloc(struct fsc_io *io, const struct split *s, struct iovec **iov)
{
	uint64_t reqs = 0, n;
	uint32_t d;

	for (d = 0; d < s->ndisks && s->first + d <= s->last; d++) {
		n = split_blocks(s, d);
		reqs += (n + s->most - 1) / s->most;
	}
	n = s->last - s->first + 1;
	io->set.req = malloc(reqs * sizeof(*io->set.req) + n * sizeof(**iov));
	if (!io->set.req)
		return -ENOMEM;
	memset(io->set.req, 0, reqs * sizeof(*io->set.req));
	*iov = (struct iovec *)(io->set.req + reqs);
	return 0;
}

static void io_many(struct fsc_io *io, const struct split *s)
{
	struct fsc_set *set = &io->set;
	struct fsc_set_req *req;
	struct iovec *iov;
	uint64_t b, n, k;
	uint32_t d;

	fsc_set_begin(set);
	if (io_alloc(io, s, &iov)) {
		fsc_error_set(&set->error, -ENOMEM, "out of memory");
		fsc_set_end(set);
		return;
	}
	req = set->req;
	for (d = 0; d < s->ndisks && s->first + d <= s->last; d++) {
		b = s->first + d;
		for (n = split_blocks(s, d); n; n -= k, req++) {
			req_begin(io, req, (uint32_t)(b % s->ndisks));
			req->iov = iov;
			for (k = 0; k < s->most && k < n; k++, b += s->ndisks)
				req_add(io, req, b);
			iov += k;
			fsc_set_send(set, req);
		}
	}
	fsc_set_end(set);
}

static void io_span(struct fsc_io *io)
{
	const struct ddio_file_record *rec = io->rec;
	struct split s = { .ndisks = rec->ndisks, .most = 1 };

	io->upto = io->end - io->from > SPAN_BYTES ? io->from + SPAN_BYTES : io->end;
	s.first = io->from / rec->ref.block;
	s.last = (io->upto - 1) / rec->ref.block;
	if (rec->ref.block < REQUEST_BYTES)
		s.most = REQUEST_BYTES / rec->ref.block;
	if (s.first == s.last)
		io_one(io, s.first);
	else
		io_many(io, &s);
}

/* Asks the disks that it begins with whether they are near. */
static void io_ask_near(const struct fsc_io *io, struct fsc_reactor *r)
{
	const struct ddio_file_record *rec = io->rec;
	uint64_t b = io->at / rec->ref.block, end = b + rec->ndisks;

	if (!r->fs->nnear)
		return;
	for (; b < end && b * rec->ref.block < io->end; b++)
		fsc_near_ask(r, rec->disks[b % rec->ndisks]);
}

void fsc_io_begin(struct fsc_io *io, struct fsc_reactor *r)
{
	io_ask_near(io, r);
	fsc_set_init(&io->set, r, io->rec, io_spanned);
	io->set.holder = io->writing ? io->holder : NULL;
	io->from = io->at;
	io_span(io);
}
