// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces: the picture of the distributions, drawn by gnuplot at the end of a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/disk_model.h"

/* A string in gnuplot's single quotes. */
static void quote(FILE *out, const char *s)
{
	fputc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', out);
		fputc(*s == '\n' ? ' ' : *s, out);
	}
	fputc('\'', out);
}

/* One curve as inline data: time and the share of requests served by then. */
static void curve_write(FILE *out, const double *ms, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, "%.6f %.6f\n", ms[i], (double)(i + 1) / (double)n);
	fprintf(out, "e\n");
}

static void script_write(FILE *out, const struct ddio_comparison *c, const char *const *names,
			 size_t n, const char *path)
{
	size_t i;

	fprintf(out, "set terminal pngcairo size 1000,640 noenhanced\nset output ");
	quote(out, path);
	fprintf(out, "\nset title 'HP 97560: service times, traces and model'\n"
		     "set xlabel 'service time (ms)'\nset ylabel 'share of the requests'\n"
		     "set yrange [0:1]\nset xrange [0:*]\nset grid\nset key bottom right\nplot ");
	for (i = 0; i < n; i++) {
		fprintf(out, "%s'-' with steps lw 3 lc %zu dt 2 title ", i ? ", " : "", i + 1);
		quote(out, names[i]);
		fprintf(out, ", '-' with steps lw 1 lc %zu title 'model'", i + 1);
	}
	fprintf(out, "\n");
	for (i = 0; i < n; i++) {
		curve_write(out, c[i].trace_ms, c[i].n);
		curve_write(out, c[i].model_ms, c[i].n);
	}
}

/* The child's side; an exec that fails tells the parent why by the status pipe. */
static void gnuplot_exec(const int script[2], const int status[2])
{
	int err;

	if (dup2(script[0], STDIN_FILENO) >= 0) {
		close(script[0]);
		close(script[1]);
		execlp("gnuplot", "gnuplot", (char *)NULL);
	}
	err = errno;
	if (write(status[1], &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* Send the script without dying of a reader that went away. */
static int script_send(FILE *out, const struct ddio_comparison *c, const char *const *names,
		       size_t n, const char *path)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	int failed;

	sigaction(SIGPIPE, &ignore, &before);
	script_write(out, c, names, n, path);
	failed = ferror(out);
	if (fclose(out))
		failed = 1;
	sigaction(SIGPIPE, &before, NULL);
	return failed ? -EIO : 0;
}

/* Why the child could not become gnuplot: 0 if it could. */
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

static int plot_run(const int script[2], const int status[2], FILE **out)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		gnuplot_exec(script, status);
	close(script[0]);
	close(status[1]);
	*out = fdopen(script[1], "w");
	return pid;
}

int ddio_comparison_plot(const struct ddio_comparison *c, const char *const *names, size_t n,
			 const char *path)
{
	int script[2], status[2];
	int pid, err, sent;
	FILE *out = NULL;

	if (pipe2(script, O_CLOEXEC))
		return -errno;
	if (pipe2(status, O_CLOEXEC)) {
		err = -errno;
		goto close_script;
	}
	pid = plot_run(script, status, &out);
	if (pid < 0) {
		err = pid;
		goto close_status;
	}
	err = exec_error(status[0]);
	close(status[0]);
	sent = -EIO;
	if (out)
		sent = script_send(out, c, names, n, path);
	else
		close(script[1]);
	if (!err)
		err = sent;
	sent = child_reap(pid);
	return err ? err : sent;

close_status:
	close(status[0]);
	close(status[1]);
close_script:
	close(script[0]);
	close(script[1]);
	return err;
}
