// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The opening exchange: HELLO, CHALLENGE, PROOF, WELCOME, or REFUSE at any point.  Its messages are
 * written at once, not posted, so that no post is due on a reactor when the connection is handed to
 * another one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conn/conn_priv.h"
#include "env/lines.h"

uint16_t conn_opening_expected(const struct ddio_conn *c)
{
	switch (c->state) {
	case CONN_WAIT_HELLO:
		return DDIO_OP_HELLO;
	case CONN_WAIT_CHALLENGE:
		return DDIO_OP_CHALLENGE;
	case CONN_WAIT_PROOF:
		return DDIO_OP_PROOF;
	case CONN_WAIT_WELCOME:
		return DDIO_OP_WELCOME;
	default:
		return 0;
	}
}

void conn_opening_free(struct ddio_conn *c)
{
	if (!c->opening)
		return;
	free(c->opening->hello_raw);
	free(c->opening);
	c->opening = NULL;
}

int conn_opening_keep_hello(struct conn_opening *o, const void *raw, size_t len)
{
	uint8_t *copy = malloc(len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, raw, len);
	free(o->hello_raw);
	o->hello_raw = copy;
	o->hello_len = len;
	return 0;
}

static bool keyed(const struct ddio_conn *c)
{
	return c->opening->key && c->opening->key->len;
}

/* Ties the proofs to the stream that they are given on. */
static void opening_bind(struct ddio_conn *c)
{
	struct conn_opening *o = c->opening;

	o->binding_len = ddio_stream_binding(c->stream, o->binding, sizeof(o->binding))
				 ? sizeof(o->binding)
				 : 0;
}

/* Without memory the tie is random: nothing that is tied to it will be believed. */
static void opening_tie(struct ddio_conn *c)
{
	if (c->options & DDIO_OPTION_USERS && conn_tie_make(c->opening, c->tie))
		ddio_env_random(c->env, c->tie, sizeof(c->tie));
}

/* Queues a message of the exchange and writes what the stream takes. */
static void say(struct ddio_conn *c, struct conn_frame *f, uint16_t opcode, const void *payload,
		size_t len)
{
	struct ddio_msg msg = { .version = c->version, .opcode = opcode, .length = len };

	if (conn_out_push(c, &msg, payload, len, NULL, 0, NULL, NULL)) {
		conn_fail(c, f, -ENOMEM, "out of memory in the opening exchange");
		return;
	}
	conn_out_flush(c);
	if (c->out.err)
		conn_fail(c, f, c->out.err, "%s", strerror(-c->out.err));
	else
		conn_out_tell(c, f);
}

/*
 * Connector
 */
void conn_opening_connected(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_opening *o = c->opening;

	if (!keyed(c) && !ddio_stream_is_loopback(c->stream)) {
		conn_reject(c, f, DDIO_ST_AUTH,
			    "no key is configured here, so only nodes on this machine are trusted");
		return;
	}
	opening_bind(c);
	c->state = CONN_WAIT_CHALLENGE;
	say(c, f, DDIO_OP_HELLO, o->hello_raw, o->hello_len);
}

/* Finds out with which key the acceptor has signed; the connector's proof is made with the same. */
static bool either_key(struct conn_opening *o, const uint8_t proof[DDIO_PROOF_LEN])
{
	if (conn_proof_ok(o, CONN_ACCEPTOR, proof))
		return true;
	o->other = o->key->other_len;
	return o->other && conn_proof_ok(o, CONN_ACCEPTOR, proof);
}

static bool challenge_ok(struct ddio_conn *c, struct conn_frame *f,
			 const struct ddio_msg_challenge *x)
{
	if (x->version < DDIO_WIRE_MIN_VERSION || x->version > DDIO_WIRE_VERSION ||
	    x->options & ~c->opening->offered || x->features & ~c->opening->features)
		conn_reject(
			c, f, DDIO_ST_VERSION,
			"the node chose version %u, options %#x and features %#x, which were not offered",
			x->version, x->options, x->features);
	else if (x->keyed && !keyed(c))
		conn_reject(c, f, DDIO_ST_AUTH,
			    "the node requires the cluster's key, and the connector has none");
	else if (!x->keyed && keyed(c))
		conn_reject(c, f, DDIO_ST_AUTH,
			    "the connector requires the cluster's key, and the node has none");
	else if (x->keyed && !either_key(c->opening, x->proof))
		conn_reject(c, f, DDIO_ST_AUTH,
			    "the node's proof is wrong: its key is not the connector's");
	else
		return true;
	return false;
}

