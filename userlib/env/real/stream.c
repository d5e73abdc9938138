// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TCP streams.  A stream is first resolving (only if the host is a name), then connecting (to each
 * address in turn), then open, and broken once an error was seen.  A stream that its user has closed
 * may linger: it has ended its side, and reads and drops what still comes until the peer ends the
 * other, since closing a socket with unread bytes would make the kernel drop what the peer has not
 * received yet.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/real/seal.h"
#include "env/real/stream.h"

#define LINGER_NS 5000000000ULL

/* A silent peer is given up after this time; the probes below are sent sooner. */
#define PEER_TIMEOUT_MS 60000
#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 4
#define CONNECT_RETRIES 4

struct real_resolve {
	struct ddio_aside aside;
	struct real_stream *stream;
	char host[ADDR_HOST_MAX];
	unsigned int port;
	struct addrinfo *list;
	int status;
};

/**
 * struct real_stream - one TCP connection
 * @base: what the user sees
 * @watch: the socket, -1 while resolving
 * @ops: NULL until set; no events before
 * @ctx: for @ops
 * @want_read: the user wants readable()
 * @want_write: the user wants writable()
 * @connecting: not yet connected
 * @loopback: see ddio_stream_is_loopback()
 * @sealed: the kernel takes what is read from records of TLS
 * @err: broken, and why; negative errno
 * @write_err: writing has failed; reported once all that can be read was read
 * @link: in the reactor's list of broken or of lingering streams
 * @resolve: the look-up under way
 * @addrs: all addresses of the host, freed when connected
 * @addr: the one that is being tried
 * @linger: ends lingering
 * @local: text of this end's address, once asked for
 * @peer: text of the other's
 */
struct real_stream {
	struct ddio_stream base;
	struct watch watch;
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool want_read;
	bool want_write;
	bool connecting;
	bool loopback;
	bool sealed;
	int err;
	int write_err;
	struct ddio_list link;
	struct real_resolve *resolve;
	struct addrinfo *addrs, *addr;
	struct ddio_timer linger;
	char *local;
	char peer[];
};

static const struct ddio_stream_vtable real_stream_vt;

static struct real_stream *stream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct real_stream, base);
}

static struct real *stream_real(const struct real_stream *s)
{
	return real_of(s->base.env);
}

/* Marks the stream as broken: its user hears one failed() and nothing else. */
static void stream_break(struct real_stream *s, int err)
{
	if (s->err)
		return;
	s->err = err;
	if (!s->base.env)
		return;
	watch_del(stream_real(s), &s->watch);
	if (s->ops)
		ddio_list_add(&s->link, &stream_real(s)->broken);
}

/* Brings epoll in line with what the user wants. */
static void stream_update(struct real_stream *s)
{
	uint32_t events = s->connecting ? EPOLLOUT : 0;
	int ret;

	if (s->err || !s->ops || s->watch.fd < 0 || !s->base.env)
		return;
	if (!s->connecting)
		events = (s->want_read ? EPOLLIN : 0) | (s->want_write ? EPOLLOUT : 0);
	ret = watch_set(stream_real(s), &s->watch, events);
	if (ret)
		stream_break(s, ret);
}

void real_stream_options_set(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, PEER_TIMEOUT_MS },
		{ IPPROTO_TCP, TCP_SYNCNT, CONNECT_RETRIES },
	};
	size_t i;

	/* Without one of these a stream still works, only less well. */
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

/*
 * Connecting
 */

static int socket_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -errno : -err;
}

/*
 * Begins to connect.  Most options are for what may happen on the way to another machine.  To this one there is none: the kernel has
 * the answer when connect() returns, and says so only if it is asked.
 */
static int connect_begin(int fd, const struct addrinfo *addr, bool loopback)
{
	if (!loopback)
		real_stream_options_set(fd);
	if (connect(fd, addr->ai_addr, addr->ai_addrlen) && errno != EINPROGRESS)
		return -errno;
	return loopback ? socket_error(fd) : 0;
}

/* Starts connecting to s->addr or, if that fails, to a later address. */
static void stream_try(struct real_stream *s, int err)
{
	int fd;

	for (; s->addr; s->addr = s->addr->ai_next) {
		fd = socket(s->addr->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			err = -errno;
			continue;
		}
		s->loopback = sockaddr_is_loopback(s->addr->ai_addr);
		err = connect_begin(fd, s->addr, s->loopback);
		if (!err) {
			s->watch.fd = fd;
			own_fd(fd);
			stream_update(s);
			return;
		}
		close(fd);
	}
	stream_break(s, err);
}

/*
 * TCP lets a socket whose own port happens to be the one that it connects to open a connection with
 * itself.  There is no server then, and none could listen on that port again.
 */
