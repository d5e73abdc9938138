/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where other members connect, and the connections whose group is not known yet. */
#ifndef DDIO_CP_PORT_H
#define DDIO_CP_PORT_H

#include "cp/group/group.h"

struct port;

/**
 * port_open - listen at an address at which other members reach this process
 * @wanted: "host:port" or "host"; NULL: loopback if all nodes are there or there is no key,
 *	else any host
 *
 * The same address twice is one port.  Its real address is port_addr(), whose host may
 * be one that says "any".
 */
int port_open(struct ddio_session *session, const char *wanted, struct port **port,
	      struct error *error);
const char *port_addr(const struct port *port);
void port_close(struct port *port);
/* Closes all ports and the connections of all strangers. */
void ports_close(struct ddio_session *session);
/* Lets members that connected early into a group that now exists. */
void strangers_admit(struct ddio_session *session, struct ddio_group *group);

#endif /* DDIO_CP_PORT_H */
