// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of requests about files by their paths, as libddio makes them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "iop/ops/fs_reply.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

static int fail_file(struct server_request *req, int err, const char *path, uint64_t id)
{
	uint32_t status = ddio_status_from_errno(err == -ESTALE ? -ENOENT : err);

	if (path && path[0])
		server_fail(req, status, "file \"%.300s\": %s", path, ddio_status_text(status));
	else
		server_fail(req, status, "file %llu: %s", (unsigned long long)id,
			    ddio_status_text(status));
	return 0;
}

/* @dying: the client must remove the file's objects. */
static int reply_record(struct server_request *req, struct inode *inode, bool dying)
{
	struct ddio_file_record rec;
	int err = inode_record(inode, &rec);

	if (err) {
		server_fail_errno(req, err, "reading a file's record");
	} else {
		rec.dying = dying;
		FS_REPLY(req, record, &rec, dying);
		ddio_file_record_free(&rec);
	}
	inode_free(inode);
	return 0;
}

/* Returns true if the stripe can be served; otherwise the request is over. */
static bool create_check(struct server_request *req, const struct ddio_msg_ns_create *x)
{
	const struct ddio_iop *iop = req->reactor->iop;
	const struct ddio_file_record *rec = &x->rec;
	uint32_t i;

	for (i = 0; i < rec->ndisks; i++) {
		uint32_t number = rec->disks[i];
		const struct ddio_disk_info *info;

		if (number >= iop->conf->ndisks) {
			server_fail(req, DDIO_ST_INVALID,
				    "file \"%.300s\": there is no disk %u, the cluster has %u",
				    x->path, number, iop->conf->ndisks);
			return false;
		}
		info = iop_disk_info(iop, number);
		/* Only its own node knows the sectors of a disk. */
		if (!info || rec->ref.block >= info->sector)
			continue;
		server_fail(
			req, DDIO_ST_INVALID,
			"file \"%.300s\": blocks of %u bytes are smaller than the sectors of disk %s",
			x->path, rec->ref.block, iop->conf->disks[number].name);
		return false;
	}
	return true;
}

/* Marks the file as having data: a client that has its record may write some. */
static int mark_data(struct ns *ns, struct inode *inode)
{
	const struct ddio_msg_fs_wrote x = { .ino = inode->ino, .flags = DDIO_FS_WROTE_DATA };

	if (inode->flags & INODE_DATA)
		return 0;
	inode_free(inode);
	return ns_wrote(ns, NULL, &x, inode);
}

static int regular(struct inode *inode)
{
	if (inode_is(inode, S_IFREG))
		return 0;
	return inode_is(inode, S_IFDIR) ? -EISDIR : -EINVAL;
}

static int owner_set(struct server_request *req, struct ddio_msg_fs_make *make)
{
	user_owns(req, make);
	return ns_may_dir(fs_ns(req), user_of(req), make->parent, NS_MAY_WRITE | NS_MAY_SEARCH);
}

static int create_new(struct server_request *req, const struct ddio_msg_ns_create *x,
		      struct inode *inode)
{
	struct ns *ns = fs_ns(req);
	const struct stripe stripe = { .seed = x->rec.ref.seed ? x->rec.ref.seed : ns_seed(ns),
				       .block = x->rec.ref.block,
				       .layout = x->rec.ref.layout,
				       .ndisks = x->rec.ndisks,
				       .disks = x->rec.disks };
	struct ddio_msg_fs_make make = {
		.flags = DDIO_FS_MAKE_EXCL, .mode = S_IFREG | x->mode, .uid = x->uid, .gid = x->gid
	};
	struct ddio_msg_fs_setattr set = { .mask = DDIO_FS_SET_SIZE, .size = x->rec.size };
	bool made;
	int err = ns_walk_parent(ns, user_of(req), x->path, &make.parent, make.name);

	if (!err)
		err = owner_set(req, &make);
	if (!err)
		err = ns_make(ns, NULL, &make, &stripe, inode, &made, NULL);
	if (!err && x->rec.size) {
		set.ino = inode->ino;
		inode_free(inode);
		err = ns_setattr(ns, NULL, &set, inode);
	}
	return err;
}

static int create_try(struct server_request *req, const struct ddio_msg_ns_create *x)
{
	struct ns *ns = fs_ns(req);
	struct inode inode;
	int err = ns_walk(ns, user_of(req), x->path, &inode);
	bool made = err == -ENOENT;

	if (!err && x->flags & DDIO_NS_EXCL)
		err = -EEXIST;
	else if (!err)
		err = regular(&inode);
	else if (made)
		err = create_new(req, x, &inode);
	if (!err)
		err = mark_data(ns, &inode);
	if (!err) {
		user_made(req, &inode, made);
		return reply_record(req, &inode, false);
	}
	inode_free(&inode);
	return err;
}

