// SPDX-License-Identifier: LGPL-2.1-or-later
/* The size of a file, its durability, and its blocks in caches. */
#include <errno.h>
#include <string.h>
#include "cp/file/file.h"

uint64_t file_object_size(const struct ddio_file_record *rec, uint32_t i, uint64_t size)
{
	uint64_t full = size / rec->ref.block, last = full % rec->ndisks;
	uint64_t bytes = (full / rec->ndisks + (i < last)) * rec->ref.block;

	return i == last ? bytes + size % rec->ref.block : bytes;
}

static void size_end(struct size_job *job)
{
	if (!job->error.status)
		job->file->rec.size = job->size;
	job->done(job);
}

/* Takes the record of a reply; without one, which @must have one, the size is as asked for. */
static void size_read(struct size_job *job, const struct reply *reply, bool must)
{
	struct ddio_file_record rec;
	int err;

	if (!reply->len && !must)
		return;
	err = ddio_get_record(reply->payload, reply->len, &rec, NULL);
	if (err) {
		reply_malformed(&job->error, err, job->file->rec.name);
		return;
	}
	if (rec.ref.id != job->file->rec.ref.id || rec.ref.block != job->file->rec.ref.block ||
	    rec.ndisks != job->file->rec.ndisks)
		error_status(&job->error, DDIO_ST_STALE, "%s is no longer the file that was opened",
			     job->file->rec.name);
	job->size = rec.size;
	job->file->rec.mtime_ns = rec.mtime_ns;
	ddio_file_record_free(&rec);
}

/* The file may have been removed, or have been lost with the power before it was synced. */
static void size_refused(struct size_job *job, const struct reply *reply)
{
	if (reply->status == DDIO_ST_NOT_FOUND)
		error_status(&job->error, DDIO_ST_STALE, "%s was removed", job->file->rec.name);
	else
		reply_error(&job->error, reply, job->file->rec.name);
}

static void size_asked(struct node_request *request, const struct reply *reply)
{
	struct size_job *job = request->arg;

	if (reply->status)
		size_refused(job, reply);
	else
		size_read(job, reply, true);
	size_end(job);
}

static void size_changed(struct node_request *request, const struct reply *reply)
{
	struct size_job *job = request->arg;

	if (reply->status)
		size_refused(job, reply);
	else
		size_read(job, reply, false);
	if (job->extends && job->size < job->file->rec.size && !reply->len)
		job->size = job->file->rec.size;
	size_end(job);
}

static void size_fail(struct size_job *job, int err)
{
	error_set(&job->error, err, "%s: %s", job->file->rec.name, strerror(-err));
	size_end(job);
}

void size_ask(struct size_job *job)
{
	struct ddio_msg_ns_name msg = { .id = job->file->rec.ref.id };
	int err;

	error_clear(&job->error);
	request_init(&job->request, DDIO_OP_NS_LOOKUP, size_asked, job);
	err = request_put(&job->request, ns_name, &msg);
	if (err)
		size_fail(job, err);
	else
		request_names(job->file->session, &job->request);
}

static void size_send(struct size_job *job, uint16_t opcode)
{
	struct ddio_msg_ns_size msg = { .id = job->file->rec.ref.id, .size = job->size };
	int err;

	request_init(&job->request, opcode, size_changed, job);
	err = request_put(&job->request, ns_size, &msg);
	if (err)
		size_fail(job, err);
	else
		request_names(job->file->session, &job->request);
}

void size_extend(struct size_job *job)
{
	error_clear(&job->error);
	job->extends = true;
	size_send(job, DDIO_OP_NS_EXTEND);
}

/* Cuts the objects first: what lay beyond must not come back if the file grows again. */
static void size_cut(struct request_set *set)
{
	struct size_job *job = set->arg;

	job->error = set->error;
	if (job->error.status)
		size_end(job);
	else
		size_send(job, DDIO_OP_NS_SET_SIZE);
}

void size_set(struct size_job *job)
{
	const struct ddio_file_record *rec = &job->file->rec;
	struct ddio_msg_obj obj = { .file = rec->ref };
	uint32_t i;

	error_clear(&job->error);
	request_set_begin(&job->set, job->file->session, rec->name, size_cut, job);
	job->set.missing_ok = true;
	for (i = 0; i < rec->ndisks; i++) {
		obj.disk = rec->disks[i];
		obj.offset = 0;
		obj.len = file_object_size(rec, i, job->size);
		request_set_disk(&job->set, DDIO_OP_OBJ_TRUNCATE, &obj, i);
	}
	request_set_end(&job->set);
}

/* Returns true if the reactor was not asked yet; of an unknown node every disk is asked. */
static bool reactor_first(struct ddio_session *s, uint32_t disk, uint64_t mark)
{
	const struct cluster_disk *place = disk_look(s, disk);
	struct cluster_node *node = s->nodes[s->conf->disks[disk].node];
	struct lane *lane;

	if (!node || !node->known || !place->known)
		return true;
	lane = node_lane(node, place->reactor);
	if (!lane)
		return true;
	if (lane->mark == mark)
		return false;
	lane->mark = mark;
	return true;
}

void file_reactors_ask(struct request_set *set, struct ddio_file *file, uint16_t opcode,
		       const struct ddio_msg_obj *like)
{
	struct ddio_msg_obj obj = *like;
	uint32_t i;

	for (i = 0; i < file->rec.ndisks; i++) {
		obj.disk = file->rec.disks[i];
		if (reactor_first(file->session, obj.disk, file->session->mark))
			request_set_disk(set, opcode, &obj, i);
	}
}

void file_drop_begin(struct request_set *set, struct ddio_file *file,
		     void (*done)(struct request_set *set), void *arg)
{
	const struct ddio_msg_obj all = { .file = file->rec.ref };

	file->session->mark++;
	request_set_begin(set, file->session, file->rec.name, done, arg);
	set->missing_ok = true;
	file_reactors_ask(set, file, DDIO_OP_DROP_CACHE, &all);
	request_set_end(set);
}

void file_sync_begin(struct request_set *set, struct ddio_file *file,
		     void (*done)(struct request_set *set), void *arg)
{
	const struct ddio_msg_obj all = { .file = file->rec.ref };
	struct ddio_session *s = file->session;
	struct lane *names = names_lane(s);
	struct ddio_msg_obj obj = { .file = file->rec.ref, .disk = UINT32_MAX };
	uint8_t buf[REQUEST_INLINE];
	ssize_t len;

	s->mark++;
	request_set_begin(set, s, file->rec.name, done, arg);
	file_reactors_ask(set, file, DDIO_OP_OBJ_SYNC, &all);
	/* The name server commits at every sync that its reactor gets. */
	if (names->mark != s->mark) {
		len = ddio_put_obj(buf, sizeof(buf), &obj);
		if (len < 0)
			request_set_fail(set, (int)len, strerror((int)-len));
		else
			request_set_lane(set, names, DDIO_OP_OBJ_SYNC, buf, (size_t)len, 0);
	}
	request_set_end(set);
}
