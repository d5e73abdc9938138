// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of mounts' requests about names and attributes. */
#include <errno.h>
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

/* Bytes of entries that fit into a reply after its head. */
#define ENTRIES_MAX (DDIO_MAX_SMALL - 64)

int serve_fs_lookup(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_name x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_name, &x, "directory or name");
	err = ns_lookup(fs_ns(req), x.parent, x.name, &inode);
	if (!err)
		user_saw_inode(req, inode.ino, inode.mode);
	return fs_reply_attr(req, err, &inode, "looking up a name");
}

int serve_fs_getattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	err = ns_getattr(fs_ns(req), x.ino, &inode);
	return fs_reply_attr(req, err, &inode, "reading attributes");
}

/*
 * Fails a request by which a mount means a name that its kernel knows, if the inode has lost it: another one may
 * have that name now.
 */
static bool is_nameless(struct server_request *req, bool means_name, uint64_t ino)
{
	int err = means_name ? ns_named(fs_ns(req), ino) : 0;

	if (err)
		server_fail_errno(req, err, "looking for an inode's name");
	return err;
}

int serve_fs_setattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_setattr x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_setattr, &x, "number, mask or times");
	if (is_nameless(req, x.mask & DDIO_FS_SET_NAMED, x.ino))
		return 0;
	x.mask &= ~DDIO_FS_SET_NAMED;
	err = ns_setattr(fs_ns(req), fs_mount(req), &x, &inode);
	/* The client is to cut the objects. */
	if (!err && x.mask & DDIO_FS_SET_SIZE)
		user_opened(req, &inode);
	return fs_reply_attr(req, err, &inode, "setting attributes");
}

/* @dir: attributes of the directory that it was made in; NULL, or without a number, if they are not known. */
static int reply_opened(struct server_request *req, int err, struct inode *inode,
			const struct ddio_fs_attr *dir, uint32_t flags, const char *what)
{
	struct ddio_msg_fs_opened x = { .flags = flags };

	if (dir && dir->ino) {
		x.flags |= DDIO_FS_OPENED_DIR;
		x.dir = *dir;
	}
	if (!err && flags & DDIO_FS_OPENED_RECORD)
		err = inode_record(inode, &x.rec);
	if (err) {
		server_fail_errno(req, err, what);
	} else {
		if (inode_is(inode, S_IFREG) && !(inode->flags & INODE_DATA))
			x.flags |= DDIO_FS_OPENED_BARE;
		inode_attr(inode, &x.attr);
		FS_REPLY(req, fs_opened, &x, false);
	}
	ddio_fs_opened_free(&x);
	inode_free(inode);
	return 0;
}

/* Opens the new file for the mount, before anybody else can remove it. */
static int make_open(struct server_request *req, uint64_t ino)
{
	struct inode inode;
	int err = ns_open_file(fs_ns(req), fs_mount(req), ino, true, &inode);

	inode_free(&inode);
	return err;
}

static int make_run(struct server_request *req, const void *payload);

static void make_again(struct server_request *req, const void *payload)
{
	if (!user_denied(req, payload))
		make_run(req, payload);
}

static int make_run(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_make x;
	struct ddio_fs_attr dir;
	struct inode inode;
	uint32_t flags = 0;
	bool made;
	int err;

	FS_DECODE(req, payload, fs_make, &x, "directory, name, mode or target");
	if (x.flags & DDIO_FS_MAKE_OPEN && !fs_need_mount(req))
		return 0;
	user_owns(req, &x);
	err = ns_make(fs_ns(req), fs_mount(req), &x, NULL, &inode, &made, &dir);
	if (err == -EAGAIN) {
		inode_free(&inode);
		return fs_again(req, payload, make_again);
	}
	if (!err && x.flags & DDIO_FS_MAKE_OPEN && inode_is(&inode, S_IFREG))
		err = make_open(req, inode.ino);
	if (!err && inode_is(&inode, S_IFREG))
		flags = DDIO_FS_OPENED_RECORD;
	if (made)
		flags |= DDIO_FS_OPENED_MADE;
	if (!err)
		user_made(req, &inode, made);
	return reply_opened(req, err, &inode, &dir, flags, "making a file or directory");
}

