/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joints: processes of one machine give a disk's reactor memory of theirs, so that blocks move
 * straight between them and the disks.  A joint is made by the one who owns the disks, and sent to
 * the others' mailboxes; they join memory of theirs to it.  Between machines, and in worlds that
 * know nothing of this, all of it is -EOPNOTSUPP or fails in another way, and there is always
 * another way to move the data.
 */
#ifndef DDIO_JOINT_H
#define DDIO_JOINT_H

#include "env/env.h"

struct ddio_joint;
struct ddio_membership;

#define DDIO_MAILBOX_NAME 64
#define DDIO_MAILBOX_TOKEN 16

/**
 * struct ddio_mailbox - where a joint can be sent to; the caller owns the memory
 * @name: within this machine; empty: it is not open
 * @token: what a letter must show; goes to nobody but the one who is to send it
 */
struct ddio_mailbox {
	int fd;
	char name[DDIO_MAILBOX_NAME];
	uint8_t token[DDIO_MAILBOX_TOKEN];
};

/* Return: 0 or -errno. */
int ddio_mailbox_open(struct ddio_env *env, struct ddio_mailbox *box);
/* What was sent with the right token so far; never waits: -ENOENT. */
int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint);
/* Harmless on one that is not open. */
void ddio_mailbox_close(struct ddio_mailbox *box);

/* One reference; @members may join it, numbers 0 to @members - 1. */
int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint);
/* References may be taken and put by any thread. */
void ddio_joint_get(struct ddio_joint *joint);
void ddio_joint_put(struct ddio_joint *joint);
/* It is there when this returns 0; else no such mailbox is on this machine, or -errno. */
int ddio_joint_send(struct ddio_joint *joint, const char *name,
		    const uint8_t token[DDIO_MAILBOX_TOKEN]);
/*
 * Gives memory; -ENOMEM: more than may be pinned, -EEXIST: @member has joined already.
 * @reading: it is only to be read from.
 */
int ddio_joint_join(struct ddio_joint *joint, uint32_t member, const void *mem, size_t len,
		    bool reading, struct ddio_membership **membership);
/* Takes it back: nobody touches the memory any more when this returns.  NULL is harmless. */
void ddio_membership_end(struct ddio_membership *membership);

/* Its descriptor. */
int joint_fd(const struct ddio_joint *joint);

#endif /* DDIO_JOINT_H */