static void got_challenge(struct ddio_conn *c, struct conn_frame *f, const void *payload,
			  size_t len)
{
	struct ddio_msg_challenge x;
	uint8_t proof[DDIO_PROOF_LEN] = { 0 };

	if (ddio_get_challenge(payload, len, &x)) {
		conn_reject(c, f, DDIO_ST_PROTOCOL, "malformed CHALLENGE");
		return;
	}
	memcpy(c->opening->challenge_raw, payload, CONN_CHALLENGE_SIGNED);
	if (!challenge_ok(c, f, &x))
		return;
	if (keyed(c) && conn_proof_make(c->opening, CONN_CONNECTOR, proof)) {
		conn_fail(c, f, -ENOMEM, "cannot compute the proof of the key");
		return;
	}
	c->version = x.version;
	c->options = x.options;
	c->features = x.features;
	c->state = CONN_WAIT_WELCOME;
	say(c, f, DDIO_OP_PROOF, proof, sizeof(proof));
}

static void got_welcome(struct ddio_conn *c, struct conn_frame *f, const void *payload, size_t len)
{
	struct ddio_msg_welcome welcome;
	int err = ddio_get_welcome(payload, len, &welcome);

	if (err) {
		conn_reject(c, f, err == -ENOMEM ? DDIO_ST_NO_MEMORY : DDIO_ST_PROTOCOL,
			    "malformed WELCOME");
		return;
	}
	opening_tie(c);
	conn_stop_timer(c);
	conn_opening_free(c);
	c->state = CONN_OPEN;
	if (c->ops->ready)
		c->ops->ready(c->ctx, &welcome);
	ddio_welcome_free(&welcome);
}

/*
 * Acceptor
 */

/* A stranger is not told the name of this cluster. */
static bool hello_ok(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg_hello *x)
{
	const char *mine = c->opening->cluster;

	if (x->max_version < DDIO_WIRE_MIN_VERSION)
		conn_reject(
			c, f, DDIO_ST_VERSION,
			"the connector speaks version %u of the protocol, the node version %u: upgrade the connector",
			x->max_version, DDIO_WIRE_MIN_VERSION);
	else if (x->min_version > DDIO_WIRE_VERSION)
		conn_reject(
			c, f, DDIO_ST_VERSION,
			"the connector speaks version %u of the protocol, the node version %u: upgrade the node",
			x->min_version, DDIO_WIRE_VERSION);
	else if (!keyed(c) && !ddio_stream_is_loopback(c->stream))
		conn_reject(c, f, DDIO_ST_AUTH, "the node has no key and serves only this machine");
	else if (mine && mine[0] && x->cluster[0] && strcmp(mine, x->cluster))
		conn_reject(c, f, DDIO_ST_INVALID, "the node is not of cluster \"%s\"", x->cluster);
	else
		return true;
	return false;
}

static void challenge(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg_hello *hello)
{
	struct conn_opening *o = c->opening;
	struct ddio_msg_challenge x = { .keyed = keyed(c) };
	uint8_t raw[CONN_CHALLENGE_SIGNED + DDIO_PROOF_LEN];

	c->version = hello->max_version < DDIO_WIRE_VERSION ? hello->max_version
							    : DDIO_WIRE_VERSION;
	x.version = c->version;
	x.options = hello->options & o->offered;
	x.features = hello->features & o->features;
	c->options = x.options;
	c->features = x.features;
	ddio_env_random(c->env, x.nonce, sizeof(x.nonce));
	ddio_put_challenge(raw, sizeof(raw), &x);
	memcpy(o->challenge_raw, raw, sizeof(o->challenge_raw));
	opening_bind(c);
	if (keyed(c) && conn_proof_make(o, CONN_ACCEPTOR, raw + CONN_CHALLENGE_SIGNED)) {
		conn_fail(c, f, -ENOMEM, "cannot compute the proof of the key");
		return;
	}
	c->state = CONN_WAIT_PROOF;
	say(c, f, DDIO_OP_CHALLENGE, raw, sizeof(raw));
}

static void got_hello(struct ddio_conn *c, struct conn_frame *f, const void *payload, size_t len)
{
	struct ddio_msg_hello hello;

	if (len > CONN_HELLO_MAX || ddio_get_hello(payload, len, &hello))
		conn_reject(c, f, DDIO_ST_PROTOCOL, "malformed HELLO");
	else if (!hello_ok(c, f, &hello))
		return;
	else if (conn_opening_keep_hello(c->opening, payload, len))
		conn_fail(c, f, -ENOMEM, "out of memory in the opening exchange");
	else
		challenge(c, f, &hello);
}

