// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of mounts' requests about themselves, sizes, orphans and durability. */
#include <errno.h>
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

/**
 * struct mount_attach_job - a mount that attaches: server_request.data
 * @post: its next turn, while an earlier mount of the same name ends
 */
struct mount_attach_job {
	struct ddio_post post;
	struct server_request *req;
	struct ddio_msg_fs_attach x;
};

static void attached(struct server_request *req, const struct ddio_msg_fs_attach *x,
		     struct ns_mount *mount, bool known)
{
	struct ddio_msg_fs_attached out = { .boot = req->reactor->iop->boot };
	struct ns *ns = fs_ns(req);

	req->client->mount = mount;
	if (x->flags & DDIO_FS_ATTACH_TOLD)
		ns_mount_told(ns, mount);
	out.grace_ns = ns_grace(ns);
	out.timeout_ns = ns_timeout(ns);
	out.known = known;
	out.life = ns_life(ns);
	out.lost = ns_lost(ns, mount, x);
	/* after a restart the name space waits for the mounts that it knew */
	FS_REPLY(req, fs_attached, &out, !known);
}

/* A mount is one user's.  Whoever is nobody here, as root of a machine that is not trusted, has none. */
static int mount_attach(struct server_request *req, const uint8_t *id, struct ns_mount **mount,
			bool *known)
{
	const struct ddio_who *who = user_of(req);
	int err = who && who->uid == WHO_NOBODY ? -EACCES : 0;

	if (!err)
		err = ns_mount_attach(fs_ns(req), id, mount, known);
	if (err || ns_mount_own(*mount, who))
		return err;
	ns_mount_detach(fs_ns(req), *mount, ddio_env_now(req->reactor->env));
	return -EACCES;
}

static void attach_turn(void *arg)
{
	struct mount_attach_job *job = arg;
	struct server_request *req = job->req;
	struct ns_mount *mount = fs_mount(req);
	bool known = true;
	int err;

	if (!req->client || req->reactor->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return;
	}
	if (mount && !ns_mount_is(mount, job->x.mount)) {
		server_fail(req, DDIO_ST_INVALID, "the connection belongs to another mount");
		return;
	}
	err = mount ? 0 : mount_attach(req, job->x.mount, &mount, &known);
	if (err == -EINPROGRESS)
		ddio_env_post(req->reactor->env, &job->post);
	else if (err)
		server_fail_errno(req, err, "attaching a mount");
	else
		attached(req, &job->x, mount, known);
}

int serve_fs_attach(struct server_request *req, const void *payload)
{
	struct mount_attach_job *job = calloc(1, sizeof(*job));
	int err = job ? ddio_get_fs_attach(payload, req->msg.length, &job->x) : -ENOMEM;

	req->data = job;
	if (err)
		return server_fail_decode(req, err, "mount");
	job->req = req;
	job->post = (struct ddio_post){ .fn = attach_turn, .arg = job };
	attach_turn(job);
	return 0;
}

/**
 * struct detach_job - a mount that ends in good order: server_request.data
 */
struct detach_job {
	struct ns_end end;
	struct server_request *req;
};

static void detached(struct ns_end *end, int err)
{
	fs_reply_empty(ddio_container_of(end, struct detach_job, end)->req, err,
		       "detaching a mount");
}

int serve_fs_detach(struct server_request *req, const void *payload)
{
	struct ns_mount *mount = fs_mount(req);
	struct detach_job *job;
	struct client *client;

	(void)payload;
	if (!fs_need_mount(req))
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return fs_reply_empty(req, -ENOMEM, "detaching a mount");
	*job = (struct detach_job){ .end = { .done = detached }, .req = req };
	req->data = job;
	/* its connections belong to no mount any more */
	ddio_list_for_each_entry(client, &req->reactor->clients, link)
		if (client->mount == mount)
			client->mount = NULL;
	ns_mount_end(fs_ns(req), mount, &job->end);
	return 0;
}

