/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages over a stream: the opening exchange with mutual proof of the cluster's key, framing, an output
 * queue that gathers many messages into one write, and bulk received straight into place.  A connection
 * belongs to one reactor.
 */
#ifndef DDIO_CONN_H
#define DDIO_CONN_H

#include <limits.h>
#include "env/env.h"
#include "env/tls/tls.h"
#include "proto/proto.h"

struct ddio_conn;

/**
 * struct ddio_key - the cluster's shared secret
 * @len: 0: no key, which is allowed on loopback only
 * @other: one that is accepted as well, while keys are changed; @other_len is 0 if there is none
 */
struct ddio_key {
	size_t len;
	uint8_t bytes[64];
	size_t other_len;
	uint8_t other[64];
};

#define DDIO_KEY_NAME 32

/* Computes HMAC-SHA256 of some bytes by the key, not by the other one.  Returns false without memory. */
bool ddio_key_mac(const struct ddio_key *key, const void *data, size_t len,
		  uint8_t mac[DDIO_MAC_LEN]);
/* Compares in a time that tells nothing. */
bool ddio_mac_same(const uint8_t a[DDIO_MAC_LEN], const uint8_t b[DDIO_MAC_LEN]);

/**
 * ddio_key_load - read a key file, and the one beside it that is valid as well
 * @path: the file; refused if others may read it (mode & 077) or it has less than 16 bytes
 * @shared: users are told apart by other means, and root's file may be readable by its group, mode 640
 * @key: filled in
 * @err: gets what was wrong, naming the file
 * @err_len: bytes of @err
 * Return: 0, -EACCES (mode or owner), -EINVAL, or the errno of open and read
 */
int ddio_key_load(const char *path, bool shared, struct ddio_key *key, char *err, size_t err_len);
/* Where the other key stands: 0 or -ENAMETOOLONG. */
int ddio_key_other_path(const char *path, char other[PATH_MAX]);
/* Finds the name by which connections mention a key, and which tells nothing of it.  Returns false if there is none. */
bool ddio_key_name(const struct ddio_key *key, bool other, char name[DDIO_KEY_NAME]);

/**
 * struct ddio_key_look - a key file from outside
 */
struct ddio_key_look {
	uint64_t ino, size, changed;
};

/* Looks at both files.  Returns true if that differs from the looks before, which are replaced. */
bool ddio_key_changed(const char *path, struct ddio_key_look looks[2]);

/*
 * Makes what streams of connections need that are closed to strangers; @kernel: see ddio_tls_set_kernel().  Return: 0, -ENOMEM or
 * -ENOTSUP.
 */
int ddio_conn_tls_new(const struct ddio_key *key, bool kernel, struct ddio_tls **tls);
/* Has connections to come use these keys. */
void ddio_conn_tls_keys(struct ddio_tls *tls, const struct ddio_key *key);

/**
 * struct ddio_sink - where the bulk of a message goes
 * @iov, @n: as long as the bulk in total; the array is the user's and must stay until message(); n 0
 *	discards the bulk
 */
struct ddio_sink {
	struct iovec *iov;
	int n;
};

/**
 * struct ddio_conn_ops - what a connection tells its user; all from the loop
 * @ready: connector: WELCOME has arrived (@welcome is valid during the call)
 * @hello: acceptor: the peer has proved its key.  The user answers with ddio_conn_welcome() or
 *	ddio_conn_refuse(), at once or later, on this reactor or another one.
 * @bulk: the fixed record (@prefix, @prefix_len bytes) of a message with bulk has arrived; the user
 *	says where the bulk goes.  A negative errno closes the connection with it.
 * @large: the header of a message without bulk, of more than DDIO_MAX_SMALL bytes, has arrived.  A negative errno closes
 *	the connection with it; NULL: any is received.
 * @message: a whole message has arrived.  Without bulk @payload is its payload (msg->length bytes); with
 *	bulk it is the fixed record, and the bulk is in the sink.  Valid during the call.
 *	A negative errno closes the connection with it, after one log line.
 * @drained: the output queue has fallen below CONN_LOW after it was above DDIO_CONN_HIGH
 * @closed: the connection is over (failure, refusal, end, or a bad message); @err is a negative
 *	errno, 0 for an orderly end; @why is one line that names the peer.  All pending sends have
 *	ended with that error before.  The user must still call ddio_conn_close().
 */
