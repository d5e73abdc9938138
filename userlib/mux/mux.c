// SPDX-License-Identifier: LGPL-2.1-or-later
/* The messages of a mux.  Whatever no honest end sends ends the connection, and with it all its streams. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mux/priv.h"

static struct mux_stream *stream_find(const struct ddio_mux *mux, uint32_t id)
{
	return ddio_hash_entry(ddio_hash_find(&mux->streams, id), struct mux_stream, node);
}

int mux_say(struct ddio_mux *mux, uint16_t opcode, const void *record, size_t len)
{
	const struct ddio_msg msg = { .opcode = opcode };

	return ddio_conn_send(mux->conn, &msg, record, len, NULL, 0, NULL);
}

bool mux_has_room(const struct ddio_mux *mux)
{
	return ddio_conn_queued(mux->conn) < DDIO_CONN_HIGH;
}

struct ddio_mux *ddio_mux_new(struct ddio_env *env, struct ddio_conn *conn,
			      ddio_mux_opened_fn opened, void *ctx)
{
	struct ddio_mux *mux = calloc(1, sizeof(*mux));

	if (!mux)
		return NULL;
	mux->env = env;
	mux->conn = conn;
	mux->opened = opened;
	mux->ctx = ctx;
	ddio_list_init(&mux->blocked);
	mux_out_begin(mux);
	return mux;
}

void ddio_mux_free(struct ddio_mux *mux, int err, const char *why)
{
	struct ddio_hash_walk walk;
	struct mux_stream *s;

	if (!mux)
		return;
	/* Streams take with them what they hold. */
	mux_holds(mux, -(int64_t)mux->use.held);
	ddio_hash_for_each(s, &walk, &mux->streams, node) {
		ddio_hash_del(&mux->streams, &s->node);
		ddio_list_del(&s->blocked);
		s->mux = NULL;
		if (s->left)
			mux_stream_free(s);
		else
			mux_stream_break(s, err ? err : -ECONNRESET, why);
	}
	ddio_hash_fini(&mux->streams);
	mux_out_free(mux);
	free(mux);
}

void ddio_mux_count(struct ddio_mux *mux, uint64_t *total)
{
	mux->total = total;
}

void ddio_mux_use(const struct ddio_mux *mux, struct ddio_mux_use *use)
{
	*use = mux->use;
}

bool ddio_mux_queued(const struct ddio_mux *mux)
{
	return mux->gathered || ddio_conn_queued(mux->conn);
}

/*
 * What goes out
 */
static uint32_t new_id(struct ddio_mux *mux)
{
	do {
		mux->last_id++;
	} while (!mux->last_id || stream_find(mux, mux->last_id));
	return mux->last_id;
}

int ddio_mux_open(struct ddio_mux *mux, uint32_t node, uint32_t reactor, const char *peer,
		  struct ddio_stream **stream)
{
	struct ddio_msg_mux_open x = { .node = node, .reactor = reactor };
	struct mux_stream *s;
	uint8_t raw[32];
	int err;

	if (mux->use.streams >= DDIO_MUX_STREAMS)
		return -EMFILE;
	x.id = new_id(mux);
	s = mux_stream_new(mux, x.id, peer);
	if (!s)
		return -ENOMEM;
	err = mux_say(mux, DDIO_OP_MUX_OPEN, raw, (size_t)ddio_put_mux_open(raw, sizeof(raw), &x));
	if (err) {
		mux_stream_free(s);
		return err;
	}
	*stream = &s->base;
	return 0;
}

void ddio_mux_drained(struct ddio_mux *mux)
{
	struct ddio_list waiting;
	struct mux_stream *s;

	ddio_list_init(&waiting);
	ddio_list_splice(&mux->blocked, &waiting);
	while (!ddio_list_empty(&waiting)) {
		s = ddio_list_first(&waiting, struct mux_stream, blocked);
		ddio_list_del(&s->blocked);
		mux_stream_plan(s);
	}
}

/*
 * What comes
 */
static int take_open(struct ddio_mux *mux, const void *payload, size_t len)
{
	struct ddio_msg_mux_open x;
	struct mux_stream *s;
	int err = ddio_get_mux_open(payload, len, &x);

	if (err || !mux->opened || stream_find(mux, x.id))
		return err ? err : -EPROTO;
	if (mux->use.streams >= DDIO_MUX_STREAMS)
		return -EMSGSIZE;
	s = mux_stream_new(mux, x.id, ddio_conn_peer(mux->conn));
	if (!s)
		return -ENOMEM;
	mux->opened(mux->ctx, &s->base, &x);
	return 0;
}

