// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files: opening, making, closing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/data/cut.h"
#include "cp/fs/data/file.h"
#include "cp/fs/inode/open.h"
#include "cp/fs/inode/size.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/call.h"

/**
 * struct open_job - opening a file, perhaps making it
 * @file: the file; @result: where it is given to the caller
 * @made: it did not exist
 * @opening: also has the result of a file that was made
 * @ask, @payload: FS_MAKE
 */
struct open_job {
	struct fsc_job job;
	struct ddio_fs_file *file, **result;
	struct fsc_inode *inode;
	int flags;
	bool made;
	struct fsc_opening opening;
	struct fsc_cut cut;
	struct fsc_waiter waiter;
	struct fsc_sizer sizer;
	struct fsc_ask ask;
	uint64_t ino;
	uint8_t payload[];
};

static struct open_job *open_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct open_job, job);
}

static void open_failed(struct open_job *oj)
{
	struct fsc_error error = oj->opening.error;
	struct ddio_fs_reply reply = { 0 };

	if (oj->file)
		ddio_list_del(&oj->file->link);
	free(oj->file);
	fsc_job_end(&oj->job, &error, &reply);
}

/* On the inode's reactor. */
static void open_end(struct open_job *oj)
{
	struct ddio_fs_reply reply = { .attr = &oj->opening.attr, .value = oj->made };
	struct fsc_error none = { 0 };

	oj->file->losses = oj->inode->losses;
	oj->file->refusals = oj->inode->refusals;
	*oj->result = oj->file;
	fsc_job_end(&oj->job, &none, &reply);
}

static void open_undo(struct fsc_job *job)
{
	struct open_job *oj = open_of(job);

	fsc_release_quietly(oj->inode);
	open_failed(oj);
}

static void open_cut(struct fsc_cut *cut)
{
	struct open_job *oj = ddio_container_of(cut, struct open_job, cut);

	oj->opening.error = cut->error;
	oj->opening.attr = cut->attr;
	if (cut->error.err)
		fsc_job_go(&oj->job, oj->inode->r, &oj->job.fs->reactor[0], open_undo);
	else
		open_end(oj);
}

static void open_sized(struct fsc_sizer *sizer)
{
	struct open_job *oj = ddio_container_of(sizer, struct open_job, sizer);

	/* What came with the opening is only older. */
	if (!sizer->error.err)
		oj->opening.attr = sizer->attr;
	fsc_error_free(&sizer->error);
	open_end(oj);
}

static void open_flushed(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct open_job *oj = ddio_container_of(waiter, struct open_job, waiter);

	(void)error;
	fsc_size_ask(&oj->sizer, oj->inode, open_sized);
}

static void open_there(struct fsc_job *job)
{
	struct open_job *oj = open_of(job);

	fsc_inode_opened(oj->inode, oj->opening.flags, &oj->opening.attr);
	if (!(oj->flags & O_TRUNC) || oj->made) {
		/* Writes through other open files, of which the name server has not been told, must show. */
		oj->waiter.fn = open_flushed;
		if (fsc_inode_dirty(oj->inode))
			fsc_inode_flush(oj->inode, &oj->waiter);
		else
			open_end(oj);
		return;
	}
	fsc_cut_to(&oj->cut, oj->inode, 0, open_cut);
}

/* What the caller came to by a name is open, but the name is another file's, or nobody's. */
static void open_nameless(struct open_job *oj)
{
	fsc_error_set(&oj->opening.error, -ESTALE, "the file was removed");
	fsc_release_quietly(oj->inode);
	open_failed(oj);
}

static void open_done(struct fsc_opening *opening)
{
	struct open_job *oj = ddio_container_of(opening, struct open_job, opening);

	if (opening->error.err) {
		fsc_inode_put(oj->inode);
		open_failed(oj);
		return;
	}
	if (oj->flags & DDIO_FS_NAMED && !opening->attr.nlink) {
		open_nameless(oj);
		return;
	}
	oj->file->inode = oj->inode;
	ddio_list_add(&oj->file->link, &oj->job.fs->files);
	fsc_job_go(&oj->job, &oj->job.fs->reactor[0], oj->inode->r, open_there);
}

