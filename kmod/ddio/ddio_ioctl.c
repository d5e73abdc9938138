// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every ioctl of the three kinds of descriptors goes through one function, which
 * knows from a table what the struct looks like.  It reads the size, refuses what is too
 * short or has something in a tail that it does not know, checks flags and reserved
 * members, and copies the struct back; so the handlers see no user pointer to it.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "ddio_coll.h"

union ddio_arg {
	struct ddio_info info;
	struct ddio_disk_add disk_add;
	struct ddio_buffer_add buffer_add;
	struct ddio_ring_setup ring_setup;
	struct ddio_destroy destroy;
	struct ddio_submit submit;
	struct ddio_wait wait;
	struct ddio_cancel cancel;
	struct ddio_kick kick;
	struct ddio_joint_create joint_create;
	struct ddio_joint_join joint_join;
	struct ddio_joint_wait joint_wait;
};

/**
 * struct ddio_op - one ioctl
 * @cmd: number
 * @size: of the struct as this kernel knows it
 * @size_min: of its first version
 * @no_flags: the struct has no member flags
 * @flags: those known, others are refused
 * @reserved: offset of a member that must be zero
 * @reserved_size: its size, or 0 if there is none
 * @out: the struct is copied back on success
 * @out_failed: offset of a 64-bit member that is copied back on failure, or 0
 * @out_fd: offset of the number of the descriptor that it makes, or 0
 * @run: does it, for a context, a joint or a membership; the file of the descriptor, which is
 *	installed when nothing can fail any more
 */
struct ddio_op {
	unsigned int cmd;
	u32 size;
	u32 size_min;
	bool no_flags;
	u32 flags;
	u32 reserved;
	u32 reserved_size;
	bool out;
	u32 out_failed;
	u32 out_fd;
	int (*run)(void *object, union ddio_arg *arg, struct file **file);
};

#define DDIO_SUBMIT_ALL                                                                     \
	(DDIO_SUBMIT_ORDERED | DDIO_SUBMIT_WAIT | DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET | \
	 DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH | DDIO_SUBMIT_KEEP_GOING)

static int ddio_op_info(void *object, union ddio_arg *arg, struct file **file)
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

static int ddio_op_disk_add(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_disk_add(object, &arg->disk_add);
}

static int ddio_op_buffer_add(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_buffer_add(object, &arg->buffer_add);
}

static int ddio_op_ring_setup(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_ring_setup(object, &arg->ring_setup);
}

static int ddio_op_destroy(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_ctx_destroy(object, arg->destroy.id);
}

static int ddio_op_submit(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_coll_submit(object, &arg->submit);
}

static int ddio_op_wait(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_coll_wait(object, &arg->wait);
}

static int ddio_op_cancel(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_coll_cancel(object, arg->cancel.collective);
}

static int ddio_op_kick(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_stream_kick(object, &arg->kick);
}

static int ddio_op_joint_create(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_joint_create(object, &arg->joint_create, file);
}

static int ddio_op_joint_join(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_joint_join(object, &arg->joint_join, file);
}

static int ddio_op_joint_wait(void *object, union ddio_arg *arg, struct file **file)
{
	return ddio_member_wait(object, &arg->joint_wait);
}

#define DDIO_OP(_cmd, _type, _last, _run, ...)                                             \
	{                                                                                  \
		.cmd = (_cmd), .size = sizeof(struct _type),                               \
		.size_min = offsetofend(struct _type, _last), .run = (_run), ##__VA_ARGS__ \
	}

#define DDIO_RESERVED(_type)                            \
	.reserved = offsetof(struct _type, __reserved), \
	.reserved_size = sizeof_field(struct _type, __reserved)

static const struct ddio_op ddio_ctx_ops[] = {
	DDIO_OP(DDIO_INFO, ddio_info, out_members_max, ddio_op_info, .out = true),
	DDIO_OP(DDIO_DISK_ADD, ddio_disk_add, __reserved, ddio_op_disk_add, .out = true,
		DDIO_RESERVED(ddio_disk_add)),
	DDIO_OP(DDIO_BUFFER_ADD, ddio_buffer_add, out_piece, ddio_op_buffer_add, .out = true,
		.flags = DDIO_BUFFER_READONLY),
	DDIO_OP(DDIO_RING_SETUP, ddio_ring_setup, __reserved, ddio_op_ring_setup, .out = true,
		DDIO_RESERVED(ddio_ring_setup)),
	DDIO_OP(DDIO_DESTROY, ddio_destroy, id, ddio_op_destroy, .no_flags = true),
	DDIO_OP(DDIO_SUBMIT, ddio_submit, out_error, ddio_op_submit, .out = true,
		.flags = DDIO_SUBMIT_ALL, .out_failed = offsetof(struct ddio_submit, out_block)),
	DDIO_OP(DDIO_WAIT, ddio_wait, out_bytes, ddio_op_wait, .out = true),
	DDIO_OP(DDIO_CANCEL, ddio_cancel, __reserved, ddio_op_cancel, DDIO_RESERVED(ddio_cancel)),
	DDIO_OP(DDIO_KICK, ddio_kick, slot, ddio_op_kick),
	DDIO_OP(DDIO_JOINT_CREATE, ddio_joint_create, out_fd, ddio_op_joint_create, .out = true,
		.out_fd = offsetof(struct ddio_joint_create, out_fd)),
};

