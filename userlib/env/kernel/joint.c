// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Joints and how they go from one process to another.
 *
 * A mailbox is a datagram socket with an abstract name that cannot be guessed.  The name and a token
 * go to the owner of the joint over an authenticated connection; the owner sends the token and the
 * joint's descriptor to that name.  If the name is not bound there, the two processes are not on one
 * machine, or not in one network name space.  Any process on the machine can see names of sockets but
 * not the token, so a letter with the token comes from the owner.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "env/env_ops.h"
#include "env/kernel/joint.h"
#include "env/kernel/kenv.h"

struct ddio_joint {
	atomic_uint refs;
	int fd;
};

struct ddio_membership {
	int fd;
};

static int joint_of_fd(int fd, struct ddio_joint **joint)
{
	struct ddio_joint *j = malloc(sizeof(*j));

	if (!j) {
		close(fd);
		return -ENOMEM;
	}
	j->refs = 1;
	j->fd = fd;
	*joint = j;
	return 0;
}

int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint)
{
	int fd;

	if (!env->ops->mailboxes || !env->kenv)
		return -EOPNOTSUPP;
	fd = ddio_kdev_joint_create(&env->kenv->kdev, members);
	return fd < 0 ? fd : joint_of_fd(fd, joint);
}

void ddio_joint_get(struct ddio_joint *joint)
{
	atomic_fetch_add_explicit(&joint->refs, 1, memory_order_relaxed);
}

void ddio_joint_put(struct ddio_joint *joint)
{
	if (!joint || atomic_fetch_sub_explicit(&joint->refs, 1, memory_order_acq_rel) > 1)
		return;
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

/*
 * Mailboxes
 */

/* Abstract: a zero byte and then the name.  Return: the address's length, or -EINVAL. */
static int mailbox_addr(const char *name, struct sockaddr_un *sun)
{
	size_t len = strlen(name);

	if (!len || len >= MAILBOX_NAME || len >= sizeof(sun->sun_path))
		return -EINVAL;
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, name, len);
	return (int)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

int ddio_mailbox_open(struct ddio_env *env, struct ddio_mailbox *box)
{
	struct sockaddr_un sun;
	uint64_t id[2];
	int len, err;

	box->fd = -1;
	box->name[0] = '\0';
	if (!env->ops->mailboxes)
		return -EOPNOTSUPP;
	ddio_env_random(env, id, sizeof(id));
	ddio_env_random(env, box->token, sizeof(box->token));
	box->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (box->fd < 0)
		return -errno;
	snprintf(box->name, sizeof(box->name), "ddio-%016llx%016llx", (unsigned long long)id[0],
		 (unsigned long long)id[1]);
	len = mailbox_addr(box->name, &sun);
	if (!bind(box->fd, (struct sockaddr *)&sun, (socklen_t)len))
		return 0;
	err = -errno;
	ddio_mailbox_close(box);
	return err;
}

void ddio_mailbox_close(struct ddio_mailbox *box)
{
	if (box->name[0])
		close(box->fd);
	box->fd = -1;
	box->name[0] = '\0';
}

union letter_control {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

/* Returns the descriptor in a message, or -1. */
static int letter_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Return: 0; -EAGAIN: there is none; -EPERM: it has not the right token. */
static int letter_take(struct ddio_mailbox *box, int *fd)
{
	uint8_t token[MAILBOX_TOKEN + 1];
	struct iovec iov = { .iov_base = token, .iov_len = sizeof(token) };
	union letter_control control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n;

	do {
		n = recvmsg(box->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -errno;
	*fd = letter_fd(&msg);
	if (*fd >= 0 && n == MAILBOX_TOKEN && !memcmp(token, box->token, (size_t)n))
		return 0;
	if (*fd >= 0)
		close(*fd);
	return -EPERM;
}

int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint)
{
	int fd = -1, err;

	if (!box->name[0])
		return -ENOENT;
	do {
		err = letter_take(box, &fd);
	} while (err == -EPERM);
	if (err)
		return err == -EAGAIN ? -ENOENT : err;
	return joint_of_fd(fd, joint);
}

int ddio_joint_send(struct ddio_joint *joint, const char *name, const uint8_t token[MAILBOX_TOKEN])
{
	struct iovec iov = { .iov_base = (void *)token, .iov_len = MAILBOX_TOKEN };
	union letter_control control = { .room = { 0 } };
	struct sockaddr_un sun;
	struct msghdr msg = { .msg_name = &sun,
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd, len = mailbox_addr(name, &sun), err = 0;

	if (len < 0)
		return len;
	msg.msg_namelen = (socklen_t)len;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(joint->fd));
	memcpy(CMSG_DATA(c), &joint->fd, sizeof(joint->fd));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		err = -errno;
	close(fd);
	return err;
}
