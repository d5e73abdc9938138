// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Contiguous bytes of a file, moved between the caller's memory and all disks of the stripe.  Blocks
 * that follow one another in an object are one request, up to a size that lets several be under way.
 * What is within one block needs no memory of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/disks/set.h"

/* Of one request, and of all that are made at once. */
enum { REQUEST_BYTES = 1 << 20, SPAN_BYTES = 32 << 20 };

static void io_span(struct fsc_io *io);

static void io_spanned(struct fsc_set *set)
{
	struct fsc_io *io = ddio_container_of(set, struct fsc_io, set);

	if (set->piece != &io->single)
		free(set->piece);
	set->piece = NULL;
	io->from = io->upto;
	if (set->error.err || io->from >= io->end)
		io->done(io);
	else
		io_span(io);
}

static void piece_begin(struct fsc_io *io, struct fsc_piece *piece, uint32_t i)
{
	piece->i = i;
	piece->opcode = io->writing ? DDIO_OP_OBJ_WRITE : DDIO_OP_OBJ_READ;
	if (io->stream && !io->writing) {
		piece->obj.flags = DDIO_OBJ_STREAM;
		piece->obj.stream = io->stream;
	}
	piece->iov = &piece->one;
	piece->niov = 0;
	piece->obj.len = 0;
}

/* Bytes of block @b that are wanted. */
static void piece_add(struct fsc_io *io, struct fsc_piece *piece, uint64_t b)
{
	const struct ddio_file_record *rec = &io->inode->rec;
	uint64_t bs = rec->ref.block, lo = b * bs, hi = lo + bs;
	struct iovec *last;
	uint8_t *base;

	if (lo < io->from)
		lo = io->from;
	if (hi > io->upto)
		hi = io->upto;
	base = io->buf + (lo - io->at);
	piece->obj.len += hi - lo;
	if (!piece->niov)
		piece->obj.offset = b / rec->ndisks * bs + lo % bs;
	last = piece->iov + (piece->niov ? piece->niov - 1 : 0);
	if (piece->niov && (uint8_t *)last->iov_base + last->iov_len == base) {
		last->iov_len += hi - lo;
		return;
	}
	piece->iov[piece->niov].iov_base = base;
	piece->iov[piece->niov++].iov_len = hi - lo;
}

static void io_one(struct fsc_io *io, uint64_t b)
{
	struct fsc_set *set = &io->set;

	set->piece = &io->single;
	memset(&io->single.wait, 0, sizeof(io->single.wait));
	piece_begin(io, &io->single, (uint32_t)(b % io->inode->rec.ndisks));
	piece_add(io, &io->single, b);
	fsc_set_begin(set);
	fsc_piece_send(set, &io->single);
	fsc_set_end(set);
}

/* How many requests, and blocks, disk number @d from block @first on has until @last. */
struct split {
	uint64_t first, last, most;
	uint32_t ndisks;
};

static uint64_t split_blocks(const struct split *s, uint32_t d)
{
	return s->first + d > s->last ? 0 : (s->last - s->first - d) / s->ndisks + 1;
}

/* Pieces and their vectors in one piece of memory. */
static int io_alloc(struct fsc_io *io, const struct split *s, struct iovec **iov)
{
	uint64_t pieces = 0, n;
	uint32_t d;

	for (d = 0; d < s->ndisks && s->first + d <= s->last; d++) {
		n = split_blocks(s, d);
		pieces += (n + s->most - 1) / s->most;
	}
	n = s->last - s->first + 1;
	io->set.piece = malloc(pieces * sizeof(*io->set.piece) + n * sizeof(**iov));
	if (!io->set.piece)
		return -ENOMEM;
	memset(io->set.piece, 0, pieces * sizeof(*io->set.piece));
	*iov = (struct iovec *)(io->set.piece + pieces);
	return 0;
}

static void io_many(struct fsc_io *io, const struct split *s)
{
	struct fsc_set *set = &io->set;
	struct fsc_piece *piece;
	struct iovec *iov;
	uint64_t b, n, k;
	uint32_t d;

	fsc_set_begin(set);
	if (io_alloc(io, s, &iov)) {
		fsc_error_set(&set->error, -ENOMEM, "out of memory");
		fsc_set_end(set);
		return;
	}
	piece = set->piece;
	for (d = 0; d < s->ndisks && s->first + d <= s->last; d++) {
		b = s->first + d;
		for (n = split_blocks(s, d); n; n -= k, piece++) {
			piece_begin(io, piece, (uint32_t)(b % s->ndisks));
			piece->iov = iov;
			for (k = 0; k < s->most && k < n; k++, b += s->ndisks)
				piece_add(io, piece, b);
			iov += k;
			fsc_piece_send(set, piece);
		}
	}
	fsc_set_end(set);
}

static void io_span(struct fsc_io *io)
{
	const struct ddio_file_record *rec = &io->inode->rec;
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

void fsc_io_begin(struct fsc_io *io)
{
	fsc_set_init(&io->set, io->inode->r, &io->inode->rec, io_spanned);
	io->set.pins = io->writing ? io->inode : NULL;
	io->from = io->at;
	io_span(io);
}
