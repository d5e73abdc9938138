// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service of requests: which function handles which, and what it is told of clients and reactors. */
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/service.h"

#define OP(op, fn, ...)                                                                    \
	{                                                                                  \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn, __VA_ARGS__ \
	}
#define OP_ALWAYS(op, fn) OP(op, fn, .stopping = true)
#define OP_CHANGES(op, fn) OP(op, fn, .changes = true)
#define OP_NAMES(op, fn) OP(op, fn, .names = true)

/* Requests that wait for the lease of another mount to be returned. */
#define UNLEASED(name)                                                              \
	static int name##_unleased(struct server_request *req, const void *payload) \
	{                                                                           \
		return fs_unleased(req, payload, serve_##name);                     \
	}
UNLEASED(ns_create)
UNLEASED(ns_lookup)
UNLEASED(ns_remove)
UNLEASED(fs_lookup)
UNLEASED(fs_getattr)
UNLEASED(fs_setattr)
UNLEASED(fs_make)
UNLEASED(fs_link)
UNLEASED(fs_unlink)
UNLEASED(fs_rename)
UNLEASED(fs_setxattr)
UNLEASED(fs_removexattr)
UNLEASED(fs_open)
UNLEASED(fs_wrote)
UNLEASED(fs_append)
UNLEASED(fs_lock_set)
UNLEASED(ns_size)

static const struct server_op handled[] = {
	OP_ALWAYS(PING, serve_ping),
	OP_ALWAYS(STATUS, serve_status),
	OP_ALWAYS(BOUNDS, serve_bounds),
	OP_ALWAYS(OWED, serve_owed),
	OP(DISKS_KNOWN, serve_disks_known),
	OP_NAMES(FS_DISKS, serve_fs_disks),
	OP_NAMES(NS_CREATE, ns_create_unleased),
	OP_NAMES(NS_LOOKUP, ns_lookup_unleased),
	OP_NAMES(NS_REMOVE, ns_remove_unleased),
	OP_NAMES(NS_REMOVE_DONE, serve_ns_remove_done),
	OP_NAMES(NS_EXTEND, ns_size_unleased),
	OP_NAMES(NS_SET_SIZE, ns_size_unleased),
	OP_NAMES(NS_LIST, serve_ns_list),
	OP_NAMES(FS_ATTACH, serve_fs_attach),
	OP_NAMES(FS_DETACH, serve_fs_detach),
	OP_NAMES(FS_LOOKUP, fs_lookup_unleased),
	OP_NAMES(FS_GETATTR, fs_getattr_unleased),
	OP_NAMES(FS_SETATTR, fs_setattr_unleased),
	OP_NAMES(FS_MAKE, fs_make_unleased),
	OP_NAMES(FS_LINK, fs_link_unleased),
	OP_NAMES(FS_UNLINK, fs_unlink_unleased),
	OP_NAMES(FS_RENAME, fs_rename_unleased),
	OP_NAMES(FS_READLINK, serve_fs_readlink),
	OP_NAMES(FS_READDIR, serve_fs_readdir),
	OP_NAMES(FS_GETXATTR, serve_fs_getxattr),
	OP_NAMES(FS_SETXATTR, fs_setxattr_unleased),
	OP_NAMES(FS_LISTXATTR, serve_fs_listxattr),
	OP_NAMES(FS_REMOVEXATTR, fs_removexattr_unleased),
	OP_NAMES(FS_OPEN, fs_open_unleased),
	OP_NAMES(FS_RELEASE, serve_fs_release),
	OP_NAMES(FS_WROTE, fs_wrote_unleased),
	OP_NAMES(FS_APPEND, fs_append_unleased),
	OP_NAMES(FS_ALLOC, serve_fs_alloc),
	OP_NAMES(FS_LEASE, serve_fs_lease),
	OP_NAMES(FS_RECALL, serve_fs_recall),
	OP_NAMES(FS_SYNC, serve_fs_sync),
	OP_NAMES(FS_SPACE, serve_fs_space),
	OP_NAMES(FS_ORPHANS, serve_fs_orphans),
	OP_NAMES(FS_GONE, serve_fs_gone),
	OP_NAMES(FS_LOCK_TEST, serve_fs_lock_test),
	OP_NAMES(FS_LOCK_SET, fs_lock_set_unleased),
	OP_NAMES(FS_LOCK_CANCEL, serve_fs_lock_cancel),
	OP_NAMES(FS_UNLOCK_OWNER, serve_fs_unlock_owner),
	OP(OBJ_READ, serve_obj_read),
	OP(OBJ_WRITE, serve_obj_write, .changes = true, .serve_bulk = serve_obj_write_bulk),
	OP(OBJ_SYNC, serve_obj_sync),
	OP_CHANGES(OBJ_REMOVE, serve_obj_remove),
	OP_CHANGES(OBJ_TRUNCATE, serve_obj_truncate),
	OP(OBJ_EXTENTS, serve_obj_extents),
	OP(OBJ_LIST, serve_obj_list),
	OP_CHANGES(OBJ_RESERVE, serve_obj_reserve),
	OP(OBJ_STAT, serve_obj_stat),
	OP_CHANGES(OBJ_PUNCH, serve_obj_punch),
	OP_CHANGES(OBJ_ALLOCATE, serve_obj_allocate),
	OP_CHANGES(OBJ_COPY, serve_obj_copy),
	OP(DROP_CACHE, serve_drop_cache),
	OP(FSCK, serve_fsck),
};

const struct server_service ops_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = fs_node_start,
	.reactor_stop = fs_reactor_stop,
	.reactor_idle = fs_reactor_idle,
	.client_gone = fs_client_gone,
};
