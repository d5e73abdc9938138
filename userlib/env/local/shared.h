/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that two processes of one machine share: one makes it and sends it to the other's mailbox.  Its size
 * never changes.  Without write permission the other can never have it writable, whatever it does with what it
 * was sent.  No privilege is needed.
 */
#ifndef DDIO_SHARED_H
#define DDIO_SHARED_H

#include "env/local/mailbox.h"

struct ddio_shared;

/* Makes @len bytes of zeros, which cost memory only where they are touched.  Return: 0 or -errno. */
int ddio_shared_new(struct ddio_env *env, size_t len, bool writable, struct ddio_shared **shared);
/* Return: 0 if it is in the mailbox; -errno, also if no such mailbox is on this machine. */
int ddio_shared_send(struct ddio_env *env, const struct ddio_shared *shared, const char *name,
		     const uint8_t token[MAILBOX_TOKEN]);
/* Takes what was sent.  Return: 0; -ENOENT: there is none; -EPERM: it might shrink; or another -errno. */
int ddio_shared_take(struct ddio_mailbox *box, bool writable, struct ddio_shared **shared);
/* Ends this process's view of it; the memory is gone with the last one.  NULL is harmless. */
void ddio_shared_free(struct ddio_shared *shared);
void *ddio_shared_mem(const struct ddio_shared *shared);
size_t ddio_shared_len(const struct ddio_shared *shared);

#endif /* DDIO_SHARED_H */
