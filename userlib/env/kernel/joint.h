/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joints: processes of one machine join memory of theirs to a disk's reactor, so that blocks move
 * straight between that memory and the disk.  The process that owns the disks makes a joint and
 * sends it to the others' mailboxes; they join memory to it.  Between machines, and in worlds
 * without it, all of this fails, with -EOPNOTSUPP or another error, and the data are moved in
 * another way.
 */
#ifndef DDIO_JOINT_H
#define DDIO_JOINT_H

#include "env/local/mailbox.h"

struct ddio_joint;
struct ddio_membership;

/* Takes a joint that was sent with the right token.  -ENOENT: there is none; never waits. */
int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint);

/* Makes a joint with one reference; members 0 to @members - 1 may join it. */
int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint);
/* References may be taken and put by any thread. */
void ddio_joint_get(struct ddio_joint *joint);
void ddio_joint_put(struct ddio_joint *joint);
/* Return: 0 if the joint is in the mailbox; -errno, also if no such mailbox is on this machine. */
int ddio_joint_send(struct ddio_joint *joint, const char *name, const uint8_t token[MAILBOX_TOKEN]);
/*
 * Joins memory.  -ENOMEM: more than may be pinned; -EEXIST: @member has joined already.
 * @reading: disks only read from the memory.
 */
int ddio_joint_join(struct ddio_joint *joint, uint32_t member, const void *mem, size_t len,
		    bool reading, struct ddio_membership **membership);
/* Ends the membership: when this returns, nothing touches the memory again.  NULL is harmless. */
void ddio_membership_end(struct ddio_membership *membership);

/* Returns the joint's descriptor. */
int joint_fd(const struct ddio_joint *joint);

#endif /* DDIO_JOINT_H */
