// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/common/cmd.h"
#include "gnuplot.h"

/* The descriptors between this process and gnuplot. */
struct ends {
	int png;
	int script[2]; /* from us to gnuplot */
	int status[2]; /* the child's errno, if it cannot become gnuplot */
};

/* The picture is the child's standard output, so that no file name needs quoting in the script. */
static void child_run(const struct ends *e)
{
	int err;

	if (dup2(e->script[0], STDIN_FILENO) >= 0 && dup2(e->png, STDOUT_FILENO) >= 0)
		execlp("gnuplot", "gnuplot", "-", (char *)NULL);
	err = errno;
	if (write(e->status[1], &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int ends_open(struct ends *e, const char *path)
{
	int err;

	e->png = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (e->png < 0)
		return -errno;
	if (pipe2(e->script, O_CLOEXEC)) {
		err = -errno;
		goto close_png;
	}
	if (pipe2(e->status, O_CLOEXEC)) {
		err = -errno;
		goto close_script;
	}
	return 0;

close_script:
	close(e->script[0]);
	close(e->script[1]);
close_png:
	close(e->png);
	return err;
}

/* Return: 0, or why gnuplot could not be executed. */
static int exec_error(int fd)
{
	int err = 0;
	ssize_t got;

	do {
		got = read(fd, &err, sizeof(err));
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(err) ? -err : 0;
}

static int child_reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int start(struct gnuplot *g, const struct ends *e)
{
	int err;

	g->pid = fork();
	if (!g->pid)
		child_run(e);
	err = g->pid < 0 ? -errno : 0;
	close(e->png);
	close(e->script[0]);
	close(e->status[1]);
	if (!err)
		err = exec_error(e->status[0]);
	close(e->status[0]);
	g->in = err ? NULL : fdopen(e->script[1], "w");
	if (g->in)
		return 0;
	close(e->script[1]);
	if (g->pid > 0)
		child_reap(g->pid);
	return err ? err : -ENOMEM;
}

int gnuplot_open(struct gnuplot *g, const char *command, const char *path, int width, int height)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct ends e;
	int err = ends_open(&e, path);

	if (err) {
		cmd_fail(command, err, "cannot draw '%s'", path);
		return err;
	}
	err = start(g, &e);
	if (err) {
		unlink(path);
		cmd_fail(command, err == -ENOENT ? 0 : err,
			 err == -ENOENT ? "gnuplot is not installed: no picture"
					: "cannot start gnuplot: no picture");
		return err;
	}
	g->path = path;
	sigaction(SIGPIPE, &ignore, &g->sigpipe);
	fprintf(g->in, "set terminal pngcairo size %d,%d font 'sans,10'\n", width, height);
	return 0;
}

int gnuplot_close(struct gnuplot *g, const char *command)
{
	int failed = ferror(g->in);
	int err;

	if (fclose(g->in))
		failed = 1;
	sigaction(SIGPIPE, &g->sigpipe, NULL);
	err = child_reap(g->pid);
	if (!err && failed)
		err = -EIO;
	if (err) {
		unlink(g->path);
		cmd_fail(command, 0, "gnuplot failed: no picture");
	}
	return err;
}
