// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing to an open file.  A write inside the file's end goes by a size that was learnt earlier, and another
 * mount may have cut the file since.  So the name server is asked while the bytes are on their way, or says so
 * when it is told of the write; if the end is before them now, they are written once more, since the cut may have
 * taken them, and told as any write beyond the end.
 *
 * An append is given its place first, and the file has become longer then.  If its bytes cannot be written, and
 * nothing has been put after them, the file is cut back to where it ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/cut.h"
#include "cp/fs/data/file.h"
#include "cp/fs/data/sync.h"
#include "cp/fs/disks/io.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/right.h"
#include "cp/fs/inode/size.h"

/* How often the lease is asked for before an append is given a place by the name server. */
enum { TAKE_TRIES = 8 };
/* How often a place is asked for while another mount takes back the file's end: half a minute. */
enum { APPEND_TRIES = 36 };

/**
 * struct write_job - one ddio_fs_write()
 * @left: what is under way
 * @inside: it ends inside the file, as far as is known
 * @leased: it is under way under the lease; @takes: how often that was asked for; @lease: waiting for it, or for the
 *	append before this one
 * @retry: O_APPEND: the rest before a place is asked for once more
 * @ask, @place: O_APPEND: the name server says where; @placed: it has
 */
struct write_job {
	struct fsc_job job;
	struct ddio_fs_file *file;
	struct fsc_inode *inode;
	struct fsc_io io;
	struct fsc_sizer sizer;
	uint32_t left;
	bool inside, placed, leased;
	uint32_t takes;
	struct fsc_lease_wait lease;
	struct fsc_retry retry;
	uint64_t len;
	struct fsc_error error;
	struct fsc_waiter waiter;
	struct fsc_ask ask;
	struct ddio_msg_fs_place place;
	uint8_t payload[FSC_SEQ_LEN + 16];
};

static void write_go(struct write_job *wj);

/* The next append has its turn. */
static void append_next(struct fsc_inode *inode)
{
	struct fsc_lease_wait *wait;

	inode->lease.appending = false;
	if (ddio_list_empty(&inode->lease.appends))
		return;
	wait = ddio_list_first(&inode->lease.appends, struct fsc_lease_wait, link);
	ddio_list_del(&wait->link);
	write_go(ddio_container_of(wait, struct write_job, lease));
}

/* What was begun under the lease is over. */
static void lease_leave(struct write_job *wj)
{
	bool append = wj->file->flags & O_APPEND;

	if (!wj->leased)
		return;
	wj->leased = false;
	/* The lease stays while the next append begins. */
	if (append)
		append_next(wj->inode);
	fsc_lease_over(wj->inode);
}

static void write_end(struct write_job *wj)
{
	struct ddio_fs_reply reply = { .value = wj->error.err ? 0 : wj->len };
	struct sync_job *expected;

	lease_leave(wj);
	expected = reply.value ? fsc_sync_expect(wj->inode) : NULL;
	/* The nodes expect it as well: their disks are at work while the caller hears of the write. */
	fsc_job_end(&wj->job, &wj->error, &reply);
	if (expected)
		fsc_sync_expected(expected);
}

static void write_move(struct write_job *wj, uint64_t at);

/* The name server's answer shows the size, too: a write that was told at once did not ask for that before. */
static void write_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct write_job *wj = ddio_container_of(waiter, struct write_job, waiter);

	fsc_error_set(&wj->error, error->err, error->text);
	if (!wj->error.err && wj->inside && wj->io.end > wj->inode->size)
		write_move(wj, wj->io.end - wj->len);
	else
		write_end(wj);
}

/**
 * struct undo - cutting off what a failed append was given
 */
struct undo {
	struct write_job *wj;
	struct fsc_right *right;
	struct fsc_cut cut;
};

static void undo_end(struct undo *undo)
{
	struct write_job *wj = undo->wj;

	fsc_right_drop(undo->right);
	fsc_error_free(&undo->cut.error);
	free(undo);
	write_end(wj);
}

