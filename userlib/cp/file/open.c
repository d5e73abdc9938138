// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds or creates a file: first its name, then its objects. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cp/file/file.h"

/* Permissions of new files if none are given: the library does not read the process's umask. */
#define CREATE_MODE 0644

static void open_end(struct file_opening *job)
{
	if (job->error.status)
		ddio_file_record_free(&job->rec);
	job->done(job);
}

static void open_reserved(struct request_set *set)
{
	struct file_opening *job = set->arg;

	job->error = set->error;
	open_end(job);
}

static void open_reserve(struct file_opening *job)
{
	const struct ddio_striping *st = job->striping;
	struct ddio_msg_obj obj = { .file = job->rec.ref };
	uint32_t i;

	if (!(job->flags & DDIO_CREATE) || !st || !st->reserve) {
		open_end(job);
		return;
	}
	request_set_begin(&job->set, job->session, "reserve space", open_reserved, job);
	for (i = 0; i < job->rec.ndisks; i++) {
		obj.disk = job->rec.disks[i];
		obj.len = file_object_size(&job->rec, i, st->reserve);
		obj.len = (obj.len + job->rec.ref.block - 1) / job->rec.ref.block;
		if (obj.len)
			request_set_disk(&job->set, DDIO_OP_OBJ_RESERVE, &obj, i);
	}
	request_set_end(&job->set);
}

static void open_sized(struct node_request *request, const struct reply *reply)
{
	struct file_opening *job = request->arg;

	if (reply->status) {
		reply_error(&job->error, reply, job->name);
		open_end(job);
		return;
	}
	job->rec.size = 0;
	open_reserve(job);
}

static void open_cut(struct request_set *set)
{
	struct file_opening *job = set->arg;
	struct ddio_msg_ns_size msg = { .id = job->rec.ref.id };
	int err;

	job->error = set->error;
	if (job->error.status) {
		open_end(job);
		return;
	}
	request_init(&job->request, DDIO_OP_NS_SET_SIZE, open_sized, job);
	err = request_put(&job->request, ns_size, &msg);
	if (err) {
		error_set(&job->error, err, "%s: %s", job->name, strerror(-err));
		open_end(job);
		return;
	}
	request_names(job->session, &job->request);
}

static void open_truncate(struct file_opening *job)
{
	struct ddio_msg_obj obj = { .file = job->rec.ref };
	uint32_t i;

	if (!(job->flags & DDIO_TRUNCATE)) {
		open_reserve(job);
		return;
	}
	request_set_begin(&job->set, job->session, "truncate", open_cut, job);
	job->set.missing_ok = true;
	for (i = 0; i < job->rec.ndisks; i++) {
		obj.disk = job->rec.disks[i];
		request_set_disk(&job->set, DDIO_OP_OBJ_TRUNCATE, &obj, i);
	}
	request_set_end(&job->set);
}

static bool open_check_disks(struct file_opening *job)
{
	uint32_t i, ndisks = job->session->conf->ndisks;

	for (i = 0; i < job->rec.ndisks; i++) {
		if (job->rec.disks[i] < ndisks)
			continue;
		error_status(&job->error, DDIO_ST_STALE,
			     "%s lies on disk number %u, but the configuration has only %u disks",
			     job->name, job->rec.disks[i], ndisks);
		return false;
	}
	return true;
}

/* Keeps the end of a long path, which says more than its beginning. */
static void record_name(struct ddio_file_record *rec, const char *path)
{
	size_t len = strlen(path), skip = len > DDIO_MAX_NAME ? len - DDIO_MAX_NAME : 0;

	memcpy(rec->name, path + skip, len - skip + 1);
}

static void open_found(struct node_request *request, const struct reply *reply)
{
	struct file_opening *job = request->arg;
	int err;

	if (reply->status) {
		reply_error(&job->error, reply, job->name);
		open_end(job);
		return;
	}
	err = ddio_get_record(reply->payload, reply->len, &job->rec, NULL);
	if (err) {
		memset(&job->rec, 0, sizeof(job->rec));
		reply_malformed(&job->error, err, job->name);
		open_end(job);
	} else if (job->id && job->id != job->rec.ref.id) {
		error_status(&job->error, DDIO_ST_STALE, FILE_IS_ANOTHER, job->name);
		open_end(job);
	} else if (!open_check_disks(job)) {
		open_end(job);
	} else {
		record_name(&job->rec, job->name);
		open_truncate(job);
	}
}

/*
 * Creating
 */
static int striping_check(const struct ddio_session *s, const struct ddio_striping *st,
			  struct error *error)
{
	uint32_t i;

