/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws pictures by gnuplot, a child process at the other end of a pipe. */
#ifndef TOOLS_GNUPLOT_H
#define TOOLS_GNUPLOT_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

struct gnuplot {
	FILE *in; /* takes its script */
	pid_t pid;
	const char *path;
	struct sigaction sigpipe; /* before gnuplot was started */
};

/*
 * Starts gnuplot with its output to the PNG @path, which must live until
 * gnuplot_close().  Return: 0, or -errno after a message; -ENOENT: no gnuplot, or no
 * folder for the picture.
 */
int gnuplot_open(struct gnuplot *g, const char *command, const char *path, int width, int height);
/* Ends it.  Return: 0, or -EIO after a message if it failed; then there is no picture. */
int gnuplot_close(struct gnuplot *g, const char *command);

#endif /* TOOLS_GNUPLOT_H */
