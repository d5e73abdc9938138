/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_COLL_SERVICE_H
#define DDIO_COLL_SERVICE_H

#include "iop/server/service.h"

/* The collective executor: groups and collectives. */
extern const struct server_service coll_service;

/* Returns true if a collective of the reactor uses the file: its blocks must not be freed. */
bool coll_uses(const struct reactor *reactor, uint64_t file);

#endif /* DDIO_COLL_SERVICE_H */
