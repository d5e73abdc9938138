// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of requests about what a disk holds and where: extents and lists. */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

static uint32_t most_entries(const struct server_request *req)
{
	if (!req->obj.len || req->obj.len > DDIO_MAX_BATCH)
		return DDIO_MAX_BATCH;
	return (uint32_t)req->obj.len;
}

/* Returns true if the blocks from @at on count as written because the cache has data for them; *@run becomes
 * how many are alike. */
static bool extent_written(struct cache *cache, const struct object *obj, uint64_t at,
			   uint64_t *run)
{
	uint64_t dirty = cache_next_newer(cache, obj, at, *run);
	uint64_t n = 1;

	if (dirty > at) {
		*run = dirty - at < *run ? dirty - at : *run;
		return false;
	}
	while (n < *run && cache_newer(cache, obj, at + n))
		n++;
	*run = n;
	return true;
}

/* Returns how many blocks of the cache are looked at to tell which of @run, that were never written, have data there. */
static uint64_t probes(struct cache *cache, uint64_t run)
{
	struct cache_stats stats;

	cache_stats(cache, &stats);
	return run < stats.blocks ? run : stats.blocks;
}

/* Lists the extents from block @at on, at most @max; fewer if many blocks of the cache have been looked at for them. */
static void extents_fill(struct server_request *req, uint64_t at, uint32_t max,
			 struct ddio_msg_extents *x)
{
	struct bound *bound = &req->reactor->bounds.at[BOUND_PROBED];
	uint64_t end = object_end(req->object), start, run, probed = 0;
	struct cache *cache = req->disk->cache;
	bool written;

	for (; at < end && !x->more; at += run) {
		if (!object_lookup(req->object, at, &start, &run, &written))
			continue;
		x->more = x->n == max || probed >= bound->limit;
		bound->hits += probed >= bound->limit;
		if (x->more)
			break;
		if (run > end - at)
			run = end - at;
		if (!written) {
			probed += probes(cache, run);
			written = extent_written(cache, req->object, at, &run);
		}
		x->ext[x->n++] = (struct ddio_wire_extent){
			.block = at,
			.start = start,
			.count = run,
			.flags = written ? 0 : DDIO_EXTENT_UNWRITTEN,
		};
	}
	bound_seen(bound, probed);
}

int serve_obj_extents(struct server_request *req, const void *payload)
{
	struct ddio_msg_extents x = { 0 };
	uint32_t max;
	int ret, err;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	err = obj_get(req, false);
	if (err && err != -ENOENT)
		return 0;
	if (err && obj_missing_fails(req))
		return 0;
	max = most_entries(req);
	x.ext = malloc(max * sizeof(*x.ext));
	if (!x.ext) {
		obj_fail(req, -ENOMEM, "listing its extents");
		return 0;
	}
	if (!err)
		extents_fill(req, req->obj.offset, max, &x);
	SERVER_REPLY(req, extents, &x);
	free(x.ext);
	return 0;
}

int serve_obj_list(struct server_request *req, const void *payload)
{
	struct ddio_msg_obj_list x = { 0 };
	uint32_t max;
	int ret;

	if (!obj_decode(req, payload, req->msg.length, true, &ret))
		return ret;
	if (!req->disk) {
		obj_fail_disk(req);
		return 0;
	}
	max = most_entries(req);
	x.ids = malloc((max + 1) * sizeof(*x.ids));
	if (!x.ids) {
		server_fail(req, DDIO_ST_NO_MEMORY, "disk %s: no memory for the list",
			    req->disk->name);
		return 0;
	}
	x.n = store_list(req->disk->store, req->obj.offset, x.ids, max);
	/* If a full page was the last one, the next is empty. */
	x.more = x.n == max;
	SERVER_REPLY(req, obj_list, &x);
	free(x.ids);
	return 0;
}

int serve_obj_whose(struct server_request *req, const void *payload)
{
	int ret, err;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	err = store_ref(req->disk->store, req->obj.file.id, &req->obj.file);
	if (err)
		obj_fail(req, err, "finding the object");
	else
		SERVER_REPLY(req, obj, &req->obj);
	return 0;
}
