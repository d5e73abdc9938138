// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service of clones: which function handles which message. */
#include "iop/ops/clone/priv.h"
#include "iop/ops/fs.h"

/* A mount that has the lease of the other file returns it first, and nobody gets it before the clone has its name. */
static int ns_clone_unleased(struct server_request *req, const void *payload)
{
	return fs_unleased(req, payload, serve_ns_clone);
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_NS_CLONE,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_READ,
	  .names = true,
	  .serve = ns_clone_unleased },
	{ .opcode = DDIO_OP_NS_CLONED,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_WRITE,
	  .names = true,
	  .serve = serve_ns_cloned },
	{ .opcode = DDIO_OP_OBJ_HOLD,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_READ,
	  .serve = serve_obj_hold },
	{ .opcode = DDIO_OP_OBJ_CLONE,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_WRITE,
	  .changes = true,
	  .serve = serve_obj_clone },
};

static void clone_reactor_stop(struct reactor *reactor)
{
	clone_reaper_stop(reactor);
	clone_holds_stop(reactor);
}

const struct server_service clone_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = clone_reaper_start,
	.reactor_init = clone_reaper_init,
	.reactor_stop = clone_reactor_stop,
	.reactor_idle = clone_reaper_idle,
	.reactor_exit = clone_reaper_exit,
	.client_gone = clone_names_gone,
};
