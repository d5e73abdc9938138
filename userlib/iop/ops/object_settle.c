// SPDX-License-Identifier: LGPL-2.1-or-later
/* An epoch was decided: what it has written becomes the file's, or is dropped, on every disk of a reactor. */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"
#include "iop/store/epoch.h"

/**
 * struct settle_part - one disk's part of a request
 */
struct settle_part {
	struct server_request *req;
	struct iop_disk *disk;
	struct store_wait wait;
	struct commit commit;
};

static void one_less(struct server_request *req)
{
	if (--req->pending)
		return;
	if (req->err)
		obj_fail(req, req->err, "settling an epoch");
	else
		server_reply(req, NULL, 0);
}

static void settle_committed(struct commit *commit, int err)
{
	struct settle_part *part = commit->arg;

	if (err && !part->req->err) {
		part->req->err = err;
		part->req->disk = part->disk;
	}
	one_less(part->req);
}

/* It is so in memory. */
static void settle_over(struct settle_part *part)
{
	if (!(part->req->obj.flags & DDIO_OBJ_DURABLE)) {
		one_less(part->req);
		return;
	}
	part->commit.done = settle_committed;
	part->commit.arg = part;
	store_commit(part->disk->store, &part->commit);
}

static void settled(struct store_wait *wait)
{
	settle_over(wait->arg);
}

static void settle_disk(struct server_request *req, struct iop_disk *disk, struct settle_part *part)
{
	struct store_epoch *e = store_epoch_find(disk->store, req->obj.offset, req->obj.file.id);

	*part = (struct settle_part){ .req = req, .disk = disk };
	part->wait.done = settled;
	part->wait.arg = part;
	ddio_list_init(&part->wait.link);
	/* One whose collective runs here ends with that. */
	if (e && store_epoch_look(e).since == UINT64_MAX)
		e = NULL;
	if (!e && !(req->obj.flags & DDIO_OBJ_DURABLE))
		return;
	req->pending++;
	if (e)
		store_epoch_end(e, req->obj.flags & DDIO_OBJ_COMMIT, &part->wait);
	else
		settle_over(part);
}

int serve_obj_settle(struct server_request *req, const void *payload)
{
	struct settle_part *parts;
	uint32_t i;
	int ret;

	if (!obj_decode(req, payload, req->msg.length, true, &ret))
		return ret;
	parts = calloc(req->reactor->ndisks + 1, sizeof(*parts));
	req->data = parts;
	if (!parts) {
		obj_fail(req, -ENOMEM, "settling an epoch");
		return 0;
	}
	req->pending = 1;
	for (i = 0; i < req->reactor->ndisks; i++)
		settle_disk(req, &req->reactor->disks[i], &parts[i]);
	one_less(req);
	return 0;
}
