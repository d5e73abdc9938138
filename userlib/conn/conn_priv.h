/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside a connection: its calls (conn.c), what comes in (input.c), the opening exchange (opening.c), the way
 * through memory (memory.c), how it ends (core.c), what goes out (output.c), keys and proofs (key.c).  Each of these
 * calls only those after it in this list.
 *
 * Callbacks may do anything to the connection.  Every entry from the loop is therefore bracketed by
 * conn_enter() and conn_leave(), and asks conn_dead() after each callback.  ddio_conn_close() inside a
 * callback leaves the memory to the outermost conn_leave(); after ddio_conn_detach() the connection may
 * belong to another thread already and is not touched at all.
 */
#ifndef DDIO_CONN_PRIV_H
#define DDIO_CONN_PRIV_H

#include "conn/conn.h"
#include "env/local/mailbox.h"

#define CONN_RX_CAP (128u << 10)  /* receive buffer; a larger payload gets memory of its own */
#define CONN_RX_NARROW (4u << 10) /* bytes read beyond a large bulk: what follows is copied */
#define CONN_RX_LARGE (32u << 10) /* bulk from this size on is large */
#define CONN_RX_BUDGET (1u << 20) /* bytes in one turn, so that other connections get theirs */
#define CONN_RX_IOV 64
/* Sizes of chunks for headers and fixed records: many connections have one message at a time. */
#define CONN_TX_FIRST 232u
#define CONN_TX_SECOND 1000u
#define CONN_TX_CHUNK (16u << 10)
#define CONN_TX_RING 4u /* segments at first */
#define CONN_TX_NOW \
	(256u << 10) /* from so many queued bytes on they are written before the end of the turn */
#define CONN_TX_IOV 512
#define CONN_TX_BYTES (4u << 20) /* of one write */
#define CONN_PREFIX_MAX 64
#define CONN_SUM_LEN 4u /* CRC-32C of header and payload, behind them */
#define CONN_LAST_WORDS_NS 1000000000ull
#define CONN_OPENING_NS 10000000000ull
#define CONN_WHY (DDIO_MAX_TEXT + DDIO_MAX_ADDR + 64)
#define CONN_HELLO_MAX 512	 /* encoded HELLO */
#define CONN_CHALLENGE_SIGNED 44 /* CHALLENGE without its proof */
#define CONN_LABEL 16		 /* of a proof */

enum conn_state {
	CONN_CONNECTING,
	CONN_WAIT_HELLO,
	CONN_WAIT_CHALLENGE,
	CONN_WAIT_PROOF,
	CONN_WAIT_USER, /* hello() was called: welcome or refuse is due */
	CONN_WAIT_WELCOME,
	CONN_OPEN,
	CONN_ENDING,   /* a REFUSE is on its way out; closed() follows it */
	CONN_FLUSHING, /* closed by the user with flush: no callback any more */
	CONN_CLOSED,
};

/* How far a connection is on its way through memory. */
enum conn_memory {
	MEMORY_MAY = 0, /* acceptor: it has not been asked */
	MEMORY_LATER,	/* connector: it has not said much yet */
	MEMORY_ASKED,
	MEMORY_OFFERED, /* acceptor: the connector may move */
	MEMORY_MOVING,	/* connector: it has moved, the acceptor has not */
	MEMORY_MOVED,
	MEMORY_NEVER,
};

/* A connection that carries so many messages will carry more. */
#define CONN_MEMORY_AFTER 4u

/**
 * struct conn_frame - one entry from the loop, on the stack
 * @gone: the connection was detached meanwhile
 * @up: the entry around it
 */
struct conn_frame {
	bool gone;
	struct conn_frame *up;
};

/**
 * struct conn_chunk - copied bytes on their way out
 * @refs: segments that lie in it
 */
struct conn_chunk {
	size_t cap, used;
	uint32_t refs;
	uint8_t data[];
};

/**
 * struct conn_seg - contiguous bytes of the output, copied ones or the user's
 * @chunk: NULL: the bytes are the user's
 * @send: the bytes are a message's last: told when they have left
 */
struct conn_seg {
	uint8_t *base;
	size_t len;
	struct conn_chunk *chunk;
	struct ddio_send *send;
};