static int make_dir(struct server_request *req, const struct ddio_msg_ns_create *x)
{
	struct ddio_msg_fs_make make = {
		.flags = DDIO_FS_MAKE_EXCL, .mode = S_IFDIR | x->mode, .uid = x->uid, .gid = x->gid
	};
	struct inode inode = { .ino = 0 };
	struct ddio_file_record rec = { .ndisks = 0 };
	bool made;
	int err = ns_walk_parent(fs_ns(req), user_of(req), x->path, &make.parent, make.name);

	if (!err)
		err = owner_set(req, &make);
	if (!err)
		err = ns_make(fs_ns(req), NULL, &make, NULL, &inode, &made, NULL);
	if (!err)
		err = ns_dir_record(&inode, &rec);
	inode_free(&inode);
	if (err)
		return err;
	FS_REPLY(req, record, &rec, false);
	ddio_file_record_free(&rec);
	return 0;
}

static int create_run(struct server_request *req, const void *payload);

static void create_again(struct server_request *req, const void *payload)
{
	create_run(req, payload);
}

static int create_run(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_create *x = malloc(sizeof(*x));
	int err = x ? ddio_get_ns_create(payload, req->msg.length, x) : -ENOMEM;

	if (err) {
		free(x);
		return server_fail_decode(req, err, "name, block size, layout, size or disks");
	}
	if (x->flags & DDIO_NS_DIR || create_check(req, x)) {
		err = x->flags & DDIO_NS_DIR ? make_dir(req, x) : create_try(req, x);
		if (err == -EAGAIN)
			fs_again(req, payload, create_again);
		else if (err)
			fail_file(req, err, x->path, 0);
	}
	ddio_file_record_free(&x->rec);
	free(x);
	return 0;
}

int serve_ns_create(struct server_request *req, const void *payload)
{
	return create_run(req, payload);
}

bool path_in_dir(const struct server_request *req, const struct ddio_msg_ns_name *x)
{
	return x->id && x->path[0] && req->client && ddio_conn_users(req->client->conn);
}

/* A name in a directory whose number a mount has shown. */
static int find_in_dir(const struct server_request *req, const struct ddio_msg_ns_name *x,
		       struct inode *inode)
{
	int err = strlen(x->path) > DDIO_MAX_NAME ? -ENAMETOOLONG : 0;

	memset(inode, 0, sizeof(*inode));
	if (!err)
		err = user_may_dir(req, x->id, NS_MAY_SEARCH);
	return err ? err : ns_lookup(fs_ns(req), x->id, x->path, inode);
}

/* A file is found by its number only with a grant, which comes when it is found by its name. */
static int find(const struct server_request *req, const struct ddio_msg_ns_name *x,
		struct inode *inode)
{
	if (path_in_dir(req, x))
		return find_in_dir(req, x, inode);
	if (x->path[0])
		return ns_walk(fs_ns(req), user_of(req), x->path, inode);
	memset(inode, 0, sizeof(*inode));
	if (!user_has(req, x->id, DDIO_GRANT_READ | DDIO_GRANT_WRITE))
		return -EACCES;
	return ns_inode(fs_ns(req), x->id, inode);
}

