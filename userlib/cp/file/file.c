// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open files: the user's handles and what can be done with them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"
#include "cp/group/fan/fan.h"
#include "cp/hold/hold.h"
#include "cp/node/grants.h"

struct ddio_file *file_new(struct ddio_session *session, struct ddio_file_record *rec)
{
	struct ddio_file *file = calloc(1, sizeof(*file));

	if (file)
		file->boot = calloc(rec->ndisks + 1, sizeof(*file->boot));
	if (!file || !file->boot) {
		free(file);
		ddio_file_record_free(rec);
		return NULL;
	}
	file->session = session;
	file->refs = 1;
	file->rec = *rec;
	ddio_list_add(&file->link, &session->files);
	file->granted = grant_hold(session, rec->ref.id);
	return file;
}

void file_get(struct ddio_file *file)
{
	file->refs++;
}

static void order_leave(struct order *order)
{
	struct ddio_group *group = order ? order->group : NULL;
	struct ddio_list ahead;

	ddio_list_init(&ahead);
	if (order)
		ddio_list_splice(&order->ahead, &ahead);
	order_drop(order);
	if (group)
		fans_close(group, &ahead);
}

static void file_free(struct ddio_file *file)
{
	ddio_list_del(&file->link);
	if (file->granted)
		grant_drop(file->session, file->rec.ref.id);
	ddio_file_record_free(&file->rec);
	order_leave(file->order);
	free(file->boot);
	free(file);
}

void file_put(struct ddio_file *file)
{
	if (!--file->refs)
		file_free(file);
}

void files_free(struct ddio_session *session)
{
	while (!ddio_list_empty(&session->files))
		file_free(ddio_list_first(&session->files, struct ddio_file, link));
}

/**
 * struct file_guard - a call that waits for what the name server says of the session's locks; on the caller's stack
 */
struct file_guard {
	struct hold_check check;
	struct session_call *call;
	void (*run)(struct session_call *call);
};

static void guard_done(struct hold_check *check)
{
	struct file_guard *g = ddio_container_of(check, struct file_guard, check);

	g->run(g->call);
}

static void guard_run(struct session_call *call)
{
	struct file_guard *g = call->guard;

	hold_check(call->session, &g->check);
}

int file_call_run(struct ddio_file *file, struct session_call *call,
		  void (*run)(struct session_call *call))
{
	struct file_guard g = { .check.done = guard_done, .call = call, .run = run };
	int ret;

	call->guard = &g;
	ret = call_run(file->session, call, guard_run);
	call->guard = NULL;
	return ret;
}

bool file_unmissed(const struct ddio_file *file, struct error *error)
{
	if (!hold_missed(file->session, file->rec.ref.id))
		return true;
	error_status(
		error, DDIO_ST_STALE,
		"%.200s: a lock of it was lost, and others may have changed it: unlock it, or close "
		"the file",
		file->rec.name);
	return false;
}

bool file_usable(const struct ddio_file *file, struct error *error)
{
	if (!file_unmissed(file, error))
		return false;
	if (!file->undecided)
		return true;
	error_set(error, -EBUSY, "%.200s was written in an epoch that is not decided",
		  file->rec.name);
	return false;
}

void file_stat_fill(struct ddio_file_stat *st, const struct ddio_file_record *rec)
{
	memset(st, 0, sizeof(*st));
	st->id = rec->ref.id;
	st->size = rec->size;
	st->ctime_ns = rec->ctime_ns;
	st->mtime_ns = rec->mtime_ns;
	st->block_size = rec->ref.block;
	st->layout = rec->ref.layout;
	st->seed = rec->ref.seed;
	st->ndisks = rec->ndisks;
}

/*
 * Open and close
 */
struct open_call {
	struct session_call call;
	struct file_opening job;
	struct ddio_file *file;
	struct ddio_file_stat *st;
};

static void open_done(struct file_opening *job)
{
	struct open_call *oc = job->arg;

	if (!job->error.status && oc->st) {
		file_stat_fill(oc->st, &job->rec);
		ddio_file_record_free(&job->rec);
	} else if (!job->error.status) {
		oc->file = file_new(job->session, &job->rec);
		if (oc->file)
			incarnations_opened(oc->file, job->flags);
		else
			error_set(&job->error, -ENOMEM, "%s: out of memory", job->name);
	}
	call_end(&oc->call, &job->error);
}

static void open_run(struct session_call *call)
{
	struct open_call *oc = ddio_container_of(call, struct open_call, call);

	oc->job.session = call->session;
	oc->job.done = open_done;
	oc->job.arg = oc;
	file_open_begin(&oc->job);
}

int ddio_open(struct ddio_session *session, const char *name, unsigned int flags,
	      const struct ddio_striping *striping, struct ddio_file **file)
{
	struct open_call oc = { .job = { .name = name, .flags = flags, .striping = striping } };
	int err;

	if (!session)
		return -EINVAL;
	if (!file)
		return session_fail(session, -EINVAL, "ddio_open: file is NULL");
	*file = NULL;
	err = call_run(session, &oc.call, open_run);
	*file = oc.file;
	return err;
}

