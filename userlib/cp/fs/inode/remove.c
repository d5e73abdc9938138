// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Removes inodes that no one needs: the objects on all disks, then the inode (FS_GONE).  The name server
 * names them in its replies to the requests that take away the last name or the last opening, and when it
 * is asked for those that others have left (FS_ORPHANS).  All this happens in the background; what fails is
 * left to the next mount that asks.
 *
 * A name must not come back whose data are gone.  So what a reply named is removed after an FS_SYNC that the same
 * incarnation of the name server has answered, one for all that came meanwhile; another incarnation may have lost the
 * change, and is asked for its orphans instead, which it names when they are durable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/inode.h"
#include "cp/fs/inode/remove.h"
#include "cp/fs/names/names.h"

#define ORPHANS_NS 60000000000ull /* between two requests for orphans */

#define SYNCS_NS \
	50000000ull /* from the first name that was removed to the request to make that durable */

enum { RUNNING_MAX = 64, QUEUED_MAX = 16384, ASK_MAX = 256 };

/**
 * struct fsc_removals - all of them
 * @fresh: struct removal.link: those whose names may come back; @syncing: those that the FS_SYNC under way is for
 * @queued, @running: struct removal.link: those that may begin, and have begun
 * @nqueued: all that have not begun
 * @timer: when to sync next; @sync: FS_SYNC is under way
 * @next: when to ask for orphans again
 * @asking: FS_ORPHANS is under way; @missed: there are more than were queued
 */
struct fsc_removals {
	struct ddio_list fresh, syncing, queued, running;
	uint32_t nrunning, nqueued;
	struct ddio_timer timer;
	bool sync;
	uint64_t next;
	bool asking, missed;
};

/**
 * struct removal - one inode
 * @boot: the incarnation of the name server that named it; 0: it is durable that it has no name
 * @r: the reactor of its data
 */
struct removal {
	struct fsc_job job;
	struct ddio_list link;
	uint64_t boot;
	struct fsc_reactor *r;
	struct ddio_file_record rec;
	struct fsc_set set;
	struct fsc_ask ask;
	uint8_t payload[8];
};

static void removals_start(struct ddio_fs *fs);
static void removals_ask(struct ddio_fs *fs);

static void removal_free(struct removal *rm)
{
	ddio_list_del(&rm->link);
	ddio_file_record_free(&rm->rec);
	fsc_job_drop(&rm->job);
}

static void removal_end(struct fsc_job *job)
{
	struct removal *rm = ddio_container_of(job, struct removal, job);
	struct ddio_fs *fs = job->fs;

	fs->removals->nrunning--;
	fsc_hold(fs);
	removal_free(rm);
	removals_start(fs);
	fsc_unhold(fs);
}

static void removal_told(struct fsc_ask *ask)
{
	struct removal *rm = ddio_container_of(ask, struct removal, ask);

	fsc_error_free(&ask->error);
	fsc_job_go(&rm->job, rm->r, &rm->job.fs->reactor[0], removal_end);
}

static void removal_objects_gone(struct fsc_set *set)
{
	struct removal *rm = ddio_container_of(set, struct removal, set);
	struct ddio_msg_fs_ino msg = { .ino = rm->rec.ref.id };
	bool failed = set->error.err;
	ssize_t len;

	fsc_set_free(set);
	if (failed) {
		fsc_job_go(&rm->job, rm->r, &rm->job.fs->reactor[0], removal_end);
		return;
	}
	len = ddio_put_fs_ino(rm->payload, sizeof(rm->payload), &msg);
	fsc_ask_init(&rm->ask, rm->r, DDIO_OP_FS_GONE, rm->payload, (size_t)len, removal_told);
	fsc_ask(&rm->ask);
}

static void removal_objects(struct fsc_job *job)
{
	struct removal *rm = ddio_container_of(job, struct removal, job);

	fsc_set_init(&rm->set, rm->r, &rm->rec, removal_objects_gone);
	rm->set.missing_ok = true;
	fsc_set_range(&rm->set, DDIO_OP_OBJ_REMOVE, 0, 0, 0, true);
}

static void removal_drop(struct ddio_fs *fs, struct removal *rm)
{
	fs->removals->nqueued--;
	removal_free(rm);
}

