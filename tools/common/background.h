/* SPDX-License-Identifier: GPL-2.0-only */
/* Going into the background, with somebody at the terminal until all is ready. */
#ifndef TOOLS_BACKGROUND_H
#define TOOLS_BACKGROUND_H

/**
 * background_fork - go on as a child
 * @parent: becomes the pipe to the process that was started: it waits until a byte comes, and
 *	ends well; or until the child has ended, and ends as that did
 * Return: 0 in the child, -errno.  The parent does not return.
 */
int background_fork(int *parent);
/*
 * Nobody's terminal any more.  Not before all is ready: an automount point lets only its service manager's
 * process group mount.
 */
void background_detach(void);

#endif /* TOOLS_BACKGROUND_H */
