// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests to mend a file's share of a disk: one after the other, with rests between them.  Whoever is not served at once is told
 * so, and asks again.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/service.h"
#include "iop/ops/handlers.h"
#include "iop/ops/mend/mends.h"
#include "iop/ops/mend/priv.h"

/* So long are runs begun for a request. */
#define SERVED_NS 250000000ull
/* So long are others waited for: locks, collectives, checks. */
#define PATIENCE_NS 500000000ull
#define LATER_NS 10000000ull
/* So long does a request wait to begin. */
#define WAIT_NS 5000000000ull
/* A file that nobody has asked for for so long has had its turn; and so it has when another waits for so long. */
#define SILENT_NS 10000000000ull
#define TURN_NS 60000000000ull
/* With so much moved it is recorded, so that the old places are free. */
#define RECORDED (16u << 20)

static void job_turn(void *arg);

/* The request is over, but for the reply. */
static void job_end(struct mend_job *job)
{
	struct mend_disk *m = job->m;
	uint64_t now = ddio_env_now(mend_env(job));

	mend_buf_free(job);
	m->job = NULL;
	m->seen = now;
	if (m->pace.free_ns < now + job->rest)
		m->pace.free_ns = now + job->rest;
}

void mend_fail(struct mend_job *job, int err, const char *what)
{
	job_end(job);
	job->req->obj.offset = job->mend.at * job->req->obj.file.block;
	obj_fail(job->req, err, what);
}

static void job_reply(struct mend_job *job)
{
	job_end(job);
	if (job->over) {
		job->got.flags |= DDIO_MENDED_ALL;
		job->m->file = 0;
	}
	job->got.at = job->mend.at;
	job->got.shared = job->mend.shared;
	job->got.reserved_blocks = job->mend.reserved;
	job->got.space = job->mend.space;
	SERVER_REPLY(job->req, mended, &job->got);
}

static void job_committed(struct commit *commit, int err)
{
	struct mend_job *job = commit->arg;

	if (err) {
		mend_fail(job, err, "recording where blocks lie");
		return;
	}
	job_reply(job);
}

/* Begins nothing more for the request. */
static void job_stop(struct mend_job *job)
{
	struct mend_disk *m = job->m;

	if (!m->moved || (m->moved < RECORDED && !job->over)) {
		job_reply(job);
		return;
	}
	m->moved = 0;
	job->req->commit.done = job_committed;
	job->req->commit.arg = job;
	store_commit(job->req->disk->store, &job->req->commit);
}

void mend_turn(struct mend_job *job)
{
	job->post.fn = job_turn;
	job->post.arg = job;
	ddio_env_post(mend_env(job), &job->post);
}

static void turn_at(struct mend_job *job, uint64_t at)
{
	job->req->timer.fn = job_turn;
	job->req->timer.arg = job;
	if (ddio_timer_arm(mend_env(job), &job->req->timer, at))
		mend_fail(job, -ENOMEM, "waiting");
}

void mend_later(struct mend_job *job)
{
	uint64_t now = ddio_env_now(mend_env(job));

	if (!job->patience)
		job->patience = now + PATIENCE_NS;
	if (now < job->patience) {
		turn_at(job, now + LATER_NS);
		return;
	}
	job->got.flags |= DDIO_MENDED_BUSY;
	job_stop(job);
}

bool mend_may(const struct mend_job *job)
{
	const struct reactor *reactor = job->req->reactor;

	return ddio_list_empty(&reactor->checks) && !coll_uses(reactor, job->req->obj.file.id) &&
	       !store_stopped(job->req->disk->store);
}

/* Returns true if nobody waits for the reply, or it should not take longer. */
static bool is_enough(const struct mend_job *job)
{
	const struct server_request *req = job->req;
	uint64_t now = ddio_env_now(mend_env(job));

	return !req->client || req->reactor->stopping || job->rest || now >= job->until ||
	       now < job->m->pace.free_ns;
}

/* Opens the object: 0; -EAGAIN: others hold the file; or -errno: the request is over, or will be. */
static int job_open(struct mend_job *job)
{
	struct server_request *req = job->req;
	struct mend_disk *m = job->m;
	int err;

	if (req->object)
		return 0;
	if (!store_fetch(req->disk->store, &req->obj.file, NULL))
		return -EAGAIN;
	m->job = NULL;
	err = obj_get(req, false);
	if (err && err != -ENOENT)
		return err;
	if (err && store_lost(req->disk->store, req->obj.file.id)) {
		obj_fail_lost(req);
		return err;
	}
	m->job = job;
	job->over = err;
	if (err)
		job_stop(job);
	return err;
}

/* Finds out what comes next, and begins it. */
static void job_next(struct mend_job *job)
{
	uint64_t at = job->mend.at;
	enum store_mend_next next;

	job->mend.most = mend_run_most(job, job->req->obj.file.block);
	next = store_mend_next(job->req->object, &job->mend);
	if (job->mend.at != at)
		job->patience = 0;
	switch (next) {
	case MEND_MOVE:
		mend_run(job);
		break;
	case MEND_MORE:
		mend_turn(job);
		break;
	case MEND_OVER:
		job->over = true;
		job_stop(job);
	}
}

