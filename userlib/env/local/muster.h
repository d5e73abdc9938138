/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A muster: where all members of a group that are processes of one machine meet, in memory that they share.  A round is
 * over when every member has come.  One that has waited for long calls the round off, for all: then each of them hears
 * that it is off, those that come later included, and they have to meet by other means.  So a member that never comes, or
 * is killed, holds nobody up for longer than the wait, and all members that come to a round hear the same of it.
 *
 * Members take each other's word for having come, as they do for everything that a group does together.  What stands in the
 * memory decides nothing but that: every wait is bounded, whatever it says.
 */
#ifndef DDIO_ENV_MUSTER_H
#define DDIO_ENV_MUSTER_H

#include "env/local/mailbox.h"

/* Members at most: more processes than that on one machine are better off with a tree. */
#define MUSTER_MOST 256u
/* Who has waited for so long calls the round off. */
#define MUSTER_WAIT_NS 2000000

struct ddio_muster;

/* Makes one for @size members.  Return: 0; -EOPNOTSUPP: not in this world; or another -errno. */
int ddio_muster_new(struct ddio_env *env, uint32_t size, struct ddio_muster **muster);
/* Lets the process have it that opened the mailbox.  Return: 0; -errno, also if no such mailbox is on this machine. */
int ddio_muster_send(const struct ddio_muster *m, const char *name,
		     const uint8_t token[MAILBOX_TOKEN]);
/* Takes what was sent to the mailbox.  Return: 0 or -errno. */
int ddio_muster_take(struct ddio_env *env, struct ddio_mailbox *box, uint32_t size,
		     struct ddio_muster **muster);
/* NULL is harmless. */
void ddio_muster_free(struct ddio_muster *m);
/**
 * ddio_muster_meet - come to the next round, and wait for the others
 * @m: on any thread but the reactor's
 * Return: 0: all have come, before this returned; -EAGAIN: the round is off, here and at all others; -EDEADLK: on the reactor,
 * and no round is begun.
 */
int ddio_muster_meet(struct ddio_muster *m);

#endif /* DDIO_ENV_MUSTER_H */
