// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes that are contiguous in an object are one request, up to a size that allows several requests at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/range.h"

enum { REQUEST_BYTES = 1 << 20 };

/* Returns how many blocks one request covers, from file block @b on. */
static uint64_t range_run(const struct range_io *range, uint64_t b)
{
	const struct ddio_file_record *rec = &range->file->rec;
	uint64_t most = rec->ref.block < REQUEST_BYTES ? REQUEST_BYTES / rec->ref.block : 1;
	uint64_t last = (range->end - 1) / rec->ref.block;
	uint64_t have = (last - b) / rec->ndisks + 1;

	return have < most ? have : most;
}

static int range_next(struct objio *io, struct objreq *req)
{
	struct range_io *range = io->arg;
	const struct ddio_file_record *rec = &range->file->rec;
	uint64_t bs = rec->ref.block, b = range->block[req->i], n, k, lo, hi;

	if (b * bs >= range->end)
		return 0;
	n = range_run(range, b);
	if (n > 1) {
		req->iov_alloc = malloc(n * sizeof(*req->iov));
		if (!req->iov_alloc)
			return -ENOMEM;
		req->iov = req->iov_alloc;
	}
	req->obj.len = 0;
	for (k = 0; k < n; k++, b += rec->ndisks) {
		lo = b * bs < range->at ? range->at : b * bs;
		hi = (b + 1) * bs > range->end ? range->end : (b + 1) * bs;
		if (!k)
			req->obj.offset = b / rec->ndisks * bs + lo % bs;
		req->iov[k].iov_base = range->buf + (lo - range->at);
		req->iov[k].iov_len = hi - lo;
		req->obj.len += hi - lo;
	}
	req->niov = (int)n;
	range->block[req->i] = b;
	return 1;
}

/* Finds the first block on each disk that the range touches. */
static int range_blocks(struct range_io *range)
{
	const struct ddio_file_record *rec = &range->file->rec;
	uint64_t first = range->at / rec->ref.block, i;

	range->block = malloc(rec->ndisks * sizeof(*range->block));
	if (!range->block)
		return -ENOMEM;
	for (i = 0; i < rec->ndisks; i++)
		range->block[(first + i) % rec->ndisks] = first + i;
	return 0;
}

static void range_done(struct objio *io)
{
	struct range_io *range = io->arg;

	range->done(range);
}

void range_begin(struct range_io *range, bool writing)
{
	const struct ddio_file_record *rec = &range->file->rec;

	range->io.session = range->file->session;
	range->io.rec = rec;
	range->io.writing = writing;
	range->io.next = range_next;
	range->io.done = range_done;
	range->io.arg = range;
	if (range_blocks(range)) {
		error_set(&range->io.error, -ENOMEM, "%s: out of memory", rec->name);
		range->done(range);
		return;
	}
	objio_begin(&range->io);
}

void range_free(struct range_io *range)
{
	objio_free(&range->io);
	free(range->block);
	range->block = NULL;
}
