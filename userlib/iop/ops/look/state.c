// SPDX-License-Identifier: LGPL-2.1-or-later
/* A node's status, bounds and jobs for another thread of the daemon: bounds first, which are few, then jobs, then the status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ops/look/look.h"

struct state_look {
	struct ddio_post post;
	struct reactor *home;
	ddio_iop_look_fn fn;
	void *arg;
	struct ddio_bound_status bound[NBOUNDS];
	struct ddio_msg_jobs jobs;
};

static void look_end(struct state_look *look, const struct ddio_msg_status *st)
{
	struct ddio_msg_bounds bounds = { .n = NBOUNDS, .bound = look->bound };

	look->fn(look->arg, st, st ? &bounds : NULL, st ? &look->jobs : NULL);
	free(look->jobs.job);
	free(look);
}

static void look_status(void *arg, const struct ddio_msg_status *st)
{
	look_end(arg, st);
}

static void look_jobs(void *arg, const struct ddio_msg_jobs *jobs)
{
	struct state_look *look = arg;
	uint32_t n = jobs ? jobs->n : 0;

	look->jobs.job = jobs ? malloc((n + 1) * sizeof(*jobs->job)) : NULL;
	if (look->jobs.job) {
		memcpy(look->jobs.job, jobs->job, n * sizeof(*jobs->job));
		look->jobs.n = n;
	}
	if (!look->jobs.job || status_ask(look->home, look_status, look))
		look_end(look, NULL);
}

static void look_bounds(void *arg, const struct ddio_msg_bounds *bounds)
{
	struct state_look *look = arg;

	memcpy(look->bound, bounds->bound, sizeof(look->bound));
	if (jobs_ask(look->home, look_jobs, look))
		look_end(look, NULL);
}

static void look_begin(void *arg)
{
	struct state_look *look = arg;

	if (bounds_ask(look->home, look_bounds, look))
		look_end(look, NULL);
}

int ops_look(struct ddio_iop *iop, ddio_iop_look_fn fn, void *arg)
{
	struct state_look *look = calloc(1, sizeof(*look));

	if (!look)
		return -ENOMEM;
	look->home = &iop->reactors[0];
	look->fn = fn;
	look->arg = arg;
	look->post.fn = look_begin;
	look->post.arg = look;
	ddio_env_post(look->home->env, &look->post);
	return 0;
}
