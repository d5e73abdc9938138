// SPDX-License-Identifier: GPL-2.0-only
/* A broadcast through pipes that are made before the processes are: rank 0 writes, each other reads its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "cmd.h"

int pipes_make(struct cmd_pipes *p, uint32_t n)
{
	uint32_t i;

	*p = (struct cmd_pipes){ .fd = calloc(n, sizeof(*p->fd)), .n = 1, .rank = UINT32_MAX };
	if (!p->fd)
		return -ENOMEM;
	for (i = 1; i < n; i++, p->n++)
		if (pipe2(p->fd[i], O_CLOEXEC))
			return -errno;
	return 0;
}

void pipes_free(struct cmd_pipes *p)
{
	uint32_t i;

	for (i = 1; p->fd && i < p->n; i++) {
		close(p->fd[i][0]);
		close(p->fd[i][1]);
	}
	free(p->fd);
	p->fd = NULL;
}

void pipes_own(struct cmd_pipes *p, uint32_t rank)
{
	uint32_t i;

	p->rank = rank;
	for (i = 1; i < p->n; i++) {
		if (rank)
			close(p->fd[i][1]);
		if (rank != i)
			close(p->fd[i][0]);
	}
}

static int pipe_all(int fd, void *buf, size_t len, bool out)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = out ? write(fd, (char *)buf + at, len - at)
			: read(fd, (char *)buf + at, len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		at += (size_t)n;
	}
	return 0;
}

int pipes_bcast(void *pipes, void *buf, size_t len, uint32_t root)
{
	struct cmd_pipes *p = pipes;
	uint32_t i;
	int err = 0;

	(void)root;
	if (p->rank)
		return pipe_all(p->fd[p->rank][0], buf, len, false);
	for (i = 1; i < p->n && !err; i++)
		err = pipe_all(p->fd[i][1], buf, len, true);
	return err;
}
