// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copying from file to file.  If both files are spread alike, and the bytes lie at the same offset in
 * their blocks and on the same disks, each I/O processor copies its own (OBJ_COPY).  Otherwise they go
 * through this process, a buffer at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/file.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/size.h"

/* Bytes of the buffer, and of what each disk copies for one request. */
enum { BUF_BYTES = 4 << 20, DISK_BYTES = 16 << 20 };

struct copy_job {
	struct fsc_job job;
	struct ddio_fs_file *from, *to;
	uint64_t from_at, to_at, len, copied;
	struct fsc_sizer sizer;
	struct fsc_waiter waiter;
	struct fsc_set set;
	struct fsc_error error;
	uint8_t *buf;
	size_t buf_len;
};

static struct copy_job *copy_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct copy_job, job);
}

static void copy_end(struct copy_job *cj)
{
	struct ddio_fs_reply reply = { .value = cj->copied };
	struct fsc_error error = cj->error;

	/* Some bytes were copied: the caller asks for the rest, and hears of the error then. */
	if (cj->copied)
		fsc_error_free(&error);
	free(cj->buf);
	fsc_job_end(&cj->job, &error, &reply);
}

/*
 * Through this process
 */
static void copy_read(struct copy_job *cj);

static void copy_written(void *arg, const struct ddio_fs_reply *reply)
{
	struct copy_job *cj = arg;

	fsc_error_set(&cj->error, reply->err, reply->text);
	cj->copied += reply->value;
	if (cj->error.err || cj->copied == cj->len)
		copy_end(cj);
	else
		copy_read(cj);
}

static void copy_was_read(void *arg, const struct ddio_fs_reply *reply)
{
	struct copy_job *cj = arg;

	fsc_error_set(&cj->error, reply->err, reply->text);
	if (cj->error.err || !reply->value)
		copy_end(cj);
	else
		ddio_fs_write(cj->to, cj->buf, reply->value, cj->to_at + cj->copied, copy_written,
			      cj);
}

static void copy_read(struct copy_job *cj)
{
	uint64_t left = cj->len - cj->copied;

	ddio_fs_read(cj->from, cj->buf, left < cj->buf_len ? left : cj->buf_len,
		     cj->from_at + cj->copied, copy_was_read, cj);
}

static void copy_through(struct copy_job *cj)
{
	cj->buf_len = cj->len < BUF_BYTES ? cj->len : BUF_BYTES;
	cj->buf = malloc(cj->buf_len);
	if (!cj->buf) {
		fsc_error_set(&cj->error, -ENOMEM, "out of memory");
		copy_end(cj);
		return;
	}
	copy_read(cj);
}

/*
 * On the disks
 */
/* Returns true if the bytes lie at the same offset in blocks of the same disks. */
static bool copy_alike(const struct copy_job *cj)
{
	const struct ddio_file_record *a = &cj->from->inode->rec, *b = &cj->to->inode->rec;
	uint64_t bs = a->ref.block, from = cj->from_at, to = cj->to_at;
	uint32_t i, shift;

	/* It would take grants for both files at once. */
	if (cj->job.fs->user || bs != b->ref.block || a->ndisks != b->ndisks ||
	    from % bs != to % bs)
		return false;
	shift = (uint32_t)((to / bs % a->ndisks + a->ndisks - from / bs % a->ndisks) % a->ndisks);
	for (i = 0; i < a->ndisks; i++)
		if (a->disks[i] != b->disks[(i + shift) % a->ndisks])
			return false;
	return true;
}

static void copy_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct copy_job *cj = ddio_container_of(waiter, struct copy_job, waiter);

	fsc_error_set(&cj->error, error->err, error->text);
	if (!cj->error.err)
		cj->copied = cj->len;
	copy_end(cj);
}

static void copy_disks_done(struct fsc_set *set)
{
	struct copy_job *cj = ddio_container_of(set, struct copy_job, set);
	struct fsc_inode *to = cj->to->inode;
	uint64_t end = cj->to_at + cj->len;

	fsc_error_first(&cj->error, &set->error);
	fsc_set_free(set);
	if (cj->error.err) {
		to->tail |= end > to->size;
		copy_end(cj);
		return;
	}
	/* Also inside the end, as far as that is known: another mount may have cut the file. */
	cj->waiter.end = end;
	cj->waiter.whole = false;
	cj->waiter.flags = DDIO_FS_WROTE_TIMES;
	cj->waiter.fn = copy_told;
	fsc_inode_tell(to, &cj->waiter);
}

