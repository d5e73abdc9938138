// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Epochs on one disk.  What is pending are the blocks of a shadow, an object with a number that no file has, and a record
 * that says of which file and epoch it is.  When the epoch is decided, the blocks move to the file's object, some in each
 * turn: memory and the open batch in one turn, so that a commit records an extent, the space that it replaces, and the sums
 * together.  The file is held until the last one has moved.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "iop/store/epoch.h"
#include "iop/store/priv.h"

/* What may be done in a turn: a step for each chunk whose sum moves, and some for each extent. */
#define MOVE_STEPS 4096u
#define MOVE_EXTENT 8u
/* So many chunks of an extent move at once: those of a few groups of sums. */
#define MOVE_CHUNKS 1024u
/* After this long it is tried again, if there was no memory. */
#define RETRY_NS 100000000u
/* After this long, if so many sums wait to be recorded that others do first. */
#define PRESSED_NS 1000000u

enum epoch_state { EPOCH_HELD, EPOCH_MOVING, EPOCH_DROPPING };

/**
 * struct store_epoch - a file's part of an epoch
 * @rec: as recorded
 * @file, @shadow: references, NULL: not read yet
 * @since: see struct store_epoch_look
 * @next: the block from which on none has moved
 * @broken: its objects cannot be read: the file is refused, not held
 * @waits: struct store_wait: they want the file; @told: they want to know of the end
 * @fetch: waits for an object; @timer: for the next turn
 */
struct store_epoch {
	struct ddio_list link;
	struct store *store;
	struct rec_pending rec;
	struct object *file, *shadow;
	enum epoch_state state;
	uint64_t since, next;
	bool broken;
	struct ddio_list waits, told;
	struct store_wait fetch;
	struct ddio_timer timer;
};

static struct store_epoch *held_by(const struct store *store, uint64_t file)
{
	struct store_epoch *e;

	ddio_list_for_each_entry(e, &store->epochs, link)
		if (e->rec.id == file)
			return e;
	return NULL;
}

bool store_fetch(struct store *store, const struct ddio_file_ref *ref, struct store_wait *wait)
{
	struct store_epoch *e = held_by(store, ref->id);

	if (!e || e->broken)
		return store_hold_free(store, ref->id, wait) &&
		       store_fetch_object(store, ref, wait);
	if (wait)
		ddio_list_add(&wait->link, &e->waits);
	return false;
}

static struct ddio_file_ref file_ref(const struct store_epoch *e, uint64_t id)
{
	return (struct ddio_file_ref){
		.id = id, .seed = e->rec.seed, .block = e->rec.block, .layout = e->rec.layout
	};
}

static struct store_epoch *epoch_new(struct store *store, const struct rec_pending *rec)
{
	struct store_epoch *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->store = store;
	e->rec = *rec;
	e->since = UINT64_MAX;
	ddio_list_init(&e->waits);
	ddio_list_init(&e->told);
	ddio_list_init(&e->fetch.link);
	ddio_list_add(&e->link, &store->epochs);
	if (rec->shadow > store->shadow)
		store->shadow = rec->shadow;
	return e;
}

static void unlink_all(struct ddio_list *waits)
{
	while (!ddio_list_empty(waits))
		ddio_list_del(waits->next);
}

static void epoch_free(struct store_epoch *e)
{
	ddio_timer_cancel(e->store->env, &e->timer);
	unlink_all(&e->waits);
	unlink_all(&e->told);
	ddio_list_del(&e->fetch.link);
	ddio_list_del(&e->link);
	free(e);
}

/* One that is damaged is a finding of the check; its file is not held. */
static int load_one(void *arg, const MDB_val *key, const MDB_val *val)
{
	struct store *store = arg;
	struct rec_pending rec;
	struct store_epoch *e;
	int ret = rec_pending_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (ret)
		return 0;
	e = epoch_new(store, &rec);
	if (!e)
		return -ENOMEM;
	store_epoch_prepared(e);
	return 0;
}

int store_load_pending(struct store *store)
{
	return lmdb_each(&store->db, STORE_PENDING, load_one, store);
}

void store_epochs_fini(struct store *store)
{
	while (!ddio_list_empty(&store->epochs))
		epoch_free(ddio_list_first(&store->epochs, struct store_epoch, link));
}

/* Notes the record of the epoch; there is room for it. */
static void note(const struct store_epoch *e, bool pending)
{
	const struct store_change change = {
		.kind = pending ? CHANGE_PENDING : CHANGE_PENDED,
		.bs = e->rec.block,
		.id = e->rec.id,
		.block = e->rec.epoch,
		.start = e->rec.seed,
		.count = e->rec.shadow,
		.layout = e->rec.layout,
	};

	batch_change(&e->store->open, &change);
}

/* Gets both objects, which takes no time. */
static int get_both(struct store_epoch *e)
{
	const struct ddio_file_ref file = file_ref(e, e->rec.id);
	const struct ddio_file_ref shadow = file_ref(e, e->rec.shadow);
	int ret = 0;

	if (!e->file)
		ret = store_get(e->store, &file, true, &e->file);
	if (!ret && !e->shadow)
		ret = store_get(e->store, &shadow, true, &e->shadow);
	return ret;
}

