// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of JOB and JOBS: whose requests a connection brings, and what each job has asked for. */
#include <errno.h>
#include <stdlib.h>
#include "env/lines.h"
#include "iop/ops/look/look.h"

/* @jobs: the sum of one reactor's */
struct jobs_part {
	struct gather_part part;
	struct bound bound;
	struct iop_jobs jobs;
};

struct all_jobs {
	struct gather gather;
	jobs_fn done;
	uint32_t nreactors;
	struct jobs_part parts[];
};

int take_job(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_job x;
	int err = ddio_get_job(payload, msg->length, &x);

	if (err)
		return err;
	job_name_clean(x.name);
	client->job->st.connections--;
	client->job = jobs_get(&client->reactor->jobs, x.name);
	client->job->st.connections++;
	return 0;
}

/* Names the place that a client has named, as far as that can be one of this reactor's. */
static void place_text(const struct client *client, const struct ddio_msg_wrong *x, char *text,
		       size_t len)
{
	const struct ddio_conf *conf = client->reactor->iop->conf;

	*text = '\0';
	if (x->flags & DDIO_WRONG_PLACE && reactor_disk(client->reactor, x->disk))
		snprintf(text, len, ", the last one with block %llu of object %llu on disk %s",
			 (unsigned long long)x->block, (unsigned long long)x->file,
			 conf->disks[x->disk].name);
}

/*
 * Something came to a client and did not match.  Nothing follows from its word but that it is counted, apart from what the node has found
 * itself and once for a connection, and that it costs a line of those that connections may cause.
 */
int take_wrong(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_wrong x;
	char place[160];
	int err = ddio_get_wrong(payload, msg->length, &x);

	if (!err && client->wrong)
		err = -EPROTO;
	if (err)
		return err;
	client->wrong = true;
	client->reactor->bounds.at[BOUND_WRONG_TOLD].hits++;
	client->job->st.told++;
	place_text(client, &x, place, sizeof(place));
	ddio_env_log_caused(
		client->reactor->env, DDIO_LOG_WARN,
		"%s (job %s) says that %llu messages from here did not match their checksums%s",
		ddio_conn_peer(client->conn), client->job->st.name[0] ? client->job->st.name : "-",
		(unsigned long long)x.count, place);
	return 0;
}

/* On each reactor: what is its own is copied, so that another can read it. */
static void part_collect(struct gather_part *p)
{
	struct jobs_part *part = (struct jobs_part *)p;

	part->bound.limit = p->reactor->jobs.bound->limit;
	jobs_init(&part->jobs, &part->bound);
	jobs_add(&part->jobs, &p->reactor->jobs);
}

static void all_done(struct gather *g)
{
	struct all_jobs *ask = (struct all_jobs *)g;
	struct iop_jobs *sum = &ask->parts[0].jobs;
	struct ddio_msg_jobs x;
	uint32_t i;

	for (i = 1; i < ask->nreactors; i++) {
		jobs_add(sum, &ask->parts[i].jobs);
		jobs_exit(&ask->parts[i].jobs);
	}
	if (jobs_list(sum, &x))
		ask->done(g->arg, NULL);
	else
		ask->done(g->arg, &x);
	free(x.job);
	jobs_exit(sum);
	free(ask);
}

int jobs_ask(struct reactor *home, jobs_fn done, void *arg)
{
	const struct ddio_iop *iop = home->iop;
	struct all_jobs *ask = calloc(1, sizeof(*ask) + iop->nreactors * sizeof(ask->parts[0]));

	if (!ask)
		return -ENOMEM;
	ask->gather = (struct gather){
		.home = home, .collect = part_collect, .done = all_done, .arg = arg
	};
	ask->done = done;
	ask->nreactors = iop->nreactors;
	gather_all(&ask->gather, ask->parts, sizeof(ask->parts[0]));
	return 0;
}

static void jobs_reply(void *arg, const struct ddio_msg_jobs *jobs)
{
	if (jobs)
		SERVER_REPLY((struct server_request *)arg, jobs, jobs);
	else
		server_fail(arg, DDIO_ST_NO_MEMORY, "no memory for the jobs");
}

int serve_jobs(struct server_request *req, const void *payload)
{
	(void)payload;
	if (jobs_ask(req->reactor, jobs_reply, req))
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the jobs");
	return 0;
}
