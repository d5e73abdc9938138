// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ranges of a file: giving them space or taking it away, and finding where data are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cp/fs/disks/set.h"

/* Of fallocate(2). */
enum { MODE_KEEP_SIZE = 0x01, MODE_PUNCH_HOLE = 0x02, MODE_ZERO_RANGE = 0x10 };

/*
 * Space
 */
struct range_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	int mode;
	uint64_t from, to;
	struct fsc_waiter waiter;
	struct fsc_set set;
	struct fsc_error error;
};

static struct range_job *range_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct range_job, job);
}

static void range_end(struct range_job *rj)
{
	struct fsc_error error = rj->error;
	struct ddio_fs_reply reply = { 0 };

	fsc_job_end(&rj->job, &error, &reply);
}

static void range_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct range_job *rj = ddio_container_of(waiter, struct range_job, waiter);

	fsc_error_set(&rj->error, error->err, error->text);
	range_end(rj);
}

static void range_done(struct fsc_set *set)
{
	struct range_job *rj = ddio_container_of(set, struct range_job, set);
	struct fsc_inode *inode = rj->inode;

	fsc_error_first(&rj->error, &set->error);
	fsc_set_free(set);
	if (rj->error.err) {
		range_end(rj);
	} else if (rj->to > inode->size && !(rj->mode & MODE_KEEP_SIZE)) {
		rj->waiter.end = rj->to;
		rj->waiter.flags = DDIO_FS_WROTE_TIMES;
		rj->waiter.fn = range_told;
		fsc_inode_tell(inode, &rj->waiter);
	} else {
		fsc_inode_wrote(inode, rj->mode & MODE_KEEP_SIZE ? 0 : rj->to);
		range_end(rj);
	}
}

static void range_go(struct range_job *rj)
{
	uint16_t opcode = rj->mode & MODE_PUNCH_HOLE ? DDIO_OP_OBJ_PUNCH : DDIO_OP_OBJ_ALLOCATE;
	uint32_t flags = rj->mode & MODE_ZERO_RANGE ? DDIO_OBJ_ZERO : 0;

	fsc_set_init(&rj->set, rj->inode->r, &rj->inode->rec, range_done);
	rj->set.pins = rj->inode;
	rj->set.missing_ok = rj->mode & MODE_PUNCH_HOLE;
	fsc_set_range(&rj->set, opcode, flags, rj->from, rj->to, false);
}

static void range_clad(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct range_job *rj = ddio_container_of(waiter, struct range_job, waiter);

	if (error->err) {
		range_told(waiter, error);
		return;
	}
	rj->inode->bare = false;
	range_go(rj);
}

static int range_check(const struct range_job *rj)
{
	const int known = MODE_KEEP_SIZE | MODE_PUNCH_HOLE | MODE_ZERO_RANGE;

	if (rj->mode & ~known)
		return -EOPNOTSUPP;
	if ((rj->mode & MODE_PUNCH_HOLE) && rj->mode != (MODE_PUNCH_HOLE | MODE_KEEP_SIZE))
		return -EOPNOTSUPP;
	if (rj->to == rj->from)
		return -EINVAL;
	if (rj->to < rj->from || rj->to > DDIO_MAX_FILE)
		return -EFBIG;
	return fsc_inode_gone(rj->inode) ? -ESTALE : 0;
}

static void range_run(struct fsc_job *job)
{
	struct range_job *rj = range_of(job);
	int err = range_check(rj);

	if (err)
		fsc_job_fail(job, err, strerror(-err));
	else if (rj->inode->bare)
		fsc_inode_clothe(rj->inode, &rj->waiter, range_clad);
	else
		range_go(rj);
}

void ddio_fs_allocate(struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg)
{
	struct range_job *rj = fsc_job_new(file->fs, sizeof(*rj), done, arg);

	if (!rj)
		return;
	rj->inode = file->inode;
	rj->mode = mode;
	rj->from = offset;
	rj->to = offset + len;
	fsc_job_post(&rj->job, rj->inode->r, range_run);
}

/*
 * Data and holes.  Each disk is asked for its next block that holds data, or that holds none, from the
 * place where one begins to look; the first of these in the file is where it is.
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
		fsc_error_set(&sj->error, -ENXIO, "nothing behind there");
	reply.value = sj->found < size ? sj->found : size;
	error = sj->error;
	fsc_job_end(&sj->job, &error, &reply);
}

/* It is block @k of disk @i's object. */
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
 * Goes on at block piece->obj.offset with one more page of extents.  Those that were never written are
 * holes with a place.  Return: the end is not reached: it needs another page.
 */
static bool seek_page(struct seek_job *sj, struct fsc_piece *piece,
		      const struct ddio_msg_extents *x)
{
	uint64_t at = piece->obj.offset, end = at;
	bool data = sj->whence == SEEK_DATA;
	uint32_t n;

	for (n = 0; n < x->n; n++) {
		const struct ddio_wire_extent *e = &x->ext[n];
		bool written = !(e->flags & DDIO_EXTENT_UNWRITTEN);

		end = e->block + e->count;
		if (end <= at || (data && !written))
			continue;
		if (data || e->block > at || !written) {
			seek_found(sj, piece->i, data && e->block > at ? e->block : at);
			return false;
		}
		at = end;
	}
	if (x->more && end > piece->obj.offset) {
		piece->obj.offset = data ? end : at;
		return true;
	}
	if (!data)
		seek_found(sj, piece->i, at);
	return false;
}

static void seek_reply(struct fsc_set *set, struct fsc_piece *piece, const struct reply *reply)
{
	struct seek_job *sj = ddio_container_of(set, struct seek_job, set);
	struct ddio_msg_extents x;

	if (ddio_get_extents(reply->payload, reply->len, &x)) {
		fsc_error_set(&set->error, -EIO, "a disk's answer makes no sense");
		return;
	}
	if (seek_page(sj, piece, &x))
		fsc_piece_send(set, piece);
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
	struct fsc_piece *piece;
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
		piece = &set->piece[d];
		piece->i = (uint32_t)(b % rec->ndisks);
		piece->opcode = DDIO_OP_OBJ_EXTENTS;
		piece->obj.offset = b / rec->ndisks;
		piece->obj.len = sj->whence == SEEK_DATA ? 64 : DDIO_MAX_BATCH;
		fsc_piece_send(set, piece);
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
		fsc_job_fail(job, -EINVAL, "neither data nor holes are looked for");
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
	fsc_job_post(&sj->job, sj->inode->r, seek_run);
}
