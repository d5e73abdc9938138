// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

/* Bounds what a member that runs ahead can make the others remember. */
enum { FANS_MAX = 4096 };

/* From so many bytes on data are sent from where they lie, if what is compared is no longer than mostly. */
enum { FAN_LARGE = 4096, FAN_COMPARE_MAX = 1024, FAN_HEAD_MAX = 1024 };

/* Bounds what is gathered, so that the message has room for the rest. */
#define GATHER_MAX (DDIO_MAX_PAYLOAD - (64u << 10))

static void fan_free(struct fan *fan)
{
	ddio_timer_cancel(fan->group->session->env, &fan->timer);
	ddio_list_del(&fan->link);
	free(fan->compare);
	ddio_env_spare_put(fan->group->session->env, DDIO_ENV_SPARE_GATHER, fan->gather,
			   fan->gather_cap);
	free(fan);
}

static bool fan_heard_all(const struct fan *fan)
{
	const struct ddio_group *g = fan->group;
	unsigned int k;

	for (k = 0; group_child(g, k) != UINT32_MAX; k++)
		if (!(fan->arrived & 1u << k))
			return false;
	return true;
}

/* Remembers a step that failed without all children: what they still send for it is dropped. */
static void fan_remember(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	uint64_t *ended;

	if (fan_heard_all(fan) && !fan->gave_up)
		return;
	ended = realloc(g->ended, (g->nended + 1) * sizeof(*ended));
	if (!ended)
		return;
	ended[g->nended++] = fan->seq;
	g->ended = ended;
}

static bool fan_is_ended(const struct ddio_group *group, uint64_t seq)
{
	size_t i;

	for (i = group->nended; i-- > 0;)
		if (group->ended[i] == seq)
			return true;
	return false;
}

static void fan_end(struct fan *fan, const struct error *error, const void *data, size_t len)
{
	void (*done)(void *, const struct error *, const void *, size_t) = fan->done;
	void *arg = fan->arg;

	if (fan->seq % STEP_NUMBERS == STEP_FIRST &&
	    fan->seq / STEP_NUMBERS > fan->group->first_ended)
		fan->group->first_ended = fan->seq / STEP_NUMBERS;
	fan_remember(fan);
	fan_free(fan);
	done(arg, error, data, len);
}

struct fan *fan_find(struct ddio_group *group, uint64_t seq)
{
	struct fan *fan;

	ddio_list_for_each_entry(fan, &group->fans, link)
		if (fan->seq == seq)
			return fan;
	return NULL;
}

static struct fan *fan_new(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	struct fan *fan = calloc(1, sizeof(*fan));

	if (!fan)
		return NULL;
	fan->group = group;
	fan->seq = seq;
	fan->kind = kind;
	ddio_list_add(&fan->link, &group->fans);
	fan_expire_arm(fan);
	session_watch(group->session);
	return fan;
}

struct fan *fan_get(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	struct fan *fan = fan_find(group, seq);
	uint64_t last = (group->last_number + FANS_MAX / STEP_NUMBERS) * STEP_NUMBERS;

	return fan || seq > last ? fan : fan_new(group, seq, kind);
}

/*
 * Contributions
 */
static void fan_blame(struct fan *fan, uint32_t status, uint32_t rank, const char *text)
{
	if (!error_yields(fan->verdict.status, fan->verdict_rank, status, rank))
		return;
	error_status(&fan->verdict, status, "%s", text);
	fan->verdict_rank = rank;
}

