// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attributes: getting them, with the bytes that a file takes up on disks, and setting them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cp/fs/attr.h"
#include "cp/fs/core/job.h"
#include "cp/fs/data/cut.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/open.h"
#include "cp/fs/inode/size.h"
#include "cp/fs/names/dirattr.h"

/*
 * Getting.  Attributes that came with a change of a directory may be good enough.  The name server is told
 * first of what was written here, and its answer has the attributes.  If no one has counted the bytes on disks since
 * the last change, every disk is asked, and the name server is told the sum.
 */
struct attr_job {
	struct fsc_job job;
	uint64_t ino, max_age, age;
	struct fsc_inode *inode;
	struct fsc_waiter waiter;
	struct fsc_ask ask;
	struct ddio_fs_attr attr;
	struct fsc_opening opening;
	struct fsc_set set;
	uint64_t alloc, unsure;
	uint8_t payload[24];
};

static struct attr_job *attr_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct attr_job, job);
}

static void attr_end(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);
	struct fsc_error error = aj->ask.error;
	struct ddio_fs_reply reply = { .attr = error.err ? NULL : &aj->attr, .age_ns = aj->age };

	if (aj->inode)
		fsc_inode_put(aj->inode);
	fsc_job_end(job, &error, &reply);
}

static void attr_home(struct attr_job *aj)
{
	fsc_job_go(&aj->job, aj->inode->r, &aj->job.fs->reactor[0], attr_end);
}

/* Telling the name server how many bytes were counted; nobody waits for that. */
struct alloc_job {
	struct fsc_job job;
	struct fsc_ask ask;
	uint8_t payload[24];
};

static void alloc_told(struct fsc_ask *ask)
{
	struct alloc_job *lj = ddio_container_of(ask, struct alloc_job, ask);

	fsc_error_free(&ask->error);
	fsc_job_drop(&lj->job);
}

static void alloc_tell(const struct attr_job *aj)
{
	const struct ddio_msg_fs_alloc msg = { .ino = aj->ino,
					       .change = aj->attr.change,
					       .alloc = aj->alloc };
	struct alloc_job *lj = fsc_job_new_quiet(aj->job.fs, sizeof(*lj));
	ssize_t len;

	if (!lj)
		return;
	len = ddio_put_fs_alloc(lj->payload, sizeof(lj->payload), &msg);
	fsc_ask_init(&lj->ask, aj->inode->r, DDIO_OP_FS_ALLOC, lj->payload, (size_t)len,
		     alloc_told);
	fsc_ask(&lj->ask);
}

static void alloc_reply(struct fsc_set *set, struct fsc_set_req *req, const struct reply *reply)
{
	struct attr_job *aj = ddio_container_of(set, struct attr_job, set);
	struct ddio_msg_obj_stat x;

	(void)req;
	if (ddio_get_obj_stat(reply->payload, reply->len, &x))
		fsc_error_set(&set->error, -EIO, FSC_MALFORMED);
	else
		aj->alloc += x.alloc;
}

static void alloc_counted(struct fsc_set *set)
{
	struct attr_job *aj = ddio_container_of(set, struct attr_job, set);
	bool failed = set->error.err;

	fsc_set_free(set);
	/* The other attributes are good even if a disk does not answer. */
	if (!failed) {
		aj->attr.alloc = aj->alloc;
		fsc_lease_counted(aj->inode, aj->unsure, aj->alloc);
		alloc_tell(aj);
	}
	attr_home(aj);
}

static void alloc_count(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);

	aj->unsure = aj->inode->lease.unsure;
	fsc_set_init(&aj->set, aj->inode->r, &aj->inode->rec, alloc_counted);
	aj->set.reply = alloc_reply;
	aj->set.missing_ok = true;
	aj->set.once = true;
	fsc_set_range(&aj->set, DDIO_OP_OBJ_STAT, 0, 0, 0, true);
}

static void attr_known(struct attr_job *aj)
{
	fsc_job_go(&aj->job, &aj->job.fs->reactor[0], aj->inode->r, alloc_count);
}

