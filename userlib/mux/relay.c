// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two streams that are one: what comes on either goes out on the other, out of the memory that it came into.  Nothing is read from
 * one while the other takes nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include "mux/priv.h"

/**
 * struct relay_side - one of the two
 * @other: where to what comes here goes
 */
struct relay_side {
	struct ddio_stream *stream;
	struct relay_side *other;
	struct relay *relay;
};

struct relay {
	struct relay_side side[2];
};

static void relay_end(struct relay_side *from, int err)
{
	struct relay *relay = from->relay;

	ddio_mux_end(from->stream, err);
	ddio_mux_end(from->other->stream, err);
	free(relay);
}

/* Moves what can be moved.  Return: 1; 0 at the end; -EAGAIN if the other takes no more; or another -errno. */
static ssize_t move(struct relay_side *from)
{
	struct mux_stream *s = mux_stream_of(from->stream);
	struct iovec bytes[2];
	ssize_t n;
	int places;

	while (s->in.used && !s->err) {
		places = mux_ring_look(&s->in, DDIO_MAX_MUX_DATA, bytes);
		n = ddio_stream_writev(from->other->stream, bytes, places);
		if (n <= 0)
			return n ? n : -EAGAIN;
		mux_stream_consume(s, (uint32_t)n);
	}
	return s->err ? s->err : !s->ended;
}

static void pump(struct relay_side *from)
{
	ssize_t ret = move(from);

	if (ret <= 0 && ret != -EAGAIN) {
		relay_end(from, (int)ret);
		return;
	}
	ddio_stream_want_read(from->stream, ret != -EAGAIN);
	ddio_stream_want_write(from->other->stream, ret == -EAGAIN);
}

static void on_readable(void *ctx)
{
	pump(ctx);
}

static void on_writable(void *ctx)
{
	struct relay_side *side = ctx;

	pump(side->other);
}

static void on_failed(void *ctx, int err)
{
	relay_end(ctx, err);
}

static const struct ddio_stream_ops relay_ops = {
	.readable = on_readable,
	.writable = on_writable,
	.failed = on_failed,
};

int ddio_mux_relay(struct ddio_stream *a, struct ddio_stream *b)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	int i;

	if (!relay) {
		ddio_mux_end(a, -ENOMEM);
		ddio_mux_end(b, -ENOMEM);
		return -ENOMEM;
	}
	for (i = 0; i < 2; i++)
		relay->side[i] = (struct relay_side){ i ? b : a, &relay->side[!i], relay };
	ddio_stream_set_ops(a, &relay_ops, &relay->side[0]);
	ddio_stream_set_ops(b, &relay_ops, &relay->side[1]);
	return 0;
}
