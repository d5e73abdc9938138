// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Making writes durable: on the disks that hold them, and at the name server, at once.  For every disk it is
 * known which incarnation of its node took the writes (as in cp/file/incarnation.c).  If another one has
 * answered the sync, the writes may be lost, and each file that was open then hears of that once; unless
 * the old incarnation said when it was shut down that nothing was.
 *
 * The disks of an inode serve one sync at a time: a sync must not take for durable what another is still
 * making durable.
 *
 * One that nobody has asked for yet (sync.h) asks the disks, and nobody else.  If it succeeds, whoever syncs then finds
 * nothing due; if it fails, all is due as before, and whoever waited for it is told, as of a failure of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/data/file.h"
#include "cp/fs/data/sync.h"
#include "cp/fs/disks/set.h"
#include "cp/fs/inode/guard.h"
#include "cp/fs/inode/inode.h"

/* So many times in succession must there have been as many writes before a sync as before the one before it. */
enum { HABIT_TIMES = 2 };

/**
 * struct sync_job - one ddio_fs_sync(), or, without a @file, a sync that is expected
 * @link: in struct fsc_inode.syncs
 * @holder: the inode's when its turn came
 * @left: of disks and name server, how many are not done
 * @names_lost: the name server may have lost changes of the inode, and nobody had been told
 */
struct sync_job {
	struct fsc_job job;
	struct ddio_fs_file *file;
	struct fsc_inode *inode;
	struct ddio_list link;
	struct fsc_waiter waiter;
	struct fsc_set set;
	uint64_t *holder;
	uint32_t left;
	bool names_lost;
	struct fsc_ask ask;
	struct fsc_error error;
};

static void expected_end(struct sync_job *sj)
{
	fsc_error_free(&sj->error);
	free(sj->holder);
	fsc_inode_put(sj->inode);
	fsc_job_drop(&sj->job);
}

/* One of both is done; the call ends with the other. */
static void sync_end(struct sync_job *sj)
{
	struct fsc_error error;
	struct ddio_fs_reply reply = { 0 };

	if (--sj->left)
		return;
	if (!sj->file) {
		expected_end(sj);
		return;
	}
	if (sj->file->losses != sj->inode->losses)
		fsc_error_set(&sj->error, -EIO,
			      "an I/O processor or the name server was restarted: what was written "
			      "before that and not synced may be lost");
	if (!sj->error.err && sj->file->refusals != sj->inode->refusals)
		fsc_error_set(&sj->error, -EIO, FSC_REFUSED);
	sj->file->losses = sj->inode->losses;
	sj->file->refusals = sj->inode->refusals;
	error = sj->error;
	free(sj->holder);
	fsc_job_end(&sj->job, &error, &reply);
}

static void sync_names_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct sync_job *sj = ddio_container_of(ask, struct sync_job, ask);

	(void)reply;
	fsc_ask_losses(ask, sj->inode->ino, NULL);
	sj->names_lost = ask->error.err;
}

static void sync_names_done(struct fsc_ask *ask)
{
	struct sync_job *sj = ddio_container_of(ask, struct sync_job, ask);

	fsc_error_first(&sj->error, &ask->error);
	fsc_error_free(&ask->error);
	/* The other open files have yet to hear of it. */
	if (sj->names_lost)
		sj->inode->losses++;
	sync_end(sj);
}

/* NULL: it was never used. */
static struct cluster_node *holder_node(const struct fsc_inode *inode, uint32_t i)
{
	struct ddio_session *s = inode->r->session;

	return s->nodes[s->conf->disks[inode->rec.disks[i]].node];
}

/* The sync failed: what it was to make durable is still due. */
static void holders_restore(struct sync_job *sj)
{
	struct fsc_inode *inode = sj->inode;
	uint32_t i;

	for (i = 0; i < inode->rec.ndisks; i++)
		inode->holder[i] = disk_due(inode->r->session, inode->rec.disks[i], sj->holder[i],
					    inode->holder[i]);
}

/* Notes which incarnation of each node has answered: 0 for none, UINT64_MAX for several. */
static void answers_note(const struct sync_job *sj)
{
	const struct fsc_set *set = &sj->set;
	struct cluster_node *node;
	uint64_t boot;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		node = holder_node(sj->inode, i);
		if (node)
			node->answered = 0;
	}
	for (i = 0; i < set->n; i++) {
		node = holder_node(sj->inode, i);
		boot = set->req[i].request.boot;
		if (node && boot && node->answered != boot)
			node->answered = node->answered ? UINT64_MAX : boot;
	}
}

static void losses_check(struct sync_job *sj)
{
	struct fsc_inode *inode = sj->inode;
	const struct cluster_node *node;
	uint32_t i;

	answers_note(sj);
	for (i = 0; i < inode->rec.ndisks; i++) {
		node = holder_node(inode, i);
		if (!sj->holder[i] || !node || node->answered == sj->holder[i] ||
		    disk_kept(inode->r->session, inode->rec.disks[i], sj->holder[i]))
			continue;
		inode->losses++;
		fsc_log(inode->fs, DDIO_LOG_WARN,
			"node %s was restarted: data written to inode %llu before that and not "
			"synced may be lost",
			inode->r->session->conf->nodes[node->index].name,
			(unsigned long long)inode->ino);
		return;
	}
}

static void sync_disks(struct sync_job *sj);

/*
 * The disks are done: the next sync has its turn.  The inode stays as long as our own job does.  A sync
 * whose disks have nothing to do is done at once and comes back here; the outer call's loop goes on then.
 */