int serve_fs_make(struct server_request *req, const void *payload)
{
	return make_run(req, payload);
}

int serve_fs_open(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_open x;
	struct inode inode;
	uint32_t flags = 0;
	int err;

	FS_DECODE(req, payload, fs_open, &x, "number or flags");
	if (x.flags & DDIO_FS_OPEN_LOOK) {
		err = ns_inode(fs_ns(req), x.ino, &inode);
	} else {
		if (!fs_need_mount(req))
			return 0;
		err = ns_open_file(fs_ns(req), fs_mount(req), x.ino, x.flags & DDIO_FS_OPEN_AGAIN,
				   &inode);
	}
	if (!err && inode_is(&inode, S_IFREG))
		flags = DDIO_FS_OPENED_RECORD;
	if (!err)
		user_opened(req, &inode);
	return reply_opened(req, err, &inode, NULL, flags, "opening a file");
}

int serve_fs_release(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;
	struct ns_left left;
	int err;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	if (!fs_need_mount(req))
		return 0;
	err = ns_release(fs_ns(req), fs_mount(req), x.ino, &left);
	fs_lease_end(req, x.ino, 0);
	return fs_reply_left(req, err, &left, "closing a file");
}

int serve_fs_link(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_link x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_link, &x, "number, directory or name");
	err = ns_link(fs_ns(req), fs_mount(req), &x, &inode);
	return fs_reply_attr(req, err, &inode, "making a link");
}

int serve_fs_unlink(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_unlinked out = { .flags = 0 };
	struct ddio_msg_fs_name x;
	struct ns_left left;
	int err;

	FS_DECODE(req, payload, fs_name, &x, "directory or name");
	err = ns_unlink(fs_ns(req), fs_mount(req), &x, &left, &out.dir);
	if (err) {
		server_fail_errno(req, err, "removing a name");
		return 0;
	}
	out.flags = (out.dir.ino ? DDIO_FS_UNLINKED_DIR : 0) |
		    (left.any ? DDIO_FS_UNLINKED_LEFT : 0);
	out.rec = left.rec;
	if (left.any)
		user_tell(req, left.rec.ref.id, DDIO_GRANT_REMOVE);
	FS_REPLY(req, fs_unlinked, &out, false);
	ddio_fs_unlinked_free(&out);
	return 0;
}

/**
 * struct rename_job - a rename: server_request.data
 * @mount: that of the connection when it came
 * @checked: it is not its first turn, before which it was checked what the user may do
 * @post: its next turn, after one that has not gone all of a long way up
 */
struct rename_job {
	struct ddio_post post;
	struct server_request *req;
	struct ns_mount *mount;
	bool checked;
	struct ddio_msg_fs_rename x;
	struct ns_climb climb;
};

static void rename_go_on(struct ns_climb *climb)
{
	struct rename_job *job = ddio_container_of(climb, struct rename_job, climb);

	ddio_env_post(job->req->reactor->env, &job->post);
}

static void rename_turn(void *arg);

/* There are numbers of inodes again. */
static void rename_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		server_fail_errno(req, err, "committing the name space");
	else
		rename_turn(req->data);
}

static void rename_turn(void *arg)
{
	struct rename_job *job = arg;
	struct server_request *req = job->req;
	struct ns_left left;
	int err;

	if (!req->client || req->reactor->stopping || fs_mount(req) != job->mount) {
		ns_rename_give_up(fs_ns(req), &job->climb);
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return;
	}
	/* Between two turns of a long way the user may have lost the right to it. */
	err = job->checked ? user_check_rename(req, &job->x) : 0;
	job->checked = true;
	memset(&left, 0, sizeof(left));
	if (err)
		ns_rename_give_up(fs_ns(req), &job->climb);
	else
		err = ns_rename(fs_ns(req), job->mount, &job->x, &job->climb, &left);
	if (err == -EAGAIN) {
		req->commit.done = rename_committed;
		ns_commit(fs_ns(req), &req->commit);
		return;
	}
	if (err != -EINPROGRESS)
		fs_reply_left(req, err, &left, "renaming");
	else if (!job->climb.waits)
		rename_go_on(&job->climb);
}

