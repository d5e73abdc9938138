// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests that were not answered, and rests between attempts. */
#include "cp/fs/core/retry.h"

/* The first rest; each one after it is twice as long, up to the longest. */
#define BACKOFF_NS 10000000ull
#define BACKOFF_MAX_NS 1000000000ull
/* While a node is down, a reactor notes so often within the timeout that it has looked. */
enum { LOOKS = 6 };

bool fsc_status_unanswered(uint32_t status)
{
	return status == DDIO_ST_NODE_LOST || status == DDIO_ST_SHUTDOWN;
}

static void rest_over(void *arg)
{
	struct fsc_retry *retry = arg;

	ddio_list_del(&retry->link);
	retry->fn(retry);
}

void fsc_retry_later(struct fsc_reactor *r, struct fsc_retry *retry,
		     void (*fn)(struct fsc_retry *retry))
{
	uint64_t ns = BACKOFF_NS << (retry->tries < 8 ? retry->tries : 8);

	retry->tries++;
	retry->r = r;
	retry->fn = fn;
	retry->timer.fn = rest_over;
	retry->timer.arg = retry;
	if (ns > BACKOFF_MAX_NS)
		ns = BACKOFF_MAX_NS;
	/* Without memory for a timer there is no rest. */
	ddio_list_add(&retry->link, &r->retries);
	if (fsc_closing(r->fs) || ddio_timer_arm(r->env, &retry->timer, ddio_env_now(r->env) + ns))
		ddio_timer_arm(r->env, &retry->timer, ddio_env_now(r->env));
}

void fsc_retries_end(struct fsc_reactor *r)
{
	struct fsc_retry *retry;

	ddio_timer_cancel(r->env, &r->look);
	while (!ddio_list_empty(&r->retries)) {
		retry = ddio_list_first(&r->retries, struct fsc_retry, link);
		ddio_timer_cancel(r->env, &retry->timer);
		rest_over(retry);
	}
}

/*
 * Returns the time for which this process has looked: of a time in which it was stopped, or had no
 * processor, a third of the timeout at most counts, since it has yet to take what may have come
 * meanwhile.
 */
static uint64_t awake(struct fsc_reactor *r)
{
	uint64_t now = ddio_env_now(r->env), more = now - r->looked, most = r->fs->timeout_ns / 3;

	r->awake += more < most ? more : most;
	r->looked = now;
	return r->awake;
}

static void look_later(struct fsc_reactor *r);

static void look(void *arg)
{
	struct fsc_reactor *r = arg;

	awake(r);
	if (r->ndown)
		look_later(r);
}

/* Without memory for a timer the node counts as down for less long than it is. */
static void look_later(struct fsc_reactor *r)
{
	r->look.fn = look;
	r->look.arg = r;
	if (!fsc_closing(r->fs) && !ddio_timer_armed(&r->look))
		ddio_timer_arm(r->env, &r->look, ddio_env_now(r->env) + r->fs->timeout_ns / LOOKS);
}

void fsc_node_down(struct fsc_reactor *r, uint32_t node, uint64_t silent)
{
	if (r->down[node])
		return;
	r->down[node] = awake(r) - silent;
	r->ndown++;
	look_later(r);
}

uint64_t fsc_node_silent(struct fsc_reactor *r, uint32_t node)
{
	return r->down[node] ? awake(r) - r->down[node] : 0;
}

bool fsc_node_retry(struct fsc_reactor *r, uint32_t node)
{
	if (fsc_closing(r->fs))
		return false;
	if (!r->down[node]) {
		fsc_node_down(r, node, 0);
		fsc_log(r->fs, DDIO_LOG_WARN, "node %s does not answer",
			r->session->conf->nodes[node].name);
	}
	return r->fs->hard || fsc_node_silent(r, node) < r->fs->timeout_ns;
}

void fsc_node_answered(struct fsc_reactor *r, uint32_t node)
{
	if (!r->ndown || !r->down[node])
		return;
	r->down[node] = 0;
	r->ndown--;
	fsc_log(r->fs, DDIO_LOG_INFO, "node %s answers again", r->session->conf->nodes[node].name);
}
