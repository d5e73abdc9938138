// SPDX-License-Identifier: LGPL-2.1-or-later
/* Machines and networks by their addresses. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "conf/priv.h"

/**
 * struct net - addresses that have their first @bits in common
 */
struct net {
	uint8_t addr[16];
	unsigned int bits;
};

/* IPv4 addresses are those of IPv6 that stand for them. */
static bool net_address(const char *text, size_t len, struct net *net)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char clean[64];

	if (!len || len >= sizeof(clean))
		return false;
	memcpy(clean, text, len);
	clean[len] = '\0';
	net->bits = 128;
	if (inet_pton(AF_INET6, clean, net->addr) == 1)
		return true;
	memcpy(net->addr, mapped, sizeof(mapped));
	return inet_pton(AF_INET, clean, net->addr + sizeof(mapped)) == 1;
}

static bool net_parse(const char *text, size_t len, struct net *net)
{
	const char *slash = memchr(text, '/', len);
	size_t host = slash ? (size_t)(slash - text) : len;
	unsigned int most, bits = 0;
	size_t i;

	if (!net_address(text, host, net))
		return false;
	most = memchr(text, ':', host) ? 128 : 32;
	if (!slash)
		return true;
	for (i = host + 1; i < len && text[i] >= '0' && text[i] <= '9' && bits <= most; i++)
		bits = 10 * bits + (unsigned int)(text[i] - '0');
	net->bits = 128 - most + bits;
	return i == len && len > host + 1 && bits <= most;
}

/* Finds the next address of a list.  Returns false at its end. */
static bool next_part(const char **text, size_t *len)
{
	*text += strspn(*text, ", \t");
	*len = strcspn(*text, ", \t");
	return *len;
}

bool conf_nets_ok(const char *text)
{
	struct net net;
	size_t len;

	for (; next_part(&text, &len); text += len)
		if (!net_parse(text, len, &net))
			return false;
	return true;
}

static bool net_has(const struct net *net, const struct net *addr)
{
	unsigned int whole = net->bits / 8, rest = net->bits % 8;

	return !memcmp(net->addr, addr->addr, whole) &&
	       (!rest || !((net->addr[whole] ^ addr->addr[whole]) >> (8 - rest)));
}

static bool is_loopback(const struct net *addr)
{
	struct net net;

	return (net_parse("127.0.0.0/8", 11, &net) && net_has(&net, addr)) ||
	       (net_parse("::1", 3, &net) && net_has(&net, addr));
}

bool ddio_conf_believes_root(const struct ddio_conf *conf, const char *peer)
{
	const char *colon = strrchr(peer, ':'), *text = conf->no_root_squash;
	struct net addr, net;
	size_t len = colon ? (size_t)(colon - peer) : 0;

	if (len > 2 && peer[0] == '[' && peer[len - 1] == ']') {
		peer++;
		len -= 2;
	}
	if (!net_address(peer, len, &addr))
		return false;
	if (is_loopback(&addr))
		return true;
	for (; text && next_part(&text, &len); text += len)
		if (net_parse(text, len, &net) && net_has(&net, &addr))
			return true;
	return false;
}