static int take_window(struct ddio_mux *mux, const void *payload, size_t len)
{
	struct ddio_msg_mux_window x;
	struct mux_stream *s;
	int err = ddio_get_mux_window(payload, len, &x);

	if (err)
		return err;
	s = stream_find(mux, x.id);
	if (!s || s->ended || x.bytes > DDIO_MUX_WINDOW - s->room)
		return -EPROTO;
	s->room += x.bytes;
	mux_stream_plan(s);
	return 0;
}

static int take_end(struct ddio_mux *mux, const void *payload, size_t len)
{
	struct ddio_msg_mux_end x;
	struct mux_stream *s;
	int err = ddio_get_mux_end(payload, len, &x);

	if (err)
		return err;
	s = stream_find(mux, x.id);
	if (!s || s->ended)
		return -EPROTO;
	s->ended = true;
	if (s->left)
		mux_stream_free(s);
	else if (x.status)
		mux_stream_break(s, ddio_status_to_errno(x.status), NULL);
	else
		mux_stream_plan(s);
	return 0;
}

/* All of a stream's bytes have come that ddio_mux_bulk() made room for. */
static int take_data(struct ddio_mux *mux, uint32_t len)
{
	struct mux_stream *s = mux->taking;

	mux->taking = NULL;
	if (!s)
		return 0;
	s->in.used += len;
	mux_holds(mux, len);
	mux_stream_plan(s);
	return 0;
}

/* Takes the next bytes of a stream, which are all there. */
static int take_part(struct ddio_mux *mux, const struct ddio_msg_mux_part *x, const uint8_t *from)
{
	struct mux_stream *s = stream_find(mux, x->id);
	struct iovec to[2];
	int i, n;

	if (!s || s->ended || x->bytes > s->expect)
		return -EPROTO;
	s->expect -= x->bytes;
	if (s->left || s->err)
		return 0;
	n = mux_ring_room(&s->in, x->bytes, to);
	if (n < 0) {
		mux_stream_break(s, n, NULL);
		return 0;
	}
	for (i = 0; i < n; from += to[i++].iov_len)
		memcpy(to[i].iov_base, from, to[i].iov_len);
	s->in.used += x->bytes;
	mux_holds(mux, x->bytes);
	mux_stream_plan(s);
	return 0;
}

static int take_parts(struct ddio_mux *mux, const uint8_t *at, size_t left)
{
	const size_t record = 2 * sizeof(uint32_t);
	struct ddio_msg_mux_part x;
	int err = left ? 0 : -EPROTO;

	while (left && !err) {
		err = ddio_get_mux_part(at, left < record ? left : record, &x);
		if (!err && x.bytes > left - record)
			err = -EPROTO;
		if (!err)
			err = take_part(mux, &x, at + record);
		if (err)
			break;
		at += record + x.bytes;
		left -= record + x.bytes;
	}
	return err;
}

int ddio_mux_bulk(struct ddio_mux *mux, const struct ddio_msg *msg, const void *prefix,
		  size_t prefix_len, struct ddio_sink *sink)
{
	uint64_t len = msg->length - prefix_len;
	struct ddio_msg_mux_data x;
	struct mux_stream *s;
	int n;

	if (msg->opcode != DDIO_OP_MUX_DATA || ddio_get_mux_data(prefix, prefix_len, &x))
		return -EPROTO;
	s = stream_find(mux, x.id);
	if (!s || s->ended || !len || len > s->expect)
		return -EPROTO;
	s->expect -= (uint32_t)len;
	sink->n = 0;
	if (s->left || s->err)
		return 0;
	n = mux_ring_room(&s->in, (uint32_t)len, mux->places);
	if (n < 0) {
		mux_stream_break(s, n, NULL);
		return 0;
	}
	mux->taking = s;
	sink->iov = mux->places;
	sink->n = n;
	return 0;
}

int ddio_mux_message(struct ddio_mux *mux, const struct ddio_msg *msg, const void *payload)
{
	/* Whoever asks and never reads the answers would have them kept. */
	if (ddio_conn_copied(mux->conn) > MUX_UNREAD)
		return -ENOBUFS;
	switch (msg->opcode) {
	case DDIO_OP_MUX_OPEN:
		return take_open(mux, payload, msg->length);
	case DDIO_OP_MUX_DATA:
		return take_data(
			mux, (uint32_t)(msg->length - ddio_opcode_bulk_prefix(msg->opcode, false)));
	case DDIO_OP_MUX_PARTS:
		return take_parts(mux, payload, msg->length);
	case DDIO_OP_MUX_WINDOW:
		return take_window(mux, payload, msg->length);
	case DDIO_OP_MUX_END:
		return take_end(mux, payload, msg->length);
	default:
		return -EPROTO;
	}
}
