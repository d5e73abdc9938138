// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How fast a scrub or a mend goes.  It is held to a rate, if there is one.  And while others use the disk it has one part in 32 of
 * the disk's time, arm movements included: what it costs the others is that, and an arm movement back each time.
 */
#include "iop/pace/pace.h"

#define OTHERS 31
#define REST_MOST_NS 5000000000ull

static uint64_t pace_now(const struct pace *p)
{
	return ddio_env_now(p->disk->reactor->env);
}

static uint64_t disk_ops(const struct pace *p)
{
	struct ddio_disk_stats st;

	ddio_disk_stats(p->disk->disk, &st);
	return st.reads + st.writes;
}

uint64_t pace_ops(const struct pace *p, uint64_t len)
{
	uint64_t most = ddio_disk_info(p->disk->disk)->max_len;

	return most && len > most ? (len + most - 1) / most : 1;
}

void pace_reset(struct pace *p)
{
	p->ops = disk_ops(p);
	p->shared = false;
	p->free_ns = pace_now(p);
}

void pace_begin(struct pace *p)
{
	p->begun_ns = pace_now(p);
}

uint64_t pace_rest(struct pace *p, uint64_t len, uint64_t own)
{
	uint64_t now = pace_now(p), took = now - p->begun_ns, ops = disk_ops(p);
	uint64_t rest = 0;

	p->shared = ops - p->ops > own || p->disk->coll_buffers;
	p->ops = ops;
	if (p->rate) {
		/* What was too slow is not made up for by being too fast. */
		if (p->free_ns < p->begun_ns)
			p->free_ns = p->begun_ns;
		p->free_ns += (uint64_t)((double)len * 1e9 / (double)p->rate);
		rest = p->free_ns > now ? p->free_ns - now : 0;
	}
	if (p->yields && p->shared && took * OTHERS > rest)
		rest = took * OTHERS;
	return rest < REST_MOST_NS || p->rate ? rest : REST_MOST_NS;
}
