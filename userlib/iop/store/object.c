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
}

static void object_free(struct object *obj)
{
	extent_map_fini(&obj->map);
	ranges_fini(&obj->unwritten);
	ranges_fini(&obj->reserved);
	free(obj);
}

void store_objects_fini(struct store *store)
{
	struct ddio_hash_walk walk;
	struct object *obj;

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

/* @remains: what is left of it will do. */
static int object_load(struct store *store, const struct ddio_file_ref *ref, bool remains,
		       struct object **obj)
{
	struct rec_object rec;
	int ret;

	ret = lmdb_read_begin(&store->db);
	if (ret)
		return ret;
	ret = store_load_header(store, ref->id, &rec);
	if (ret)
		goto end;
	ret = -ESTALE;
	if (rec.block != ref->block || rec.layout != ref->layout || rec.seed != ref->seed)
		goto end;
	ret = -ENOMEM;
	*obj = object_new(store, ref);
	if (!*obj)
		goto end;
	(*obj)->recorded = true;
	(*obj)->refused = remains;
	ret = store_load_extents(*obj);
	if (ret)
		object_free(*obj);
	else
		ddio_hash_add(&store->hash, &(*obj)->node, ref->id);
end:
	lmdb_read_end(&store->db);
	if (ret == -EUCLEAN)
		ddio_env_log(store->env, DDIO_LOG_ERR,
			     "disk %s: the records of object %" PRIu64
			     " are damaged; run 'ddio fsck'",
			     store->label.name, ref->id);
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
	if (obj && (obj->ref.block != ref->block || obj->ref.layout != ref->layout ||
		    obj->ref.seed != ref->seed))
		return -ESTALE;
	if (obj && obj->refused && !remains)
		return -EUCLEAN;
	if (!obj) {
		/* A removed object may still be in the records. */
		gone = object_find(store, ref->id, true);
		ret = gone && gone->seq > store->done_seq ? -ENOENT
							  : object_load(store, ref, remains, &obj);
	}
	if (ret == -ENOENT && create)
		ret = store_lost(store, ref->id) ? -EREMOTEIO : object_create(store, ref, &obj);
	if (ret)
		return ret;
	object_unlink(obj);
	obj->refs++;
	*result = obj;
	return 0;
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

uint64_t object_blocks(const struct object *obj)
{
	return obj->map.blocks;
}

uint64_t object_end(const struct object *obj)
{
	return extent_map_end(&obj->map);
}