static void job_turn(void *arg)
{
	struct mend_job *job = arg;
	int err;

	if (is_enough(job)) {
		job_stop(job);
		return;
	}
	if (!mend_may(job) || store_pressed(job->req->disk->store)) {
		mend_later(job);
		return;
	}
	err = job_open(job);
	if (err == -EAGAIN)
		mend_later(job);
	else if (!err)
		job_next(job);
}

static struct mend_disk *mending_of(struct iop_disk *disk)
{
	struct mend_disk *m = disk->mending;

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->disk = disk;
	m->pace.disk = disk;
	pace_reset(&m->pace);
	queue_init(&m->queue, disk->reactor->env, disk->disk, 1, false);
	disk->mending = m;
	return m;
}

/* Returns true if it is the file's turn, and nothing is being served. */
static bool has_turn(struct mend_disk *m, uint64_t file)
{
	uint64_t now = ddio_env_now(m->disk->reactor->env);

	if (m->job)
		return false;
	if (m->file == file)
		return true;
	if (m->file && now - m->seen < SILENT_NS && now - m->since < TURN_NS)
		return false;
	m->file = file;
	m->since = now;
	pace_reset(&m->pace);
	return true;
}

static void job_begin(struct server_request *req, struct mend_disk *m,
		      const struct ddio_msg_obj_mend *x)
{
	struct mend_job *job = calloc(1, sizeof(*job));
	uint64_t now = ddio_env_now(req->reactor->env), begin;

	req->data = job;
	if (!job) {
		server_fail(req, DDIO_ST_NO_MEMORY, "disk %s: no memory to mend a file",
			    req->disk->name);
		return;
	}
	job->m = m;
	job->req = req;
	job->mend = (struct store_mend){ .at = x->at, .longest = x->longest };
	m->job = job;
	/* What was moved at another rate is not rested for at this one. */
	if (m->pace.rate != x->rate)
		pace_reset(&m->pace);
	m->pace.rate = x->rate;
	m->pace.yields = !x->rate;
	/* A rate may demand a longer rest than somebody should wait for a reply. */
	begin = m->pace.free_ns > now ? m->pace.free_ns : now;
	if (begin > now + WAIT_NS)
		begin = now + WAIT_NS;
	job->until = begin + SERVED_NS;
	turn_at(job, begin);
}

static int serve_obj_mend(struct server_request *req, const void *payload)
{
	static const struct ddio_msg_mended waits = { .flags = DDIO_MENDED_WAITS };
	struct ddio_msg_obj_mend x;
	struct mend_disk *m;
	int err = ddio_get_obj_mend(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "file, disk or block");
	req->obj = (struct ddio_msg_obj){ .file = x.file, .disk = x.disk };
	req->disk = reactor_disk(req->reactor, x.disk);
	if (!req->disk) {
		obj_fail_disk(req);
		return 0;
	}
	if (x.file.id >= REC_SHADOW) {
		server_fail(req, DDIO_ST_INVALID, "no file has the number %llu",
			    (unsigned long long)x.file.id);
		return 0;
	}
	m = mending_of(req->disk);
	if (!m)
		server_fail(req, DDIO_ST_NO_MEMORY, "disk %s: no memory to mend a file",
			    req->disk->name);
	else if (has_turn(m, x.file.id))
		job_begin(req, m, &x);
	else
		SERVER_REPLY(req, mended, &waits);
	return 0;
}

static int serve_disk_space(struct server_request *req, const void *payload)
{
	struct ddio_msg_disk_space x;
	struct store_space space;
	int ret;

	if (!obj_decode(req, payload, req->msg.length, true, &ret))
		return ret;
	if (!req->disk) {
		obj_fail_disk(req);
		return 0;
	}
	space = store_space(req->disk->store);
	x = (struct ddio_msg_disk_space){ .free = space.free,
					  .ranges = space.ranges,
					  .longest = space.longest,
					  .shared = store_shared_bytes(req->disk->store) };
	SERVER_REPLY(req, disk_space, &x);
	return 0;
}

/* What waits for its rest to be over does so no longer. */
static void mend_reactor_stop(struct reactor *reactor)
{
	struct mend_job *job;
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++) {
		job = reactor->disks[i].mending ? reactor->disks[i].mending->job : NULL;
		if (job && ddio_timer_armed(&job->req->timer)) {
			ddio_timer_cancel(reactor->env, &job->req->timer);
			mend_turn(job);
		}
	}
}

static void mend_disk_close(struct iop_disk *disk)
{
	free(disk->mending);
	disk->mending = NULL;
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_OBJ_MEND,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_WRITE,
	  .serve = serve_obj_mend },
	{ .opcode = DDIO_OP_DISK_SPACE,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_USER,
	  .serve = serve_disk_space },
};

const struct server_service mend_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.reactor_stop = mend_reactor_stop,
	.disk_close = mend_disk_close,
};
