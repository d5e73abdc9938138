/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks through the disks of a node, block by block, in the order of their places; see Documentation/store.rst. */
#ifndef DDIO_SCRUB_SERVICE_H
#define DDIO_SCRUB_SERVICE_H

#include "iop/server/service.h"

extern const struct server_service scrub_service;

#endif /* DDIO_SCRUB_SERVICE_H */
