// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Telling the name server of writes.  One request is under way for an inode at a time; what comes
 * meanwhile goes together with the next.
 */
#include <errno.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/inode/inode.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/size.h"
#include "cp/fs/inode/wrote.h"

static void dirty_set(struct fsc_inode *inode, bool dirty)
{
	atomic_store_explicit(&inode->dirty, dirty, memory_order_release);
}

static void tell_begin(struct fsc_inode *inode);

static void tell_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct fsc_tell *tell = ddio_container_of(ask, struct fsc_tell, ask);
	struct fsc_inode *inode = ddio_container_of(tell, struct fsc_inode, tell);
	struct ddio_msg_fs_attr x;

	tell->replied = reply->len && !ddio_get_fs_attr(reply->payload, reply->len, &x);
	if (tell->replied)
		tell->attr = x.attr;
	tell->synced = fsc_ask_synced(ask);
	tell->lost = tell->synced && fsc_ask_lost(ask, inode->ino, NULL);
}

static void tell_done(struct fsc_ask *ask)
{
	struct fsc_tell *tell = ddio_container_of(ask, struct fsc_tell, ask);
	struct fsc_inode *inode = ddio_container_of(tell, struct fsc_inode, tell);
	const struct ddio_fs_attr attr = tell->attr;
	struct fsc_error error = ask->error;
	bool replied = !error.err && tell->replied, synced = !error.err && tell->synced;
	struct ddio_list riding;
	struct fsc_waiter *waiter;

	memset(&ask->error, 0, sizeof(ask->error));
	atomic_fetch_sub(&inode->fs->tells, 1);
	if (tell->leased)
		fsc_lease_told(inode, tell->pend, error.err);
	if (tell->leased && synced)
		fsc_lease_durable(inode, tell->lease, &tell->mtime);
	if (replied)
		fsc_inode_learn(inode, &attr, ask->meta);
	/* Each open file has yet to hear of it. */
	if (tell->lost)
		inode->losses++;
	if (error.err)
		inode->sparse = true;
	if (error.err == -ENOENT || error.err == -ESTALE)
		fsc_inode_set_gone(inode, true);
	ddio_list_init(&riding);
	ddio_list_splice(&tell->riding, &riding);
	tell->busy = false;
	/* The inode may be gone with the last waiter: nothing may touch it after them. */
	if (!ddio_list_empty(&tell->queued))
		tell_begin(inode);
	while (!ddio_list_empty(&riding)) {
		waiter = ddio_list_first(&riding, struct fsc_waiter, link);
		ddio_list_del(&waiter->link);
		waiter->attr = replied && !waiter->late ? &attr : NULL;
		waiter->sync = waiter->sync && synced && !waiter->late;
		waiter->fn(waiter, &error);
	}
	fsc_error_free(&error);
}

static uint64_t block_end(const struct fsc_inode *inode, uint64_t at)
{
	uint64_t block = inode->rec.ref.block;

	return block && at % block ? at + block - at % block : at;
}

/* Returns how far the file reaches without a gap behind the end that is known, by what was written. */
static uint64_t tell_reach(const struct fsc_inode *inode)
{
	const struct fsc_waiter *waiter;
	uint64_t reach = inode->size, before;

	do {
		before = reach;
		ddio_list_for_each_entry(waiter, &inode->tell.queued, link)
			if (waiter->end > reach && waiter->from <= block_end(inode, reach))
				reach = waiter->end;
	} while (reach > before);
	return reach;
}

/* Returns true if a file that had no holes when the name server said inode->change has none now. */
static bool tell_whole(const struct fsc_inode *inode)
{
	uint64_t reach = tell_reach(inode);
	const struct fsc_waiter *waiter;

	ddio_list_for_each_entry(waiter, &inode->tell.queued, link)
		if (!waiter->whole || waiter->end > reach)
			return false;
	return !inode->sparse && !inode->tail;
}

static void tell_begin(struct fsc_inode *inode)
{
	struct fsc_tell *tell = &inode->tell;
	struct ddio_msg_fs_wrote msg = { .ino = inode->ino };
	struct fsc_waiter *waiter;
	ssize_t len;

	msg.base = tell_whole(inode) ? inode->change : 0;
	/* Nobody else is to wait until it is durable. */
	msg.sync = true;
	inode->sparse = false;
	ddio_list_for_each_entry(waiter, &tell->queued, link) {
		msg.flags |= waiter->flags;
		msg.sync = msg.sync && waiter->sync;
		if (waiter->end > msg.end)
			msg.end = waiter->end;
	}
	ddio_list_splice(&tell->queued, &tell->riding);
	tell->pend = inode->lease.pend;
	tell->leased = fsc_lease_tell(inode, &msg);
	tell->lease = msg.lease;
	tell->mtime = msg.mtime;
	if (inode->dirty)
		msg.flags |= DDIO_FS_WROTE_TIMES;
	if (msg.flags & DDIO_FS_WROTE_TIMES) {
		dirty_set(inode, false);
		ddio_timer_cancel(inode->r->env, &inode->lazy);
		ddio_list_del(&inode->lazy_link);
	}
	tell->busy = true;
	atomic_fetch_add(&inode->fs->tells, 1);
	tell->replied = false;
	tell->synced = false;
	tell->lost = false;
	len = ddio_put_fs_wrote(tell->payload, sizeof(tell->payload), &msg);
	fsc_ask_init(&tell->ask, inode->r, DDIO_OP_FS_WROTE, tell->payload, (size_t)len, tell_done);
	tell->ask.take = tell_take;
	tell->ask.durable = msg.sync;
	fsc_ask(&tell->ask);
}

