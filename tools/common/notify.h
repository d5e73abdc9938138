/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the service manager that started this process, see sd_notify(3). */
#ifndef TOOLS_NOTIFY_H
#define TOOLS_NOTIFY_H

/**
 * notify_send - tell the service manager this process's state
 * @state: lines like "READY=1"
 * Return: 0, also if there is no service manager; -errno
 */
int notify_send(const char *state);

#endif /* TOOLS_NOTIFY_H */
