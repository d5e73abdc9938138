// SPDX-License-Identifier: LGPL-2.1-or-later
/* The messages of a step: a contribution goes up, a verdict comes down. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

/* From so many bytes on data are sent from where they lie, if what is compared is no longer than mostly. */
enum { FAN_LARGE = 4096, FAN_COMPARE_MAX = 1024, FAN_HEAD_MAX = 1024 };

int fan_send(struct ddio_group *group, uint32_t to, uint16_t opcode, struct ddio_msg_fan *msg)
{
	ssize_t len;
	uint8_t small[1024], *buf = small;
	int err;

	memcpy(msg->group, group->id, sizeof(msg->group));
	msg->rank = group->rank;
	len = ddio_put_fan(NULL, 0, msg);
	if (len < 0)
		return (int)len;
	if ((size_t)len > sizeof(small))
		buf = malloc((size_t)len);
	if (!buf)
		return -ENOMEM;
	ddio_put_fan(buf, (size_t)len, msg);
	err = peer_send(group, to, opcode, buf, (size_t)len);
	if (buf != small)
		free(buf);
	return err;
}

/* The same, for data in memory of their own, which is taken over. */
static int fan_send_owned(struct ddio_group *group, uint32_t to, uint16_t opcode,
			  struct ddio_msg_fan *msg, void *owned)
{
	uint8_t head[FAN_HEAD_MAX];
	ssize_t n = -EMSGSIZE;

	memcpy(msg->group, group->id, sizeof(msg->group));
	msg->rank = group->rank;
	if (msg->len >= FAN_LARGE)
		n = ddio_put_fan_head(head, sizeof(head), msg);
	if (n >= 0)
		return peer_send_owned(group, to, opcode, head, (size_t)n, owned, msg->data,
				       msg->len);
	n = fan_send(group, to, opcode, msg);
	free(owned);
	return (int)n;
}

struct ddio_past *link_past(struct link *link)
{
	void **state = link_state(link, &fan_group_user);

	if (!*state)
		*state = calloc(1, sizeof(struct ddio_past));
	return *state;
}

void link_past_free(void *state)
{
	ddio_past_clear(state);
	free(state);
}

void fan_forget(const struct ddio_group *g)
{
	struct link *link =
		g->rank ? peer_neighbour((struct ddio_group *)g, group_parent(g, g->rank)) : NULL;
	struct ddio_past *past = link ? *link_state(link, &fan_group_user) : NULL;

	if (past)
		ddio_past_clear(past);
}

/* Sends a contribution; there is a byte of room in front of its data.  Descriptions are mostly those of an earlier step. */
static int fan_send_data(const struct fan *fan, struct ddio_msg_fan *msg)
{
	uint32_t parent = group_parent(fan->group, fan->group->rank);
	struct link *link = peer_neighbour(fan->group, parent);
	struct ddio_past *past = NULL;
	struct ddio_past_code code;

	if (link && !msg->status && fan_join_of(fan) && !fan_is_fresh(fan))
		past = link_past(link);
	if (!past)
		return fan_send(fan->group, parent, DDIO_OP_FAN_IN, msg);
	ddio_past_put(past, msg->data, msg->len, &code);
	if (code.whole) {
		uint8_t *data = (uint8_t *)msg->data - code.len;

		memcpy(data, code.bytes, code.len);
		msg->data = data;
		msg->len += code.len;
	} else {
		msg->data = code.bytes;
		msg->len = code.len;
	}
	return fan_send(fan->group, parent, DDIO_OP_FAN_AGAIN, msg);
}

/* Much that is not joined leaves from where it was gathered. */
static bool fan_gathered_large(const struct fan *fan)
{
	return fan->gather_len >= FAN_LARGE && fan->compare_len <= FAN_COMPARE_MAX && !fan->why &&
	       !fan_join_of(fan);
}

static int fan_send_gathered(struct fan *fan, struct ddio_msg_fan *msg)
{
	struct ddio_group *g = fan->group;
	uint8_t head[FAN_HEAD_MAX + 4 + FAN_COMPARE_MAX], *gather = fan->gather;
	size_t len = fan->gather_len;
	ssize_t n;

	memcpy(msg->group, g->id, sizeof(msg->group));
	msg->rank = g->rank;
	msg->len = 4 + fan->compare_len + len;
	n = ddio_put_fan_head(head, FAN_HEAD_MAX, msg);
	if (n < 0)
		return (int)n;
	bytes_put32(head + n, (uint32_t)fan->compare_len);
	if (fan->compare_len)
		memcpy(head + n + 4, fan->compare, fan->compare_len);
	fan->gather = NULL;
	fan->gather_len = fan->gather_cap = 0;
	return peer_send_owned(g, group_parent(g, g->rank), DDIO_OP_FAN_IN, head,
			       (size_t)n + 4 + fan->compare_len, gather, gather, len);
}

static int fan_send_copied(struct fan *fan, struct ddio_msg_fan *msg)
{
	uint8_t *room = malloc(1 + 4 + fan->compare_len + fan->gather_len), *data;
	int err;

	if (!room)
		return -ENOMEM;
	data = room + 1;
	bytes_put32(data, (uint32_t)fan->compare_len);
	if (fan->compare_len)
		memcpy(data + 4, fan->compare, fan->compare_len);
	if (fan->gather_len)
		memcpy(data + 4 + fan->compare_len, fan->gather, fan->gather_len);
	msg->data = data;
	msg->len = 4 + fan->compare_len + fan->gather_len;
	if (fan->why)
		snprintf(msg->text, sizeof(msg->text), "%s", fan->why->text);
	err = fan_send_data(fan, msg);
	free(room);
	return err;
}

void fan_send_up(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	struct ddio_msg_fan msg = { .seq = fan->seq,
				    .kind = fan->kind,
				    .status = fan->why ? fan->why->status : 0,
				    .blame = fan->why_rank };
	int err;

	fan->state = FAN_SENT;
	err = fan_gathered_large(fan) ? fan_send_gathered(fan, &msg) : fan_send_copied(fan, &msg);
	if (err)
		group_lost(g, group_parent(g, g->rank), strerror(-err));
}

void fan_tell_children(const struct fan *fan, struct ddio_msg_fan *msg)
{
	struct ddio_group *g = fan->group;
	void *(*slice)(const void *, size_t, uint32_t, uint64_t, size_t *) = fan_slice_of(fan);
	struct ddio_msg_fan part;
	unsigned int k;
	uint32_t child;
	void *data;

	for (k = 0; (child = group_child(g, k)) != UINT32_MAX; k++) {
		part = *msg;
		data = slice && msg->len ? slice(msg->data, msg->len, child,
						 group_child_end(g, child, k), &part.len)
					 : NULL;
		if (data) {
			part.data = data;
			fan_send_owned(g, child, DDIO_OP_FAN_OUT, &part, data);
		} else {
			part.len = msg->len;
			fan_send(g, child, DDIO_OP_FAN_OUT, &part);
		}
	}
}
