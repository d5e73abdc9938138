// SPDX-License-Identifier: LGPL-2.1-or-later
/* Objects in memory: loaded from the records on first use, dropped when unused for long. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "iop/store/priv.h"

static struct object *object_find(const struct store *store, uint64_t id, bool removed)
{
	struct object *obj;

	ddio_hash_for_each_match(obj, &store->hash, id, node)
		if (obj->removed == removed)
			return obj;
	return NULL;
}

void store_objects_init(struct store *store)
{
	ddio_list_init(&store->idle);
	ddio_list_init(&store->busy);
	ddio_list_init(&store->fetches);
}

/* Forgets its extents. */
static void object_empty(struct object *obj)
{
	extent_map_fini(&obj->map);
	extent_map_fini(&obj->fresh);
	ranges_fini(&obj->unwritten);
	ranges_fini(&obj->reserved);
	ranges_init(&obj->unwritten);
	ranges_init(&obj->reserved);
}

static void object_free(struct object *obj)
{
	object_empty(obj);
	free(obj);
}

static void fetches_fini(struct store *store);

void store_objects_fini(struct store *store)
{
	struct ddio_hash_walk walk;
	struct object *obj;

	fetches_fini(store);
	ddio_hash_for_each(obj, &walk, &store->hash, node)
		object_free(obj);
	ddio_hash_fini(&store->hash);
}

static struct object *object_new(struct store *store, const struct ddio_file_ref *ref)
{
	struct object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->store = store;
	obj->ref = *ref;
	ranges_init(&obj->unwritten);
	ranges_init(&obj->reserved);
	ddio_list_init(&obj->link);
	return obj;
}

static bool same_ref(const struct ddio_file_ref *a, const struct ddio_file_ref *b)
{
	return a->block == b->block && a->layout == b->layout && a->seed == b->seed;
}

/* Makes an object in memory of which the records know, within a read transaction.  It has no extents yet. */
static int load_begin(struct store *store, const struct ddio_file_ref *ref, struct object **obj)
{
	struct rec_object rec;
	int ret = store_load_header(store, ref->id, &rec);

	if (ret)
		return ret;
	if (rec.block != ref->block || rec.layout != ref->layout || rec.seed != ref->seed)
		return -ESTALE;
	*obj = object_new(store, ref);
	if (!*obj)
		return -ENOMEM;
	(*obj)->recorded = true;
	(*obj)->frozen = rec.frozen;
	return 0;
}

static void fetch_overtaken(struct store *store, uint64_t id);

static void say_damaged(const struct store *store, uint64_t id)
{
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: the records of object %" PRIu64 " are damaged; run 'ddio fsck'",
		     store->label.name, id);
}

/* @remains: what is left of it will do. */
static int object_load(struct store *store, const struct ddio_file_ref *ref, bool remains,
		       struct object **obj)
{
	uint64_t next = 0, steps = UINT64_MAX;
	int ret = lmdb_read_begin(&store->db);

	if (ret)
		return ret;
	ret = load_begin(store, ref, obj);
	if (ret)
		goto end;
	(*obj)->refused = remains;
	ret = store_load_extents(*obj, &next, &steps);
	if (ret) {
		object_free(*obj);
	} else {
		fetch_overtaken(store, ref->id);
		ddio_hash_add(&store->hash, &(*obj)->node, ref->id);
	}
end:
	lmdb_read_end(&store->db);
	if (ret == -EUCLEAN)
		say_damaged(store, ref->id);
	return ret;
}

static int object_create(struct store *store, const struct ddio_file_ref *ref, struct object **obj)
{
	*obj = object_new(store, ref);
	if (!*obj)
		return -ENOMEM;
	ddio_hash_add(&store->hash, &(*obj)->node, ref->id);
	store->objects++;
	return 0;
}

