/* SPDX-License-Identifier: GPL-2.0-only */
/* Telling the service manager that started this process, see sd_notify(3). */
#ifndef TOOLS_NOTIFY_H
#define TOOLS_NOTIFY_H

/**
 * notify_send - say how things are
 * @state: lines like "READY=1"
 * Return: 0, also if nobody wants to know; -errno
 */
int notify_send(const char *state);

#endif /* TOOLS_NOTIFY_H */
