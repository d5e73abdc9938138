// SPDX-License-Identifier: LGPL-2.1-or-later
/* Listening for TCP connections. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/real/stream.h"

#define LISTEN_BACKLOG 1024
#define ACCEPTS_A_TURN 64
/* Out of descriptors or memory, try again after this. */
#define ACCEPT_PAUSE_NS 100000000ULL

/**
 * struct real_listener - one listening socket
 * @base: what the user sees
 * @watch: the socket
 * @accept: the user's
 * @ctx: for @accept
 * @pause: ends a pause
 * @pausing: a line was logged; there is no second one until a connection is accepted
 * @addr: text of the address
 */
struct real_listener {
	struct ddio_listener base;
	struct watch watch;
	ddio_accept_fn accept;
	void *ctx;
	struct ddio_timer pause;
	bool pausing;
	char addr[ADDR_TEXT_MAX];
};

static struct real_listener *listener_of(const struct ddio_listener *listener)
{
	return ddio_container_of(listener, struct real_listener, base);
}

static void listener_resume(void *arg)
{
	struct real_listener *l = arg;
	struct real *real = real_of(l->base.env);

	if (watch_set(real, &l->watch, EPOLLIN))
		ddio_timer_arm(l->base.env, &l->pause, ddio_env_now(l->base.env) + ACCEPT_PAUSE_NS);
}

static void listener_pause(struct real_listener *l, int err)
{
	struct ddio_env *env = l->base.env;

	if (!l->pausing)
		ddio_env_log(env, DDIO_LOG_WARN, "%s: cannot accept connections: %s; will retry",
			     l->addr, strerror(err));
	l->pausing = true;
	if (!ddio_timer_arm(env, &l->pause, ddio_env_now(env) + ACCEPT_PAUSE_NS))
		watch_del(real_of(env), &l->watch);
}

static bool accept_error_is_lack(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

/* Return: false if there is no connection to accept now. */
static bool listener_accept_one(struct real_listener *l)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	struct ddio_stream *stream;
	int fd, ret;

	fd = accept4(l->watch.fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (accept_error_is_lack(errno))
			listener_pause(l, errno);
		/* Any other error is the connection's own. */
		return errno == EINTR || errno == ECONNABORTED;
	}
	l->pausing = false;
	if (addr_is_local(l->addr) && !real_local_same_user(fd)) {
		close_aside(fd);
		return true;
	}
	ret = real_stream_new(real_of(l->base.env), fd, (struct sockaddr *)&peer, len, &stream);
	if (ret) {
		close(fd);
		return true;
	}
	l->accept(l->ctx, stream);
	return true;
}

static void listener_event(struct watch *watch, uint32_t events)
{
	struct real_listener *l = ddio_container_of(watch, struct real_listener, watch);
	struct real *real = real_of(l->base.env);
	int i;

	(void)events;
	real->current = l;
	for (i = 0; i < ACCEPTS_A_TURN && real->current; i++)
		if (!listener_accept_one(l))
			break;
	real->current = NULL;
}

static const char *listener_addr(const struct ddio_listener *listener)
{
	return listener_of(listener)->addr;
}

static void listener_close(struct ddio_listener *listener)
{
	struct real_listener *l = listener_of(listener);

	real_gone(real_of(l->base.env), l);
	ddio_timer_cancel(l->base.env, &l->pause);
	watch_del(real_of(l->base.env), &l->watch);
	if (addr_is_local(l->addr))
		real_local_unlisten(l->watch.fd);
	else
		own_fd_close(l->watch.fd);
	free(l);
}

static const struct ddio_listener_vtable real_listener_vt = {
	.addr = listener_addr,
	.close = listener_close,
};

/* Return: a listening socket or -errno. */
static int listen_on(const struct addrinfo *ai)
{
	int fd, err, one = 1, zero = 0;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	real_stream_options_set(fd);
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, LISTEN_BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Return: a listening socket on the first address that can be bound, or -errno. */
static int listen_on_any(const struct addrinfo *list, bool any)
{
	const struct addrinfo *ai;
	int fd = -EADDRNOTAVAIL;

	/* For "*" the list has IPv4 first, but an IPv6 socket accepts both. */
	for (ai = any ? list : NULL; ai; ai = ai->ai_next) {
		if (ai->ai_family != AF_INET6)
			continue;
		fd = listen_on(ai);
		if (fd >= 0)
			return fd;
	}
	for (ai = list; ai; ai = ai->ai_next) {
		fd = listen_on(ai);
		if (fd >= 0)
			return fd;
	}
	return fd;
}

/* Return: a listening socket or -errno. */
static int listen_at(const char *addr)
{
	char host[ADDR_HOST_MAX];
	struct addrinfo *list;
	unsigned int port;
	int ret;

	if (addr_is_local(addr))
		return real_local_listen(addr);
	ret = ddio_addr_split(addr, host, &port);
	if (ret)
		return ret;
	/* Looking up a name may block, which does no harm: listening begins before the work does. */
	ret = ddio_addr_resolve(host, port, true, &list);
	if (ret)
		return ret;
	ret = listen_on_any(list, !strcmp(host, "*"));
	freeaddrinfo(list);
	return ret;
}

int real_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		struct ddio_listener **listener)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	struct real_listener *l = calloc(1, sizeof(*l));
	int ret = l ? listen_at(addr) : -ENOMEM;

	if (ret < 0)
		goto free_listener;
	l->base.vt = &real_listener_vt;
	l->base.env = env;
	l->watch.fn = listener_event;
	l->watch.fd = ret;
	own_fd(ret);
	l->accept = accept;
	l->ctx = ctx;
	l->pause.fn = listener_resume;
	l->pause.arg = l;
	getsockname(l->watch.fd, (struct sockaddr *)&bound, &len);
	if (addr_is_local(addr))
		snprintf(l->addr, sizeof(l->addr), "%s", addr);
	else
		addr_format((struct sockaddr *)&bound, len, l->addr);
	ret = watch_set(real_of(env), &l->watch, EPOLLIN);
	if (ret)
		goto close_socket;
	*listener = &l->base;
	return 0;

close_socket:
	own_fd_close(l->watch.fd);
free_listener:
	free(l);
	return ret;
}