static void undo_cut(struct fsc_cut *cut)
{
	undo_end(ddio_container_of(cut, struct undo, cut));
}

static void undo_alone(struct fsc_right *right)
{
	struct undo *undo = right->arg;
	struct write_job *wj = undo->wj;

	undo->right = right;
	if (right->error.err || right->sizer.attr.size != wj->io.end) {
		undo_end(undo);
		return;
	}
	fsc_cut_to(&undo->cut, wj->inode, wj->io.at, undo_cut);
}

static void append_undo(struct write_job *wj)
{
	struct undo *undo = calloc(1, sizeof(*undo));

	if (undo)
		undo->wj = wj;
	if (!undo || fsc_right_take(wj->inode, undo_alone, undo)) {
		free(undo);
		write_end(wj);
	}
}

/* Another mount may have come between: the bytes are written once more, and told. */
static void write_redo(struct write_job *wj)
{
	wj->inode->tail = true;
	lease_leave(wj);
	write_go(wj);
}

static void write_put(struct write_job *wj)
{
	struct fsc_inode *inode = wj->inode;
	bool behind = wj->io.end > inode->size;

	if (--wj->left)
		return;
	if (wj->leased && !wj->error.err && !fsc_lease_kept(inode)) {
		write_redo(wj);
		return;
	}
	if (wj->leased && !wj->error.err && !inode->fs->prompt && !(behind && wj->inside)) {
		fsc_lease_wrote(inode, wj->io.end - wj->len, wj->io.end);
		write_end(wj);
		return;
	}
	wj->waiter.fn = write_told;
	wj->waiter.whole = true;
	wj->waiter.from = wj->io.end - wj->len;
	if (wj->error.err) {
		inode->tail |= behind;
		inode->sparse = true;
		if (wj->placed)
			append_undo(wj);
		else
			write_end(wj);
	} else if (behind && wj->inside) {
		write_move(wj, wj->io.end - wj->len);
	} else if (behind) {
		wj->waiter.end = wj->io.end;
		wj->waiter.flags = DDIO_FS_WROTE_TIMES;
		fsc_inode_tell(inode, &wj->waiter);
	} else {
		fsc_inode_wrote(inode, &wj->waiter);
	}
}

static void write_moved(struct fsc_io *io)
{
	struct write_job *wj = ddio_container_of(io, struct write_job, io);

	fsc_error_first(&wj->error, &io->set.error);
	fsc_set_free(&io->set);
	write_put(wj);
}

static void write_sized(struct fsc_sizer *sizer)
{
	struct write_job *wj = ddio_container_of(sizer, struct write_job, sizer);

	fsc_error_first(&wj->error, &sizer->error);
	fsc_error_free(&sizer->error);
	write_put(wj);
}

static void write_move(struct write_job *wj, uint64_t at)
{
	bool ask;

	wj->inside = at + wj->len <= wj->inode->size;
	ask = wj->inside && !wj->inode->fs->prompt && !wj->leased;
	wj->left = 1 + ask;
	if (ask)
		fsc_size_ask(&wj->sizer, wj->inode, write_sized);
	wj->io.rec = &wj->inode->rec;
	wj->io.holder = wj->inode->holder;
	wj->io.writing = true;
	wj->io.at = at;
	wj->io.end = at + wj->len;
	wj->io.done = write_moved;
	fsc_io_begin(&wj->io, wj->inode->r);
}

static void append_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct write_job *wj = ddio_container_of(ask, struct write_job, ask);

	if (ddio_get_fs_place(reply->payload, reply->len, &wj->place) ||
	    wj->place.offset > DDIO_MAX_FILE - wj->len)
		fsc_ask_malformed(ask);
}

static void append_again(struct fsc_retry *retry)
{
	write_go(ddio_container_of(retry, struct write_job, retry));
}

/* True if another mount takes back the file's end: the place is asked for once more, later. */
static bool append_put_off(struct write_job *wj)
{
	struct ddio_fs *fs = wj->inode->fs;

	if (wj->ask.error.err != -EAGAIN || fsc_closing(fs) ||
	    (!fs->hard && wj->retry.tries > APPEND_TRIES))
		return false;
	fsc_error_free(&wj->ask.error);
	fsc_retry_later(wj->inode->r, &wj->retry, append_again);
	return true;
}