static void removals_start(struct ddio_fs *fs)
{
	struct fsc_removals *rs = fs->removals;
	struct removal *rm;

	while (rs->nrunning < RUNNING_MAX && !ddio_list_empty(&rs->queued)) {
		rm = ddio_list_first(&rs->queued, struct removal, link);
		if (fsc_closing(fs)) {
			removal_drop(fs, rm);
			continue;
		}
		ddio_list_del(&rm->link);
		rs->nqueued--;
		ddio_list_add(&rm->link, &rs->running);
		rs->nrunning++;
		fsc_job_go(&rm->job, &fs->reactor[0], rm->r, removal_objects);
	}
	if (rs->missed && rs->nqueued < QUEUED_MAX / 2)
		removals_ask(fs);
}

/*
 * Names that must not come back
 */
struct names_sync {
	struct fsc_job job;
	struct fsc_ask ask;
};

static void removals_sync(struct ddio_fs *fs);

/* What is not known to be durable is asked for again. */
static void removals_doubt(struct ddio_fs *fs, struct ddio_list *list)
{
	if (!ddio_list_empty(list))
		fs->removals->missed = true;
	while (!ddio_list_empty(list))
		removal_drop(fs, ddio_list_first(list, struct removal, link));
}

static void names_synced(struct fsc_ask *ask)
{
	struct names_sync *ns = ddio_container_of(ask, struct names_sync, ask);
	struct ddio_fs *fs = ns->job.fs;
	struct fsc_removals *rs = fs->removals;
	struct removal *rm, *next;

	rs->sync = false;
	ddio_list_for_each_entry_safe(rm, next, &rs->syncing, link) {
		if (ask->error.err || rm->boot != ask->request.boot)
			continue;
		ddio_list_del(&rm->link);
		ddio_list_add(&rm->link, &rs->queued);
	}
	fsc_hold(fs);
	removals_doubt(fs, &rs->syncing);
	fsc_error_free(&ask->error);
	fsc_job_drop(&ns->job);
	removals_start(fs);
	removals_sync(fs);
	fsc_unhold(fs);
}

static void names_sync_begin(struct ddio_fs *fs)
{
	struct names_sync *ns = fsc_job_new_quiet(fs, sizeof(*ns));

	if (!ns) {
		removals_doubt(fs, &fs->removals->fresh);
		return;
	}
	fs->removals->sync = true;
	ddio_list_splice(&fs->removals->fresh, &fs->removals->syncing);
	fsc_ask_init(&ns->ask, &fs->reactor[0], DDIO_OP_FS_SYNC, NULL, 0, names_synced);
	fsc_ask(&ns->ask);
}

static void removals_due(void *arg)
{
	struct ddio_fs *fs = arg;

	if (fsc_closing(fs))
		removals_doubt(fs, &fs->removals->fresh);
	else if (!fs->removals->sync && !ddio_list_empty(&fs->removals->fresh))
		names_sync_begin(fs);
}

/* Has the name server make durable that the fresh ones have no names, in a while: more may come. */
static void removals_sync(struct ddio_fs *fs)
{
	struct fsc_removals *rs = fs->removals;
	struct ddio_env *env = fs->reactor[0].env;

	if (rs->sync || ddio_timer_armed(&rs->timer) || ddio_list_empty(&rs->fresh))
		return;
	rs->timer.fn = removals_due;
	rs->timer.arg = fs;
	if (fsc_closing(fs))
		removals_doubt(fs, &rs->fresh);
	else if (ddio_timer_arm(env, &rs->timer, ddio_env_now(env) + SYNCS_NS))
		names_sync_begin(fs);
}

static bool removal_in(struct ddio_list *list, uint64_t ino)
{
	struct removal *rm;

	ddio_list_for_each_entry(rm, list, link)
		if (rm->rec.ref.id == ino)
			return true;
	return false;
}

static bool removal_is_known(struct fsc_removals *rs, uint64_t ino)
{
	return removal_in(&rs->running, ino) || removal_in(&rs->queued, ino) ||
	       removal_in(&rs->syncing, ino) || removal_in(&rs->fresh, ino);
}

/* Queues a removal that incarnation @boot of the name server has named; takes over @rec. */
static void removal_add(struct ddio_fs *fs, struct ddio_file_record *rec, uint64_t boot)
{
	struct fsc_removals *rs = fs->removals;
	struct removal *rm;

	fsc_inode_forget(fs, rec->ref.id);
	if (rs->nqueued >= QUEUED_MAX)
		rs->missed = true;
	if (rs->nqueued >= QUEUED_MAX || fsc_closing(fs))
		return;
	rm = fsc_job_new_quiet(fs, sizeof(*rm));
	if (!rm)
		return;
	rm->boot = boot;
	rm->rec = *rec;
	memset(rec, 0, sizeof(*rec));
	rm->r = &fs->reactor[rm->rec.ref.id % fs->nreactors];
	ddio_list_add(&rm->link, boot ? &rs->fresh : &rs->queued);
	rs->nqueued++;
}