/**
 * struct conn_out - the output queue; on an idle connection, as most are, it has no memory
 * @ring: @cap (a power of two) segments, NULL while there are none; the indices run freely
 * @head: the first whose sender has not been told
 * @sent: the first that has not left entirely
 * @tail: one past the last
 * @queued: bytes that have not left; @copied: of these, bytes in chunks
 * @cur: the chunk being filled; @spare: an empty one
 * @blocked: the stream is full; writable() will be called
 * @high: the queue has been above the high mark since drained() was last called
 * @err: the stream's error on writing
 * @moved: what is queued from here on goes through memory
 */
struct conn_out {
	struct conn_seg *ring;
	uint32_t cap, head, sent, tail;
	size_t queued, copied;
	struct conn_chunk *cur, *spare;
	bool blocked, high, moved;
	int err;
};

/**
 * struct conn_in - what comes in
 * @buf: bytes [head, tail) have been received and not yet used; during a turn it is the reactor's
 *	scratch memory, between turns @kept
 * @turn: bytes received in this turn
 * @have: @msg is the header of the message being received, which came at @since
 * @sum: of what has come of it, if it is summed; @front: of what stands in front of bulk
 * @body: the rest of the message, @left bytes, goes to @iov, or nowhere if @niov is 0
 * @iov, @niov, @iov_off: what is left of the user's sink, or of @big
 * @big, @big_cap: memory for a payload too large for @buf; @big_iov: its part not yet filled
 * @narrow: the last message was large bulk, as the next one probably is
 * @moved: what comes comes through memory
 * @prefix: the fixed record of the bulk message being received
 */
struct conn_in {
	uint8_t *buf;
	uint8_t *kept;
	size_t head, tail, turn;
	bool have, body, narrow, moved, wrong;
	uint32_t sum, front;
	struct ddio_msg msg;
	uint64_t since, left;
	struct iovec *iov;
	int niov;
	size_t iov_off;
	uint8_t *big;
	size_t big_cap;
	struct iovec big_iov;
	uint8_t prefix[CONN_PREFIX_MAX];
};

/**
 * struct conn_opening - what is needed only until WELCOME
 * @key, @cluster: the user's; NULL for none
 * @other: the peer has shown the other key
 * @binding: what only the two ends of the stream know, @binding_len bytes; 0 of a plain one
 * @hello_raw: HELLO as it was sent or received; NULL before that
 * @challenge_raw: the part of CHALLENGE that is signed
 * @bound_ns: bound on the exchange
 * @offered: options, DDIO_OPTION_*
 * @features: those that this end knows
 */
struct conn_opening {
	const struct ddio_key *key;
	const char *cluster;
	bool other;
	uint8_t binding[DDIO_TLS_BINDING];
	size_t binding_len;
	uint8_t *hello_raw;
	size_t hello_len;
	uint8_t challenge_raw[CONN_CHALLENGE_SIGNED];
	uint64_t bound_ns;
	uint32_t offered, features;
};

/**
 * struct ddio_conn - one end of a connection
 * @options, @features: agreed upon
 * @posted: @post is due
 * @zombie: closed by the user; freed as soon as no entry is on the stack and no post is due
 * @frame: the innermost entry from the loop
 * @tie: see ddio_conn_tie()
 * @timer: bound on the opening exchange, on ENDING, on FLUSHING
 * @said: messages, until @memory is to be thought of; @box: where the memory is to come to
 * @end_err, @why: ENDING: for closed(); @why is NULL if there was no memory
 * @peer: the other end's address
 */
struct ddio_conn {
	struct ddio_env *env;
	struct ddio_stream *stream;
	const struct ddio_conn_ops *ops;
	void *ctx;
	enum conn_state state;
	uint16_t version;
	uint32_t options, features;
	bool paused, posted, zombie, tls;
	uint8_t memory, said;
	struct ddio_mailbox *box;
	struct conn_frame *frame;
	struct conn_in in;
	struct conn_out out;
	struct conn_opening *opening;
	struct ddio_post post;
	struct ddio_timer timer;
	uint64_t last_rx, last_tx;
	uint8_t tie[DDIO_PROOF_LEN];
	int end_err;
	char *why;
	char peer[];
};