static const struct ddio_op ddio_joint_ops[] = {
	DDIO_OP(DDIO_JOINT_JOIN, ddio_joint_join, out_fd, ddio_op_joint_join, .out = true,
		.flags = DDIO_BUFFER_READONLY, .out_fd = offsetof(struct ddio_joint_join, out_fd)),
};

static const struct ddio_op ddio_member_ops[] = {
	DDIO_OP(DDIO_JOINT_WAIT, ddio_joint_wait, __reserved, ddio_op_joint_wait, .out = true,
		DDIO_RESERVED(ddio_joint_wait)),
};

static const struct ddio_op *ddio_op_find(const struct ddio_op *ops, u32 nr, unsigned int cmd)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (ops[i].cmd == cmd)
			return &ops[array_index_nospec(i, nr)];
	return NULL;
}

static int ddio_op_check(const struct ddio_op *op, const union ddio_arg *arg)
{
	/* In every struct with flags they follow the size. */
	if (!op->no_flags && (arg->info.flags & ~op->flags))
		return -EOPNOTSUPP;
	if (op->reserved_size && memchr_inv((const u8 *)arg + op->reserved, 0, op->reserved_size))
		return -EINVAL;
	return 0;
}

static int ddio_op_copy_in(const struct ddio_op *op, union ddio_arg *arg, void __user *uarg)
{
	u32 size;
	int err;

	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < op->size_min)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(arg, op->size, uarg, size);
	if (err)
		return err;
	/* It may have changed in between. */
	arg->info.size = size;
	return ddio_op_check(op, arg);
}

static int ddio_op_copy_out(const struct ddio_op *op, const union ddio_arg *arg, void __user *uarg)
{
	return copy_to_user(uarg, arg, min(arg->info.size, op->size)) ? -EFAULT : 0;
}

/* Copies the result out; installs the descriptor, if any, only if that succeeds. */
static int ddio_op_finish(const struct ddio_op *op, const union ddio_arg *arg, void __user *uarg,
			  struct file *file)
{
	int err = op->out ? ddio_op_copy_out(op, arg, uarg) : 0;
	int fd;

	if (!op->out_fd)
		return err;
	fd = *(const __s32 *)((const u8 *)arg + op->out_fd);
	if (err) {
		put_unused_fd(fd);
		fput(file);
	} else {
		fd_install(fd, file);
	}
	return err;
}

static long ddio_op_run(const struct ddio_op *op, void *object, void __user *uarg)
{
	struct file *file = NULL;
	union ddio_arg arg = {};
	int err;

	err = ddio_op_copy_in(op, &arg, uarg);
	if (err)
		return err;
	/* A struct that cannot be written to is found before anything has been done. */
	if (op->out && ddio_op_copy_out(op, &arg, uarg))
		return -EFAULT;
	err = op->run(object, &arg, &file);
	if (!err)
		return ddio_op_finish(op, &arg, uarg, file);
	if (op->out_failed && copy_to_user((u8 __user *)uarg + op->out_failed,
					   (u8 *)&arg + op->out_failed, sizeof(u64)))
		return -EFAULT;
	return err;
}

static long ddio_ops_run(const struct ddio_op *ops, u32 nr, struct file *file, unsigned int cmd,
			 unsigned long uarg)
{
	const struct ddio_op *op = ddio_op_find(ops, nr, cmd);

	if (!op)
		return -ENOTTY;
	return ddio_op_run(op, file->private_data, (void __user *)uarg);
}

long ddio_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ops_run(ddio_ctx_ops, ARRAY_SIZE(ddio_ctx_ops), file, cmd, arg);
}

long ddio_joint_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ops_run(ddio_joint_ops, ARRAY_SIZE(ddio_joint_ops), file, cmd, arg);
}

long ddio_member_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ops_run(ddio_member_ops, ARRAY_SIZE(ddio_member_ops), file, cmd, arg);
}
