// SPDX-License-Identifier: GPL-2.0-only
/* Starts and ends the daemons of a local cluster. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cmd.h"
#include "local.h"
#include "program.h"

#define READY_MS 20000
#define STOP_MS 20000

/* Return: where the daemon lies, or NULL */
static const char *local_daemon(char path[PATH_MAX])
{
	const char *given = getenv("DDIO_DDIOD");
	const char *found = given ? given : program_find("ddiod", path);

	return strchr(found, '/') ? found : NULL;
}

struct local_child {
	pid_t pid;
	int ready; /* a byte comes when the daemon serves, the end of the pipe if it fails */
};

static void local_exec(const char *path, const char *dir, uint32_t node, int ready, bool child)
{
	char conf[4200], name[16], pid[4200], log[4200], fd[16];

	snprintf(conf, sizeof(conf), "%s/ddio.conf", dir);
	snprintf(name, sizeof(name), "io%u", node);
	snprintf(pid, sizeof(pid), "%s/io%u.pid", dir, node);
	snprintf(log, sizeof(log), "%s/io%u.log", dir, node);
	snprintf(fd, sizeof(fd), "%d", ready);
	if (child)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	else
		setsid();
	execl(path, path, "--foreground", "--conf", conf, "--node", name, "--pid-file", pid,
	      "--log-file", log, "--ready-fd", fd, (char *)NULL);
	_exit(127);
}

/* What a library says before it ends a daemon goes where the daemon's own lines go. */
static void local_stderr(const char *dir, uint32_t node, int null)
{
	char log[PATH_MAX];
	int fd;

	snprintf(log, sizeof(log), "%s/io%u.log", dir, node);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	dup2(fd < 0 ? null : fd, STDERR_FILENO);
}

static int local_spawn(const char *path, const char *dir, uint32_t node, bool child,
		       struct local_child *c)
{
	int p[2], null;

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0) {
		close(p[0]);
		close(p[1]);
		return -errno;
	}
	if (!c->pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (!child)
			local_stderr(dir, node, null);
		fcntl(p[1], F_SETFD, 0);
		local_exec(path, dir, node, p[1], child);
	}
	close(p[1]);
	c->ready = p[0];
	return 0;
}

/* Return: the last line of the daemon's log, in @line. */
static const char *local_said(const char *dir, uint32_t node, char *line, int size)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/io%u.log", dir, node);
	f = fopen(path, "re");
	snprintf(line, (size_t)size, "there is no log");
	while (f && fgets(line, size, f))
		line[strcspn(line, "\n")] = 0;
	if (f)
		fclose(f);
	return line;
}

static int local_await(const char *command, const char *dir, uint32_t node, struct local_child *c)
{
	struct pollfd pfd = { .fd = c->ready, .events = POLLIN };
	char byte, line[1024];
	int n = poll(&pfd, 1, READY_MS);

	if (n > 0 && read(c->ready, &byte, 1) == 1)
		return 0;
	if (n < 0 && errno == EINTR) {
		cmd_fail(command, EINTR, "I/O processor io%u", node);
		return -EINTR;
	}
	cmd_fail(command, 0, "I/O processor io%u %s: %s", node,
		 n ? "did not start" : "was not ready in time",
		 local_said(dir, node, line, sizeof(line)));
	return n ? -ECHILD : -ETIMEDOUT;
}

static void local_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

/* A zombie counts as ended. */
static bool local_alive(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state != 'Z' && state != 'X';
}

static void local_wait_end(pid_t pid)
{
	unsigned int ms;

	for (ms = 0; ms < STOP_MS && local_alive(pid); ms += 10)
		local_sleep_ms(10);
	if (local_alive(pid))
		kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
}

