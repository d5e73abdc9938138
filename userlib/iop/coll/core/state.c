// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The states of a collective and how it gets from one to the next, by a turn or by a failure.  What each state
 * begins is in coll.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "env/lines.h"
#include "iop/coll/core/trace.h"

static const char *const state_name[] = { "planning", "doubting",  "running", "committing",
					  "stopping", "releasing", "over" };

static bool may_follow(enum coll_state from, enum coll_state to)
{
	static const unsigned int next[] = {
		[COLL_PLANNING] = 1u << COLL_DOUBTING | 1u << COLL_RUNNING | 1u << COLL_STOPPING,
		[COLL_DOUBTING] = 1u << COLL_RUNNING | 1u << COLL_STOPPING,
		[COLL_RUNNING] = 1u << COLL_COMMITTING | 1u << COLL_OVER | 1u << COLL_STOPPING,
		[COLL_COMMITTING] = 1u << COLL_OVER | 1u << COLL_STOPPING,
		[COLL_STOPPING] = 1u << COLL_RELEASING,
		[COLL_RELEASING] = 1u << COLL_OVER,
		[COLL_OVER] = 0,
	};

	return next[from] & 1u << to;
}

void coll_enter(struct coll *coll, enum coll_state state)
{
	if (bug_on(!may_follow(coll->state, state), "collective %llu: from %s to %s",
		   (unsigned long long)coll->req->start.op, state_name[coll->state],
		   state_name[state]))
		return;
	coll->state = state;
	COLL_TRACE(coll, .kind = DDIO_TRACE_STATE, .what = (uint16_t)state);
	coll->entered(coll);
}

void coll_kick(struct coll *coll)
{
	if (coll->turning)
		return;
	coll->turning = true;
	ddio_env_post(coll->reactor->env, &coll->turn);
}

void coll_fail(struct coll *coll, const struct verdict *v)
{
	if (coll->state >= COLL_STOPPING)
		return;
	coll->verdict = *v;
	ddio_env_log_caused(coll->reactor->env, DDIO_LOG_WARN,
			    "collective %llu of file \"%s\" ends: %s",
			    (unsigned long long)coll->req->start.op, coll->req->start.file.name,
			    v->text);
	/* When the node stops, each of its reactors is told so. */
	if (v->status != DDIO_ST_SHUTDOWN)
		coll_req_fail(coll->req, coll->reactor, v);
	coll_enter(coll, COLL_STOPPING);
	coll_kick(coll);
}

void coll_fail_here(struct coll *coll, uint32_t status, uint32_t lost, const char *fmt, ...)
{
	struct verdict v = { .status = status, .lost = lost };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v.text, sizeof(v.text), fmt, ap);
	va_end(ap);
	coll_fail(coll, &v);
}

void coll_fail_memory(struct coll *coll)
{
	coll_fail_here(coll, DDIO_ST_NO_MEMORY, COLL_NOBODY, "no memory for a collective");
}

void coll_fail_lost(struct coll *coll, uint32_t rank)
{
	coll_fail_here(coll, DDIO_ST_MEMBER_LOST, rank,
		       "rank %u, which has a part of this, is not attached here, or not any more",
		       rank);
}

struct coll *coll_find(const struct coll_group *group, uint64_t op)
{
	struct coll *coll;

	ddio_list_for_each_entry(coll, &group->colls, group_link)
		if (coll->req->start.op == op)
			return coll;
	return NULL;
}
