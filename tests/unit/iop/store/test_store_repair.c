// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repairs in turns: a few records in a transaction, after each of which a crash leaves what the next repair ends; and others
 * who use the disk meanwhile.
 */
#include <errno.h>
#include "iop/store/priv.h"
#include "tests/unit/iop/store/ut_harm.h"

enum { OBJECTS = 240, FIXES = 16 };
#define BS 4096u
#define SIZE (16 * MIB)

struct repair {
	struct ut_store t;
	uint64_t place[OBJECTS + 1]; /* of the only block of each */
};

static uint64_t place_of(struct ut_store *t, uint64_t id)
{
	struct object *obj = ut_object(t, id, BS, 0, false);
	uint64_t start = 0, run;
	bool written;

	if (obj)
		object_lookup(obj, 0, &start, &run, &written);
	object_put(obj);
	return start;
}

/* Every second block of the disk's beginning is an object's, the others are free. */
static void begin(struct repair *r)
{
	struct object *obj;
	uint64_t id;

	memset(r, 0, sizeof(*r));
	ut_store_begin(&r->t, SIZE);
	r->t.store->bounds->at[BOUND_FIXES].limit = FIXES;
	for (id = 1; id <= 2 * OBJECTS; id++) {
		obj = ut_object(&r->t, id, BS, 0, true);
		CU_ASSERT_EQUAL(ut_fill(obj, 0, 1), 0);
		object_put(obj);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&r->t), 0);
	for (id = 1; id <= OBJECTS; id++) {
		obj = ut_object(&r->t, 2 * id, BS, 0, false);
		CU_ASSERT_EQUAL(object_remove(obj), 0);
		object_put(obj);
		r->place[id] = place_of(&r->t, 2 * id - 1);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&r->t), 0);
	ut_store_clean(&r->t);
}

/* One free piece in three is not recorded, one object in three lies in what is recorded as free, one has a wrong bit. */
static void harm(struct repair *r)
{
	struct store_hit hit;
	uint64_t id;

	for (id = 1; id < OBJECTS; id++) {
		switch (id % 3) {
		case 0:
			hit = hit_free(r->place[id] + BS, BS);
			hit.len = 0;
			break;
		case 1:
			hit = hit_free(r->place[id], BS);
			break;
		default:
			hit = hit_extent(2 * id - 1, 0, r->place[id], 1);
			hit.value[9] ^= 4;
		}
		apply(&r->t, &hit);
	}
}

/* What can be read lies where it lay; returns how many cannot. */
static uint32_t refused(const struct repair *r, struct ut_store *t)
{
	struct ddio_file_ref ref;
	struct object *obj;
	uint32_t n = 0;
	uint64_t id;
	int ret;

	for (id = 1; id <= OBJECTS; id++) {
		ref = ut_ref(2 * id - 1, BS, 0);
		ret = store_get(t->store, &ref, true, &obj);
		CU_ASSERT(!ret || ret == -EUCLEAN);
		n += ret == -EUCLEAN;
		if (ret)
			continue;
		CU_ASSERT_EQUAL(object_blocks(obj), 1);
		object_put(obj);
		CU_ASSERT_EQUAL(place_of(t, 2 * id - 1), r->place[id]);
	}
	return n;
}

static uint64_t last_txn(const struct ut_store *t)
{
	MDB_envinfo info;

	CU_ASSERT_EQUAL(mdb_env_info(t->store->db.env, &info), 0);
	return info.me_last_txnid;
}

/* The machine dies now: what is left is no worse, and is repaired by the next repair.  Returns what that has found. */
static uint64_t after_crash(const struct repair *r, uint64_t free)
{
	struct ddio_msg_fsck fsck, whole;
	struct ut_store copy;

	ut_store_copy(&copy, &r->t, SIZE);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	refused(r, &copy);
	CU_ASSERT_EQUAL(ut_store_check(copy.store, STORE_CHECK, &fsck), 0);
	CU_ASSERT_EQUAL(ut_store_check(copy.store, STORE_REPAIR, &whole), 0);
	CU_ASSERT_EQUAL(whole.problems, fsck.problems);
	CU_ASSERT_EQUAL(whole.repaired, fsck.problems);
	CU_ASSERT_EQUAL(refused(r, &copy), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&copy), free);
	CU_ASSERT_EQUAL(store_free_bytes(copy.store), free);
	ut_store_end(&copy);
	return fsck.problems;
}