static bool stream_is_own_peer(int fd)
{
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	return !getsockname(fd, (struct sockaddr *)&own, &own_len) &&
	       !getpeername(fd, (struct sockaddr *)&peer, &peer_len) && own_len == peer_len &&
	       !memcmp(&own, &peer, own_len);
}

static void stream_connect_event(struct real_stream *s)
{
	int err = socket_error(s->watch.fd);

	if (!err && stream_is_own_peer(s->watch.fd))
		err = -ECONNREFUSED;
	if (!err) {
		if (s->loopback)
			real_stream_options_set(s->watch.fd);
		s->connecting = false;
		freeaddrinfo(s->addrs);
		s->addrs = s->addr = NULL;
		stream_update(s);
		return;
	}
	watch_del(stream_real(s), &s->watch);
	own_fd_close(s->watch.fd);
	s->watch.fd = -1;
	s->addr = s->addr->ai_next;
	stream_try(s, err);
}

static struct real_resolve *resolve_of(struct ddio_aside *aside)
{
	return ddio_container_of(aside, struct real_resolve, aside);
}

static void resolve_work(struct ddio_aside *aside)
{
	struct real_resolve *resolve = resolve_of(aside);

	resolve->status = ddio_addr_resolve(resolve->host, resolve->port, true, &resolve->list);
}

static void resolve_done(struct ddio_aside *aside)
{
	struct real_resolve *resolve = resolve_of(aside);
	struct real_stream *s = resolve->stream;

	if (resolve->status)
		ddio_env_log(s->base.env, DDIO_LOG_WARN, "%s: cannot resolve the name: %s", s->peer,
			     strerror(-resolve->status));
	s->resolve = NULL;
	s->addrs = s->addr = resolve->list;
	resolve->list = NULL;
	if (resolve->status)
		stream_break(s, resolve->status);
	else
		stream_try(s, -EHOSTUNREACH);
}

static void resolve_release(struct ddio_aside *aside)
{
	struct real_resolve *resolve = resolve_of(aside);

	if (resolve->list)
		freeaddrinfo(resolve->list);
	free(resolve);
}

static int stream_resolve(struct real_stream *s, const char *host, unsigned int port)
{
	struct real_resolve *resolve = calloc(1, sizeof(*resolve));
	int err;

	if (!resolve)
		return -ENOMEM;
	resolve->aside.kind = ASIDE_NAMES;
	resolve->aside.work = resolve_work;
	resolve->aside.done = resolve_done;
	resolve->aside.release = resolve_release;
	resolve->stream = s;
	resolve->port = port;
	strcpy(resolve->host, host);
	err = ddio_env_aside(s->base.env, &resolve->aside);
	if (err)
		free(resolve);
	else
		s->resolve = resolve;
	return err;
}

/*
 * Events
 */
static int stream_socket_error(struct real_stream *s)
{
	int err;

	if (s->write_err)
		return s->write_err;
	err = socket_error(s->watch.fd);
	return err ? err : -ECONNRESET;
}

static void stream_event(struct watch *watch, uint32_t events)
{
	struct real_stream *s = ddio_container_of(watch, struct real_stream, watch);
	struct real *real = stream_real(s);

	if (s->connecting) {
		stream_connect_event(s);
		return;
	}
	/* A reader first reads all there is, and learns of the error from readv. */
	if ((events & (EPOLLERR | EPOLLHUP)) && !(s->want_read && (events & EPOLLIN))) {
		stream_break(s, stream_socket_error(s));
		return;
	}
	real->current = s;
	if ((events & EPOLLIN) && s->want_read)
		s->ops->readable(s->ctx);
	if (real->current && !s->err && (events & EPOLLOUT) && s->want_write)
		s->ops->writable(s->ctx);
	real->current = NULL;
}

void real_streams_report(struct real *real)
{
	struct ddio_list broken;
	struct real_stream *s;

	ddio_list_init(&broken);
	ddio_list_splice(&real->broken, &broken);
	while (!ddio_list_empty(&broken)) {
		s = ddio_list_first(&broken, struct real_stream, link);
		ddio_list_del(&s->link);
		s->ops->failed(s->ctx, s->err);
	}
}

/*
 * Operations
 */
static void stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx)
{
	struct real_stream *s = stream_of(stream);
	bool first = !s->ops;

	s->ops = ops;
	s->ctx = ctx;
	if (first && s->err)
		ddio_list_add(&s->link, &stream_real(s)->broken);
	stream_update(s);
}

static ssize_t stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct real_stream *s = stream_of(stream);
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };
	ssize_t got;

	if (s->err)
		return s->err;
	if (s->connecting)
		return -EAGAIN;
	do {
		got = recvmsg(s->watch.fd, &msg, 0);
	} while (got < 0 && errno == EINTR);
	if (got > 0 || (!got && !s->write_err))
		return got;
	if (got < 0 && errno == EAGAIN)
		return -EAGAIN;
	/* The kernel has put it aside for whoever can be told its type. */
	if (got < 0 && errno == EIO && s->sealed)
		return -ENOMSG;
	stream_break(s, got < 0 ? -errno : s->write_err);
	return s->err;
}

