// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks for a turn of the cache's work. */
#include "iop/cache/priv.h"

#define RETRY_NS 10000000u

static void cache_kicked(void *arg)
{
	struct cache *c = arg;

	c->kicked = false;
	c->work(c);
}

void cache_kick(struct cache *c)
{
	if (c->working) {
		c->more = true;
		return;
	}
	if (c->kicked)
		return;
	c->kicked = true;
	c->kick.fn = cache_kicked;
	c->kick.arg = c;
	ddio_env_post(c->env, &c->kick);
}

static void cache_retry(void *arg)
{
	struct cache *c = arg;

	c->work(c);
}

void cache_retry_later(struct cache *c)
{
	if (ddio_timer_armed(&c->retry))
		return;
	c->retry.fn = cache_retry;
	c->retry.arg = c;
	ddio_timer_arm(c->env, &c->retry, ddio_env_now(c->env) + RETRY_NS);
}
