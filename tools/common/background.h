/* SPDX-License-Identifier: GPL-2.0-only */
/* Going into the background once a daemon is ready. */
#ifndef TOOLS_BACKGROUND_H
#define TOOLS_BACKGROUND_H

/**
 * background_fork - continue in a child process
 * @parent: becomes a pipe to the parent.  The parent waits: when a byte comes it exits with 0, when
 *	the child ends first it exits with the child's code.
 * Return: 0 in the child, or -errno.  The parent does not return.
 */
int background_fork(int *parent);
/*
 * Leaves the terminal and the session.  Call it when all is ready, not before: an automount point
 * lets only the process group of its service manager mount.
 */
void background_detach(void);

#endif /* TOOLS_BACKGROUND_H */
