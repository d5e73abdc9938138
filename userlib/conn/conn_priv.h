/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of a connection: life (conn.c), opening exchange (opening.c), what
 * comes in (input.c), what goes out (output.c), keys and proofs (key.c).
 *
 * Callbacks may do anything to the connection.  Every entry from the loop is
 * therefore bracketed by conn_enter() and conn_leave(), and asks conn_dead()
 * after each callback.  ddio_conn_close() inside a callback leaves the memory
 * to the outermost conn_leave(); after ddio_conn_detach() the connection may
 * be in another thread's hands already and is not touched at all.
 */
#ifndef DDIO_CONN_PRIV_H
#define DDIO_CONN_PRIV_H

#include "conn/conn.h"

#define CONN_RX_CAP (128u << 10)  /* receive buffer; larger payloads get memory of their own */
#define CONN_RX_NARROW (4u << 10) /* bytes read beyond a large bulk: what follows is copied */
#define CONN_RX_LARGE (32u << 10) /* bulk from this size on is large */
#define CONN_RX_BUDGET (1u << 20) /* bytes of one turn, so that others have theirs */
#define CONN_RX_IOV 64
/* Headers and fixed records are gathered in chunks.  Many connections have one message at a time. */
#define CONN_TX_FIRST 232u
#define CONN_TX_SECOND 1000u
#define CONN_TX_CHUNK (16u << 10)
#define CONN_TX_RING 4u		 /* segments at first */
#define CONN_TX_NOW (256u << 10) /* queued bytes that are not left to the end of the turn */
#define CONN_TX_IOV 512
#define CONN_TX_BYTES (4u << 20) /* of one write */
#define CONN_PREFIX_MAX 64
#define CONN_LAST_WORDS_NS 1000000000ull
#define CONN_OPENING_NS 10000000000ull
#define CONN_WHY (DDIO_MAX_TEXT + DDIO_MAX_ADDR + 64)
#define CONN_HELLO_MAX 512	 /* encoded HELLO */
#define CONN_CHALLENGE_SIGNED 48 /* CHALLENGE without its proof */

enum conn_state {
	CONN_CONNECTING,
	CONN_WAIT_HELLO,
	CONN_WAIT_CHALLENGE,
	CONN_WAIT_PROOF,
	CONN_WAIT_USER, /* hello() was called: welcome or refuse is due */
	CONN_WAIT_WELCOME,
	CONN_OPEN,
	CONN_ENDING,   /* a REFUSE is on its way out, closed() comes after it */
	CONN_FLUSHING, /* closed by the user with flush: nobody is told any more */
	CONN_CLOSED,
};

struct conn_frame {
	bool gone; /* detached meanwhile */
	struct conn_frame *up;
};

/* Copied bytes on their way out. */
struct conn_chunk {
	size_t cap, used;
	uint32_t refs; /* segments that lie in it */
	uint8_t data[];
};

/* A piece of the output: copied bytes, or the user's. */
struct conn_seg {
	uint8_t *base;
	size_t len;
	struct conn_chunk *chunk; /* NULL: the user's */
	struct ddio_send *send;	  /* told when this piece, a message's last, has left */
};

/**
 * struct conn_out - the output queue; an idle connection's, and most are, has no memory
 * @ring: of @cap (a power of two) segments, NULL while there are none; the indices run freely
 * @head: first whose sender was not told yet
 * @sent: first that has not left entirely
 * @tail: one past the last
 * @queued: bytes that have not left
 * @cur: chunk being filled; @spare: an empty one
 * @blocked: the stream is full, and we wait for writable()
 * @high: has been above the high mark since drained() was called last
 * @err: the stream's error on writing
 */
struct conn_out {
	struct conn_seg *ring;
	uint32_t cap, head, sent, tail;
	size_t queued;
	struct conn_chunk *cur, *spare;
	bool blocked, high;
	int err;
};

/**
 * struct conn_in - what comes in
 * @buf: bytes [head, tail) are received and not yet used; during a turn the reactor's scratch
 *	memory, between turns @kept
 * @turn: bytes received in this turn
 * @have: @msg is the header of the message being received
 * @body: the rest of the message, @left bytes, goes to @iov, or nowhere if @niov is 0
 * @iov, @niov, @iov_off: what is left of the user's sink, or of @big
 * @big, @big_cap: memory for a payload too large for @buf; @big_iov: its part not yet filled
 * @narrow: the last message was large bulk, and the next one probably is
 * @prefix: the fixed record of the bulk message being received
 */