static void open_begin(struct open_job *oj, uint64_t ino)
{
	oj->inode = fsc_inode_get(oj->job.fs, ino);
	if (!oj->inode) {
		fsc_error_set(&oj->opening.error, -ENOMEM, "out of memory");
		open_failed(oj);
		return;
	}
	oj->opening.inode = oj->inode;
	oj->opening.done = open_done;
	fsc_open(&oj->opening);
}

static void open_run(struct fsc_job *job)
{
	struct open_job *oj = open_of(job);

	if (oj->opening.error.err)
		open_failed(oj);
	else
		open_begin(oj, oj->ino);
}

/* Numbers an open file for the read-ahead of all mounts. */
static uint64_t reader_next(struct ddio_fs *fs)
{
	uint32_t mount, n = (atomic_fetch_add_explicit(&fs->reader, 1, memory_order_relaxed) + 1) &
			    UINT32_MAX;

	memcpy(&mount, fs->names->mount, sizeof(mount));
	return (uint64_t)mount << 32 | n;
}

/* Allocates the file, too, so that the name server opens nothing for a failure. */
static struct open_job *open_new(struct ddio_fs *fs, int flags, size_t room,
				 struct ddio_fs_file **file, ddio_fs_done done, void *arg)
{
	struct open_job *oj = fsc_job_new(fs, sizeof(*oj) + room, done, arg);

	if (!oj)
		return NULL;
	oj->result = file;
	oj->flags = flags;
	oj->file = calloc(1, sizeof(*oj->file));
	if (!oj->file) {
		fsc_error_set(&oj->opening.error, -ENOMEM, "out of memory");
		return oj;
	}
	oj->file->fs = fs;
	ddio_list_init(&oj->file->link);
	oj->file->flags = flags & ~DDIO_FS_NAMED;
	oj->file->reader = reader_next(fs);
	return oj;
}

void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg)
{
	struct open_job *oj = open_new(fs, flags, 0, file, done, arg);

	if (!oj)
		return;
	oj->ino = ino;
	fsc_job_post(&oj->job, &fs->reactor[0], open_run);
}

/*
 * Making
 */
static void create_opened(struct open_job *oj, struct ddio_msg_fs_opened *x)
{
	struct fsc_inode *inode = fsc_inode_get(oj->job.fs, x->attr.ino);
	int err = -ENOMEM;

	oj->ino = x->attr.ino;
	oj->made = x->flags & DDIO_FS_OPENED_MADE;
	oj->opening.flags = x->flags;
	oj->opening.attr = x->attr;
	if (inode && inode->releasing) {
		/* A release of ours is under way and may arrive after this: open once more, after it. */
		fsc_inode_put(inode);
		return;
	}
	if (inode) {
		inode->opens++;
		err = fsc_opened(inode, x);
	}
	if (err)
		fsc_opened_bad(&oj->ask.error, err);
	if (err && inode)
		fsc_release_quietly(inode);
	else
		oj->inode = inode;
}

static void create_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct open_job *oj = ddio_container_of(ask, struct open_job, ask);
	struct ddio_msg_fs_opened x;

	if (fsc_made(ask, reply, &x))
		return;
	create_opened(oj, &x);
	ddio_fs_opened_free(&x);
}

static void create_done(struct fsc_ask *ask)
{
	struct open_job *oj = ddio_container_of(ask, struct open_job, ask);

	if (ask->error.err) {
		oj->opening.error = ask->error;
		open_failed(oj);
	} else if (!oj->inode) {
		open_begin(oj, oj->ino);
	} else {
		open_done(&oj->opening);
	}
}