static void copy_disks(struct copy_job *cj)
{
	const struct ddio_file_record *a = &cj->from->inode->rec, *b = &cj->to->inode->rec;
	uint64_t from = cj->from_at, end, lo, hi;
	uint32_t i, j,
		shift = (uint32_t)((cj->to_at / a->ref.block % a->ndisks + a->ndisks -
				    from / a->ref.block % a->ndisks) %
				   a->ndisks);
	struct fsc_set *set = &cj->set;
	struct fsc_set_req *req;

	if (cj->len > (uint64_t)a->ndisks * DISK_BYTES)
		cj->len = (uint64_t)a->ndisks * DISK_BYTES;
	end = from + cj->len;
	fsc_set_init(set, cj->to->inode->r, a, copy_disks_done);
	set->holder = cj->to->inode->holder;
	if (fsc_set_alloc(set, a->ndisks)) {
		fsc_error_set(&cj->error, -ENOMEM, "out of memory");
		copy_end(cj);
		return;
	}
	fsc_set_begin(set);
	for (i = 0; i < a->ndisks; i++) {
		lo = fsc_share(a, i, from);
		hi = fsc_share(a, i, end);
		if (lo == hi)
			continue;
		j = (i + shift) % a->ndisks;
		req = &set->req[i];
		req->i = i;
		req->opcode = DDIO_OP_OBJ_COPY;
		req->obj.offset = lo;
		req->obj.len = hi - lo;
		req->to = &b->ref;
		req->to_i = j;
		req->to_offset = fsc_share(b, j, cj->to_at);
		fsc_set_send(set, req);
	}
	fsc_set_end(set);
}

static void copy_marked(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct copy_job *cj = ddio_container_of(waiter, struct copy_job, waiter);

	fsc_error_set(&cj->error, error->err, error->text);
	if (cj->error.err) {
		copy_end(cj);
		return;
	}
	cj->to->inode->has_data = true;
	copy_disks(cj);
}

/* On the target's reactor. */
static void copy_there(struct fsc_job *job)
{
	struct copy_job *cj = copy_of(job);

	if (fsc_inode_gone(cj->to->inode)) {
		fsc_error_set(&cj->error, -ESTALE, "the file was removed");
		copy_end(cj);
	} else if (fsc_guard_lost(cj->to->inode)) {
		fsc_error_set(&cj->error, -EIO, FSC_LOCK_LOST);
		copy_end(cj);
	} else if (!copy_alike(cj)) {
		copy_through(cj);
	} else if (!cj->to->inode->has_data) {
		fsc_inode_mark_has_data(cj->to->inode, &cj->waiter, copy_marked);
	} else {
		copy_disks(cj);
	}
}

static void copy_sized(struct fsc_sizer *sizer)
{
	struct copy_job *cj = ddio_container_of(sizer, struct copy_job, sizer);
	uint64_t size = cj->from->inode->size;

	fsc_error_first(&cj->error, &sizer->error);
	if (cj->from_at >= size)
		cj->len = 0;
	else if (cj->len > size - cj->from_at)
		cj->len = size - cj->from_at;
	if (cj->error.err || !cj->len)
		copy_end(cj);
	else
		fsc_job_go(&cj->job, cj->from->inode->r, cj->to->inode->r, copy_there);
}

static int copy_check(const struct copy_job *cj)
{
	if (cj->from_at > DDIO_MAX_FILE || cj->len > DDIO_MAX_FILE - cj->from_at ||
	    cj->to_at > DDIO_MAX_FILE || cj->len > DDIO_MAX_FILE - cj->to_at)
		return -EFBIG;
	if (cj->from->inode == cj->to->inode && cj->from_at < cj->to_at + cj->len &&
	    cj->to_at < cj->from_at + cj->len)
		return -EINVAL;
	return 0;
}

static void copy_run(struct fsc_job *job)
{
	struct copy_job *cj = copy_of(job);
	int err = copy_check(cj);

	if (err)
		fsc_job_fail(job, err, strerror(-err));
	else
		fsc_size_ask(&cj->sizer, cj->from->inode, copy_sized);
}

void ddio_fs_copy(struct ddio_fs_file *from, uint64_t from_offset, struct ddio_fs_file *to,
		  uint64_t to_offset, size_t len, ddio_fs_done done, void *arg)
{
	struct copy_job *cj = fsc_job_new(from->fs, sizeof(*cj), done, arg);

	if (!cj)
		return;
	cj->from = from;
	cj->to = to;
	cj->from_at = from_offset;
	cj->to_at = to_offset;
	cj->len = len;
	fsc_guard(&cj->job, from->inode, copy_run);
}
