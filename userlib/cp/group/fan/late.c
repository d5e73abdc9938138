// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that expire: finds out which members are missing.  Warnings: tells that a transfer has failed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

static uint64_t fan_timeout(const struct fan *fan)
{
	return fan->group->session->timeout_ns;
}

static void late_add(struct fan *fan, uint32_t rank)
{
	if (fan->nmissing < FAN_NAMED)
		fan->missing[fan->nmissing] = rank;
	fan->nmissing++;
}

/* Sends a LATE.  Its data: kind of the step, number of missing ranks, at most FAN_NAMED of them. */
static void late_send(struct fan *fan, uint32_t n)
{
	struct ddio_group *g = fan->group;
	uint32_t named = n < FAN_NAMED ? n : FAN_NAMED, i;
	uint8_t data[8 + 4 * FAN_NAMED];
	struct ddio_msg_fan msg = { .seq = fan->seq,
				    .kind = FAN_KIND_LATE,
				    .status = DDIO_ST_TIMEOUT,
				    .data = data,
				    .len = 8 + 4 * named };

	bytes_put32(data, fan->kind);
	bytes_put32(data + 4, n);
	for (i = 0; i < named; i++)
		bytes_put32(data + 8 + 4 * i, fan->missing[i]);
	fan_send(g, group_parent(g, g->rank), DDIO_OP_FAN_IN, &msg);
}

static int rank_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void fan_late_report(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	struct error error;
	char text[DDIO_MAX_TEXT];

	if (!fan->mine) {
		late_add(fan, g->rank);
		fan_lighten(fan);
	}
	fan->state = FAN_SENT;
	if (g->rank) {
		late_send(fan, fan->nmissing);
		return;
	}
	qsort(fan->missing, fan->nmissing < FAN_NAMED ? fan->nmissing : FAN_NAMED,
	      sizeof(fan->missing[0]), rank_cmp);
	fan_missing_text(g, fan->kind, fan->missing, fan->nmissing, text);
	error_status(&error, DDIO_ST_TIMEOUT, "%s", text);
	fan_release(fan, &error, NULL, 0);
}

/* Asks the children not heard from; one that cannot be asked is missing.  Returns how deep the tree below is. */
static unsigned int late_ask(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	struct ddio_msg_fan msg = { .seq = fan->seq, .kind = FAN_KIND_ASK, .blame = fan->kind };
	unsigned int k;
	uint32_t child;

	for (k = 0; (child = group_child(g, k)) != UINT32_MAX; k++) {
		if (fan->arrived & 1u << k)
			continue;
		/* The loss of a neighbour breaks a patient group, whatever it is doing. */
		if (fan_send(g, child, DDIO_OP_FAN_OUT, &msg) && !fan_patient(g, fan->seq)) {
			late_add(fan, child);
			fan->arrived |= 1u << k;
		}
	}
	return g->flat && k ? 1 : k;
}

bool fan_patient(struct ddio_group *group, uint64_t seq)
{
	uint64_t number = seq / STEP_NUMBERS;
	const struct order *order = order_find(group, number);

	if (order != &group->own)
		return order ? order->patient : group->patient_from != 0;
	return group->patient_from && number >= group->patient_from;
}

/* Tells all neighbours that there is a step, and they theirs. */
static void late_spread(struct fan *fan)
{
	uint64_t number = fan->seq / STEP_NUMBERS;
	struct order *order = order_find(fan->group, number);

	if (order && !fan->mine && fan->state == FAN_OPEN && number > order->awaited)
		order->awaited = number;
	if (fan->late || fan->state == FAN_OVER)
		return;
	fan->late = true;
	late_ask(fan);
	if (fan->group->rank)
		late_send(fan, 0);
}

static void late_begin(struct fan *fan)
{
	uint64_t grace;

	if (fan_patient(fan->group, fan->seq)) {
		late_spread(fan);
		return;
	}
	if (fan->late)
		return;
	fan->late = true;
	/* The deeper the tree below, the longer the answer may take. */
	grace = late_ask(fan) * (fan_timeout(fan) / 8);
	ddio_timer_arm(fan->group->session->env, &fan->timer,
		       ddio_env_now(fan->group->session->env) + grace);
	fan_advance(fan);
}

/* Counts the children that have not answered in time as missing. */
static void late_give_up(struct fan *fan)
{
	const struct ddio_group *g = fan->group;
	unsigned int k;
	uint32_t child;

	for (k = 0; (child = group_child(g, k)) != UINT32_MAX; k++) {
		if (fan->arrived & 1u << k)
			continue;
		late_add(fan, child);
		fan->arrived |= 1u << k;
		fan->gave_up = true;
	}
	fan_advance(fan);
}

static void fan_expired(void *arg)
{
	struct fan *fan = arg;

	if (fan_patient(fan->group, fan->seq)) {
		late_spread(fan);
	} else if (fan->state == FAN_SENT) {
		if (fan->group->rank && !fan->nmissing)
			late_send(fan, 0);
	} else if (fan->state == FAN_OPEN) {
		if (fan->late)
			late_give_up(fan);
		else
			late_begin(fan);
	}
}

