// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service of checks: which function handles which message. */
#include "iop/ops/check/priv.h"

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_FSCK,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_ROOT,
	  .serve = serve_fsck },
	{ .opcode = DDIO_OP_NS_ADOPT,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_ROOT,
	  .names = true,
	  .serve = serve_ns_adopt },
};

const struct server_service check_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
};
