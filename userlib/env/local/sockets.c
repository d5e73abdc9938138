// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mailboxes of real processes.
 *
 * A mailbox is a datagram socket with an abstract name that cannot be guessed.  If the name is not bound where a
 * letter is sent, the two processes are not on one machine, or not in one network name space.  Any process on the
 * machine can see names of sockets but not the token, so a letter with the token comes from the process that was
 * told it.  Any process can also send letters without it, with as many descriptors as it likes: a filter of the socket has
 * the kernel drop these in the sender's own system call, so that they never arrive.
 *
 * Whoever drops the last reference to a descriptor may wait for what is behind it: a FUSE file, a TCP socket that lingers.
 * This end therefore drops none, not even of letters with the token: it takes a descriptor from a letter that still lies in the
 * socket, and leaves the socket of a letter with more than one to close_aside().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "env/aside.h"
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

/* Lets letters in that are the token, and nothing else. */
static int filter_set(int fd, const uint8_t token[MAILBOX_TOKEN])
{
	enum { WORDS = MAILBOX_TOKEN / 4, REFUSE = 2 * WORDS + 3 };
	struct sock_filter code[REFUSE + 1], *at = code;
	const struct sock_fprog prog = { .len = REFUSE + 1, .filter = code };
	uint32_t word, i;

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAILBOX_TOKEN, 0,
					     REFUSE - 2);
	for (i = 0; i < WORDS; i++) {
		memcpy(&word, token + 4 * i, 4);
		*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * i);
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), 0,
						     REFUSE - 4 - 2 * i);
	}
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	*at = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ? -errno : 0;
}

/* The filter comes first: nobody knows the socket before it has a name. */
static int socket_open(struct ddio_env *env, struct ddio_mailbox *box)
{
	struct sockaddr_un sun;
	int len = mailbox_addr(box->name, &sun), err;

	(void)env;
	box->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (box->fd < 0)
		return -errno;
	err = filter_set(box->fd, box->token);
	if (!err && bind(box->fd, (struct sockaddr *)&sun, (socklen_t)len))
		err = -errno;
	if (!err)
		return 0;
	close(box->fd);
	box->fd = -1;
	return err;
}

/* No letter comes any more; an empty box is closed at once. */
static void socket_close(struct ddio_mailbox *box)
{
	uint8_t byte;

	if (box->fd < 0)
		return;
	if (!shutdown(box->fd, SHUT_RD) && recv(box->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		close(box->fd);
	else
		close_aside(box->fd);
	box->fd = -1;
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

/* Looks at the oldest letter, which stays.  Return: bytes, or -errno; *@fd: its one descriptor, or -1. */
static ssize_t letter_look(const struct ddio_mailbox *box, uint8_t token[MAILBOX_TOKEN + 1],
			   int *fd, bool *more)
{
	struct iovec iov = { .iov_base = token, .iov_len = MAILBOX_TOKEN + 1 };
	union letter_control control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = LETTER_CONTROL };
	ssize_t n;

	do {
		n = recvmsg(box->fd, &msg, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*fd = letter_fd(&msg);
	*more = msg.msg_flags & MSG_CTRUNC;
	return n;
}

static int socket_take(struct ddio_mailbox *box, int *fd)
{
	uint8_t token[MAILBOX_TOKEN + 1];
	bool more = false;
	int sent = -1;
	ssize_t n = box->fd < 0 ? -EAGAIN : letter_look(box, token, &sent, &more);

	if (n < 0)
		return (int)n;
	if (n != MAILBOX_TOKEN || memcmp(token, box->token, MAILBOX_TOKEN) || more) {
		if (sent >= 0)
			close_aside(sent);
		close_aside(box->fd);
		box->fd = -1;
		return -EPERM;
	}
	/* What it brought is held by @sent, or is nothing. */
	(void)!recv(box->fd, token, sizeof(token), MSG_DONTWAIT);
	if (sent < 0)
		return -EPERM;
	*fd = sent;
	return 0;
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
