// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The life of a collective on one reactor.
 *
 *                 .------------------.  .----------------------.
 *                 |                  v  |                      v
 *   PLANNING -----'--> DOUBTING --> RUNNING -> COMMITTING -> OVER
 *        \                |            |           |          ^
 *         `---------------'-------> STOPPING <-----' -> RELEASING
 *
 * Everything that happens asks for a turn (coll_kick()).  Only the turn moves on when a state has nothing left to
 * wait for, and only the turn frees.  A failure, wherever it is found, moves to STOPPING at once, and from then
 * on no I/O begins.  The members are told when no disk request is under way any more; buffers are freed when
 * the connections have let go of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/probe.h"
#include "env/lines.h"
#include "iop/coll/core/pool.h"
#include "iop/coll/core/trace.h"
#include "iop/coll/priv.h"
#include "iop/coll/service.h"
#include "iop/epoch/epochs.h"
#include "proto/crowd.h"

/*
 * Life
 */
static void coll_tables_free(struct coll *coll)
{
	free(coll->scattered);
	free(coll->took);
	free(coll->msgs);
	free(coll->index);
	free(coll->disk);
}

static int coll_tables_new(struct coll *coll, const struct coll_to *to, uint32_t size)
{
	coll->disk = calloc(to->reactor->ndisks, sizeof(*coll->disk));
	coll->index = calloc(size, sizeof(*coll->index));
	coll->msgs = calloc(size, sizeof(*coll->msgs));
	coll->took = calloc(size / 8 + 1, 1);
	if (to->req->joint)
		coll->scattered = calloc(size, sizeof(*coll->scattered));
	if (coll->disk && coll->index && coll->msgs && coll->took &&
	    (coll->scattered || !to->req->joint))
		return 0;
	coll_tables_free(coll);
	return -ENOMEM;
}

/* Failed ones, too: what was moved was asked for. */
static void job_count(const struct coll *coll)
{
	struct ddio_job_status *st = &jobs_get(&coll->reactor->jobs, coll->req->job)->st;

	st->collectives++;
	if (coll_writes(coll))
		st->coll_write_bytes += coll->done.bytes_needed;
	else
		st->coll_read_bytes += coll->done.bytes_needed;
}

static void coll_free(struct coll *coll)
{
	struct coll_group *group = coll->group;
	uint32_t d;

	job_count(coll);
	coll_trace_end(coll);
	DDIO_PROBE(collective_end, coll->req->start.op, coll->req->start.file.name,
		   coll->verdict.status, coll->done.bytes_needed,
		   ddio_env_now(coll->reactor->env) - coll->begin_ns);
	coll_watch_end(coll);
	for (d = 0; d < coll->ndisks; d++)
		coll_disk_free(&coll->disk[d]);
	ddio_list_del(&coll->link);
	ddio_list_del(&coll->group_link);
	group->running--;
	coll_group_release(group);
	coll_req_put(coll->req);
	coll_tables_free(coll);
	free(coll);
}

static bool any_doubts(const struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++)
		if (coll->disk[d].doubts)
			return true;
	return false;
}

static bool disks_idle(const struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++)
		if (!coll_disk_idle(&coll->disk[d]))
			return false;
	return true;
}

static void committed(struct commit *commit, int err)
{
	struct coll_disk *cd = commit->arg;

	cd->coll->io--;
	if (err)
		coll_fail_disk(cd, NULL, err, "commit");
	coll_kick(cd->coll);
}

static void commit(struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++) {
		struct coll_disk *cd = &coll->disk[d];

		if (coll->state == COLL_DOUBTING && !cd->doubts)
			continue;
		cd->commit.done = committed;
		cd->commit.arg = cd;
		cd->commit.early = coll->state == COLL_DOUBTING;
		coll->io++;
		store_commit(cd->disk->store, &cd->commit);
	}
}

/* Fails the collective if the disk takes no more writes. */
static bool disk_refuses(struct coll_disk *cd)
{
	int err = coll_writes(cd->coll) ? store_stopped(cd->disk->store) : 0;

	if (err)
		coll_fail_disk(cd, NULL, err, "writing after a failed flush");
	return err;
}

static void run(struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++) {
		if (disk_refuses(&coll->disk[d]))
			return;
		if (coll_disk_buffers(&coll->disk[d])) {
			coll_fail_memory(coll);
			return;
		}
	}
	for (d = 0; d < coll->ndisks && coll->state == COLL_RUNNING; d++)
		coll_disk_run(&coll->disk[d]);
}

static void stop(struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++)
		coll_disk_stop(&coll->disk[d]);
}

/* What an atomic write has written waits for the decision. */
static void decide_later(struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++)
		coll_hold_end(&coll->disk[d]);
	if (coll_req_flag(coll->req, DDIO_COLL_ATOMIC))
		epochs_watch(coll->reactor);
}

/* Begins what the state is for. */
static void entered(struct coll *coll)
{
	switch (coll->state) {
	case COLL_PLANNING:
		break;
	case COLL_RUNNING:
		run(coll);
		break;
	case COLL_DOUBTING:
	case COLL_COMMITTING:
		commit(coll);
		break;
	case COLL_STOPPING:
		stop(coll);
		break;
	case COLL_RELEASING:
	case COLL_OVER:
		decide_later(coll);
		coll_tell(coll);
		break;
	}
}

/* Returns the state that is due now. */
static enum coll_state due(struct coll *coll)
{
	enum coll_planned planned;

	switch (coll->state) {
	case COLL_PLANNING:
		planned = coll_plan(coll);
		if (planned == COLL_PLAN_MORE)
			coll_kick(coll);
		if (planned != COLL_PLAN_OVER)
			return COLL_PLANNING;
		/* Planning may have failed. */
		if (coll->state != COLL_PLANNING)
			return coll->state;
		return any_doubts(coll) ? COLL_DOUBTING : COLL_RUNNING;
	case COLL_DOUBTING:
		return coll->io ? COLL_DOUBTING : COLL_RUNNING;
	case COLL_RUNNING:
		if (!disks_idle(coll))
			return COLL_RUNNING;
		if (coll_writes(coll) && coll_req_flag(coll->req, DDIO_COLL_SYNC))
			return COLL_COMMITTING;
		return COLL_OVER;
	case COLL_COMMITTING:
		return coll->io ? COLL_COMMITTING : COLL_OVER;
	case COLL_STOPPING:
		return coll->io ? COLL_STOPPING : COLL_RELEASING;
	case COLL_RELEASING:
		return coll->sends ? COLL_RELEASING : COLL_OVER;
	case COLL_OVER:
		break;
	}
	return COLL_OVER;
}

static void turn(void *arg)
{
	struct coll *coll = arg;
	enum coll_state state;

	coll->turning = false;
	if (coll->state == COLL_RUNNING) {
		sweep_go_on(coll);
		coll_ask_flush(coll);
	}
	while ((state = due(coll)) != coll->state)
		coll_enter(coll, state);
	if (coll->state == COLL_RUNNING)
		coll_ask_flush(coll);
	if (coll->state == COLL_OVER && !coll->turning)
		coll_free(coll);
}

/*
 * Beginning
 */
static void find_disks(struct coll *coll)
{
	const struct ddio_file_record *file = &coll->req->start.file;
	struct iop_disk *disk;
	uint32_t i;

	for (i = 0; i < file->ndisks; i++) {
		struct coll_disk *cd = &coll->disk[coll->ndisks];

		disk = reactor_disk(coll->reactor, file->disks[i]);
		if (!disk)
			continue;
		ddio_list_init(&cd->sweep);
		cd->coll = coll;
		cd->disk = disk;
		cd->stripe = i;
		coll->ndisks++;
	}
}

static struct coll *coll_new(struct coll_to *to, struct coll_group *group)
{
	const struct ddio_msg_coll_start *st = &to->req->start;
	struct coll *coll = calloc(1, sizeof(*coll));

	if (!coll)
		return NULL;
	if (coll_tables_new(coll, to, group->size)) {
		free(coll);
		return NULL;
	}
	coll->reactor = to->reactor;
	coll->req = to->req;
	coll->group = group;
	coll->state = COLL_PLANNING;
	coll->verdict.lost = COLL_NOBODY;
	coll->entered = entered;
	coll->ops = coll_writes(coll) ? &slot_write_ops : &slot_read_ops;
	coll->turn.fn = turn;
	coll->turn.arg = coll;
	coll->done.op = st->op;
	coll->block_size = st->file.ref.block;
	coll->begin_ns = ddio_env_now(coll->reactor->env);
	ddio_list_init(&coll->asking);
	coll_share_use(coll);
	find_disks(coll);
	ddio_list_add(&coll->link, &coll->reactor->colls);
	ddio_list_add(&coll->group_link, &group->colls);
	group->running++;
	return coll;
}

/* Returns true if the collective may begin here; otherwise sets *@v to the reason. */
static bool may_begin(struct coll_req *req, const struct coll_group *group, struct verdict *v)
{
	const struct early *early = coll_group_early(group, req->start.op);

	if (coll_req_failed(req)) {
		*v = req->verdict;
		return false;
	}
	if (early) {
		verdict_set(v, early->status,
			    early->status == DDIO_ST_MEMBER_LOST ? early->rank : COLL_NOBODY,
			    "given up by a member before it began: %s",
			    ddio_status_text(early->status));
		return false;
	}
	if (group->reactor->stopping) {
		verdict_set(v, DDIO_ST_SHUTDOWN, COLL_NOBODY, SERVER_STOPPING);
		return false;
	}
	if (group->size != req->start.nprocs) {
		verdict_set(v, DDIO_ST_MISMATCH, COLL_NOBODY,
			    "a request for %u processes in a group of %u", req->start.nprocs,
			    group->size);
		return false;
	}
	if (group->running >= COLL_MAX_RUNNING) {
		verdict_set(v, DDIO_ST_BUSY, COLL_NOBODY,
			    "the group already has %u collectives running", group->running);
		return false;
	}
	return coll_group_complete(group, coll_req_flag(req, DDIO_COLL_NEED), v);
}

static void refuse(struct coll_to *to, struct coll_group *group, const struct verdict *v)
{
	struct ddio_msg_coll_done done = { .op = to->req->start.op };

	to->reactor->refused++;
	ddio_env_log_caused(to->reactor->env, DDIO_LOG_WARN,
			    "collective %llu of file \"%s\" refused: %s",
			    (unsigned long long)done.op, to->req->start.file.name, v->text);
	coll_req_fail(to->req, to->reactor, v);
	if (group)
		coll_done_send(group, &done, v);
	coll_req_put(to->req);
}

void coll_begin(struct coll_to *to)
{
	struct coll_req *req = to->req;
	struct coll_group *group = coll_group_find(to->reactor, req->start.group);
	struct verdict v;
	struct coll *coll;

	/* Reactor 0 knows the group, so its members were connected here as well, and have gone. */
	if (!group) {
		verdict_set(&v, DDIO_ST_MEMBER_LOST, COLL_NOBODY,
			    "no member of the group is attached to reactor %u", to->reactor->index);
		refuse(to, NULL, &v);
		return;
	}
	/* One whose descriptions were spread may begin after later ones. */
	if (req->start.op > group->last_op)
		group->last_op = req->start.op;
	if (!may_begin(req, group, &v)) {
		refuse(to, group, &v);
		return;
	}
	coll = coll_new(to, group);
	if (!coll) {
		verdict_set(&v, DDIO_ST_NO_MEMORY, COLL_NOBODY,
			    "no memory for a collective of %u processes", group->size);
		refuse(to, group, &v);
		return;
	}
	coll->reactor->collectives++;
	DDIO_PROBE(collective_begin, req->start.op, req->start.file.name, group->size,
		   coll_writes(coll));
	coll_trace_begin(coll);
	coll_watch_begin(coll);
	coll_kick(coll);
}

/*
 * The reactor
 */
/**
 * coll_init - prepare a reactor for collectives
 * @reactor: its lists of groups, collectives and buffers are set up
 */
void coll_init(struct reactor *reactor)
{
	ddio_list_init(&reactor->groups);
	ddio_list_init(&reactor->colls);
	ddio_list_init(&reactor->spare);
	reactor->share_min = COLL_SHARE_MIN;
	reactor->told_max = DDIO_CROWD_ENTRIES;
}

/**
 * coll_exit - undo coll_init()
 * @reactor: its clients are gone and no collective runs
 */
void coll_exit(struct reactor *reactor)
{
	struct coll_group *group, *tmp;

	ddio_list_for_each_entry_safe(group, tmp, &reactor->groups, link)
		coll_group_release(group);
	ddio_hash_fini(&reactor->groups_by_id);
	ddio_hash_fini(&reactor->members);
	ddio_hash_fini(&reactor->members_by_rank);
	coll_buffers_drop(reactor);
}

void coll_stop(struct reactor *reactor)
{
	struct coll *coll, *tmp;
	struct coll_group *group;
	struct verdict v;

	verdict_set(&v, DDIO_ST_SHUTDOWN, COLL_NOBODY, SERVER_STOPPING);
	ddio_list_for_each_entry(group, &reactor->groups, link)
		coll_spreads_end(group, 0, &v);
	ddio_list_for_each_entry_safe(coll, tmp, &reactor->colls, link)
		coll_fail_here(coll, DDIO_ST_SHUTDOWN, COLL_NOBODY, "%s",
			       ddio_status_text(DDIO_ST_SHUTDOWN));
}

bool coll_idle(const struct reactor *reactor)
{
	return ddio_list_empty(&reactor->colls);
}

bool coll_uses(const struct reactor *reactor, uint64_t file)
{
	struct coll *coll;

	ddio_list_for_each_entry(coll, &reactor->colls, link)
		if (coll->opened && coll->req->start.file.ref.id == file)
			return true;
	return false;
}
