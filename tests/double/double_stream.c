// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test double: streams.  Bytes that were written wait at the other end as
 * segments, each with its time of arrival; a segment may also be the end of the
 * stream.  One event per stream end sees to its user's callbacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/double/double_priv.h"

#define NEVER UINT64_MAX
/* A level-triggered callback that is not served comes again after this. */
#define LEVEL_NS 1000
#define ADDR_MAX 128

struct segment {
	struct ddio_list link;
	uint64_t when; /* of arrival; NEVER: stalled */
	bool end;
	size_t len, used;
	uint8_t data[];
};

/**
 * struct dstream - one end of a stream
 * @base: what the user sees
 * @env: its process; NULL while detached
 * @link: in the world's list, or in a listener's while not accepted
 * @ops: NULL until set
 * @ctx: for @ops
 * @want_read: the user wants readable()
 * @want_write: the user wants writable()
 * @connecting: no peer yet
 * @ended: the peer has closed: nothing written arrives
 * @err: broken, and why
 * @told: failed() has been called
 * @turn: the last callback was readable(), so writable() goes first if both are due
 * @peer: the other end; NULL while connecting and once closed
 * @in: segments that come or have come, in the order of their arrival
 * @queued: bytes in @in
 * @last: arrival of the last segment
 * @event: calls the user, or connects
 * @name: text of the peer's address
 */
struct dstream {
	struct ddio_stream base;
	struct denv *env;
	struct ddio_list link;
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool want_read;
	bool want_write;
	bool connecting;
	bool ended;
	bool told;
	bool turn;
	int err;
	struct dstream *peer;
	struct ddio_list in;
	uint64_t queued;
	uint64_t last;
	struct ddio_timer event;
	struct ddio_world *world;
	char name[ADDR_MAX];
};

struct dlistener {
	struct ddio_listener base;
	struct denv *env;
	struct ddio_list link;
	ddio_accept_fn accept;
	void *ctx;
	struct ddio_list pending;
	struct ddio_timer event;
	char addr[ADDR_MAX];
};

static void stream_event(void *arg);
static const struct ddio_stream_vtable dstream_vt;

static struct dstream *dstream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct dstream, base);
}

static struct segment *stream_first(const struct dstream *s)
{
	return ddio_list_empty(&s->in) ? NULL : ddio_list_first(&s->in, struct segment, link);
}

static bool stream_has_room(const struct dstream *s)
{
	return s->ended || (s->peer && s->peer->queued < s->env->net.window);
}

/* When the user is to be called next, as things stand. */
static uint64_t stream_due(const struct dstream *s)
{
	struct segment *seg = stream_first(s);

	if (s->told || !s->ops)
		return NEVER;
	if (s->err)
		return s->world->now;
	if (s->want_write && stream_has_room(s))
		return s->world->now;
	return s->want_read && seg ? seg->when : NEVER;
}

/* @pause: do not call before this has passed. */
static void stream_plan(struct dstream *s, uint64_t pause)
{
	uint64_t due, not_before;

	if (!s || !s->env || s->connecting)
		return;
	due = stream_due(s);
	not_before = s->world->now + pause;
	if (due == NEVER)
		double_event_cancel(s->env, &s->event);
	else
		double_event(s->env, &s->event, due < not_before ? not_before : due);
}

static struct dstream *stream_new(struct denv *env, const char *name)
{
	struct dstream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base.vt = &dstream_vt;
	s->base.env = &env->env;
	s->env = env;
	s->world = env->world;
	s->want_read = true;
	s->event.fn = stream_event;
	s->event.arg = s;
	ddio_list_init(&s->in);
	snprintf(s->name, sizeof(s->name), "%s", name);
	ddio_list_add(&s->link, &env->world->streams);
	return s;
}

static void stream_drop_input(struct dstream *s)
{
	struct segment *seg;

	while ((seg = stream_first(s))) {
		ddio_list_del(&seg->link);
		free(seg);
	}
	s->queued = 0;
}

