// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ports for servers that end and start again under the same address.  A port of the range from which
 * the kernel serves connecting sockets would not do: while the server is down, an outgoing connection
 * can get its port, even a connection to that very port, which is then connected to itself, and the
 * server could not start again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "env/addr.h"

#define PORT_LOWEST 10000 /* most registered ports are below */
#define PORT_FEWEST 1000  /* ports in a range to choose from */
#define PORT_TRIES 1000

/* Ports first to last - 1, none of which the kernel hands out by itself. */
struct port_range {
	unsigned int first, last;
};

static struct port_range port_range(void)
{
	struct port_range own = { PORT_LOWEST, 32768 };
	unsigned int low, high;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (!f)
		return own;
	if (fscanf(f, "%u %u", &low, &high) == 2 && low <= high && high <= UINT16_MAX) {
		if (low >= PORT_LOWEST + PORT_FEWEST)
			own.last = low;
		else if (high + PORT_FEWEST <= UINT16_MAX)
			own = (struct port_range){ high + 1, UINT16_MAX + 1 };
	}
	fclose(f);
	return own;
}

static int port_bind(int fd, unsigned int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return bind(fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}

static int port_find(int fd, struct port_range range, uint16_t *port)
{
	unsigned int i;
	uint32_t random;
	int err = -EADDRINUSE;

	for (i = 0; i < PORT_TRIES && err == -EADDRINUSE; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		*port = range.first + random % (range.last - range.first);
		err = port_bind(fd, *port);
	}
	return err;
}

int ddio_ports_free(uint16_t *port, uint32_t n)
{
	struct port_range range = port_range();
	int *fd = calloc(n ? n : 1, sizeof(*fd));
	int err = fd ? 0 : -ENOMEM;
	uint32_t i, made = 0;

	for (i = 0; i < n && !err; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd[i] < 0) {
			err = -errno;
			break;
		}
		made++;
		err = port_find(fd[i], range, &port[i]);
	}
	for (i = 0; i < made; i++)
		close(fd[i]);
	free(fd);
	return err;
}
