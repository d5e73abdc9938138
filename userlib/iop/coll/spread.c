// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions that members spread.  Before such a collective begins, reactor 0 asks each member for what concerns this
 * node (COLL_TELL, COLL_TOLD), makes the map of that and checks it, and says that the node is ready.  When all nodes are,
 * the member that asked says so (COLL_GO), and only then anything moves.
 *
 * A member cannot keep a collective waiting: what it owes has a time limit, it tells once, and all of them together tell no
 * more entries than one request may have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/priv.h"
#include "proto/crowd.h"
#include "proto/past/past.h"

/* Within the time limit. */
#define SPREAD_CHECKS 4
/* What is slow but moves, and the other nodes, may take so many times the limit. */
#define SPREAD_TIMES 16

/**
 * struct spread - a collective that has not begun
 * @begin_ns: when members were asked, or, once it is @ready, when the map was made
 * @entries: told so far
 * @teller: the @n members that were asked, by rank; @missing of them have not told
 */
struct spread {
	struct ddio_list link;
	struct coll_group *group;
	struct coll_req *req;
	struct ddio_timer timer;
	uint64_t timeout_ns, begin_ns;
	bool ready;
	uint64_t entries;
	uint32_t n, missing;
	struct teller {
		uint32_t rank;
		bool told;
		struct ddio_crowd crowd;
	} teller[];
};

/* Calls @fn for each attached member that may have spread its description; returns how many there are. */
static uint32_t tellers_walk(const struct coll_req *req, const struct coll_group *group,
			     void (*fn)(struct spread *spread, uint32_t rank),
			     struct spread *spread)
{
	const struct ddio_crowd *crowd = &req->start.crowd;
	uint32_t rank = 0, found = 0, k, i;

	for (k = 0; k < crowd->n; k++) {
		uint32_t n = (uint32_t)kin_size(&crowd->kin[k]);

		for (i = 0; i < n && ddio_part_spread(crowd->kin[k].part); i++) {
			if (!coll_group_member(group, rank + i))
				continue;
			found++;
			if (fn)
				fn(spread, rank + i);
		}
		rank += n;
	}
	return found;
}

static void teller_add(struct spread *spread, uint32_t rank)
{
	spread->teller[spread->n++].rank = rank;
}

static int teller_compare(const void *key, const void *entry)
{
	uint32_t rank = *(const uint32_t *)key;
	const struct teller *t = entry;

	return rank < t->rank ? -1 : rank > t->rank;
}

static struct teller *teller_find(struct spread *spread, uint32_t rank)
{
	return bsearch(&rank, spread->teller, spread->n, sizeof(spread->teller[0]), teller_compare);
}

static struct spread *spread_find(const struct coll_group *group, uint64_t op)
{
	struct spread *spread;

	ddio_list_for_each_entry(spread, &group->spreads, link)
		if (spread->req->start.op == op)
			return spread;
	return NULL;
}

static void tellers_free(struct spread *spread)
{
	uint32_t i;

	for (i = 0; i < spread->n; i++)
		ddio_crowd_free(&spread->teller[i].crowd);
}

static void spread_free(struct spread *spread)
{
	ddio_timer_cancel(spread->group->reactor->env, &spread->timer);
	ddio_list_del(&spread->link);
	spread->group->nspreads--;
	tellers_free(spread);
	coll_req_put(spread->req);
	free(spread);
}

static void spread_end(struct spread *spread, const struct verdict *v)
{
	coll_req_refuse(spread->req, spread->group, v);
	spread_free(spread);
}

void coll_spreads_end(struct coll_group *group, uint64_t op, const struct verdict *v)
{
	struct spread *spread, *tmp;

	ddio_list_for_each_entry_safe(spread, tmp, &group->spreads, link)
		if (!op || spread->req->start.op == op)
			spread_end(spread, v);
}

static void spread_end_memory(struct spread *spread)
{
	struct verdict v;

	verdict_set(&v, DDIO_ST_NO_MEMORY, COLL_NOBODY, "no memory for the members' descriptions");
	spread_end(spread, &v);
}

/*
 * Time limits
 */
static void teller_late(struct spread *spread, struct coll_member *m)
{
	struct client *client = m->client;
	struct verdict v;

	verdict_set(&v, DDIO_ST_TIMEOUT, m->rank,
		    "rank %u of %u has not told what it wants for %llu ms (%s)", m->rank,
		    spread->group->size, (unsigned long long)(spread->timeout_ns / 1000000),
		    ddio_conn_peer(client->conn));
	spread_end(spread, &v);
	client_end(client, v.text);
}

/* Returns a member that has not told for too long, or NULL. */
static struct coll_member *late_find(const struct spread *spread, uint64_t now)
{
	uint64_t limit = spread->timeout_ns, since;
	struct coll_member *m;
	uint32_t i;

	for (i = 0; i < spread->n; i++) {
		m = spread->teller[i].told
			    ? NULL
			    : coll_group_member(spread->group, spread->teller[i].rank);
		if (!m)
			continue;
		since = ddio_conn_last_rx(m->client->conn);
		if (since < spread->begin_ns || now - spread->begin_ns >= limit * SPREAD_TIMES)
			since = spread->begin_ns;
		if (now - since >= limit)
			return m;
	}
	return NULL;
}

