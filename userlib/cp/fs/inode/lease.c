// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leases.  A lease is good as long as the name server cannot have given it up: it has answered a request that was sent
 * less than three quarters of its timeout ago on the connection by which the lease came, and waits a whole timeout
 * before it gives up one that is not returned.
 */
#include <errno.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/size.h"

/* A lease that was refused or returned is asked for again after this. */
#define AGAIN_NS 1000000000ull
/* What a sync has told stands for the writes of so long: a tick of a kernel, by which other file systems date theirs. */
#define TICK_NS 4000000
/* A file is worth a lease from so many writes on. */
enum { WRITES_MANY = 2 };

void fsc_lease_init(struct fsc_inode *inode)
{
	ddio_list_init(&inode->lease.waits);
	ddio_list_init(&inode->lease.appends);
}

static bool is_recent(const struct fsc_inode *inode, uint64_t since)
{
	uint64_t now = ddio_env_now(inode->r->env);

	/* Another reactor's clock may be a moment ahead. */
	return now < since || now - since < inode->fs->names_timeout_ns / 4 * 3;
}

/* Returns true if the name server still counts on this mount for the lease. */
static bool is_good(const struct fsc_inode *inode)
{
	const struct fsc_lease *l = &inode->lease;
	struct ddio_fs *fs = inode->fs;

	return l->number && l->epoch == atomic_load(&fs->epoch) &&
	       l->releases == atomic_load(&inode->releases) &&
	       is_recent(inode, atomic_load(&fs->heard));
}

bool fsc_lease_usable(const struct fsc_inode *inode)
{
	return !inode->lease.returning && is_good(inode);
}

void fsc_lease_begin(struct fsc_inode *inode)
{
	inode->lease.uses++;
}

bool fsc_lease_kept(const struct fsc_inode *inode)
{
	const struct fsc_lease *l = &inode->lease;

	return is_good(inode) && (!l->returning || is_recent(inode, l->recalled));
}

/*
 * Returning
 */
struct return_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	uint64_t ino, number;
	struct fsc_waiter waiter;
	struct fsc_ask ask;
	uint8_t payload[64];
};

static struct return_job *return_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct return_job, job);
}

static void return_put(struct fsc_job *job)
{
	struct return_job *rj = return_of(job);

	fsc_inode_put(rj->inode);
	fsc_job_drop(job);
}

static void return_home(struct return_job *rj)
{
	fsc_job_go(&rj->job, rj->inode->r, &rj->job.fs->reactor[0], return_put);
}

static void take_begin(struct fsc_inode *inode);

static void return_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct return_job *rj = ddio_container_of(waiter, struct return_job, waiter);
	struct fsc_inode *inode = rj->inode;
	struct fsc_lease *l = &inode->lease;

	(void)error;
	l->returning = NULL;
	l->number = 0;
	l->after = ddio_env_now(inode->r->env) + AGAIN_NS;
	if (!ddio_list_empty(&l->waits))
		take_begin(inode);
	return_home(rj);
}

static void return_send(struct fsc_inode *inode)
{
	struct return_job *rj = inode->lease.returning;

	rj->waiter.end = 0;
	rj->waiter.from = 0;
	rj->waiter.whole = true;
	rj->waiter.flags = DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN;
	rj->waiter.fn = return_told;
	inode->lease.sent = true;
	fsc_inode_tell(inode, &rj->waiter);
}

void fsc_lease_over(struct fsc_inode *inode)
{
	struct fsc_lease *l = &inode->lease;

	if (!--l->uses && l->returning && !l->sent)
		return_send(inode);
}

/* A lease that is not known here any more is returned, too: somebody waits for that. */
static void return_unknown_done(struct fsc_ask *ask)
{
	struct return_job *rj = ddio_container_of(ask, struct return_job, ask);

	fsc_error_free(&ask->error);
	if (rj->inode)
		return_home(rj);
	else
		fsc_job_drop(&rj->job);
}

static void return_unknown(struct return_job *rj, struct fsc_reactor *home)
{
	const struct ddio_msg_fs_wrote msg = { .ino = rj->ino,
					       .flags = DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN,
					       .lease = rj->number };
	ssize_t len = ddio_put_fs_wrote(rj->payload, sizeof(rj->payload), &msg);

	fsc_ask_init(&rj->ask, home, DDIO_OP_FS_WROTE, rj->payload, (size_t)len,
		     return_unknown_done);
	fsc_ask(&rj->ask);
}

