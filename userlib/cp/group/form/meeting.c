// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rank 0 gathers the addresses of all members and sends each those of its neighbours. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/form/meeting.h"
#include "cp/node/whose.h"

#define OF_ANOTHER "the group is another user's"

/* Guests have what they came for and should leave; their timers see to it. */
static void meeting_dismiss(const struct group_meeting *m)
{
	struct ddio_session *s = m->session;
	struct stranger *st;

	ddio_list_for_each_entry(st, &s->groups->strangers, link) {
		if (st->meeting != m)
			continue;
		st->meeting = NULL;
		st->greeted = false;
		st->stays = m->flat && !m->error.status && st->rank;
		memcpy(st->hello.group, m->id, sizeof(st->hello.group));
		ddio_timer_arm(s->env, &st->timer, ddio_env_now(s->env) + s->timeout_ns);
	}
}

static void meeting_end(struct group_meeting *m)
{
	m->over = true;
	ddio_timer_cancel(m->session->env, &m->timer);
	meeting_dismiss(m);
	if (m->done)
		m->done(m);
}

/* Ends the meeting with an error, which every guest is sent. */
static void meeting_fail(struct group_meeting *m, uint32_t status, const char *text)
{
	struct ddio_msg request = { .opcode = DDIO_OP_GROUP_JOIN };
	struct stranger *st;

	if (m->over)
		return;
	error_status(&m->error, status, "%s", text);
	ddio_list_for_each_entry(st, &m->session->groups->strangers, link)
		if (st->meeting == m)
			ddio_conn_reply(st->conn, &request, status, text, strlen(text));
	meeting_end(m);
}

static void meeting_late(void *arg)
{
	struct group_meeting *m = arg;
	char text[DDIO_MAX_TEXT];
	uint32_t r, named = 0;
	int at;

	/* They wait for this process's own call. */
	if (m->arrived == m->size)
		return;
	at = snprintf(text, sizeof(text),
		      "of the %u members of the group, these ranks did not come:", m->size);
	for (r = 0; r < m->size && named < 16; r++)
		if (!m->addr[r][0])
			at += snprintf(text + at, sizeof(text) - (size_t)at, "%s %u",
				       named++ ? "," : "", r);
	if (m->size - m->arrived > named)
		snprintf(text + at, sizeof(text) - (size_t)at, " and %u more",
			 m->size - m->arrived - named);
	meeting_fail(m, DDIO_ST_TIMEOUT, text);
}

static int send_near(struct group_meeting *m, struct stranger *guest)
{
	struct ddio_msg_group_table table = { .size = m->size };
	struct ddio_msg msg = { .opcode = DDIO_OP_GROUP_TABLE };
	struct ddio_group_addr entry[NEAR_MAX];
	uint32_t near[NEAR_MAX], i;
	uint8_t buf[sizeof(entry) + 64];
	ssize_t len;

	memcpy(table.group, m->id, sizeof(table.group));
	table.n = m->flat ? addrs_stay(guest->rank, near) : addrs_near(guest->rank, m->size, near);
	table.entry = entry;
	for (i = 0; i < table.n; i++) {
		entry[i].rank = near[i];
		memcpy(entry[i].addr, m->addr[near[i]], sizeof(entry[i].addr));
	}
	len = ddio_put_group_table(buf, sizeof(buf), &table);
	return len < 0 ? (int)len
		       : ddio_conn_send(guest->conn, &msg, buf, (size_t)len, NULL, 0, NULL);
}

/* A guest that is not reached finds out when its connection ends. */
static void meeting_send_tables(struct group_meeting *m)
{
	struct stranger *st;

	m->flat = m->size <= m->session->groups->flat_most;
	ddio_list_for_each_entry(st, &m->session->groups->strangers, link)
		if (st->meeting == m && st->rank)
			send_near(m, st);
	meeting_end(m);
}

static int arrive_check(struct group_meeting *m, const struct ddio_msg_group_join *join,
			char text[DDIO_MAX_TEXT])
{
	if (join->size != m->size)
		snprintf(text, DDIO_MAX_TEXT, "rank %u says the group has %u members, rank 0 %u",
			 join->rank, join->size, m->size);
	else if (!join->rank)
		snprintf(text, DDIO_MAX_TEXT, "two members claim rank 0");
	else if (m->addr[join->rank][0])
		snprintf(text, DDIO_MAX_TEXT, "two members claim rank %u", join->rank);
	else
		return 0;
	return -EINVAL;
}

