// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "background.h"

/* Exits as the child says. */
static void wait_for_child(pid_t pid, int fd)
{
	int status = 0;
	char byte;

	if (read(fd, &byte, 1) == 1)
		_exit(EXIT_SUCCESS);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

int background_fork(int *parent)
{
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (pid) {
		close(fds[1]);
		wait_for_child(pid, fds[0]);
	}
	close(fds[0]);
	*parent = fds[1];
	return 0;
}

void background_detach(void)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}