static void put_both(struct store_epoch *e)
{
	object_put(e->file);
	object_put(e->shadow);
	e->file = e->shadow = NULL;
}

int store_epoch_begin(struct store *store, uint64_t epoch, const struct ddio_file_ref *file,
		      struct store_epoch **result)
{
	const struct rec_pending rec = { .epoch = epoch,
					 .id = file->id,
					 .shadow = store->shadow + 1,
					 .seed = file->seed,
					 .block = file->block,
					 .layout = file->layout };
	struct store_epoch *e;
	int ret;

	*result = NULL;
	if (held_by(store, file->id) || !store_hold_free(store, file->id, NULL))
		return -EBUSY;
	if (!store_room(store))
		return -ENOSPC;
	e = epoch_new(store, &rec);
	if (!e)
		return -ENOMEM;
	ret = batch_reserve(&store->open, 1, 0);
	if (!ret)
		ret = get_both(e);
	if (!ret && e->file->frozen)
		ret = -EROFS;
	if (ret) {
		put_both(e);
		epoch_free(e);
		return ret;
	}
	note(e, true);
	*result = e;
	return 0;
}

struct object *store_epoch_file(const struct store_epoch *e)
{
	return e->file;
}

struct object *store_epoch_shadow(const struct store_epoch *e)
{
	return e->shadow;
}

bool store_epoch_alone(const struct store_epoch *e)
{
	return e->file->refs == 1;
}

void store_epoch_prepared(struct store_epoch *e)
{
	e->since = ddio_env_now(e->store->env);
}

/*
 * The end
 */
static void wake(struct ddio_list *waits)
{
	struct ddio_list all;
	struct store_wait *wait;

	ddio_list_init(&all);
	ddio_list_splice(waits, &all);
	while (!ddio_list_empty(&all)) {
		wait = ddio_list_first(&all, struct store_wait, link);
		ddio_list_del(&wait->link);
		wait->done(wait);
	}
}

/* The hold ends.  What is called may close over nothing of it. */
static void over(struct store_epoch *e)
{
	struct ddio_list waits, told;

	ddio_list_init(&waits);
	ddio_list_init(&told);
	ddio_list_splice(&e->waits, &waits);
	ddio_list_splice(&e->told, &told);
	put_both(e);
	epoch_free(e);
	wake(&told);
	wake(&waits);
}

static struct sums_block block_of(const struct object *obj, uint64_t block)
{
	return (struct sums_block){ .id = obj->ref.id, .block = block, .bs = obj->ref.block };
}

/* Loads them, so that move_sums() cannot fail. */
static int ready_sums(struct store_epoch *e, uint64_t first, uint64_t count)
{
	const struct sums_block from = block_of(e->shadow, first), to = block_of(e->file, first);
	int ret = sums_ready(&e->store->sums, &from, count);

	return ret ? ret : sums_ready(&e->store->sums, &to, count);
}

static void move_sums(struct store_epoch *e, uint64_t first, uint64_t count)
{
	uint64_t i;

	for (i = first; i < first + count; i++) {
		const struct sums_block from = block_of(e->shadow, i), to = block_of(e->file, i);

		sums_move(&e->store->sums, &from, &to);
	}
}

/* Moves blocks that lie together: 0 or -ENOMEM. */
static int move(struct store_epoch *e, uint64_t first, uint64_t count, uint64_t start)
{
	const struct extent ext = { .block = first, .start = start, .count = count };
	const struct store_change change = { .kind = CHANGE_MOVE,
					     .bs = e->rec.block,
					     .id = e->rec.id,
					     .block = first,
					     .start = e->rec.shadow,
					     .count = count };
	struct object *file = e->file;

	/* What can fail comes first.  A cut may split an extent of each. */
	if (batch_reserve(&e->store->open, 3, 0) || extent_map_reserve(&e->shadow->map, 1) ||
	    ready_sums(e, first, count) || fresh_drop(file, first, first + count) ||
	    extent_map_reserve(&file->map, 2) || object_cut_ready(file, first, first + count))
		return -ENOMEM;
	move_sums(e, first, count);
	object_note(file);
	batch_change(&e->store->open, &change);
	object_cut(file, first, first + count);
	extent_map_add(&file->map, &ext, 1, e->rec.block);
	extent_map_cut(&e->shadow->map, first, first + count, e->rec.block);
	e->shadow->seq = e->store->seq;
	return 0;
}

