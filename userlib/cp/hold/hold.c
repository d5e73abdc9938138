// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The way of a session's locks to the name server.  Requests wait until it is attached, and are made again if the
 * connection was lost before their answer.  Once the name server has been out of reach for the timeout they fail,
 * and what was locked counts as lost, since others may get it now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/hold/hold.h"

#define PAUSE_FIRST_NS 10000000ull
#define PAUSE_MOST_NS 1000000000ull

enum holder_state { HOLDER_DETACHED, HOLDER_ATTACHING, HOLDER_TELLING, HOLDER_READY };

/**
 * struct holder - a session's locks
 * @mount: its number at the name server, a new one after everything was lost
 * @attached: the name server has known it; @stale: everything was lost, which it does not know yet: it is told first
 * @waiting: struct hold_ask: not yet sent; @sent: how many were and have no answer
 * @ranges: struct hold_range; @checks: struct hold_check: they wait for an answer
 * @id: of the last request that waits
 * @since: when the name server was first out of reach; 0: it is not
 * @heard: when the latest request was sent that it has answered; @patience: how long it keeps the locks of a session
 *	that is silent
 * @pause: before the next attempt, which @retry makes
 * @request: attaches, and tells again, sent at @asked; @ping: finds out whether it is there, each time that @beat is due, sent
 *	at @pinged
 * @telling: what it is being told again
 * @leaving, @left: the session is ending: the name server is being told, and has been
 */
struct holder {
	struct ddio_session *session;
	enum holder_state state;
	uint8_t mount[DDIO_GROUP_ID_LEN];
	struct ddio_list waiting;
	uint32_t sent;
	struct ddio_list ranges, checks;
	uint64_t id;
	uint64_t since, pause, heard, patience, pinged, asked;
	struct ddio_timer retry, beat;
	struct node_request request, ping;
	struct hold_range *telling;
	bool attached, stale, pinging, leaving, left;
};

static void holder_up(struct holder *h);

static bool holder_wanted(const struct holder *h)
{
	return h->sent || h->stale || !ddio_list_empty(&h->waiting) ||
	       !ddio_list_empty(&h->checks) || hold_ranges_any(&h->ranges);
}

static uint64_t holder_now(const struct holder *h)
{
	return ddio_env_now(h->session->env);
}

static void mount_choose(struct holder *h)
{
	ddio_env_random(h->session->env, h->mount, sizeof(h->mount));
	h->mount[0] |= 1;
}

/*
 * Out of reach
 */
static void ask_fail(struct hold_ask *ask, const struct reply *reply)
{
	const struct ddio_msg_fs_lock *m = &ask->msg;
	char what[DDIO_MAX_TEXT];

	snprintf(what, sizeof(what), "%.300s: %s from byte %llu on", ask->name,
		 m->type == DDIO_FS_LOCK_NONE ? "unlocking" : "locking",
		 (unsigned long long)m->start);
	reply_error(&ask->error, reply, what);
	ask->done(ask);
}

/* Ends the checks that have their answer; @all: there will be none. */
static void checks_wake(struct holder *h, bool all)
{
	struct hold_check *check, *tmp;
	struct ddio_list over;

	ddio_list_init(&over);
	ddio_list_for_each_entry_safe(check, tmp, &h->checks, link) {
		if (!all && (h->state != HOLDER_READY || check->since > h->heard))
			continue;
		ddio_list_del(&check->link);
		ddio_list_add(&check->link, &over);
	}
	while (!ddio_list_empty(&over)) {
		check = ddio_list_first(&over, struct hold_check, link);
		ddio_list_del(&check->link);
		check->done(check);
	}
}

/* Whoever waits is told why; what was locked is lost. */
static void holder_give_up(struct holder *h, const struct reply *reply)
{
	struct ddio_list failed;
	struct hold_ask *ask;

	h->state = HOLDER_DETACHED;
	h->since = 0;
	h->telling = NULL;
	hold_ranges_lose(&h->ranges);
	h->stale = h->attached;
	ddio_list_init(&failed);
	ddio_list_splice(&h->waiting, &failed);
	while (!ddio_list_empty(&failed)) {
		ask = ddio_list_first(&failed, struct hold_ask, link);
		ddio_list_del(&ask->link);
		ask_fail(ask, reply);
	}
	checks_wake(h, true);
}

