// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

static void fan_free(struct fan *fan)
{
	fan_come(fan);
	fan->group->nclosed -= fan->closed;
	ddio_timer_cancel(fan->group->session->env, &fan->timer);
	ddio_list_del(&fan->link);
	ddio_hash_del(&fan->group->fans_by_seq, &fan->node);
	fan_lighten(fan);
	fan_why_free(fan);
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

/* Frees a step that is over; of one that failed without all children what they still send is dropped. */
static void fan_forgo(struct fan *fan)
{
	if (fan->gave_up || !fan_heard_all(fan))
		ended_add(fan->group, fan->seq);
	fan_free(fan);
}

static void fan_note_first(const struct fan *fan)
{
	uint64_t number = fan->seq / STEP_NUMBERS;
	struct order *order = order_find(fan->group, number);

	if (order && fan->seq % STEP_NUMBERS == STEP_FIRST && number > order->first_ended)
		order->first_ended = number;
}

static void fan_end(struct fan *fan, const struct error *error, const void *data, size_t len)
{
	void (*done)(void *, const struct error *, const void *, size_t) = fan->done;
	void *arg = fan->arg;

	fan_note_first(fan);
	fan_forgo(fan);
	done(arg, error, data, len);
}

struct fan *fan_find(struct ddio_group *group, uint64_t seq)
{
	return ddio_hash_entry(ddio_hash_find(&group->fans_by_seq, seq), struct fan, node);
}

/* @order: that of which it is ahead; NULL: this member comes to it at once. */
static struct fan *fan_new(struct ddio_group *group, uint64_t seq, uint32_t kind,
			   struct order *order)
{
	struct fan *fan = calloc(1, sizeof(*fan));

	if (!fan)
		return NULL;
	fan->group = group;
	fan->seq = seq;
	fan->kind = kind;
	fan_await(fan, order);
	ddio_list_add(&fan->link, &group->fans);
	ddio_hash_add(&group->fans_by_seq, &fan->node, seq);
	fan_expire_arm(fan);
	session_watch(group->session);
	return fan;
}

/*
 * Steps in which this member takes no more part than to say so: it has closed their file
 */
static void nobody_told(void *arg, const struct error *error, const void *data, size_t len)
{
	(void)arg;
	(void)error;
	(void)data;
	(void)len;
}

/* Has this member take part only to say that it has closed the file. */
static void fan_leave(struct fan *fan)
{
	char text[DDIO_MAX_TEXT];

	fan_come(fan);
	fan_lighten(fan);
	fan->closed = true;
	fan->group->nclosed++;
	fan->done = nobody_told;
	snprintf(text, sizeof(text), "rank %u has closed the file", fan->group->rank);
	fan_blame(fan, DDIO_ST_INVALID, fan->group->rank, text);
}

static struct fan *fan_ahead(struct ddio_group *group, uint64_t seq, uint32_t kind,
			     struct order *order)
{
	struct error error;

	if (seq / STEP_NUMBERS <= order->last + FANS_AHEAD_MAX && group->nahead < FANS_AHEAD_MAX)
		return fan_new(group, seq, kind, order);
	error_status(
		&error, DDIO_ST_TOO_BIG,
		"rank %u is too far behind the others: they have begun %u steps that it has not come to",
		group->rank, FANS_AHEAD_MAX);
	fans_full(group, &error);
	return NULL;
}

static struct fan *fan_refused(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	struct error error;
	struct fan *fan;

	if (group->nclosed >= FANS_CLOSED_MAX) {
		error_status(&error, DDIO_ST_TOO_BIG,
			     "others have begun %u steps in files that rank %u has closed",
			     FANS_CLOSED_MAX, group->rank);
		fans_full(group, &error);
		return NULL;
	}
	fan = fan_new(group, seq, kind, NULL);
	if (fan)
		fan_leave(fan);
	return fan;
}

void fans_close(struct ddio_group *group, struct ddio_list *ahead)
{
	struct fan *fan;

	while (!ddio_list_empty(ahead)) {
		group->looks++;
		fan = ddio_list_first(ahead, struct fan, ahead);
		if (fan->state == FAN_OVER) {
			fan_forgo(fan);
			continue;
		}
		fan_leave(fan);
		fan_advance(fan);
	}
}

struct fan *fan_get(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	uint64_t number = seq / STEP_NUMBERS;
	struct fan *fan = fan_find(group, seq);
	struct order *order = fan ? NULL : order_find(group, number);

	if (fan)
		return fan;
	if (order)
		return fan_ahead(group, seq, kind, order);
	return order_is_over(group, number) ? fan_refused(group, seq, kind) : NULL;
}

static void fan_decide(struct fan *fan)
{
	struct error error;

	if (fan->group->rank) {
		fan_join(fan);
		fan_send_up(fan);
		return;
	}
	fan->state = FAN_SENT;
	fan_why_get(fan, &error);
	if (error.status || !fan->root)
		fan_release(fan, &error, NULL, 0);
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
		fan->state = FAN_OVER;
		fan_lighten(fan);
		fan_why_set(fan, copy.status, copy.text);
		fan_weigh(fan);
	}
}

static struct fan *fan_begin_get(struct ddio_group *group, uint64_t seq, uint32_t kind)
{
	struct error error;
	struct fan *fan;

	if (group->broken.status)
		return NULL;
	fan = fan_find(group, seq);
	if (!fan)
		fan = fan_new(group, seq, kind, NULL);
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
	fan_come(fan);
	fan->root = in->root;
	fan->done = in->done;
	fan->arg = in->arg;
	if (fan->state == FAN_OVER) {
		fan_why_get(fan, &verdict);
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
	} else if (!fan->closed) {
		fan_compare(fan, msg->rank, msg->kind, data + 4, cmp);
		fan_gather(fan, msg->rank, data + 4 + cmp, msg->len - 4 - cmp);
	}
	if (fan_weigh(fan))
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
	if (ended_has(group, msg->seq))
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
			fan_forgo(fan);
	}
	while (!ddio_list_empty(&mine))
		fan_end(ddio_list_first(&mine, struct fan, link), error, NULL, 0);
}

/*
 * As users of groups
 */
/* By the connection all hear of why the group is broken. */
static int fan_said(const struct ddio_group *group, int err)
{
	return group->broken.status ? 0 : err;
}

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
	return group->broken.status ? 0 : fan_said(group, take(group, &msg));
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
	if (msg.status || memcmp(msg.group, group->id, sizeof(msg.group)))
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
	return err ? err : fan_said(group, fan_count_up(group, &msg, sent));
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
	.free = ended_free,
	.free_link = link_past_free,
};
