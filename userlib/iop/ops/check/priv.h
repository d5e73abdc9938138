/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handlers of messages about checks. */
#ifndef DDIO_OPS_CHECK_PRIV_H
#define DDIO_OPS_CHECK_PRIV_H

#include "iop/ops/check/checks.h"
#include "iop/server/request.h"

int serve_fsck(struct server_request *req, const void *payload);
int serve_ns_adopt(struct server_request *req, const void *payload);

#endif /* DDIO_OPS_CHECK_PRIV_H */