static void holder_rest(struct holder *h)
{
	uint64_t most;

	if (ddio_timer_armed(&h->retry) || h->leaving)
		return;
	ddio_timer_arm(h->session->env, &h->retry, holder_now(h) + h->pause);
	/* It must not be the rest that makes the name server miss this session. */
	most = h->patience / 16 < PAUSE_MOST_NS ? h->patience / 16 : PAUSE_MOST_NS;
	h->pause = 2 * h->pause < most ? 2 * h->pause : most;
}

static bool status_unanswered(uint32_t status)
{
	return status == DDIO_ST_NODE_LOST || status == DDIO_ST_SHUTDOWN;
}

/* A request to the name server has failed.  Those that wait are made again, or fail with it. */
static void holder_failed(struct holder *h, const struct reply *reply)
{
	if (!h->since)
		h->since = holder_now(h);
	h->state = HOLDER_DETACHED;
	h->telling = NULL;
	if (!status_unanswered(reply->status) || holder_now(h) - h->since >= h->session->timeout_ns)
		holder_give_up(h, reply);
	holder_rest(h);
}

static void holder_heard(struct holder *h, uint64_t sent, uint32_t status)
{
	if (!status_unanswered(status) && sent > h->heard)
		h->heard = sent;
}

static bool holder_sure(const struct holder *h)
{
	return !hold_ranges_any(&h->ranges) || holder_now(h) - h->heard < h->patience / 4 * 3;
}

static void holder_retry(void *arg)
{
	struct holder *h = arg;

	if (holder_wanted(h))
		holder_up(h);
}

/*
 * Requests
 */
static void ask_end(struct holder *h, struct hold_ask *ask)
{
	h->since = 0;
	hold_ranges_apply(&h->ranges, ask);
	ask->done(ask);
}

static void ask_replied(struct node_request *request, const struct reply *reply)
{
	struct hold_ask *ask = request->arg;
	struct holder *h = ask->session->holder;
	const struct reply over = { .status = DDIO_ST_CANCELLED, .text = "the session is ending" };

	holder_heard(h, ask->sent, reply->status);
	h->sent--;
	checks_wake(h, false);
	if (!reply->status) {
		ask_end(h, ask);
	} else if (h->leaving || ask->session->closing) {
		ask_fail(ask, &over);
	} else if (status_unanswered(reply->status)) {
		ddio_list_add(&ask->link, &h->waiting);
		holder_failed(h, reply);
	} else {
		ask_fail(ask, reply);
	}
}

static int lock_put(struct node_request *request, const struct ddio_msg_fs_lock *msg)
{
	return request_put(request, fs_lock, msg);
}

static void ask_send(struct holder *h, struct hold_ask *ask)
{
	const struct reply full = { .status = DDIO_ST_NO_MEMORY, .text = "out of memory" };

	request_init(&ask->request, DDIO_OP_FS_LOCK_SET, ask_replied, ask);
	if (lock_put(&ask->request, &ask->msg)) {
		ask_fail(ask, &full);
		return;
	}
	h->sent++;
	ask->sent = holder_now(h);
	request_names(h->session, &ask->request);
}

/* The name server is asked now and then whether it is there, so that it does not miss this session. */
static void holder_ping(struct holder *h);

static void holder_pong(struct node_request *request, const struct reply *reply)
{
	struct holder *h = request->arg;

	holder_heard(h, h->pinged, reply->status);
	h->pinging = false;
	checks_wake(h, false);
	if (!ddio_list_empty(&h->checks))
		holder_ping(h);
}

static void holder_ping(struct holder *h)
{
	if (h->state != HOLDER_READY || h->pinging)
		return;
	h->pinging = true;
	h->pinged = holder_now(h);
	request_init(&h->ping, DDIO_OP_PING, holder_pong, h);
	request_names(h->session, &h->ping);
}

static void beat_arm(struct holder *h)
{
	if (!ddio_timer_armed(&h->beat) && !h->leaving)
		ddio_timer_arm(h->session->env, &h->beat, holder_now(h) + h->patience / 4);
}