static void append_placed(struct fsc_ask *ask)
{
	struct write_job *wj = ddio_container_of(ask, struct write_job, ask);

	if (append_put_off(wj))
		return;
	fsc_error_first(&wj->error, &ask->error);
	fsc_error_free(&ask->error);
	if (wj->error.err) {
		write_end(wj);
		return;
	}
	fsc_inode_learn(wj->inode, &wj->place.attr, 0);
	wj->placed = true;
	write_move(wj, wj->place.offset);
}

static void append_flushed(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct write_job *wj = ddio_container_of(waiter, struct write_job, waiter);
	struct ddio_msg_fs_append msg = { .ino = wj->inode->ino, .len = wj->len };
	ssize_t len = ddio_put_fs_append(wj->payload, sizeof(wj->payload), &msg);

	(void)error;
	fsc_ask_init(&wj->ask, wj->inode->r, DDIO_OP_FS_APPEND, wj->payload, (size_t)len,
		     append_placed);
	wj->ask.numbered = true;
	wj->ask.take = append_take;
	fsc_ask(&wj->ask);
}

/* The name server gives the place; before, it must know what was written under a lease that is no more. */
static void append_place(struct write_job *wj)
{
	wj->waiter.fn = append_flushed;
	fsc_inode_flush(wj->inode, &wj->waiter);
}

static void write_leased(struct write_job *wj)
{
	struct fsc_inode *inode = wj->inode;
	bool append = wj->file->flags & O_APPEND;

	if (append && inode->lease.appending) {
		ddio_list_add(&wj->lease.link, &inode->lease.appends);
		return;
	}
	if (append && inode->size > DDIO_MAX_FILE - wj->len) {
		fsc_error_set(&wj->error, -EFBIG, "the file would be too large");
		write_end(wj);
		return;
	}
	inode->lease.appending |= append;
	wj->leased = true;
	fsc_lease_begin(inode);
	write_move(wj, append ? inode->size : wj->io.end - wj->len);
}

static void append_lease(struct fsc_lease_wait *wait)
{
	struct write_job *wj = ddio_container_of(wait, struct write_job, lease);

	if (fsc_lease_usable(wj->inode))
		write_leased(wj);
	else
		append_place(wj);
}

static void write_go(struct write_job *wj)
{
	struct fsc_inode *inode = wj->inode;

	if (fsc_lease_usable(inode)) {
		write_leased(wj);
	} else if (!(wj->file->flags & O_APPEND)) {
		fsc_lease_hint(inode);
		write_move(wj, wj->io.end - wj->len);
	} else if (atomic_load(&inode->fs->leasing) && wj->takes++ < TAKE_TRIES) {
		wj->lease.fn = append_lease;
		fsc_lease_take(inode, &wj->lease);
	} else {
		append_place(wj);
	}
}

static void write_marked(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct write_job *wj = ddio_container_of(waiter, struct write_job, waiter);

	if (error->err) {
		fsc_error_set(&wj->error, error->err, error->text);
		write_end(wj);
		return;
	}
	wj->inode->has_data = true;
	write_go(wj);
}

static void write_run(struct fsc_job *job)
{
	struct write_job *wj = ddio_container_of(job, struct write_job, job);

	if (fsc_inode_gone(wj->inode))
		fsc_job_fail(job, -ESTALE, "the file was removed");
	else if (!wj->len)
		write_end(wj);
	else if (!wj->inode->has_data)
		fsc_inode_mark_has_data(wj->inode, &wj->waiter, write_marked);
	else
		write_go(wj);
}

static void write_too_large(struct fsc_job *job)
{
	fsc_job_fail(job, -EFBIG, "the file would be too large");
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
	wj->io.end = offset + len;
	wj->len = len;
	fsc_guard(&wj->job, wj->inode, far ? write_too_large : write_run);
}