/* Each turn writes as many records as it may and no more, in one transaction. */
static void test_turns(void)
{
	uint64_t txn, free, left, before = UINT64_MAX, turns = 0;
	struct ddio_msg_fsck fsck;
	struct store_check *check;
	struct repair r;

	begin(&r);
	free = store_free_bytes(r.t.store);
	harm(&r);
	CU_ASSERT_EQUAL(ut_store_reopen(&r.t), 0);
	r.t.store->bounds->at[BOUND_FIXES].limit = FIXES;
	CU_ASSERT(refused(&r, &r.t) > OBJECTS / 4);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(r.t.store, STORE_REPAIR, &check), 0);
	do {
		txn = last_txn(&r.t);
		if (!store_check_step(check, 64))
			break;
		CU_ASSERT(last_txn(&r.t) <= txn + 1);
		if (last_txn(&r.t) == txn)
			continue;
		left = after_crash(&r, free);
		CU_ASSERT(left < before && (!turns || before - left <= FIXES));
		before = left;
		turns++;
	} while (turns <= OBJECTS);
	CU_ASSERT(turns >= (OBJECTS - 3) / FIXES && turns <= OBJECTS / FIXES + 1);
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, OBJECTS - 1);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	CU_ASSERT_EQUAL(r.t.store->bounds->at[BOUND_FIXES].most, FIXES);
	CU_ASSERT_EQUAL(refused(&r, &r.t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(r.t.store), free);
	CU_ASSERT_EQUAL(ut_store_clean(&r.t), free);
	ut_store_end(&r.t);
}

enum { WIDE = 60, FIRST_BAD = 20, SECOND_BAD = 40 };

/* @n objects of one block; all but the first, the last, and the two that become damaged have lost theirs again. */
static void wide_begin(struct ut_store *t)
{
	struct store_hit hit;
	struct object *obj;
	uint64_t id;

	ut_store_begin(t, SIZE);
	for (id = 1; id <= WIDE; id++) {
		obj = ut_object(t, id, BS, 0, true);
		CU_ASSERT_EQUAL(ut_fill(obj, 0, 1), 0);
		object_put(obj);
	}
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	for (id = 2; id < WIDE; id++) {
		if (id == FIRST_BAD || id == SECOND_BAD)
			continue;
		obj = ut_object(t, id, BS, 0, false);
		CU_ASSERT_EQUAL(object_punch(obj, 0, 1), 0);
		object_put(obj);
	}
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	for (id = FIRST_BAD; id <= SECOND_BAD; id += SECOND_BAD - FIRST_BAD) {
		hit = hit_extent(id, 0, place_of(t, id), 1);
		memset(hit.value + 4, 0x5a, 12);
		apply(t, &hit);
	}
}

/* Each but the last, which has its first block, may have lost something: none reads as a hole. */
static void wide_refused(struct ut_store *t)
{
	struct ddio_file_ref ref;
	struct object *obj;
	uint64_t id;
	int ret;

	for (id = 1; id <= WIDE; id++) {
		ref = ut_ref(id, BS, 0);
		ret = store_get(t->store, &ref, true, &obj);
		CU_ASSERT_EQUAL(ret, id == WIDE ? 0 : -EUCLEAN);
		if (!ret)
			object_put(obj);
	}
}

/* A gap with many objects is marked in turns, after each of which a crash may come. */
static void test_wide_gap(void)
{
	struct ddio_msg_fsck fsck;
	struct store_check *check;
	struct ut_store t, copy;
	uint64_t txn, turns = 0;

	wide_begin(&t);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	t.store->bounds->at[BOUND_FIXES].limit = 7;
	CU_ASSERT_EQUAL_FATAL(store_check_begin(t.store, STORE_REPAIR, &check), 0);
	do {
		txn = last_txn(&t);
		if (!store_check_step(check, 1))
			break;
		if (last_txn(&t) == txn)
			continue;
		turns++;
		ut_store_copy(&copy, &t, SIZE);
		CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
		CU_ASSERT_EQUAL(ut_store_check(copy.store, STORE_REPAIR, &fsck), 0);
		CU_ASSERT_EQUAL(ut_store_reopen(&copy), 0);
		wide_refused(&copy);
		ut_store_end(&copy);
	} while (turns <= WIDE);
	CU_ASSERT(turns >= (WIDE - 2) / 7 && turns <= WIDE / 7 + 2);
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT(t.store->bounds->at[BOUND_FIXES].most <= 7);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	wide_refused(&t);
	ut_store_end(&t);
}