static void holder_beat(void *arg)
{
	struct holder *h = arg;

	if (!holder_wanted(h))
		return;
	holder_ping(h);
	beat_arm(h);
}

/*
 * Attaching
 */
static void holder_ready(struct holder *h)
{
	struct hold_ask *ask;

	h->state = HOLDER_READY;
	checks_wake(h, false);
	while (h->state == HOLDER_READY && !ddio_list_empty(&h->waiting)) {
		ask = ddio_list_first(&h->waiting, struct hold_ask, link);
		ddio_list_del(&ask->link);
		ask_send(h, ask);
	}
}

static void holder_attach(struct holder *h, uint32_t flags);

static void holder_tell(struct holder *h);

static void holder_told(struct node_request *request, const struct reply *reply)
{
	struct holder *h = request->arg;
	struct hold_range *range = h->telling;

	if (status_unanswered(reply->status) || h->session->closing) {
		holder_failed(h, reply);
		return;
	}
	if (range) {
		range->told = !reply->status;
		range->lost = reply->status;
	}
	holder_tell(h);
}

/* Nothing is sent meanwhile, so no range changes that it is told of. */
static void holder_tell(struct holder *h)
{
	struct hold_range *range = hold_ranges_find(&h->ranges, NULL);
	struct ddio_msg_fs_lock msg;

	h->telling = range;
	if (!range) {
		holder_attach(h, DDIO_FS_ATTACH_TOLD);
		return;
	}
	msg = range->msg;
	msg.flags = DDIO_FS_LOCK_AGAIN;
	request_init(&h->request, DDIO_OP_FS_LOCK_SET, holder_told, h);
	lock_put(&h->request, &msg);
	request_names(h->session, &h->request);
}

/* Begins anew. */
static void holder_dropped(struct node_request *request, const struct reply *reply)
{
	struct holder *h = request->arg;

	if (status_unanswered(reply->status) || h->session->closing) {
		holder_failed(h, reply);
		return;
	}
	h->attached = false;
	h->stale = false;
	mount_choose(h);
	h->state = HOLDER_DETACHED;
	if (holder_wanted(h))
		holder_up(h);
}

/* What the name server still has for this session is of use to nobody. */
static void holder_drop(struct holder *h)
{
	request_init(&h->request, DDIO_OP_FS_DETACH, holder_dropped, h);
	request_names(h->session, &h->request);
}

static void holder_answered(struct holder *h, const struct ddio_msg_fs_attached *x)
{
	if (x->timeout_ns < h->patience)
		h->patience = x->timeout_ns;
	if (h->stale) {
		holder_drop(h);
	} else if (h->state == HOLDER_TELLING || x->known) {
		h->since = 0;
		h->pause = PAUSE_FIRST_NS;
		holder_ready(h);
	} else {
		h->state = HOLDER_TELLING;
		hold_ranges_untell(&h->ranges);
		holder_tell(h);
	}
}

static void holder_attached(struct node_request *request, const struct reply *reply)
{
	const struct reply bad = { .status = DDIO_ST_PROTOCOL,
				   .text = "malformed reply from the name server" };
	struct holder *h = request->arg;
	struct ddio_msg_fs_attached x;

	h->attached = !reply->status || (h->attached && status_unanswered(reply->status));
	holder_heard(h, h->asked, reply->status);
	if (reply->status || h->session->closing) {
		holder_failed(h, reply);
	} else if (ddio_get_fs_attached(reply->payload, reply->len, &x)) {
		holder_failed(h, &bad);
	} else {
		holder_answered(h, &x);
	}
}

static void holder_attach(struct holder *h, uint32_t flags)
{
	struct ddio_msg_fs_attach x = { .flags = flags };

	memcpy(x.mount, h->mount, sizeof(x.mount));
	request_init(&h->request, DDIO_OP_FS_ATTACH, holder_attached, h);
	request_put(&h->request, fs_attach, &x);
	h->asked = holder_now(h);
	request_names(h->session, &h->request);
}

static void holder_up(struct holder *h)
{
	if (h->state != HOLDER_DETACHED || ddio_timer_armed(&h->retry) || h->leaving)
		return;
	h->state = HOLDER_ATTACHING;
	beat_arm(h);
	holder_attach(h, 0);
}

