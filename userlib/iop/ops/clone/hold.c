// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Somebody has a file for itself on one disk, for a while: whoever comes from now on waits (store_fetch()), the cache writes
 * back and forgets what it has of the file, and whoever came before is waited for.  The time is set at the beginning, and when
 * it has passed the hold is void, whatever its holder does: so one that has died or stands still holds up nobody.  A disk has
 * so many of them at a time, whoever asks.
 *
 * Whoever may read a file may clone it, and hold it again and again.  After each hold the file rests: requests that have waited come
 * first, and for some times as long as it was held nobody holds it.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/clone/priv.h"
#include "iop/ops/object.h"

/* A file rests for so many times as long as it was held. */
#define REST_TIMES 3

enum hold_state { HOLD_FETCHES, HOLD_RESTS, HOLD_FLUSHES, HOLD_POLLS, HOLD_READY };

/**
 * struct clone_hold - a hold of a file on one disk
 * @hold: in the store, from FLUSHES on
 * @number: whoever knows it may share the object's blocks; 0: of the clone itself
 * @begun: since when nobody has found the object; @until: when it is over
 * @ended: it is over, but for a flush that is under way
 * @req: is answered when it is READY; NULL then
 */
struct clone_hold {
	struct store_hold hold;
	struct reactor *reactor;
	struct iop_disk *disk;
	struct ddio_file_ref file;
	uint64_t number, begun, until;
	enum hold_state state;
	bool ended;
	struct object *obj;
	struct server_request *req;
	struct store_wait wait;
	struct cache_flush flush;
	struct ddio_timer timer;
};

static void hold_go_on(struct clone_hold *h);

static struct clone_hold *hold_of(struct store_hold *hold)
{
	return hold ? ddio_container_of(hold, struct clone_hold, hold) : NULL;
}

struct clone_hold *clone_hold_find(const struct iop_disk *disk, uint64_t file, uint64_t number)
{
	struct store_hold *hold = store_hold_next(disk->store, NULL);
	struct clone_hold *h;

	for (; hold; hold = store_hold_next(disk->store, hold)) {
		h = hold_of(hold);
		if (hold->file == file && h->number == number && h->state == HOLD_READY)
			return h;
	}
	return NULL;
}

struct object *clone_hold_object(const struct clone_hold *h)
{
	return h->obj;
}

static struct bound *bound_of(const struct clone_hold *h)
{
	return &h->reactor->bounds.at[BOUND_HOLDS];
}

/* Returns until when the file rests, 0 if it does not. */
static uint64_t rest_until(const struct iop_disk *disk, uint64_t file)
{
	size_t i;

	for (i = 0; i < sizeof(disk->rest) / sizeof(disk->rest[0]); i++)
		if (disk->rest[i].file == file)
			return disk->rest[i].until;
	return 0;
}

/* The hold has ended.  It takes the place of the file's last one, or of the one that is over first. */
static void rest_begin(const struct clone_hold *h)
{
	struct iop_disk *disk = h->disk;
	uint64_t now = ddio_env_now(h->reactor->env);
	size_t i, at = 0;

	for (i = 0; i < sizeof(disk->rest) / sizeof(disk->rest[0]); i++) {
		if (disk->rest[i].file == h->file.id) {
			at = i;
			break;
		}
		if (disk->rest[i].until < disk->rest[at].until)
			at = i;
	}
	disk->rest[at].file = h->file.id;
	disk->rest[at].until = now + REST_TIMES * (now - h->begun);
}

static void hold_free(struct clone_hold *h)
{
	if (h->number)
		bound_put(bound_of(h), &h->disk->holds, 1);
	object_put(h->obj);
	free(h);
}

static void hold_fail(struct clone_hold *h, int err, const char *what)
{
	struct server_request *req = h->req;

	h->req = NULL;
	if (req)
		obj_fail(req, err, what);
	clone_hold_end(h);
}

void clone_hold_end(struct clone_hold *h)
{
	struct server_request *req = h->req;

	h->req = NULL;
	ddio_timer_cancel(h->reactor->env, &h->timer);
	store_fetch_forget(&h->wait);
	if (h->state > HOLD_RESTS) {
		if (h->number)
			rest_begin(h);
		store_hold_end(&h->hold);
	}
	if (req)
		server_fail(req, DDIO_ST_BUSY,
			    "disk %s: others use file %llu, or it cannot be written back",
			    h->disk->name, (unsigned long long)h->file.id);
	h->ended = h->state == HOLD_FLUSHES;
	if (!h->ended)
		hold_free(h);
}

static void hold_timer(void *arg)
{
	struct clone_hold *h = arg;

	if ((h->state != HOLD_POLLS && h->state != HOLD_RESTS) ||
	    ddio_env_now(h->reactor->env) >= h->until) {
		clone_hold_end(h);
		return;
	}
	if (h->state == HOLD_RESTS)
		h->state = HOLD_FETCHES;
	hold_go_on(h);
}

static int hold_timer_at(struct clone_hold *h, uint64_t at)
{
	h->timer.fn = hold_timer;
	h->timer.arg = h;
	ddio_timer_cancel(h->reactor->env, &h->timer);
	return ddio_timer_arm(h->reactor->env, &h->timer, at < h->until ? at : h->until);
}

