// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open inodes, as the name server counts them: once for each mount, however many files the mount has
 * open of them.  So the first opening and the last release matter; an opening that comes while a
 * release has no answer yet waits for that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/inode/locks.h"
#include "cp/fs/inode/open.h"
#include "cp/fs/inode/remove.h"
#include "cp/node/grants.h"

static bool record_same(const struct ddio_file_record *a, const struct ddio_file_record *b)
{
	return a->ref.id == b->ref.id && a->ref.seed == b->ref.seed &&
	       a->ref.block == b->ref.block && a->ref.layout == b->ref.layout &&
	       a->ndisks == b->ndisks && !memcmp(a->disks, b->disks, a->ndisks * sizeof(*a->disks));
}

/* Takes over how the file is spread: 0 or -errno. */
static int record_take(struct fsc_inode *inode, struct ddio_msg_fs_opened *x)
{
	uint64_t *holder;

	if (!(x->flags & DDIO_FS_OPENED_RECORD) || x->rec.ref.id != inode->ino || !x->rec.ndisks)
		return -EIO;
	inode->fixed |= !(x->flags & DDIO_FS_OPENED_BARE);
	if (inode->known && record_same(&inode->rec, &x->rec))
		return 0;
	/* Whoever moves data as the old record says must not see it change. */
	if (inode->known && inode->refs > 1)
		return -ESTALE;
	holder = calloc(x->rec.ndisks, sizeof(*holder));
	if (!holder)
		return -ENOMEM;
	free(inode->holder);
	ddio_file_record_free(&inode->rec);
	inode->holder = holder;
	inode->rec = x->rec;
	memset(&x->rec, 0, sizeof(x->rec));
	inode->known = true;
	return 0;
}

int fsc_opened(struct fsc_inode *inode, struct ddio_msg_fs_opened *x)
{
	int err = record_take(inode, x);

	/* Even if the record is of no use, the name server believes that the inode is open. */
	if (ddio_list_empty(&inode->open_link))
		ddio_list_add(&inode->open_link, &inode->fs->names->opens);
	if (!inode->granted)
		inode->granted = grant_hold(inode->fs->reactor[0].session, inode->ino);
	return err;
}

void fsc_opened_bad(struct fsc_error *error, int err)
{
	fsc_error_set(error, err, "unusable file record from the name server");
}

static void opening_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct fsc_opening *o = ddio_container_of(ask, struct fsc_opening, ask);
	struct ddio_msg_fs_opened x;
	int err = ddio_get_fs_opened(reply->payload, reply->len, &x);

	if (err) {
		fsc_ask_malformed(ask);
		return;
	}
	err = o->look ? record_take(o->inode, &x) : fsc_opened(o->inode, &x);
	if (err)
		fsc_opened_bad(&o->error, err);
	o->flags = x.flags;
	o->attr = x.attr;
	ddio_fs_opened_free(&x);
}

/* Takes back the count of a failed opening; if a release was put off for it, that is due now. */
static void opening_undo(struct fsc_inode *inode)
{
	if (inode->opens > 1 || ddio_list_empty(&inode->open_link)) {
		inode->opens--;
		return;
	}
	inode->refs++;
	fsc_release_quietly(inode);
}

static void opening_done(struct fsc_ask *ask)
{
	struct fsc_opening *o = ddio_container_of(ask, struct fsc_opening, ask);

	fsc_error_first(&o->error, &ask->error);
	fsc_error_free(&ask->error);
	if (o->error.err && !o->look)
		opening_undo(o->inode);
	o->done(o);
}

static void opening_send(struct fsc_opening *o)
{
	struct ddio_msg_fs_open msg = { .ino = o->inode->ino,
					.flags = o->look ? DDIO_FS_OPEN_LOOK : 0 };
	ssize_t len = ddio_put_fs_open(o->payload, sizeof(o->payload), &msg);

	o->inode->opens += !o->look;
	fsc_ask_init(&o->ask, &o->inode->fs->reactor[0], DDIO_OP_FS_OPEN, o->payload, (size_t)len,
		     opening_done);
	o->ask.take = opening_take;
	fsc_ask(&o->ask);
}

void fsc_open(struct fsc_opening *o)
{
	memset(&o->error, 0, sizeof(o->error));
	ddio_list_init(&o->link);
	if (o->inode->releasing && !o->look)
		ddio_list_add(&o->link, &o->inode->reopen);
	else
		opening_send(o);
}

/*
 * Releasing
 */
static void release_take(struct fsc_ask *ask, const struct reply *reply)
{
	fsc_remove_listed(ask, reply);
}

static void release_end(struct fsc_release *release)
{
	struct fsc_inode *inode = release->inode;

	fsc_error_free(&release->ask.error);
	release->done(release);
	fsc_inode_put(inode);
}

static void release_done(struct fsc_ask *ask)
{
	struct fsc_release *release = ddio_container_of(ask, struct fsc_release, ask);
	struct fsc_inode *inode = release->inode;
	struct ddio_list reopen;
	struct fsc_opening *o;

	inode->releasing = false;
	ddio_list_init(&reopen);
	ddio_list_splice(&inode->reopen, &reopen);
	while (!ddio_list_empty(&reopen)) {
		o = ddio_list_first(&reopen, struct fsc_opening, link);
		ddio_list_del(&o->link);
		opening_send(o);
	}
	release_end(release);
}

void fsc_release(struct fsc_release *release)
{
	struct fsc_inode *inode = release->inode;
	struct ddio_msg_fs_ino msg = { .ino = inode->ino };
	ssize_t len = ddio_put_fs_ino(release->payload, sizeof(release->payload), &msg);

	fsc_ask_init(&release->ask, &inode->fs->reactor[0], DDIO_OP_FS_RELEASE, release->payload,
		     (size_t)len, release_done);
	release->ask.take = release_take;
	if (--inode->opens) {
		release_end(release);
		return;
	}
	inode->releasing = true;
	atomic_fetch_add(&inode->releases, 1);
	ddio_list_del(&inode->open_link);
	if (inode->granted)
		grant_drop(inode->fs->reactor[0].session, inode->ino);
	inode->granted = false;
	fsc_locks_drop(inode);
	fsc_ask(&release->ask);
}

static void quietly_done(struct fsc_release *release)
{
	struct ddio_fs *fs = release->inode->fs;

	free(release);
	fsc_unhold(fs);
}

void fsc_release_quietly(struct fsc_inode *inode)
{
	struct fsc_release *release = calloc(1, sizeof(*release));

	/* Without memory the inode stays open at the name server until this file system ends. */
	if (!release) {
		inode->opens--;
		fsc_inode_put(inode);
		return;
	}
	fsc_hold(inode->fs);
	release->inode = inode;
	release->done = quietly_done;
	fsc_release(release);
}
