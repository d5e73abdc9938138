// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contiguous reads and writes of one process. */
#include <errno.h>
#include <limits.h>
#include "cp/coll/range.h"

/**
 * struct plain_call - one ddio_pread() or ddio_pwrite()
 * @at, @end: bytes of the file
 */
struct plain_call {
	struct session_call call;
	struct ddio_file *file;
	uint8_t *buf;
	uint64_t at, end;
	struct range_io range;
	struct size_job size;
	uint32_t left;
	struct error error;
};

static void plain_end(struct plain_call *pc)
{
	range_free(&pc->range);
	call_end(&pc->call, &pc->error);
}

static void plain_put(struct plain_call *pc)
{
	if (!--pc->left)
		plain_end(pc);
}

static void plain_begin(struct plain_call *pc, bool writing, void (*done)(struct range_io *range))
{
	pc->range.file = pc->file;
	pc->range.buf = pc->buf;
	pc->range.at = pc->at;
	pc->range.end = pc->end;
	pc->range.done = done;
	pc->range.arg = pc;
	range_begin(&pc->range, writing);
}

/*
 * Reading
 */
static void read_done(struct range_io *range)
{
	struct plain_call *pc = range->arg;

	error_first(&pc->error, &range->io.error);
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

	if (!file_usable(pc->file, &pc->error)) {
		plain_end(pc);
		return;
	}
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
	err = file_call_run(file, &pc.call, read_run);
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

static void write_done(struct range_io *range)
{
	struct plain_call *pc = range->arg;

	incarnations_note(pc->file);
	pc->error = range->io.error;
	if (pc->error.status)
		plain_put(pc);
	else
		write_extend(pc);
}

static void write_run(struct session_call *call)
{
	struct plain_call *pc = ddio_container_of(call, struct plain_call, call);

	if (!file_usable(pc->file, &pc->error)) {
		plain_end(pc);
		return;
	}
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
	err = file_call_run(file, &pc.call, write_run);
	return err ? err : (ssize_t)len;
}
