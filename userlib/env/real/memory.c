// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams through memory.  Two processes of one machine that a TCP stream connects may move its bytes through two
 * channels in memory that they share (channel.h).  The TCP stream stays, carries what was said before, each way up to a
 * byte that its writer chooses, and tells by its end that the other process is gone.
 *
 * While the loop is awake it looks at the channels; before it sleeps it says so in each, and the other end, when it has
 * moved bytes, rings a bell: it sends a byte through a pair of sockets.  So nothing is sent to a loop that is awake.
 * Each byte is reported as it comes (EPOLLET), so that they need not be read each time, only before their socket is full.
 *
 * The bytes are copied out of the memory before anybody looks at them; they are the peer's word, as bytes from a network
 * are.  A bell is rung by calls that never wait, whatever the peer does to its own end.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "env/local/channel.h"
#include "env/local/shared.h"
#include "env/real/memory.h"
#include "env/real/stream.h"

#define HEADS 4096u
/* So many reports of a bell, of a byte or two each, leave room in its socket, which takes 270. */
#define BELL_REPORTS 16u
#define MEMORY_BYTES (HEADS + 2 * (size_t)CHANNEL_DATA)

/**
 * struct memory_stream - one end
 * @plain: the TCP stream
 * @bell: this end's socket; @rung: how often it was reported since it was read
 * @left: bytes that are still to be written to @plain, once @out_here
 * @in_here, @out_here: what is read, or written after @left bytes, goes through the memory
 * @err: @plain has failed, or what stands in the memory is impossible; @ended: it has ended in order
 * @link: in the reactor's list, once it has a user
 */
struct memory_stream {
	struct ddio_stream base;
	struct ddio_stream *plain;
	struct ddio_shared *shared;
	struct channel in, out;
	struct watch bell;
	uint32_t rung;
	const struct ddio_stream_ops *ops;
	void *ctx;
	uint64_t left;
	bool want_read, want_write, in_here, out_here, ended;
	int err;
	struct ddio_list link;
};

static const struct ddio_stream_vtable memory_vt;

static struct memory_stream *stream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct memory_stream, base);
}

static struct real *real_of_stream(const struct memory_stream *s)
{
	return real_of(s->base.env);
}

static void count(struct real *real)
{
	struct ddio_memory_use *use = &real->memory_use;

	if (++use->now > use->most)
		use->most = use->now;
}

/* A reactor looks at all of them whenever it looks for events, and each takes MEMORY_BYTES at most. */
static bool room(struct real *real)
{
	if (real->memory_use.now < ENV_MEMORIES)
		return true;
	real->memory_use.hits++;
	return false;
}

/* Writing has left the TCP stream. */
static bool writes_here(const struct memory_stream *s)
{
	return s->out_here && !s->left;
}

static void update(struct memory_stream *s)
{
	bool over = s->err || s->ended;

	if (!s->ops || !s->base.env)
		return;
	ddio_stream_want_read(s->plain, !over && (s->in_here || s->want_read));
	ddio_stream_want_write(s->plain, !over && !writes_here(s) && s->want_write);
}

/*
 * The loop's part
 */
static bool readable(const struct memory_stream *s)
{
	return s->want_read && s->in_here && (s->err || s->ended || channel_ready(&s->in));
}

static bool writable(const struct memory_stream *s)
{
	return s->want_write && writes_here(s) && (s->err || s->ended || channel_ready(&s->out));
}

static bool memory_due(struct real *real)
{
	struct memory_stream *s;

	ddio_list_for_each_entry(s, &real->memories, link)
		if (readable(s) || writable(s))
			return true;
	return false;
}

static void serve(struct real *real, struct memory_stream *s)
{
	real->current = s;
	if (readable(s))
		s->ops->readable(s->ctx);
	if (real->current && writable(s))
		s->ops->writable(s->ctx);
	real->current = NULL;
}

