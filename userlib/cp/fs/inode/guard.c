// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/size.h"

/**
 * struct guard - a job that waits for the name server's answer
 */
struct guard {
	struct fsc_job *job;
	struct fsc_sizer sizer;
};

/* Goes on, or ends with an error. */
static void guard_end(struct fsc_job *job, const struct fsc_error *asked)
{
	struct fsc_error error = *asked;
	struct ddio_fs_reply reply = { 0 };

	if (!error.err && fsc_guard_lost(job->guarded))
		fsc_error_set(&error, -EIO, FSC_LOCK_LOST);
	if (error.err)
		fsc_job_end(job, &error, &reply);
	else
		job->then(job);
}

static void guard_answered(struct fsc_sizer *sizer)
{
	struct guard *g = ddio_container_of(sizer, struct guard, sizer);

	guard_end(g->job, &sizer->error);
	free(g);
}

bool fsc_guard_sure(const struct fsc_inode *inode)
{
	struct ddio_fs *fs = inode->fs;
	uint64_t now, heard;

	if (fsc_guard_lost(inode))
		return false;
	if (!atomic_load(&inode->nlocks) || fsc_inode_gone(inode))
		return true;
	now = ddio_env_now(inode->r->env);
	heard = atomic_load(&fs->heard);
	/* Another reactor's clock may be a moment ahead. */
	return !atomic_load(&fs->mute) &&
	       (now < heard || now - heard < atomic_load(&fs->names_timeout_ns) / 4 * 3);
}

static void guard_run(struct fsc_job *job)
{
	struct fsc_inode *inode = job->guarded;
	const struct fsc_error none = { 0 };
	struct guard *g;

	if (fsc_guard_lost(inode) || fsc_guard_sure(inode)) {
		guard_end(job, &none);
		return;
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		fsc_job_fail(job, -ENOMEM, "out of memory");
		return;
	}
	g->job = job;
	fsc_size_ask(&g->sizer, inode, guard_answered);
}

void fsc_guard(struct fsc_job *job, struct fsc_inode *inode, void (*run)(struct fsc_job *job))
{
	job->guarded = inode;
	job->then = run;
	fsc_job_post(job, inode->r, guard_run);
}