static void stream_break(struct dstream *s, int err)
{
	if (s->err)
		return;
	s->err = err;
	stream_drop_input(s);
	stream_plan(s, 0);
}

/* Both ends. */
static void stream_break_pair(struct dstream *s, int err)
{
	if (s->peer)
		stream_break(s->peer, err);
	stream_break(s, err);
}

/*
 * Sending
 */

/* Arrival of what is sent now; never before what was sent earlier. */
static uint64_t stream_arrival(struct dstream *s)
{
	struct ddio_double_net *net = &s->env->net;
	uint64_t when = s->world->now + net->latency_ns;

	if (net->jitter_ns)
		when += double_random(s->world) % (net->jitter_ns + 1);
	if (when < s->peer->last)
		when = s->peer->last;
	if (net->stall_after && s->env->sent >= net->stall_after)
		when = NEVER;
	return s->peer->last = when;
}

static int stream_send(struct dstream *s, const struct iovec *iov, size_t len, bool end)
{
	struct segment *seg = malloc(sizeof(*seg) + len);
	size_t part, at = 0;

	if (!seg)
		return -ENOMEM;
	seg->when = stream_arrival(s);
	seg->end = end;
	seg->len = len;
	seg->used = 0;
	for (; at < len; at += part, iov++) {
		part = iov->iov_len < len - at ? iov->iov_len : len - at;
		memcpy(seg->data + at, iov->iov_base, part);
	}
	ddio_list_add(&seg->link, &s->peer->in);
	s->peer->queued += len;
	s->env->sent += len;
	stream_plan(s->peer, 0);
	return 0;
}

/* How much of @len is taken now. */
static size_t stream_share(struct dstream *s, size_t len)
{
	struct ddio_double_net *net = &s->env->net;
	uint64_t room = net->window - s->peer->queued;
	uint64_t most;

	if (len > room)
		len = room;
	if (net->chop) {
		most = 1 + double_random(s->world) % net->chop;
		if (len > most)
			len = most;
	}
	if (net->stall_after && s->env->sent < net->stall_after &&
	    len > net->stall_after - s->env->sent)
		len = net->stall_after - s->env->sent;
	return len;
}

static ssize_t dstream_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct dstream *s = dstream_of(stream);
	size_t len = 0;
	int i, ret;

	if (s->err)
		return s->err;
	if (s->connecting)
		return -EAGAIN;
	if (s->ended)
		return -EPIPE;
	if (!stream_has_room(s))
		return -EAGAIN;
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	len = stream_share(s, len);
	if (!len)
		return 0;
	if (s->env->net.break_after && s->env->sent + len >= s->env->net.break_after) {
		s->env->net.break_after = 0;
		stream_break_pair(s, -ECONNRESET);
		return -ECONNRESET;
	}
	ret = stream_send(s, iov, len, false);
	stream_plan(s, LEVEL_NS);
	return ret ? ret : (ssize_t)len;
}

/*
 * Receiving
 */
static size_t stream_take(struct dstream *s, uint8_t *buf, size_t len)
{
	struct segment *seg;
	size_t got = 0, part;

	while (got < len && (seg = stream_first(s)) && !seg->end && seg->when <= s->world->now) {
		part = seg->len - seg->used < len - got ? seg->len - seg->used : len - got;
		memcpy(buf + got, seg->data + seg->used, part);
		seg->used += part;
		got += part;
		if (seg->used < seg->len)
			break;
		ddio_list_del(&seg->link);
		free(seg);
	}
	return got;
}

static ssize_t dstream_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct dstream *s = dstream_of(stream);
	struct segment *seg;
	size_t len = 0, part;
	int i;

	if (s->err)
		return s->err;
	if (s->connecting)
		return -EAGAIN;
	for (i = 0; i < n; i++) {
		part = stream_take(s, iov[i].iov_base, iov[i].iov_len);
		len += part;
		if (part < iov[i].iov_len)
			break;
	}
	if (len) {
		s->queued -= len;
		stream_plan(s->peer, 0);
		stream_plan(s, 0);
		return len;
	}
	seg = stream_first(s);
	return seg && seg->end && seg->when <= s->world->now ? 0 : -EAGAIN;
}