int store_ref(struct store *store, uint64_t id, struct ddio_file_ref *ref)
{
	const struct object *obj = object_find(store, id, false);
	struct rec_object rec;
	int ret;

	if (obj) {
		*ref = obj->ref;
		return 0;
	}
	ret = lmdb_read_begin(&store->db);
	if (ret)
		return ret;
	ret = store_load_header(store, id, &rec);
	lmdb_read_end(&store->db);
	if (!ret)
		*ref = (struct ddio_file_ref){
			.id = id, .seed = rec.seed, .block = rec.block, .layout = rec.layout
		};
	return ret;
}

static bool ref_valid(const struct store *store, const struct ddio_file_ref *ref)
{
	return ref->block >= store->sector && ref->block >= DDIO_MIN_BLOCK &&
	       ref->block <= DDIO_MAX_BLOCK && !(ref->block & (ref->block - 1)) &&
	       ref->layout < DDIO_LAYOUT_MAX_W;
}

static void object_unlink(struct object *obj)
{
	if (obj->idle) {
		obj->store->idle_n--;
		obj->store->idle_extents -= obj->map.n;
		obj->idle = false;
	}
	ddio_list_del(&obj->link);
}

static int get(struct store *store, const struct ddio_file_ref *ref, bool create, bool remains,
	       struct object **result)
{
	struct object *obj, *gone;
	int ret = 0;

	*result = NULL;
	if (!ref_valid(store, ref))
		return -EINVAL;
	obj = object_find(store, ref->id, false);
	if (obj && !same_ref(&obj->ref, ref))
		return -ESTALE;
	if (obj && (obj->damaged || (obj->refused && !remains)))
		return -EUCLEAN;
	if (!obj) {
		/* A removed object may still be in the records. */
		gone = object_find(store, ref->id, true);
		ret = gone && gone->seq > store->done_seq ? -ENOENT
							  : object_load(store, ref, remains, &obj);
	}
	if (ret == -ENOENT && create) {
		ret = store_missing(store, ref->id);
		if (!ret)
			ret = object_create(store, ref, &obj);
	}
	if (ret)
		return ret;
	object_unlink(obj);
	obj->refs++;
	*result = obj;
	return 0;
}

void store_gone(struct store *store, uint64_t id)
{
	gones_add(&store->gones, id, ddio_env_now(store->env));
}

bool store_is_gone(const struct store *store, uint64_t id)
{
	return gones_has(store->gones, id, ddio_env_now(store->env));
}

int store_missing(const struct store *store, uint64_t id)
{
	if (store_is_gone(store, id))
		return -ESTALE;
	return store_lost(store, id) ? -EREMOTEIO : 0;
}

int store_get(struct store *store, const struct ddio_file_ref *ref, bool create,
	      struct object **obj)
{
	return get(store, ref, create, false, obj);
}

int store_get_remains(struct store *store, const struct ddio_file_ref *ref, struct object **obj)
{
	int ret = get(store, ref, false, false, obj);

	return ret == -EUCLEAN ? get(store, ref, false, true, obj) : ret;
}

void object_ref(struct object *obj)
{
	obj->refs++;
}

static void object_drop(struct object *obj)
{
	struct store *store = obj->store;

	object_unlink(obj);
	ddio_hash_del(&store->hash, &obj->node);
	if (!obj->removed && !obj->recorded)
		store->objects--;
	object_free(obj);
}

/* Frees the space of an object whose removal is durable and that has no users. */
static void object_release(struct object *obj)
{
	if (obj->map.n)
		store_give_extents(obj->store, &obj->map, obj->ref.block);
	object_drop(obj);
}

static bool object_committed(const struct object *obj)
{
	return obj->seq <= obj->store->done_seq;
}

static void object_make_idle(struct object *obj)
{
	struct store *store = obj->store;

	obj->idle = true;
	ddio_list_del(&obj->link);
	ddio_list_add(&obj->link, &store->idle);
	store->idle_n++;
	store->idle_extents += obj->map.n;
	while (store->idle_n > STORE_IDLE_OBJECTS ||
	       (store->idle_extents > STORE_IDLE_EXTENTS && store->idle_n > 1))
		object_drop(ddio_list_first(&store->idle, struct object, link));
}

