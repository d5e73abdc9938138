// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading an open file.  A size that was learnt a moment ago is good enough for bytes inside it, but not with
 * DDIO_FS_PROMPT: another mount may have cut the file, and what it cut off reads as zeros.  Then, and where a
 * read meets the end, the name server is asked while the bytes are read, and bytes that have come behind
 * the old end are read then.
 */
#include <errno.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/file.h"
#include "cp/fs/disks/io.h"
#include "cp/fs/disks/near.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/size.h"

/**
 * struct read_job - one ddio_fs_read()
 * @at, @end: what was asked for
 * @have: how far it has been read, or is being read
 * @left: what is under way, and one for whoever begins more of it
 * @asked: the name server is, or was, asked for the size
 */
struct read_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct fsc_io io;
	uint8_t *buf;
	uint64_t at, end;
	uint64_t have;
	uint32_t left;
	bool asked;
	struct fsc_error error;
	struct fsc_sizer sizer;
};

static void read_put(struct read_job *rj);

static void read_end(struct read_job *rj)
{
	struct ddio_fs_reply reply = { 0 };

	/* The file may have been cut meanwhile. */
	if (rj->asked && rj->have > rj->inode->size)
		rj->have = rj->inode->size > rj->at ? rj->inode->size : rj->at;
	reply.value = rj->have - rj->at;
	fsc_job_end(&rj->job, &rj->error, &reply);
}

static void read_moved(struct fsc_io *io)
{
	struct read_job *rj = ddio_container_of(io, struct read_job, io);

	fsc_error_first(&rj->error, &io->set.error);
	fsc_set_free(&io->set);
	read_put(rj);
}

/* Goes on reading, up to the end of the file as it is known. */
static void read_more(struct read_job *rj)
{
	uint64_t end = rj->end < rj->inode->size ? rj->end : rj->inode->size;

	if (end <= rj->have)
		return;
	rj->io.rec = &rj->inode->rec;
	rj->io.buf = rj->buf + (rj->have - rj->at);
	rj->io.at = rj->have;
	rj->io.end = end;
	rj->io.done = read_moved;
	rj->have = end;
	rj->left++;
	fsc_io_begin(&rj->io, rj->inode->r);
}

static void read_put(struct read_job *rj)
{
	if (--rj->left)
		return;
	if (!rj->error.err && rj->asked && rj->have < rj->end && rj->have < rj->inode->size) {
		rj->left = 1;
		read_more(rj);
		read_put(rj);
		return;
	}
	read_end(rj);
}

static void read_sized(struct fsc_sizer *sizer)
{
	struct read_job *rj = ddio_container_of(sizer, struct read_job, sizer);

	fsc_error_first(&rj->error, &sizer->error);
	read_put(rj);
}

static void read_sized_first(struct fsc_sizer *sizer)
{
	struct read_job *rj = ddio_container_of(sizer, struct read_job, sizer);

	fsc_error_first(&rj->error, &sizer->error);
	if (!rj->error.err)
		read_more(rj);
	read_put(rj);
}

static void read_run(struct fsc_job *job)
{
	struct read_job *rj = ddio_container_of(job, struct read_job, job);
	struct fsc_inode *inode = rj->inode;
	uint64_t now = ddio_env_now(inode->r->env);

	if (fsc_inode_gone(inode)) {
		fsc_job_fail(job, -ESTALE, "the file was removed");
		return;
	}
	rj->have = rj->at;
	rj->left = 1;
	if (fsc_lease_usable(inode)) {
		fsc_size_vouch(inode, now + FSC_LAZY_NS);
		read_more(rj);
		read_put(rj);
		return;
	}
	if (!inode->fs->prompt && now - inode->asked > FSC_LAZY_NS) {
		rj->asked = true;
		fsc_size_ask(&rj->sizer, inode, read_sized_first);
		return;
	}
	if (!inode->fs->prompt)
		fsc_size_vouch(inode, inode->asked + FSC_LAZY_NS);
	if (inode->fs->prompt || rj->end > inode->size) {
		rj->asked = true;
		rj->left++;
		fsc_size_ask(&rj->sizer, inode, read_sized);
	}
	read_more(rj);
	read_put(rj);
}

void ddio_fs_read(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset,
		  ddio_fs_done done, void *arg)
{
	struct read_job *rj = fsc_job_new(file->fs, sizeof(*rj), done, arg);

	if (!rj)
		return;
	rj->inode = file->inode;
	rj->io.reader = file->reader;
	rj->buf = buf;
	rj->at = offset < DDIO_MAX_FILE ? offset : DDIO_MAX_FILE;
	rj->end = len > DDIO_MAX_FILE - rj->at ? DDIO_MAX_FILE : rj->at + len;
	fsc_guard(&rj->job, rj->inode, read_run);
}

/* One in so many reads goes by message all the same: a node that hears nothing drops what it was asked for least lately. */
#define NEAR_TURN 64

size_t ddio_fs_read_near(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset)
{
	static __thread uint32_t turn;
	struct fsc_inode *inode = file->inode;

	if (!file->fs->nnear || offset > DDIO_MAX_FILE || len > DDIO_MAX_FILE - offset ||
	    fsc_inode_gone(inode) || !fsc_guard_sure(inode) ||
	    !fsc_size_near(inode, offset + len) || !(++turn % NEAR_TURN))
		return 0;
	return fsc_near_read(file->fs, &inode->rec, offset, len, buf) ? len : 0;
}