/* Moves the next blocks, and lowers *@steps.  1: there are none. */
static int move_next(struct store_epoch *e, uint64_t *steps)
{
	uint32_t chunks = sums_chunks(e->rec.block);
	uint64_t start, run, took;
	bool written;
	int ret;

	while (!object_lookup(e->shadow, e->next, &start, &run, &written) || !written) {
		if (run >= object_end(e->shadow) - e->next || e->next >= object_end(e->shadow))
			return 1;
		e->next += run;
	}
	if (run > MOVE_CHUNKS / chunks)
		run = MOVE_CHUNKS / chunks;
	ret = move(e, e->next, run, start);
	if (ret)
		return ret;
	e->next += run;
	took = MOVE_EXTENT + run * chunks;
	*steps -= took < *steps ? took : *steps;
	return 0;
}

/* Moves some.  1: all have moved; 0: there are more, or -ENOMEM. */
static int move_some(struct store_epoch *e)
{
	uint64_t steps = MOVE_STEPS;
	int ret = 0;

	while (!ret && steps)
		ret = move_next(e, &steps);
	return ret;
}

static void epoch_turn(void *arg);

/* Without memory for a timer it ends with the next question. */
static void turn_at(struct store_epoch *e, uint64_t delay)
{
	e->timer.fn = epoch_turn;
	e->timer.arg = e;
	(void)ddio_timer_arm(e->store->env, &e->timer, ddio_env_now(e->store->env) + delay);
}

static void fetched(struct store_wait *wait)
{
	turn_at(ddio_container_of(wait, struct store_epoch, fetch), 0);
}

/* Reads the objects: true if they are there. */
static bool fetch_both(struct store_epoch *e)
{
	const struct ddio_file_ref file = file_ref(e, e->rec.id);
	const struct ddio_file_ref shadow = file_ref(e, e->rec.shadow);

	e->fetch.done = fetched;
	return (e->shadow || store_fetch_object(e->store, &shadow, &e->fetch)) &&
	       (e->file || store_fetch_object(e->store, &file, &e->fetch));
}

/* The rest of the shadow is freed, and nothing is pending any more.  0 or -ENOMEM. */
static int finish(struct store_epoch *e)
{
	if (batch_reserve(&e->store->open, 2, 0))
		return -ENOMEM;
	if (e->shadow)
		(void)object_remove(e->shadow);
	note(e, false);
	return 0;
}

/* Its objects cannot be read: nobody gets the file before that is repaired. */
static void broken(struct store_epoch *e, int err)
{
	if (!e->broken)
		ddio_env_log(e->store->env, DDIO_LOG_ERR,
			     "disk %s: what is pending of file %" PRIu64
			     " cannot be settled: %s; run 'ddio fsck'",
			     e->store->label.name, e->rec.id, mdb_strerror(-err));
	e->broken = true;
	if (e->file)
		e->file->refused = true;
	turn_at(e, 100ull * RETRY_NS);
	wake(&e->waits);
}

/* So many sums wait to be recorded that a commit has to come first. */
static bool pressed(struct store_epoch *e)
{
	if (!sums_pressed(&e->store->sums) || store_stopped(e->store))
		return false;
	store_press(e->store);
	return true;
}

static void epoch_turn(void *arg)
{
	struct store_epoch *e = arg;
	int ret;

	if (!fetch_both(e))
		return;
	ret = get_both(e);
	if (ret && ret != -ENOMEM) {
		broken(e, ret);
		return;
	}
	if (!ret && e->state == EPOCH_MOVING && pressed(e)) {
		turn_at(e, PRESSED_NS);
		return;
	}
	if (!ret)
		ret = e->state == EPOCH_MOVING ? move_some(e) : 1;
	if (ret == 1)
		ret = finish(e);
	else if (!ret)
		ret = -EAGAIN;
	if (!ret)
		over(e);
	else
		turn_at(e, ret == -EAGAIN ? 0 : RETRY_NS);
}

void store_epoch_end(struct store_epoch *e, bool commit, struct store_wait *wait)
{
	if (wait)
		ddio_list_add(&wait->link, &e->told);
	if (e->state == EPOCH_HELD)
		e->state = commit ? EPOCH_MOVING : EPOCH_DROPPING;
	if (!ddio_timer_armed(&e->timer) && ddio_list_empty(&e->fetch.link))
		turn_at(e, 0);
}

struct store_epoch *store_epoch_find(const struct store *store, uint64_t epoch, uint64_t file)
{
	struct store_epoch *e;

	/* After a crash an older one of the same file may have to be dropped as well. */
	ddio_list_for_each_entry(e, &store->epochs, link)
		if (e->rec.id == file && e->rec.epoch == epoch)
			return e;
	return NULL;
}

struct store_epoch *store_epoch_next(const struct store *store, const struct store_epoch *e)
{
	const struct ddio_list *next = e ? e->link.next : store->epochs.next;

	return next == &store->epochs ? NULL : ddio_list_entry(next, struct store_epoch, link);
}

struct store_epoch_look store_epoch_look(const struct store_epoch *e)
{
	return (struct store_epoch_look){
		.epoch = e->rec.epoch,
		.file = e->rec.id,
		.since = e->since,
		.blocks = e->shadow ? object_blocks(e->shadow) : 0,
		.ending = e->state != EPOCH_HELD,
	};
}