/* Returns true if all that memory knows of its blocks is recorded, or in a batch. */
static bool object_noted(const struct object *obj)
{
	return obj->unwritten.total == obj->reserved.total;
}

/* Puts an object without users where it belongs: freed, dropped, idle or busy. */
static void object_settle(struct object *obj)
{
	struct store *store = obj->store;

	/* Who would have written there has gone. */
	(void)fresh_drop(obj, 0, UINT64_MAX);
	if (obj->removed && object_committed(obj)) {
		object_release(obj);
	} else if (!obj->recorded && !obj->map.n && object_committed(obj)) {
		object_drop(obj);
	} else if (!obj->removed && object_committed(obj) && object_noted(obj)) {
		object_make_idle(obj);
	} else {
		ddio_list_del(&obj->link);
		ddio_list_add(&obj->link, &store->busy);
	}
}

void object_put(struct object *obj)
{
	if (!obj || bug_on(!obj->refs, "object %" PRIu64 " has lost more references than it had",
			   obj->ref.id))
		return;
	if (!--obj->refs)
		object_settle(obj);
}

void store_sweep(struct store *store)
{
	struct ddio_list busy;

	ddio_list_init(&busy);
	ddio_list_splice(&store->busy, &busy);
	while (!ddio_list_empty(&busy))
		object_settle(ddio_list_first(&busy, struct object, link));
}

const struct ddio_file_ref *object_file(const struct object *obj)
{
	return &obj->ref;
}

struct object_habit *object_habit(struct object *obj)
{
	return &obj->habit;
}

uint64_t object_blocks(const struct object *obj)
{
	return obj->map.blocks;
}

uint64_t object_end(const struct object *obj)
{
	return extent_map_end(&obj->map);
}

/*
 * Reading an object's records in turns.  They do not change meanwhile, since only objects in memory have changes, and if
 * somebody does not wait and has it read at once, that ends the other reading.
 */

/**
 * struct fetch - an object that is being read
 * @obj: it, in nobody's sight yet; NULL: it is to be begun anew.  Once it is @over: a reference, or NULL
 * @next: the block from which on its extents are still to be read
 * @waits: struct store_wait.link
 */
struct fetch {
	struct ddio_list link;
	struct store *store;
	struct ddio_file_ref ref;
	struct object *obj;
	uint64_t next;
	bool over;
	struct ddio_list waits;
};

static struct fetch *fetch_find(const struct store *store, uint64_t id)
{
	struct fetch *f;

	ddio_list_for_each_entry(f, &store->fetches, link)
		if (f->ref.id == id)
			return f;
	return NULL;
}

/* It is not being read any more: store_get() finds it, or says why not. */
static void fetch_over(struct fetch *f, int err)
{
	f->over = true;
	if (f->obj && err) {
		object_free(f->obj);
		f->obj = NULL;
	} else if (f->obj) {
		ddio_hash_add(&f->store->hash, &f->obj->node, f->ref.id);
		/* It stays until all who wait have been called. */
		f->obj->refs++;
	}
}

/* An object has been read at once, and may change from now on. */
static void fetch_overtaken(struct store *store, uint64_t id)
{
	struct fetch *f = fetch_find(store, id);

	if (f && !f->over)
		fetch_over(f, -EALREADY);
}

/*
 * Its records are damaged: it is read once more, for what remains of it, or, if that cannot be either, it is noted that it
 * cannot.  So nobody reads all of it in one turn to find the same.  Returns 1 if there is more to do, or 0.
 */
static int fetch_damaged(struct fetch *f)
{
	struct object *obj = f->obj;

	object_empty(obj);
	f->next = 0;
	obj->damaged = obj->refused;
	if (!obj->refused)
		say_damaged(f->store, f->ref.id);
	obj->refused = true;
	return !obj->damaged;
}

