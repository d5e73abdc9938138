/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mailboxes: how a process gets a descriptor from another one on its machine.  The one that wants it opens a
 * mailbox and tells the other its name and token, over a connection that the other believes; the other sends the
 * descriptor and the token to that name.  Between machines, and in worlds without it, all of this fails.
 */
#ifndef DDIO_MAILBOX_H
#define DDIO_MAILBOX_H

#include "env/env.h"

/* Each name begins with this: a peer that says where a letter goes means a mailbox, and no other program's socket. */
#define MAILBOX_PREFIX "ddio-"
#define MAILBOX_NAME 64
#define MAILBOX_TOKEN 16

/**
 * struct ddio_mailbox - where descriptors are sent to; the caller owns the memory
 * @name: unique on this machine; empty: the mailbox is not open
 * @token: what a letter must contain; known only to the process that is to send one
 * @ops, @fd, @priv: the world's
 */
struct ddio_mailbox {
	const struct ddio_mail_ops *ops;
	int fd;
	void *priv;
	char name[MAILBOX_NAME];
	uint8_t token[MAILBOX_TOKEN];
};

/**
 * struct ddio_mail_ops - how a world carries letters
 * @open: with the name and the token made up
 * @take: the oldest letter: -EAGAIN: there is none; -EPERM: it is not what it should be, and is gone
 * @send: never waits
 */
struct ddio_mail_ops {
	int (*open)(struct ddio_env *env, struct ddio_mailbox *box);
	void (*close)(struct ddio_mailbox *box);
	int (*take)(struct ddio_mailbox *box, int *fd);
	int (*send)(struct ddio_env *env, const char *name, const uint8_t token[MAILBOX_TOKEN],
		    int fd);
};

/* Between processes of one machine, by datagram sockets. */
extern const struct ddio_mail_ops mail_sockets;

/* Return: 0 or -errno. */
int ddio_mailbox_open(struct ddio_env *env, struct ddio_mailbox *box);
/*
 * Takes a descriptor that was sent with the right token.  -ENOENT: there is none, and *@fd is as before; never waits.  Calls on it may
 * wait, though, its close too, before the caller has seen that it is of the kind that was to be sent: see close_aside().
 */
int mailbox_take_fd(struct ddio_mailbox *box, int *fd);
/* Harmless on a mailbox that is not open. */
void ddio_mailbox_close(struct ddio_mailbox *box);
/* Return: 0 if the descriptor is in the mailbox; -errno, also if no such mailbox is on this machine. */
int mailbox_send(struct ddio_env *env, const char *name, const uint8_t token[MAILBOX_TOKEN],
		 int fd);

#endif /* DDIO_MAILBOX_H */
