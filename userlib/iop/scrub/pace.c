// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How fast a scrub goes.  It is held to a rate, if there is one.  And while others use the disk it has one part in 32 of
 * the disk's time, arm movements included: what it costs the others is that, and an arm movement back each time.
 */
#include "iop/scrub/priv.h"

#define OTHERS 31
#define REST_MOST_NS 5000000000ull

static uint64_t disk_ops(const struct scrub *s)
{
	struct ddio_disk_stats st;

	ddio_disk_stats(s->disk->disk, &st);
	return st.reads + st.writes;
}

/* Returns how many requests a run of so many bytes is. */
static uint64_t own_ops(const struct scrub *s, uint64_t len)
{
	uint64_t most = ddio_disk_info(s->disk->disk)->max_len;

	return most && len > most ? (len + most - 1) / most : 1;
}

void scrub_pace_begin(struct scrub *s)
{
	s->ops = disk_ops(s);
	s->shared = false;
	s->free_ns = ddio_env_now(scrub_env(s));
}

uint64_t scrub_pace(struct scrub *s, uint64_t len)
{
	uint64_t now = ddio_env_now(scrub_env(s)), took = now - s->begun_ns, ops = disk_ops(s);
	uint64_t rest = 0;

	s->shared = ops - s->ops > own_ops(s, len) || s->disk->coll_buffers;
	s->ops = ops;
	if (s->rate) {
		/* What was too slow is not made up for by being too fast. */
		if (s->free_ns < s->begun_ns)
			s->free_ns = s->begun_ns;
		s->free_ns += (uint64_t)((double)len * 1e9 / (double)s->rate);
		rest = s->free_ns > now ? s->free_ns - now : 0;
	}
	if (s->yields && s->shared && took * OTHERS > rest)
		rest = took * OTHERS;
	return rest < REST_MOST_NS || s->rate ? rest : REST_MOST_NS;
}
