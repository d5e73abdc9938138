// SPDX-License-Identifier: GPL-2.0-only
/* ddio trace: what I/O processors do during a collective, for Perfetto and as a picture. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "tools/common/cmd.h"
#include "trace.h"

struct trace_values {
	const char *conf, *output, *picture, *job, *file;
	uint32_t collectives, number, wait;
};

#define TRACE_AT(member) offsetof(struct trace_values, member)
#define TRACE_POLL_NS 50000000

static const struct ddio_opt trace_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, TRACE_AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("output", 'o', OPT_TEXT, TRACE_AT(output), "FILE",
		 "write the trace to this file; .svg and .png: as a picture (trace.json)"),
	DDIO_OPT("picture", 'p', OPT_TEXT, TRACE_AT(picture), "FILE",
		 "draw it, too: .svg, or .png by gnuplot"),
	DDIO_OPT("job", 'j', OPT_TEXT, TRACE_AT(job), "NAME", "only collectives of this job"),
	DDIO_OPT("file", 'f', OPT_TEXT, TRACE_AT(file), "NAME", "only collectives on this file"),
	DDIO_OPT("collectives", 'n', OPT_U32, TRACE_AT(collectives), "N",
		 "trace this many, one after the other (1)"),
	DDIO_OPT("number", 'k', OPT_U32, TRACE_AT(number), "N",
		 "the first has this number within its group, or a higher one (1)"),
	DDIO_OPT("wait", 'w', OPT_U32, TRACE_AT(wait), "S",
		 "without a program: give up after this many seconds (60)"),
	{ 0 },
};

const struct opt_cmd opts_trace = { "ddio",
				    "trace",
				    "[-- PROGRAM [ARGUMENT...]]",
				    "Record what I/O processors do during a collective.",
				    trace_opts,
				    0,
				    -1 };

/* Returns the last component of a path: what nodes call a file. */
static const char *last_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static int fetch_and_write(struct ddio_session *s, const struct trace_values *v)
{
	struct trace_all t;
	int err = trace_fetch("trace", s, false, &t);

	trace_end(s);
	if (err)
		return err;
	err = trace_pick(&t, v->collectives);
	if (err == -ENOENT)
		cmd_fail("trace", 0, "no collective was recorded");
	else if (err)
		cmd_fail("trace", err, "cannot sort the trace");
	if (!err)
		err = trace_save("trace", v->output, &t);
	if (!err && v->picture)
		err = trace_save("trace", v->picture, &t);
	if (!err && t.lost)
		fprintf(stderr, "ddio trace: %llu events found no room, and are not there\n",
			(unsigned long long)t.lost);
	trace_all_free(&t);
	return err;
}

/* Waits until the collectives are over: 0, or a negative errno after a message. */
static int wait_over(struct ddio_session *s, const struct trace_values *v)
{
	struct timespec poll = { .tv_nsec = TRACE_POLL_NS };
	uint64_t left = (uint64_t)v->wait * 1000000000 / TRACE_POLL_NS;
	struct trace_all t;
	bool over = false;
	int err = 0;

	while (!err && !over) {
		err = trace_fetch("trace", s, true, &t);
		if (err)
			break;
		over = trace_is_over(&t, v->collectives);
		trace_all_free(&t);
		if (!over && !left--)
			return cmd_fail("trace", 0, "no collective has ended within %u s", v->wait),
			       -ETIMEDOUT;
		if (!over)
			nanosleep(&poll, NULL);
	}
	return err;
}

/* Returns the program's exit code, or -1 after a message. */
static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		cmd_fail("trace", -errno, "cannot run %s", argv[0]);
		_exit(127);
	}
	if (pid < 0)
		return cmd_fail("trace", -errno, "cannot run %s", argv[0]), -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cmd_fail("trace", -errno, "cannot wait for %s", argv[0]), -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The program's processes are told apart by their job: the one that is asked for, or they have, or a new one. */
static int job_name(const struct trace_values *v, char name[DDIO_MAX_JOB + 1])
{
	const char *has = getenv("DDIO_JOB");

	if (v->job || (has && has[0]))
		snprintf(name, DDIO_MAX_JOB + 1, "%s", v->job ? v->job : has);
	else
		snprintf(name, DDIO_MAX_JOB + 1, "trace-%ld", (long)getpid());
	return setenv("DDIO_JOB", name, 1) ? -errno : 0;
}

static int trace_run(struct ddio_session *s, struct trace_values *v, char **program)
{
	char job[DDIO_MAX_JOB + 1];
	struct trace_want want = { .job = v->job ? v->job : "",
				   .file = last_name(v->file),
				   .first = v->number,
				   .most = v->collectives };
	int err, rc = 0;

	if (program) {
		err = job_name(v, job);
		if (err)
			return cmd_fail("trace", err, "cannot set DDIO_JOB");
		want.job = job;
	}
	err = trace_begin("trace", s, &want);
	if (!err)
		rc = program ? run(program) : 0;
	if (!err && !program)
		err = wait_over(s, v);
	if (err || rc < 0) {
		trace_end(s);
		return EXIT_FAILED;
	}
	return fetch_and_write(s, v) ? (rc ? rc : EXIT_FAILED) : rc;
}

/* Cuts the command line at "--": what follows is the program's.  Returns it, or NULL. */
static char **program_of(int *argc, char **argv)
{
	int i;

	for (i = 1; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			*argc = i;
			argv[i] = NULL;
			return argv[i + 1] ? &argv[i + 1] : NULL;
		}
	return NULL;
}

int cmd_trace(int argc, char **argv)
{
	struct trace_values v = {
		.output = "trace.json", .collectives = 1, .number = 1, .wait = 60
	};
	char **program = program_of(&argc, argv);
	struct ddio_session *s;
	int err = opt_parse(&opts_trace, &v, &argc, &argv), rc;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (argc || !v.collectives || v.collectives > TRACE_MOST) {
		fprintf(stderr, "ddio trace: %s\n",
			argc ? "put '--' in front of the program"
			     : "1 to 12 collectives can be traced");
		return EXIT_USAGE;
	}
	s = cmd_connect("trace", v.conf);
	if (!s)
		return EXIT_FAILED;
	rc = trace_run(s, &v, program);
	ddio_disconnect(s);
	return rc;
}
