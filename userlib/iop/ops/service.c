// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service of requests: which function handles which, and what it is told of clients and reactors. */
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/look/look.h"
#include "iop/ops/object.h"
#include "iop/ops/service.h"
#include "iop/ops/user/users.h"

/* @who: enum iop_access */
#define OP(op, fn, who, ...)                                                                  \
	{                                                                                     \
		.opcode = DDIO_OP_##op, .role = DDIO_ROLE_CLIENT, .serve = fn, .access = who, \
		__VA_ARGS__                                                                   \
	}
#define OP_ALWAYS(op, fn, who) OP(op, fn, who, .stopping = true)
#define OP_CHANGES(op, fn, who) OP(op, fn, who, .changes = true)
#define OP_NAMES(op, fn, who) OP(op, fn, who, .names = true)

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
UNLEASED(ns_epoch)
UNLEASED(ns_commit)

/* Requests by numbers of inodes, which their user must have come to. */
#define CHECKED(name, next)                                                        \
	static int name##_checked(struct server_request *req, const void *payload) \
	{                                                                          \
		return user_denied(req, payload) ? 0 : next(req, payload);         \
	}
CHECKED(fs_lookup, fs_lookup_unleased)
CHECKED(fs_getattr, fs_getattr_unleased)
CHECKED(fs_setattr, fs_setattr_unleased)
CHECKED(fs_make, fs_make_unleased)
CHECKED(fs_link, fs_link_unleased)
CHECKED(fs_unlink, fs_unlink_unleased)
CHECKED(fs_rename, fs_rename_unleased)
CHECKED(fs_readlink, serve_fs_readlink)
CHECKED(fs_readdir, serve_fs_readdir)
CHECKED(fs_getxattr, serve_fs_getxattr)
CHECKED(fs_setxattr, fs_setxattr_unleased)
CHECKED(fs_listxattr, serve_fs_listxattr)
CHECKED(fs_removexattr, fs_removexattr_unleased)
CHECKED(fs_open, fs_open_unleased)
CHECKED(fs_release, serve_fs_release)
CHECKED(fs_wrote, fs_wrote_unleased)
CHECKED(fs_append, fs_append_unleased)
CHECKED(fs_alloc, serve_fs_alloc)
CHECKED(fs_lease, serve_fs_lease)