/* Reads some of it. */
static void fetch_step(struct fetch *f)
{
	struct store *store = f->store;
	struct bound *bound = &store->bounds->at[BOUND_FETCHED];
	uint64_t steps = bound->limit;
	int ret = lmdb_read_begin(&store->db);
	bool began = !ret;

	if (!ret && !f->obj) {
		f->next = 0;
		ret = load_begin(store, &f->ref, &f->obj);
	}
	if (!ret)
		ret = store_load_extents(f->obj, &f->next, &steps);
	if (began)
		lmdb_read_end(&store->db);
	if (ret == -EUCLEAN && f->obj)
		ret = fetch_damaged(f);
	bound_seen(bound, bound->limit - steps);
	if (ret == 1)
		bound->hits++;
	else
		fetch_over(f, ret);
}

static void fetch_free(struct fetch *f)
{
	struct object *obj = f->obj;

	ddio_list_del(&f->link);
	if (obj && f->over)
		object_put(obj);
	else if (obj)
		object_free(obj);
	free(f);
}

/* Calls some of the waits.  Returns true if there are no more. */
static bool fetch_wake(struct fetch *f)
{
	uint64_t n = f->store->bounds->at[BOUND_TRIED].limit;
	struct store_wait *wait;

	for (; n && !ddio_list_empty(&f->waits); n--) {
		wait = ddio_list_first(&f->waits, struct store_wait, link);
		ddio_list_del(&wait->link);
		wait->done(wait);
	}
	return ddio_list_empty(&f->waits);
}

static void fetch_turn(void *arg);

static void fetch_more(struct store *store)
{
	if (ddio_list_empty(&store->fetches) || ddio_timer_armed(&store->fetch_timer))
		return;
	store->fetch_timer.fn = fetch_turn;
	store->fetch_timer.arg = store;
	/* Without memory for a timer others have to wait. */
	if (ddio_timer_arm(store->env, &store->fetch_timer, ddio_env_now(store->env)))
		fetch_turn(store);
}

static void fetch_turn(void *arg)
{
	struct store *store = arg;
	struct fetch *f = ddio_list_first(&store->fetches, struct fetch, link);

	if (!f->over)
		fetch_step(f);
	else if (fetch_wake(f))
		fetch_free(f);
	fetch_more(store);
}

/* Returns false if it has been read in this turn, or there is no memory. */
static bool fetch_begin(struct store *store, const struct ddio_file_ref *ref,
			struct store_wait *wait)
{
	struct fetch *f = calloc(1, sizeof(*f));

	if (!f)
		return false;
	f->store = store;
	f->ref = *ref;
	ddio_list_init(&f->link);
	ddio_list_init(&f->waits);
	fetch_step(f);
	if (f->over) {
		fetch_free(f);
		return false;
	}
	ddio_list_add(&f->link, &store->fetches);
	if (wait)
		ddio_list_add(&wait->link, &f->waits);
	fetch_more(store);
	return true;
}

bool store_fetch_object(struct store *store, const struct ddio_file_ref *ref,
			struct store_wait *wait)
{
	struct fetch *f;

	if (!ref_valid(store, ref) || object_find(store, ref->id, false) ||
	    object_find(store, ref->id, true))
		return true;
	f = fetch_find(store, ref->id);
	if (!f)
		return !fetch_begin(store, ref, wait);
	if (wait)
		ddio_list_add(&wait->link, &f->waits);
	return false;
}

void store_fetch_forget(struct store_wait *wait)
{
	ddio_list_del(&wait->link);
}

void store_fetch_again(struct store *store)
{
	struct fetch *f;

	ddio_list_for_each_entry(f, &store->fetches, link) {
		if (f->over || !f->obj)
			continue;
		object_free(f->obj);
		f->obj = NULL;
	}
}

static void fetches_fini(struct store *store)
{
	ddio_timer_cancel(store->env, &store->fetch_timer);
	while (!ddio_list_empty(&store->fetches))
		fetch_free(ddio_list_first(&store->fetches, struct fetch, link));
}