static void spread_arm(struct spread *spread, uint64_t now)
{
	uint64_t step = spread->timeout_ns / SPREAD_CHECKS;

	if (ddio_timer_arm(spread->group->reactor->env, &spread->timer, now + (step ? step : 1)))
		spread_end_memory(spread);
}

static void spread_watch(void *arg)
{
	struct spread *spread = arg;
	uint64_t now = ddio_env_now(spread->group->reactor->env);
	struct coll_member *late = spread->ready ? NULL : late_find(spread, now);
	struct verdict v;

	if (late) {
		teller_late(spread, late);
		return;
	}
	/* Others may still be told by members that are slow there. */
	if (spread->ready && now - spread->begin_ns >= 2 * SPREAD_TIMES * spread->timeout_ns) {
		verdict_set(&v, DDIO_ST_TIMEOUT, spread->req->asker,
			    "rank %u, which asked for this, has not said that it may begin",
			    spread->req->asker);
		spread_end(spread, &v);
		return;
	}
	spread_arm(spread, now);
}

/*
 * The map
 */
/* The members' descriptions as they are now: @n families in @room. */
struct told_kin {
	struct ddio_kin *kin;
	uint32_t n;
};

static void kin_put(struct told_kin *all, const struct ddio_part *part, uint32_t members)
{
	struct ddio_kin *kin = &all->kin[all->n];

	if (!members)
		return;
	memset(kin, 0, sizeof(*kin));
	kin->part = part;
	if (members > 1) {
		kin->rows.nlevels = 1;
		kin->rows.level[0].count = members;
	}
	all->n++;
}

/* Adds those of members from @rank on, of which only tellers, from *@t on, have any. */
static void kin_put_told(struct told_kin *all, const struct spread *spread, uint32_t rank,
			 uint32_t members, uint32_t *t)
{
	static const struct ddio_part nothing = { .kind = DDIO_PART_LIST };
	uint32_t end = rank + members;

	for (; *t < spread->n && spread->teller[*t].rank < end; ++*t) {
		const struct teller *teller = &spread->teller[*t];

		kin_put(all, &nothing, teller->rank - rank);
		kin_put(all, teller->crowd.kin[0].part, 1);
		rank = teller->rank + 1;
	}
	kin_put(all, &nothing, end - rank);
}

static int told_collect(struct told_kin *all, const struct spread *spread)
{
	const struct ddio_crowd *crowd = &spread->req->start.crowd;
	uint32_t rank = 0, t = 0, k;

	/* Each teller has a family, and there may be one before it, and one at the end. */
	all->kin = calloc(2 * ((size_t)crowd->n + spread->n), sizeof(*all->kin));
	all->n = 0;
	if (!all->kin)
		return -ENOMEM;
	for (k = 0; k < crowd->n; k++) {
		uint32_t n = (uint32_t)kin_size(&crowd->kin[k]);

		if (ddio_part_spread(crowd->kin[k].part))
			kin_put_told(all, spread, rank, n, &t);
		else
			all->kin[all->n++] = crowd->kin[k];
		rank += n;
	}
	return 0;
}

static int spread_map(struct spread *spread, struct verdict *v)
{
	struct told_kin all;
	int err;

	verdict_set(v, DDIO_ST_NO_MEMORY, COLL_NOBODY, "no memory for the members' descriptions");
	err = told_collect(&all, spread);
	if (!err)
		err = coll_req_map(spread->req, all.kin, all.n, v);
	free(all.kin);
	return err;
}

/*
 * Asking, and being told
 */
static void step_send(const struct coll_member *m, uint16_t opcode, uint64_t op)
{
	struct ddio_msg_coll_step step = { .op = op, .handle = m->handle };
	struct ddio_msg msg = { .opcode = opcode, .tag = op };
	uint8_t buf[32];
	ssize_t len = ddio_put_coll_step(buf, sizeof(buf), &step);
	int err = len < 0 ? (int)len
			  : ddio_conn_send(m->client->conn, &msg, buf, (size_t)len, NULL, 0, NULL);

	if (err && err != -ENOTCONN)
		client_end(m->client, "no memory to ask for a description");
}

static void teller_ask(struct spread *spread, uint32_t rank)
{
	step_send(coll_group_member(spread->group, rank), DDIO_OP_COLL_TELL, spread->req->start.op);
}

/* All have told. */
static void spread_told(struct spread *spread)
{
	struct coll_member *asker = coll_group_member(spread->group, spread->req->asker);
	struct verdict v;

	if (spread_map(spread, &v)) {
		spread_end(spread, &v);
		return;
	}
	/* The map has copied them. */
	tellers_free(spread);
	spread->ready = true;
	spread->begin_ns = ddio_env_now(spread->group->reactor->env);
	if (asker)
		step_send(asker, DDIO_OP_COLL_READY, spread->req->start.op);
	if (!spread->n)
		spread_arm(spread, spread->begin_ns);
}

