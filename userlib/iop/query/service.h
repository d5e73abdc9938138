/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers questions about records, block by block, in the order of their places; see Documentation/query.rst. */
#ifndef DDIO_IOP_QUERY_SERVICE_H
#define DDIO_IOP_QUERY_SERVICE_H

#include "iop/server/service.h"

extern const struct server_service query_service;

#endif /* DDIO_IOP_QUERY_SERVICE_H */
