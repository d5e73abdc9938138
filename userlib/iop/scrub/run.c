// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A run: blocks of an object that lie side by side are locked, so that nobody writes them, then read and compared with
 * their sums.  Only the lock of the first block is waited for, while no other is held, so that nobody waits for the scrub
 * who is waited for by it.  What has been removed or moved since the extents were listed is passed over: what takes its place
 * has been written since.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "iop/scrub/priv.h"

/* Blocks and extents that are looked at in a turn. */
#define LOOKS 512

static void run_begin(struct scrub *s);

static const struct store_place *place_at(const struct scrub *s)
{
	return s->next < s->nplaces ? &s->place[s->next] : NULL;
}

static uint64_t block_start(const struct store_place *p, uint64_t off)
{
	return p->start + off * p->bs;
}

/* Passes over @n blocks. */
static void pass(struct scrub *s, uint64_t n)
{
	const struct store_place *p = place_at(s);

	s->off += n;
	s->kept.at = block_start(p, s->off);
	if (s->off < p->count)
		return;
	s->next++;
	s->off = 0;
}

static void fetched(struct store_wait *wait)
{
	scrub_go(wait->arg);
}

/* Opens the object into s->obj, NULL if it cannot be used.  Returns false if its records have to be read before. */
static bool open_object(struct scrub *s, const struct store_place *p)
{
	struct store *store = s->disk->store;
	struct ddio_file_ref ref;

	s->obj = NULL;
	if (store_ref(store, p->id, &ref) || ref.block != p->bs)
		return true;
	s->wait = (struct store_wait){ .done = fetched, .arg = s };
	ddio_list_init(&s->wait.link);
	if (!store_fetch(store, &ref, &s->wait)) {
		s->state = SCRUB_FETCHING;
		return false;
	}
	if (store_get(store, &ref, false, &s->obj))
		s->obj = NULL;
	return true;
}

/* Returns how many blocks from the next one on lie where they were; 0: *@skip do not, or need not be read. */
static uint64_t still_there(const struct scrub *s, struct object *obj, uint64_t *skip)
{
	const struct store_place *p = place_at(s);
	uint64_t start, run, left = p->count - s->off, n;
	bool written, there;

	there = object_lookup(obj, p->block + s->off, &start, &run, &written);
	*skip = run < left ? run : left;
	if (!there || !written || start != block_start(p, s->off))
		return 0;
	if (!s->lacking)
		return *skip;
	for (n = 0; n < *skip && n < SCRUB_BLOCKS; n++)
		if (!object_lacks(obj, p->block + s->off + n))
			break;
	*skip = n ? n : 1;
	return n;
}

static uint64_t run_most(const struct scrub *s, uint32_t bs)
{
	uint64_t n = (s->pace.shared && s->pace.yields ? SCRUB_RUN_SHARED : SCRUB_RUN) / bs;

	if (s->single || !n)
		return 1;
	return n < SCRUB_BLOCKS ? n : SCRUB_BLOCKS;
}

void scrub_buf_free(struct scrub *s)
{
	if (s->buf)
		ddio_env_free(scrub_env(s), s->buf, s->cap);
	s->disk->reactor->memory -= s->cap;
	s->buf = NULL;
	s->cap = 0;
}

static int buf_get(struct scrub *s, size_t len)
{
	if (len <= s->cap)
		return 0;
	scrub_buf_free(s);
	s->buf = ddio_env_alloc(scrub_env(s), len);
	if (!s->buf)
		return -ENOMEM;
	s->cap = len;
	s->disk->reactor->memory += len;
	return 0;
}

static void run_unlock(struct scrub *s)
{
	while (s->n)
		cache_unlock(s->disk->cache, &s->lock[--s->n], false);
	object_put(s->obj);
	s->obj = NULL;
}

/* Compares a block that was read. */
static void run_check(struct scrub *s, uint32_t i)
{
	const struct store_place *p = place_at(s);
	uint64_t byte = 0, block = s->block + i;
	uint32_t given;
	int ret = object_scrub(s->obj, block, s->buf + (size_t)i * p->bs, &given, &byte);

	s->kept.given += given;
	s->kept.unread += ret && ret != -EBADMSG;
	if (ret != -EBADMSG)
		return;
	s->kept.bad++;
	scrub_say(s,
		  "disk %s: block %" PRIu64 " of object %" PRIu64 ", at byte %" PRIu64
		  " of the disk, does not match its checksum",
		  s->disk->name, block, p->id, byte);
}