static void teller_told(struct spread *spread, struct teller *teller,
			struct ddio_msg_coll_told *told)
{
	struct verdict v;

	teller->told = true;
	if (told->crowd.entries > spread->group->reactor->told_max - spread->entries) {
		verdict_set(&v, DDIO_ST_TOO_BIG, teller->rank,
			    "the members' descriptions have too many entries together");
		spread_end(spread, &v);
		return;
	}
	spread->entries += told->crowd.entries;
	teller->crowd = told->crowd;
	memset(&told->crowd, 0, sizeof(told->crowd));
	if (!--spread->missing)
		spread_told(spread);
}

/* What is for a collective that is over is dropped. */
static int told_take(struct client *client, struct ddio_msg_coll_told *told)
{
	struct coll_member *m = coll_client_member(client, told->group);
	struct spread *spread = m ? spread_find(m->group, told->op) : NULL;
	struct teller *teller;

	if (!spread)
		return m && told->op > m->group->last_start ? -EPROTO : 0;
	teller = teller_find(spread, m->rank);
	if (!teller || teller->told || told->crowd.first != m->rank)
		return -EPROTO;
	teller_told(spread, teller, told);
	return 0;
}

/**
 * coll_told - take what a member tells of its description
 * @client: the member's connection to reactor 0
 * @msg: COLL_TOLD; no reply
 * @payload: struct ddio_msg_coll_told, as what differs from what the connection told before
 */
int coll_told(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_told told;
	const void *whole;
	size_t len;
	int err;

	if (ddio_list_empty(&client->members))
		return -EPROTO;
	if (!client->told)
		client->told = calloc(1, sizeof(*client->told));
	if (!client->told)
		return -ENOMEM;
	err = ddio_past_get(client->told, payload, msg->length, &whole, &len);
	if (err)
		return err;
	err = ddio_get_coll_told(whole, len, &told);
	if (err)
		return err;
	err = told_take(client, &told);
	ddio_coll_told_free(&told);
	return err;
}

/* Returns true if the member owes what it was asked for. */
static bool member_owes(const struct coll_member *m)
{
	struct spread *spread;
	struct teller *teller;

	ddio_list_for_each_entry(spread, &m->group->spreads, link) {
		teller = teller_find(spread, m->rank);
		if (teller && !teller->told)
			return true;
	}
	return false;
}

/* A long one is received from those only that were asked. */
int coll_told_large(struct client *client)
{
	struct coll_member *m;

	ddio_list_for_each_entry(m, &client->members, client_link)
		if (member_owes(m))
			return 0;
	return -EPROTO;
}

/**
 * coll_go - begin a collective for which all nodes are ready
 * @client: the connection of the member that asked for it
 * @msg: COLL_GO; no reply
 * @payload: struct ddio_msg_coll_join
 */
int coll_go(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_join go;
	struct coll_member *m;
	struct spread *spread;
	int err = ddio_get_coll_join(payload, msg->length, &go);

	m = err ? NULL : coll_client_member(client, go.group);
	if (!m)
		return err;
	spread = spread_find(m->group, go.op);
	if (!spread)
		return go.op > m->group->last_start ? -EPROTO : 0;
	if (!spread->ready || m->rank != spread->req->asker)
		return -EPROTO;
	coll_req_hand_out(spread->req);
	spread_free(spread);
	return 0;
}

/*
 * Beginning
 */
static struct spread *spread_new(struct coll_req *req, struct coll_group *group)
{
	uint32_t n = tellers_walk(req, group, NULL, NULL);
	struct spread *spread = calloc(1, sizeof(*spread) + n * sizeof(spread->teller[0]));

	if (!spread)
		return NULL;
	spread->group = group;
	spread->req = req;
	coll_req_get(req);
	tellers_walk(req, group, teller_add, spread);
	spread->missing = n;
	spread->timeout_ns = coll_time_limit(group->reactor, req);
	spread->begin_ns = ddio_env_now(group->reactor->env);
	spread->timer.fn = spread_watch;
	spread->timer.arg = spread;
	ddio_list_add(&spread->link, &group->spreads);
	group->nspreads++;
	return spread;
}

void coll_spread_begin(struct coll_req *req, struct coll_group *group)
{
	struct spread *spread;
	struct verdict v;

	if (group->running + group->nspreads >= COLL_MAX_RUNNING) {
		verdict_set(&v, DDIO_ST_BUSY, COLL_NOBODY,
			    "the group already has %u collectives running",
			    group->running + group->nspreads);
		coll_req_refuse(req, group, &v);
		return;
	}
	spread = spread_new(req, group);
	if (!spread) {
		verdict_set(&v, DDIO_ST_NO_MEMORY, COLL_NOBODY,
			    "no memory for the members' descriptions");
		coll_req_refuse(req, group, &v);
		return;
	}
	tellers_walk(req, group, teller_ask, spread);
	if (spread->n)
		spread_arm(spread, spread->begin_ns);
	else
		spread_told(spread);
}