static void return_begin(struct fsc_job *job)
{
	struct return_job *rj = return_of(job);
	struct fsc_inode *inode = rj->inode;
	struct fsc_lease *l = &inode->lease;

	if (l->number != rj->number || l->returning) {
		return_unknown(rj, inode->r);
		return;
	}
	l->returning = rj;
	fsc_size_doubt(inode);
	l->sent = false;
	l->recalled = ddio_env_now(inode->r->env);
	if (!l->uses)
		return_send(inode);
}

void fsc_lease_recalled(struct ddio_fs *fs, uint64_t ino, uint64_t lease)
{
	struct return_job *rj = fsc_job_new_quiet(fs, sizeof(*rj));

	/* Without memory the name server waits until our time is over. */
	if (!rj)
		return;
	rj->ino = ino;
	rj->number = lease;
	rj->inode = fsc_inode_find(fs, ino);
	if (!rj->inode) {
		return_unknown(rj, &fs->reactor[0]);
		return;
	}
	rj->inode = fsc_inode_get(fs, ino);
	fsc_job_go(&rj->job, &fs->reactor[0], rj->inode->r, return_begin);
}

/*
 * Taking
 */
struct take_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	uint32_t flags;
	uint32_t epoch, releases;
	struct ddio_msg_fs_leased leased;
	struct fsc_waiter waiter;
	struct fsc_ask ask;
	uint8_t payload[16];
};

static struct take_job *take_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct take_job, job);
}

static void take_put(struct fsc_job *job)
{
	fsc_inode_put(take_of(job)->inode);
	fsc_job_drop(job);
}

/* Calls all who wait for the lease; each finds out by itself whether there is one. */
static void waits_wake(struct fsc_inode *inode)
{
	struct fsc_lease_wait *wait;
	struct ddio_list waits;

	ddio_list_init(&waits);
	ddio_list_splice(&inode->lease.waits, &waits);
	while (!ddio_list_empty(&waits)) {
		wait = ddio_list_first(&waits, struct fsc_lease_wait, link);
		ddio_list_del(&wait->link);
		wait->fn(wait);
	}
}

static void take_install(struct take_job *tj)
{
	struct fsc_inode *inode = tj->inode;
	struct fsc_lease *l = &inode->lease;

	l->taking = false;
	l->after = ddio_env_now(inode->r->env) + AGAIN_NS;
	if (!tj->ask.error.err) {
		fsc_inode_learn(inode, &tj->leased.attr, tj->ask.meta);
		l->number = tj->leased.lease;
		l->known = false;
		l->epoch = tj->epoch;
		l->releases = tj->releases;
		fsc_lease_unsure(inode);
	}
	fsc_error_free(&tj->ask.error);
}

static void take_done(struct fsc_job *job)
{
	struct take_job *tj = take_of(job);
	struct fsc_inode *inode = tj->inode;
	struct fsc_lease *l = &inode->lease;

	take_install(tj);
	/* Who came meanwhile wants it more than whoever asked for it. */
	if (!l->number && tj->flags & DDIO_FS_LEASE_ALONE && !ddio_list_empty(&l->waits))
		take_begin(inode);
	else
		waits_wake(inode);
	fsc_job_go(job, inode->r, &job->fs->reactor[0], take_put);
}

static void take_taken(struct fsc_ask *ask, const struct reply *reply)
{
	struct take_job *tj = ddio_container_of(ask, struct take_job, ask);

	tj->epoch = atomic_load(&tj->job.fs->epoch);
	if (ddio_get_fs_leased(reply->payload, reply->len, &tj->leased))
		fsc_ask_malformed(ask);
}

static void take_answered(struct fsc_ask *ask)
{
	struct take_job *tj = ddio_container_of(ask, struct take_job, ask);

	fsc_job_go(&tj->job, &tj->job.fs->reactor[0], tj->inode->r, take_done);
}

