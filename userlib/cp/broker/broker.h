/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A broker: of the processes of a group that are on one machine the one whose connections to I/O processors carry those of the
 * others.  It is the first that can bind a local name which follows from the group's; the others, who find it bound, connect there.
 * Nothing of what it carries does it look into; each lane has its own opening exchange with the node, and TLS where that holds.
 *
 * A broker serves as long as its session lasts, whatever its process does meanwhile: its reactor's thread does the work.
 */
#ifndef DDIO_CP_BROKER_H
#define DDIO_CP_BROKER_H

#include "cp/node/lane.h"

/* By itself a broker is used in groups of so many processes, each of which may connect to every node. */
#define BROKER_AUTO 4096u

/* Return: 0 or -ENOMEM.  Without it, lanes connect by themselves. */
int broker_init(struct ddio_session *session);
/* The watchdog's part: finds a broker, or a node that one is connected to, that does not answer. */
bool broker_check(struct ddio_session *session);
/*
 * The session is about to end: has those that it brokers for leave.  Returns true while any of them has not, or bytes wait to go out
 * that a broker is to bring, or this one.
 */
bool broker_leave(struct ddio_session *session);
void broker_close(struct ddio_session *session);
void broker_free(struct ddio_session *session);

#endif /* DDIO_CP_BROKER_H */