static void run_unread(struct scrub *s, int err)
{
	s->kept.unread++;
	scrub_say(s,
		  "disk %s: block %" PRIu64 " of object %" PRIu64 ", at byte %" PRIu64
		  " of the disk, cannot be read: %s",
		  s->disk->name, s->block, place_at(s)->id, s->req.offset, strerror(-err));
}

static void run_done(struct queue_req *req, int status)
{
	struct scrub *s = ddio_container_of(req, struct scrub, req);
	uint32_t i, n = s->n;

	for (i = 0; i < n && !status; i++)
		run_check(s, i);
	if (status && n == 1)
		run_unread(s, status);
	run_unlock(s);
	if (status && n > 1) {
		s->single = n;
		n = 0;
	}
	s->single -= s->single && n;
	if (n) {
		s->kept.done += status ? 0 : req->len;
		pass(s, n);
	}
	scrub_rest(s, pace_rest(&s->pace, req->len, pace_ops(&s->pace, req->len)));
}

static void run_read(struct scrub *s)
{
	const struct store_place *p = place_at(s);

	s->state = SCRUB_READING;
	pace_begin(&s->pace);
	s->req = (struct queue_req){ .op = DDIO_DISK_READ,
				     .offset = block_start(p, s->off),
				     .len = (uint64_t)s->n * p->bs,
				     .buf = s->buf,
				     .done = run_done };
	queue_push(&s->queue, &s->req);
	queue_commit(&s->queue);
}

/* Locks what is free of @most blocks behind the first one, which is locked. */
static void lock_rest(struct scrub *s, uint64_t most)
{
	for (; s->n < most; s->n++) {
		struct block_lock *lock = &s->lock[s->n];

		*lock = (struct block_lock){ .obj = s->obj,
					     .block = s->block + s->n,
					     .part = true };
		if (cache_lock(s->disk->cache, lock))
			continue;
		cache_lock_cancel(s->disk->cache, lock);
		return;
	}
}

/* The first block is locked. */
static void run_locked(struct scrub *s)
{
	uint64_t skip, n = still_there(s, s->obj, &skip), most = run_most(s, place_at(s)->bs);

	s->n = 1;
	if (!n) {
		run_unlock(s);
		scrub_turn(s);
		return;
	}
	lock_rest(s, n < most ? n : most);
	run_read(s);
}

static void run_granted(struct block_lock *lock)
{
	run_locked(lock->arg);
}

void scrub_run_cancel(struct scrub *s)
{
	if (s->state == SCRUB_FETCHING) {
		store_fetch_forget(&s->wait);
		return;
	}
	cache_lock_cancel(s->disk->cache, &s->lock[0]);
	object_put(s->obj);
	s->obj = NULL;
}

static void run_begin(struct scrub *s)
{
	s->block = place_at(s)->block + s->off;
	s->lock[0] = (struct block_lock){
		.obj = s->obj, .block = s->block, .part = true, .granted = run_granted, .arg = s
	};
	s->state = SCRUB_LOCKING;
	if (cache_lock(s->disk->cache, &s->lock[0]))
		run_locked(s);
}

static bool at_end(const struct scrub *s, const struct store_place *p)
{
	return !(s->kept.flags & REC_SCRUB_WRAPS) && s->kept.until &&
	       block_start(p, s->off) >= s->kept.until;
}

enum scrub_next scrub_run(struct scrub *s)
{
	const struct store_place *p;
	uint64_t skip;
	int looks;

	for (looks = 0; (p = place_at(s)) && looks < LOOKS; looks++) {
		if (at_end(s, p)) {
			s->last = true;
			return RUN_NO_PLACE;
		}
		if (!open_object(s, p))
			return RUN_BEGUN;
		skip = p->count - s->off;
		if (s->obj && still_there(s, s->obj, &skip)) {
			if (!buf_get(s, p->bs > SCRUB_RUN ? p->bs : SCRUB_RUN)) {
				run_begin(s);
				return RUN_BEGUN;
			}
			object_put(s->obj);
			return RUN_NO_MEMORY;
		}
		object_put(s->obj);
		s->obj = NULL;
		pass(s, skip);
	}
	return p ? RUN_TURN : RUN_NO_PLACE;
}
