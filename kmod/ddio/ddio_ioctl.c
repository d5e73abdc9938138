// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /dev/ddio.
 */
#include "ddio_coll.h"
#include "ddio_dispatch.h"

#define DDIO_SUBMIT_ALL                                                                     \
	(DDIO_SUBMIT_ORDERED | DDIO_SUBMIT_WAIT | DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET | \
	 DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH | DDIO_SUBMIT_KEEP_GOING | DDIO_SUBMIT_SUMS)

static int ioctl_info(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	struct ddio_info *info = &arg->info;

	info->out_abi = DDIO_ABI_VERSION;
	info->out_deliveries = 1 << DDIO_PLACE | 1 << DDIO_STREAM | 1 << DDIO_SCATTER;
	info->out_submit_flags = DDIO_SUBMIT_ALL;
	info->out_block_length_max = DDIO_BLOCK_LENGTH_MAX;
	info->out_list_max = DDIO_LIST_MAX;
	info->out_runs_max = DDIO_RUNS_MAX;
	info->out_depth_max = DDIO_DEPTH_MAX;
	info->out_disks_max = DDIO_DISKS_MAX;
	info->out_ring_max = DDIO_RING_MAX;
	info->out_members_max = DDIO_MEMBERS_MAX;
	return 0;
}

static int ioctl_disk_add(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_disk_add(object, &arg->disk_add, reply);
}

static int ioctl_buffer_add(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_buffer_add(object, &arg->buffer_add, reply);
}

static int ioctl_ring_setup(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_ring_setup(object, &arg->ring_setup, reply);
}

static int ioctl_destroy(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_ctx_destroy(object, arg->destroy.id);
}

static int ioctl_submit(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_coll_submit(object, &arg->submit, reply);
}

static int ioctl_wait(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_coll_wait(object, &arg->wait);
}

static int ioctl_cancel(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_coll_cancel(object, arg->cancel.collective);
}

static int ioctl_kick(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_stream_kick(object, &arg->kick);
}

static int ioctl_joint_create(void *object, union ddio_arg *arg, struct ddio_reply *reply)
{
	return ddio_joint_create(object, &arg->joint_create, &reply->file);
}

static const struct ddio_ioctl ddio_ctx_ioctls[] = {
	DDIO_IOCTL(DDIO_INFO, ddio_info, out_members_max, ioctl_info, .out = true),
	DDIO_IOCTL(DDIO_DISK_ADD, ddio_disk_add, __reserved, ioctl_disk_add, .out = true,
		   DDIO_RESERVED(ddio_disk_add)),
	DDIO_IOCTL(DDIO_BUFFER_ADD, ddio_buffer_add, out_piece, ioctl_buffer_add, .out = true,
		   .flags = DDIO_BUFFER_READONLY),
	DDIO_IOCTL(DDIO_RING_SETUP, ddio_ring_setup, __reserved, ioctl_ring_setup, .out = true,
		   DDIO_RESERVED(ddio_ring_setup)),
	DDIO_IOCTL(DDIO_DESTROY, ddio_destroy, id, ioctl_destroy, .no_flags = true),
	DDIO_IOCTL(DDIO_SUBMIT, ddio_submit, out_error, ioctl_submit, .out = true,
		   .flags = DDIO_SUBMIT_ALL, .out_failed = offsetof(struct ddio_submit, out_block)),
	DDIO_IOCTL(DDIO_WAIT, ddio_wait, out_bytes, ioctl_wait, .out = true),
	DDIO_IOCTL(DDIO_CANCEL, ddio_cancel, __reserved, ioctl_cancel, DDIO_RESERVED(ddio_cancel)),
	DDIO_IOCTL(DDIO_KICK, ddio_kick, slot, ioctl_kick),
	DDIO_IOCTL(DDIO_JOINT_CREATE, ddio_joint_create, out_fd, ioctl_joint_create, .out = true,
		   .out_fd = offsetof(struct ddio_joint_create, out_fd)),
};

long ddio_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ioctl_run(ddio_ctx_ioctls, ARRAY_SIZE(ddio_ctx_ioctls), file, cmd, arg);
}