static void take_ask(struct fsc_job *job)
{
	struct take_job *tj = take_of(job);
	const struct ddio_msg_fs_lease msg = { .ino = tj->inode->ino, .flags = tj->flags };
	ssize_t len = ddio_put_fs_lease(tj->payload, sizeof(tj->payload), &msg);

	tj->inode->refs++;
	fsc_ask_init(&tj->ask, &job->fs->reactor[0], DDIO_OP_FS_LEASE, tj->payload, (size_t)len,
		     take_answered);
	tj->ask.take = take_taken;
	fsc_ask(&tj->ask);
}

static void take_flushed(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct take_job *tj = ddio_container_of(waiter, struct take_job, waiter);

	(void)error;
	tj->releases = atomic_load(&tj->inode->releases);
	fsc_job_go(&tj->job, tj->inode->r, &tj->job.fs->reactor[0], take_ask);
}

/* What is due under an earlier lease is told first: only then does the name server answer with the size. */
static void take_begin(struct fsc_inode *inode)
{
	struct take_job *tj = fsc_job_new_quiet(inode->fs, sizeof(*tj));

	if (!tj) {
		inode->lease.number = 0;
		waits_wake(inode);
		return;
	}
	inode->lease.taking = true;
	tj->inode = inode;
	tj->flags = ddio_list_empty(&inode->lease.waits) ? DDIO_FS_LEASE_ALONE : 0;
	tj->waiter.fn = take_flushed;
	fsc_inode_flush(inode, &tj->waiter);
}

void fsc_lease_take(struct fsc_inode *inode, struct fsc_lease_wait *wait)
{
	struct fsc_lease *l = &inode->lease;

	ddio_list_add(&wait->link, &l->waits);
	if (!l->taking && !l->returning)
		take_begin(inode);
}

void fsc_lease_hint(struct fsc_inode *inode)
{
	struct fsc_lease *l = &inode->lease;

	if (!atomic_load(&inode->fs->leasing) || inode->fs->prompt || l->taking || l->returning ||
	    ++l->writes < WRITES_MANY || ddio_env_now(inode->r->env) < l->after)
		return;
	l->writes = 0;
	take_begin(inode);
}

/*
 * Writing
 */
static uint64_t round_up(const struct fsc_inode *inode, uint64_t at)
{
	uint64_t block = inode->rec.ref.block;

	return block && at % block ? at + block - at % block : at;
}

void fsc_lease_touch(struct fsc_inode *inode)
{
	uint64_t now = ddio_env_wall(inode->r->env);

	inode->lease.mtime.tv_sec = (time_t)(now / 1000000000ull);
	inode->lease.mtime.tv_nsec = (long)(now % 1000000000ull);
}

void fsc_lease_unsure(struct fsc_inode *inode)
{
	struct fsc_lease *l = &inode->lease;

	l->unsure++;
	l->solid = 0;
	l->solid_end = 0;
}

/* Notes that the blocks of [@from, @end) are written. */
static void solid_add(struct fsc_inode *inode, uint64_t from, uint64_t end)
{
	struct fsc_lease *l = &inode->lease;
	uint64_t block = inode->rec.ref.block, first = from - from % block;

	end = round_up(inode, end);
	if (first >= l->solid && end <= l->solid_end)
		return;
	l->unsure++;
	if (first > l->solid_end || end < l->solid) {
		l->solid = first;
		l->solid_end = end;
		return;
	}
	l->solid = first < l->solid ? first : l->solid;
	l->solid_end = end > l->solid_end ? end : l->solid_end;
}

void fsc_lease_counted(struct fsc_inode *inode, uint64_t unsure, uint64_t alloc)
{
	struct fsc_lease *l = &inode->lease;

	if (unsure != l->unsure || !fsc_lease_usable(inode))
		return;
	l->alloc = alloc;
	l->counted = unsure;
}

void fsc_lease_wrote(struct fsc_inode *inode, uint64_t from, uint64_t end)
{
	struct fsc_lease *l = &inode->lease;
	if (from > round_up(inode, inode->size))
		inode->sparse = true;
	solid_add(inode, from, end);
	if (end > inode->size) {
		inode->size = end;
		l->pend = end;
		atomic_store(&inode->untold, true);
	}
	fsc_lease_touch(inode);
	l->wrote = true;
	inode->asked = ddio_env_now(inode->r->env);
	fsc_inode_later(inode);
}

