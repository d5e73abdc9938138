// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/batch.h"

struct batch_item {
	struct ddio_request request;
	struct ddio_batch *batch;
	uint64_t key;
};

void batch_begin(struct ddio_batch *batch, struct ddio_session *session, const char *what,
		 void (*done)(struct ddio_batch *batch), void *arg)
{
	batch->session = session;
	batch->what = what;
	batch->left = 1;
	batch->missing_ok = false;
	batch->reply = NULL;
	batch->done = done;
	batch->arg = arg;
	error_clear(&batch->error);
}

static void batch_put(struct ddio_batch *batch)
{
	if (!--batch->left)
		batch->done(batch);
}

void batch_end(struct ddio_batch *batch)
{
	batch_put(batch);
}

void batch_fail(struct ddio_batch *batch, int err, const char *why)
{
	if (!batch->error.status)
		error_set(&batch->error, err, "%s: %s", batch->what, why);
}

static void item_done(struct ddio_request *request, const struct reply *reply)
{
	struct batch_item *item = ddio_container_of(request, struct batch_item, request);
	struct ddio_batch *batch = item->batch;
	struct error error;

	error_clear(&error);
	if (reply->status == DDIO_ST_NOT_FOUND && batch->missing_ok)
		error_clear(&error);
	else if (reply->status)
		reply_error(&error, reply, batch->what);
	else if (batch->reply)
		batch->reply(batch, item->key, reply, &error);
	error_first(&batch->error, &error);
	free(item);
	batch_put(batch);
}

static struct batch_item *item_new(struct ddio_batch *batch, uint16_t opcode, uint64_t key)
{
	struct batch_item *item = malloc(sizeof(*item));

	if (!item) {
		batch_fail(batch, -ENOMEM, "out of memory");
		return NULL;
	}
	request_init(&item->request, opcode, item_done, NULL);
	item->batch = batch;
	item->key = key;
	return item;
}

void batch_disk(struct ddio_batch *batch, uint16_t opcode, const struct ddio_msg_obj *obj,
		uint64_t key)
{
	struct batch_item *item = item_new(batch, opcode, key);
	int err;

	if (!item)
		return;
	err = request_put(&item->request, obj, obj);
	if (err) {
		batch_fail(batch, err, strerror(-err));
		free(item);
		return;
	}
	batch->left++;
	request_disk(batch->session, obj->disk, &item->request);
}

void batch_lane(struct ddio_batch *batch, struct lane *lane, uint16_t opcode, const void *payload,
		size_t len, uint64_t key)
{
	struct batch_item *item = item_new(batch, opcode, key);
	void *room;

	if (!item)
		return;
	room = request_room(&item->request, len);
	if (!room) {
		batch_fail(batch, -ENOMEM, "out of memory");
		free(item);
		return;
	}
	if (len)
		memcpy(room, payload, len);
	batch->left++;
	request_lane(lane, &item->request);
}