static void attr_looked(struct fsc_opening *opening)
{
	struct attr_job *aj = ddio_container_of(opening, struct attr_job, opening);
	bool failed = opening->error.err;

	fsc_error_free(&opening->error);
	if (failed)
		attr_end(&aj->job);
	else
		attr_known(aj);
}

static void attr_alloc(struct attr_job *aj)
{
	if (!aj->inode)
		aj->inode = fsc_inode_get(aj->job.fs, aj->ino);
	if (!aj->inode) {
		attr_end(&aj->job);
	} else if (fsc_inode_spread(aj->inode)) {
		attr_known(aj);
	} else {
		aj->opening.inode = aj->inode;
		aj->opening.look = true;
		aj->opening.done = attr_looked;
		fsc_open(&aj->opening);
	}
}

static void attr_answered(struct fsc_ask *ask, const struct reply *reply)
{
	struct attr_job *aj = ddio_container_of(ask, struct attr_job, ask);
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x)) {
		fsc_ask_malformed(ask);
		return;
	}
	fsc_dirattr_seen(ask, &x.attr);
	aj->attr = x.attr;
}

static void attr_take(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);

	if (!aj->ask.error.err && S_ISREG(aj->attr.mode) && aj->attr.alloc == DDIO_FS_ALLOC_UNKNOWN)
		attr_alloc(aj);
	else
		attr_end(&aj->job);
}

static void attr_got(struct fsc_ask *ask)
{
	attr_take(&ddio_container_of(ask, struct attr_job, ask)->job);
}

static void attr_ask(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);
	struct ddio_msg_fs_ino msg = { .ino = aj->ino };
	ssize_t len = ddio_put_fs_ino(aj->payload, sizeof(aj->payload), &msg);

	fsc_ask_init(&aj->ask, &job->fs->reactor[0], DDIO_OP_FS_GETATTR, aj->payload, (size_t)len,
		     attr_got);
	aj->ask.about = aj->ino;
	aj->ask.take = attr_answered;
	fsc_ask(&aj->ask);
}

static void attr_flushed(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct attr_job *aj = ddio_container_of(waiter, struct attr_job, waiter);

	(void)error;
	if (waiter->attr)
		aj->attr = *waiter->attr;
	fsc_job_go(&aj->job, aj->inode->r, &aj->job.fs->reactor[0],
		   waiter->attr ? attr_take : attr_ask);
}

static void attr_flush(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);

	if (fsc_lease_attr(aj->inode, &aj->attr)) {
		fsc_job_go(&aj->job, aj->inode->r, &aj->job.fs->reactor[0], attr_take);
		return;
	}
	aj->waiter.fn = attr_flushed;
	fsc_inode_flush(aj->inode, &aj->waiter);
}

static void attr_run(struct fsc_job *job)
{
	struct attr_job *aj = attr_of(job);
	struct fsc_inode *inode = fsc_inode_find(job->fs, aj->ino);

	if (fsc_dirattr_find(job->fs, aj->ino, aj->max_age, &aj->attr, &aj->age)) {
		attr_end(job);
		return;
	}
	if (!inode || !fsc_inode_dirty(inode)) {
		attr_ask(job);
		return;
	}
	aj->inode = fsc_inode_get(job->fs, aj->ino);
	fsc_job_go(job, &job->fs->reactor[0], inode->r, attr_flush);
}

static struct attr_job *attr_new(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct attr_job *aj = fsc_job_new(fs, sizeof(*aj), done, arg);

	if (aj)
		aj->ino = ino;
	return aj;
}

bool fsc_attr_stale(struct ddio_fs *fs, const struct ddio_fs_attr *attr)
{
	struct fsc_inode *inode = S_ISREG(attr->mode) ? fsc_inode_find(fs, attr->ino) : NULL;

	return inode && fsc_inode_dirty(inode);
}

void fsc_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct attr_job *aj = attr_new(fs, ino, done, arg);

	if (aj)
		attr_run(&aj->job);
}

void ddio_fs_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	ddio_fs_getattr_within(fs, ino, 0, done, arg);
}

