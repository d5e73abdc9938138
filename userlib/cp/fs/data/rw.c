// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading and writing an open file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include "cp/fs/disks/set.h"

/*
 * Reading.  The size that is known will do inside of it, for a while.  Where a read meets the end the name
 * space is asked while the bytes are read, and those that have come behind it are read then.
 */
struct read_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct fsc_io io;
	uint8_t *buf;
	uint64_t at, end; /* what was asked for */
	uint64_t have;	  /* what is read, or being read */
	uint32_t left;
	bool asked;
	struct fsc_error error;
	struct fsc_sizer sizer;
};

static void read_put(struct read_job *rj);

static void read_end(struct read_job *rj)
{
	struct ddio_fs_reply reply = { 0 };

	/* Somebody has cut it meanwhile. */
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

/* What is there of it, from where it has got to. */
static void read_more(struct read_job *rj)
{
	uint64_t end = rj->end < rj->inode->size ? rj->end : rj->inode->size;

	if (end <= rj->have)
		return;
	rj->io.inode = rj->inode;
	rj->io.buf = rj->buf + (rj->have - rj->at);
	rj->io.at = rj->have;
	rj->io.end = end;
	rj->io.done = read_moved;
	rj->have = end;
	rj->left++;
	fsc_io_begin(&rj->io);
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
		fsc_job_fail(job, -ESTALE, "the file is gone");
		return;
	}
	rj->have = rj->at;
	rj->left = 1;
	if (now - inode->asked > FSC_LAZY_NS) {
		rj->asked = true;
		fsc_size_ask(&rj->sizer, inode, read_sized_first);
		return;
	}
	if (rj->end > inode->size) {
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
	rj->io.stream = file->stream;
	rj->buf = buf;
	rj->at = offset < DDIO_MAX_FILE ? offset : DDIO_MAX_FILE;
	rj->end = len > DDIO_MAX_FILE - rj->at ? DDIO_MAX_FILE : rj->at + len;
	fsc_job_post(&rj->job, rj->inode->r, read_run);
}

/*
 * Writing
 */
struct write_job {
	struct fsc_job job;
	struct ddio_fs_file *file;
	struct fsc_inode *inode;
	struct fsc_io io;
	uint64_t len;
	struct fsc_error error;
	struct fsc_waiter waiter;
	struct fsc_ask ask;
	struct ddio_msg_fs_place place;
	uint8_t payload[FSC_SEQ_LEN + 16];
};

static void write_end(struct write_job *wj)
{
	struct ddio_fs_reply reply = { .value = wj->error.err ? 0 : wj->len };

	fsc_job_end(&wj->job, &wj->error, &reply);
}

static void write_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct write_job *wj = ddio_container_of(waiter, struct write_job, waiter);

	fsc_error_set(&wj->error, error->err, error->text);
	write_end(wj);
}

static void write_moved(struct fsc_io *io)
{
	struct write_job *wj = ddio_container_of(io, struct write_job, io);
	struct fsc_inode *inode = wj->inode;

	fsc_error_first(&wj->error, &io->set.error);
	fsc_set_free(&io->set);
	if (wj->error.err) {
		inode->tail |= io->end > inode->size;
		write_end(wj);
	} else if (io->end > inode->size) {
		wj->waiter.end = io->end;
		wj->waiter.flags = DDIO_FS_WROTE_TIMES;
		wj->waiter.fn = write_told;
		fsc_inode_tell(inode, &wj->waiter);
	} else {
		fsc_inode_wrote(inode, io->end);
		write_end(wj);
	}
}

static void write_move(struct write_job *wj, uint64_t at)
{
	wj->io.inode = wj->inode;
	wj->io.writing = true;
	wj->io.at = at;
	wj->io.end = at + wj->len;
	wj->io.done = write_moved;
	fsc_io_begin(&wj->io);
}

static void append_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct write_job *wj = ddio_container_of(ask, struct write_job, ask);

	if (ddio_get_fs_place(reply->payload, reply->len, &wj->place) ||
	    wj->place.offset > DDIO_MAX_FILE - wj->len)
		fsc_error_set(&ask->error, -EIO, "the name space sent what makes no sense");
}

static void append_placed(struct fsc_ask *ask)
{
	struct write_job *wj = ddio_container_of(ask, struct write_job, ask);

	fsc_error_first(&wj->error, &ask->error);
	fsc_error_free(&ask->error);
	if (wj->error.err) {
		write_end(wj);
		return;
	}
	fsc_inode_learn(wj->inode, &wj->place.attr);
	write_move(wj, wj->place.offset);
}

static void write_go(struct write_job *wj)
{
	struct ddio_msg_fs_append msg = { .ino = wj->inode->ino, .len = wj->len };
	ssize_t len;

	if (!(wj->file->flags & O_APPEND)) {
		write_move(wj, wj->io.at);
		return;
	}
	len = ddio_put_fs_append(wj->payload, sizeof(wj->payload), &msg);
	fsc_ask_init(&wj->ask, wj->inode->r, DDIO_OP_FS_APPEND, wj->payload, (size_t)len,
		     append_placed);
	wj->ask.numbered = true;
	wj->ask.take = append_take;
	fsc_ask(&wj->ask);
}

static void write_clad(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct write_job *wj = ddio_container_of(waiter, struct write_job, waiter);

	if (error->err) {
		fsc_error_set(&wj->error, error->err, error->text);
		write_end(wj);
		return;
	}
	wj->inode->bare = false;
	write_go(wj);
}

static void write_run(struct fsc_job *job)
{
	struct write_job *wj = ddio_container_of(job, struct write_job, job);

	if (fsc_inode_gone(wj->inode))
		fsc_job_fail(job, -ESTALE, "the file is gone");
	else if (!wj->len)
		write_end(wj);
	else if (wj->inode->bare)
		fsc_inode_clothe(wj->inode, &wj->waiter, write_clad);
	else
		write_go(wj);
}

static void write_too_far(struct fsc_job *job)
{
	fsc_job_fail(job, -EFBIG, "beyond the largest file");
}

void ddio_fs_write(struct ddio_fs_file *file, const void *buf, size_t len, uint64_t offset,
		   ddio_fs_done done, void *arg)
{
	struct write_job *wj = fsc_job_new(file->fs, sizeof(*wj), done, arg);
	bool far = len > DDIO_MAX_FILE;

	if (!wj)
		return;
	if (!(file->flags & O_APPEND))
		far |= offset > DDIO_MAX_FILE - len;
	wj->file = file;
	wj->inode = file->inode;
	wj->io.buf = (uint8_t *)buf;
	wj->io.at = offset;
	wj->len = len;
	fsc_job_post(&wj->job, wj->inode->r, far ? write_too_far : write_run);
}
