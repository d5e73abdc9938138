/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses as text, "host:port" and "[v6]:port", and as socket addresses. */
#ifndef DDIO_ENV_ADDR_H
#define DDIO_ENV_ADDR_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_HOST_MAX 256
#define ADDR_TEXT_MAX 280

/* Splits "host:port"; @port: 0 to 65535.  Return: 0, or -EINVAL if the text is not an address. */
int ddio_addr_split(const char *addr, char host[ADDR_HOST_MAX], unsigned int *port);
/*
 * Resolves a host; host "*" stands for all addresses, to listen on.  Names are looked up only with
 * @names, and that may block for long.  Return: 0, -ENOENT for a name without @names, or another
 * -errno.
 */
int ddio_addr_resolve(const char *host, unsigned int port, bool names, struct addrinfo **list);
void addr_format(const struct sockaddr *sa, socklen_t len, char text[ADDR_TEXT_MAX]);
/* Returns true for "local:NAME". */
bool addr_is_local(const char *addr);
bool sockaddr_is_loopback(const struct sockaddr *sa);
/* Returns true if both are addresses of one host, whatever their ports. */
bool addr_same_host(const struct sockaddr *a, const struct sockaddr *b);
/*
 * Finds @n different ports of the loopback address on which nobody listens now and which the kernel
 * does not hand out to outgoing connections.  Return: 0, or -EADDRINUSE or another -errno.
 */
int ddio_ports_free(uint16_t *port, uint32_t n);

#endif /* DDIO_ENV_ADDR_H */
