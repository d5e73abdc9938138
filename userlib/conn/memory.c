// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections between processes of one machine go through memory, once they have been used for a while.  The connector asks
 * for it (MEMORY), the acceptor offers it by the connector's mailbox; then each end says by TCP that it moves (MOVED), and
 * what it says after that, it says through the memory, without checksums.  If any of this fails before the connector has
 * moved, all stays as it was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conn/conn_priv.h"
#include "env/local/memory.h"

static int say(struct ddio_conn *c, uint16_t opcode, uint32_t flags, uint32_t status,
	       const void *payload, size_t len)
{
	struct ddio_msg msg = { .version = c->version,
				.opcode = opcode,
				.flags = flags,
				.status = status,
				.length = len };
	int err = conn_out_push(c, &msg, payload, len, NULL, 0, NULL, NULL);

	if (!err)
		conn_post(c);
	return err;
}

static void box_close(struct ddio_conn *c)
{
	if (!c->box)
		return;
	ddio_mailbox_close(c->box);
	free(c->box);
	c->box = NULL;
}

/*
 * Connector
 */
static int ask(struct ddio_conn *c)
{
	struct ddio_msg_memory x = { 0 };
	uint8_t raw[128];
	ssize_t len;
	int err;

	c->box = calloc(1, sizeof(*c->box));
	if (!c->box)
		return -ENOMEM;
	err = ddio_mailbox_open(c->env, c->box);
	if (err)
		return err;
	memcpy(x.token, c->box->token, sizeof(x.token));
	memcpy(x.name, c->box->name, sizeof(x.name));
	len = ddio_put_memory(raw, sizeof(raw), &x);
	return len < 0 ? (int)len : say(c, DDIO_OP_MEMORY, 0, 0, raw, (size_t)len);
}

void conn_memory_ask(struct ddio_conn *c)
{
	c->memory = MEMORY_NEVER;
	if (!(c->options & DDIO_OPTION_MEMORY) || !ddio_memory_possible(c->stream))
		return;
	if (ask(c))
		box_close(c);
	else
		c->memory = MEMORY_ASKED;
}

/* What is said after this goes through the memory. */
static int move(struct ddio_conn *c)
{
	int err = say(c, DDIO_OP_MOVED, 0, 0, NULL, 0);

	if (err)
		return err;
	ddio_memory_write(c->stream, c->out.queued);
	c->out.moved = true;
	return 0;
}

static int answered(struct ddio_conn *c, uint32_t status)
{
	int err;

	if (c->memory != MEMORY_ASKED)
		return -EPROTO;
	err = status ? -EOPNOTSUPP : ddio_memory_take(&c->stream, c->box);
	box_close(c);
	c->memory = MEMORY_NEVER;
	if (err || move(c))
		return 0;
	c->memory = MEMORY_MOVING;
	return 0;
}

/*
 * Acceptor
 */
static int asked(struct ddio_conn *c, const void *payload, size_t len)
{
	struct ddio_msg_memory x;
	int err = ddio_get_memory(payload, len, &x);

	if (err || c->memory != MEMORY_MAY)
		return err ? err : -EPROTO;
	err = ddio_memory_offer(&c->stream, x.name, x.token);
	c->memory = err ? MEMORY_NEVER : MEMORY_OFFERED;
	return say(c, DDIO_OP_MEMORY, DDIO_WIRE_REPLY, err ? DDIO_ST_UNSUPPORTED : DDIO_ST_OK, NULL,
		   0);
}

/* Nothing may have come after the other's last message by TCP. */
static int moved(struct ddio_conn *c)
{
	bool offered = c->memory == MEMORY_OFFERED;

	if ((!offered && c->memory != MEMORY_MOVING) || c->in.head != c->in.tail)
		return -EPROTO;
	c->memory = MEMORY_MOVED;
	c->in.moved = true;
	ddio_memory_read(c->stream);
	return offered ? move(c) : 0;
}

void conn_memory_message(struct ddio_conn *c, struct conn_frame *f, const struct ddio_msg *msg,
			 const void *payload)
{
	int err;

	if (!(c->options & DDIO_OPTION_MEMORY))
		err = -EPROTO;
	else if (msg->opcode == DDIO_OP_MOVED)
		err = moved(c);
	else if (msg->flags & DDIO_WIRE_REPLY)
		err = answered(c, msg->status);
	else
		err = asked(c, payload, msg->length);
	if (err)
		conn_reject(c, f, ddio_status_from_errno(err), "%s: %s",
			    ddio_opcode_name(msg->opcode), strerror(-err));
}

void conn_memory_free(struct ddio_conn *c)
{
	box_close(c);
}