int serve_fs_wrote(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_wrote x;
	struct inode inode;
	bool again;
	int err;

	FS_DECODE(req, payload, fs_wrote, &x, "number, size or flags");
	err = fs_lease_wrote(req, &x);
	again = err == -EALREADY;
	if (err && !again) {
		server_fail_errno(req, err, "writing without the lease");
		return 0;
	}
	err = again ? ns_inode(fs_ns(req), x.ino, &inode)
		    : ns_wrote(fs_ns(req), fs_mount(req), &x, &inode);
	if (!err && !again)
		ns_tell_note(fs_mount(req), &x);
	if (x.flags & DDIO_FS_WROTE_RETURN)
		fs_lease_end(req, x.ino, x.lease);
	return fs_reply_attr_when(req, err, &inode, x.sync, "extending a file");
}

bool fs_end_is_locked(const struct server_request *req, uint64_t ino)
{
	const struct file_lock want = { .mount = fs_mount(req),
					.owner = UINT64_MAX,
					.end = UINT64_MAX,
					.type = DDIO_FS_LOCK_READ,
					.flock = true };
	struct file_lock held;

	return locks_test(&req->reactor->iop->locks, ino | DDIO_FS_LOCK_END, &want, &held);
}

int serve_fs_append(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_append x;
	struct ddio_msg_fs_place out;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_append, &x, "number or length");
	err = ns_append(fs_ns(req), fs_mount(req), &x, fs_end_is_locked(req, x.ino), &out.offset,
			&inode);
	if (err) {
		server_fail_errno(req, err, "appending to a file");
	} else {
		inode_attr(&inode, &out.attr);
		FS_REPLY(req, fs_place, &out, false);
	}
	inode_free(&inode);
	return 0;
}

int serve_fs_alloc(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_alloc x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_alloc, &x, "number or bytes");
	err = ns_alloc(fs_ns(req), &x, &inode);
	return fs_reply_attr(req, err, &inode, "counting blocks");
}

static void synced(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		server_fail_errno(req, err, "committing the name space");
	else
		server_reply(req, NULL, 0);
}

int serve_fs_sync(struct server_request *req, const void *payload)
{
	(void)payload;
	req->commit.done = synced;
	ns_flush(fs_ns(req), &req->commit);
	return 0;
}

int serve_fs_space(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_space out = { .inodes = ns_inodes(fs_ns(req)) };

	(void)payload;
	FS_REPLY(req, fs_space, &out, false);
	return 0;
}

/**
 * struct orphan_listing - a listing of orphans: server_request.data
 * @post: its next turn, after one that found none which nobody has open
 */
struct orphan_listing {
	struct ddio_post post;
	struct server_request *req;
	struct ddio_msg_fs_readdir x;
};

static void orphans_turn(void *arg)
{
	struct orphan_listing *job = arg;
	struct server_request *req = job->req;
	struct ddio_msg_ns_listing out;
	int err;

	if (!req->client || req->reactor->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return;
	}
	err = ns_orphans(fs_ns(req), &job->x.cookie, job->x.max, &out);
	if (err)
		server_fail_errno(req, err, "looking for orphans");
	else if (out.more && !out.n)
		ddio_env_post(req->reactor->env, &job->post);
	else
		FS_REPLY(req, ns_listing, &out, out.n > 0);
	ddio_ns_listing_free(&out);
}

int serve_fs_orphans(struct server_request *req, const void *payload)
{
	struct orphan_listing *job = calloc(1, sizeof(*job));
	int err = job ? ddio_get_fs_readdir(payload, req->msg.length, &job->x) : -ENOMEM;

	req->data = job;
	if (err)
		return server_fail_decode(req, err, "number of entries");
	job->req = req;
	job->post = (struct ddio_post){ .fn = orphans_turn, .arg = job };
	orphans_turn(job);
	return 0;
}

int serve_fs_gone(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;
	int err;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	err = ns_gone(fs_ns(req), x.ino);
	/* another mount may have been faster */
	return fs_reply_empty(req, err == -ESTALE ? 0 : err, "forgetting a file");
}

void fs_client_gone(struct client *client)
{
	uint64_t heard = client->silent ? ddio_conn_last_rx(client->conn)
					: ddio_env_now(client->reactor->env);

	if (client->mount && client->reactor->iop->ns)
		ns_mount_detach(client->reactor->iop->ns, client->mount, heard);
	client->mount = NULL;
	fs_epochs_gone(client);
}