/* Fills the disk, and records it: nothing lies where anything else does. */
static void fill_up(struct ut_store *t)
{
	struct object *obj = ut_object(t, 9999, BS, 0, true);
	uint64_t n = store_free_bytes(t->store) / BS;

	CU_ASSERT_EQUAL(ut_fill(obj, 0, n), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t->store), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(t), 0);
}

static int step_to(struct store_check *check, struct ut_store *t, uint64_t txns)
{
	uint64_t txn = last_txn(t);

	while (last_txn(t) < txn + txns)
		if (!store_check_step(check, 64))
			return -1;
	return 0;
}

/* Somebody else records something: the repair ends, and another one goes on. */
static void test_others(void)
{
	struct ddio_msg_fsck fsck, rest;
	struct store_check *check;
	struct object *obj;
	struct repair r;

	begin(&r);
	harm(&r);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(r.t.store, STORE_REPAIR, &check), 0);
	CU_ASSERT_EQUAL(step_to(check, &r.t, 3), 0);
	obj = ut_object(&r.t, 5000, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 20), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&r.t), 0);
	CU_ASSERT(!store_check_step(check, 64));
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), -EBUSY);
	CU_ASSERT_EQUAL(fsck.repaired, 3 * FIXES);
	CU_ASSERT_EQUAL(ut_store_check(r.t.store, STORE_REPAIR, &rest), 0);
	CU_ASSERT_EQUAL(rest.problems, fsck.problems - 3 * FIXES);
	CU_ASSERT_EQUAL(rest.repaired, rest.problems);
	CU_ASSERT_EQUAL(object_blocks(obj), 20);
	object_put(obj);
	CU_ASSERT_EQUAL(refused(&r, &r.t), 0);
	ut_store_clean(&r.t);
	fill_up(&r.t);
	ut_store_end(&r.t);
}

/* Nobody waits for it any more: what it has freed can be used, and the rest is found again. */
static void test_given_up(void)
{
	struct ddio_msg_fsck fsck;
	struct store_check *check;
	uint64_t turns;
	struct repair r;

	for (turns = 1; turns <= OBJECTS / FIXES; turns += 3) {
		begin(&r);
		harm(&r);
		CU_ASSERT_EQUAL(ut_store_reopen(&r.t), 0);
		r.t.store->bounds->at[BOUND_FIXES].limit = FIXES;
		CU_ASSERT_EQUAL_FATAL(store_check_begin(r.t.store, STORE_REPAIR, &check), 0);
		CU_ASSERT_EQUAL(step_to(check, &r.t, turns), 0);
		CU_ASSERT_EQUAL(store_check_end(check, NULL), 0);
		refused(&r, &r.t);
		CU_ASSERT_EQUAL(ut_store_check(r.t.store, STORE_REPAIR, &fsck), 0);
		CU_ASSERT_EQUAL(fsck.problems, OBJECTS - 1 - turns * FIXES);
		CU_ASSERT_EQUAL(refused(&r, &r.t), 0);
		fill_up(&r.t);
		ut_store_end(&r.t);
	}
}

/*
 * Memory has given to @obj what is another's; and what it holds for a removed object, and for blocks that were not written yet,
 * is not recorded.  The repair takes the first away from it, and leaves the others.
 */
