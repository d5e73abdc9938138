// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A connection that the node closes before its WELCOME, and without a word, was shed: a job's processes all
 * begin at once, and a node keeps only so many connections that have not proved the key.  Another try follows
 * after a pause that doubles and is drawn at random, so that clients that were shed together do not come together.
 */
#include <errno.h>
#include "cp/node/request.h"

/* Tries after the first; the first pause is at most so long, and all together take 5.1 s at most. */
enum { SHED_TRIES = 8 };
#define SHED_PAUSE_NS 20000000ull

static bool was_shed(const struct lane *lane, int err)
{
	return lane->state == LANE_CONNECTING && !lane->vouching &&
	       (!err || err == -ECONNRESET || err == -EPIPE);
}

/* Returns a pause of between a quarter and the whole of this try's longest. */
static uint64_t pause_of(const struct lane *lane, struct ddio_env *env)
{
	uint64_t most = SHED_PAUSE_NS << lane->shed, x;

	ddio_env_random(env, &x, sizeof(x));
	return most / 4 + x % (most - most / 4);
}

bool shed_retry(struct lane *lane, int err)
{
	struct ddio_session *s = lane->node->session;
	uint64_t due;

	if (!was_shed(lane, err) || s->closing || lane->shed == SHED_TRIES)
		return false;
	due = ddio_env_now(s->env) + pause_of(lane, s->env);
	if (due >= lane->begun + s->timeout_ns || ddio_timer_arm(s->env, &lane->again, due))
		return false;
	lane->shed++;
	ddio_conn_close(lane->conn, false);
	lane->conn = NULL;
	return true;
}

void shed_cancel(struct lane *lane)
{
	if (ddio_timer_armed(&lane->again))
		ddio_timer_cancel(lane->node->session->env, &lane->again);
}