int serve_fs_rename(struct server_request *req, const void *payload)
{
	struct rename_job *job = calloc(1, sizeof(*job));
	int err = job ? ddio_get_fs_rename(payload, req->msg.length, &job->x) : -ENOMEM;

	req->data = job;
	if (err)
		return server_fail_decode(req, err, "directories, names or flags");
	job->req = req;
	job->mount = fs_mount(req);
	job->post = (struct ddio_post){ .fn = rename_turn, .arg = job };
	job->climb.go_on = rename_go_on;
	rename_turn(job);
	return 0;
}

int serve_fs_readlink(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_target out = { .target = "" };
	struct ddio_msg_fs_ino x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	err = ns_inode(fs_ns(req), x.ino, &inode);
	if (!err && !inode.target)
		err = -EINVAL;
	if (err) {
		server_fail_errno(req, err, "reading a symbolic link");
	} else {
		strcpy(out.target, inode.target);
		FS_REPLY(req, fs_target, &out, false);
	}
	inode_free(&inode);
	return 0;
}

int serve_fs_readdir(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_readdir x;
	struct ddio_msg_fs_entries out;
	uint32_t i;
	int err;

	FS_DECODE(req, payload, fs_readdir, &x, "directory or number of entries");
	err = ns_readdir(fs_ns(req), &x, ENTRIES_MAX, &out);
	if (err) {
		server_fail_errno(req, err, "listing a directory");
		return 0;
	}
	if (!fs_listing_waits(req, payload, serve_fs_readdir, &out)) {
		for (i = 0; out.plus && i < out.n; i++)
			user_saw_inode(req, out.ents[i].attr.ino, out.ents[i].attr.mode);
		FS_REPLY(req, fs_entries, &out, false);
	}
	free(out.ents);
	return 0;
}

static int reply_value(struct server_request *req, int err, uint8_t *value, uint32_t len,
		       const char *what)
{
	struct ddio_msg_fs_value out = { .len = len, .data = value };

	if (err)
		server_fail_errno(req, err, what);
	else
		FS_REPLY(req, fs_value, &out, false);
	free(value);
	return 0;
}

int serve_fs_getxattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_xattr x;
	uint8_t *value;
	uint32_t len;
	int err;

	FS_DECODE(req, payload, fs_xattr, &x, "number or name");
	if (is_nameless(req, x.flags & DDIO_FS_XATTR_NAMED, x.ino))
		return 0;
	err = ns_getxattr(fs_ns(req), x.ino, x.name, &value, &len);
	return reply_value(req, err, value, len, "reading an extended attribute");
}

int serve_fs_listxattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_ino x;
	uint8_t *names;
	uint32_t len;
	int err;

	FS_DECODE(req, payload, fs_ino, &x, "number");
	err = ns_listxattr(fs_ns(req), x.ino, &names, &len);
	return reply_value(req, err, names, len, "listing extended attributes");
}

int serve_fs_setxattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_xattr x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_xattr, &x, "number, name or value");
	if (is_nameless(req, x.flags & DDIO_FS_XATTR_NAMED, x.ino))
		return 0;
	err = ns_setxattr(fs_ns(req), fs_mount(req), &x, &inode);
	return fs_reply_attr(req, err, &inode, "setting an extended attribute");
}

int serve_fs_removexattr(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_xattr x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_xattr, &x, "number or name");
	if (is_nameless(req, x.flags & DDIO_FS_XATTR_NAMED, x.ino))
		return 0;
	err = ns_removexattr(fs_ns(req), fs_mount(req), &x, &inode);
	return fs_reply_attr(req, err, &inode, "removing an extended attribute");
}
