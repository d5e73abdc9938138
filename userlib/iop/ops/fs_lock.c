// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of mounts about locks, and what becomes of locks when mounts end. */
#include <errno.h>
#include "iop/ops/fs.h"

static struct locks *locks_of(const struct server_request *req)
{
	return &server_of(req->reactor->iop)->locks;
}

static struct ddio_lock lock_of(const struct server_request *req, const struct ddio_msg_fs_lock *x)
{
	bool flock = x->flags & DDIO_FS_LOCK_FLOCK;

	return (struct ddio_lock){
		.mount = fs_mount(req),
		.owner = x->owner,
		.start = flock ? 0 : x->start,
		.end = flock ? UINT64_MAX : x->end,
		.pid = x->pid,
		.type = x->type,
		.flock = flock,
	};
}

int server_op_fs_lock_test(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_lock x;
	const struct ddio_lock *held;
	struct ddio_lock want;

	FS_DECODE(req, payload, fs_lock, &x, "number, type or range");
	if (!fs_need_mount(req))
		return 0;
	want = lock_of(req, &x);
	held = locks_test(locks_of(req), x.ino, &want);
	x.type = DDIO_FS_LOCK_NONE;
	x.flags &= DDIO_FS_LOCK_FLOCK;
	if (held) {
		x.type = held->type;
		x.start = held->start;
		x.end = held->end;
		x.owner = held->owner;
		x.pid = held->pid;
		if (held->mount != want.mount)
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

	req->lock_wait = NULL;
	if (req->client)
		req->client->c.requests++;
	reply_lock(req, err);
}

int server_op_fs_lock_set(struct server_request *req, const void *payload)
{
	struct locks *locks = locks_of(req);
	struct lock_wait *wait = NULL;
	struct ddio_msg_fs_lock x;
	struct ddio_lock want;
	int err;

	FS_DECODE(req, payload, fs_lock, &x, "number, type or range");
	if (!fs_need_mount(req))
		return 0;
	want = lock_of(req, &x);
	/* while mounts tell theirs again everybody else's wait */
	locks->held = ns_grace(fs_ns(req)) > 0;
	if (x.flags & DDIO_FS_LOCK_WAIT || locks->held) {
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
	req->lock_wait = wait;
	req->client->c.requests--;
	return 0;
}

int server_op_fs_lock_cancel(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	if (!fs_need_mount(req))
		return 0;
	locks_cancel(locks_of(req), fs_mount(req), x.ino);
	server_reply(req, NULL, 0);
	return 0;
}

int server_op_fs_unlock_owner(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_owner x;

	FS_DECODE(req, payload, fs_owner, &x, "number");
	if (!fs_need_mount(req))
		return 0;
	locks_drop_owner(locks_of(req), x.ino, fs_mount(req), x.owner);
	server_reply(req, NULL, 0);
	return 0;
}

static void mount_lost(void *ctx, struct ns_mount *mount)
{
	struct server *server = ctx;

	locks_drop_mount(&server->locks, mount, -ESTALE);
}

static void mounts_settled(void *ctx)
{
	struct server *server = ctx;

	locks_settle(&server->locks);
}

static const struct ns_mount_ops mount_ops = {
	.lost = mount_lost,
	.settled = mounts_settled,
};

void server_fs_begin(struct server *server)
{
	ns_mount_watch(server->iop.ns, &mount_ops, server);
}

void server_fs_end(struct server *server)
{
	locks_free(&server->locks);
}

/* Nobody can be told any more what it waits for. */
void server_fs_request_lost(struct server_request *req)
{
	if (!req->lock_wait)
		return;
	locks_forget(locks_of(req), req->lock_wait);
	req->lock_wait = NULL;
	server_request_end(req);
}

void server_fs_client_gone(struct server_client *sc)
{
	if (sc->mount && sc->c.reactor->iop->ns)
		ns_mount_detach(sc->c.reactor->iop->ns, sc->mount);
	sc->mount = NULL;
}

void server_fs_stop(struct server *server)
{
	locks_stop(&server->locks, -ESHUTDOWN);
}