static void fan_compare(struct fan *fan, uint32_t rank, uint32_t kind, const void *data, size_t len)
{
	char text[DDIO_MAX_TEXT];

	if (!fan->compare) {
		fan->compare = malloc(len ? len : 1);
		if (!fan->compare) {
			fan_blame(fan, DDIO_ST_NO_MEMORY, rank, "out of memory");
			return;
		}
		if (len)
			memcpy(fan->compare, data, len);
		fan->compare_len = len;
		fan->compare_rank = rank;
		fan->kind = kind;
		return;
	}
	if (kind == fan->kind && len == fan->compare_len &&
	    (!len || !memcmp(data, fan->compare, len)))
		return;
	if (kind != fan->kind && !fan_kinds_alike(fan->group, kind, fan->kind))
		snprintf(text, sizeof(text), "rank %u calls %s, rank %u %s", fan->compare_rank,
			 fan_kind_name(fan->group, fan->kind), rank,
			 fan_kind_name(fan->group, kind));
	else
		fan_explain(fan->group, kind, fan->compare_rank, fan->compare, fan->compare_len,
			    rank, data, len, text);
	fan_blame(fan, DDIO_ST_MISMATCH, rank, text);
}

/* The first of it is the last step's, if that had so much: fresh memory costs more than what is put into it. */
static bool gather_grow(struct fan *fan, size_t need)
{
	size_t cap = fan->gather_cap ? fan->gather_cap : 256;
	uint8_t *gather = NULL;

	if (!fan->gather)
		gather = ddio_env_spare_get(fan->group->session->env, DDIO_ENV_SPARE_GATHER, need,
					    &cap);
	if (!gather) {
		while (cap < need)
			cap *= 2;
		gather = realloc(fan->gather, cap);
	}
	if (!gather)
		return false;
	fan->gather = gather;
	fan->gather_cap = cap;
	return true;
}

static void *gather_room(struct fan *fan, size_t len)
{
	if (len > GATHER_MAX || fan->gather_len > GATHER_MAX - len)
		return NULL;
	/* Also for none at all there is a place. */
	if ((!fan->gather || fan->gather_len + len > fan->gather_cap) &&
	    !gather_grow(fan, fan->gather_len + len + 1))
		return NULL;
	fan->gather_len += len;
	return fan->gather + fan->gather_len - len;
}

static void fan_gather(struct fan *fan, uint32_t rank, const void *data, size_t len)
{
	uint8_t *room = gather_room(fan, len);

	if (room)
		memcpy(room, data, len);
	else
		fan_blame(fan, DDIO_ST_TOO_BIG, rank,
			  "the descriptions of all members together are too long");
}

static void fan_gather_own(struct fan *fan, const void *data, size_t len)
{
	size_t head = fan_join_of(fan) ? 0 : 8;
	uint8_t *room;

	if (!len)
		return;
	room = len < GATHER_MAX ? gather_room(fan, len + head) : NULL;
	if (!room) {
		fan_blame(fan, DDIO_ST_TOO_BIG, fan->group->rank,
			  "the descriptions of all members together are too long");
		return;
	}
	if (head) {
		bytes_put32(room, fan->group->rank);
		bytes_put32(room + 4, (uint32_t)len);
	}
	memcpy(room + head, data, len);
}

/* Makes what was gathered shorter, if it can. */
static void fan_join(struct fan *fan)
{
	void *(*join)(struct ddio_group *, const void *, size_t, size_t *) = fan_join_of(fan);
	size_t len;
	void *joined;

	if (!join || fan->verdict.status)
		return;
	joined = join(fan->group, fan->gather, fan->gather_len, &len);
	if (!joined)
		return;
	free(fan->gather);
	fan->gather = joined;
	fan->gather_len = len;
	fan->gather_cap = len;
}

const void *fan_gathered_all(const struct fan *fan, size_t *len)
{
	*len = fan->gather_len;
	return fan->gather;
}

bool fan_gathered(const struct fan *fan, size_t *at, uint32_t *rank, const void **data, size_t *len)
{
	size_t left = fan->gather_len - *at;

	if (left < 8)
		return false;
	*rank = bytes_get32(fan->gather + *at);
	*len = bytes_get32(fan->gather + *at + 4);
	if (*len > left - 8)
		return false;
	*data = fan->gather + *at + 8;
	*at += *len + 8;
	return true;
}