void fsc_inode_tell(struct fsc_inode *inode, struct fsc_waiter *waiter)
{
	if (waiter->end || !waiter->whole)
		fsc_lease_unsure(inode);
	ddio_list_add(&waiter->link, &inode->tell.queued);
	if (!inode->tell.busy)
		tell_begin(inode);
}

void fsc_inode_mark_has_data(struct fsc_inode *inode, struct fsc_waiter *waiter,
			     void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error))
{
	waiter->from = 0;
	waiter->end = 0;
	waiter->whole = true;
	waiter->flags = DDIO_FS_WROTE_DATA;
	waiter->fn = fn;
	fsc_inode_tell(inode, waiter);
}

void fsc_inode_flush(struct fsc_inode *inode, struct fsc_waiter *waiter)
{
	const struct fsc_error none = { 0 };

	waiter->from = 0;
	waiter->end = 0;
	waiter->flags = 0;
	waiter->whole = true;
	waiter->late = false;
	waiter->attr = NULL;
	if (waiter->sync && fsc_lease_known(inode) && !inode->tell.busy) {
		waiter->sync = false;
		waiter->fn(waiter, &none);
	} else if (inode->dirty) {
		waiter->flags = DDIO_FS_WROTE_TIMES;
		fsc_inode_tell(inode, waiter);
	} else if (!ddio_list_empty(&inode->tell.queued)) {
		ddio_list_add(&waiter->link, &inode->tell.queued);
	} else if (inode->tell.busy) {
		waiter->late = true;
		ddio_list_add(&waiter->link, &inode->tell.riding);
	} else {
		waiter->sync = false;
		waiter->fn(waiter, &none);
	}
}

/*
 * Later
 */
struct lazy_job {
	struct fsc_job job;
	struct fsc_waiter waiter;
};

static void lazy_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct lazy_job *l = ddio_container_of(waiter, struct lazy_job, waiter);

	(void)error;
	fsc_job_drop(&l->job);
}

static void lazy_due(void *arg)
{
	struct fsc_inode *inode = arg;
	struct lazy_job *l;

	ddio_list_del(&inode->lazy_link);
	if (!inode->dirty)
		return;
	/* Without memory it stays dirty, and is told with the next flush. */
	l = fsc_job_new_quiet(inode->fs, sizeof(*l));
	if (!l)
		return;
	l->waiter.fn = lazy_told;
	fsc_inode_flush(inode, &l->waiter);
}

static void dirty_begin(struct fsc_inode *inode)
{
	if (inode->dirty)
		return;
	dirty_set(inode, true);
	inode->lazy.fn = lazy_due;
	inode->lazy.arg = inode;
	if (!ddio_timer_arm(inode->r->env, &inode->lazy, ddio_env_now(inode->r->env) + FSC_LAZY_NS))
		ddio_list_add(&inode->lazy_link, &inode->r->lazy);
}

void fsc_inode_wrote(struct fsc_inode *inode, struct fsc_waiter *waiter)
{
	const struct fsc_error none = { 0 };

	fsc_lease_unsure(inode);
	if (inode->fs->prompt) {
		waiter->end = 0;
		waiter->flags = DDIO_FS_WROTE_TIMES;
		fsc_inode_tell(inode, waiter);
		return;
	}
	if (!waiter->whole)
		inode->sparse = true;
	dirty_begin(inode);
	fsc_lease_touch(inode);
	waiter->fn(waiter, &none);
}

void fsc_inode_later(struct fsc_inode *inode)
{
	dirty_begin(inode);
}

void fsc_inodes_hurry(struct fsc_reactor *r)
{
	struct ddio_list lazy;
	struct fsc_inode *inode;

	ddio_list_init(&lazy);
	ddio_list_splice(&r->lazy, &lazy);
	while (!ddio_list_empty(&lazy)) {
		inode = ddio_list_first(&lazy, struct fsc_inode, lazy_link);
		ddio_timer_cancel(r->env, &inode->lazy);
		lazy_due(inode);
	}
}

void fsc_inodes_end(struct fsc_reactor *r)
{
	struct fsc_inode *inode;

	while (!ddio_list_empty(&r->lazy)) {
		inode = ddio_list_first(&r->lazy, struct fsc_inode, lazy_link);
		ddio_list_del(&inode->lazy_link);
		ddio_timer_cancel(r->env, &inode->lazy);
	}
}