/* A user that is called may close any of them. */
static void memory_serve(struct real *real)
{
	struct memory_stream *s;
	struct ddio_list todo;

	if (!memory_due(real))
		return;
	ddio_list_init(&todo);
	ddio_list_splice(&real->memories, &todo);
	while (!ddio_list_empty(&todo)) {
		s = ddio_list_first(&todo, struct memory_stream, link);
		ddio_list_del(&s->link);
		ddio_list_add(&s->link, &real->memories);
		serve(real, s);
	}
}

/* The other ends look for the flag after they have moved bytes, so the last look must come after it. */
static bool memory_doze(struct real *real)
{
	struct memory_stream *s;

	if (ddio_list_empty(&real->memories))
		return true;
	ddio_list_for_each_entry(s, &real->memories, link) {
		if (s->want_read && s->in_here)
			channel_doze(&s->in);
		if (s->want_write && writes_here(s))
			channel_doze(&s->out);
	}
	atomic_thread_fence(memory_order_seq_cst);
	return !memory_due(real);
}

static void memory_rise(struct real *real)
{
	struct memory_stream *s;

	ddio_list_for_each_entry(s, &real->memories, link) {
		channel_rise(&s->in);
		channel_rise(&s->out);
	}
}

const struct real_memory_ops real_memory = {
	.due = memory_due,
	.serve = memory_serve,
	.doze = memory_doze,
	.rise = memory_rise,
};

/*
 * The bell
 */
static void bell_ring(const struct memory_stream *s)
{
	/* A bell that is full has been rung.  If nobody hears it any more, @plain says so. */
	(void)!send(s->bell.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int bell_watch(struct real *real, struct memory_stream *s)
{
	return watch_set(real, &s->bell, EPOLLIN | EPOLLET);
}

/*
 * Reads what has been rung, without the descriptors that the peer may have put there: whoever drops the last reference to one may wait
 * for what is behind it (env/local/sockets.c).
 */
static int bell_read(int fd)
{
	char bytes[256];
	struct iovec iov = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);

	if (n <= 0)
		return 0;
	if (msg.msg_flags & MSG_CTRUNC)
		return -EPROTO;
	(void)!recv(fd, bytes, (size_t)n, MSG_DONTWAIT);
	return 0;
}

static void bell_event(struct watch *watch, uint32_t events)
{
	struct memory_stream *s = ddio_container_of(watch, struct memory_stream, bell);

	if (events & (EPOLLHUP | EPOLLERR)) {
		watch_del(real_of_stream(s), watch);
		return;
	}
	if (++s->rung < BELL_REPORTS)
		return;
	s->rung = 0;
	/* If there are more, the peer has filled its own bell. */
	if (!bell_read(watch->fd))
		return;
	watch_del(real_of_stream(s), watch);
	s->err = -EPROTO;
	update(s);
}

/*
 * What comes by TCP
 */
static void on_readable(void *ctx)
{
	struct memory_stream *s = ctx;
	char byte;
	const struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	ssize_t n;

	if (!s->in_here) {
		s->ops->readable(s->ctx);
		return;
	}
	n = ddio_stream_readv(s->plain, &iov, 1);
	if (n == -EAGAIN)
		return;
	if (!n)
		s->ended = true;
	else
		s->err = n < 0 ? (int)n : -EPROTO;
	update(s);
}

static void on_writable(void *ctx)
{
	struct memory_stream *s = ctx;

	s->ops->writable(s->ctx);
}

/* Whoever reads hears of it after the last byte. */
static void on_failed(void *ctx, int err)
{
	struct memory_stream *s = ctx;

	s->err = err;
	if (!s->in_here || !s->want_read)
		s->ops->failed(s->ctx, err);
}

static const struct ddio_stream_ops plain_ops = {
	.readable = on_readable,
	.writable = on_writable,
	.failed = on_failed,
};

/*
 * Operations
 */
static void memory_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx)
{
	struct memory_stream *s = stream_of(stream);
	bool first = !s->ops;

	s->ops = ops;
	s->ctx = ctx;
	if (!first)
		return;
	ddio_stream_set_ops(s->plain, &plain_ops, s);
	ddio_list_add(&s->link, &real_of_stream(s)->memories);
	update(s);
}