int ddio_open_with(struct ddio_session *session, const char *name,
		   const struct ddio_open_opts *opts, struct ddio_file **file)
{
	struct open_call oc = { .file = NULL };
	int err;

	if (!session)
		return -EINVAL;
	if (file)
		*file = NULL;
	if (!file || file_opening_take(&oc.job, name, opts))
		return session_fail(
			session, -EINVAL,
			"ddio_open_with: file is NULL, struct_size is wrong, or not one of name and id, or no way");
	err = call_run(session, &oc.call, open_run);
	*file = oc.file;
	return err;
}

int ddio_stat(struct ddio_session *session, const char *name, struct ddio_file_stat *st)
{
	struct open_call oc = { .job = { .name = name }, .st = st };

	if (!session)
		return -EINVAL;
	if (!st)
		return session_fail(session, -EINVAL, "ddio_stat: st is NULL");
	return call_run(session, &oc.call, open_run);
}

struct file_call {
	struct session_call call;
	struct ddio_file *file;
	struct size_job size;
	struct request_set set;
	struct hold_ask drop;
	struct ddio_file_stat *st;
};

static void close_unlocked(struct hold_ask *ask)
{
	struct file_call *fc = ask->arg;

	file_put(fc->file);
	call_end(&fc->call, NULL);
}

static void close_run(struct session_call *call)
{
	struct file_call *fc = ddio_container_of(call, struct file_call, call);

	fc->drop.session = call->session;
	fc->drop.by = fc->file;
	fc->drop.name = fc->file->rec.name;
	fc->drop.dropped = close_unlocked;
	fc->drop.arg = fc;
	hold_drop(&fc->drop);
}

void ddio_close(struct ddio_file *file)
{
	struct file_call fc = { .file = file };

	if (file)
		call_run(file->session, &fc.call, close_run);
}

int64_t ddio_file_disk(const struct ddio_file *file, uint32_t i)
{
	return file && i < file->rec.ndisks ? (int64_t)file->rec.disks[i] : -EINVAL;
}

/*
 * Size
 */
static void size_done(struct size_job *job)
{
	struct file_call *fc = job->arg;

	if (fc->st && !job->error.status)
		file_stat_fill(fc->st, &fc->file->rec);
	call_end(&fc->call, &job->error);
}

static void size_was_set(struct size_job *job)
{
	struct file_call *fc = job->arg;

	incarnations_note(fc->file);
	call_end(&fc->call, &job->error);
}

static void stat_run(struct session_call *call)
{
	size_ask(&ddio_container_of(call, struct file_call, call)->size);
}

static void size_run(struct session_call *call)
{
	struct file_call *fc = ddio_container_of(call, struct file_call, call);

	if (!file_usable(fc->file, &fc->size.error)) {
		call_end(&fc->call, &fc->size.error);
		return;
	}
	incarnations_begin(fc->file);
	size_set(&fc->size);
}

int ddio_fstat(struct ddio_file *file, struct ddio_file_stat *st)
{
	struct file_call fc = { .file = file,
				.st = st,
				.size = { .file = file, .done = size_done, .arg = &fc } };

	if (!file)
		return -EINVAL;
	if (!st)
		return session_fail(file->session, -EINVAL, "ddio_fstat: st is NULL");
	return call_run(file->session, &fc.call, stat_run);
}

int ddio_set_size(struct ddio_file *file, uint64_t size)
{
	struct file_call fc = {
		.file = file,
		.size = { .file = file, .size = size, .done = size_was_set, .arg = &fc }
	};

	if (!file)
		return -EINVAL;
	if (size > DDIO_MAX_FILE)
		return session_fail(file->session, -EFBIG, "%s: a file has at most %llu bytes",
				    file->rec.name, (unsigned long long)DDIO_MAX_FILE);
	return file_call_run(file, &fc.call, size_run);
}

/*
 * Sync and caches
 */
static void set_done(struct request_set *set)
{
	struct file_call *fc = set->arg;

	call_end(&fc->call, &set->error);
}

static void sync_done(struct request_set *set)
{
	struct file_call *fc = set->arg;

	incarnations_check(fc->file, &set->error);
	call_end(&fc->call, &set->error);
}

static void sync_run(struct session_call *call)
{
	struct file_call *fc = ddio_container_of(call, struct file_call, call);

	if (!file_usable(fc->file, &fc->set.error)) {
		call_end(&fc->call, &fc->set.error);
		return;
	}
	file_sync_begin(&fc->set, fc->file, sync_done, fc);
}

int ddio_sync(struct ddio_file *file)
{
	struct file_call fc = { .file = file };

	return file ? file_call_run(file, &fc.call, sync_run) : -EINVAL;
}

static void drop_run(struct session_call *call)
{
	struct file_call *fc = ddio_container_of(call, struct file_call, call);

	file_drop_begin(&fc->set, fc->file, set_done, fc);
}

int ddio_drop_cache(struct ddio_file *file)
{
	struct file_call fc = { .file = file };

	return file ? call_run(file->session, &fc.call, drop_run) : -EINVAL;
}
