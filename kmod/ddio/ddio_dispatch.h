/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ioctls as a table.
 *
 * Every ioctl of the three kinds of descriptors goes through ddio_ioctl_run(), which
 * knows from a table what the struct looks like.  It reads the size, refuses a struct that is
 * too short or has anything but zeros in an unknown tail, checks flags and reserved
 * members, and copies the struct back; so the handlers see no user pointer to it.
 */
#ifndef DDIO_DISPATCH_H
#define DDIO_DISPATCH_H

#include <linux/fs.h>

#include <linux/ddio.h>

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

struct ddio_ioctl;

/**
 * struct ddio_reply - where the answer of a call goes
 * @call: its row
 * @uarg: the process's struct
 * @file: that of the descriptor that the call makes, or NULL; set by the handler, and installed
 *	when nothing can fail any more
 * @told: the process has its answer, and nothing that follows makes the call fail
 */
struct ddio_reply {
	const struct ddio_ioctl *call;
	void __user *uarg;
	struct file *file;
	bool told;
};

/*
 * Copies @arg, one that the handler fills in, out before the call is over.  -EFAULT: the process
 * does not have it.
 */
int ddio_reply_tell(struct ddio_reply *reply, const void *arg);

/**
 * struct ddio_ioctl - one ioctl
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
 * @run: the handler, for a context, a joint or a membership
 */
struct ddio_ioctl {
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
	int (*run)(void *object, union ddio_arg *arg, struct ddio_reply *reply);
};

#define DDIO_IOCTL(_cmd, _type, _last, _run, ...)                                          \
	{                                                                                  \
		.cmd = (_cmd), .size = sizeof(struct _type),                               \
		.size_min = offsetofend(struct _type, _last), .run = (_run), ##__VA_ARGS__ \
	}

#define DDIO_RESERVED(_type)                            \
	.reserved = offsetof(struct _type, __reserved), \
	.reserved_size = sizeof_field(struct _type, __reserved)

/* Runs ioctl @cmd on the private data of @file; -ENOTTY if it is not in @calls. */
long ddio_ioctl_run(const struct ddio_ioctl *calls, u32 nr, struct file *file, unsigned int cmd,
		    unsigned long uarg);

#endif /* DDIO_DISPATCH_H */
