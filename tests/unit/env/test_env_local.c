// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of this machine, which anybody may bind and connect to: processes of one user meet there, and a stranger, who has bound
 * a name first or connects to it, is found out by both ends.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/env/env_help.h"

enum { STRANGER = 65534 };

/**
 * struct local - a reactor, and what has become of its streams
 * @listening: what listening said
 * @accepted, @came: streams, and bytes on them; @failed: the connecting one, and how
 */
struct local {
	struct ddio_env *env;
	struct ddio_listener *listener;
	struct ddio_stream *near, *far;
	char addr[64];
	int listening;
	_Atomic int accepted, came, failed;
};

static void far_readable(void *ctx)
{
	struct local *l = ctx;
	char byte;
	struct iovec iov = { &byte, 1 };
	ssize_t n = ddio_stream_readv(l->far, &iov, 1);

	if (n > 0)
		l->came++;
	else if (n != -EAGAIN)
		ddio_stream_want_read(l->far, false);
}

static void near_writable(void *ctx)
{
	struct local *l = ctx;
	struct iovec iov = { "x", 1 };

	ddio_stream_want_write(l->near, false);
	CU_ASSERT_EQUAL(ddio_stream_writev(l->near, &iov, 1), 1);
}

static void near_failed(void *ctx, int err)
{
	struct local *l = ctx;

	l->failed = err;
}

static void nothing(void *ctx)
{
	(void)ctx;
}

static void no_failure(void *ctx, int err)
{
	(void)ctx;
	(void)err;
}

static const struct ddio_stream_ops far_ops = {
	.readable = far_readable,
	.writable = nothing,
	.failed = no_failure,
};

static const struct ddio_stream_ops near_ops = {
	.readable = nothing,
	.writable = near_writable,
	.failed = near_failed,
};

static void accepted(void *ctx, struct ddio_stream *stream)
{
	struct local *l = ctx;

	l->accepted++;
	l->far = stream;
	ddio_stream_set_ops(stream, &far_ops, l);
}

static void do_listen(void *arg)
{
	struct local *l = arg;

	l->listening = ddio_listen(l->env, l->addr, accepted, l, &l->listener);
}

static void do_connect(void *arg)
{
	struct local *l = arg;
	int err = ddio_stream_connect(l->env, l->addr, &near_ops, l, &l->near);

	if (err)
		l->failed = err;
	else
		ddio_stream_want_write(l->near, true);
}

static void do_close(void *arg)
{
	struct local *l = arg;

	if (l->near)
		ddio_stream_close(l->near);
	if (l->far)
		ddio_stream_close(l->far);
	if (l->listener)
		ddio_listener_close(l->listener);
	l->near = l->far = NULL;
	l->listener = NULL;
}

static void local_begin(struct local *l, const char *what)
{
	memset(l, 0, sizeof(*l));
	l->env = env_new();
	snprintf(l->addr, sizeof(l->addr), "local:ddio-test-%s-%d", what, (int)getpid());
	ddio_real_start_thread(l->env);
}

static void local_end(struct local *l)
{
	on_reactor(l->env, do_close, l);
	ddio_real_free(l->env);
}

/* This process's own: a byte goes from one end to the other. */
static void meet(struct local *l)
{
	uint64_t end = ddio_env_now(l->env) + PATIENCE;

	on_reactor(l->env, do_connect, l);
	CU_ASSERT_EQUAL(l->failed, 0);
	while (!l->came && ddio_env_now(l->env) < end)
		usleep(200);
	CU_ASSERT_EQUAL(l->came, 1);
	CU_ASSERT_EQUAL(l->accepted, 1);
}

static void test_meet(void)
{
	struct local l, other;

	local_begin(&l, "meet");
	on_reactor(l.env, do_listen, &l);
	CU_ASSERT_EQUAL(l.listening, 0);
	local_begin(&other, "meet");
	on_reactor(other.env, do_listen, &other);
	CU_ASSERT_EQUAL(other.listening, -EADDRINUSE);
	meet(&l);
	local_end(&other);
	local_end(&l);
	local_begin(&l, "meet");
	on_reactor(l.env, do_connect, &l);
	CU_ASSERT_EQUAL(l.failed, -ECONNREFUSED);
	local_end(&l);
}

/*
 * Strangers.  What they do after fork() is system calls only.
 */
static socklen_t stranger_addr(const struct local *l, struct sockaddr_un *sun)
{
	const char *name = strchr(l->addr, ':') + 1;

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, name, strlen(name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

/* Returns a process of another user's that has the name, and listens there or not. */
static pid_t stranger_binds(const struct local *l, bool listens)
{
	struct sockaddr_un sun;
	socklen_t len = stranger_addr(l, &sun);
	int ready[2], s;
	char byte = 0;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!setresuid(STRANGER, STRANGER, STRANGER) &&
		    !bind(s, (struct sockaddr *)&sun, len) && (!listens || !listen(s, 8)) &&
		    write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void test_stranger_binds(void)
{
	static const int err[] = { -ECONNREFUSED, -EACCES };
	struct local l;
	pid_t pid;
	int i;

	if (geteuid()) {
		ut_skip("only root can be two users");
		return;
	}
	for (i = 0; i < 2; i++) {
		local_begin(&l, "bound");
		pid = stranger_binds(&l, i);
		on_reactor(l.env, do_listen, &l);
		CU_ASSERT_EQUAL(l.listening, -EADDRINUSE);
		on_reactor(l.env, do_connect, &l);
		CU_ASSERT_EQUAL(l.failed, err[i]);
		l.failed = 0;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		on_reactor(l.env, do_listen, &l);
		CU_ASSERT_EQUAL(l.listening, 0);
		meet(&l);
		local_end(&l);
	}
}

/* Returns 0 if the connection was closed before the stranger had anything of it. */
static int stranger_connects(const struct local *l)
{
	const struct timeval patience = { .tv_sec = PATIENCE / SECOND };
	struct sockaddr_un sun;
	socklen_t len = stranger_addr(l, &sun);
	int status = -1, s;
	char byte;
	pid_t pid = fork();

	if (!pid) {
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (setresuid(STRANGER, STRANGER, STRANGER) ||
		    connect(s, (struct sockaddr *)&sun, len) ||
		    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
			_exit(2);
		_exit(read(s, &byte, 1) != 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_stranger_connects(void)
{
	struct local l;

	if (geteuid()) {
		ut_skip("only root can be two users");
		return;
	}
	local_begin(&l, "connected");
	on_reactor(l.env, do_listen, &l);
	CU_ASSERT_EQUAL(l.listening, 0);
	CU_ASSERT_EQUAL(stranger_connects(&l), 0);
	CU_ASSERT_EQUAL(l.accepted, 0);
	meet(&l);
	local_end(&l);
}

static const struct ut_case cases[] = {
	{ "one user's processes", test_meet },
	{ "a stranger has the name", test_stranger_binds },
	{ "a stranger connects", test_stranger_connects },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_local", cases } };

	return ut_run("env_local", suites, 1);
}
