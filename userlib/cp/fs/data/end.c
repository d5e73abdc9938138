// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cutting off what lies beyond a file's end; see end.h.  The durable thing behind it is the file's mark that it has, or had, data,
 * which comes before the first byte: a file that has it may have bytes there.  The fences against writers that are late are the
 * name server's: it takes a mount for dead when it has been silent for the timeout, and then refuses what that tells by a lease, and
 * has it write once more what it wrote without one.
 */
#include <errno.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/end.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/lease.h"

/* So often is asked whether another mount, which may be dead, comes back: half a minute, and for the timeout twice. */
enum { AGAIN_TRIES = 36 };

/**
 * struct end_job - a cut
 * @began: when it was asked for first
 */
struct end_job {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct fsc_lease_wait lease;
	struct fsc_retry retry;
	struct fsc_set set;
	uint64_t began;
};

/* Returns true if bytes of somebody who has died may lie beyond the end. */
static bool is_unsure(const struct fsc_inode *inode)
{
	const struct fsc_lease *l = &inode->lease;

	return atomic_load(&inode->fs->leasing) && inode->has_data &&
	       (inode->tail || !fsc_lease_usable(inode) || !l->alone || l->clean != l->number);
}

static void enters_wake(struct fsc_inode *inode, int err, const char *text)
{
	struct fsc_end_wait *wait;
	struct ddio_list enters;

	ddio_list_init(&enters);
	ddio_list_splice(&inode->enters, &enters);
	while (!ddio_list_empty(&enters)) {
		wait = ddio_list_first(&enters, struct fsc_end_wait, link);
		ddio_list_del(&wait->link);
		wait->asked = true;
		fsc_error_set(&wait->error, err, text);
		wait->fn(wait);
	}
}

static void end_over(struct end_job *ej, int err, const char *text)
{
	struct fsc_inode *inode = ej->inode;

	inode->cutting = false;
	enters_wake(inode, err, text);
	fsc_job_drop(&ej->job);
}

static void end_ask(struct end_job *ej);

static void end_again(struct fsc_retry *retry)
{
	end_ask(ddio_container_of(retry, struct end_job, retry));
}

/* Asks once more after a rest, unless it has been asked for too long. */
static void end_later(struct end_job *ej)
{
	struct fsc_inode *inode = ej->inode;
	uint64_t now = ddio_env_now(inode->r->env);

	if (fsc_closing(inode->fs) ||
	    (ej->retry.tries > AGAIN_TRIES && now - ej->began > 2 * inode->fs->names_timeout_ns))
		end_over(
			ej, -EIO,
			"what lies beyond the file's end could not be cut off: another mount that has "
			"it open does not answer");
	else
		fsc_retry_later(inode->r, &ej->retry, end_again);
}

static void end_cut_done(struct fsc_set *set)
{
	struct end_job *ej = ddio_container_of(set, struct end_job, set);
	struct fsc_inode *inode = ej->inode;
	struct fsc_error error = { 0 };
	bool kept = fsc_lease_kept(inode);

	fsc_error_first(&error, &set->error);
	fsc_set_free(set);
	if (!error.err && kept) {
		inode->lease.clean = inode->lease.number;
		inode->tail = false;
	}
	fsc_lease_over(inode);
	if (error.err || kept)
		end_over(ej, error.err, error.text);
	else
		end_later(ej);
	fsc_error_free(&error);
}

static void end_cut(struct end_job *ej)
{
	struct fsc_inode *inode = ej->inode;

	fsc_lease_begin(inode);
	fsc_set_init(&ej->set, inode->r, &inode->rec, end_cut_done);
	ej->set.missing_ok = true;
	ej->set.holder = inode->holder;
	fsc_set_range(&ej->set, DDIO_OP_OBJ_TRUNCATE, 0, 0, inode->size, true);
}

static void end_leased(struct fsc_lease_wait *wait)
{
	struct end_job *ej = ddio_container_of(wait, struct end_job, lease);
	struct fsc_inode *inode = ej->inode;
	const struct fsc_lease *l = &inode->lease;

	if (l->err)
		end_over(ej, l->err,
			 "the name server gives no lease to cut off what lies beyond the end");
	else if (!is_unsure(inode))
		end_over(ej, 0, NULL);
	else if (fsc_lease_usable(inode) && l->alone)
		end_cut(ej);
	else if (l->again || !l->sure)
		end_later(ej);
	else
		/* Others who live use the file: nothing of theirs may be cut. */
		end_over(ej, 0, NULL);
}

static void end_ask(struct end_job *ej)
{
	ej->lease.cut = true;
	ej->lease.fn = end_leased;
	fsc_lease_take(ej->inode, &ej->lease);
}

/* Nothing of this mount is on its way there. */
static void end_begin(struct fsc_inode *inode)
{
	struct end_job *ej = fsc_job_new_quiet(inode->fs, sizeof(*ej));

	if (!ej) {
		inode->cutting = false;
		enters_wake(inode, -ENOMEM, "out of memory");
		return;
	}
	ej->inode = inode;
	ej->began = ddio_env_now(inode->r->env);
	if (fsc_lease_usable(inode) && inode->lease.alone)
		end_cut(ej);
	else
		end_ask(ej);
}

bool fsc_end_enter(struct fsc_inode *inode, struct fsc_end_wait *wait, uint64_t at, uint64_t end)
{
	bool cut;

	if (!inode->beyond || inode->reach < inode->size)
		inode->reach = inode->size;
	cut = !inode->cutting && at > inode->reach && !wait->asked && is_unsure(inode);
	if (!inode->cutting && !cut) {
		if (at <= inode->reach && end > inode->reach)
			inode->reach = end;
		inode->beyond++;
		return true;
	}
	inode->cutting = true;
	ddio_list_add(&wait->link, &inode->enters);
	if (cut && !inode->beyond)
		end_begin(inode);
	return false;
}

void fsc_end_leave(struct fsc_inode *inode)
{
	if (!--inode->beyond && inode->cutting)
		end_begin(inode);
}
