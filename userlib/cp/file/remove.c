// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Removes a file, in an order that loses no space if it is interrupted: the
 * name server takes its name away, every disk forgets its object, the name
 * server forgets the file.  A file that has lost its name can be removed by its
 * number, which finishes a removal that was interrupted.
 *
 * A name server that was restarted meanwhile does not forget the file yet, since a mount may have it open; it does so by itself,
 * later.  If it has lost its power, the name may be back: it is taken away once more, if it is still that file's.
 */
#include <errno.h>
#include <string.h>
#include "cp/file/file.h"

/* So often a name is taken away again that was back. */
#define REMOVE_AGAIN 8

struct remove_call {
	struct session_call call;
	const char *name;
	uint64_t id;
	uint32_t again;
	struct ddio_file_record rec;
	struct node_request request;
	struct request_set set;
	struct error error;
};

static void remove_end(struct remove_call *rc)
{
	ddio_file_record_free(&rc->rec);
	call_end(&rc->call, &rc->error);
}

static void remove_run(struct session_call *call);

/* Begins again if the name is back; another file that has it by now, or a file without one, stays. */
static void remove_looked_up(struct node_request *request, const struct reply *reply)
{
	struct remove_call *rc = request->arg;
	struct ddio_file_record rec = { .ndisks = 0 };
	int err = reply->status ? 0 : ddio_get_record(reply->payload, reply->len, &rec, NULL);
	bool back = !reply->status && !err && rec.ref.id == rc->rec.ref.id;

	if (reply->status && reply->status != DDIO_ST_NOT_FOUND)
		reply_error(&rc->error, reply, rc->name);
	else if (err)
		reply_malformed(&rc->error, err, rc->name);
	if (!reply->status && !err)
		ddio_file_record_free(&rec);
	if (!back) {
		remove_end(rc);
		return;
	}
	ddio_file_record_free(&rc->rec);
	memset(&rc->rec, 0, sizeof(rc->rec));
	remove_run(&rc->call);
}

static void remove_ask(struct remove_call *rc, uint16_t opcode,
		       void (*done)(struct node_request *request, const struct reply *reply))
{
	struct ddio_msg_ns_name msg = { 0 };
	int err;

	if (rc->id)
		msg.id = rc->id;
	else
		strcpy(msg.path, rc->name);
	request_init(&rc->request, opcode, done, rc);
	err = request_put(&rc->request, ns_name, &msg);
	if (err) {
		error_set(&rc->error, err, "%s: %s", rc->name, strerror(-err));
		remove_end(rc);
		return;
	}
	request_names(rc->call.session, &rc->request);
}

static void remove_forgotten(struct node_request *request, const struct reply *reply)
{
	struct remove_call *rc = request->arg;

	if (reply->status == DDIO_ST_BUSY && !rc->id && rc->again++ < REMOVE_AGAIN) {
		remove_ask(rc, DDIO_OP_NS_LOOKUP, remove_looked_up);
		return;
	}
	/* Another process that removes it may have been faster. */
	if (reply->status && reply->status != DDIO_ST_NOT_FOUND)
		reply_error(&rc->error, reply, rc->name);
	remove_end(rc);
}

static void remove_objects_gone(struct request_set *set)
{
	struct remove_call *rc = set->arg;
	struct ddio_msg_ns_size msg = { .id = rc->rec.ref.id };
	int err;

	rc->error = set->error;
	if (rc->error.status) {
		remove_end(rc);
		return;
	}
	request_init(&rc->request, DDIO_OP_NS_REMOVE_DONE, remove_forgotten, rc);
	err = request_put(&rc->request, ns_size, &msg);
	if (err) {
		error_set(&rc->error, err, "%s: %s", rc->name, strerror(-err));
		remove_end(rc);
		return;
	}
	request_names(rc->call.session, &rc->request);
}

/* Objects may be missing: another removal is under way, or was interrupted. */
static void remove_objects(struct remove_call *rc)
{
	struct ddio_msg_obj obj = { .file = rc->rec.ref };
	uint32_t i;

	request_set_begin(&rc->set, rc->call.session, rc->name, remove_objects_gone, rc);
	rc->set.missing_ok = true;
	for (i = 0; i < rc->rec.ndisks; i++) {
		obj.disk = rc->rec.disks[i];
		request_set_disk(&rc->set, DDIO_OP_OBJ_REMOVE, &obj, i);
	}
	request_set_end(&rc->set);
}

static void remove_marked(struct node_request *request, const struct reply *reply)
{
	struct remove_call *rc = request->arg;
	int err;

	if (reply->status) {
		reply_error(&rc->error, reply, rc->name);
		remove_end(rc);
		return;
	}
	err = ddio_get_record(reply->payload, reply->len, &rc->rec, NULL);
	if (err) {
		memset(&rc->rec, 0, sizeof(rc->rec));
		reply_malformed(&rc->error, err, rc->name);
		remove_end(rc);
		return;
	}
	/* A directory, or a file that has another name or is open in a mount. */
	if (!rc->rec.dying)
		remove_end(rc);
	else
		remove_objects(rc);
}

static void remove_run(struct session_call *call)
{
	struct remove_call *rc = ddio_container_of(call, struct remove_call, call);

	error_clear(&rc->error);
	remove_ask(rc, DDIO_OP_NS_REMOVE, remove_marked);
}

int ddio_remove(struct ddio_session *session, const char *name)
{
	struct remove_call rc = { .name = name };

	if (!session)
		return -EINVAL;
	if (!file_name_ok(name))
		return session_fail(session, -EINVAL, FILE_NAME_BYTES, DDIO_MAX_PATH);
	return call_run(session, &rc.call, remove_run);
}

int remove_orphan(struct ddio_session *session, uint64_t id)
{
	struct remove_call rc = { .name = "a file without a name", .id = id };

	return call_run(session, &rc.call, remove_run);
}