/*
 * Calling the user
 */
static void stream_event(void *arg)
{
	struct dstream *s = arg;
	struct segment *seg = stream_first(s);
	bool readable = s->want_read && seg && seg->when <= s->world->now;
	bool writable = s->want_write && stream_has_room(s);

	if (s->err) {
		s->told = true;
		s->ops->failed(s->ctx, s->err);
		return;
	}
	/* Planned first: the user may close. */
	stream_plan(s, LEVEL_NS);
	s->turn = readable && !(writable && s->turn);
	if (s->turn)
		s->ops->readable(s->ctx);
	else if (writable)
		s->ops->writable(s->ctx);
}

static void dstream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops,
			    void *ctx)
{
	struct dstream *s = dstream_of(stream);

	s->ops = ops;
	s->ctx = ctx;
	stream_plan(s, 0);
}

static void dstream_want_read(struct ddio_stream *stream, bool want)
{
	struct dstream *s = dstream_of(stream);

	if (s->want_read == want)
		return;
	s->want_read = want;
	stream_plan(s, 0);
}

static void dstream_want_write(struct ddio_stream *stream, bool want)
{
	struct dstream *s = dstream_of(stream);

	if (s->want_write == want)
		return;
	s->want_write = want;
	stream_plan(s, 0);
}

static const char *dstream_peer(const struct ddio_stream *stream)
{
	return dstream_of(stream)->name;
}

static bool dstream_is_loopback(const struct ddio_stream *stream)
{
	return ddio_addr_is_loopback(dstream_of(stream)->name);
}

static void dstream_detach(struct ddio_stream *stream)
{
	struct dstream *s = dstream_of(stream);

	double_event_cancel(s->env, &s->event);
	s->ops = NULL;
	s->env = NULL;
}

static void dstream_close(struct ddio_stream *stream)
{
	struct dstream *s = dstream_of(stream);

	if (s->env)
		double_event_cancel(s->env, &s->event);
	if (s->peer) {
		s->peer->ended = true;
		if (!s->err && (!s->env || stream_send(s, NULL, 0, true)))
			stream_break(s->peer, -ECONNRESET);
		s->peer->peer = NULL;
		stream_plan(s->peer, 0);
	}
	stream_drop_input(s);
	ddio_list_del(&s->link);
	free(s);
}

static const struct ddio_stream_vtable dstream_vt = {
	.set_ops = dstream_set_ops,
	.readv = dstream_readv,
	.writev = dstream_writev,
	.want_read = dstream_want_read,
	.want_write = dstream_want_write,
	.peer = dstream_peer,
	.is_loopback = dstream_is_loopback,
	.detach = dstream_detach,
	.close = dstream_close,
};

int double_stream_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	struct dstream *s = dstream_of(stream);

	s->env = denv_of(env);
	s->base.env = env;
	return 0;
}

/*
 * Connecting and listening
 */
static struct dlistener *listener_find(struct ddio_world *world, const char *addr)
{
	struct dlistener *l;

	ddio_list_for_each_entry(l, &world->listeners, link)
		if (!strcmp(l->addr, addr) && !l->env->dead && !l->env->cut)
			return l;
	return NULL;
}

static void stream_connect_event(void *arg)
{
	struct dstream *s = arg, *other;
	struct dlistener *l = s->env->cut ? NULL : listener_find(s->world, s->name);
	char name[ADDR_MAX];

	s->event.fn = stream_event;
	s->connecting = false;
	if (!l) {
		stream_break(s, -ECONNREFUSED);
		return;
	}
	snprintf(name, sizeof(name), "127.0.0.1:%u", ++s->world->port);
	other = stream_new(l->env, name);
	if (!other) {
		stream_break(s, -ENOMEM);
		return;
	}
	s->peer = other;
	other->peer = s;
	ddio_list_del(&other->link);
	ddio_list_add(&other->link, &l->pending);
	double_event(l->env, &l->event, s->world->now);
	stream_plan(s, s->env->net.latency_ns);
}

