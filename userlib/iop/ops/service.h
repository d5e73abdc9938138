/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_OPS_SERVICE_H
#define DDIO_OPS_SERVICE_H

#include "iop/server/opts.h"
#include "iop/server/service.h"

/* Every request that gets a reply, but for those of the collective executor. */
extern const struct server_service ops_service;

#endif /* DDIO_OPS_SERVICE_H */