void fan_expire_arm(struct fan *fan)
{
	struct ddio_env *env = fan->group->session->env;

	fan->timer.fn = fan_expired;
	fan->timer.arg = fan;
	/* Later steps of a turn never expire: a transfer that began may take any time. */
	if (fan->seq % STEP_NUMBERS == STEP_FIRST)
		ddio_timer_arm(env, &fan->timer, ddio_env_now(env) + fan_timeout(fan));
}

void fan_late_down(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	uint64_t seq = fan->seq;

	/* One of a file that is closed here, and first heard of by this, needs nobody else.  If it cannot be sent it has gone with the group. */
	fan_advance(fan);
	fan = fan_find(g, seq);
	if (fan && fan->state == FAN_OPEN)
		late_begin(fan);
}

static int late_take(struct fan *fan, unsigned int k, const uint8_t *data, uint32_t n)
{
	uint32_t i;

	if (fan->arrived & 1u << k)
		return -EPROTO;
	fan->arrived |= 1u << k;
	for (i = 0; i < n && i < FAN_NAMED; i++)
		late_add(fan, bytes_get32(data + 8 + 4 * i));
	if (n > FAN_NAMED)
		fan->nmissing += n - FAN_NAMED;
	if (fan->state != FAN_OPEN)
		return 0;
	if (fan->late)
		fan_advance(fan);
	else
		late_begin(fan);
	return 0;
}

/* A child of a patient group says that there is a step, which may have ended here meanwhile. */
static int late_heard(struct ddio_group *group, const struct ddio_msg_fan *msg)
{
	const struct order *order = order_find(group, msg->seq / STEP_NUMBERS);
	struct fan *fan = fan_find(group, msg->seq);

	if (msg->seq % STEP_NUMBERS != STEP_FIRST)
		return -EPROTO;
	if (!fan && order && msg->seq / STEP_NUMBERS <= order->first_ended)
		return 0;
	fan = fan_get(group, msg->seq, bytes_get32(msg->data));
	if (!fan)
		return -EPROTO;
	late_spread(fan);
	return 0;
}

int fan_late_up(struct ddio_group *group, unsigned int k, const struct ddio_msg_fan *msg)
{
	const uint8_t *data = msg->data;
	struct fan *fan;
	uint32_t n, named;

	if (msg->len < 8)
		return -EPROTO;
	n = bytes_get32(data + 4);
	named = n < FAN_NAMED ? n : FAN_NAMED;
	if (n >= group->size || msg->len != 8 + 4 * named)
		return -EPROTO;
	/* It may have ended, and the file was closed then; if not, a contribution comes. */
	if (!n && order_is_over(group, msg->seq / STEP_NUMBERS) && !fan_find(group, msg->seq))
		return 0;
	if (fan_patient(group, msg->seq))
		return n ? -EPROTO : late_heard(group, msg);
	fan = n ? fan_get(group, msg->seq, bytes_get32(data)) : fan_find(group, msg->seq);
	if (n)
		return fan ? late_take(fan, k, data, n) : -EPROTO;
	/* The verdict may be on its way down; if not, this member or one above it hurries the step. */
	if (fan && fan->state == FAN_SENT && group->rank && !fan->nmissing)
		late_send(fan, 0);
	else if (fan && fan->state == FAN_OPEN)
		late_begin(fan);
	return 0;
}

/*
 * Warnings.  A transfer that all have agreed on ends for a member when every I/O processor that has something of its share
 * has said so, and each of these is asked by one member.  If that one fails before it has asked, nobody else would hear of
 * it: the I/O processor knows nothing, and a step at the end of a transfer waits for as long as its members live.  So who
 * fails tells its neighbours in the tree, and they theirs; each passes it on once.  What comes after the end is dropped.
 *
 * A neighbour has had the verdict by then: what fails has had it from its parent, and has passed it on to its children.
 */
static int warn_send(struct ddio_group *group, uint64_t number, uint32_t to, uint16_t opcode)
{
	struct ddio_msg_fan msg = { .seq = number * STEP_NUMBERS + STEP_LAST,
				    .kind = FAN_KIND_WARN,
				    .status = DDIO_ST_CANCELLED,
				    .blame = group->rank };

	return fan_send(group, to, opcode, &msg);
}

/* Who cannot be told is lost, and finds that out by itself. */
void warn_neighbours(struct ddio_group *group, uint64_t number, uint32_t but)
{
	uint32_t parent = group_parent(group, group->rank), child;
	unsigned int k;

	if (group->rank && parent != but)
		warn_send(group, number, parent, DDIO_OP_FAN_IN);
	for (k = 0; (child = group_child(group, k)) != UINT32_MAX; k++)
		if (child != but)
			warn_send(group, number, child, DDIO_OP_FAN_OUT);
}

void warn_take(struct ddio_group *group, const struct ddio_msg_fan *msg)
{
	const struct group_user *const *u;

	for (u = group_users(group); *u; u++)
		if ((*u)->warned)
			(*u)->warned(group, msg->seq / STEP_NUMBERS, msg->rank);
}
