/* SPDX-License-Identifier: GPL-2.0-only */
/* --metrics: the node's state for whoever asks by HTTP. */
#ifndef TOOLS_DDIOD_METRICS_H
#define TOOLS_DDIOD_METRICS_H

struct ddiod;
struct metrics_server;

/* Listens at --metrics, if there is such an option.  Return: 0, or -errno after a message. */
int metrics_listen(struct ddiod *d);
/* Serves there, in a thread of its own; the node runs until metrics_stop().  Return: 0, or -errno after a message. */
int metrics_start(struct ddiod *d);
/* Ends the thread and its connections. */
void metrics_stop(struct ddiod *d);

#endif /* TOOLS_DDIOD_METRICS_H */
