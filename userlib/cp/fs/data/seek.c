// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding data and holes.  Each disk is asked for its next block that holds data, or that holds none, from
 * where the search begins; the first of these blocks in the file is the answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/file.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/size.h"

/**
 * struct seek_job - one ddio_fs_seek()
 * @whence: SEEK_DATA, SEEK_HOLE
 * @at: where the search begins
 * @found: the first byte found so far
 */
struct seek_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	int whence;
	uint64_t at, found;
	struct fsc_sizer sizer;
	struct fsc_set set;
	struct fsc_error error;
};

static void seek_end(struct seek_job *sj)
{
	uint64_t size = sj->inode->size;
	struct ddio_fs_reply reply = { 0 };
	struct fsc_error error;

	if (!sj->error.err && (sj->at >= size || (sj->whence == SEEK_DATA && sj->found >= size)))
		fsc_error_set(&sj->error, -ENXIO, "no data from there to the end of the file");
	reply.value = sj->found < size ? sj->found : size;
	error = sj->error;
	fsc_job_end(&sj->job, &error, &reply);
}

/* Block @k of disk @i's object is what was looked for. */
static void seek_found(struct seek_job *sj, uint32_t i, uint64_t k)
{
	const struct ddio_file_record *rec = &sj->inode->rec;
	uint64_t byte;

	if (k > DDIO_MAX_FILE / rec->ref.block / rec->ndisks)
		return;
	byte = (k * rec->ndisks + i) * rec->ref.block;
	if (byte < sj->at)
		byte = sj->at;
	if (byte < sj->found)
		sj->found = byte;
}

/*
 * Goes on at block req->obj.offset with one more page of extents.  Extents that were never written are
 * holes that have a place.  Returns true if another page is needed.
 */
static bool seek_page(struct seek_job *sj, struct fsc_set_req *req,
		      const struct ddio_msg_extents *x)
{
	uint64_t at = req->obj.offset, end = at;
	bool data = sj->whence == SEEK_DATA;
	uint32_t n;

	for (n = 0; n < x->n; n++) {
		const struct ddio_wire_extent *e = &x->ext[n];
		bool written = !(e->flags & DDIO_EXTENT_UNWRITTEN);

		end = e->block + e->count;
		if (end <= at || (data && !written))
			continue;
		if (data || e->block > at || !written) {
			seek_found(sj, req->i, data && e->block > at ? e->block : at);
			return false;
		}
		at = end;
	}
	if (x->more && end > req->obj.offset) {
		req->obj.offset = data ? end : at;
		return true;
	}
	if (!data)
		seek_found(sj, req->i, at);
	return false;
}

static void seek_reply(struct fsc_set *set, struct fsc_set_req *req, const struct reply *reply)
{
	struct seek_job *sj = ddio_container_of(set, struct seek_job, set);
	struct ddio_msg_extents x;

	if (ddio_get_extents(reply->payload, reply->len, &x)) {
		fsc_error_set(&set->error, -EIO, FSC_MALFORMED);
		return;
	}
	if (seek_page(sj, req, &x))
		fsc_set_send(set, req);
	free(x.ext);
}

static void seek_done(struct fsc_set *set)
{
	struct seek_job *sj = ddio_container_of(set, struct seek_job, set);

	fsc_error_first(&sj->error, &set->error);
	fsc_set_free(set);
	seek_end(sj);
}

static void seek_disks(struct seek_job *sj)
{
	const struct ddio_file_record *rec = &sj->inode->rec;
	uint64_t b = sj->at / rec->ref.block;
	struct fsc_set *set = &sj->set;
	struct fsc_set_req *req;
	uint32_t d;

	fsc_set_init(set, sj->inode->r, rec, seek_done);
	set->reply = seek_reply;
	if (fsc_set_alloc(set, rec->ndisks)) {
		fsc_error_set(&sj->error, -ENOMEM, "out of memory");
		seek_end(sj);
		return;
	}
	fsc_set_begin(set);
	for (d = 0; d < rec->ndisks; d++, b++) {
		req = &set->req[d];
		req->i = (uint32_t)(b % rec->ndisks);
		req->opcode = DDIO_OP_OBJ_EXTENTS;
		req->obj.offset = b / rec->ndisks;
		req->obj.len = sj->whence == SEEK_DATA ? 64 : DDIO_MAX_BATCH;
		fsc_set_send(set, req);
	}
	fsc_set_end(set);
}

static void seek_sized(struct fsc_sizer *sizer)
{
	struct seek_job *sj = ddio_container_of(sizer, struct seek_job, sizer);

	fsc_error_first(&sj->error, &sizer->error);
	if (sj->error.err || sj->at >= sj->inode->size)
		seek_end(sj);
	else
		seek_disks(sj);
}

static void seek_run(struct fsc_job *job)
{
	struct seek_job *sj = ddio_container_of(job, struct seek_job, job);

	if (sj->whence != SEEK_DATA && sj->whence != SEEK_HOLE)
		fsc_job_fail(job, -EINVAL, "seek for data or for holes only");
	else
		fsc_size_ask(&sj->sizer, sj->inode, seek_sized);
}

void ddio_fs_seek(struct ddio_fs_file *file, uint64_t offset, int whence, ddio_fs_done done,
		  void *arg)
{
	struct seek_job *sj = fsc_job_new(file->fs, sizeof(*sj), done, arg);

	if (!sj)
		return;
	sj->inode = file->inode;
	sj->whence = whence;
	sj->at = offset;
	sj->found = UINT64_MAX;
	fsc_guard(&sj->job, sj->inode, seek_run);
}
