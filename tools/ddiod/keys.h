/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon's keys. */
#ifndef TOOLS_DDIOD_KEYS_H
#define TOOLS_DDIOD_KEYS_H

#include "conn/conn.h"
#include "ddiod.h"

/* The key that daemons alone share, where connections have users; else none.  Return: 0, or -errno after a message. */
int keys_load_servers(const struct ddiod *d, struct ddio_key *key);
/* Reads those of the cluster.  Return: 0, or -errno after a message. */
int keys_load(const struct ddiod *d, struct ddio_key *key);
/* The node serves: reads them again, and has connections to come prove these. */
void keys_reload(struct ddiod *d);

#endif /* TOOLS_DDIOD_KEYS_H */
