/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs: one for each call of the public interface, from its thread to a reactor and to its end. */
#ifndef DDIO_CP_FS_JOB_H
#define DDIO_CP_FS_JOB_H

#include "cp/fs/core/core.h"
#include "cp/fs/core/error.h"

struct fsc_inode;

/**
 * struct fsc_job - one call of the public interface
 * @done, @arg: told how it ended
 * @run: the next step, on the reactor that it was posted to
 * @guarded, @then: an inode, and the step that it allows: see cp/fs/inode/guard.h
 */
struct fsc_job {
	struct ddio_post post;
	struct ddio_fs *fs;
	ddio_fs_done done;
	void *arg;
	void (*run)(struct fsc_job *job);
	struct fsc_inode *guarded;
	void (*then)(struct fsc_job *job);
};

/*
 * Allocates @size zeroed bytes that begin with a struct fsc_job, and holds the file system until the
 * job ends.  Returns NULL if there is no memory; @done has been told so then.
 */
void *fsc_job_new(struct ddio_fs *fs, size_t size, ddio_fs_done done, void *arg);
/* The same for the file system's own work, which reports its end to no one; ends in fsc_job_drop(). */
void *fsc_job_new_quiet(struct ddio_fs *fs, size_t size);
/* Has @run called on @r, later. */
void fsc_job_post(struct fsc_job *job, struct fsc_reactor *r, void (*run)(struct fsc_job *job));
/* Has @run called on @to: later, or at once if that is where the job is already. */
void fsc_job_go(struct fsc_job *job, struct fsc_reactor *from, struct fsc_reactor *to,
		void (*run)(struct fsc_job *job));
/* Tells how the job ended, and frees it and @error's text. */
void fsc_job_end(struct fsc_job *job, struct fsc_error *error, struct ddio_fs_reply *reply);
/* Ends the job with an errno and a text. */
void fsc_job_fail(struct fsc_job *job, int err, const char *text);
/* Frees the job without a word: someone else will tell how the call ended, or no one needs to know. */
void fsc_job_drop(struct fsc_job *job);

#endif /* DDIO_CP_FS_JOB_H */
