/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TCP streams of the real world, for the listener. */
#ifndef DDIO_REAL_STREAM_H
#define DDIO_REAL_STREAM_H

#include "env/addr.h"
#include "env/real/priv.h"

/* Wraps a connected, non-blocking socket, which belongs to the stream on success. */
int real_stream_new(struct real *real, int fd, const struct sockaddr *peer, socklen_t peer_len,
		    struct ddio_stream **stream);

#endif /* DDIO_REAL_STREAM_H */