	if (st->struct_size != sizeof(*st) || st->reserved)
		error_set(
			error, -EINVAL,
			"striping: set struct_size to sizeof(struct ddio_striping) and reserved to 0");
	else if (st->block_size & (st->block_size - 1) ||
		 (st->block_size && st->block_size < DDIO_MIN_BLOCK) ||
		 st->block_size > DDIO_MAX_BLOCK)
		error_set(error, -EINVAL,
			  "striping: block size %u is not a power of two from %u to %u",
			  st->block_size, DDIO_MIN_BLOCK, DDIO_MAX_BLOCK);
	else if (st->layout > DDIO_RANDOM_TRACKS)
		error_set(error, -EINVAL, "striping: no layout %u", st->layout);
	else if (st->ndisks > s->conf->ndisks || (st->ndisks && !st->disks))
		error_set(error, -EINVAL,
			  "striping: %u disks, but the cluster has %u, or disks is NULL",
			  st->ndisks, s->conf->ndisks);
	for (i = 0; !error->status && i < st->ndisks; i++)
		if (st->disks[i] >= s->conf->ndisks)
			error_set(error, -EINVAL, "striping: no disk %u", st->disks[i]);
	return error->err;
}

static int create_record(struct file_opening *job, struct ddio_file_record *rec)
{
	const struct ddio_session *s = job->session;
	const struct ddio_striping *st = job->striping;
	uint32_t i;

	rec->ref.block = st && st->block_size ? st->block_size : s->conf->block;
	rec->ref.layout = st ? st->layout : DDIO_CONTIGUOUS;
	rec->ref.seed = st ? st->seed : 0;
	rec->ndisks = st && st->ndisks ? st->ndisks : s->conf->ndisks;
	rec->disks = calloc(rec->ndisks, sizeof(*rec->disks));
	if (!rec->disks) {
		error_set(&job->error, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < rec->ndisks; i++)
		rec->disks[i] = st && st->ndisks ? st->disks[i] : i;
	return 0;
}

static int open_put_create(struct file_opening *job)
{
	struct ddio_msg_ns_create msg = { .flags = job->flags & DDIO_EXCL ? DDIO_NS_EXCL : 0,
					  .mode = job->mode ? job->mode : CREATE_MODE,
					  .uid = geteuid(),
					  .gid = getegid() };
	int err;

	if (job->striping && striping_check(job->session, job->striping, &job->error))
		return job->error.err;
	err = create_record(job, &msg.rec);
	if (err)
		return err;
	strcpy(msg.path, job->name);
	request_init(&job->request, DDIO_OP_NS_CREATE, open_found, job);
	err = request_put(&job->request, ns_create, &msg);
	ddio_file_record_free(&msg.rec);
	return err;
}

int file_opening_find(const struct file_opening *job, struct node_request *request)
{
	bool way = job->dir && ddio_conf_knows_users(job->session->conf);
	struct ddio_msg_ns_name msg = { .id = way ? job->dir : job->id };

	if (way || !job->id)
		strcpy(msg.path, job->name);
	return request_put(request, ns_name, &msg);
}

static int open_put_lookup(struct file_opening *job)
{
	request_init(&job->request, DDIO_OP_NS_LOOKUP, open_found, job);
	return file_opening_find(job, &job->request);
}

static int open_check(struct file_opening *job)
{
	if (!file_name_ok(job->name))
		error_set(&job->error, -EINVAL, FILE_NAME_BYTES, DDIO_MAX_PATH);
	else if (job->flags & ~(DDIO_CREATE | DDIO_EXCL | DDIO_TRUNCATE))
		error_set(&job->error, -EINVAL, "%s: unknown flags %#x", job->name, job->flags);
	else if (job->id && job->flags & (DDIO_CREATE | DDIO_EXCL))
		error_set(&job->error, -EINVAL, "%s: a file is made by name", job->name);
	else if (job->mode & ~0777u)
		error_set(&job->error, -EINVAL, "%s: mode %#o has more than permissions", job->name,
			  job->mode);
	return job->error.err;
}

int file_opening_take(struct file_opening *job, const char *name, const struct ddio_open_opts *opts)
{
	const size_t old = offsetof(struct ddio_open_opts, dir);

	if (!opts || (opts->struct_size != sizeof(*opts) && opts->struct_size != old))
		return -EINVAL;
	job->dir = opts->struct_size == old ? 0 : opts->dir;
	if (job->dir ? !name || strchr(name, '/') || !opts->id : !name == !opts->id)
		return -EINVAL;
	job->name = name ? name : job->label;
	job->flags = opts->flags;
	job->mode = opts->mode;
	job->id = opts->id;
	job->striping = opts->striping;
	snprintf(job->label, sizeof(job->label), "file %llu", (unsigned long long)opts->id);
	return 0;
}

void file_open_begin(struct file_opening *job)
{
	int err;

	error_clear(&job->error);
	memset(&job->rec, 0, sizeof(job->rec));
	err = open_check(job);
	if (!err)
		err = job->flags & DDIO_CREATE ? open_put_create(job) : open_put_lookup(job);
	if (err) {
		if (!job->error.status)
			error_set(&job->error, err, "%s: %s", job->name, strerror(-err));
		open_end(job);
		return;
	}
	request_names(job->session, &job->request);
}
