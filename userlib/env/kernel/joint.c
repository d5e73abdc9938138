// SPDX-License-Identifier: LGPL-2.1-or-later
/* Joints and how they go from one process to another. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/env_ops.h"
#include "env/kernel/joint.h"
#include "env/kernel/kenv.h"

/* @foreign: somebody has sent something else in its place */
struct ddio_joint {
	atomic_uint refs;
	int fd;
	bool foreign;
};

struct ddio_membership {
	int fd;
};

static int joint_of_fd(int fd, struct ddio_joint **joint)
{
	struct ddio_joint *j = malloc(sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->refs = 1;
	j->fd = fd;
	j->foreign = false;
	*joint = j;
	return 0;
}

int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint)
{
	int fd, err;

	if (!env->ops->mail || !env->kenv)
		return -EOPNOTSUPP;
	fd = ddio_kdev_joint_create(&env->kenv->kdev, members);
	if (fd < 0)
		return fd;
	err = joint_of_fd(fd, joint);
	if (err)
		close(fd);
	return err;
}

void ddio_joint_get(struct ddio_joint *joint)
{
	atomic_fetch_add_explicit(&joint->refs, 1, memory_order_relaxed);
}

void ddio_joint_put(struct ddio_joint *joint)
{
	if (!joint || atomic_fetch_sub_explicit(&joint->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (joint->foreign)
		close_aside(joint->fd);
	else
		close(joint->fd);
	free(joint);
}

int joint_fd(const struct ddio_joint *joint)
{
	return joint->fd;
}

int ddio_joint_join(struct ddio_joint *joint, uint32_t member, const void *mem, size_t len,
		    bool reading, struct ddio_membership **membership)
{
	struct ddio_membership *m = malloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	if (joint->foreign) {
		free(m);
		return -ENOTTY;
	}
	m->fd = ddio_kdev_joint_join(joint->fd, member, mem, len,
				     reading ? DDIO_BUFFER_READONLY : 0);
	if (m->fd < 0) {
		int err = m->fd;

		free(m);
		return err;
	}
	*membership = m;
	return 0;
}

void ddio_membership_end(struct ddio_membership *membership)
{
	if (!membership)
		return;
	close(membership->fd);
	free(membership);
}

/* By its name, since an ioctl of another kind of file may wait.  Only files without a path have such names. */
static bool fd_is_joint(int fd)
{
	static const char joint[] = "anon_inode:[ddio-joint]";
	char path[32], name[sizeof(joint)];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name));
	return n == sizeof(joint) - 1 && !memcmp(name, joint, sizeof(joint) - 1);
}

int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint)
{
	int fd, err = mailbox_take_fd(box, &fd);

	if (err)
		return err;
	err = joint_of_fd(fd, joint);
	if (err)
		close_aside(fd);
	else
		(*joint)->foreign = !fd_is_joint(fd);
	return err;
}

int ddio_joint_send(struct ddio_joint *joint, const char *name, const uint8_t token[MAILBOX_TOKEN])
{
	return mail_sockets.send(NULL, name, token, joint->fd);
}