/* core.c */
/* Ends with closed(), since the stream has failed; @doing stands before an error of the system. */
void conn_lost(struct ddio_conn *c, struct conn_frame *f, int err, const char *doing);
/* Has the reactor call @c->post at the end of its turn. */
void conn_post(struct ddio_conn *c);
int conn_start_timer(struct ddio_conn *c, uint64_t ns);
void conn_stop_timer(struct ddio_conn *c);
void conn_drop_stream(struct ddio_conn *c);
/* Makes a text of the peer fit for logs and terminals. */
void conn_clean_text(char *text);
/* Ends with closed(); from the loop only.  @err 0 is an orderly end. */
void conn_fail(struct ddio_conn *c, struct conn_frame *f, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, but with a log line, and the peer is told why if that is possible. */
void conn_reject(struct ddio_conn *c, struct conn_frame *f, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Enters ENDING and queues a REFUSE. */
void conn_begin_end(struct ddio_conn *c, uint32_t status, const char *text);
/* ENDING: closed() as soon as the REFUSE has left. */
void conn_try_end(struct ddio_conn *c, struct conn_frame *f);
/* ENDING: closed() now. */
void conn_ended(struct ddio_conn *c, struct conn_frame *f);

/* Returns true if no callback may be called any more, and @c must not be used. */
static inline bool conn_dead(const struct ddio_conn *c, const struct conn_frame *f)
{
	return f->gone || c->zombie || c->state >= CONN_ENDING;
}

/* Returns true if received bytes, or the end of a message, wait to be used. */
static inline bool conn_in_pending(const struct ddio_conn *c)
{
	return c->in.head != c->in.tail || (c->in.body && !c->in.left);
}

/* True for Memputs and Memgets, which the I/O processor accounts for itself. */
static inline bool conn_charged_elsewhere(uint16_t opcode)
{
	return opcode >= DDIO_OP_COLL_DATA && opcode <= DDIO_OP_COLL_PIECE;
}

/*
 * Returns how many bytes of checksum follow a message: none before both ends have agreed, none in memory, and none behind a
 * REFUSE, which may come before that and ends the connection anyway.
 */
static inline size_t conn_sum_len(const struct ddio_conn *c, uint16_t opcode, bool moved)
{
	return c->options & DDIO_OPTION_SUMS && opcode > DDIO_OP_CHALLENGE &&
			       opcode != DDIO_OP_REFUSE && !moved
		       ? CONN_SUM_LEN
		       : 0;
}

/* opening.c */
void conn_opening_connected(struct ddio_conn *c, struct conn_frame *f);
/* Returns the opcode that may come now, besides REFUSE; 0: none. */
uint16_t conn_opening_expected(const struct ddio_conn *c);
void conn_opening_message(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
			  const void *payload);
void conn_opening_free(struct ddio_conn *c);
/* Keeps a copy of the HELLO, for the proofs. */
int conn_opening_keep_hello(struct conn_opening *o, const void *raw, size_t len);

/* memory.c */
/* Asks the acceptor for memory, if both ends are on this machine. */
void conn_memory_ask(struct ddio_conn *c);
void conn_memory_message(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
			 const void *payload);
void conn_memory_free(struct ddio_conn *c);

/* input.c */
void conn_in_readable(struct ddio_conn *c, struct conn_frame *f);
/* Uses what is in the buffer, after a pause. */
void conn_in_resume(struct ddio_conn *c, struct conn_frame *f);
void conn_in_free(struct ddio_conn *c);

/* output.c */
/* @bulk: the CRC-32C of all of @iov, if it is known; else NULL. */
int conn_out_push(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
		  size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send,
		  const uint32_t *bulk);
/* Writes what the stream takes, without callbacks.  An error is kept in out.err. */
void conn_out_flush(struct ddio_conn *c);
/* Tells senders whose bytes have left, and the user if the queue has drained. */
void conn_out_tell(struct ddio_conn *c, struct conn_frame *f);
/* Tells all senders -ECANCELED, but keeps their bytes. */
void conn_out_disown(struct ddio_conn *c);
/* Tells all senders @err and forgets the queue. */
void conn_out_cancel(struct ddio_conn *c, int err);
void conn_out_free(struct ddio_conn *c);

/* key.c */
enum conn_side { CONN_ACCEPTOR, CONN_CONNECTOR, CONN_NEITHER };
/* Computes the proof of @side: 0, or -ENOMEM if libcrypto fails. */
int conn_proof_make(const struct conn_opening *o, enum conn_side side,
		    uint8_t proof[DDIO_PROOF_LEN]);
/* Returns true if @proof is the proof of @side. */
bool conn_proof_ok(const struct conn_opening *o, enum conn_side side,
		   const uint8_t proof[DDIO_PROOF_LEN]);
/* Computes what ties to this exchange: 0 or -ENOMEM. */
int conn_tie_make(const struct conn_opening *o, uint8_t tie[DDIO_PROOF_LEN]);

#endif /* DDIO_CONN_PRIV_H */