static ssize_t stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct real_stream *s = stream_of(stream);
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };
	ssize_t put;

	if (s->err || s->write_err)
		return s->err ? s->err : s->write_err;
	if (s->connecting)
		return -EAGAIN;
	do {
		put = sendmsg(s->watch.fd, &msg, MSG_NOSIGNAL);
	} while (put < 0 && errno == EINTR);
	if (put >= 0)
		return put;
	if (errno == EAGAIN)
		return -EAGAIN;
	/* epoll reports it, too, so that a user that only reads hears of it after the last byte. */
	s->write_err = -errno;
	return s->write_err;
}

static int stream_seal(struct ddio_stream *stream, bool out, const struct env_record_key *key)
{
	struct real_stream *s = stream_of(stream);
	int ret = real_seal(s->watch.fd, out, key);

	s->sealed |= !out && !ret;
	return ret;
}

static ssize_t stream_special_get(struct ddio_stream *stream, uint8_t *type, void *buf, size_t len)
{
	return real_special_get(stream_of(stream)->watch.fd, type, buf, len);
}

static ssize_t stream_special_put(struct ddio_stream *stream, uint8_t type, const void *buf,
				  size_t len)
{
	return real_special_put(stream_of(stream)->watch.fd, type, buf, len);
}

static void stream_want_read(struct ddio_stream *stream, bool want)
{
	struct real_stream *s = stream_of(stream);

	s->want_read = want;
	stream_update(s);
}

static void stream_want_write(struct ddio_stream *stream, bool want)
{
	struct real_stream *s = stream_of(stream);

	s->want_write = want;
	stream_update(s);
}

static const char *stream_local(struct ddio_stream *stream)
{
	struct real_stream *s = stream_of(stream);
	char text[ADDR_TEXT_MAX];
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);

	if (getsockname(s->watch.fd, (struct sockaddr *)&a, &len))
		return "";
	addr_format((struct sockaddr *)&a, len, text);
	free(s->local);
	s->local = strdup(text);
	return s->local ? s->local : "";
}

static const char *stream_peer(const struct ddio_stream *stream)
{
	return stream_of(stream)->peer;
}

static bool stream_is_loopback(const struct ddio_stream *stream)
{
	return stream_of(stream)->loopback;
}

/* A stream that is still resolving has a job on this reactor and cannot leave: it breaks. */
static void stream_detach(struct ddio_stream *stream)
{
	struct real_stream *s = stream_of(stream);

	if (s->resolve) {
		ddio_aside_forget(&s->resolve->aside);
		s->resolve = NULL;
		s->err = -ECANCELED;
	}
	real_gone(stream_real(s), s);
	watch_del(stream_real(s), &s->watch);
	ddio_list_del(&s->link);
	s->ops = NULL;
}

bool real_stream_is_near(const struct ddio_stream *stream)
{
	struct sockaddr_storage own, peer;
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	int fd;

	if (stream->vt != &real_stream_vt)
		return false;
	fd = stream_of(stream)->watch.fd;
	return !getsockname(fd, (struct sockaddr *)&own, &own_len) &&
	       !getpeername(fd, (struct sockaddr *)&peer, &peer_len) &&
	       addr_same_host((struct sockaddr *)&own, (struct sockaddr *)&peer);
}

void real_stream_user(const struct ddio_stream *stream, struct real_stream_user *user)
{
	const struct real_stream *s = stream_of(stream);

	*user = (struct real_stream_user){ s->ops, s->ctx, s->want_read, s->want_write };
}

int real_stream_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	if (stream->vt != &real_stream_vt)
		return -EINVAL;
	stream->env = env;
	return 0;
}

static void stream_free(struct real_stream *s)
{
	if (s->watch.fd >= 0)
		own_fd_close(s->watch.fd);
	if (s->addrs)
		freeaddrinfo(s->addrs);
	free(s->local);
	free(s);
}

/* Return: true if the peer has ended, or broken, its side. */
static bool linger_drain(struct real_stream *s)
{
	char scratch[16384];
	ssize_t got;
	int i;

	for (i = 0; i < 64; i++) {
		got = recv(s->watch.fd, scratch, sizeof(scratch), 0);
		if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
			return true;
		if (got < 0)
			return false;
	}
	return false;
}

static void linger_end(void *arg)
{
	struct real_stream *s = arg;

	ddio_timer_cancel(s->base.env, &s->linger);
	watch_del(stream_real(s), &s->watch);
	ddio_list_del(&s->link);
	stream_free(s);
}