void fsc_remove_left(struct fsc_ask *ask, struct ddio_file_record *rec)
{
	struct ddio_fs *fs = ask->home->fs;

	removal_add(fs, rec, ask->request.boot);
	removals_sync(fs);
}

void fsc_remove_listed(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_fs *fs = ask->home->fs;
	struct ddio_msg_ns_listing x;
	uint32_t i;

	if (!reply->len || ddio_get_ns_listing(reply->payload, reply->len, &x))
		return;
	for (i = 0; i < x.n; i++)
		removal_add(fs, &x.recs[i], ask->request.boot);
	ddio_ns_listing_free(&x);
	removals_sync(fs);
}

/*
 * What others have left
 */

/**
 * struct orphans_job - asking for it, a page at a time
 * @last: the last inode of the page before; @more: there are more
 */
struct orphans_job {
	struct fsc_job job;
	struct fsc_ask ask;
	uint64_t last;
	bool more;
	uint8_t payload[32];
};

static void orphans_ask(struct orphans_job *oj);

static void orphans_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct orphans_job *oj = ddio_container_of(ask, struct orphans_job, ask);
	struct fsc_removals *rs = oj->job.fs->removals;
	struct ddio_msg_ns_listing x;
	uint32_t i;

	oj->more = false;
	if (ddio_get_ns_listing(reply->payload, reply->len, &x))
		return;
	for (i = 0; i < x.n; i++) {
		oj->last = x.recs[i].ref.id;
		if (!removal_is_known(rs, oj->last))
			removal_add(oj->job.fs, &x.recs[i], 0);
	}
	oj->more = x.more && x.n && rs->nqueued < QUEUED_MAX;
	rs->missed |= x.more && !oj->more;
	ddio_ns_listing_free(&x);
	removals_start(oj->job.fs);
}

static void orphans_done(struct fsc_ask *ask)
{
	struct orphans_job *oj = ddio_container_of(ask, struct orphans_job, ask);
	if (!ask->error.err && oj->more) {
		orphans_ask(oj);
		return;
	}
	fsc_error_free(&ask->error);
	oj->job.fs->removals->asking = false;
	fsc_job_drop(&oj->job);
}

static void orphans_ask(struct orphans_job *oj)
{
	struct ddio_msg_fs_readdir msg = { .ino = DDIO_FS_ROOT,
					   .cookie = oj->last,
					   .max = ASK_MAX };
	ssize_t len = ddio_put_fs_readdir(oj->payload, sizeof(oj->payload), &msg);

	fsc_ask_init(&oj->ask, &oj->job.fs->reactor[0], DDIO_OP_FS_ORPHANS, oj->payload,
		     (size_t)len, orphans_done);
	oj->ask.take = orphans_take;
	fsc_ask(&oj->ask);
}

int fsc_removals_new(struct ddio_fs *fs)
{
	struct fsc_removals *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	ddio_list_init(&rs->fresh);
	ddio_list_init(&rs->syncing);
	ddio_list_init(&rs->queued);
	ddio_list_init(&rs->running);
	fs->removals = rs;
	return 0;
}

void fsc_removals_free(struct ddio_fs *fs)
{
	free(fs->removals);
}

void fsc_removals_soon(struct ddio_fs *fs)
{
	fs->removals->next = 0;
}

static void removals_ask(struct ddio_fs *fs)
{
	struct fsc_removals *rs = fs->removals;
	struct orphans_job *oj;

	if (fs->user || rs->asking || fs->names->state != FSC_READY || fsc_closing(fs))
		return;
	oj = fsc_job_new_quiet(fs, sizeof(*oj));
	if (!oj)
		return;
	rs->asking = true;
	rs->missed = false;
	rs->next = ddio_env_now(fs->reactor[0].env) + ORPHANS_NS;
	orphans_ask(oj);
}

void fsc_removals_beat(struct ddio_fs *fs)
{
	if (fs->removals->missed || ddio_env_now(fs->reactor[0].env) >= fs->removals->next)
		removals_ask(fs);
}

void fsc_removals_end(struct ddio_fs *fs)
{
	ddio_timer_cancel(fs->reactor[0].env, &fs->removals->timer);
	removals_sync(fs);
}

bool fsc_removals_idle(const struct ddio_fs *fs)
{
	return !fs->removals->nrunning && !fs->removals->nqueued;
}
