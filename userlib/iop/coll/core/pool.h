/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers that are kept from one collective to the next. */
#ifndef DDIO_COLL_POOL_H
#define DDIO_COLL_POOL_H

#include "iop/server/reactor.h"

/* Returns NULL without memory. */
void *coll_buffer_get(struct reactor *reactor, size_t size);
/* Gives back a buffer of @size bytes; @buf may be NULL. */
void coll_buffer_put(struct reactor *reactor, void *buf, size_t size);
/* Frees all buffers that are kept. */
void coll_buffers_drop(struct reactor *reactor);

#endif /* DDIO_COLL_POOL_H */
