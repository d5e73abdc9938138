// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The simulated world: streams.  Bytes that were written wait at the other end as
 * segments, each with its time of arrival; a segment may also be the end of the
 * stream.  One event per stream end sees to its user's callbacks.
 *
 * What a handler sends after it has worked leaves when that work is done.  Until then other processes
 * may send and go first: so a segment gets its time of arrival from the network in an event of its
 * own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim/stream.h"

#define NEVER UINT64_MAX
/* A level-triggered callback that is not served comes again after this. */
#define LEVEL_NS 1000

/**
 * struct segment - bytes under way, or arrived and not read
 * @link: in the receiving end
 * @to: that end
 * @depart: leaves the sender
 * @from: node of the sender
 * @put: bytes of each Memput in it; 0: it has none
 * @extra: added by the sender's link to the network's time
 * @when: of arrival; NEVER: has not left, or is stalled
 * @end: the end of the stream
 * @stalled: never arrives
 * @len: bytes
 * @used: bytes read
 * @data: them
 */
struct segment {
	struct ddio_list link;
	struct sim_stream *to;
	struct ddio_timer depart;
	uint32_t from;
	uint64_t put;
	uint64_t extra;
	uint64_t when;
	bool end;
	bool stalled;
	size_t len, used;
	uint8_t data[];
};

static const struct ddio_stream_vtable sim_stream_vt;

static struct sim_stream *sim_stream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct sim_stream, base);
}

static void segment_free(struct segment *seg);

static struct segment *stream_first(const struct sim_stream *s)
{
	return ddio_list_empty(&s->in) ? NULL : ddio_list_first(&s->in, struct segment, link);
}

static bool stream_has_room(const struct sim_stream *s)
{
	return s->ended || (s->peer && s->peer->queued < s->proc->how.window);
}

/* Returns when the user is to be called next. */
static uint64_t stream_due(const struct sim_stream *s)
{
	struct segment *seg = stream_first(s);

	if (s->told || !s->ops)
		return NEVER;
	if (s->err)
		return sim_time(s->sim);
	if (s->want_write && stream_has_room(s))
		return sim_time(s->sim);
	return s->want_read && seg ? seg->when : NEVER;
}

void sim_stream_plan(struct sim_stream *s, uint64_t pause)
{
	uint64_t due, not_before;

	if (!s || !s->proc || s->connecting)
		return;
	due = stream_due(s);
	not_before = sim_time(s->sim) + pause;
	if (due == NEVER)
		sim_event_cancel(s->proc, &s->event);
	else
		sim_event(s->proc, &s->event, due < not_before ? not_before : due);
}

struct sim_stream *sim_stream_new(struct sim_proc *proc, const char *name)
{
	size_t len = strlen(name) + 1;
	struct sim_stream *s = calloc(1, sizeof(*s) + len);

	if (!s)
		return NULL;
	s->base.vt = &sim_stream_vt;
	s->base.env = &proc->env;
	s->proc = proc;
	s->sim = proc->sim;
	s->node = proc->node;
	s->want_read = true;
	s->event.fn = sim_stream_event;
	s->event.arg = s;
	ddio_list_init(&s->in);
	memcpy(s->name, name, len);
	ddio_list_add(&s->link, &proc->sim->streams);
	return s;
}

static void stream_drop_input(struct sim_stream *s)
{
	struct segment *seg;

	while ((seg = stream_first(s)))
		segment_free(seg);
	s->queued = 0;
}

void sim_stream_break(struct sim_stream *s, int err)
{
	if (s->err)
		return;
	s->err = err;
	stream_drop_input(s);
	sim_stream_plan(s, 0);
}

static void sim_stream_free(struct sim_stream *s)
{
	stream_drop_input(s);
	s->sim->nstreams -= s->counted;
	ddio_list_del(&s->link);
	free(s);
}

/* Breaks both ends. */
static void stream_break_pair(struct sim_stream *s, int err)
{
	if (s->peer)
		sim_stream_break(s->peer, err);
	sim_stream_break(s, err);
}

/*
 * Sending
 */

