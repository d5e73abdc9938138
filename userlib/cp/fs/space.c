// SPDX-License-Identifier: LGPL-2.1-or-later
/* How much space there is: every node is asked about its disks, the name server about its inodes. */
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/core/job.h"
#include "cp/fs/names/names.h"

enum { UNIT = 4096 };

/**
 * struct space_job - one ddio_fs_space()
 * @left: what is under way; @answers: nodes that have answered
 */
struct space_job {
	struct fsc_job job;
	struct fsc_ask ask;
	struct fsc_error error;
	struct ddio_fs_space space;
	uint64_t bytes, free_bytes;
	uint32_t left, answers;
	struct node_request node[];
};

/* Nodes that do not answer count as having no space; if none answers, that is an error. */
static void space_put(struct space_job *sj)
{
	struct ddio_fs_reply reply = { .data = &sj->space, .len = sizeof(sj->space) };
	struct fsc_error error = sj->error;

	if (--sj->left)
		return;
	if (sj->answers && error.err != -ESHUTDOWN)
		fsc_error_free(&error);
	sj->space.unit = UNIT;
	sj->space.blocks = sj->bytes / UNIT;
	sj->space.free = sj->free_bytes / UNIT;
	fsc_job_end(&sj->job, &error, &reply);
}

static void node_done(struct node_request *request, const struct reply *reply)
{
	struct space_job *sj = request->arg;
	struct ddio_msg_status st;
	uint32_t i;

	if (reply->status) {
		fsc_error_reply(&sj->error, reply);
	} else if (ddio_get_status(reply->payload, reply->len, &st)) {
		fsc_error_set(&sj->error, -EIO, FSC_MALFORMED);
	} else {
		for (i = 0; i < st.ndisks; i++) {
			sj->bytes += st.disks[i].size;
			sj->free_bytes += st.disks[i].free;
		}
		sj->answers++;
		ddio_status_free(&st);
	}
	space_put(sj);
}

static void inodes_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct space_job *sj = ddio_container_of(ask, struct space_job, ask);
	struct ddio_msg_fs_space x;

	if (ddio_get_fs_space(reply->payload, reply->len, &x))
		fsc_ask_malformed(ask);
	else
		sj->space.inodes = x.inodes;
}

static void inodes_done(struct fsc_ask *ask)
{
	struct space_job *sj = ddio_container_of(ask, struct space_job, ask);

	fsc_error_first(&sj->error, &ask->error);
	fsc_error_free(&ask->error);
	space_put(sj);
}

static void space_run(struct fsc_job *job)
{
	struct space_job *sj = ddio_container_of(job, struct space_job, job);
	struct ddio_session *s = job->fs->reactor[0].session;
	uint32_t i;

	sj->left = s->conf->nnodes + 1;
	for (i = 0; i < s->conf->nnodes; i++) {
		request_init(&sj->node[i], DDIO_OP_STATUS, node_done, sj);
		request_node(s, i, &sj->node[i]);
	}
	fsc_ask_init(&sj->ask, &job->fs->reactor[0], DDIO_OP_FS_SPACE, NULL, 0, inodes_done);
	sj->ask.take = inodes_take;
	fsc_ask(&sj->ask);
}

void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	uint32_t n = fs->reactor[0].session->conf->nnodes;
	struct space_job *sj = fsc_job_new(fs, sizeof(*sj) + n * sizeof(sj->node[0]), done, arg);

	if (sj)
		fsc_job_post(&sj->job, &fs->reactor[0], space_run);
}