/*
 * Up and down
 */
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

/*
 * What descriptions a child and its parent remember of earlier steps; NULL without memory, or if one of them does not
 * know of it.  Both remember the same: a step fails on all that heard of it, and then the child begins anew, which it
 * tells the parent with what it sends next.
 */
static struct ddio_past *link_past(struct link *link)
{
	void **state = link_state(link, &fan_group_user);

	if (!*state && ddio_conn_features(link->conn) & DDIO_FEATURE_AGAIN)
		*state = calloc(1, sizeof(struct ddio_past));
	return *state;
}

static void link_past_free(void *state)
{
	ddio_past_clear(state);
	free(state);
}

/* The parent may not have taken what this member contributed. */
static void fan_forget(const struct ddio_group *g)
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
	return fan->gather_len >= FAN_LARGE && fan->compare_len <= FAN_COMPARE_MAX &&
	       !fan->verdict.status && !fan_join_of(fan);
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
	memcpy(msg->text, fan->verdict.text, sizeof(msg->text));
	err = fan_send_data(fan, msg);
	free(room);
	return err;
}

static void fan_send_up(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	struct ddio_msg_fan msg = { .seq = fan->seq,
				    .kind = fan->kind,
				    .status = fan->verdict.status,
				    .blame = fan->verdict_rank };
	int err;

	fan->state = FAN_SENT;
	err = fan_gathered_large(fan) ? fan_send_gathered(fan, &msg) : fan_send_copied(fan, &msg);
	if (err)
		group_lost(g, group_parent(g, g->rank), strerror(-err));
}

static void fan_decide(struct fan *fan)
{
	if (fan->group->rank) {
		fan_join(fan);
		fan_send_up(fan);
		return;
	}
	fan->state = FAN_SENT;
	if (fan->verdict.status || !fan->root)
		fan_release(fan, &fan->verdict, NULL, 0);
	else
		fan->root(fan->arg, fan);
}

void fan_advance(struct fan *fan)
{
	if (fan->state != FAN_OPEN || !fan_heard_all(fan))
		return;
	if (fan->mine && !fan->nmissing)
		fan_decide(fan);
	else if (fan->late && !fan_patient(fan->group, fan->seq))
		fan_late_report(fan);
}

/* Each child gets what is for it and those below it. */
static void fan_tell_children(const struct fan *fan, struct ddio_msg_fan *msg)
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

void fan_release(struct fan *fan, const struct error *error, const void *data, size_t len)
{
	struct ddio_msg_fan msg = { .seq = fan->seq, .kind = fan->kind, .blame = UINT32_MAX };
	struct error copy;

	error_clear(&copy);
	if (error && error->status) {
		copy = *error;
		fan_forget(fan->group);
		msg.status = copy.status;
		memcpy(msg.text, copy.text, sizeof(msg.text));
	} else {
		msg.data = data;
		msg.len = len;
	}
	fan_tell_children(fan, &msg);
	if (fan->mine) {
		fan_end(fan, &copy, data, len);
	} else {
		fan->verdict = copy;
		fan->state = FAN_OVER;
	}
}

static struct fan *fan_begin_get(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	struct error error;
	struct fan *fan;

	if (group->broken.status)
		return NULL;
	fan = fan_get(group, seq, kind);
	if (!fan) {
		error_set(&error, -ENOMEM, "out of memory");
		group_break(group, &error, group->rank, true);
	}
	return fan;
}

