// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Contiguous reads and writes of one process, in parallel over all disks.
 * Bytes that are contiguous in an object are one request, up to a size that
 * allows several requests at a time.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"
#include "cp/node/objio.h"

enum { REQUEST_BYTES = 1 << 20 };

/**
 * struct plain_call - one ddio_pread() or ddio_pwrite()
 * @at, @end: bytes of the file
 * @block: of each disk of the stripe: the file's next block there
 */
struct plain_call {
	struct session_call call;
	struct ddio_file *file;
	uint8_t *buf;
	uint64_t at, end;
	uint64_t *block;
	struct objio io;
	struct size_job size;
	uint32_t left;
	struct error error;
};

static void plain_end(struct plain_call *pc)
{
	objio_free(&pc->io);
	free(pc->block);
	call_end(&pc->call, &pc->error);
}

static void plain_put(struct plain_call *pc)
{
	if (!--pc->left)
		plain_end(pc);
}

/* Returns how many blocks one request covers, from file block @b on. */
static uint64_t plain_run(const struct plain_call *pc, uint64_t b)
{
	const struct ddio_file_record *rec = &pc->file->rec;
	uint64_t most = rec->ref.block < REQUEST_BYTES ? REQUEST_BYTES / rec->ref.block : 1;
	uint64_t last = (pc->end - 1) / rec->ref.block;
	uint64_t have = (last - b) / rec->ndisks + 1;

	return have < most ? have : most;
}

static int plain_next(struct objio *io, struct objreq *req)
{
	struct plain_call *pc = io->arg;
	const struct ddio_file_record *rec = &pc->file->rec;
	uint64_t bs = rec->ref.block, b = pc->block[req->i], n, k, lo, hi;

	if (b * bs >= pc->end)
		return 0;
	n = plain_run(pc, b);
	if (n > 1) {
		req->iov_alloc = malloc(n * sizeof(*req->iov));
		if (!req->iov_alloc)
			return -ENOMEM;
		req->iov = req->iov_alloc;
	}
	req->obj.len = 0;
	for (k = 0; k < n; k++, b += rec->ndisks) {
		lo = b * bs < pc->at ? pc->at : b * bs;
		hi = (b + 1) * bs > pc->end ? pc->end : (b + 1) * bs;
		if (!k)
			req->obj.offset = b / rec->ndisks * bs + lo % bs;
		req->iov[k].iov_base = pc->buf + (lo - pc->at);
		req->iov[k].iov_len = hi - lo;
		req->obj.len += hi - lo;
	}
	req->niov = (int)n;
	pc->block[req->i] = b;
	return 1;
}

/* Finds the first block on each disk that the range touches. */
static int plain_blocks(struct plain_call *pc)
{
	const struct ddio_file_record *rec = &pc->file->rec;
	uint64_t first = pc->at / rec->ref.block, i;

	pc->block = malloc(rec->ndisks * sizeof(*pc->block));
	if (!pc->block)
		return -ENOMEM;
	for (i = 0; i < rec->ndisks; i++)
		pc->block[(first + i) % rec->ndisks] = first + i;
	return 0;
}

static void plain_begin(struct plain_call *pc, bool writing, void (*done)(struct objio *io))
{
	int err = plain_blocks(pc);

	pc->io.session = pc->file->session;
	pc->io.rec = &pc->file->rec;
	pc->io.writing = writing;
	pc->io.next = plain_next;
	pc->io.done = done;
	pc->io.arg = pc;
	if (err) {
		error_set(&pc->error, err, "%s: out of memory", pc->file->rec.name);
		plain_put(pc);
		return;
	}
	objio_begin(&pc->io);
}

/*
 * Reading
 */
static void read_done(struct objio *io)
{
	struct plain_call *pc = io->arg;

	error_first(&pc->error, &io->error);
	plain_put(pc);
}

