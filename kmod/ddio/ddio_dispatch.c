// SPDX-License-Identifier: GPL-2.0-only
/* What all ioctls have in common; see ddio_dispatch.h. */
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "ddio_dispatch.h"

static const struct ddio_ioctl *ioctl_find(const struct ddio_ioctl *calls, u32 nr, unsigned int cmd)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (calls[i].cmd == cmd)
			return &calls[array_index_nospec(i, nr)];
	return NULL;
}

static int ioctl_check(const struct ddio_ioctl *call, const union ddio_arg *arg)
{
	/* In every struct with flags they follow the size. */
	if (!call->no_flags && (arg->info.flags & ~call->flags))
		return -EOPNOTSUPP;
	if (call->reserved_size &&
	    memchr_inv((const u8 *)arg + call->reserved, 0, call->reserved_size))
		return -EINVAL;
	return 0;
}

static int ioctl_copy_in(const struct ddio_ioctl *call, union ddio_arg *arg, void __user *uarg)
{
	u32 size;
	int err;

	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < call->size_min)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(arg, call->size, uarg, size);
	if (err)
		return err;
	/* It may have changed in between. */
	arg->info.size = size;
	return ioctl_check(call, arg);
}

static int ioctl_copy_out(const struct ddio_reply *reply, const union ddio_arg *arg)
{
	u32 size = min(arg->info.size, reply->call->size);

	return copy_to_user(reply->uarg, arg, size) ? -EFAULT : 0;
}

int ddio_reply_tell(struct ddio_reply *reply, const void *arg)
{
	int err = ioctl_copy_out(reply, arg);

	if (!err)
		reply->told = true;
	return err;
}

/* Copies the answer out and installs the descriptor, if any, only if that succeeded. */
static int ioctl_finish(const struct ddio_reply *reply, const union ddio_arg *arg)
{
	const struct ddio_ioctl *call = reply->call;
	int err = call->out && !reply->told ? ioctl_copy_out(reply, arg) : 0;
	int fd;

	if (!call->out_fd)
		return err;
	fd = *(const __s32 *)((const u8 *)arg + call->out_fd);
	if (err) {
		put_unused_fd(fd);
		fput(reply->file);
	} else {
		fd_install(fd, reply->file);
	}
	return err;
}

static long ioctl_do(const struct ddio_ioctl *call, void *object, void __user *uarg)
{
	struct ddio_reply reply = { .call = call, .uarg = uarg };
	union ddio_arg arg = {};
	int err;

	err = ioctl_copy_in(call, &arg, uarg);
	if (err)
		return err;
	/* Finds a struct that cannot be written to before anything has been done. */
	if (call->out && ioctl_copy_out(&reply, &arg))
		return -EFAULT;
	err = call->run(object, &arg, &reply);
	if (!err)
		return ioctl_finish(&reply, &arg);
	if (call->out_failed && copy_to_user((u8 __user *)uarg + call->out_failed,
					     (u8 *)&arg + call->out_failed, sizeof(u64)))
		return -EFAULT;
	return err;
}

long ddio_ioctl_run(const struct ddio_ioctl *calls, u32 nr, struct file *file, unsigned int cmd,
		    unsigned long uarg)
{
	const struct ddio_ioctl *call = ioctl_find(calls, nr, cmd);

	if (!call)
		return -ENOTTY;
	return ioctl_do(call, file->private_data, (void __user *)uarg);
}