/* An attempt to attach that is under way ends by itself. */
static void hold_lost(struct lane *lane, const struct error *error)
{
	struct ddio_session *s = lane->node->session;
	struct holder *h = s->holder;

	(void)error;
	if (!h || lane->reactor || lane->node->index != s->conf->ns_node ||
	    h->state != HOLDER_READY || s->closing)
		return;
	h->state = HOLDER_DETACHED;
	if (holder_wanted(h))
		holder_rest(h);
}

const struct lane_user hold_lane_user = { .lost = hold_lost };

/*
 * Entrances
 */
static struct holder *holder_get(struct ddio_session *session)
{
	struct holder *h = session->holder;

	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->session = session;
	ddio_list_init(&h->waiting);
	ddio_list_init(&h->ranges);
	ddio_list_init(&h->checks);
	h->retry.fn = holder_retry;
	h->retry.arg = h;
	h->beat.fn = holder_beat;
	h->beat.arg = h;
	h->pause = PAUSE_FIRST_NS;
	h->patience = session->timeout_ns;
	mount_choose(h);
	session->holder = h;
	return h;
}

static void hold_submit(struct hold_ask *ask)
{
	struct holder *h = holder_get(ask->session);

	if (!h) {
		error_set(&ask->error, -ENOMEM, "%s: locks: out of memory", ask->name);
		ask->done(ask);
		return;
	}
	ask->msg.id = ++h->id;
	if (h->state == HOLDER_READY) {
		beat_arm(h);
		ask_send(h, ask);
		return;
	}
	ddio_list_add(&ask->link, &h->waiting);
	holder_up(h);
}

void hold_begin(struct hold_ask *ask)
{
	error_clear(&ask->error);
	ask->lost = false;
	hold_submit(ask);
}

void hold_check(struct ddio_session *session, struct hold_check *check)
{
	struct holder *h = session->holder;

	if (!h || h->leaving || holder_sure(h)) {
		check->done(check);
		return;
	}
	check->since = holder_now(h);
	ddio_list_add(&check->link, &h->checks);
	holder_ping(h);
}

bool hold_missed(const struct ddio_session *session, uint64_t ino)
{
	return session->holder && hold_ranges_missed(&session->holder->ranges, ino);
}

static void drop_next(struct hold_ask *ask);

/* What cannot be given back now is lost, and given back by the name server in the end. */
static void drop_done(struct hold_ask *ask)
{
	if (ask->error.status)
		hold_ranges_apply(&ask->session->holder->ranges, ask);
	drop_next(ask);
}

static void drop_next(struct hold_ask *ask)
{
	struct holder *h = ask->session->holder;
	struct hold_range *range = h ? hold_ranges_find(&h->ranges, ask->by) : NULL;

	if (!range) {
		ask->dropped(ask);
		return;
	}
	ask->msg = range->msg;
	ask->msg.type = DDIO_FS_LOCK_NONE;
	if (range->lost) {
		hold_ranges_apply(&h->ranges, ask);
		drop_next(ask);
		return;
	}
	ask->done = drop_done;
	hold_begin(ask);
}

void hold_drop(struct hold_ask *ask)
{
	drop_next(ask);
}

static void holder_left(struct node_request *request, const struct reply *reply)
{
	(void)reply;
	((struct holder *)request->arg)->left = true;
}

bool hold_leave(struct ddio_session *session)
{
	struct holder *h = session->holder;

	if (!h || (h->state != HOLDER_READY && !h->leaving))
		return false;
	if (!h->leaving) {
		h->leaving = true;
		request_init(&h->request, DDIO_OP_FS_DETACH, holder_left, h);
		request_names(session, &h->request);
	}
	return !h->left;
}

void hold_end(struct ddio_session *session)
{
	const struct reply over = { .status = DDIO_ST_CANCELLED, .text = "the session is ending" };
	struct holder *h = session->holder;

	if (!h)
		return;
	h->leaving = true;
	ddio_timer_cancel(session->env, &h->retry);
	ddio_timer_cancel(session->env, &h->beat);
	holder_give_up(h, &over);
}

void hold_free(struct ddio_session *session)
{
	if (session->holder)
		hold_ranges_free(&session->holder->ranges);
	free(session->holder);
	session->holder = NULL;
}