int meeting_arrive(struct stranger *guest, const struct ddio_msg *msg, const void *payload)
{
	struct group_meeting *m = guest->meeting;
	struct ddio_msg_group_join join;
	char text[DDIO_MAX_TEXT];
	int err = ddio_get_group_join(payload, msg->length, &join);

	if (err)
		return err;
	if (guest->rank || !join.addr[0])
		return -EPROTO;
	if (whose_matters(guest->conn, m->by_addr) && !guest->same) {
		ddio_conn_reply(guest->conn, msg, DDIO_ST_PERMISSION, OF_ANOTHER,
				strlen(OF_ANOTHER));
		return 0;
	}
	if (arrive_check(m, &join, text)) {
		meeting_fail(m, DDIO_ST_INVALID, text);
		return 0;
	}
	guest->rank = join.rank;
	memcpy(m->addr[join.rank], join.addr, sizeof(join.addr));
	addr_settle(m->addr[join.rank], ddio_conn_peer(guest->conn));
	/* What comes by the connections that stay is for the group, which is made then. */
	if (++m->arrived == m->size && m->done)
		meeting_send_tables(m);
	return 0;
}

void meeting_left(struct stranger *guest)
{
	struct group_meeting *m = guest->meeting;

	if (!guest->rank)
		return;
	m->addr[guest->rank][0] = '\0';
	m->arrived--;
}

static const uint8_t unknown[DDIO_GROUP_ID_LEN];

/* By address, guests know no group. */
struct group_meeting *meeting_of(const struct groups *groups, const uint8_t id[DDIO_GROUP_ID_LEN])
{
	struct group_meeting *m;

	ddio_list_for_each_entry(m, &groups->meetings, link)
		if (!m->over && !memcmp(id, m->by_addr ? unknown : m->id, DDIO_GROUP_ID_LEN))
			return m;
	return NULL;
}

static bool one_by_addr(const struct groups *groups)
{
	const struct group_meeting *m;

	ddio_list_for_each_entry(m, &groups->meetings, link)
		if (m->by_addr)
			return true;
	return false;
}

int meeting_begin(struct ddio_session *session, uint32_t size, bool by_addr, const char *own,
		  struct group_meeting **result, struct error *error)
{
	struct group_meeting *m;

	if (by_addr && one_by_addr(session->groups)) {
		error_set(error, -EBUSY, "this session is forming another group by address");
		return -EBUSY;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		goto no_memory;
	m->addr = calloc(size, sizeof(*m->addr));
	if (!m->addr)
		goto free_meeting;
	m->session = session;
	m->size = size;
	m->by_addr = by_addr;
	m->arrived = 1;
	snprintf(m->addr[0], sizeof(m->addr[0]), "%s", own);
	ddio_env_random(session->env, m->id, sizeof(m->id));
	m->timer.fn = meeting_late;
	m->timer.arg = m;
	ddio_timer_arm(session->env, &m->timer, ddio_env_now(session->env) + session->timeout_ns);
	ddio_list_add(&m->link, &session->groups->meetings);
	*result = m;
	return 0;
free_meeting:
	free(m);
no_memory:
	error_set(error, -ENOMEM, "out of memory");
	return -ENOMEM;
}

void meeting_wait(struct group_meeting *m, void (*done)(struct group_meeting *meeting), void *arg)
{
	struct ddio_env *env = m->session->env;

	m->done = done;
	m->arg = arg;
	/* It has passed while all were here, and some may have left. */
	if (!m->over && !ddio_timer_armed(&m->timer))
		ddio_timer_arm(env, &m->timer, ddio_env_now(env) + m->session->timeout_ns);
	if (!m->over && m->arrived == m->size)
		meeting_send_tables(m);
	else if (m->over)
		done(m);
}

void meeting_free(struct group_meeting *m)
{
	ddio_timer_cancel(m->session->env, &m->timer);
	if (!m->over)
		meeting_dismiss(m);
	ddio_list_del(&m->link);
	free(m->addr);
	free(m);
}
