// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clones at the name space.  A clone is a file without a name until all of its blocks are there; then it gets name, size
 * and owner in one change.  Until then it belongs to the connection that asked for it: if that ends, it is removed here
 * (reap.c); if the node ends, it is an orphan as any other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ops/clone/priv.h"
#include "iop/ops/fs.h"
#include "iop/ops/user/users.h"

/**
 * struct open_clone - one that has no name yet
 */
struct open_clone {
	struct ns_clone clone;
	struct client *client;
};

/* They are counted with epochs. */
static struct bound *bound_of(struct reactor *reactor)
{
	return &reactor->bounds.at[BOUND_EPOCHS];
}

static void forget(struct open_clone *oc)
{
	bound_put(bound_of(oc->client->reactor), &oc->client->epochs, 1);
	ns_clone_end(&oc->clone);
	free(oc);
}

static struct open_clone *next_of(struct ns *ns, const struct client *client,
				  const struct ns_clone *prev)
{
	struct ns_clone *c = ns_clone_next(ns, prev);

	while (c && ddio_container_of(c, struct open_clone, clone)->client != client)
		c = ns_clone_next(ns, c);
	return c ? ddio_container_of(c, struct open_clone, clone) : NULL;
}

static struct open_clone *find(const struct server_request *req, uint64_t ino)
{
	struct open_clone *oc = NULL;

	do
		oc = next_of(fs_ns(req), req->client, oc ? &oc->clone : NULL);
	while (oc && oc->clone.ino != ino);
	return oc;
}

void clone_names_gone(struct client *client)
{
	struct ns *ns = client->reactor->iop->ns;
	struct open_clone *oc;

	if (!ns || client->reactor->index)
		return;
	while ((oc = next_of(ns, client, NULL))) {
		clone_reap(client->reactor, oc->clone.ino);
		forget(oc);
	}
}

static void reply_clone(struct server_request *req, struct inode *inode, bool named)
{
	struct ddio_file_record rec;
	int err = inode_record(inode, &rec);

	if (err) {
		server_fail_errno(req, err, "reading a file's record");
		return;
	}
	FS_REPLY(req, record, &rec, named);
	ddio_file_record_free(&rec);
}

static void fail(struct server_request *req, int err, uint64_t id, const char *path)
{
	uint32_t status = ddio_status_from_errno(err == -ESTALE ? -ENOENT : err);

	if (err == -EBUSY)
		server_fail(req, status,
			    "another clone of file %llu is being made, or the connection has begun "
			    "too many",
			    (unsigned long long)id);
	else if (path)
		server_fail(req, status, "\"%.300s\": %s", path, ddio_status_text(status));
	else
		server_fail(req, status, "cloning file %llu: %s", (unsigned long long)id,
			    ddio_status_text(status));
}

/*
 * The beginning
 */
static int clone_open(struct server_request *req, uint64_t id, struct inode *inode)
{
	struct open_clone *oc = req->client ? malloc(sizeof(*oc)) : NULL;
	int err;

	if (!oc)
		return req->client ? -ENOMEM : -ECONNRESET;
	oc->client = req->client;
	if (!bound_take(bound_of(req->reactor), &req->client->epochs)) {
		free(oc);
		return -EBUSY;
	}
	err = ns_clone_begin(fs_ns(req), id, &oc->clone, inode);
	if (err) {
		bound_put(bound_of(req->reactor), &req->client->epochs, 1);
		free(oc);
	}
	return err;
}

