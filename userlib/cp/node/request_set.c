// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/request_set.h"

struct set_item {
	struct node_request request;
	struct request_set *set;
	uint64_t key;
};

void request_set_begin(struct request_set *set, struct ddio_session *session, const char *what,
		       void (*done)(struct request_set *set), void *arg)
{
	set->session = session;
	set->what = what;
	set->left = 1;
	set->missing_ok = false;
	set->reply = NULL;
	set->done = done;
	set->arg = arg;
	error_clear(&set->error);
}

static void set_put(struct request_set *set)
{
	if (!--set->left)
		set->done(set);
}

void request_set_end(struct request_set *set)
{
	set_put(set);
}

void request_set_fail(struct request_set *set, int err, const char *why)
{
	if (!set->error.status)
		error_set(&set->error, err, "%s: %s", set->what, why);
}

static void item_done(struct node_request *request, const struct reply *reply)
{
	struct set_item *item = ddio_container_of(request, struct set_item, request);
	struct request_set *set = item->set;
	struct error error;

	error_clear(&error);
	if (reply->status == DDIO_ST_NOT_FOUND && set->missing_ok)
		error_clear(&error);
	else if (reply->status)
		reply_error(&error, reply, set->what);
	else if (set->reply)
		set->reply(set, item->key, reply, &error);
	error_first(&set->error, &error);
	free(item);
	set_put(set);
}

static struct set_item *item_new(struct request_set *set, uint16_t opcode, uint64_t key)
{
	struct set_item *item = malloc(sizeof(*item));

	if (!item) {
		request_set_fail(set, -ENOMEM, "out of memory");
		return NULL;
	}
	request_init(&item->request, opcode, item_done, NULL);
	item->set = set;
	item->key = key;
	return item;
}

void request_set_disk(struct request_set *set, uint16_t opcode, const struct ddio_msg_obj *obj,
		      uint64_t key)
{
	struct set_item *item = item_new(set, opcode, key);
	int err;

	if (!item)
		return;
	err = request_put(&item->request, obj, obj);
	if (err) {
		request_set_fail(set, err, strerror(-err));
		free(item);
		return;
	}
	set->left++;
	request_disk(set->session, obj->disk, &item->request);
}

/* Returns a request with a copy of the payload, which counts; NULL: no memory, and that is noted. */
static struct set_item *item_with(struct request_set *set, uint16_t opcode, const void *payload,
				  size_t len, uint64_t key)
{
	struct set_item *item = item_new(set, opcode, key);
	void *room = item ? request_room(&item->request, len) : NULL;

	if (item && !room) {
		request_set_fail(set, -ENOMEM, "out of memory");
		free(item);
	}
	if (!room)
		return NULL;
	if (len)
		memcpy(room, payload, len);
	set->left++;
	return item;
}

void request_set_any(struct request_set *set, uint16_t opcode, uint32_t disk, const void *payload,
		     size_t len, uint64_t key)
{
	struct set_item *item = item_with(set, opcode, payload, len, key);

	if (item)
		request_disk(set->session, disk, &item->request);
}

void request_set_lane(struct request_set *set, struct lane *lane, uint16_t opcode,
		      const void *payload, size_t len, uint64_t key)
{
	struct set_item *item = item_with(set, opcode, payload, len, key);

	if (item)
		request_lane(lane, &item->request);
}
