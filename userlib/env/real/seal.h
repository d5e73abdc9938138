/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets whose records of TLS the kernel makes and opens (module tls). */
#ifndef DDIO_REAL_SEAL_H
#define DDIO_REAL_SEAL_H

#include "env/env_ops.h"

/* Whether this kernel does it, and replaces keys; looks once. */
bool real_seal_possible(void);
/* See struct ddio_stream_vtable. */
int real_seal(int fd, bool out, const struct env_record_key *key);
ssize_t real_special_get(int fd, uint8_t *type, void *buf, size_t len);
ssize_t real_special_put(int fd, uint8_t type, const void *buf, size_t len);

#endif /* DDIO_REAL_SEAL_H */
