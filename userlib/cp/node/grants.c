// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Grants come from the name space, before the replies to requests that found or made a file.  They are kept while a file is
 * open, and the last ones of others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "cp/node/grants.h"

/* So many grants of files that are not open are kept. */
#define SPARE_MOST 4096
/* In a life of a grant it is looked so often what is to be renewed. */
#define LOOKS 8
#define LOOK_LEAST_NS 100000000ull

static struct kept_grant *grant_find(const struct grants *g, uint64_t file)
{
	struct ddio_hash_node *node = g ? ddio_hash_find(&g->by_file, file) : NULL;

	return node ? ddio_container_of(node, struct kept_grant, node) : NULL;
}

static struct grants *grants_get(struct ddio_session *s)
{
	struct grants *g = s->grants;

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	ddio_list_init(&g->open);
	ddio_list_init(&g->spare);
	g->timer.fn = s->renew;
	g->timer.arg = s;
	s->grants = g;
	return g;
}

/* Forgets the least lately used one that is not being renewed. */
static void spare_forget(struct grants *g)
{
	struct kept_grant *k;

	ddio_list_for_each_entry(k, &g->spare, link)
		if (!k->renewing)
			break;
	if (&k->link == &g->spare)
		return;
	ddio_hash_del(&g->by_file, &k->node);
	ddio_list_del(&k->link);
	g->nspare--;
	free(k);
}

static void spare_add(struct grants *g, struct kept_grant *k)
{
	ddio_list_add(&k->link, &g->spare);
	if (++g->nspare > SPARE_MOST)
		spare_forget(g);
}

static struct kept_grant *grant_new(struct ddio_session *s, uint64_t file)
{
	struct grants *g = grants_get(s);
	struct kept_grant *k = g ? calloc(1, sizeof(*k)) : NULL;

	if (!k)
		return NULL;
	k->session = s;
	ddio_hash_add(&g->by_file, &k->node, file);
	spare_add(g, k);
	return k;
}

int grant_take(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_session *s = lane->node->session;
	struct ddio_msg_grant x;
	struct kept_grant *k;
	int err = ddio_get_grant(payload, len, &x);

	if (err)
		return err;
	if (!ddio_conn_users(lane->conn))
		return -EPROTO;
	k = grant_find(s->grants, x.file);
	if (!k)
		k = grant_new(s, x.file);
	if (!k)
		return -ENOMEM;
	k->msg = x;
	k->serial = ++s->grants->serial;
	k->got_ns = ddio_env_wall(s->env);
	/* The name space has noted it as if it had been shown. */
	lane->shown[x.file % DDIO_GRANT_PLACES].file = x.file;
	lane->shown[x.file % DDIO_GRANT_PLACES].serial = k->serial;
	return 0;
}

void grant_show(struct lane *lane, uint64_t file)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_GRANT };
	const struct kept_grant *k = grant_find(lane->node->session->grants, file);
	const uint64_t place = file % DDIO_GRANT_PLACES;
	uint8_t buf[DDIO_GRANT_LEN];

	if (!k || (lane->shown[place].file == file && lane->shown[place].serial == k->serial))
		return;
	ddio_put_grant(buf, sizeof(buf), &k->msg);
	if (ddio_conn_send(lane->conn, &msg, buf, sizeof(buf), NULL, 0, NULL))
		return;
	lane->shown[place].file = file;
	lane->shown[place].serial = k->serial;
}

uint64_t grant_life(const struct kept_grant *k)
{
	return k->msg.until_ns > k->got_ns ? k->msg.until_ns - k->got_ns : 0;
}

void grants_look_later(struct ddio_session *s)
{
	struct grants *g = s->grants;
	uint64_t wait = UINT64_MAX;
	const struct kept_grant *k;

	if (s->closing || !s->renew || ddio_list_empty(&g->open) || ddio_timer_armed(&g->timer))
		return;
	ddio_list_for_each_entry(k, &g->open, link)
		if (grant_life(k) / LOOKS < wait)
			wait = grant_life(k) / LOOKS;
	if (wait < LOOK_LEAST_NS)
		wait = LOOK_LEAST_NS;
	/* Without memory for a timer the grants expire, and what they were for is refused. */
	(void)ddio_timer_arm(s->env, &g->timer, ddio_env_now(s->env) + wait);
}

bool grant_hold(struct ddio_session *s, uint64_t file)
{
	struct kept_grant *k = grant_find(s->grants, file);

	if (!k)
		return false;
	if (k->holds++)
		return true;
	s->grants->nspare--;
	ddio_list_del(&k->link);
	ddio_list_add(&k->link, &s->grants->open);
	grants_look_later(s);
	return true;
}

void grant_drop(struct ddio_session *s, uint64_t file)
{
	struct kept_grant *k = grant_find(s->grants, file);

	if (!k || !k->holds || --k->holds)
		return;
	ddio_list_del(&k->link);
	spare_add(s->grants, k);
}

bool grant_there(const struct ddio_session *s, uint64_t file)
{
	return !ddio_conf_knows_users(s->conf) || grant_find(s->grants, file);
}

void grants_close(struct ddio_session *s)
{
	if (s->grants)
		ddio_timer_cancel(s->env, &s->grants->timer);
}

void grants_free(struct ddio_session *s)
{
	struct grants *g = s->grants;
	struct ddio_hash_walk walk;
	struct ddio_hash_node *node;

	if (!g)
		return;
	for (node = ddio_hash_first(&g->by_file, &walk); node;
	     node = ddio_hash_next(&g->by_file, &walk))
		free(ddio_container_of(node, struct kept_grant, node));
	ddio_hash_fini(&g->by_file);
	free(g);
	s->grants = NULL;
}
