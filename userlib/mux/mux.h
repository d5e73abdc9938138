/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that a connection carries: many between the same two processes, over one connection.  To its user each is a struct
 * ddio_stream as any other, with the rules of env.h.  One end of the connection opens them, the other takes them.
 *
 * Each has a window, DDIO_MUX_WINDOW: so many of its bytes may be on their way or unread, and no end ever holds more for it.
 * Whoever reads nothing therefore holds up its own stream and no other, and a connection of a mux is never paused.
 *
 * All on the connection's reactor.
 */
#ifndef DDIO_MUX_H
#define DDIO_MUX_H

#include "conn/conn.h"

struct ddio_mux;

/**
 * struct ddio_mux_use - what a mux carries
 * @streams: that are under way, those included that one end has ended; @most: the largest number there ever was
 * @held: bytes that have come and were not read
 */
struct ddio_mux_use {
	uint32_t streams, most;
	uint64_t held;
};

/**
 * ddio_mux_opened_fn - the other end has opened a stream
 * @ctx: given to ddio_mux_new()
 * @stream: the user's, who sets its ops or closes it, at once or later
 * @open: where it is to go
 */
typedef void (*ddio_mux_opened_fn)(void *ctx, struct ddio_stream *stream,
				   const struct ddio_msg_mux_open *open);

/**
 * ddio_mux_new - make a mux of a connection
 * @env: the connection's reactor
 * @conn: open, with feature MUX; its user hands on what comes: ddio_mux_bulk(), ddio_mux_message(), ddio_mux_drained()
 * @opened: NULL: this end opens the streams
 * @ctx: for @opened
 *
 * Return: NULL without memory.
 */
struct ddio_mux *ddio_mux_new(struct ddio_env *env, struct ddio_conn *conn,
			      ddio_mux_opened_fn opened, void *ctx);
/* What the mux holds is counted in *@total as well, which must outlive it: that of all muxes of a reactor, for instance. */
void ddio_mux_count(struct ddio_mux *mux, uint64_t *total);
/* The connection is gone, or about to be: all streams break with @err and @why, which may be NULL, and outlive the mux. */
void ddio_mux_free(struct ddio_mux *mux, int err, const char *why);

/* What the connection's user is told of opcodes MUX_*; both return what the connection's callbacks do. */
int ddio_mux_bulk(struct ddio_mux *mux, const struct ddio_msg *msg, const void *prefix,
		  size_t prefix_len, struct ddio_sink *sink);
int ddio_mux_message(struct ddio_mux *mux, const struct ddio_msg *msg, const void *payload);
void ddio_mux_drained(struct ddio_mux *mux);

/**
 * ddio_mux_open - open a stream
 * @mux: an end that opens
 * @node, @reactor: where it is to go
 * @peer: text of the address there
 * @stream: filled in; it can be written to at once
 *
 * Return: 0, -ENOMEM, -EMFILE if there are DDIO_MUX_STREAMS, or -ENOTCONN.
 */
int ddio_mux_open(struct ddio_mux *mux, uint32_t node, uint32_t reactor, const char *peer,
		  struct ddio_stream **stream);
/* Closes a stream of a mux and tells the other end why: a negative errno. */
void ddio_mux_end(struct ddio_stream *stream, int err);

/* Returns true if bytes wait to go out. */
bool ddio_mux_queued(const struct ddio_mux *mux);
void ddio_mux_use(const struct ddio_mux *mux, struct ddio_mux_use *use);

/**
 * ddio_mux_relay - from now on what comes on either stream goes out on the other
 * @a, @b: of two muxes of one reactor; they are closed when either ends
 *
 * No more is held than what the windows of the two allow.  Return: 0, or -ENOMEM with both streams closed.
 */
int ddio_mux_relay(struct ddio_stream *a, struct ddio_stream *b);

#endif /* DDIO_MUX_H */
