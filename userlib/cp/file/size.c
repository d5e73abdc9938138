// SPDX-License-Identifier: LGPL-2.1-or-later
/* The size of a file, and making it durable. */
#include <errno.h>
#include <string.h>
#include "cp/file/file.h"

uint64_t ddio_file_object_size(const struct ddio_file_record *rec, uint32_t i, uint64_t size)
{
	uint64_t full = size / rec->ref.block, last = full % rec->ndisks;
	uint64_t bytes = (full / rec->ndisks + (i < last)) * rec->ref.block;

	return i == last ? bytes + size % rec->ref.block : bytes;
}

static void size_end(struct ddio_size_job *job)
{
	if (!job->error.status)
		job->file->rec.size = job->size;
	job->done(job);
}

/* A record if the answer has one; what was asked for else. */
static void size_read(struct ddio_size_job *job, const struct ddio_reply *reply, bool must)
{
	struct ddio_file_record rec;
	int err;

	if (!reply->len && !must)
		return;
	err = ddio_get_record(reply->payload, reply->len, &rec, NULL);
	if (err) {
		ddio_error_set(&job->error, err,
			       "%s: the name space sent a record that makes no "
			       "sense",
			       job->file->rec.name);
		return;
	}
	if (rec.ref.id != job->file->rec.ref.id || rec.ref.block != job->file->rec.ref.block ||
	    rec.ndisks != job->file->rec.ndisks)
		ddio_error_status(&job->error, DDIO_ST_STALE, "%s is not the file it was",
				  job->file->rec.name);
	job->size = rec.size;
	job->file->rec.mtime_ns = rec.mtime_ns;
	ddio_file_record_free(&rec);
}

static void size_asked(struct ddio_request *request, const struct ddio_reply *reply)
{
	struct ddio_size_job *job = request->arg;

	if (reply->status == DDIO_ST_NOT_FOUND)
		ddio_error_status(&job->error, DDIO_ST_STALE, "%s was removed",
				  job->file->rec.name);
	else if (reply->status)
		ddio_reply_error(&job->error, reply, job->file->rec.name);
	else
		size_read(job, reply, true);
	size_end(job);
}

static void size_changed(struct ddio_request *request, const struct ddio_reply *reply)
{
	struct ddio_size_job *job = request->arg;

	if (reply->status)
		ddio_reply_error(&job->error, reply, job->file->rec.name);
	else
		size_read(job, reply, false);
	if (job->extends && job->size < job->file->rec.size && !reply->len)
		job->size = job->file->rec.size;
	size_end(job);
}

static void size_fail(struct ddio_size_job *job, int err)
{
	ddio_error_set(&job->error, err, "%s: %s", job->file->rec.name, strerror(-err));
	size_end(job);
}

void ddio_size_ask(struct ddio_size_job *job)
{
	struct ddio_msg_ns_name msg = { .id = job->file->rec.ref.id };
	int err;

	ddio_error_clear(&job->error);
	ddio_request_init(&job->request, DDIO_OP_NS_LOOKUP, size_asked, job);
	err = ddio_request_put(&job->request, ns_name, &msg);
	if (err)
		size_fail(job, err);
	else
		ddio_request_names(job->file->session, &job->request);
}

static void size_send(struct ddio_size_job *job, uint16_t opcode)
{
	struct ddio_msg_ns_size msg = { .id = job->file->rec.ref.id, .size = job->size };
	int err;

	ddio_request_init(&job->request, opcode, size_changed, job);
	err = ddio_request_put(&job->request, ns_size, &msg);
	if (err)
		size_fail(job, err);
	else
		ddio_request_names(job->file->session, &job->request);
}

void ddio_size_extend(struct ddio_size_job *job)
{
	ddio_error_clear(&job->error);
	job->extends = true;
	size_send(job, DDIO_OP_NS_EXTEND);
}

/* The objects are cut first: what lay beyond must not come back if the file grows again. */
static void size_cut(struct ddio_batch *batch)
{
	struct ddio_size_job *job = batch->arg;

	job->error = batch->error;
	if (job->error.status)
		size_end(job);
	else
		size_send(job, DDIO_OP_NS_SET_SIZE);
}

void ddio_size_set(struct ddio_size_job *job)
{
	const struct ddio_file_record *rec = &job->file->rec;
	struct ddio_msg_obj obj = { .file = rec->ref };
	uint32_t i;

	ddio_error_clear(&job->error);
	ddio_batch_begin(&job->batch, job->file->session, rec->name, size_cut, job);
	job->batch.missing_ok = true;
	for (i = 0; i < rec->ndisks; i++) {
		obj.disk = rec->disks[i];
		obj.offset = 0;
		obj.len = ddio_file_object_size(rec, i, job->size);
		ddio_batch_disk(&job->batch, DDIO_OP_OBJ_TRUNCATE, &obj, i);
	}
	ddio_batch_end(&job->batch);
}

/* One request a reactor does for all its disks; to nodes that are yet unknown one a disk. */
static bool reactor_first(struct ddio_session *s, uint32_t disk, uint64_t mark)
{
	struct ddio_disk_place *place = &s->disks[disk];
	struct ddio_node *node = &s->nodes[place->node];
	struct ddio_lane *lane;

	if (!node->known || !place->known)
		return true;
	lane = ddio_node_lane(node, place->reactor);
	if (!lane)
		return true;
	if (lane->mark == mark)
		return false;
	lane->mark = mark;
	return true;
}

/* To every reactor with disks of the file. */
static void reactors_ask(struct ddio_batch *batch, struct ddio_file *file, uint16_t opcode)
{
	struct ddio_msg_obj obj = { .file = file->rec.ref };
	uint32_t i;

	for (i = 0; i < file->rec.ndisks; i++) {
		obj.disk = file->rec.disks[i];
		if (reactor_first(file->session, obj.disk, file->session->mark))
			ddio_batch_disk(batch, opcode, &obj, i);
	}
}

void ddio_file_drop_begin(struct ddio_batch *batch, struct ddio_file *file,
			  void (*done)(struct ddio_batch *batch), void *arg)
{
	file->session->mark++;
	ddio_batch_begin(batch, file->session, file->rec.name, done, arg);
	batch->missing_ok = true;
	reactors_ask(batch, file, DDIO_OP_DROP_CACHE);
	ddio_batch_end(batch);
}

void ddio_file_sync_begin(struct ddio_batch *batch, struct ddio_file *file,
			  void (*done)(struct ddio_batch *batch), void *arg)
{
	struct ddio_session *s = file->session;
	struct ddio_lane *names = s->nodes[s->conf->ns_node].lanes[0];
	struct ddio_msg_obj obj = { .file = file->rec.ref, .disk = UINT32_MAX };
	uint8_t buf[DDIO_REQUEST_INLINE];
	ssize_t len;

	s->mark++;
	ddio_batch_begin(batch, s, file->rec.name, done, arg);
	reactors_ask(batch, file, DDIO_OP_OBJ_SYNC);
	/* The name space commits at every sync that its reactor gets. */
	if (names->mark != s->mark) {
		len = ddio_put_obj(buf, sizeof(buf), &obj);
		if (len < 0)
			ddio_batch_fail(batch, (int)len, strerror((int)-len));
		else
			ddio_batch_lane(batch, names, DDIO_OP_OBJ_SYNC, buf, (size_t)len, 0);
	}
	ddio_batch_end(batch);
}
