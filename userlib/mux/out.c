// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes of streams on their way out.  What is short is gathered, and leaves with what other streams write in the same turn: a
 * message of its own around some hundred bytes costs both ends more than these do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mux/priv.h"

/* So many bytes are worth a message of their own, which is received straight into place. */
#define OUT_LONG 4096u
#define OUT_FIRST 256u
#define OUT_PART 8u
/* Without memory for the message it is tried again. */
#define OUT_AGAIN_NS 10000000ull

/**
 * struct mux_frame - bytes on their way out
 * @parts: how many streams' are gathered here, each with a record before; @id: the first one's
 */
struct mux_frame {
	struct ddio_send send;
	uint32_t used, cap, parts, id;
	uint8_t data[];
};

static void frame_left(struct ddio_send *send, int err)
{
	(void)err;
	free(ddio_container_of(send, struct mux_frame, send));
}

static struct mux_frame *frame_new(uint32_t cap)
{
	struct mux_frame *frame = malloc(sizeof(*frame) + cap);

	if (frame)
		*frame = (struct mux_frame){ .cap = cap };
	return frame;
}

static void frame_put(struct mux_frame *frame, const struct iovec *iov, uint32_t len)
{
	size_t part;

	for (; len; len -= (uint32_t)part, iov++) {
		part = iov->iov_len < len ? iov->iov_len : len;
		memcpy(frame->data + frame->used, iov->iov_base, part);
		frame->used += (uint32_t)part;
	}
}

/* Sends what is in the frame from byte @from on: it is the connection's then. */
static int frame_send(struct ddio_mux *mux, struct mux_frame *frame, uint16_t opcode,
		      const void *record, size_t len, uint32_t from)
{
	const struct ddio_msg msg = { .opcode = opcode };
	const struct iovec bytes = { frame->data + from, frame->used - from };

	frame->send = (struct ddio_send){ .done = frame_left };
	return ddio_conn_send(mux->conn, &msg, record, len, &bytes, 1, &frame->send);
}

static int data_send(struct ddio_mux *mux, struct mux_frame *frame, uint32_t id, uint32_t from)
{
	const struct ddio_msg_mux_data x = { .id = id };
	uint8_t raw[16];

	return frame_send(mux, frame, DDIO_OP_MUX_DATA, raw,
			  (size_t)ddio_put_mux_data(raw, sizeof(raw), &x), from);
}

int mux_out_flush(struct ddio_mux *mux)
{
	struct mux_frame *frame = mux->gathered;
	int err;

	if (!frame)
		return 0;
	if (frame->parts == 1)
		err = data_send(mux, frame, frame->id, OUT_PART);
	else
		err = frame_send(mux, frame, DDIO_OP_MUX_PARTS, NULL, 0, 0);
	if (err)
		return err;
	mux->gathered = NULL;
	ddio_timer_cancel(mux->env, &mux->out_due);
	return 0;
}

static void on_due(void *arg)
{
	struct ddio_mux *mux = arg;

	/* If the connection is gone its user is about to hear of it. */
	if (mux_out_flush(mux) == -ENOMEM)
		(void)ddio_timer_arm(mux->env, &mux->out_due,
				     ddio_env_now(mux->env) + OUT_AGAIN_NS);
}

/* Returns the frame that is being filled, with room for @len bytes more, or NULL without memory. */
static struct mux_frame *gather_room(struct ddio_mux *mux, uint32_t len)
{
	struct mux_frame *frame = mux->gathered;
	uint32_t need = (frame ? frame->used : 0) + len, cap = frame ? frame->cap : OUT_FIRST;

	while (cap < need)
		cap *= 2;
	if (!frame)
		frame = frame_new(cap);
	else if (cap > frame->cap)
		frame = realloc(frame, sizeof(*frame) + cap);
	if (!frame)
		return NULL;
	frame->cap = cap;
	mux->gathered = frame;
	return frame;
}

static int gather(struct mux_stream *s, const struct iovec *iov, uint32_t len)
{
	const uint32_t id = s->id;
	const struct ddio_msg_mux_part x = { .id = id, .bytes = len };
	struct ddio_mux *mux = s->mux;
	struct mux_frame *frame = mux->gathered;
	int err = 0;

	if (frame && frame->used + OUT_PART + len > DDIO_MAX_MUX_PARTS)
		err = mux_out_flush(mux);
	if (!err && !mux->gathered)
		err = ddio_timer_arm(mux->env, &mux->out_due, ddio_env_now(mux->env));
	if (err)
		return err;
	frame = gather_room(mux, OUT_PART + len);
	if (!frame)
		return -ENOMEM;
	if (!frame->parts++)
		frame->id = id;
	frame->used += (uint32_t)ddio_put_mux_part(frame->data + frame->used, OUT_PART, &x);
	frame_put(frame, iov, len);
	return 0;
}

static int send_alone(struct mux_stream *s, const struct iovec *iov, uint32_t len)
{
	struct mux_frame *frame;
	int err = mux_out_flush(s->mux);

	if (err)
		return err;
	frame = frame_new(len);
	if (!frame)
		return -ENOMEM;
	frame_put(frame, iov, len);
	err = data_send(s->mux, frame, s->id, 0);
	if (err)
		free(frame);
	return err;
}

int mux_out_write(struct mux_stream *s, const struct iovec *iov, uint32_t len)
{
	if (len < OUT_LONG)
		return gather(s, iov, len);
	return send_alone(s, iov, len);
}

void mux_out_begin(struct ddio_mux *mux)
{
	mux->out_due.fn = on_due;
	mux->out_due.arg = mux;
}

void mux_out_free(struct ddio_mux *mux)
{
	ddio_timer_cancel(mux->env, &mux->out_due);
	free(mux->gathered);
	mux->gathered = NULL;
}
