/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the handlers of requests about the name space share. */
#ifndef DDIO_FS_REPLY_H
#define DDIO_FS_REPLY_H

#include <stdlib.h>
#include <string.h>
#include "iop/ns/ns.h"
#include "iop/server/request.h"

static inline struct ns *fs_ns(const struct server_request *req)
{
	return req->reactor->iop->ns;
}

/* Returns the mount that the connection belongs to, or NULL. */
static inline struct ns_mount *fs_mount(const struct server_request *req)
{
	return req->client ? req->client->mount : NULL;
}

/* Decodes the payload into @x; if that fails, replies and returns from the handler. */
#define FS_DECODE(req, payload, name, x, what)                             \
	do {                                                               \
		int err_ = ddio_get_##name(payload, (req)->msg.length, x); \
                                                                           \
		if (err_)                                                  \
			return server_fail_decode(req, err_, what);        \
	} while (0)

/*
 * Replies with @buf, which it frees, and ends the request; after a commit if the change must be durable
 * before anybody knows of it, or if too many changes wait for one.
 */
void fs_reply_buf(struct server_request *req, void *buf, ssize_t len, bool durable);
#define FS_REPLY(req, name, x, durable)                                         \
	do {                                                                    \
		ssize_t len_ = ddio_put_##name(NULL, 0, x);                     \
		void *buf_ = len_ < 0 ? NULL : malloc(len_ ? (size_t)len_ : 1); \
                                                                                \
		if (buf_)                                                       \
			ddio_put_##name(buf_, (size_t)len_, x);                 \
		fs_reply_buf(req, buf_, len_, durable);                         \
	} while (0)
/* Replies with nothing but the status; the text of an error names @what. */
int fs_reply_empty(struct server_request *req, int err, const char *what);
/* Replies with the attributes of @inode, which it frees; or with the error. */
int fs_reply_attr(struct server_request *req, int err, struct inode *inode, const char *what);
/* The same; @durable: when all changes so far survive the machine's death. */
int fs_reply_attr_when(struct server_request *req, int err, struct inode *inode, bool durable,
		       const char *what);
/* Replies with what the client must remove, which it frees; or with the error. */
int fs_reply_left(struct server_request *req, int err, struct ns_left *left, const char *what);
/* Inode numbers have run out until the commit that is under way has brought new ones: calls @fn then,
 * with a copy of @payload. */
int fs_again(struct server_request *req, const void *payload,
	     void (*fn)(struct server_request *req, const void *payload));
/* path.c: returns true if the request names something in the directory of its number. */
bool path_in_dir(const struct server_request *req, const struct ddio_msg_ns_name *x);
/* Returns true if the connection belongs to a mount; otherwise the request is over. */
bool fs_need_mount(struct server_request *req);

/* fs_alive.c: looks from now on whether mounts that hold something are heard; the reactor stops. */
void fs_mounts_watch(struct ddio_iop *iop);
void fs_mounts_unwatch(struct ddio_iop *iop);

#endif /* DDIO_FS_REPLY_H */
