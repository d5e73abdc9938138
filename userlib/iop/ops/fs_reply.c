// SPDX-License-Identifier: LGPL-2.1-or-later
/* Replies of the name space. */
#include <errno.h>
#include "iop/ops/fs_reply.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

/* A reply that waits until the changes are durable, or, if commits fall behind or room is short, until they are committed. */
struct fs_late {
	size_t len;
	uint8_t bytes[];
};

static void late_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;
	struct fs_late *late = req->data;

	if (err)
		server_fail_errno(req, err, "committing the name space");
	else
		server_reply(req, late->bytes, late->len);
}

static void reply_late(struct server_request *req, const void *buf, size_t len)
{
	struct fs_late *late = malloc(sizeof(*late) + len);

	if (!late) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the reply");
		return;
	}
	late->len = len;
	if (len)
		memcpy(late->bytes, buf, len);
	free(req->data);
	req->data = late;
	req->commit.done = late_committed;
	(ns_full(fs_ns(req)) ? ns_commit : ns_flush)(fs_ns(req), &req->commit);
}

void fs_reply_buf(struct server_request *req, void *buf, ssize_t len, bool durable)
{
	if (!buf)
		server_fail(req, len < 0 ? DDIO_ST_TOO_BIG : DDIO_ST_NO_MEMORY,
			    "no memory for the reply");
	else if ((durable && ns_sync(fs_ns(req))) || ns_full(fs_ns(req)))
		reply_late(req, buf, (size_t)len);
	else
		server_reply(req, buf, (size_t)len);
	free(buf);
}

int fs_reply_empty(struct server_request *req, int err, const char *what)
{
	if (err)
		server_fail_errno(req, err, what);
	else if (ns_full(fs_ns(req)))
		reply_late(req, NULL, 0);
	else
		server_reply(req, NULL, 0);
	return 0;
}

int fs_reply_attr_when(struct server_request *req, int err, struct inode *inode, bool durable,
		       const char *what)
{
	struct ddio_msg_fs_attr x;

	if (err) {
		server_fail_errno(req, err, what);
	} else {
		inode_attr(inode, &x.attr);
		FS_REPLY(req, fs_attr, &x, durable);
	}
	inode_free(inode);
	return 0;
}

int fs_reply_attr(struct server_request *req, int err, struct inode *inode, const char *what)
{
	return fs_reply_attr_when(req, err, inode, false, what);
}

int fs_reply_left(struct server_request *req, int err, struct ns_left *left, const char *what)
{
	struct ddio_msg_ns_listing x = { .n = left->any, .recs = &left->rec };

	if (err) {
		server_fail_errno(req, err, what);
	} else {
		if (left->any)
			user_tell(req, left->rec.ref.id, DDIO_GRANT_REMOVE);
		FS_REPLY(req, ns_listing, &x, false);
	}
	ddio_file_record_free(&left->rec);
	return 0;
}

/* A request that waits to be tried again. */
struct fs_retry {
	void (*fn)(struct server_request *req, const void *payload);
	uint8_t payload[];
};

static void retry_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;
	struct fs_retry *retry = req->data;

	if (err) {
		server_fail_errno(req, err, "committing the name space");
		return;
	}
	/* it may wait again, with another copy */
	req->data = NULL;
	retry->fn(req, retry->payload);
	free(retry);
}

int fs_again(struct server_request *req, const void *payload,
	     void (*fn)(struct server_request *req, const void *payload))
{
	struct fs_retry *retry = malloc(sizeof(*retry) + req->msg.length);

	if (!retry) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return 0;
	}
	retry->fn = fn;
	memcpy(retry->payload, payload, req->msg.length);
	free(req->data);
	req->data = retry;
	req->commit.done = retry_committed;
	ns_commit(fs_ns(req), &req->commit);
	return 0;
}

bool fs_need_mount(struct server_request *req)
{
	if (fs_mount(req)) {
		fs_mounts_watch(req->reactor->iop);
		return true;
	}
	server_fail(req, DDIO_ST_INVALID, "%s: the connection belongs to no mount",
		    ddio_opcode_name(req->msg.opcode));
	return false;
}
