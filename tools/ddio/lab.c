// SPDX-License-Identifier: GPL-2.0-only
/* The commands of ddio-lab, a program of its own beside this one. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ddio.h"
#include "tools/common/program.h"

#define LAB "ddio-lab"

extern char **environ;

int lab_exec(char **argv)
{
	char path[PATH_MAX], **args;
	size_t n = 0;

	while (argv[n])
		n++;
	args = calloc(n + 2, sizeof(*args));
	if (!args)
		return -ENOMEM;
	args[0] = (char *)LAB;
	memcpy(args + 1, argv, n * sizeof(*args));
	fflush(NULL);
	execvp(program_find(LAB, path), args);
	n = (size_t)errno;
	free(args);
	return -(int)n;
}

/* Starts ddio-lab with its output in a pipe.  Return: the pipe's end, or -errno */
static int lab_spawn(char *const args[], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	err = posix_spawn_file_actions_init(&actions);
	if (!err) {
		err = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
		if (!err)
			err = posix_spawnp(pid, program_find(LAB, path), &actions, NULL, args,
					   environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(fds[1]);
	if (!err)
		return fds[0];
	close(fds[0]);
	return -err;
}

bool lab_list(enum commands_form form, FILE *out)
{
	char *args[] = { (char *)LAB, (char *)"--list", (char *)commands_form_names[form], NULL };
	char buf[4096];
	pid_t pid;
	int fd = lab_spawn(args, &pid);
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			fwrite(buf, 1, (size_t)n, out);
	close(fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}