static void hold_ready(struct clone_hold *h)
{
	struct server_request *req = h->req;

	h->state = HOLD_READY;
	h->req = NULL;
	if (hold_timer_at(h, h->until)) {
		h->req = req;
		hold_fail(h, -ENOMEM, "holding a file");
	} else {
		server_reply(req, NULL, 0);
	}
}

static void hold_flushed(struct cache_flush *flush, int status)
{
	struct clone_hold *h = flush->arg;

	(void)status; /* What could not be written is still dirty: the next flush that is asked for reports it. */
	h->state = HOLD_POLLS;
	if (h->ended)
		hold_free(h);
	else if (object_alone(h->obj))
		hold_ready(h);
	else if (hold_timer_at(h, ddio_env_now(h->reactor->env) + SERVER_POLL_NS))
		hold_fail(h, -ENOMEM, "holding a file");
}

static void hold_fetched(struct store_wait *wait)
{
	hold_go_on(wait->arg);
}

/* Has the object, and nobody finds it any more: 0, -EINPROGRESS, or -errno. */
static int hold_begin(struct clone_hold *h)
{
	struct store *store = h->disk->store;
	uint64_t rest = rest_until(h->disk, h->file.id), now = ddio_env_now(h->reactor->env);
	int err;

	if (h->reactor->stopping)
		return -ESHUTDOWN;
	if (rest > now) {
		h->state = HOLD_RESTS;
		return hold_timer_at(h, rest) ? -ENOMEM : -EINPROGRESS;
	}
	if (!store_fetch(store, &h->file, &h->wait))
		return -EINPROGRESS;
	/* A file that has nothing here may get something. */
	err = obj_get(h->req, true);
	if (err) {
		h->req = NULL;
		return err;
	}
	h->obj = h->req->object;
	h->req->object = NULL;
	h->begun = now;
	store_hold_begin(store, h->file.id, &h->hold);
	return 0;
}

static void hold_go_on(struct clone_hold *h)
{
	int err = h->state == HOLD_FETCHES ? hold_begin(h) : 0;

	if (err == -EINPROGRESS)
		return;
	if (err) {
		hold_fail(h, err, "holding a file");
		return;
	}
	h->state = HOLD_FLUSHES;
	if (hold_timer_at(h, h->until)) {
		h->state = HOLD_POLLS;
		hold_fail(h, -ENOMEM, "holding a file");
		return;
	}
	h->flush = (struct cache_flush){
		.obj = h->obj, .drop = true, .quiet = true, .done = hold_flushed, .arg = h
	};
	cache_flush(h->disk->cache, &h->flush);
}

struct clone_hold *clone_hold_new(struct server_request *req, struct object *obj)
{
	struct clone_hold *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->reactor = req->reactor;
	h->disk = req->disk;
	h->file = *object_file(obj);
	h->state = HOLD_READY;
	h->obj = obj;
	ddio_list_init(&h->wait.link);
	object_ref(obj);
	store_hold_begin(h->disk->store, h->file.id, &h->hold);
	return h;
}

static void hold_new(struct server_request *req)
{
	struct ddio_env *env = req->reactor->env;
	uint64_t most = req->reactor->iop->conf->timeout_ns / 2, ns = req->obj.len * 1000000;
	struct clone_hold *h = calloc(1, sizeof(*h));

	if (!h) {
		obj_fail(req, -ENOMEM, "holding a file");
		return;
	}
	if (req->obj.len > most / 1000000)
		ns = most;
	h->reactor = req->reactor;
	h->disk = req->disk;
	h->file = req->obj.file;
	h->number = req->obj.offset;
	h->until = ddio_env_now(env) + ns;
	h->req = req;
	h->wait = (struct store_wait){ .done = hold_fetched, .arg = h };
	ddio_list_init(&h->wait.link);
	if (!bound_take(bound_of(h), &h->disk->holds)) {
		server_fail(req, DDIO_ST_BUSY, "disk %s: too many files are held", h->disk->name);
		free(h);
		return;
	}
	if (hold_timer_at(h, h->until))
		hold_fail(h, -ENOMEM, "holding a file");
	else
		hold_go_on(h);
}

int serve_obj_hold(struct server_request *req, const void *payload)
{
	struct clone_hold *h;
	int ret;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	if (!req->obj.offset) {
		server_fail(req, DDIO_ST_INVALID, "a hold has a number");
	} else if (req->obj.len) {
		hold_new(req);
	} else {
		h = clone_hold_find(req->disk, req->obj.file.id, req->obj.offset);
		if (h)
			clone_hold_end(h);
		server_reply(req, NULL, 0);
	}
	return 0;
}

void clone_holds_stop(struct reactor *reactor)
{
	struct store_hold *hold, *next;
	uint32_t d;

	for (d = 0; d < reactor->ndisks; d++) {
		hold = store_hold_next(reactor->disks[d].store, NULL);
		for (; hold; hold = next) {
			next = store_hold_next(reactor->disks[d].store, hold);
			if (hold_of(hold)->number)
				clone_hold_end(hold_of(hold));
		}
	}
}