struct ddio_conn_ops {
	void (*ready)(void *ctx, const struct ddio_msg_welcome *welcome);
	void (*hello)(void *ctx, const struct ddio_msg_hello *hello);
	int (*bulk)(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		    struct ddio_sink *sink);
	int (*large)(void *ctx, const struct ddio_msg *msg);
	int (*message)(void *ctx, const struct ddio_msg *msg, const void *payload);
	void (*drained)(void *ctx);
	void (*closed)(void *ctx, int err, const char *why);
};

#define DDIO_CONN_HIGH (1u << 20)
#define CONN_LOW (256u << 10)

/**
 * struct ddio_conn_opts - for both ends
 * @key: NULL or empty for none
 * @cluster: the cluster's name, checked against the peer's if both are given
 * @handshake_ns: bound on the opening exchange, 0 for 10 s
 * @unsummed: messages have no checksums; @near_unsummed: at the acceptor, if the connector has a loopback address.  By TLS they
 *	have none in any case: its records are authenticated
 * @memory: between processes of one machine, messages may go through memory that they share; not with @tls
 * @users: connections have users
 * @differs: features of DDIO_WIRE_FEATURES that are not offered, and others that are: for tests
 * @tls: of ddio_conn_tls_new(): the connection is closed to strangers; NULL: it is not.  It must outlive the connection.
 *
 * @key and @cluster must stay until the opening exchange is over or the connection is closed.
 */
struct ddio_conn_opts {
	const struct ddio_key *key;
	const char *cluster;
	uint64_t handshake_ns;
	bool unsummed, near_unsummed;
	bool memory;
	bool users;
	uint32_t differs;
	struct ddio_tls *tls;
};

/* The way of what a connection says; a trace has these numbers, too. */
enum conn_way { CONN_TCP, CONN_TLS, CONN_MEMORY };

/* @hello: role, reactor, rank and group are the user's to fill in; the rest is filled in here. */
int ddio_conn_connect(struct ddio_env *env, const char *addr, const struct ddio_msg_hello *hello,
		      const struct ddio_conn_opts *opts, const struct ddio_conn_ops *ops, void *ctx,
		      struct ddio_conn **conn);
/* The same over a stream that is there, and is taken over even if this fails; NULL: one is made. */
int ddio_conn_connect_by(struct ddio_env *env, struct ddio_stream *stream, const char *addr,
			 const struct ddio_msg_hello *hello, const struct ddio_conn_opts *opts,
			 const struct ddio_conn_ops *ops, void *ctx, struct ddio_conn **conn);
/* Takes over @stream, even if it fails. */
int ddio_conn_accept(struct ddio_env *env, struct ddio_stream *stream,
		     const struct ddio_conn_opts *opts, const struct ddio_conn_ops *ops, void *ctx,
		     struct ddio_conn **conn);
/* Returns true if it was given up because what came did not match its checksum. */
bool ddio_conn_mismatched(const struct ddio_conn *conn);
int ddio_conn_welcome(struct ddio_conn *conn, const struct ddio_msg_welcome *welcome);
/* Sends REFUSE and ends in closed(). */
void ddio_conn_refuse(struct ddio_conn *conn, uint32_t status, const char *text);

/* Gives the connection another user on the same reactor, also inside a callback: what has been read and not told goes to that one. */
void ddio_conn_set_ops(struct ddio_conn *conn, const struct ddio_conn_ops *ops, void *ctx);
/* Hand a connection over to another reactor, between hello() and ddio_conn_welcome(). */
void ddio_conn_detach(struct ddio_conn *conn);
int ddio_conn_attach(struct ddio_env *env, struct ddio_conn *conn, const struct ddio_conn_ops *ops,
		     void *ctx);

/**
 * struct ddio_send - one message's bulk on its way out; the caller owns the memory
 * @done: the bulk may be used again (0: handed to the stream, else -errno); called from the loop;
 *	may be NULL
 */