/* Puts the segment on the wire: it arrives when the network says, but not before what was sent earlier. */
static void segment_departs(void *arg)
{
	struct segment *seg = arg;
	struct sim_stream *to = seg->to;
	uint64_t when;

	if (seg->stalled)
		return;
	when = sim_net_puts(&to->sim->net, seg->from, to->node, seg->len, seg->put, to->sim->now);
	when += seg->extra;
	if (when < to->last)
		when = to->last;
	seg->when = to->last = when;
	sim_stream_plan(to, 0);
}

static void segment_free(struct segment *seg)
{
	sim_event_cancel(&seg->to->sim->wire, &seg->depart);
	ddio_list_del(&seg->link);
	free(seg);
}

static void segment_fill(struct segment *seg, const struct iovec *iov)
{
	size_t part, at = 0;

	for (; at < seg->len; at += part, iov++) {
		part = iov->iov_len < seg->len - at ? iov->iov_len : seg->len - at;
		memcpy(seg->data + at, iov->iov_base, part);
	}
}

/* Turns the bit that is to be turned, if it is one of these. */
static void segment_flip(struct sim_stream *s, struct segment *seg)
{
	uint64_t at = s->proc->how.flip_after;

	if (!at || at <= s->proc->sent || at - s->proc->sent > seg->len)
		return;
	seg->data[at - s->proc->sent - 1] ^= (uint8_t)(1u << at % 8);
	s->proc->how.flip_after = 0;
}

static int stream_send(struct sim_stream *s, const struct iovec *iov, size_t len, bool end)
{
	struct ddio_sim_link *how = &s->proc->how;
	struct segment *seg = calloc(1, sizeof(*seg) + len);

	if (!seg)
		return -ENOMEM;
	seg->to = s->peer;
	seg->from = s->node;
	seg->put = s->proc->put;
	seg->extra = how->latency_ns;
	if (how->jitter_ns)
		seg->extra += sim_random(s->sim) % (how->jitter_ns + 1);
	seg->when = NEVER;
	seg->end = end;
	seg->stalled = how->stall_after && s->proc->sent >= how->stall_after;
	seg->len = len;
	segment_fill(seg, iov);
	segment_flip(s, seg);
	sim_trace_bytes(s->sim, seg->data, len);
	ddio_list_add(&seg->link, &s->peer->in);
	s->peer->queued += len;
	s->proc->sent += len;
	seg->depart.fn = segment_departs;
	seg->depart.arg = seg;
	if (sim_time(s->sim) == s->sim->now)
		segment_departs(seg);
	else
		sim_event(&s->sim->wire, &seg->depart, sim_time(s->sim));
	return 0;
}

/* Returns how much of @len is accepted now. */
static size_t stream_share(struct sim_stream *s, size_t len)
{
	struct ddio_sim_link *how = &s->proc->how;
	uint64_t room = how->window - s->peer->queued;
	uint64_t most;

	if (len > room)
		len = room;
	if (how->chop) {
		most = 1 + sim_random(s->sim) % how->chop;
		if (len > most)
			len = most;
	}
	if (how->stall_after && s->proc->sent < how->stall_after &&
	    len > how->stall_after - s->proc->sent)
		len = how->stall_after - s->proc->sent;
	return len;
}

static ssize_t sim_stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct sim_stream *s = sim_stream_of(stream);
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
	if (s->proc->how.break_after && s->proc->sent + len >= s->proc->how.break_after) {
		s->proc->how.break_after = 0;
		stream_break_pair(s, -ECONNRESET);
		return -ECONNRESET;
	}
	ret = stream_send(s, iov, len, false);
	sim_stream_plan(s, LEVEL_NS);
	return ret ? ret : (ssize_t)len;
}

/*
 * Receiving
 */
static size_t stream_take(struct sim_stream *s, uint8_t *buf, size_t len)
{
	struct segment *seg;
	size_t got = 0, part;

	while (got < len && (seg = stream_first(s)) && !seg->end && seg->when <= sim_time(s->sim)) {
		part = seg->len - seg->used < len - got ? seg->len - seg->used : len - got;
		memcpy(buf + got, seg->data + seg->used, part);
		seg->used += part;
		got += part;
		if (seg->used < seg->len)
			break;
		segment_free(seg);
	}
	return got;
}