int local_start(const char *command, const char *dir, uint32_t nodes, pid_t *pids)
{
	struct local_child *c = calloc(nodes, sizeof(*c));
	char room[PATH_MAX];
	const char *path = local_daemon(room);
	uint32_t i, made = 0;
	int err = !c ? -ENOMEM : !path ? -ENOENT : 0;

	if (err)
		cmd_fail(command, err, "cannot find ddiod");
	for (i = 0; i < nodes && !err; i++) {
		err = local_spawn(path, dir, i, pids != NULL, &c[i]);
		if (!err)
			made++;
	}
	for (i = 0; i < made; i++) {
		if (!err)
			err = local_await(command, dir, i, &c[i]);
		close(c[i].ready);
		if (pids)
			pids[i] = c[i].pid;
	}
	if (err)
		for (i = 0; i < made; i++)
			kill(c[i].pid, SIGTERM);
	/* Nothing of them is left to write into what is removed now. */
	for (i = 0; err && i < made; i++)
		local_wait_end(c[i].pid);
	free(c);
	return err;
}

/* Return: the process that a pid file names if it still is a ddiod, else 0. */
static pid_t local_pid(const char *dir, uint32_t node)
{
	char path[4200], buf[8192];
	FILE *f;
	int pid = 0;
	size_t n;

	snprintf(path, sizeof(path), "%s/io%u.pid", dir, node);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	if (pid <= 1)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[n] = 0;
	return n && strstr(buf, "ddiod") ? pid : 0;
}

/* Return: how many lines of DIR/ddio.conf begin with @text. */
static uint32_t local_lines(const char *dir, const char *text)
{
	char path[4200], line[4500];
	uint32_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/ddio.conf", dir);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		n += !strncmp(line, text, strlen(text));
	fclose(f);
	return n;
}

uint32_t local_nodes(const char *dir)
{
	return local_lines(dir, "[node io");
}

bool local_lasts(const char *dir)
{
	return local_lines(dir, "path = ") == local_lines(dir, "[disk ");
}

uint32_t local_running(const char *dir)
{
	uint32_t i, n = 0, nodes = local_nodes(dir);

	for (i = 0; i < nodes; i++)
		n += local_pid(dir, i) > 0;
	return n;
}

int local_stop(const char *command, const char *dir, uint32_t *stopped)
{
	uint32_t i, nodes = local_nodes(dir);
	pid_t *pid = calloc(nodes ? nodes : 1, sizeof(*pid));

	*stopped = 0;
	if (!pid)
		return -ENOMEM;
	if (!nodes) {
		free(pid);
		cmd_fail(command, 0, "there is no cluster in %s", dir);
		return -ENOENT;
	}
	for (i = 0; i < nodes; i++) {
		pid[i] = local_pid(dir, i);
		if (pid[i] > 0)
			kill(pid[i], SIGTERM);
	}
	for (i = 0; i < nodes; i++)
		if (pid[i] > 0) {
			local_wait_end(pid[i]);
			(*stopped)++;
		}
	free(pid);
	return 0;
}

void local_stop_children(pid_t *pids, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGTERM);
	for (i = 0; i < n; i++)
		if (pids[i] > 0) {
			local_wait_end(pids[i]);
			waitpid(pids[i], NULL, 0);
			pids[i] = 0;
		}
}

static int local_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void local_remove_new(const char *dir, uint32_t iops, uint32_t disks)
{
	static const char *const of_node[] = { "%s/io%u", "%s/io%u.log", "%s/io%u.pid" };
	char path[PATH_MAX];
	uint32_t i, n;

	for (i = 0; i < iops; i++)
		for (n = 0; n < sizeof(of_node) / sizeof(of_node[0]); n++) {
			snprintf(path, sizeof(path), of_node[n], dir, i);
			local_remove_tree(path);
		}
	for (i = 0; i < iops * disks; i++) {
		snprintf(path, sizeof(path), "%s/d%u.img", dir, i);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/key", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ddio.conf", dir);
	unlink(path);
}

int local_remove_tree(const char *dir)
{
	return nftw(dir, local_remove_one, 32, FTW_DEPTH | FTW_PHYS) ? -errno : 0;
}