static void linger_event(struct watch *watch, uint32_t events)
{
	struct real_stream *s = ddio_container_of(watch, struct real_stream, watch);

	(void)events;
	if (linger_drain(s))
		linger_end(s);
}

/* Return: false if there is nothing to wait for, or waiting failed. */
static bool linger_begin(struct real_stream *s)
{
	struct real *real = stream_real(s);

	shutdown(s->watch.fd, SHUT_WR);
	if (linger_drain(s))
		return false;
	s->watch.fn = linger_event;
	s->linger.fn = linger_end;
	s->linger.arg = s;
	if (watch_set(real, &s->watch, EPOLLIN))
		return false;
	if (ddio_timer_arm(s->base.env, &s->linger, ddio_env_now(s->base.env) + LINGER_NS)) {
		watch_del(real, &s->watch);
		return false;
	}
	ddio_list_add(&s->link, &real->lingering);
	return true;
}

static void stream_close(struct ddio_stream *stream)
{
	struct real_stream *s = stream_of(stream);
	bool live = s->base.env && s->watch.fd >= 0 && !s->connecting && !s->err && !s->write_err;

	if (s->resolve)
		ddio_aside_forget(&s->resolve->aside);
	if (s->base.env) {
		real_gone(stream_real(s), s);
		watch_del(stream_real(s), &s->watch);
	}
	ddio_list_del(&s->link);
	if (!live || !linger_begin(s))
		stream_free(s);
}

void real_streams_fini(struct real *real)
{
	struct real_stream *s;

	while (!ddio_list_empty(&real->lingering)) {
		s = ddio_list_first(&real->lingering, struct real_stream, link);
		linger_drain(s);
		linger_end(s);
	}
}

static const struct ddio_stream_vtable real_stream_vt = {
	.set_ops = stream_set_ops,
	.readv = stream_readv,
	.writev = stream_writev,
	.want_read = stream_want_read,
	.want_write = stream_want_write,
	.peer = stream_peer,
	.local = stream_local,
	.is_loopback = stream_is_loopback,
	.seal = stream_seal,
	.special_get = stream_special_get,
	.special_put = stream_special_put,
	.detach = stream_detach,
	.close = stream_close,
};

static struct real_stream *stream_alloc(struct ddio_env *env, int fd, const char *peer)
{
	size_t len = strlen(peer) + 1;
	struct real_stream *s = calloc(1, sizeof(*s) + len);

	if (!s)
		return NULL;
	memcpy(s->peer, peer, len);
	s->base.vt = &real_stream_vt;
	s->base.env = env;
	s->watch.fn = stream_event;
	s->watch.fd = fd;
	s->want_read = true;
	ddio_list_init(&s->link);
	return s;
}

int real_stream_new(struct real *real, int fd, const struct sockaddr *peer, socklen_t peer_len,
		    struct ddio_stream **stream)
{
	char text[ADDR_TEXT_MAX];
	struct real_stream *s;

	if (peer->sa_family == AF_UNIX)
		snprintf(text, sizeof(text), ENV_LOCAL "a process of this user");
	else
		addr_format(peer, peer_len, text);
	s = stream_alloc(&real->env, fd, text);
	if (!s)
		return -ENOMEM;
	own_fd(fd);
	s->loopback = peer->sa_family == AF_UNIX || sockaddr_is_loopback(peer);
	*stream = &s->base;
	return 0;
}

/* Is connected at once, or not at all. */
static int stream_connect_local(struct ddio_env *env, const char *addr,
				const struct ddio_stream_ops *ops, void *ctx,
				struct ddio_stream **stream)
{
	int fd = real_local_connect(addr);
	struct real_stream *s;

	if (fd < 0)
		return fd;
	s = stream_alloc(env, fd, addr);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	own_fd(fd);
	s->loopback = true;
	s->ops = ops;
	s->ctx = ctx;
	stream_update(s);
	*stream = &s->base;
	return 0;
}

int real_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			void *ctx, struct ddio_stream **stream)
{
	char host[ADDR_HOST_MAX];
	struct real_stream *s;
	unsigned int port;
	int ret;

	if (addr_is_local(addr))
		return stream_connect_local(env, addr, ops, ctx, stream);
	ret = ddio_addr_split(addr, host, &port);
	if (ret || !port || !strcmp(host, "*"))
		return -EINVAL;
	s = stream_alloc(env, -1, addr);
	if (!s)
		return -ENOMEM;
	s->ops = ops;
	s->ctx = ctx;
	s->connecting = true;
	ret = ddio_addr_resolve(host, port, false, &s->addrs);
	if (!ret) {
		s->addr = s->addrs;
		stream_try(s, -EHOSTUNREACH);
	} else if (ret == -ENOENT) {
		ret = stream_resolve(s, host, port);
	}
	if (ret) {
		stream_free(s);
		return ret;
	}
	*stream = &s->base;
	return 0;
}
