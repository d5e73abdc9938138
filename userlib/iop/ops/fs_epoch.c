// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Epochs of files at the name space.  An epoch is open from NS_EPOCH on, in memory only, for the connection that asked.
 * NS_COMMIT decides it, together with the file's size and times, in one journalled change.  What is neither open nor in the
 * inode is aborted, or was settled everywhere; so nothing has to be remembered of those that were given up.  A file has
 * one open epoch at most, and none while disks may still have to settle the one before: its inode has room for one.
 *
 * NS_COMMIT_FILES decides epochs of several files by one change of all their inodes; so none is decided without the others.
 */
#include <errno.h>
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

/**
 * struct open_epoch - one that is not decided
 * @node: in iop->epochs, by @ino; @link: in client->opened
 */
struct open_epoch {
	struct ddio_hash_node node;
	struct ddio_list link;
	struct client *client;
	uint64_t ino, number;
};

bool fs_epoch_is_open(const struct server_request *req, uint64_t ino)
{
	return ddio_hash_find(&req->reactor->iop->epochs, ino) != NULL;
}

static struct bound *bound_of(struct reactor *reactor)
{
	return &reactor->bounds.at[BOUND_EPOCHS];
}

static struct open_epoch *find(const struct server_request *req, uint64_t ino)
{
	struct ddio_hash_node *node = ddio_hash_find(&req->reactor->iop->epochs, ino);

	return node ? ddio_container_of(node, struct open_epoch, node) : NULL;
}

static void forget(struct open_epoch *e)
{
	bound_put(bound_of(e->client->reactor), &e->client->epochs, 1);
	ddio_hash_del(&e->client->reactor->iop->epochs, &e->node);
	ddio_list_del(&e->link);
	free(e);
}

void fs_epochs_gone(struct client *client)
{
	struct open_epoch *e, *tmp;

	ddio_list_for_each_entry_safe(e, tmp, &client->opened, link)
		forget(e);
}

/* A number that no other epoch has: whoever is asked about it once may be asked again after any time. */
static uint64_t draw(struct server_request *req)
{
	uint64_t number = 0;

	while (!number) {
		ddio_env_random(req->reactor->env, &number, sizeof(number));
		number %= DDIO_EPOCH_MAX;
	}
	return number;
}

/* Opens an epoch of the inode: 0 or -errno. */
static int epoch_open(struct server_request *req, uint64_t ino, uint64_t *number)
{
	struct open_epoch *e;

	if (!req->client)
		return -ECONNRESET;
	if (find(req, ino) || !bound_take(bound_of(req->reactor), &req->client->epochs))
		return -EBUSY;
	e = malloc(sizeof(*e));
	if (!e) {
		bound_put(bound_of(req->reactor), &req->client->epochs, 1);
		return -ENOMEM;
	}
	*e = (struct open_epoch){ .client = req->client, .ino = ino, .number = draw(req) };
	ddio_hash_add(&req->reactor->iop->epochs, &e->node, ino);
	ddio_list_add(&e->link, &req->client->opened);
	*number = e->number;
	return 0;
}

int serve_ns_epoch(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_epoch x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, ns_epoch, &x, "number or epoch");
	err = ns_settled_epoch(fs_ns(req), x.id, x.settled, &inode);
	if (!err && !inode.nlink)
		err = -ENOENT;
	if (!err && inode.flags & INODE_FROZEN)
		err = -EROFS;
	x = (struct ddio_msg_ns_epoch){ .id = x.id, .settled = inode.epoch, .size = inode.size };
	if (!err && !inode.epoch)
		err = epoch_open(req, x.id, &x.epoch);
	if (err == -EBUSY)
		server_fail(req, DDIO_ST_BUSY,
			    "an atomic write of file %llu is under way, or the connection has too "
			    "many that are not decided",
			    (unsigned long long)x.id);
	else if (err)
		server_fail_errno(req, err, "beginning an atomic write");
	else
		FS_REPLY(req, ns_epoch, &x, false);
	inode_free(&inode);
	return 0;
}

static int commit(struct server_request *req, const struct ddio_msg_ns_epoch *x,
		  struct inode *inode)
{
	const struct ddio_msg_fs_wrote wrote = {
		.ino = x->id, .end = x->size, .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES
	};
	struct open_epoch *e = find(req, x->id);
	int err;

	if (!e || e->number != x->epoch) {
		err = ns_settled_epoch(fs_ns(req), x->id, 0, inode);
		/* It may have been decided before, and the answer been lost. */
		return err || inode->epoch == x->epoch ? err : -ECANCELED;
	}
	err = ns_settled_epoch(fs_ns(req), x->id, 0, inode);
	if (!err && !inode->nlink)
		err = -ENOENT;
	inode_free(inode);
	if (!err)
		err = ns_commit_epoch(fs_ns(req), &wrote, x->epoch, inode);
	forget(e);
	return err;
}

