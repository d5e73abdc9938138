// SPDX-License-Identifier: LGPL-2.1-or-later
/* How a connection ends, and what else all its parts call. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conn/conn_priv.h"
#include "env/lines.h"

void conn_post(struct ddio_conn *c)
{
	if (c->posted)
		return;
	c->posted = true;
	ddio_env_post(c->env, &c->post);
}

void conn_stop_timer(struct ddio_conn *c)
{
	if (ddio_timer_armed(&c->timer))
		ddio_timer_cancel(c->env, &c->timer);
}

int conn_start_timer(struct ddio_conn *c, uint64_t ns)
{
	return ddio_timer_arm(c->env, &c->timer, ddio_env_now(c->env) + ns);
}

void conn_drop_stream(struct ddio_conn *c)
{
	if (c->stream)
		ddio_stream_close(c->stream);
	c->stream = NULL;
}

void conn_clean_text(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void conn_end(struct ddio_conn *c, struct conn_frame *f, int err, const char *why)
{
	c->state = CONN_CLOSED;
	conn_stop_timer(c);
	conn_drop_stream(c);
	conn_out_cancel(c, err ? err : -ECONNRESET);
	if (!f->gone && !c->zombie)
		c->ops->closed(c->ctx, err, why);
}

void conn_fail(struct ddio_conn *c, struct conn_frame *f, int err, const char *fmt, ...)
{
	char why[CONN_WHY];
	va_list ap;
	int n;

	if (conn_dead(c, f))
		return;
	n = snprintf(why, sizeof(why), "%s: ", c->peer);
	va_start(ap, fmt);
	vsnprintf(why + n, sizeof(why) - n, fmt, ap);
	va_end(ap);
	conn_end(c, f, err, why);
}

void conn_lost(struct ddio_conn *c, struct conn_frame *f, int err, const char *doing)
{
	const char *why = ddio_stream_why(c->stream);

	if (conn_dead(c, f))
		return;
	if (!why[0]) {
		conn_fail(c, f, err, "%s%s", doing, strerror(-err));
		return;
	}
	ddio_env_log_caused(c->env, DDIO_LOG_WARN,
			    c->state == CONN_OPEN ? "%s: %s: the connection is given up"
						  : "refused %s: %s",
			    c->peer, why);
	conn_fail(c, f, err, "%s", why);
}

/* Queues the REFUSE that tells the peer why. */
static void conn_say_refuse(struct ddio_conn *c, uint32_t status, const char *text)
{
	struct ddio_msg msg = { .version = c->version, .opcode = DDIO_OP_REFUSE };
	struct ddio_msg_refuse refuse = { .status = status };
	uint8_t raw[sizeof(refuse) + 8];

	snprintf(refuse.text, sizeof(refuse.text), "%s", text);
	msg.length = ddio_put_refuse(raw, sizeof(raw), &refuse);
	conn_out_push(c, &msg, raw, msg.length, NULL, 0, NULL, NULL);
}

void conn_begin_end(struct ddio_conn *c, uint32_t status, const char *text)
{
	if (asprintf(&c->why, "%s: %s", c->peer, text) < 0)
		c->why = NULL;
	c->end_err = ddio_status_to_errno(status);
	c->state = CONN_ENDING;
	if (!c->out.err)
		conn_say_refuse(c, status, text);
	ddio_stream_want_read(c->stream, false);
	if (!ddio_timer_armed(&c->timer))
		conn_start_timer(c, CONN_LAST_WORDS_NS);
}

void conn_ended(struct ddio_conn *c, struct conn_frame *f)
{
	conn_end(c, f, c->end_err, c->why ? c->why : c->peer);
}

void conn_try_end(struct ddio_conn *c, struct conn_frame *f)
{
	if (!c->out.err)
		conn_out_flush(c);
	if (c->out.err || !c->out.queued)
		conn_ended(c, f);
}

void conn_reject(struct ddio_conn *c, struct conn_frame *f, uint32_t status, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;

	if (conn_dead(c, f))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	conn_clean_text(text);
	ddio_env_log_caused(c->env, DDIO_LOG_WARN, "refused %s: %s", c->peer, text);
	if (c->out.queued) {
		/* Bytes are queued only because the peer does not read: a REFUSE would not arrive either. */
		conn_fail(c, f, ddio_status_to_errno(status), "%s", text);
		return;
	}
	conn_out_tell(c, f);
	if (conn_dead(c, f))
		return;
	conn_begin_end(c, status, text);
	conn_try_end(c, f);
}