struct conn_in {
	uint8_t *buf;
	uint8_t *kept;
	size_t head, tail, turn;
	bool have, body, narrow;
	struct ddio_msg msg;
	uint64_t left;
	struct iovec *iov;
	int niov;
	size_t iov_off;
	uint8_t *big;
	size_t big_cap;
	struct iovec big_iov;
	uint8_t prefix[CONN_PREFIX_MAX];
};

/**
 * struct conn_opening - needed only until WELCOME
 * @key, @cluster: the user's; NULL for none
 * @hello_raw: as it was sent or received; NULL before
 */
struct conn_opening {
	const struct ddio_key *key;
	const char *cluster;
	uint8_t *hello_raw;
	size_t hello_len;
	uint8_t challenge_raw[CONN_CHALLENGE_SIGNED];
	uint64_t bound_ns;
};

/**
 * struct ddio_conn - one end
 * @timer: bound on the opening, on ENDING, on FLUSHING
 * @why: ENDING: why; NULL without memory
 * @peer: the other end's address
 */
struct ddio_conn {
	struct ddio_env *env;
	struct ddio_stream *stream;
	const struct ddio_conn_ops *ops;
	void *ctx;
	enum conn_state state;
	uint16_t version;
	bool paused, posted, zombie;
	struct conn_frame *frame;
	struct conn_in in;
	struct conn_out out;
	struct conn_opening *opening;
	struct ddio_post post;
	struct ddio_timer timer;
	uint64_t last_rx, last_tx, messages;
	int end_err;
	char *why;
	char peer[];
};

/* conn.c */
void conn_enter(struct ddio_conn *c, struct conn_frame *f);
void conn_leave(struct ddio_conn *c, struct conn_frame *f);
void conn_post(struct ddio_conn *c);
void conn_stop_timer(struct ddio_conn *c);
/* Ends with closed(); from the loop only.  @err 0 is an orderly end. */
void conn_fail(struct ddio_conn *c, struct conn_frame *f, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, but with a log line, and the peer is told why if that is possible. */
void conn_reject(struct ddio_conn *c, struct conn_frame *f, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* ENDING: closed() as soon as the last words have left. */
void conn_try_end(struct ddio_conn *c, struct conn_frame *f);
/* For texts of the peer that go to logs and terminals. */
void conn_clean_text(char *text);

static inline bool conn_dead(const struct ddio_conn *c, const struct conn_frame *f)
{
	return f->gone || c->zombie || c->state >= CONN_ENDING;
}

/* The I/O processor accounts for its Memputs and Memgets itself. */
static inline bool conn_charged_elsewhere(uint16_t opcode)
{
	return opcode >= DDIO_OP_COLL_DATA && opcode <= DDIO_OP_COLL_PIECE;
}

/* opening.c */
void conn_opening_connected(struct ddio_conn *c, struct conn_frame *f);
/* The opcode that may come now, besides REFUSE; 0: none. */
uint16_t conn_opening_expected(const struct ddio_conn *c);
void conn_opening_message(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
			  const void *payload);
void conn_opening_free(struct ddio_conn *c);
/* Keeps a copy of the HELLO, for the proofs. */
int conn_opening_keep_hello(struct conn_opening *o, const void *raw, size_t len);

/* input.c */
void conn_in_readable(struct ddio_conn *c, struct conn_frame *f);
/* Uses what is in the buffer already, after a pause. */
void conn_in_resume(struct ddio_conn *c, struct conn_frame *f);
bool conn_in_pending(const struct ddio_conn *c);
void conn_in_free(struct ddio_conn *c);

/* output.c */
int conn_out_push(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
		  size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send);
/* Writes what the stream takes; calls nobody back.  An error is kept in out.err. */
void conn_out_flush(struct ddio_conn *c);
/* Tells senders whose bytes have left, and of the queue having drained. */
void conn_out_tell(struct ddio_conn *c, struct conn_frame *f);
/* Tells all senders that they are not waited for, but keeps their bytes. */
void conn_out_disown(struct ddio_conn *c);
/* Tells all senders @err and forgets the queue. */
void conn_out_cancel(struct ddio_conn *c, int err);
void conn_out_free(struct ddio_conn *c);

/* key.c */
enum conn_side { CONN_ACCEPTOR, CONN_CONNECTOR };
/* -ENOMEM if libcrypto fails. */
int conn_proof_make(const struct conn_opening *o, enum conn_side side,
		    uint8_t proof[DDIO_PROOF_LEN]);
bool conn_proof_ok(const struct conn_opening *o, enum conn_side side,
		   const uint8_t proof[DDIO_PROOF_LEN]);

#endif /* DDIO_CONN_PRIV_H */