struct ddio_send {
	void (*done)(struct ddio_send *send, int err);
	void *arg;
};

/**
 * ddio_conn_send - queue a message
 * @msg: opcode, flags, status, tag; version and length are filled in
 * @fixed, @fixed_len: the payload, or the fixed record in front of bulk; copied
 * @iov, @n: the bulk (or a tail), not copied; the array itself is copied
 * @send: told when the bulk may be used again; may be NULL if @n is 0, or if the bulk's memory outlives
 *	the connection
 *
 * Messages leave in order, many in one write, at the end of the reactor's turn or when enough have
 * gathered.  Return: 0, -ENOMEM, -ENOTCONN, or what ddio_msg_check() says of a message that the peer
 * would refuse; @send is not called after an error.
 */
int ddio_conn_send(struct ddio_conn *conn, const struct ddio_msg *msg, const void *fixed,
		   size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send);

/*
 * The same of bulk of which the caller knows the CRC-32C that it has to have: the message's checksum is made from that, and the
 * bulk is not looked at.  What has changed in it since is found by the peer.
 */
int ddio_conn_send_summed(struct ddio_conn *conn, const struct ddio_msg *msg, const void *fixed,
			  size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send,
			  uint32_t sum);

/*
 * Sends a reply without bulk: a status, and a payload, which is a text (for ddio_get_text()) if the status
 * is an error.  Such a reply has no bulk even if the opcode's successful reply has.
 */
int ddio_conn_reply(struct ddio_conn *conn, const struct ddio_msg *request, uint32_t status,
		    const void *fixed, size_t fixed_len);

/*
 * Discards the rest of the bulk that is being received, since its sink is gone; message() is still called
 * for it.  Without effect if no bulk is being received.
 */
void ddio_conn_discard(struct ddio_conn *conn);
/* Stops, or resumes, calls of bulk() and message(): back-pressure through TCP. */
void ddio_conn_pause(struct ddio_conn *conn, bool pause);
/* Returns how many bytes wait to be sent; how many of them are copies, that is, everything but bulk. */
size_t ddio_conn_queued(const struct ddio_conn *conn);
size_t ddio_conn_copied(const struct ddio_conn *conn);
/* Returns true if messages that are sent now have checksums. */
bool ddio_conn_sums(const struct ddio_conn *conn);
/*
 * In message(), of one with bulk: returns true if it had a checksum, which was right; @sum is then the CRC-32C of the bulk alone, as
 * the peer had it.
 */
bool ddio_conn_bulk_sum(const struct ddio_conn *conn, uint32_t *sum);
/* Returns the features that both ends know, DDIO_FEATURE_*: for codecs, see CODEC_GROWN(). */
uint32_t conn_features(const struct ddio_conn *conn);
/* Returns true if both ends want to know users. */
bool ddio_conn_users(const struct ddio_conn *conn);
/*
 * Returns DDIO_PROOF_LEN bytes that both ends of an open connection know, and that no other connection has: what is tied
 * to them cannot be played back on another one.
 */
const uint8_t *ddio_conn_tie(const struct ddio_conn *conn);
/* Return the time of the last byte received, and sent. */
uint64_t ddio_conn_last_rx(const struct ddio_conn *conn);
/* Returns when the header of the message that is being received came, 0 if there is none. */
uint64_t ddio_conn_receiving(const struct ddio_conn *conn);
uint64_t ddio_conn_last_tx(const struct ddio_conn *conn);
const char *ddio_conn_peer(const struct ddio_conn *conn);
enum conn_way ddio_conn_way(const struct ddio_conn *conn);
/* Returns this end's address, "" if it is not known; valid until the next call. */
const char *ddio_conn_local(const struct ddio_conn *conn);

/**
 * ddio_conn_close - end a connection and free it
 * @conn: the connection
 * @flush: write what is queued first, for at most a second, without the user; only for connections whose
 *	queue holds no memory of the caller's
 *
 * Pending sends end with -ECANCELED inside this call.
 */
void ddio_conn_close(struct ddio_conn *conn, bool flush);

#endif /* DDIO_CONN_H */