int serve_ns_commit(struct server_request *req, const void *payload)
{
	struct inode inode = { .ino = 0 };
	struct ddio_msg_ns_epoch x;
	int err;

	FS_DECODE(req, payload, ns_epoch, &x, "number or epoch");
	err = commit(req, &x, &inode);
	x.size = inode.size;
	if (err == -ECANCELED)
		server_fail(
			req, DDIO_ST_CANCELLED,
			"the atomic write of file %llu was given up: its connection broke, or it "
			"took too long",
			(unsigned long long)x.id);
	else if (err)
		server_fail_errno(req, err, "deciding an atomic write");
	else
		FS_REPLY(req, ns_epoch, &x, true);
	inode_free(&inode);
	return 0;
}

/*
 * Several files
 */
static struct open_epoch *find_own(const struct server_request *req,
				   const struct ddio_msg_ns_epoch *x)
{
	struct open_epoch *e = find(req, x->id);

	return e && e->number == x->epoch && e->client == req->client ? e : NULL;
}

static uint32_t count_open(const struct server_request *req, const struct ddio_msg_ns_epochs *x)
{
	uint32_t i, n = 0;

	for (i = 0; i < x->n; i++)
		n += find_own(req, &x->epochs[i]) != NULL;
	return n;
}

static void forget_own(const struct server_request *req, const struct ddio_msg_ns_epochs *x)
{
	struct open_epoch *e;
	uint32_t i;

	for (i = 0; i < x->n; i++) {
		e = find_own(req, &x->epochs[i]);
		if (e)
			forget(e);
	}
}

/* They may have been decided before, and the answer been lost: 0, with the sizes, or -errno. */
static int were_committed(const struct server_request *req, struct ddio_msg_ns_epochs *x)
{
	struct inode inode;
	uint32_t i;
	int err = 0;

	for (i = 0; i < x->n && !err; i++) {
		err = ns_settled_epoch(fs_ns(req), x->epochs[i].id, 0, &inode);
		if (!err && inode.epoch != x->epochs[i].epoch)
			err = -ECANCELED;
		x->epochs[i].size = inode.size;
		inode_free(&inode);
	}
	return err;
}

/* One that is not open any more takes all others with it. */
static int commit_files(struct server_request *req, struct ddio_msg_ns_epochs *x)
{
	int err = 0;

	if (!(x->flags & DDIO_EPOCH_GIVE_UP))
		err = count_open(req, x) == x->n ? ns_commit_epochs(fs_ns(req), x)
						 : were_committed(req, x);
	forget_own(req, x);
	return err;
}

static bool may_commit(const struct server_request *req, const struct ddio_msg_ns_epochs *x)
{
	bool may = true;
	uint32_t i;

	for (i = 0; i < x->n && user_of(req); i++)
		may &= user_has(req, x->epochs[i].id, DDIO_GRANT_WRITE);
	return may;
}

int serve_ns_commit_files(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_epochs x;
	int err;

	FS_DECODE(req, payload, ns_epochs, &x, "number or epoch");
	if (!may_commit(req, &x)) {
		server_fail(req, DDIO_ST_PERMISSION,
			    "the user may not write all files of the epoch");
		ddio_msg_ns_epochs_free(&x);
		return 0;
	}
	err = commit_files(req, &x);
	if (err == -ECANCELED)
		server_fail(req, DDIO_ST_CANCELLED,
			    "the epoch was given up: its connection broke, or it took too long");
	else if (err)
		server_fail_errno(req, err, "deciding an epoch");
	else
		FS_REPLY(req, ns_epochs, &x, true);
	ddio_msg_ns_epochs_free(&x);
	return 0;
}

int serve_ns_decided(struct server_request *req, const void *payload)
{
	struct inode inode = { .ino = 0 };
	struct ddio_msg_ns_epoch x;
	struct open_epoch *e;
	uint32_t flags = 0;
	int err;

	FS_DECODE(req, payload, ns_epoch, &x, "number or epoch");
	e = find(req, x.id);
	if (e && e->number == x.epoch && x.flags & DDIO_EPOCH_GIVE_UP)
		forget(e);
	else if (e && e->number == x.epoch)
		flags = DDIO_EPOCH_OPEN;
	err = ns_settled_epoch(fs_ns(req), x.id, 0, &inode);
	if (!err && inode.epoch == x.epoch)
		flags = DDIO_EPOCH_COMMITTED;
	x.flags = flags;
	x.size = inode.size;
	/* A decision that the machine's death undoes is none yet. */
	if (err && err != -ESTALE)
		server_fail_errno(req, err, "looking for an atomic write");
	else
		FS_REPLY(req, ns_epoch, &x, true);
	inode_free(&inode);
	return 0;
}