static void create_run(struct fsc_job *job)
{
	struct open_job *oj = open_of(job);

	if (oj->opening.error.err)
		open_failed(oj);
	else
		fsc_ask(&oj->ask);
}

void ddio_fs_file_create(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
			 const struct ddio_fs_new *make, struct ddio_fs_file **file,
			 ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_make x = { .flags = DDIO_FS_MAKE_OPEN };
	int err = fsc_make_set(&x, parent, name, make);
	ssize_t len = ddio_put_fs_make(NULL, 0, &x);
	struct open_job *oj = open_new(fs, flags, (size_t)len, file, done, arg);

	if (!oj)
		return;
	if (err)
		fsc_error_set(&oj->opening.error, err, strerror(-err));
	if (flags & O_EXCL)
		x.flags |= DDIO_FS_MAKE_EXCL;
	ddio_put_fs_make(oj->payload, (size_t)len, &x);
	fsc_ask_init(&oj->ask, &fs->reactor[0], DDIO_OP_FS_MAKE, oj->payload, (size_t)len,
		     create_done);
	oj->ask.numbered = true;
	oj->ask.about = parent;
	oj->ask.name = err ? 0 : fsc_ahead_name(parent, name);
	oj->ask.take = create_take;
	fsc_job_post(&oj->job, &fs->reactor[0], create_run);
}

/*
 * Closing; the name server is told of writes before
 */

/**
 * struct close_job - one ddio_fs_file_close() or ddio_fs_flush()
 */
struct close_job {
	struct fsc_job job;
	struct ddio_fs_file *file;
	struct fsc_inode *inode;
	struct fsc_waiter waiter;
	struct fsc_error error;
	struct fsc_release release;
};

static void close_end(struct close_job *cj)
{
	struct fsc_error error = cj->error;
	struct ddio_fs_reply reply = { 0 };

	fsc_job_end(&cj->job, &error, &reply);
}

static void close_released(struct fsc_release *release)
{
	struct close_job *cj = ddio_container_of(release, struct close_job, release);

	ddio_list_del(&cj->file->link);
	free(cj->file);
	close_end(cj);
}

static void close_release(struct fsc_job *job)
{
	struct close_job *cj = ddio_container_of(job, struct close_job, job);

	cj->release.inode = cj->inode;
	cj->release.done = close_released;
	fsc_release(&cj->release);
}

/* What the name server did not take is told once to each open file, by whichever comes first. */
static void close_error(struct close_job *cj, const struct fsc_error *error)
{
	fsc_error_set(&cj->error, error->err, error->text);
	if (!cj->error.err && cj->file->refusals != cj->inode->refusals)
		fsc_error_set(&cj->error, -EIO, FSC_REFUSED);
	cj->file->refusals = cj->inode->refusals;
}

static void close_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct close_job *cj = ddio_container_of(waiter, struct close_job, waiter);

	close_error(cj, error);
	fsc_job_go(&cj->job, cj->inode->r, &cj->job.fs->reactor[0], close_release);
}

static void flush_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct close_job *cj = ddio_container_of(waiter, struct close_job, waiter);

	close_error(cj, error);
	close_end(cj);
}

static void flush_run(struct fsc_job *job)
{
	struct close_job *cj = ddio_container_of(job, struct close_job, job);

	fsc_inode_flush(cj->inode, &cj->waiter);
}

static void flush_post(struct ddio_fs_file *file,
		       void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error),
		       ddio_fs_done done, void *arg)
{
	struct close_job *cj = fsc_job_new(file->fs, sizeof(*cj), done, arg);

	if (!cj)
		return;
	cj->file = file;
	cj->inode = file->inode;
	cj->waiter.fn = fn;
	fsc_job_post(&cj->job, cj->inode->r, flush_run);
}

void ddio_fs_flush(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	flush_post(file, flush_told, done, arg);
}

void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	flush_post(file, close_told, done, arg);
}
