// SPDX-License-Identifier: LGPL-2.1-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "env/addr.h"
#include "env/env.h"

static int port_parse(const char *text, unsigned int *port)
{
	unsigned int value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && value <= UINT16_MAX; p++)
		value = value * 10 + (*p - '0');
	if (p == text || *p || value > UINT16_MAX)
		return -EINVAL;
	*port = value;
	return 0;
}

int ddio_addr_split(const char *addr, char host[ADDR_HOST_MAX], unsigned int *port)
{
	const char *colon = strrchr(addr, ':');
	const char *start = addr, *end = colon;

	if (!colon || colon == addr)
		return -EINVAL;
	if (*addr == '[') {
		start = addr + 1;
		end = colon - 1;
		if (end <= start || *end != ']')
			return -EINVAL;
	} else if (memchr(addr, ':', colon - addr)) {
		return -EINVAL; /* an IPv6 address needs brackets */
	}
	if (end - start >= ADDR_HOST_MAX)
		return -EINVAL;
	memcpy(host, start, end - start);
	host[end - start] = '\0';
	return port_parse(colon + 1, port);
}

int ddio_addr_resolve(const char *host, unsigned int port, bool names, struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (names ? 0 : AI_NUMERICHOST),
	};
	bool any = !strcmp(host, "*");
	char service[8];

	if (any)
		hints.ai_flags |= AI_PASSIVE;
	snprintf(service, sizeof(service), "%u", port);
	switch (getaddrinfo(any ? NULL : host, service, &hints, list)) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_NONAME:
		return names ? -EHOSTUNREACH : -ENOENT;
	case EAI_SYSTEM:
		return errno ? -errno : -EHOSTUNREACH;
	default:
		return -EHOSTUNREACH;
	}
}

void addr_format(const struct sockaddr *sa, socklen_t len, char text[ADDR_TEXT_MAX])
{
	char host[ADDR_HOST_MAX], port[8];
	const char *fmt = sa->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s";

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, ADDR_TEXT_MAX, "unknown");
	else
		snprintf(text, ADDR_TEXT_MAX, fmt, host, port);
}

static bool in_is_loopback(in_addr_t addr)
{
	return ntohl(addr) >> 24 == 127;
}

static bool in6_is_loopback(const struct in6_addr *addr)
{
	in_addr_t v4;

	if (!IN6_IS_ADDR_V4MAPPED(addr))
		return IN6_IS_ADDR_LOOPBACK(addr);
	memcpy(&v4, &addr->s6_addr[12], sizeof(v4));
	return in_is_loopback(v4);
}

bool sockaddr_is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return in_is_loopback(((const struct sockaddr_in *)sa)->sin_addr.s_addr);
	if (sa->sa_family == AF_INET6)
		return in6_is_loopback(&((const struct sockaddr_in6 *)sa)->sin6_addr);
	return false;
}

bool addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		       &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

bool addr_is_local(const char *addr)
{
	return !strncmp(addr, ENV_LOCAL, sizeof(ENV_LOCAL) - 1);
}

/**
 * ddio_addr_is_loopback - whether an address can be reached from this machine only
 * @addr: "host:port", "[v6]:port", "local:NAME", or a host alone
 * Return: true for localhost, for numeric loopback addresses and for names of this machine.
 */
bool ddio_addr_is_loopback(const char *addr)
{
	char host[ADDR_HOST_MAX];
	struct in6_addr in6;
	struct in_addr in;
	unsigned int port;

	if (addr_is_local(addr))
		return true;
	if (ddio_addr_split(addr, host, &port))
		snprintf(host, sizeof(host), "%s", addr);
	if (!strcasecmp(host, "localhost"))
		return true;
	if (inet_pton(AF_INET, host, &in) == 1)
		return in_is_loopback(in.s_addr);
	return inet_pton(AF_INET6, host, &in6) == 1 && in6_is_loopback(&in6);
}
