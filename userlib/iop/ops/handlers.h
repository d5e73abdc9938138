/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handlers of requests, see struct server_op. */
#ifndef DDIO_OPS_HANDLERS_H
#define DDIO_OPS_HANDLERS_H

#include "iop/server/gather.h"
#include "iop/server/request.h"

int serve_owed(struct server_request *req, const void *payload);
int serve_disks_known(struct server_request *req, const void *payload);
int serve_fs_disks(struct server_request *req, const void *payload);
int serve_ns_create(struct server_request *req, const void *payload);
int serve_ns_lookup(struct server_request *req, const void *payload);
int serve_ns_remove(struct server_request *req, const void *payload);
int serve_ns_remove_done(struct server_request *req, const void *payload);
int serve_ns_size(struct server_request *req, const void *payload);
int serve_ns_list(struct server_request *req, const void *payload);
int serve_fs_attach(struct server_request *req, const void *payload);
int serve_fs_detach(struct server_request *req, const void *payload);
int serve_fs_lookup(struct server_request *req, const void *payload);
int serve_fs_getattr(struct server_request *req, const void *payload);
int serve_fs_setattr(struct server_request *req, const void *payload);
int serve_fs_make(struct server_request *req, const void *payload);
int serve_fs_link(struct server_request *req, const void *payload);
int serve_fs_unlink(struct server_request *req, const void *payload);
int serve_fs_rename(struct server_request *req, const void *payload);
int serve_fs_readlink(struct server_request *req, const void *payload);
int serve_fs_readdir(struct server_request *req, const void *payload);
int serve_fs_getxattr(struct server_request *req, const void *payload);
int serve_fs_setxattr(struct server_request *req, const void *payload);
int serve_fs_listxattr(struct server_request *req, const void *payload);
int serve_fs_removexattr(struct server_request *req, const void *payload);
int serve_fs_open(struct server_request *req, const void *payload);
int serve_fs_release(struct server_request *req, const void *payload);
int serve_fs_lease(struct server_request *req, const void *payload);
int serve_fs_recall(struct server_request *req, const void *payload);
int serve_fs_wrote(struct server_request *req, const void *payload);
int serve_fs_append(struct server_request *req, const void *payload);
int serve_fs_alloc(struct server_request *req, const void *payload);
int serve_fs_sync(struct server_request *req, const void *payload);
int serve_fs_space(struct server_request *req, const void *payload);
int serve_fs_orphans(struct server_request *req, const void *payload);
int serve_fs_gone(struct server_request *req, const void *payload);
int serve_fs_lock_test(struct server_request *req, const void *payload);
int serve_fs_lock_set(struct server_request *req, const void *payload);
int serve_fs_lock_cancel(struct server_request *req, const void *payload);
int serve_fs_unlock_owner(struct server_request *req, const void *payload);
int serve_ns_commit_files(struct server_request *req, const void *payload);
int serve_ns_epoch(struct server_request *req, const void *payload);
int serve_ns_commit(struct server_request *req, const void *payload);
int serve_ns_decided(struct server_request *req, const void *payload);
int serve_obj_settle(struct server_request *req, const void *payload);
int serve_obj_read(struct server_request *req, const void *payload);
int serve_obj_write_bulk(struct server_request *req, const void *prefix, size_t prefix_len,
			 struct ddio_sink *sink);
/* All of the bulk has arrived; serve_obj_write_bulk() has checked the record before it. */
int serve_obj_write(struct server_request *req, const void *payload);
int serve_obj_sync(struct server_request *req, const void *payload);
int serve_obj_remove(struct server_request *req, const void *payload);
int serve_obj_truncate(struct server_request *req, const void *payload);
int serve_obj_extents(struct server_request *req, const void *payload);
int serve_obj_list(struct server_request *req, const void *payload);
int serve_obj_reserve(struct server_request *req, const void *payload);
int serve_obj_stat(struct server_request *req, const void *payload);
int serve_obj_punch(struct server_request *req, const void *payload);
int serve_obj_allocate(struct server_request *req, const void *payload);
int serve_obj_copy(struct server_request *req, const void *payload);
int serve_drop_cache(struct server_request *req, const void *payload);
int serve_obj_whose(struct server_request *req, const void *payload);

#endif /* DDIO_OPS_HANDLERS_H */