void fan_begin(struct ddio_group *group, uint64_t number, unsigned int step,
	       const struct fan_in *in)
{
	struct fan *fan = fan_begin_get(group, number * STEP_NUMBERS + step, in->kind);
	struct error verdict;

	if (!fan) {
		in->done(in->arg, &group->broken, NULL, 0);
		return;
	}
	fan->mine = true;
	fan->root = in->root;
	fan->done = in->done;
	fan->arg = in->arg;
	if (fan->state == FAN_OVER) {
		verdict = fan->verdict;
		fan_end(fan, &verdict, NULL, 0);
		return;
	}
	/* The list of missing ranks is on its way up: the step fails. */
	if (fan->state == FAN_SENT)
		return;
	if (in->error && in->error->status) {
		fan_blame(fan, in->error->status, group->rank, in->error->text);
	} else {
		fan_compare(fan, group->rank, in->kind, in->compare, in->compare_len);
		fan_gather_own(fan, in->gather, in->gather_len);
	}
	fan_advance(fan);
}

/* Returns the child's number, or -1 if @rank is no child. */
static int fan_child(const struct ddio_group *g, uint32_t rank)
{
	unsigned int k;
	uint32_t child;

	for (k = 0; (child = group_child(g, k)) != UINT32_MAX; k++)
		if (child == rank)
			return (int)k;
	return -1;
}

static void fan_take(struct fan *fan, const struct ddio_msg_fan *msg)
{
	const uint8_t *data = msg->data;
	size_t cmp = bytes_get32(data);

	/* A verdict without this contribution is on its way. */
	if (fan->state != FAN_OPEN)
		return;
	if (msg->status) {
		fan_blame(fan, msg->status, msg->blame, msg->text);
	} else {
		fan_compare(fan, msg->rank, msg->kind, data + 4, cmp);
		fan_gather(fan, msg->rank, data + 4 + cmp, msg->len - 4 - cmp);
	}
	fan_advance(fan);
}

static int fan_up(struct ddio_group *group, const struct ddio_msg_fan *msg)
{
	int k = fan_child(group, msg->rank);
	struct fan *fan;

	if (k < 0)
		return -EPROTO;
	if (msg->kind == FAN_KIND_WARN) {
		warn_take(group, msg);
		return 0;
	}
	if (fan_is_ended(group, msg->seq))
		return 0;
	if (msg->kind == FAN_KIND_LATE)
		return fan_late_up(group, (unsigned int)k, msg);
	fan = fan_get(group, msg->seq, msg->kind);
	if (!fan || msg->len < 4 || fan->arrived & 1u << k || bytes_get32(msg->data) > msg->len - 4)
		return -EPROTO;
	fan->arrived |= 1u << k;
	fan_take(fan, msg);
	return 0;
}

static int fan_down(struct ddio_group *group, const struct ddio_msg_fan *msg)
{
	struct fan *fan;
	struct error error;

	if (!group->rank || msg->rank != group_parent(group, group->rank))
		return -EPROTO;
	if (msg->kind == FAN_KIND_WARN) {
		warn_take(group, msg);
		return 0;
	}
	/* An ASK names the step's kind: it may be the first that is heard of the step. */
	fan = fan_get(group, msg->seq, msg->kind == FAN_KIND_ASK ? msg->blame : msg->kind);
	if (!fan)
		return -EPROTO;
	if (msg->kind == FAN_KIND_ASK) {
		fan_late_down(fan);
		return 0;
	}
	/* No step succeeds without this member's contribution. */
	if (fan->state == FAN_OVER || (!msg->status && fan->state != FAN_SENT))
		return -EPROTO;
	error_clear(&error);
	if (msg->status)
		error_status(&error, msg->status, "%s", msg->text);
	fan_release(fan, &error, msg->data, msg->len);
	return 0;
}

static bool fans_waiting(struct ddio_group *group)
{
	const struct fan *fan;

	ddio_list_for_each_entry(fan, &group->fans, link)
		if (fan->state != FAN_OVER)
			return true;
	return false;
}