static void got_proof(struct ddio_conn *c, struct conn_frame *f, const void *payload, size_t len)
{
	struct ddio_msg_hello hello;
	struct ddio_msg_proof x;

	if (ddio_get_proof(payload, len, &x)) {
		conn_reject(c, f, DDIO_ST_PROTOCOL, "malformed PROOF");
		return;
	}
	if (keyed(c) && !conn_proof_ok(c->opening, CONN_CONNECTOR, x.proof)) {
		conn_reject(c, f, DDIO_ST_AUTH,
			    "the connector's proof is wrong: its key is not the node's");
		return;
	}
	if (conn_in_pending(c)) {
		conn_reject(c, f, DDIO_ST_PROTOCOL, "message before WELCOME");
		return;
	}
	c->state = CONN_WAIT_USER;
	ddio_get_hello(c->opening->hello_raw, c->opening->hello_len, &hello);
	/* Inside, the user may answer, end the exchange or hand the connection over. */
	c->ops->hello(c->ctx, &hello);
}

int ddio_conn_welcome(struct ddio_conn *c, const struct ddio_msg_welcome *given)
{
	struct ddio_msg msg = { .version = c->version, .opcode = DDIO_OP_WELCOME };
	struct ddio_msg_welcome welcome = *given;
	ssize_t len = ddio_put_welcome(NULL, 0, &welcome);
	uint8_t *raw;
	int err;

	/* Of so many disks a client hears by ENDED only. */
	if (len > (ssize_t)ddio_opcode_limit(DDIO_OP_WELCOME, false)) {
		welcome.ends = NULL;
		len = ddio_put_welcome(NULL, 0, &welcome);
	}
	if (c->state != CONN_WAIT_USER)
		return -ENOTCONN;
	if (len > (ssize_t)ddio_opcode_limit(DDIO_OP_WELCOME, false))
		return -E2BIG;
	raw = malloc(len);
	if (!raw)
		return -ENOMEM;
	msg.length = ddio_put_welcome(raw, len, &welcome);
	err = conn_out_push(c, &msg, raw, len, NULL, 0, NULL, NULL);
	free(raw);
	if (err)
		return err;
	opening_tie(c);
	conn_stop_timer(c);
	conn_opening_free(c);
	c->state = CONN_OPEN;
	conn_post(c);
	return 0;
}

/*
 * Both ends
 */
static void got_refuse(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
		       const void *payload)
{
	struct ddio_msg_refuse x;

	if (ddio_get_refuse(payload, msg->length, &x)) {
		conn_fail(c, f, -EPROTO, "malformed REFUSE");
		return;
	}
	conn_clean_text(x.text);
	if (c->state == CONN_WAIT_CHALLENGE && msg->version < DDIO_WIRE_MIN_VERSION) {
		conn_fail(
			c, f, -EPROTONOSUPPORT,
			"the node speaks version %u of the protocol, the connector version %u: upgrade the node",
			msg->version, DDIO_WIRE_MIN_VERSION);
		return;
	}
	/* A connector tells its user; an acceptor has no user yet. */
	if (c->state == CONN_WAIT_HELLO || c->state == CONN_WAIT_PROOF)
		ddio_env_log_caused(c->env, DDIO_LOG_WARN, "refused by %s: %s", c->peer, x.text);
	conn_fail(c, f, ddio_status_to_errno(x.status), "refused: %s",
		  x.text[0] ? x.text : ddio_status_text(x.status));
}

void conn_opening_message(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
			  const void *payload)
{
	switch (msg->opcode) {
	case DDIO_OP_HELLO:
		got_hello(c, f, payload, msg->length);
		break;
	case DDIO_OP_CHALLENGE:
		got_challenge(c, f, payload, msg->length);
		break;
	case DDIO_OP_PROOF:
		got_proof(c, f, payload, msg->length);
		break;
	case DDIO_OP_WELCOME:
		got_welcome(c, f, payload, msg->length);
		break;
	default:
		got_refuse(c, f, msg, payload);
		break;
	}
}

/* What a connector that speaks no TLS gets to see: a REFUSE, which all versions understand. */
int ddio_conn_tls_new(const struct ddio_key *key, bool kernel, struct ddio_tls **tls)
{
	static const char text[] =
		"the node speaks TLS only (security = tls), and the connector does not";
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .opcode = DDIO_OP_REFUSE };
	struct ddio_msg_refuse refuse = { .status = DDIO_ST_AUTH };
	uint8_t raw[DDIO_WIRE_HEADER_LEN + sizeof(refuse) + 8];
	int err = ddio_tls_new(tls);

	if (err)
		return err;
	memcpy(refuse.text, text, sizeof(text));
	msg.length = ddio_put_refuse(raw + DDIO_WIRE_HEADER_LEN, sizeof(raw) - DDIO_WIRE_HEADER_LEN,
				     &refuse);
	ddio_put_header(raw, &msg);
	ddio_conn_tls_keys(*tls, key);
	ddio_tls_set_kernel(*tls, kernel);
	err = ddio_tls_set_answer(*tls, raw, DDIO_WIRE_HEADER_LEN + msg.length);
	if (!err)
		return 0;
	ddio_tls_free(*tls);
	return err;
}
