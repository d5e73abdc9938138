/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of a mux: messages (mux.c), streams as their users see them (stream.c), bytes that have come (ring.c) and that go out
 * (out.c), and two streams that are one (relay.c).
 */
#ifndef MUX_PRIV_H
#define MUX_PRIV_H

#include "base/hash.h"
#include "env/env_ops.h"
#include "mux/mux.h"

/* A window is given back in parts of at least this. */
#define MUX_GIVE_BACK (DDIO_MUX_WINDOW / 4)
/* So many bytes of answers may wait for an end that does not read. */
#define MUX_UNREAD (4u << 20)

/**
 * struct mux_ring - bytes that have come; at most DDIO_MUX_WINDOW, and memory only while there are any
 * @cap: a power of two
 * @head: of the first byte; @used: how many there are
 */
struct mux_ring {
	uint8_t *buf;
	uint32_t cap, head, used;
};

struct mux_frame;

/**
 * struct ddio_mux - see mux.h
 * @streams: struct mux_stream.node, by number
 * @taking: the stream whose bytes are being received, into @places; NULL: none, or it was closed meanwhile
 * @blocked: streams that would write and wait for the connection's queue, the one that waits longest first
 * @total: of ddio_mux_count(), or NULL
 * @gathered: bytes of streams that leave together, at @out_due
 */
struct ddio_mux {
	struct ddio_env *env;
	struct ddio_conn *conn;
	ddio_mux_opened_fn opened;
	void *ctx;
	struct ddio_hash streams;
	uint32_t last_id;
	struct mux_stream *taking;
	struct iovec places[2];
	struct ddio_list blocked;
	struct mux_frame *gathered;
	struct ddio_timer out_due;
	struct ddio_mux_use use;
	uint64_t *total;
};

/**
 * struct mux_stream - one end of a stream
 * @mux: NULL: it has broken off
 * @left: closed by its user; it waits for the other end's end
 * @ended: the other end has ended it
 * @told: failed() was called
 * @err: broken, and why; @why: text, or NULL
 * @room: bytes that may be sent; @expect: that may come; @owed: that were read and not given back
 * @due: calls the user
 * @gone: set when the stream is closed, while its user is being called
 */
struct mux_stream {
	struct ddio_stream base;
	struct ddio_mux *mux;
	struct ddio_hash_node node;
	struct ddio_list blocked;
	uint32_t id;
	bool want_read, want_write, left, ended, told;
	int err;
	uint32_t room, expect, owed;
	struct mux_ring in;
	const struct ddio_stream_ops *ops;
	void *ctx;
	struct ddio_timer due;
	bool *gone;
	char *why;
	char peer[];
};

/* mux.c */
/* Sends a message that has a record and nothing else.  Return: 0 or -errno. */
int mux_say(struct ddio_mux *mux, uint16_t opcode, const void *record, size_t len);
/* Returns true if the connection's queue takes more bytes of streams. */
bool mux_has_room(const struct ddio_mux *mux);

/* So many bytes more have come, or fewer are unread. */
static inline void mux_holds(struct ddio_mux *mux, int64_t bytes)
{
	mux->use.held += (uint64_t)bytes;
	if (mux->total)
		*mux->total += (uint64_t)bytes;
}

/* stream.c */
struct mux_stream *mux_stream_new(struct ddio_mux *mux, uint32_t id, const char *peer);
void mux_stream_free(struct mux_stream *s);
/* Sees to it that the user is called if there is something to be told. */
void mux_stream_plan(struct mux_stream *s);
/* Breaks the stream: its user hears one failed() and nothing else. */
void mux_stream_break(struct mux_stream *s, int err, const char *why);
/* @len bytes have been read: some of the window may have to be given back. */
void mux_stream_consume(struct mux_stream *s, uint32_t len);

/* out.c */
/* Sends a stream's bytes, now or at the turn's end.  Return: 0 or -errno, and nothing was taken. */
int mux_out_write(struct mux_stream *s, const struct iovec *iov, uint32_t len);
/* Sends what is still to be sent.  Return: 0 or -errno, and it still is. */
int mux_out_flush(struct ddio_mux *mux);
void mux_out_begin(struct ddio_mux *mux);
void mux_out_free(struct ddio_mux *mux);

/* ring.c */
/* Makes room for @len bytes and says where they go.  Return: places, or -ENOMEM. */
int mux_ring_room(struct mux_ring *ring, uint32_t len, struct iovec places[2]);
/* Returns the places of the first bytes, at most @len. */
int mux_ring_look(const struct mux_ring *ring, uint32_t len, struct iovec places[2]);
/* Forgets the first @len bytes; frees the memory if none is left and @keep is false. */
void mux_ring_drop(struct mux_ring *ring, uint32_t len, bool keep);
void mux_ring_free(struct mux_ring *ring);

static inline struct mux_stream *mux_stream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct mux_stream, base);
}

#endif /* MUX_PRIV_H */