void ddio_fs_getattr_within(struct ddio_fs *fs, uint64_t ino, uint64_t max_age_ns,
			    ddio_fs_done done, void *arg)
{
	struct attr_job *aj = attr_new(fs, ino, done, arg);

	if (!aj)
		return;
	aj->max_age = max_age_ns;
	fsc_job_post(&aj->job, &fs->reactor[0], attr_run);
}

/*
 * Setting
 */
struct set_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct fsc_opening opening;
	struct fsc_cut cut;
};

static struct set_job *set_of(struct fsc_job *job)
{
	return ddio_container_of(job, struct set_job, job);
}

static void set_end(struct fsc_job *job)
{
	struct set_job *sj = set_of(job);
	struct fsc_error error = sj->cut.error;
	struct ddio_fs_reply reply = { .attr = error.err ? NULL : &sj->cut.attr };

	if (sj->inode)
		fsc_inode_put(sj->inode);
	fsc_job_end(job, &error, &reply);
}

static void set_cut(struct fsc_cut *cut)
{
	struct set_job *sj = ddio_container_of(cut, struct set_job, cut);

	fsc_job_go(&sj->job, sj->cut.home, &sj->job.fs->reactor[0], set_end);
}

static void set_go(struct fsc_job *job)
{
	struct set_job *sj = set_of(job);

	sj->cut.inode = sj->inode;
	sj->cut.home = sj->inode ? sj->inode->r : &job->fs->reactor[0];
	sj->cut.done = set_cut;
	if (sj->cut.msg.mask & DDIO_FS_SET_SIZE && sj->inode && fsc_guard_lost(sj->inode)) {
		fsc_error_set(&sj->cut.error, -EIO, FSC_LOCK_LOST);
		set_cut(&sj->cut);
		return;
	}
	fsc_cut(&sj->cut);
}

/* Hands what came with the look to the inode's reactor. */
static void set_news(struct fsc_job *job)
{
	struct set_job *sj = set_of(job);

	fsc_inode_opened(sj->inode, sj->opening.flags, &sj->opening.attr);
	set_go(job);
}

static void set_looked(struct fsc_opening *opening)
{
	struct set_job *sj = ddio_container_of(opening, struct set_job, opening);

	fsc_error_first(&sj->cut.error, &opening->error);
	fsc_error_free(&opening->error);
	if (sj->cut.error.err) {
		set_end(&sj->job);
		return;
	}
	fsc_job_go(&sj->job, &sj->job.fs->reactor[0], sj->inode->r, set_news);
}

static void set_run(struct fsc_job *job)
{
	struct set_job *sj = set_of(job);
	struct fsc_inode *inode = fsc_inode_find(job->fs, sj->cut.msg.ino);

	/* Only an inode whose data are moved here needs to learn what is set. */
	if (!(sj->cut.msg.mask & DDIO_FS_SET_SIZE) && (!inode || !inode->opens)) {
		set_go(job);
		return;
	}
	sj->inode = fsc_inode_get(job->fs, sj->cut.msg.ino);
	if (!sj->inode) {
		fsc_job_fail(job, -ENOMEM, "out of memory");
	} else if (fsc_inode_spread(sj->inode)) {
		fsc_job_go(job, &job->fs->reactor[0], sj->inode->r, set_go);
	} else {
		sj->opening.inode = sj->inode;
		sj->opening.look = true;
		sj->opening.done = set_looked;
		fsc_open(&sj->opening);
	}
}

void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg)
{
	struct set_job *sj = fsc_job_new(fs, sizeof(*sj), done, arg);
	struct ddio_msg_fs_setattr *msg;

	if (!sj)
		return;
	msg = &sj->cut.msg;
	msg->ino = ino;
	msg->mask = mask;
	if (attr) {
		msg->mode = attr->mode;
		msg->uid = attr->uid;
		msg->gid = attr->gid;
		msg->size = attr->size;
		msg->atime = attr->atime;
		msg->mtime = attr->mtime;
		msg->ctime = attr->ctime;
	}
	fsc_job_post(&sj->job, &fs->reactor[0], set_run);
}