static void test_given_away(void)
{
	struct ddio_msg_fsck fsck;
	struct object *obj, *gone, *kept;
	struct store_hit hit;
	struct repair r;
	uint64_t start, run;
	bool written;

	begin(&r);
	hit = hit_free(r.place[1], BS);
	apply(&r.t, &hit);
	CU_ASSERT_EQUAL(ut_store_reopen(&r.t), 0);
	/* The lowest places are given first. */
	obj = ut_object(&r.t, 6000, BS, 0, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 2), 0);
	CU_ASSERT(object_lookup(obj, 0, &start, &run, &written));
	CU_ASSERT_EQUAL(start, r.place[1]);
	kept = ut_object(&r.t, 6001, BS, 0, true);
	CU_ASSERT_EQUAL(object_alloc(kept, 0, 5), 0);
	gone = ut_object(&r.t, 2 * 100 - 1, BS, 0, false);
	CU_ASSERT_EQUAL(object_remove(gone), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&r.t), 0);
	/* The records lose the space in which both lie. */
	hit = hit_free(r.place[100] - BS, 3 * BS);
	hit.len = 0;
	apply(&r.t, &hit);
	CU_ASSERT_EQUAL(ut_store_check(r.t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 2);
	CU_ASSERT_EQUAL(fsck.repaired, 2);
	CU_ASSERT(ddio_sim_logged(r.t.world, "never written have lost their place") > 0);
	CU_ASSERT(object_blocks(obj) < 2);
	CU_ASSERT_EQUAL(object_blocks(kept), 5);
	object_written(kept, 0, 5);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 2), 0);
	object_put(kept);
	object_put(obj);
	object_put(gone);
	fill_up(&r.t);
	ut_store_end(&r.t);
}

/* So is what waits to be free again: it does not become free behind the repair's back. */
static void test_waiting(void)
{
	struct ddio_msg_fsck fsck;
	struct object *obj;
	struct store_hit hit;
	struct repair r;
	uint64_t i;

	begin(&r);
	obj = ut_object(&r.t, 8000, BS, 0, true);
	for (i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(ut_fill(obj, 2 * i, 1), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&r.t), 0);
	r.t.store->bounds->at[BOUND_FREED].limit = 1;
	hit = hit_extent(1, 5, obj->map.v[30].start, 1);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&r.t), 0);
	CU_ASSERT(!ddio_list_empty(&r.t.store->given));
	apply(&r.t, &hit);
	CU_ASSERT_EQUAL(ut_store_check(r.t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 1);
	ddio_sim_run_for(r.t.world, 1000000000);
	fill_up(&r.t);
	ut_store_end(&r.t);
}

static bool lacks(const struct object *obj, uint64_t start)
{
	size_t i;

	for (i = 0; i < obj->map.n; i++)
		if (obj->map.v[i].start <= start &&
		    start < obj->map.v[i].start + obj->map.v[i].count * BS)
			return false;
	return true;
}

/* What is dropped of an object in use is not given away as long as the object has it. */
static void test_dropped(void)
{
	struct ddio_msg_fsck fsck;
	struct store_check *check;
	struct object *obj, *other;
	struct store_hit hit;
	struct repair r;
	uint64_t start, run, n = 0;
	bool written;

	begin(&r);
	obj = ut_object(&r.t, 2 * 50 - 1, BS, 0, false);
	hit = hit_extent(2 * 50 - 1, 0, r.place[50], 1);
	hit.value[9] ^= 0x11;
	apply(&r.t, &hit);
	r.t.store->bounds->at[BOUND_FIXES].limit = 1;
	other = ut_object(&r.t, 7000, BS, 0, true);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(r.t.store, STORE_DROP, &check), 0);
	while (store_check_step(check, 64)) {
		while (!object_alloc(other, n, 1))
			n++;
		CU_ASSERT(lacks(other, r.place[50]) ||
			  !object_lookup(obj, 0, &start, &run, &written));
	}
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	CU_ASSERT_EQUAL(object_blocks(obj), 0);
	while (!object_alloc(other, n, 1))
		n++;
	CU_ASSERT(!lacks(other, r.place[50]));
	object_put(obj);
	object_put(other);
	ut_store_end(&r.t);
}

static const struct ut_case cases[] = {
	{ "a few records in each turn, and a crash after it", test_turns },
	{ "a wide gap", test_wide_gap },
	{ "others record something meanwhile", test_others },
	{ "given up in the middle", test_given_up },
	{ "what memory has given away", test_given_away },
	{ "what waits to be free again", test_waiting },
	{ "dropped while in use", test_dropped },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "repair", cases } };

	return ut_run("test_store_repair", suites, 1);
}