static void read_clipped(struct plain_call *pc)
{
	if (pc->end > pc->file->rec.size)
		pc->end = pc->file->rec.size;
	if (pc->at >= pc->end) {
		pc->end = pc->at;
		plain_put(pc);
		return;
	}
	plain_begin(pc, false, read_done);
}

static void read_sized(struct size_job *job)
{
	struct plain_call *pc = job->arg;

	pc->error = job->error;
	if (pc->error.status)
		plain_put(pc);
	else
		read_clipped(pc);
}

/* Cuts the result at the file's size now; the read went by the size last known. */
static void read_checked(struct size_job *job)
{
	struct plain_call *pc = job->arg;

	error_first(&pc->error, &job->error);
	if (!job->error.status && pc->end > job->size)
		pc->end = job->size > pc->at ? job->size : pc->at;
	plain_put(pc);
}

/* Asks for the size: another process may have changed it, or removed the file. */
static void read_run(struct session_call *call)
{
	struct plain_call *pc = ddio_container_of(call, struct plain_call, call);

	pc->size.file = pc->file;
	pc->size.arg = pc;
	if (pc->end > pc->file->rec.size) {
		pc->left = 1;
		pc->size.done = read_sized;
		size_ask(&pc->size);
	} else {
		pc->left = 2;
		pc->size.done = read_checked;
		size_ask(&pc->size);
		plain_begin(pc, false, read_done);
	}
}

ssize_t ddio_pread(struct ddio_file *file, void *buf, size_t len, uint64_t offset)
{
	struct plain_call pc = { .file = file, .buf = buf, .at = offset };
	int err;

	if (!file)
		return -EINVAL;
	if ((len && !buf) || len > SSIZE_MAX || offset > DDIO_MAX_FILE)
		return session_fail(file->session, -EINVAL,
				    "read of %s: no buffer, or beyond the largest file",
				    file->rec.name);
	if (!len)
		return 0;
	pc.end = len > DDIO_MAX_FILE - offset ? DDIO_MAX_FILE : offset + len;
	err = call_run(file->session, &pc.call, read_run);
	return err ? err : (ssize_t)(pc.end - pc.at);
}

/*
 * Writing
 *
 * The name server is told once the data are there: a process that opens the file after that, and
 * finds that it has changed, reads them.  Another process may have cut the file meanwhile.
 */
static void write_extended(struct size_job *job)
{
	struct plain_call *pc = job->arg;

	incarnations_note(pc->file);
	error_first(&pc->error, &job->error);
	plain_put(pc);
}

static void write_extend(struct plain_call *pc)
{
	pc->size.file = pc->file;
	pc->size.size = pc->end;
	pc->size.done = write_extended;
	pc->size.arg = pc;
	size_extend(&pc->size);
}

static void write_done(struct objio *io)
{
	struct plain_call *pc = io->arg;

	incarnations_note(pc->file);
	pc->error = io->error;
	if (pc->error.status)
		plain_put(pc);
	else
		write_extend(pc);
}

static void write_run(struct session_call *call)
{
	struct plain_call *pc = ddio_container_of(call, struct plain_call, call);

	pc->left = 1;
	incarnations_begin(pc->file);
	plain_begin(pc, true, write_done);
}

ssize_t ddio_pwrite(struct ddio_file *file, const void *buf, size_t len, uint64_t offset)
{
	struct plain_call pc = { .file = file, .buf = (uint8_t *)buf, .at = offset };
	int err;

	if (!file)
		return -EINVAL;
	if ((len && !buf) || len > SSIZE_MAX)
		return session_fail(file->session, -EINVAL, "write of %s: no buffer",
				    file->rec.name);
	if (offset > DDIO_MAX_FILE || len > DDIO_MAX_FILE - offset)
		return session_fail(file->session, -EFBIG, "write of %s: beyond the largest file",
				    file->rec.name);
	if (!len)
		return 0;
	pc.end = offset + len;
	err = call_run(file->session, &pc.call, write_run);
	return err ? err : (ssize_t)len;
}
