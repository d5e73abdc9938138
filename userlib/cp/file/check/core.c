// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the files of a check share: its lines, and its questions to disks and to the name server. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cp/file/check/check.h"

void check_tell(struct cluster_check *c, const char *fmt, ...)
{
	char line[DDIO_MAX_TEXT + 300];
	va_list ap;

	if (!c->fn)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	c->fn(c->arg, line);
}

bool check_cut_off(const struct error *error)
{
	return error->status == DDIO_ST_NODE_LOST || error->status == DDIO_ST_TIMEOUT ||
	       error->status == DDIO_ST_SHUTDOWN || !error->status;
}

int check_by_id_disk(const void *a, const void *b)
{
	const struct found_object *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->disk < y->disk ? -1 : x->disk > y->disk;
}

static void ask_got(struct node_request *request, const struct reply *reply)
{
	struct check_ask *a = request->arg;
	struct error error;
	int err = 0;

	error_clear(&error);
	if (reply->status)
		reply_error(&error, reply, "check");
	else if (a->opcode == DDIO_OP_FSCK)
		err = ddio_get_fsck(reply->payload, reply->len, &a->fsck);
	else if (a->opcode == DDIO_OP_OBJ_LIST)
		err = ddio_get_obj_list(reply->payload, reply->len, &a->list);
	else if (a->opcode == DDIO_OP_OBJ_WHOSE)
		err = ddio_get_obj(reply->payload, reply->len, &a->obj);
	else if (a->opcode == DDIO_OP_OBJ_STAT)
		err = ddio_get_obj_stat(reply->payload, reply->len, &a->stat);
	if (err)
		error_set(&error, err, "check: malformed reply");
	call_end(&a->call, &error);
}

static void ask_run(struct session_call *call)
{
	struct check_ask *a = ddio_container_of(call, struct check_ask, call);
	struct error error;
	int err;

	request_init(&a->request, a->opcode, ask_got, a);
	err = request_put(&a->request, obj, &a->obj);
	if (err) {
		error_set(&error, err, "check: %s", strerror(-err));
		call_end(call, &error);
	} else if (a->names) {
		request_names(call->session, &a->request);
	} else {
		request_disk(call->session, a->obj.disk, &a->request);
	}
}

enum { BUSY_TRIES = 100, BUSY_NS = 50 * 1000 * 1000 };

/* Sleeps, at a gate that is never opened. */
static void rest(struct ddio_env *env)
{
	struct ddio_gate gate;

	ddio_gate_init(&gate);
	ddio_gate_wait(env, &gate, ddio_env_now(env) + BUSY_NS);
}

int check_ask(struct cluster_check *c, struct check_ask *a, uint16_t opcode)
{
	int err, tries = 0;

	a->opcode = opcode;
	if (c->repair && opcode != DDIO_OP_OBJ_SYNC)
		a->obj.flags = DDIO_OBJ_REPAIR;
	if (c->drop && opcode == DDIO_OP_FSCK && !a->names)
		a->obj.flags |= DDIO_OBJ_DROP;
	while ((err = call_run(c->session, &a->call, ask_run)) == -EBUSY && ++tries < BUSY_TRIES)
		rest(c->session->env);
	return err;
}