static ssize_t sim_stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct sim_stream *s = sim_stream_of(stream);
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
		sim_stream_plan(s->peer, 0);
		sim_stream_plan(s, 0);
		return len;
	}
	seg = stream_first(s);
	return seg && seg->end && seg->when <= sim_time(s->sim) ? 0 : -EAGAIN;
}

/*
 * Calling the user
 */
void sim_stream_event(void *arg)
{
	struct sim_stream *s = arg;
	struct segment *seg = stream_first(s);
	bool readable = s->want_read && seg && seg->when <= sim_time(s->sim);
	bool writable = s->want_write && stream_has_room(s);

	if (s->err) {
		s->told = true;
		s->ops->failed(s->ctx, s->err);
		return;
	}
	/* Planned first: the user may close. */
	sim_stream_plan(s, LEVEL_NS);
	s->turn = readable && !(writable && s->turn);
	if (s->turn)
		s->ops->readable(s->ctx);
	else if (writable)
		s->ops->writable(s->ctx);
}

static void sim_stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops,
			       void *ctx)
{
	struct sim_stream *s = sim_stream_of(stream);

	s->ops = ops;
	s->ctx = ctx;
	sim_stream_plan(s, 0);
}

static void sim_stream_want_read(struct ddio_stream *stream, bool want)
{
	struct sim_stream *s = sim_stream_of(stream);

	if (s->want_read == want)
		return;
	s->want_read = want;
	sim_stream_plan(s, 0);
}

static void sim_stream_want_write(struct ddio_stream *stream, bool want)
{
	struct sim_stream *s = sim_stream_of(stream);

	if (s->want_write == want)
		return;
	s->want_write = want;
	sim_stream_plan(s, 0);
}

static const char *sim_stream_peer(const struct ddio_stream *stream)
{
	return sim_stream_of(stream)->name;
}

static bool sim_stream_is_loopback(const struct ddio_stream *stream)
{
	return ddio_addr_is_loopback(sim_stream_of(stream)->name);
}

static void sim_stream_detach(struct ddio_stream *stream)
{
	struct sim_stream *s = sim_stream_of(stream);

	sim_event_cancel(s->proc, &s->event);
	s->ops = NULL;
	s->proc = NULL;
}

static void sim_stream_close(struct ddio_stream *stream)
{
	struct sim_stream *s = sim_stream_of(stream);

	if (s->proc)
		sim_event_cancel(s->proc, &s->event);
	if (s->peer) {
		s->peer->ended = true;
		if (!s->err && (!s->proc || stream_send(s, NULL, 0, true)))
			sim_stream_break(s->peer, -ECONNRESET);
		s->peer->peer = NULL;
		sim_stream_plan(s->peer, 0);
	}
	sim_stream_free(s);
}

static const struct ddio_stream_vtable sim_stream_vt = {
	.set_ops = sim_stream_set_ops,
	.readv = sim_stream_readv,
	.writev = sim_stream_writev,
	.want_read = sim_stream_want_read,
	.want_write = sim_stream_want_write,
	.peer = sim_stream_peer,
	.is_loopback = sim_stream_is_loopback,
	.detach = sim_stream_detach,
	.close = sim_stream_close,
};

int sim_stream_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	struct sim_stream *s = sim_stream_of(stream);

	s->proc = sim_proc_of(env);
	s->base.env = env;
	return 0;
}

void sim_streams_end_list(struct ddio_list *list, struct sim_proc *proc, enum sim_end how)
{
	struct sim_stream *s;

	ddio_list_for_each_entry(s, list, link) {
		if (s->proc != proc || s->connecting || !s->peer)
			continue;
		if (how == SIM_END_SOME && sim_random(s->sim) >> 63)
			continue;
		if (how == SIM_END_CUT || how == SIM_END_SOME) {
			stream_break_pair(s, -ECONNRESET);
			continue;
		}
		s->peer->ended = true;
		if (!s->err && stream_send(s, NULL, 0, true))
			sim_stream_break(s->peer, -ECONNRESET);
		if (how == SIM_END_ORPHANED)
			sim_stream_break(s, -ECONNRESET);
	}
}
