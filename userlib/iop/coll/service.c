// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service of collectives: which function handles which message, and what it is told. */
#include "iop/coll/priv.h"
#include "iop/coll/service.h"

#define MESSAGE(op, fn, ...)                                                             \
	{                                                                                \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .access = ACCESS_USER, \
		.message = fn, __VA_ARGS__                                               \
	}

static const struct server_op handled[] = {
	MESSAGE(ATTACH, coll_attach),
	MESSAGE(DETACH, coll_detach),
	MESSAGE(COLL_START, coll_start, .large = coll_start_large),
	MESSAGE(COLL_AGAIN, coll_again, .large = coll_start_large),
	MESSAGE(COLL_TOLD, coll_told, .large = coll_told_large),
	MESSAGE(COLL_GO, coll_go),
	MESSAGE(COLL_PIECE, coll_piece, .message_bulk = coll_piece_bulk),
	MESSAGE(COLL_ABORT, coll_abort),
	MESSAGE(JOINT, coll_joint),
	MESSAGE(COLL_JOIN, coll_join),
	MESSAGE(SHARE, coll_share),
	MESSAGE(SHARE_TAKEN, coll_share_taken),
	MESSAGE(COLL_COPIED, coll_copied),
};

const struct server_service coll_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.reactor_init = coll_init,
	.reactor_stop = coll_stop,
	.reactor_idle = coll_idle,
	.reactor_exit = coll_exit,
	.client_gone = coll_client_lost,
	.client_drained = coll_client_drained,
};