static void sync_turn_over(struct fsc_inode *inode)
{
	struct sync_job *next;

	inode->syncing = false;
	if (inode->turning)
		return;
	inode->turning = true;
	while (!inode->syncing && !ddio_list_empty(&inode->syncs)) {
		next = ddio_list_first(&inode->syncs, struct sync_job, link);
		ddio_list_del(&next->link);
		sync_disks(next);
	}
	inode->turning = false;
}

/* Those who came while a sync that was expected was under way, and failed. */
static void expected_failed(struct sync_job *sj)
{
	struct ddio_list told;
	struct sync_job *next;

	ddio_list_init(&told);
	ddio_list_splice(&sj->inode->syncs, &told);
	while (!ddio_list_empty(&told)) {
		next = ddio_list_first(&told, struct sync_job, link);
		ddio_list_del(&next->link);
		fsc_error_set(&next->error, sj->error.err, sj->error.text);
		sync_end(next);
	}
}

static void sync_disks_done(struct fsc_set *set)
{
	struct sync_job *sj = ddio_container_of(set, struct sync_job, set);
	bool failed = set->error.err;

	fsc_error_first(&sj->error, &set->error);
	if (failed)
		holders_restore(sj);
	else
		losses_check(sj);
	fsc_set_free(set);
	if (failed && !sj->file)
		expected_failed(sj);
	sync_turn_over(sj->inode);
	sync_end(sj);
}

/* True unless a request has gone to the disk's reactor already: one serves all of its disks. */
static bool reactor_first(struct ddio_session *s, uint32_t disk)
{
	const struct cluster_disk *place = disk_look(s, disk);
	struct cluster_node *node = s->nodes[s->conf->disks[disk].node];
	struct lane *lane;

	lane = node && node->known && place->known ? node_lane(node, place->reactor) : NULL;
	if (!lane)
		return true;
	if (lane->mark == s->mark)
		return false;
	lane->mark = s->mark;
	return true;
}

static void sync_disks(struct sync_job *sj)
{
	struct fsc_set *set = &sj->set;
	struct fsc_inode *inode = sj->inode;
	struct ddio_session *s = inode->r->session;
	struct fsc_set_req *req;
	uint32_t i;

	inode->syncing = true;
	fsc_set_init(set, inode->r, &inode->rec, sync_disks_done);
	set->missing_ok = true;
	sj->holder = malloc(inode->rec.ndisks * sizeof(*sj->holder));
	if (!sj->holder || fsc_set_alloc(set, inode->rec.ndisks)) {
		fsc_error_set(&sj->error, -ENOMEM, "out of memory");
		sync_turn_over(inode);
		sync_end(sj);
		return;
	}
	fsc_set_begin(set);
	memcpy(sj->holder, inode->holder, inode->rec.ndisks * sizeof(*sj->holder));
	memset(inode->holder, 0, inode->rec.ndisks * sizeof(*sj->holder));
	s->mark++;
	ddio_env_await(inode->r->env);
	for (i = 0; i < inode->rec.ndisks; i++) {
		if (!sj->holder[i] || !reactor_first(s, inode->rec.disks[i]))
			continue;
		req = &set->req[i];
		req->i = i;
		req->opcode = DDIO_OP_OBJ_SYNC;
		fsc_set_send(set, req);
	}
	fsc_set_end(set);
}

static void sync_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct sync_job *sj = ddio_container_of(waiter, struct sync_job, waiter);

	if (error->err)
		fsc_error_set(&sj->error, error->err, error->text);
	if (error->err || waiter->sync) {
		sync_end(sj);
		return;
	}
	fsc_ask_init(&sj->ask, sj->inode->r, DDIO_OP_FS_SYNC, NULL, 0, sync_names_done);
	sj->ask.take = sync_names_take;
	sj->ask.sole = sj->inode->ino;
	fsc_ask(&sj->ask);
}

static void habit_note(struct fsc_habit *h)
{
	h->times = h->writes == h->usual ? h->times + (h->times < HABIT_TIMES) : 0;
	h->usual = h->writes;
	h->writes = 0;
}

struct sync_job *fsc_sync_expect(struct fsc_inode *inode)
{
	struct fsc_habit *h = &inode->habit;
	struct sync_job *sj;

	/* Only the table's reactor can keep the inode. */
	if (++h->writes != h->usual || h->times < HABIT_TIMES || inode->syncing ||
	    inode->r != &inode->fs->reactor[0])
		return NULL;
	sj = fsc_job_new_quiet(inode->fs, sizeof(*sj));
	if (!sj)
		return NULL;
	inode->refs++;
	inode->syncing = true;
	sj->inode = inode;
	sj->left = 1;
	return sj;
}

void fsc_sync_expected(struct sync_job *sj)
{
	sync_disks(sj);
}

static void sync_run(struct fsc_job *job)
{
	struct sync_job *sj = ddio_container_of(job, struct sync_job, job);
	struct fsc_inode *inode = sj->inode;

	habit_note(&inode->habit);
	sj->left = 2;
	sj->waiter.fn = sync_told;
	sj->waiter.sync = true;
	/* The disks take longer: what is dirty is written first. */
	if (inode->syncing)
		ddio_list_add(&sj->link, &inode->syncs);
	else
		sync_disks(sj);
	fsc_inode_flush(inode, &sj->waiter);
}

void ddio_fs_sync(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	struct sync_job *sj = fsc_job_new(file->fs, sizeof(*sj), done, arg);

	if (!sj)
		return;
	sj->file = file;
	sj->inode = file->inode;
	fsc_guard(&sj->job, sj->inode, sync_run);
}
