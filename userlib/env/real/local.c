// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of this machine: Unix sockets with abstract names, of one network name space, which are free again as soon as nobody listens
 * there.  Anybody can bind a name that is free, so both ends look whose process the other is.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/real/stream.h"

#define LOCAL_BACKLOG 1024

/* Returns the length of the socket's address, or -EINVAL. */
static int local_sockaddr(const char *addr, struct sockaddr_un *sun)
{
	const char *name = addr + sizeof(ENV_LOCAL) - 1;
	size_t len = strlen(name);

	if (!len || len > ENV_LOCAL_NAME)
		return -EINVAL;
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, name, len);
	return (int)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static int local_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int real_local_listen(const char *addr)
{
	struct sockaddr_un sun;
	int len = local_sockaddr(addr, &sun), fd = len < 0 ? len : local_socket(), err;

	if (fd < 0)
		return fd;
	if (!bind(fd, (struct sockaddr *)&sun, (socklen_t)len) && !listen(fd, LOCAL_BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Nobody can connect any more.  Connections that wait may be strangers', who have sent something. */
void real_local_unlisten(int fd)
{
	int conn;

	shutdown(fd, SHUT_RD);
	while ((conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		close_aside(conn);
	if (errno == EAGAIN || errno == EINVAL)
		own_fd_close(fd);
	else
		own_fd_close_aside(fd);
}

bool real_local_same_user(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.uid == geteuid();
}

int real_local_connect(const char *addr)
{
	struct sockaddr_un sun;
	int len = local_sockaddr(addr, &sun), fd = len < 0 ? len : local_socket(), err;

	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&sun, (socklen_t)len))
		err = errno == EAGAIN ? -ECONNREFUSED : -errno;
	else
		err = real_local_same_user(fd) ? 0 : -EACCES;
	if (!err)
		return fd;
	/* Whoever listens there may have sent something. */
	close_aside(fd);
	return err;
}