/* Requests that wait until objects have been read from the records. */
#define FETCHED(name)                                                              \
	static int name##_fetched(struct server_request *req, const void *payload) \
	{                                                                          \
		return obj_fetched(req, payload, serve_##name);                    \
	}
FETCHED(obj_read)
FETCHED(obj_write)
FETCHED(obj_sync)
FETCHED(obj_remove)
FETCHED(obj_truncate)
FETCHED(obj_extents)
FETCHED(obj_reserve)
FETCHED(obj_stat)
FETCHED(obj_punch)
FETCHED(obj_allocate)
FETCHED(obj_copy)
FETCHED(drop_cache)

static const struct server_op handled[] = {
	OP_ALWAYS(PING, serve_ping, ACCESS_ANY),
	OP_ALWAYS(STATUS, serve_status, ACCESS_USER),
	OP_ALWAYS(BOUNDS, serve_bounds, ACCESS_USER),
	OP_ALWAYS(JOBS, serve_jobs, ACCESS_USER),
	OP(SHOW, serve_show, ACCESS_ROOT),
	{ .opcode = DDIO_OP_JOB,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_ANY,
	  .message = take_job },
	{ .opcode = DDIO_OP_WRONG,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_ANY,
	  .message = take_wrong },
	OP_ALWAYS(OWED, serve_owed, ACCESS_ANY),
	OP(DISKS_KNOWN, serve_disks_known, ACCESS_USER),
	OP_NAMES(FS_DISKS, serve_fs_disks, ACCESS_USER),
	OP_NAMES(NS_CREATE, ns_create_unleased, ACCESS_USER),
	OP_NAMES(NS_LOOKUP, ns_lookup_unleased, ACCESS_USER),
	OP_NAMES(NS_REMOVE, ns_remove_unleased, ACCESS_USER),
	OP_NAMES(NS_REMOVE_DONE, serve_ns_remove_done, ACCESS_REMOVE),
	OP_NAMES(NS_EXTEND, ns_size_unleased, ACCESS_WRITE),
	OP_NAMES(NS_SET_SIZE, ns_size_unleased, ACCESS_WRITE),
	OP_NAMES(NS_LIST, serve_ns_list, ACCESS_USER),
	OP_NAMES(NS_EPOCH, ns_epoch_unleased, ACCESS_WRITE),
	OP_NAMES(NS_COMMIT, ns_commit_unleased, ACCESS_WRITE),
	OP_NAMES(NS_DECIDED, serve_ns_decided, ACCESS_WRITE),
	/* Of several files: it looks at the user's rights itself. */
	OP_NAMES(NS_COMMIT_FILES, serve_ns_commit_files, ACCESS_USER),
	OP_NAMES(FS_ATTACH, serve_fs_attach, ACCESS_USER),
	OP_NAMES(FS_DETACH, serve_fs_detach, ACCESS_USER),
	OP_NAMES(FS_LOOKUP, fs_lookup_checked, ACCESS_USER),
	OP_NAMES(FS_GETATTR, fs_getattr_checked, ACCESS_USER),
	OP_NAMES(FS_SETATTR, fs_setattr_checked, ACCESS_USER),
	OP_NAMES(FS_MAKE, fs_make_checked, ACCESS_USER),
	OP_NAMES(FS_LINK, fs_link_checked, ACCESS_USER),
	OP_NAMES(FS_UNLINK, fs_unlink_checked, ACCESS_USER),
	OP_NAMES(FS_RENAME, fs_rename_checked, ACCESS_USER),
	OP_NAMES(FS_READLINK, fs_readlink_checked, ACCESS_USER),
	OP_NAMES(FS_READDIR, fs_readdir_checked, ACCESS_USER),
	OP_NAMES(FS_GETXATTR, fs_getxattr_checked, ACCESS_USER),
	OP_NAMES(FS_SETXATTR, fs_setxattr_checked, ACCESS_USER),
	OP_NAMES(FS_LISTXATTR, fs_listxattr_checked, ACCESS_USER),
	OP_NAMES(FS_REMOVEXATTR, fs_removexattr_checked, ACCESS_USER),
	OP_NAMES(FS_OPEN, fs_open_checked, ACCESS_USER),
	OP_NAMES(FS_RELEASE, fs_release_checked, ACCESS_USER),
	OP_NAMES(FS_WROTE, fs_wrote_checked, ACCESS_USER),
	OP_NAMES(FS_APPEND, fs_append_checked, ACCESS_USER),
	OP_NAMES(FS_ALLOC, fs_alloc_checked, ACCESS_USER),
	OP_NAMES(FS_LEASE, fs_lease_checked, ACCESS_USER),
	OP_NAMES(FS_RECALL, serve_fs_recall, ACCESS_USER),
	OP_NAMES(FS_SYNC, serve_fs_sync, ACCESS_USER),
	OP_NAMES(FS_SPACE, serve_fs_space, ACCESS_USER),
	OP_NAMES(FS_ORPHANS, serve_fs_orphans, ACCESS_ROOT),
	OP_NAMES(FS_GONE, serve_fs_gone, ACCESS_REMOVE),
	OP_NAMES(FS_LOCK_TEST, serve_fs_lock_test, ACCESS_FILE),
	OP_NAMES(FS_LOCK_SET, fs_lock_set_unleased, ACCESS_FILE),
	OP_NAMES(FS_LOCK_CANCEL, serve_fs_lock_cancel, ACCESS_USER),
	OP_NAMES(FS_UNLOCK_OWNER, serve_fs_unlock_owner, ACCESS_FILE),
	OP(OBJ_READ, obj_read_fetched, ACCESS_READ),
	OP(OBJ_WRITE, obj_write_fetched, ACCESS_WRITE, .changes = true,
	   .serve_bulk = serve_obj_write_bulk),
	OP(OBJ_SYNC, obj_sync_fetched, ACCESS_FILE),
	OP_CHANGES(OBJ_REMOVE, obj_remove_fetched, ACCESS_REMOVE),
	OP_CHANGES(OBJ_TRUNCATE, obj_truncate_fetched, ACCESS_WRITE),
	OP(OBJ_EXTENTS, obj_extents_fetched, ACCESS_FILE),
	OP(OBJ_LIST, serve_obj_list, ACCESS_ROOT),
	OP(OBJ_WHOSE, serve_obj_whose, ACCESS_ROOT),
	OP_CHANGES(OBJ_RESERVE, obj_reserve_fetched, ACCESS_WRITE),
	OP(OBJ_STAT, obj_stat_fetched, ACCESS_FILE),
	OP_CHANGES(OBJ_PUNCH, obj_punch_fetched, ACCESS_WRITE),
	OP_CHANGES(OBJ_ALLOCATE, obj_allocate_fetched, ACCESS_WRITE),
	OP_CHANGES(OBJ_COPY, obj_copy_fetched, ACCESS_ROOT),
	OP_CHANGES(OBJ_SETTLE, serve_obj_settle, ACCESS_WRITE),
	OP(DROP_CACHE, drop_cache_fetched, ACCESS_FILE),
};

const struct server_service ops_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = fs_node_start,
	.reactor_stop = fs_reactor_stop,
	.reactor_idle = fs_reactor_idle,
	.client_gone = fs_client_gone,
};