static void clone_try(struct server_request *req, const void *payload)
{
	struct inode inode = { .ino = 0 };
	struct ddio_msg_ns_size x;
	int err = ddio_get_ns_size(payload, req->msg.length, &x);

	if (err) {
		server_fail_decode(req, err, "number or size");
		return;
	}
	err = clone_open(req, x.id, &inode);
	if (err == -EAGAIN) {
		fs_again(req, payload, clone_try);
	} else if (err) {
		fail(req, err, x.id, NULL);
	} else {
		user_tell(req, inode.ino, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
		reply_clone(req, &inode, false);
	}
	inode_free(&inode);
}

int serve_ns_clone(struct server_request *req, const void *payload)
{
	clone_try(req, payload);
	return 0;
}

/*
 * The name
 */

/* Finds a directory, or makes it.  One that @strict users have made for themselves in its place is not taken. */
static int dir_make(struct ns *ns, uint64_t parent, const char *name, uint32_t mode,
		    const struct inode *owner, bool strict, uint64_t *ino)
{
	struct ddio_msg_fs_make make = { .flags = DDIO_FS_MAKE_EXCL,
					 .parent = parent,
					 .mode = S_IFDIR | mode,
					 .uid = owner->uid,
					 .gid = owner->gid };
	struct inode inode = { .ino = 0 };
	bool made;
	int err;

	snprintf(make.name, sizeof(make.name), "%s", name);
	err = ns_lookup(ns, parent, name, &inode);
	if (err == -ENOENT)
		err = ns_make(ns, NULL, &make, NULL, &inode, &made, NULL);
	if (!err && !inode_is(&inode, S_IFDIR))
		err = -ENOTDIR;
	if (!err && strict && inode.uid != owner->uid)
		err = -EPERM;
	*ino = inode.ino;
	inode_free(&inode);
	return err;
}

/* Snapshots of a file are in a directory that is named after its number, and belongs to its owner, who alone may make them. */
static int snap_parent(const struct server_request *req, uint64_t from, uint64_t *parent)
{
	static const struct inode root;
	const struct ddio_who *who = user_of(req);
	struct ns *ns = fs_ns(req);
	struct inode inode;
	char name[24];
	uint64_t top;
	int err = ns_inode(ns, from, &inode);

	if (!err && !inode.nlink)
		err = -ENOENT;
	if (!err && who && who->uid != inode.uid)
		err = -EPERM;
	if (!err)
		err = dir_make(ns, DDIO_FS_ROOT, DDIO_SNAP_DIR, 0755, &root, who, &top);
	snprintf(name, sizeof(name), "%llu", (unsigned long long)from);
	if (!err)
		err = dir_make(ns, top, name, 0700, &inode, who, parent);
	inode_free(&inode);
	return err;
}

/* Finds where the name is to be, and whose the file will be. */
static int place(const struct server_request *req, const struct ddio_msg_ns_clone *x, uint64_t from,
		 struct ns_clone_as *as, char name[DDIO_MAX_NAME + 1])
{
	const struct ddio_who *who = user_of(req);
	int err;

	as->name = name;
	if (as->snap) {
		if (strchr(x->path, '/') || strlen(x->path) > DDIO_MAX_NAME)
			return -EINVAL;
		strcpy(name, x->path);
		return snap_parent(req, from, &as->parent);
	}
	err = ns_walk_parent(fs_ns(req), who, x->path, &as->parent, name);
	if (err || !who)
		return err;
	as->uid = who->uid;
	as->gid = who_in_group(who, x->gid) ? x->gid : who->gid;
	return ns_may_dir(fs_ns(req), who, as->parent, NS_MAY_WRITE | NS_MAY_SEARCH);
}

static int clone_name(struct server_request *req, const struct ddio_msg_ns_clone *x,
		      struct open_clone *oc, struct inode *inode)
{
	struct ns_clone_as as = {
		.size = x->size,
		.snap = x->flags & DDIO_CLONE_SNAP,
		.frozen = x->flags & DDIO_CLONE_FROZEN,
		.uid = x->uid,
		.gid = x->gid,
	};
	char name[DDIO_MAX_NAME + 1];
	int err = place(req, x, oc->clone.from, &as, name);

	if (!err)
		err = ns_clone_name(fs_ns(req), &oc->clone, &as, inode);
	if (!err)
		forget(oc);
	return err;
}

static int clone_give_up(struct server_request *req, struct open_clone *oc, struct inode *inode)
{
	uint64_t ino = oc->clone.ino;

	forget(oc);
	/* Whoever gives it up removes it, unless he dies. */
	clone_reap(req->reactor, ino);
	user_tell(req, ino, DDIO_GRANT_REMOVE);
	return ns_inode(fs_ns(req), ino, inode);
}

static void cloned_try(struct server_request *req, const void *payload)
{
	struct inode inode = { .ino = 0 };
	struct ddio_msg_ns_clone x;
	struct open_clone *oc;
	int err = ddio_get_ns_clone(payload, req->msg.length, &x);

	if (err) {
		server_fail_decode(req, err, "number, size, flags or name");
		return;
	}
	oc = find(req, x.id);
	if (!oc)
		err = -ECANCELED;
	else if (x.flags & DDIO_CLONE_GIVE_UP)
		err = clone_give_up(req, oc, &inode);
	else
		err = clone_name(req, &x, oc, &inode);
	if (err == -EAGAIN)
		fs_again(req, payload, cloned_try);
	else if (err)
		fail(req, err, x.id, x.path);
	else
		reply_clone(req, &inode, !(x.flags & DDIO_CLONE_GIVE_UP));
	inode_free(&inode);
}

int serve_ns_cloned(struct server_request *req, const void *payload)
{
	cloned_try(req, payload);
	return 0;
}
