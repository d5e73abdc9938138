// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cmd.h"
#include "gnuplot.h"

int gnuplot_open(struct gnuplot *g, const char *command, const char *path, int width, int height)
{
	int p[2];

	if (pipe(p))
		return cmd_fail(command, -errno, "pipe"), -EIO;
	signal(SIGPIPE, SIG_IGN);
	g->pid = fork();
	if (g->pid < 0) {
		close(p[0]);
		close(p[1]);
		return cmd_fail(command, -errno, "fork"), -EIO;
	}
	if (!g->pid) {
		dup2(p[0], STDIN_FILENO);
		close(p[0]);
		close(p[1]);
		execlp("gnuplot", "gnuplot", "-", (char *)NULL);
		_exit(127);
	}
	close(p[0]);
	g->in = fdopen(p[1], "w");
	if (!g->in) {
		close(p[1]);
		waitpid(g->pid, NULL, 0);
		return -ENOMEM;
	}
	fprintf(g->in, "set terminal pngcairo size %d,%d font 'sans,10'\nset output '%s'\n", width,
		height, path);
	return 0;
}

int gnuplot_close(struct gnuplot *g, const char *command)
{
	int st = 0, err = fclose(g->in) ? -errno : 0;

	if (waitpid(g->pid, &st, 0) != g->pid || !WIFEXITED(st))
		err = -EIO;
	else if (WEXITSTATUS(st) == 127)
		return cmd_fail(command, 0, "gnuplot is not installed: no picture"), -ENOENT;
	else if (WEXITSTATUS(st))
		err = -EIO;
	if (err)
		cmd_fail(command, 0, "gnuplot failed: no picture");
	return err;
}
