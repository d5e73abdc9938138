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

/* Each trace is a broad band of its own colour; the model's line runs on top of it. */
static void script_write(FILE *out, const struct ddio_comparison *c, const char *const *names,
			 size_t n)
{
	size_t i;

	fprintf(out,
		"set terminal pngcairo size 1000,%zu noenhanced\n"
		"set title 'HP 97560: cumulative distribution of service times'\n"
		"set xlabel 'service time (ms)'\nset ylabel 'share of the requests'\n"
		"set yrange [0:1.02]\nset xrange [0:*]\nset grid\n"
		"set key below Left reverse maxcols 2\nplot ",
		640 + 10 * n);
	for (i = 0; i < n; i++) {
		fprintf(out, "%s'-' with steps lw 7 lc %zu title ", i ? ", " : "", i + 1);
		quote(out, names[i]);
		fprintf(out, ", '-' with steps lw 1.5 lc 'black' %s",
			i + 1 < n ? "notitle" : "title 'model'");
	}
	fprintf(out, "\n");
	for (i = 0; i < n; i++) {
		curve_write(out, c[i].trace_ms, c[i].n);
		curve_write(out, c[i].model_ms, c[i].n);
	}
}

/* The ends of the pipes, and the picture. */
struct plot {
	int script[2]; /* from us to gnuplot */
	int status[2]; /* the child's errno, if it cannot become gnuplot */
	int png;
	pid_t pid;
};

static void gnuplot_exec(const struct plot *p)
{
	int err;

	if (dup2(p->script[0], STDIN_FILENO) >= 0 && dup2(p->png, STDOUT_FILENO) >= 0)
		execlp("gnuplot", "gnuplot", (char *)NULL);
	err = errno;
	if (write(p->status[1], &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* Send the script without dying of a reader that went away. */
static int script_send(int fd, const struct ddio_comparison *c, const char *const *names, size_t n)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	FILE *out = fdopen(fd, "w");
	int failed;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	sigaction(SIGPIPE, &ignore, &before);
	script_write(out, c, names, n);
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

static int gnuplot_start(struct plot *p, const char *path)
{
	int err;

	p->png = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (p->png < 0)
		return -errno;
	if (pipe2(p->script, O_CLOEXEC))
		goto close_png;
	if (pipe2(p->status, O_CLOEXEC))
		goto close_script;
	p->pid = fork();
	if (p->pid < 0)
		goto close_status;
	if (!p->pid)
		gnuplot_exec(p);
	close(p->png);
	close(p->script[0]);
	close(p->status[1]);
	return 0;

close_status:
	err = errno;
	close(p->status[0]);
	close(p->status[1]);
	errno = err;
close_script:
	err = errno;
	close(p->script[0]);
	close(p->script[1]);
	errno = err;
close_png:
	err = errno;
	close(p->png);
	return -err;
}

int ddio_comparison_plot(const struct ddio_comparison *c, const char *const *names, size_t n,
			 const char *path)
{
	struct plot p;
	int err, sent, ended;

	err = gnuplot_start(&p, path);
	if (err)
		return err;
	err = exec_error(p.status[0]);
	close(p.status[0]);
	sent = script_send(p.script[1], c, names, n);
	ended = child_reap(p.pid);
	if (!err)
		err = sent ? sent : ended;
	if (err)
		unlink(path);
	return err == -ENOENT ? -ENOPKG : err;
}
