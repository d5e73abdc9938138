/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TCP streams of the real world, for the listener. */
#ifndef DDIO_REAL_STREAM_H
#define DDIO_REAL_STREAM_H

#include "env/addr.h"
#include "env/real/priv.h"

/* Sets what a socket of a stream needs; one that is accepted has it of the listening one. */
void real_stream_options_set(int fd);
/* Wraps a connected, non-blocking socket, which belongs to the stream on success. */
int real_stream_new(struct real *real, int fd, const struct sockaddr *peer, socklen_t peer_len,
		    struct ddio_stream **stream);
/*
 * local.c: names of this machine, abstract ones of Unix sockets.  Both return a socket that does not block, of which at least one end
 * is listening, or -errno; real_local_connect() -EACCES if another user does.
 */
int real_local_listen(const char *addr);
int real_local_connect(const char *addr);
/* Returns true if a process of this user is at the other end. */
void real_local_unlisten(int fd);
bool real_local_same_user(int fd);

/* Returns true if it is one of these, and both its ends have the same address. */
bool real_stream_is_near(const struct ddio_stream *stream);

/* What its user has asked of a stream. */
struct real_stream_user {
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool want_read, want_write;
};

void real_stream_user(const struct ddio_stream *stream, struct real_stream_user *user);

#endif /* DDIO_REAL_STREAM_H */
