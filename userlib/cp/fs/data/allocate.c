// SPDX-License-Identifier: LGPL-2.1-or-later
/* Giving space to a range of a file, or taking it away. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/file.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/wrote.h"

/* Of fallocate(2). */
enum { MODE_KEEP_SIZE = 0x01, MODE_PUNCH_HOLE = 0x02, MODE_ZERO_RANGE = 0x10 };

struct allocate_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	int mode;
	uint64_t from, to;
	struct fsc_waiter waiter;
	struct fsc_set set;
	struct fsc_error error;
};

static struct allocate_job *allocate_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct allocate_job, job);
}

static void allocate_end(struct allocate_job *aj)
{
	struct fsc_error error = aj->error;
	struct ddio_fs_reply reply = { 0 };

	fsc_job_end(&aj->job, &error, &reply);
}

static void allocate_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct allocate_job *aj = ddio_container_of(waiter, struct allocate_job, waiter);

	fsc_error_set(&aj->error, error->err, error->text);
	allocate_end(aj);
}

static void allocate_done(struct fsc_set *set)
{
	struct allocate_job *aj = ddio_container_of(set, struct allocate_job, set);
	struct fsc_inode *inode = aj->inode;

	fsc_error_first(&aj->error, &set->error);
	fsc_set_free(set);
	if (aj->error.err) {
		allocate_end(aj);
		return;
	}
	aj->waiter.fn = allocate_told;
	aj->waiter.whole = false;
	if (aj->mode & MODE_KEEP_SIZE) {
		fsc_inode_wrote(inode, &aj->waiter);
		return;
	}
	/* Also inside the end, as far as that is known: another mount may have cut the file. */
	aj->waiter.end = aj->to;
	aj->waiter.flags = DDIO_FS_WROTE_TIMES;
	fsc_inode_tell(inode, &aj->waiter);
}

static void allocate_go(struct allocate_job *aj)
{
	uint16_t opcode = aj->mode & MODE_PUNCH_HOLE ? DDIO_OP_OBJ_PUNCH : DDIO_OP_OBJ_ALLOCATE;
	uint32_t flags = aj->mode & MODE_ZERO_RANGE ? DDIO_OBJ_ZERO : 0;

	fsc_set_init(&aj->set, aj->inode->r, &aj->inode->rec, allocate_done);
	aj->set.holder = aj->inode->holder;
	aj->set.missing_ok = aj->mode & MODE_PUNCH_HOLE;
	fsc_set_range(&aj->set, opcode, flags, aj->from, aj->to, false);
}

static void allocate_marked(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct allocate_job *aj = ddio_container_of(waiter, struct allocate_job, waiter);

	if (error->err) {
		allocate_told(waiter, error);
		return;
	}
	aj->inode->has_data = true;
	allocate_go(aj);
}

static int allocate_check(const struct allocate_job *aj)
{
	const int known = MODE_KEEP_SIZE | MODE_PUNCH_HOLE | MODE_ZERO_RANGE;

	if (aj->mode & ~known)
		return -EOPNOTSUPP;
	if ((aj->mode & MODE_PUNCH_HOLE) && aj->mode != (MODE_PUNCH_HOLE | MODE_KEEP_SIZE))
		return -EOPNOTSUPP;
	if (aj->to == aj->from)
		return -EINVAL;
	if (aj->to < aj->from || aj->to > DDIO_MAX_FILE)
		return -EFBIG;
	return fsc_inode_gone(aj->inode) ? -ESTALE : 0;
}

static void allocate_run(struct fsc_job *job)
{
	struct allocate_job *aj = allocate_of(job);
	int err = allocate_check(aj);

	if (err)
		fsc_job_fail(job, err, strerror(-err));
	else if (!aj->inode->has_data)
		fsc_inode_mark_has_data(aj->inode, &aj->waiter, allocate_marked);
	else
		allocate_go(aj);
}

void ddio_fs_allocate(struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg)
{
	struct allocate_job *aj = fsc_job_new(file->fs, sizeof(*aj), done, arg);

	if (!aj)
		return;
	aj->inode = file->inode;
	aj->mode = mode;
	aj->from = offset;
	aj->to = offset + len;
	fsc_guard(&aj->job, aj->inode, allocate_run);
}