int double_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			  void *ctx, struct ddio_stream **stream)
{
	struct dstream *s;

	if (strlen(addr) >= ADDR_MAX || !strchr(addr, ':'))
		return -EINVAL;
	s = stream_new(denv_of(env), addr);
	if (!s)
		return -ENOMEM;
	s->ops = ops;
	s->ctx = ctx;
	s->connecting = true;
	s->event.fn = stream_connect_event;
	double_event(s->env, &s->event, s->world->now + s->env->net.latency_ns);
	*stream = &s->base;
	return 0;
}

/* One at a time: the user may close the listener. */
static void listener_event(void *arg)
{
	struct dlistener *l = arg;
	struct dstream *s = ddio_list_first(&l->pending, struct dstream, link);

	ddio_list_del(&s->link);
	ddio_list_add(&s->link, &s->world->streams);
	if (!ddio_list_empty(&l->pending))
		double_event(l->env, &l->event, s->world->now);
	l->accept(l->ctx, &s->base);
}

static const char *dlistener_addr(const struct ddio_listener *listener)
{
	return ddio_container_of(listener, struct dlistener, base)->addr;
}

static void dlistener_close(struct ddio_listener *listener)
{
	struct dlistener *l = ddio_container_of(listener, struct dlistener, base);

	while (!ddio_list_empty(&l->pending))
		dstream_close(&ddio_list_first(&l->pending, struct dstream, link)->base);
	double_event_cancel(l->env, &l->event);
	ddio_list_del(&l->link);
	free(l);
}

static const struct ddio_listener_vtable dlistener_vt = {
	.addr = dlistener_addr,
	.close = dlistener_close,
};

int double_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		  struct ddio_listener **listener)
{
	struct ddio_world *world = denv_of(env)->world;
	const char *colon = strrchr(addr, ':');
	struct dlistener *l;

	if (!colon || strlen(addr) >= ADDR_MAX - 8)
		return -EINVAL;
	if (listener_find(world, addr))
		return -EADDRINUSE;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->base.vt = &dlistener_vt;
	l->base.env = env;
	l->env = denv_of(env);
	l->accept = accept;
	l->ctx = ctx;
	l->event.fn = listener_event;
	l->event.arg = l;
	ddio_list_init(&l->pending);
	if (strcmp(colon, ":0"))
		strcpy(l->addr, addr);
	else
		snprintf(l->addr, sizeof(l->addr), "%.*s:%u", (int)(colon - addr), addr,
			 ++world->port);
	ddio_list_add(&l->link, &world->listeners);
	*listener = &l->base;
	return 0;
}

/*
 * The end of a process, or of all
 */
static void streams_end(struct ddio_list *list, struct denv *env, bool broken)
{
	struct dstream *s;

	ddio_list_for_each_entry(s, list, link) {
		if (s->env != env || s->connecting || !s->peer)
			continue;
		if (broken) {
			stream_break_pair(s, -ECONNRESET);
			continue;
		}
		s->peer->ended = true;
		if (!s->err && stream_send(s, NULL, 0, true))
			stream_break(s->peer, -ECONNRESET);
	}
}

void double_streams_end(struct denv *env, bool broken)
{
	struct dlistener *l;

	streams_end(&env->world->streams, env, broken);
	ddio_list_for_each_entry(l, &env->world->listeners, link)
		streams_end(&l->pending, env, broken);
}

void double_streams_free(struct ddio_world *world)
{
	while (!ddio_list_empty(&world->listeners))
		dlistener_close(&ddio_list_first(&world->listeners, struct dlistener, link)->base);
	while (!ddio_list_empty(&world->streams))
		dstream_close(&ddio_list_first(&world->streams, struct dstream, link)->base);
}
