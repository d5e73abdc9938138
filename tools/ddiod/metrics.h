/* SPDX-License-Identifier: GPL-2.0-only */
/* --metrics: the node's state for whoever asks by HTTP. */
#ifndef TOOLS_DDIOD_METRICS_H
#define TOOLS_DDIOD_METRICS_H

struct ddiod;
struct metrics_server;

/**
 * metrics_start - listens at --metrics, and serves in a thread of its own
 * @d: the process, whose node runs until metrics_stop()
 * Return: 0, also without --metrics; -errno after a message
 */
int metrics_start(struct ddiod *d);
/* Ends the thread and its connections. */
void metrics_stop(struct ddiod *d);

#endif /* TOOLS_DDIOD_METRICS_H */