int serve_ns_lookup(struct server_request *req, const void *payload)
{
	struct ns *ns = fs_ns(req);
	struct ddio_msg_ns_name x;
	struct inode inode;
	int err = ddio_get_ns_name(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name or number");
	err = find(req, &x, &inode);
	if (!err && !inode.nlink)
		err = -ENOENT;
	if (!err)
		err = regular(&inode);
	if (!err)
		err = mark_data(ns, &inode);
	if (!err) {
		if (x.path[0])
			user_tell_inode(req, &inode);
		return reply_record(req, &inode, false);
	}
	inode_free(&inode);
	return fail_file(req, err, x.path, x.id);
}

/* Continues the removal of an orphan. */
static int remove_orphan(struct server_request *req, uint64_t id)
{
	struct inode inode;
	int err;

	memset(&inode, 0, sizeof(inode));
	err = user_of(req) ? -EACCES : ns_remove_begin(fs_ns(req), id, &inode);
	if (!err)
		err = regular(&inode);
	if (!err)
		return reply_record(req, &inode, true);
	inode_free(&inode);
	return fail_file(req, err, NULL, id);
}

/* For an inode that is no regular file, replies only that nothing is left to be removed. */
static int reply_removed(struct server_request *req, struct inode *inode, bool dying)
{
	if (!inode_is(inode, S_IFREG)) {
		free(inode->stripe.disks);
		inode->stripe = (struct stripe){ .block = DDIO_MIN_BLOCK, .ndisks = 1 };
	}
	return reply_record(req, inode, dying);
}

static int remove_path(struct server_request *req, const char *path)
{
	struct ddio_msg_fs_name un = { .flags = 0 };
	struct ns *ns = fs_ns(req);
	struct ns_left left = { .any = false };
	struct inode inode = { .ino = 0 };
	int err = ns_walk_parent(ns, user_of(req), path, &un.parent, un.name);

	if (!err)
		err = ns_may_dir(ns, user_of(req), un.parent, NS_MAY_SEARCH);
	if (!err)
		err = ns_lookup(ns, un.parent, un.name, &inode);
	if (!err)
		err = ns_may_unname(ns, user_of(req), un.parent, &inode);
	if (!err) {
		un.flags = inode_is(&inode, S_IFDIR) ? DDIO_FS_UNLINK_DIR : 0;
		err = ns_unlink(ns, NULL, &un, &left, NULL);
	}
	ddio_file_record_free(&left.rec);
	if (!err) {
		if (left.any)
			user_tell(req, inode.ino, DDIO_GRANT_REMOVE);
		return reply_removed(req, &inode, left.any);
	}
	inode_free(&inode);
	return fail_file(req, err, path, 0);
}

int serve_ns_remove(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_name x;
	int err = ddio_get_ns_name(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name or number");
	return x.path[0] ? remove_path(req, x.path) : remove_orphan(req, x.id);
}

int serve_ns_remove_done(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_size x;
	int err = ddio_get_ns_size(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "number or size");
	err = ns_gone(fs_ns(req), x.id);
	if (err)
		return fail_file(req, err, NULL, x.id);
	server_reply(req, NULL, 0);
	return 0;
}

static int size_extend(struct ns *ns, const struct ddio_msg_ns_size *x, struct inode *inode)
{
	/* The client has written, perhaps within the size: mounts must notice at their next open. */
	struct ddio_msg_fs_wrote wrote = { .ino = x->id,
					   .end = x->size,
					   .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES };
	int err = ns_inode(ns, x->id, inode);

	if (err)
		return err;
	if (!inode->nlink)
		return -ENOENT;
	inode_free(inode);
	return ns_wrote(ns, NULL, &wrote, inode);
}

static int size_set(struct ns *ns, const struct ddio_msg_ns_size *x, struct inode *inode)
{
	const struct ddio_msg_fs_setattr set = { .ino = x->id,
						 .mask = DDIO_FS_SET_SIZE,
						 .size = x->size };
	int err = ns_inode(ns, x->id, inode);

	if (err)
		return err;
	if (!inode->nlink)
		return -ENOENT;
	inode_free(inode);
	return ns_setattr(ns, NULL, &set, inode);
}

int serve_ns_size(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_size x;
	struct inode inode;
	int err = ddio_get_ns_size(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "number or size");
	if (req->msg.opcode == DDIO_OP_NS_SET_SIZE)
		err = size_set(fs_ns(req), &x, &inode);
	else
		err = size_extend(fs_ns(req), &x, &inode);
	inode_free(&inode);
	if (err)
		return fail_file(req, err, NULL, x.id);
	return fs_reply_empty(req, 0, NULL);
}

/* Replies with as much of the listing as fits into a message. */
static void list_reply(struct server_request *req, struct ddio_msg_ns_listing *x)
{
	struct ddio_msg_ns_listing part = *x;

	while (part.n > 1 && ddio_put_ns_listing(NULL, 0, &part) > (ssize_t)DDIO_MAX_SMALL) {
		part.n /= 2;
		part.more = 1;
	}
	FS_REPLY(req, ns_listing, &part, false);
}

/**
 * struct list_job - a listing: server_request.data
 * @post: its next turn, after one that found nothing to show
 */
struct list_job {
	struct ddio_post post;
	struct server_request *req;
	struct ddio_msg_ns_list x;
};

static void list_turn(void *arg)
{
	struct list_job *job = arg;
	struct server_request *req = job->req;
	struct ddio_msg_ns_listing out = { 0 };
	struct ddio_msg_ns_list *x = &job->x;
	int err;

	if (!req->client || req->reactor->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return;
	}
	if (x->flags & DDIO_NS_ALL && user_of(req))
		err = -EACCES;
	else if (x->flags & DDIO_NS_ALL)
		err = ns_list_all(fs_ns(req), x->after_id, x->max, &out, &x->after_id);
	else
		err = ns_list(fs_ns(req), user_of(req), x->dir, x->after, x->max, &out, x->after);
	if (!err && out.more && !out.n) {
		ddio_ns_listing_free(&out);
		ddio_env_post(req->reactor->env, &job->post);
	} else if (!err) {
		list_reply(req, &out);
		ddio_ns_listing_free(&out);
	} else if (x->dir[0]) {
		fail_file(req, err, x->dir, 0);
	} else {
		server_fail_errno(req, err, "listing the name space");
	}
}

int serve_ns_list(struct server_request *req, const void *payload)
{
	struct list_job *job = calloc(1, sizeof(*job));
	int err = job ? ddio_get_ns_list(payload, req->msg.length, &job->x) : -ENOMEM;

	req->data = job;
	if (err)
		return server_fail_decode(req, err, "name or number of entries");
	job->req = req;
	job->post = (struct ddio_post){ .fn = list_turn, .arg = job };
	list_turn(job);
	return 0;
}
