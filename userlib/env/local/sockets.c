// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mailboxes of real processes.
 *
 * A mailbox is a datagram socket with an abstract name that cannot be guessed.  If the name is not bound where a
 * letter is sent, the two processes are not on one machine, or not in one network name space.  Any process on the
 * machine can see names of sockets but not the token, so a letter with the token comes from the process that was
 * told it.  Any process can also send letters without it, with as many descriptors as it likes.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "env/local/mailbox.h"

/* Abstract: a zero byte and then the name.  Return: the address's length, or -EINVAL. */
static int mailbox_addr(const char *name, struct sockaddr_un *sun)
{
	size_t len = strlen(name);

	if (len >= MAILBOX_NAME || len >= sizeof(sun->sun_path) ||
	    strncmp(name, MAILBOX_PREFIX, sizeof(MAILBOX_PREFIX) - 1))
		return -EINVAL;
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, name, len);
	return (int)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static int socket_open(struct ddio_env *env, struct ddio_mailbox *box)
{
	struct sockaddr_un sun;
	int len = mailbox_addr(box->name, &sun), err;

	(void)env;
	box->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (box->fd < 0)
		return -errno;
	if (!bind(box->fd, (struct sockaddr *)&sun, (socklen_t)len))
		return 0;
	err = -errno;
	close(box->fd);
	box->fd = -1;
	return err;
}

static void socket_close(struct ddio_mailbox *box)
{
	close(box->fd);
}

union letter_control {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

/* Of one descriptor.  The padding that CMSG_SPACE() adds is room for a second one, which nobody would close. */
#define LETTER_CONTROL CMSG_LEN(sizeof(int))

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

static int socket_take(struct ddio_mailbox *box, int *fd)
{
	uint8_t token[MAILBOX_TOKEN + 1];
	struct iovec iov = { .iov_base = token, .iov_len = sizeof(token) };
	union letter_control control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = LETTER_CONTROL };
	ssize_t n;
	int sent;

	do {
		n = recvmsg(box->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -errno;
	sent = letter_fd(&msg);
	if (sent >= 0 && n == MAILBOX_TOKEN && !memcmp(token, box->token, (size_t)n) &&
	    !(msg.msg_flags & MSG_CTRUNC)) {
		*fd = sent;
		return 0;
	}
	if (sent >= 0)
		close(sent);
	return -EPERM;
}

static int socket_send(struct ddio_env *env, const char *name, const uint8_t token[MAILBOX_TOKEN],
		       int fd)
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
	int from, len = mailbox_addr(name, &sun), err = 0;

	(void)env;
	if (len < 0)
		return len;
	msg.msg_namelen = (socklen_t)len;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (from < 0)
		return -errno;
	if (sendmsg(from, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		err = -errno;
	close(from);
	return err;
}

const struct ddio_mail_ops mail_sockets = {
	.open = socket_open,
	.close = socket_close,
	.take = socket_take,
	.send = socket_send,
};