bool fsc_lease_tell(struct fsc_inode *inode, struct ddio_msg_fs_wrote *msg)
{
	struct fsc_lease *l = &inode->lease;
	bool wrote = l->wrote;

	if (!wrote && !(msg->flags & DDIO_FS_WROTE_RETURN))
		return false;
	/* What was written without the lease goes with it. */
	if (!wrote || msg->end)
		fsc_lease_touch(inode);
	msg->flags |= DDIO_FS_WROTE_LEASED | (wrote ? DDIO_FS_WROTE_TIMES : 0);
	msg->lease = l->number;
	/* If our time was over before this, not even a restarted name server must believe it. */
	msg->since = l->returning && !is_recent(inode, l->recalled) ? 0 : inode->change;
	msg->mtime = l->mtime;
	if (l->pend > msg->end)
		msg->end = l->pend;
	l->wrote = false;
	return wrote;
}

void fsc_lease_told(struct fsc_inode *inode, uint64_t pend, int err)
{
	struct fsc_lease *l = &inode->lease;

	if (err) {
		/* Each open file hears of it once, and the size is asked for. */
		inode->refusals++;
		inode->asked = 0;
		fsc_size_doubt(inode);
	}
	if (pend < l->pend && !err)
		return;
	l->pend = 0;
	atomic_store(&inode->untold, false);
}

void fsc_lease_durable(struct fsc_inode *inode, uint64_t lease, const struct timespec *mtime)
{
	struct fsc_lease *l = &inode->lease;

	if (l->number != lease)
		return;
	l->known = true;
	l->durable = *mtime;
}

bool fsc_lease_known(const struct fsc_inode *inode)
{
	const struct fsc_lease *l = &inode->lease;
	int64_t later = (l->mtime.tv_sec - l->durable.tv_sec) * INT64_C(1000000000) +
			l->mtime.tv_nsec - l->durable.tv_nsec;

	return l->known && fsc_lease_usable(inode) && !l->pend && !inode->sparse && later >= 0 &&
	       later < TICK_NS;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Returns true if the file has neither holes nor blocks beyond its end. */
static bool is_whole(const struct fsc_inode *inode)
{
	return !inode->sparse && !inode->tail &&
	       inode->attr.alloc == round_up(inode, inode->attr.size);
}

bool fsc_lease_attr(const struct fsc_inode *inode, struct ddio_fs_attr *attr)
{
	const struct fsc_lease *l = &inode->lease;
	bool counted = l->counted && l->counted == l->unsure;

	/* What was written without the lease is told first: the name server says when that was. */
	if (!fsc_lease_usable(inode) || inode->fs->prompt || inode->tell.busy ||
	    (inode->dirty && !l->wrote) || inode->attr_meta != atomic_load(&inode->fs->meta) ||
	    !(counted || is_whole(inode)))
		return false;
	*attr = inode->attr;
	attr->size = inode->size;
	attr->alloc = counted ? l->alloc : round_up(inode, inode->size);
	if (!l->wrote)
		return true;
	attr->mtime = l->mtime;
	if (is_before(&attr->ctime, &l->mtime))
		attr->ctime = l->mtime;
	return true;
}

/*
 * The name server is lost, or the file system ends
 */
static void poke(void *arg)
{
	struct fsc_reactor *r = arg;

	fsc_inodes_hurry(r);
	atomic_store(&r->poking, false);
	fsc_unhold(r->fs);
}

void fsc_leases_hurry(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; i < fs->nreactors; i++) {
		struct fsc_reactor *r = &fs->reactor[i];

		if (atomic_exchange(&r->poking, true))
			continue;
		fsc_hold(fs);
		r->poke.fn = poke;
		r->poke.arg = r;
		ddio_env_post(r->env, &r->poke);
	}
}

void fsc_leases_lost(struct ddio_fs *fs)
{
	atomic_fetch_add(&fs->epoch, 1);
	fsc_leases_hurry(fs);
}

bool fsc_leases_told(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; i < fs->nreactors; i++)
		if (atomic_load(&fs->reactor[i].poking))
			return false;
	return !atomic_load(&fs->tells);
}
