// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looking at what nodes of this machine have cached. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/error.h"
#include "cp/fs/core/job.h"
#include "cp/fs/core/retry.h"
#include "cp/fs/disks/near.h"
#include "env/local/showcase.h"

/**
 * struct fsc_near - a disk that may be near
 * @viewing: what its node shows
 * @r: the reactor that it came to, which alone changes it; others look whether it is theirs
 * @asked: its node has been asked, or is not to be asked again
 */
struct fsc_near {
	struct ddio_viewing viewing;
	const struct fsc_reactor *_Atomic r;
	atomic_bool asked;
};

struct near_job {
	struct fsc_job job;
	struct node_request request;
	struct ddio_mailbox box;
	struct fsc_reactor *r;
	uint32_t disk;
};

int fsc_nears_new(struct ddio_fs *fs)
{
	const struct ddio_conf *conf = fs->reactor[0].session->conf;
	uint32_t i;

	if (!conf->share)
		return 0;
	fs->near = calloc(conf->ndisks, sizeof(*fs->near));
	if (!fs->near)
		return -ENOMEM;
	fs->nnear = conf->ndisks;
	for (i = 0; i < fs->nnear; i++)
		ddio_viewing_init(&fs->near[i].viewing);
	return 0;
}

void fsc_nears_free(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; i < fs->nnear; i++)
		ddio_viewing_fini(&fs->near[i].viewing);
	free(fs->near);
}

static void near_set(struct fsc_near *near, struct ddio_viewer *viewer, const struct fsc_reactor *r)
{
	atomic_store(&near->r, r);
	ddio_viewing_set(&near->viewing, viewer);
}

static void near_answered(struct node_request *request, const struct reply *reply)
{
	struct near_job *nj = ddio_container_of(request, struct near_job, request);
	struct ddio_fs *fs = nj->job.fs;
	struct fsc_near *near = &fs->near[nj->disk];
	struct ddio_viewer *viewer;

	if (fsc_status_unanswered(reply->status))
		atomic_store(&near->asked, false);
	else if (!reply->status && !ddio_viewer_new(&nj->box, &viewer)) {
		near_set(near, viewer, nj->r);
		fsc_log(fs, DDIO_LOG_INFO,
			"disk %s: what its node has cached is read from its memory",
			nj->r->session->conf->disks[nj->disk].name);
	}
	ddio_mailbox_close(&nj->box);
	fsc_job_drop(&nj->job);
}

static void near_send(struct near_job *nj)
{
	struct node_request *request = &nj->request;
	struct ddio_msg_show msg = { .disk = nj->disk };

	memcpy(msg.token, nj->box.token, sizeof(msg.token));
	memcpy(msg.name, nj->box.name, sizeof(msg.name));
	request->opcode = DDIO_OP_SHOW;
	request->done = near_answered;
	request->fixed_len = (size_t)ddio_put_show(request->inl, sizeof(request->inl), &msg);
	request->fixed = request->inl;
	request_disk(nj->r->session, nj->disk, request);
}

void fsc_near_ask(struct fsc_reactor *r, uint32_t disk)
{
	struct ddio_fs *fs = r->fs;
	struct near_job *nj;

	if (disk >= fs->nnear || atomic_load(&fs->near[disk].asked) ||
	    atomic_exchange(&fs->near[disk].asked, true))
		return;
	nj = fsc_job_new_quiet(fs, sizeof(*nj));
	if (!nj)
		return;
	nj->r = r;
	nj->disk = disk;
	if (ddio_mailbox_open(r->env, &nj->box))
		fsc_job_drop(&nj->job);
	else
		near_send(nj);
}

void fsc_near_losing(struct fsc_reactor *r, const struct lane *lane)
{
	const struct ddio_conf *conf = r->session->conf;
	struct ddio_fs *fs = r->fs;
	uint32_t i;

	for (i = 0; i < fs->nnear; i++)
		if (atomic_load(&fs->near[i].r) == r && conf->disks[i].node == lane->node->index) {
			near_set(&fs->near[i], NULL, NULL);
			atomic_store(&fs->near[i].asked, false);
		}
}

static bool block_read(struct ddio_fs *fs, const struct ddio_file_record *rec, uint64_t block,
		       uint32_t from, uint8_t *buf, uint32_t len)
{
	const struct ddio_file_ref *ref = &rec->ref;
	const struct ddio_show_key key = { ref->id, ref->seed, block / rec->ndisks, ref->block,
					   ref->layout };
	uint32_t disk = rec->disks[block % rec->ndisks];

	return disk < fs->nnear && ddio_viewing_read(&fs->near[disk].viewing, &key, from, buf, len);
}

bool fsc_near_read(struct ddio_fs *fs, const struct ddio_file_record *rec, uint64_t at, size_t len,
		   uint8_t *buf)
{
	uint32_t size = rec->ref.block, from, n;

	for (; len; at += n, buf += n, len -= n) {
		from = (uint32_t)(at % size);
		n = len < size - from ? (uint32_t)len : size - from;
		if (!block_read(fs, rec, at / size, from, buf, n))
			return false;
	}
	return true;
}