static ssize_t memory_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct memory_stream *s = stream_of(stream);
	ssize_t got;

	if (!s->in_here)
		return ddio_stream_readv(s->plain, iov, n);
	got = channel_get(&s->in, iov, n);
	if (got > 0 && channel_wakes(&s->in))
		bell_ring(s);
	if (got == -EPROTO)
		s->err = -EPROTO;
	if (got != -EAGAIN || !(s->err || s->ended))
		return got;
	return s->err;
}

/* Writes to the TCP stream what is still to go there, and no more. */
static ssize_t write_plain(struct memory_stream *s, const struct iovec *iov, int n)
{
	struct iovec part[8];
	uint64_t left = s->out_here ? s->left : UINT64_MAX;
	ssize_t put;
	int i;

	if (!s->out_here)
		return ddio_stream_writev(s->plain, iov, n);
	for (i = 0; i < n && i < 8 && left; i++) {
		part[i] = iov[i];
		if (part[i].iov_len > left)
			part[i].iov_len = left;
		left -= part[i].iov_len;
	}
	put = ddio_stream_writev(s->plain, part, i);
	if (put > 0)
		s->left -= (uint64_t)put;
	update(s);
	return put;
}

static ssize_t memory_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct memory_stream *s = stream_of(stream);
	ssize_t put;

	if (!writes_here(s))
		return write_plain(s, iov, n);
	if (s->err)
		return s->err;
	put = channel_put(&s->out, iov, n);
	/* Nobody will make room any more. */
	if (put == -EAGAIN && s->ended)
		return -EPIPE;
	if (put > 0 && channel_wakes(&s->out))
		bell_ring(s);
	return put;
}

static void memory_want_read(struct ddio_stream *stream, bool want)
{
	struct memory_stream *s = stream_of(stream);

	s->want_read = want;
	update(s);
}

static void memory_want_write(struct ddio_stream *stream, bool want)
{
	struct memory_stream *s = stream_of(stream);

	s->want_write = want;
	update(s);
}

static void memory_divert_out(struct ddio_stream *stream, uint64_t after)
{
	struct memory_stream *s = stream_of(stream);

	s->out_here = true;
	s->left = after;
	update(s);
}

static void memory_divert_in(struct ddio_stream *stream)
{
	struct memory_stream *s = stream_of(stream);

	s->in_here = true;
	update(s);
}

static const char *memory_peer(const struct ddio_stream *stream)
{
	return ddio_stream_peer(stream_of(stream)->plain);
}

static const char *memory_local(struct ddio_stream *stream)
{
	return ddio_stream_local(stream_of(stream)->plain);
}

static bool memory_is_loopback(const struct ddio_stream *stream)
{
	return ddio_stream_is_loopback(stream_of(stream)->plain);
}

static void leave(struct memory_stream *s)
{
	if (!s->base.env)
		return;
	real_gone(real_of_stream(s), s);
	watch_del(real_of_stream(s), &s->bell);
	ddio_list_del(&s->link);
	real_of_stream(s)->memory_use.now--;
}

static void memory_detach(struct ddio_stream *stream)
{
	struct memory_stream *s = stream_of(stream);

	leave(s);
	ddio_stream_detach(s->plain);
	s->ops = NULL;
}

static int memory_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	struct memory_stream *s = stream_of(stream);
	int err = ddio_stream_attach(env, s->plain);

	if (!err)
		err = bell_watch(real_of(env), s);
	if (!err)
		count(real_of(env));
	return err;
}

static void memory_free(struct memory_stream *s)
{
	if (s->bell.fd >= 0)
		own_fd_close_aside(s->bell.fd);
	ddio_shared_free(s->shared);
	free(s);
}

static void memory_close(struct ddio_stream *stream)
{
	struct memory_stream *s = stream_of(stream);

	leave(s);
	ddio_stream_close(s->plain);
	memory_free(s);
}

