// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that are one request to the name server each, made on reactor 0. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cp/fs/names/call.h"
#include "cp/fs/names/dirattr.h"

static void call_done(struct fsc_ask *ask)
{
	struct fsc_call *call = fsc_call_of(ask);
	struct fsc_error error = ask->error;
	struct ddio_fs_reply reply = { 0 };
	void *room = call->room;

	if (!error.err && call->answer && !call->answer(call, &reply))
		return;
	fsc_job_end(&call->job, &error, &reply);
	free(room);
}

static void call_run_ask(struct fsc_job *job)
{
	struct fsc_call *call = ddio_container_of(job, struct fsc_call, job);

	if (call->err)
		fsc_job_fail(job, call->err, strerror(-call->err));
	else
		fsc_ask(&call->ask);
}

struct fsc_call *fsc_call_new(struct ddio_fs *fs, uint16_t opcode, ssize_t len, ddio_fs_done done,
			      void *arg)
{
	size_t room = len > 0 ? (size_t)len : 0;
	struct fsc_call *call = fsc_job_new(fs, sizeof(*call) + room, done, arg);

	if (!call)
		return NULL;
	call->err = len < 0 ? (int)len : 0;
	fsc_ask_init(&call->ask, &fs->reactor[0], opcode, call->payload, room, call_done);
	return call;
}

void fsc_call_post(struct fsc_call *call, int err)
{
	if (!call->err)
		call->err = err;
	fsc_job_post(&call->job, &call->job.fs->reactor[0], call_run_ask);
}

int fsc_name_set(char room[DDIO_MAX_NAME + 1], const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len > DDIO_MAX_NAME)
		return -ENAMETOOLONG;
	if (!len || strchr(name, '/'))
		return len ? -EINVAL : -ENOENT;
	memcpy(room, name, len + 1);
	return 0;
}

int fsc_made(struct fsc_ask *ask, const struct reply *reply, struct ddio_msg_fs_opened *x)
{
	int err = ddio_get_fs_opened(reply->payload, reply->len, x);

	if (err)
		fsc_ask_malformed(ask);
	fsc_dirattr_dir(ask, !err && x->flags & DDIO_FS_OPENED_DIR ? &x->dir : NULL);
	return err;
}

int fsc_make_set(struct ddio_msg_fs_make *x, uint64_t parent, const char *name,
		 const struct ddio_fs_new *make)
{
	size_t len = make->target ? strlen(make->target) : 0;

	x->parent = parent;
	x->mode = make->mode;
	x->umask = make->umask & 0777;
	x->uid = make->uid;
	x->gid = make->gid;
	x->rdev = make->rdev;
	if (len > DDIO_FS_TARGET_MAX)
		return -ENAMETOOLONG;
	if (S_ISLNK(make->mode) && !len)
		return -ENOENT;
	if (S_ISLNK(make->mode))
		memcpy(x->target, make->target, len + 1);
	return fsc_name_set(x->name, name);
}
