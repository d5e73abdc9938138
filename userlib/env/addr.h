/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses as text, "host:port" and "[v6]:port", and as sockets have them. */
#ifndef DDIO_ENV_ADDR_H
#define DDIO_ENV_ADDR_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define DDIO_ADDR_HOST_MAX 256
#define DDIO_ADDR_TEXT_MAX 280

/* @port: 0 to 65535.  Return: 0, or -EINVAL if the text is no address. */
int addr_split(const char *addr, char host[DDIO_ADDR_HOST_MAX], unsigned int *port);
/*
 * Numbers only, unless @names, which may block for long; host "*" is any address, to
 * listen on.  Return: 0, -ENOENT if it is a name and may not be, or another -errno.
 */
int addr_resolve(const char *host, unsigned int port, bool names, struct addrinfo **list);
void addr_format(const struct sockaddr *sa, socklen_t len, char text[DDIO_ADDR_TEXT_MAX]);
bool sockaddr_is_loopback(const struct sockaddr *sa);
/*
 * @n different ports of the loopback address that nobody listens on now and that no
 * connection gets by chance.  Return: 0, or -EADDRINUSE or another -errno.
 */
int ddio_ports_free(uint16_t *port, uint32_t n);

#endif /* DDIO_ENV_ADDR_H */
