// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of mounts' requests about locks, and what happens to locks when mounts end. */
#include <errno.h>
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"

static struct locks *locks_of(const struct server_request *req)
{
	return &req->reactor->iop->locks;
}

static struct file_lock lock_of(const struct server_request *req, const struct ddio_msg_fs_lock *x)
{
	bool flock = x->flags & DDIO_FS_LOCK_FLOCK;

	return (struct file_lock){
		.mount = fs_mount(req),
		.owner = x->owner,
		.start = flock ? 0 : x->start,
		.end = flock ? UINT64_MAX : x->end,
		.pid = x->pid,
		.type = x->type,
		.flock = flock,
	};
}

int serve_fs_lock_test(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_lock x;
	struct file_lock want, held;

	FS_DECODE(req, payload, fs_lock, &x, "number, type or range");
	if (!fs_need_mount(req))
		return 0;
	want = lock_of(req, &x);
	x.flags &= DDIO_FS_LOCK_FLOCK;
	x.type = DDIO_FS_LOCK_NONE;
	if (locks_test(locks_of(req), x.ino, &want, &held)) {
		x.type = held.type;
		x.start = held.start;
		x.end = held.end;
		x.owner = held.owner;
		x.pid = held.pid;
		if (held.mount != want.mount)
			x.flags |= DDIO_FS_LOCK_OTHER;
	}
	FS_REPLY(req, fs_lock, &x, false);
	return 0;
}

static int reply_lock(struct server_request *req, int err)
{
	if (err)
		server_fail_errno(req, err, "locking");
	else
		server_reply(req, NULL, 0);
	return 0;
}

static void waited(struct lock_wait *wait, int err)
{
	struct server_request *req = wait->arg;

	req->gone = NULL;
	if (req->client)
		req->client->requests++;
	reply_lock(req, err);
}

/* Ends a request whose client is gone: there is no one to reply to. */
static void waiter_gone(struct server_request *req)
{
	locks_forget(locks_of(req), req->data);
	server_request_end(req);
}

int serve_fs_lock_set(struct server_request *req, const void *payload)
{
	struct locks *locks = locks_of(req);
	struct lock_wait *wait = NULL;
	struct ddio_msg_fs_lock x;
	struct file_lock want;
	int err;

	FS_DECODE(req, payload, fs_lock, &x, "number, type or range");
	if (!fs_need_mount(req))
		return 0;
	/* Somebody else may have had it since the mount was last heard. */
	if (x.flags & DDIO_FS_LOCK_AGAIN && !ns_mount_keeps(fs_mount(req)))
		return reply_lock(req, -ESTALE);
	want = lock_of(req, &x);
	/* new locks wait while mounts tell again which they hold */
	locks->held = ns_grace(fs_ns(req)) > 0;
	if (x.flags & DDIO_FS_LOCK_WAIT || locks->held || locks_line(locks, x.ino, want.flock)) {
		wait = calloc(1, sizeof(*wait));
		if (!wait)
			return reply_lock(req, -ENOLCK);
		req->data = wait;
		wait->id = x.id;
		wait->once = !(x.flags & DDIO_FS_LOCK_WAIT);
		wait->done = waited;
		wait->arg = req;
	}
	if (x.flags & DDIO_FS_LOCK_AGAIN && wait && wait->once)
		wait = NULL;
	err = locks_set(locks, x.ino, &want, x.flags & DDIO_FS_LOCK_AGAIN, wait);
	if (err != -EINPROGRESS)
		return reply_lock(req, err);
	/* while it waits it does not count for its client */
	req->gone = waiter_gone;
	req->client->requests--;
	return 0;
}

int serve_fs_lock_cancel(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	if (!fs_need_mount(req))
		return 0;
	locks_cancel(locks_of(req), fs_mount(req), x.ino);
	server_reply(req, NULL, 0);
	return 0;
}

int serve_fs_unlock_owner(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_owner x;

	FS_DECODE(req, payload, fs_owner, &x, "number");
	if (!fs_need_mount(req))
		return 0;
	locks_drop_owner(locks_of(req), x.ino, fs_mount(req), x.owner);
	server_reply(req, NULL, 0);
	return 0;
}

static bool mount_lost(void *ctx, struct ns_mount *mount, uint64_t *steps)
{
	struct ddio_iop *iop = ctx;

	return locks_drop_mount(&iop->locks, mount, -ESTALE, steps) &&
	       fs_leases_lost(iop, mount, steps);
}

static void mount_turn(void *arg)
{
	ns_mounts_go_on(arg);
}

static void mounts_more(void *ctx)
{
	struct ddio_iop *iop = ctx;

	ddio_env_post(iop->reactors[0].env, &iop->mount_turn);
}

static void mounts_settled(void *ctx)
{
	struct ddio_iop *iop = ctx;

	locks_settle(&iop->locks);
}

static const struct ns_mount_ops mount_ops = {
	.lost = mount_lost,
	.more = mounts_more,
	.settled = mounts_settled,
};

static void lock_turn(void *arg)
{
	locks_go_on(arg);
}

static void lock_more(void *arg)
{
	struct ddio_iop *iop = arg;

	ddio_env_post(iop->reactors[0].env, &iop->lock_turn);
}

void fs_node_start(struct ddio_iop *iop)
{
	if (!iop->ns)
		return;
	ns_mount_watch(iop->ns, &mount_ops, iop);
	iop->mount_turn.fn = mount_turn;
	iop->mount_turn.arg = iop->ns;
	iop->lock_turn.fn = lock_turn;
	iop->lock_turn.arg = &iop->locks;
	iop->locks.more = lock_more;
	iop->locks.arg = iop;
	fs_leases_start(iop);
}

bool fs_reactor_idle(const struct reactor *reactor)
{
	const struct ddio_iop *iop = reactor->iop;

	return reactor->index ||
	       !(iop->locks.busy || iop->leases.busy || (iop->ns && ns_mounts_ending(iop->ns)));
}

void fs_reactor_stop(struct reactor *reactor)
{
	if (reactor->index)
		return;
	locks_stop(&reactor->iop->locks, -ESHUTDOWN);
	fs_mounts_unwatch(reactor->iop);
	if (reactor->iop->ns)
		ns_mounts_unwatch(reactor->iop->ns);
	fs_leases_stop(reactor);
}