static void fans_fail(struct ddio_group *group, const struct error *error)
{
	struct fan *fan, *tmp;
	struct ddio_list mine;

	ddio_list_init(&mine);
	ddio_list_for_each_entry_safe(fan, tmp, &group->fans, link) {
		ddio_list_del(&fan->link);
		if (fan->mine)
			ddio_list_add(&fan->link, &mine);
		else
			fan_free(fan);
	}
	while (!ddio_list_empty(&mine))
		fan_end(ddio_list_first(&mine, struct fan, link), error, NULL, 0);
}

/*
 * As users of groups
 */
static int fan_message(struct link *link, const void *payload, size_t len,
		       int (*take)(struct ddio_group *group, const struct ddio_msg_fan *msg))
{
	struct ddio_group *group = link->peer->group;
	struct ddio_msg_fan msg;
	int err = ddio_get_fan(payload, len, &msg);

	if (err)
		return err;
	if (memcmp(msg.group, group->id, sizeof(msg.group)))
		return -EPROTO;
	return group->broken.status ? 0 : take(group, &msg);
}

/* @sent: bytes in which the contribution came. */
static int fan_count_up(struct ddio_group *group, const struct ddio_msg_fan *msg, size_t sent)
{
	size_t others = msg->len < 4 ? 0 : 4 + (size_t)bytes_get32(msg->data);
	size_t gather = others < msg->len ? msg->len - others : 0;

	group->gathered += sent < gather ? sent : gather;
	return fan_up(group, msg);
}

static int fan_whole_up(struct ddio_group *group, const struct ddio_msg_fan *msg)
{
	return fan_count_up(group, msg, msg->len);
}

static int fan_in_message(struct link *link, const void *payload, size_t len)
{
	return fan_message(link, payload, len, fan_whole_up);
}

/* A contribution as what differs from earlier ones. */
static int fan_again_message(struct link *link, const void *payload, size_t len)
{
	static const uint8_t nothing[4];
	struct ddio_group *group = link->peer->group;
	struct ddio_past *past = link_past(link);
	struct ddio_msg_fan msg;
	int err = ddio_get_fan(payload, len, &msg);
	size_t sent = msg.len, n;

	if (err)
		return err;
	if (!(ddio_conn_features(link->conn) & DDIO_FEATURE_AGAIN) || msg.status ||
	    memcmp(msg.group, group->id, sizeof(msg.group)))
		return -EPROTO;
	if (group->broken.status)
		return 0;
	err = past ? ddio_past_get(past, msg.data, sent, &msg.data, &n) : -ENOMEM;
	msg.len = n;
	if (err == -ENOMEM) {
		/* The step fails, so the child begins anew. */
		msg.status = DDIO_ST_NO_MEMORY;
		msg.blame = group->rank;
		snprintf(msg.text, sizeof(msg.text), "out of memory");
		msg.data = nothing;
		msg.len = sizeof(nothing);
		err = 0;
	}
	return err ? err : fan_count_up(group, &msg, sent);
}

static int fan_out_message(struct link *link, const void *payload, size_t len)
{
	return fan_message(link, payload, len, fan_down);
}

static const struct link_handler fan_handlers[] = {
	{ .opcode = DDIO_OP_FAN_IN, .message = fan_in_message },
	{ .opcode = DDIO_OP_FAN_AGAIN, .message = fan_again_message },
	{ .opcode = DDIO_OP_FAN_OUT, .message = fan_out_message },
	{ .opcode = 0 },
};

static const struct step_kind fan_kinds[] = {
	{ .kind = FAN_KIND_FORM, .name = "the forming of the group" },
	{ .kind = FAN_KIND_BARRIER, .name = "a barrier" },
	{ .kind = FAN_KIND_SPLIT, .name = "a split of the group" },
	{ .kind = FAN_KIND_PATIENT, .name = "ddio_group_set_patient()" },
	{ .kind = 0 },
};

const struct group_user fan_group_user = {
	.handlers = fan_handlers,
	.kinds = fan_kinds,
	.busy = fans_waiting,
	.broken = fans_fail,
	.free_link = link_past_free,
};