static const struct ddio_stream_vtable memory_vt = {
	.set_ops = memory_set_ops,
	.readv = memory_readv,
	.writev = memory_writev,
	.want_read = memory_want_read,
	.want_write = memory_want_write,
	.divert_out = memory_divert_out,
	.divert_in = memory_divert_in,
	.peer = memory_peer,
	.local = memory_local,
	.is_loopback = memory_is_loopback,
	.detach = memory_detach,
	.attach = memory_attach,
	.close = memory_close,
};

/*
 * Making one
 */
static struct memory_stream *memory_new(struct ddio_env *env)
{
	struct memory_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base.vt = &memory_vt;
	s->base.env = env;
	s->bell.fd = -1;
	s->bell.fn = bell_event;
	s->want_read = true;
	ddio_list_init(&s->link);
	return s;
}

/* Puts the stream through memory in the place of the plain one. */
static int memory_begin(struct memory_stream *s, bool offered, struct ddio_stream **stream)
{
	uint8_t *mem = ddio_shared_mem(s->shared), *data = mem + HEADS;
	struct real_stream_user user;
	int err;

	channel_init(offered ? &s->out : &s->in, mem, data, offered);
	channel_init(offered ? &s->in : &s->out, mem + CHANNEL_HEAD, data + CHANNEL_DATA, !offered);
	err = bell_watch(real_of_stream(s), s);
	if (err)
		return err;
	count(real_of_stream(s));
	s->plain = *stream;
	*stream = &s->base;
	real_stream_user(s->plain, &user);
	s->want_read = user.want_read;
	s->want_write = user.want_write;
	memory_set_ops(*stream, user.ops, user.ctx);
	return 0;
}

static int offer(struct memory_stream *s, const char *name, const uint8_t token[MAILBOX_TOKEN])
{
	struct ddio_env *env = s->base.env;
	int pair[2], err;

	err = ddio_shared_new(env, MEMORY_BYTES, true, &s->shared);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	s->bell.fd = pair[0];
	own_fd(pair[0]);
	err = ddio_shared_send(env, s->shared, name, token);
	if (!err)
		err = mailbox_send(env, name, token, pair[1]);
	close(pair[1]);
	return err;
}

/* Of anything else the peer could decide how long its calls take. */
static bool bell_is_socket(int fd)
{
	int domain, type;
	socklen_t domain_len = sizeof(domain), type_len = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) && domain == AF_UNIX &&
	       type == SOCK_STREAM;
}

static int take(struct memory_stream *s, struct ddio_mailbox *box)
{
	int err = ddio_shared_take(box, true, &s->shared);

	if (!err)
		err = mailbox_take_fd(box, &s->bell.fd);
	if (err)
		return err;
	own_fd(s->bell.fd);
	return ddio_shared_len(s->shared) == MEMORY_BYTES && bell_is_socket(s->bell.fd) ? 0
											: -EPROTO;
}

/* How the two ends of a stream come by their memory: @box is NULL where it is offered. */
static int memory_make(struct ddio_stream **stream, const char *name, const uint8_t *token,
		       struct ddio_mailbox *box)
{
	struct ddio_env *env = (*stream)->env;
	struct memory_stream *s;
	int err;

	if (!real_stream_is_near(*stream))
		return -EOPNOTSUPP;
	if (!room(real_of(env)))
		return -EUSERS;
	s = memory_new(env);
	if (!s)
		return -ENOMEM;
	err = box ? take(s, box) : offer(s, name, token);
	if (!err)
		err = memory_begin(s, !box, stream);
	if (err)
		memory_free(s);
	return err;
}

bool real_memory_possible(const struct ddio_stream *stream)
{
	return real_stream_is_near(stream) && room(real_of(stream->env));
}

void real_memory_use(const struct ddio_env *env, struct ddio_memory_use *use)
{
	*use = ((const struct real *)env)->memory_use;
}

int real_memory_offer(struct ddio_stream **stream, const char *name,
		      const uint8_t token[MAILBOX_TOKEN])
{
	return memory_make(stream, name, token, NULL);
}

int real_memory_take(struct ddio_stream **stream, struct ddio_mailbox *box)
{
	return memory_make(stream, NULL, NULL, box);
}
