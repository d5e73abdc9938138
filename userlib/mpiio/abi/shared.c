// SPDX-License-Identifier: LGPL-2.1-or-later
/* The shared file pointer (MPI 4.0, section 14.4.4): a counter that the group shares, in etypes. */
#include <errno.h>
#include "mpiio/abi/abi.h"

/* Ranks take their places in order: each learns how much the ranks before it take, and where rank 0 begins. */
static int take_in_order(struct mpiio_file *f, uint64_t etypes, uint64_t *at)
{
	struct mpiio_team *t = f->team;
	uint64_t before, all;
	struct {
		int64_t base;
		int64_t err;
	} first = { 0 };
	int ret = file_sum(f, etypes, &before, &all);

	if (!ret && !t->rank)
		first.err = ddio_counter_add(f->shared, (int64_t)all, &first.base);
	if (!ret)
		ret = team_bcast(t, &first, sizeof(first));
	if (ret)
		return ret;
	*at = (uint64_t)first.base + before;
	return (int)first.err;
}

int shared_take(struct mpiio_file *f, bool all, uint64_t etypes, uint64_t *at)
{
	int64_t before = 0;
	int ret;

	if (all)
		return take_in_order(f, etypes, at);
	if (etypes > BYTES_MAX)
		return -EOVERFLOW;
	ret = ddio_counter_add(f->shared, (int64_t)etypes, &before);
	*at = (uint64_t)before;
	return ret;
}

/* Collective, after all have come: nobody goes on before the pointer is where it belongs. */
int shared_set(struct mpiio_file *f, uint64_t etypes)
{
	struct team_verdict v = { 0 };

	if (!f->team->rank)
		verdict_say(&v, cluster_session(f->team->cluster),
			    ddio_counter_set(f->shared, (int64_t)etypes));
	verdict_of_root(f->team, &v);
	return v.err;
}
